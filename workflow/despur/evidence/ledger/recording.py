"""Record finished runs: a file in the ledger (:mod:`despur.evidence.ledger.files`) for each run.

A record says which run it is, what made it (commit, revisions, versions, machine, seconds), what it measured, and
what verdicts need: test predictions, from which metrics are recomputed here and must be those of metrics.csv; of other
metrics, values on bootstrap samples. Where the license of a data set lets nobody pass its labels on, of all metrics.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import pandas as pd

from despur.evidence.ledger import files
from despur.evidence.ledger.cards import make_card, withholds_labels
from despur.evidence.ledger.measuring import measure
from despur.specs.declarations import PACKAGE, read_declarations
from despur.specs.paths import ResultPath, Run, locate_result
from despur.specs.settings import SettingError
from despur.storage import commits, weight_files
from despur.storage.abouts import list_checksums, list_upstream, read_upstream, select_machine
from despur.storage.containers import Container
from despur.storage.digest import CODE, digest_evaluation, list_code, revisions
from despur.storage.finished_runs import means_the_same, read_metrics, read_resamples, rows_of
from despur.storage.raw_files import sha256
from despur.storage.reading import read_json
from despur.storage.store import InputError, load_dataset

FILES = ("about.json", "metrics.csv", "resamples.parquet", "outputs.safetensors")


def refuse_changed_code() -> None:
    """The code here makes the predictions of a record. Raises SettingError unless all of it is in a commit."""
    state = commits.state()
    if not state["commit"]:
        raise SettingError("this code is in no git repository: a record must name the commit that made it")
    if not state["clean"]:
        raise SettingError(
            "the code here is in no commit: commit or stash the changes below workflow/despur (git status)"
        )


def record_folder(result: ResultPath, commit: str | None, folder: Path) -> Iterator[Path]:
    """Record every run of a folder. Raises InputError where it is not finished, SettingError where no commit made
    it."""
    about, evaluation = read_about(result), replace(result, stage="evaluate")
    refuse_extensions(result)
    for earlier in dict.fromkeys(found[1] for run in result.runs() for found in list_upstream(result, run)):
        if (earlier / "about.json").exists():
            find_commit(locate_result(earlier), read_json(earlier / "about.json"), commit)
    made_by = {
        "commit": find_commit(result, about, commit),
        "code": about["specification"]["code"],
        "revisions": {**about.get("revisions", {}), **revisions(evaluation)},
    }
    metrics = read_metrics(result.folder / "metrics.csv")
    resamples = read_resamples(result.folder / "resamples.parquet")
    if resamples.attrs.get(CODE) not in (None, digest_evaluation(result)):
        raise SettingError(f"{result.folder}/metrics.csv was made by other code than that of today: evaluate it anew")
    outputs, stored = Container(result.folder / "outputs.safetensors"), cache(partial(load_dataset, result.data.folder))
    for run in result.runs():
        dataset = stored(run.data.name)
        card = None if withholds_labels(run.data.name) else make_card(dataset, run.data.name)
        metric_rows, drawn = (rows_of(table, run) for table in (metrics, resamples))
        best = outputs.load_arrays(f"{run.key}/best")
        measured = measure(dataset, run, best, metric_rows, drawn, withheld=card is None)
        name = card and files.write(folder / run.data.name, "card", card).stem
        behind: dict[str, Any] = {"upstream": read_upstream(result, run)}
        refuse_bf16({str(result.folder): about} | behind["upstream"])
        checksums = {"weights": identify_weights(result, run), "features": identify_features(result, run)}
        behind |= {key: of_files for key, of_files in checksums.items() if of_files}
        content = {**describe(result, run, about), **made_by, **behind, "card": name, **measured}
        content = {key: content[key] for key in (*files.KEYS, *files.LATER_KEYS) if key in content}  # in their order
        yield files.write(folder / run.data.name / run.spec.name, f"s{run.seed}", content)


def refuse_extensions(result: ResultPath) -> None:
    """Raises SettingError where code behind a run or its evaluation is no part of the package."""
    code = list_code(result) | list_code(replace(result, stage="evaluate"))
    if strangers := sorted(file for file in code if PACKAGE not in file.parents):
        raise SettingError(f"{strangers[0]} is an extension: a record's commit must hold all code that made it")


def identify_weights(result: ResultPath, run: Run) -> dict[str, str]:
    """The checksum of each file of weights behind a run, also of earlier stages, by its path below the folder of
    weights: as it was when they were made. What was then as published is looked up now, where it still is there."""
    encoders = weight_files.list_encoders([run.spec], without=())
    notes = (weight_files.read_notes(encoder) for encoder in encoders)
    weights = {file: note["sha256"] for of_encoder in notes for file, note in of_encoder.items()}
    for folder in (result.folder, *(folder for _, folder, _ in list_upstream(result, run))):
        file = folder / "about.json"
        weights |= read_json(file)["specification"].get("weights", {}) if file.exists() else {}
    return weights


def identify_features(result: ResultPath, run: Run) -> dict[str, str]:
    """The checksum of the outputs of each frozen encoder that a run reads, by stage and key: what it was trained on."""
    return {
        f"{stage}/{key}": sha256(file)
        for stage, folder, key in list_upstream(result, run)
        if is_applied(locate_result(folder)) and (file := folder / "outputs.safetensors").exists()
    }


def is_applied(result: ResultPath) -> bool:
    """Whether a stage-1 model is applied, and not trained."""
    return result.stage == "stage1" and bool(read_declarations("methods", result.sweep.base_name).get("SEEDLESS"))


def refuse_bf16(abouts: Mapping[str, Mapping[str, Any]]) -> None:
    """Raises SettingError where a run, or one that it reads, was trained in bf16: the ledger's are in single
    precision."""
    if rough := [name for name, about in abouts.items() if about.get("precision") == "bf16"]:
        raise SettingError(
            f"{rough[0]} was trained in bf16, and records are of single precision: train it without DESPUR_PRECISION"
        )


def read_about(result: ResultPath) -> dict[str, Any]:
    """about.json of a finished folder. Raises InputError where it is not finished, SettingError where no record can be
    of it: it holds no runs, or its name meant other settings when it was made."""
    if result.stage != "runs":
        raise SettingError(f"{result.folder}: only results/runs/DATASET/METHOD/SEEDS is recorded")
    if missing := [name for name in FILES if not (result.folder / name).exists()]:
        raise InputError(f"{result.folder} is not finished: it has no {', '.join(missing)}")
    about = read_json(result.folder / "about.json")
    if not means_the_same(result, about):
        raise SettingError(
            f"{result.folder}: its name had another meaning when it was made: record it with code of then"
        )
    return about


def find_commit(result: ResultPath, about: Mapping[str, Any], said: str | None) -> str:
    """The commit that made a folder: as about.json says; where it names none that has all of the code, that which was
    ``said``, if its code did."""
    if about.get("commit") and about["clean"]:
        return str(about["commit"])
    if said is None:
        made = "was made by code that is in no commit" if about.get("commit") else "names no commit"
        raise SettingError(f"{result.folder} {made}: say with --commit which one has its code, or make it anew")
    full, code = commits.code_at(said, result.folder)
    if code != about["specification"]["code"]:
        made = about["specification"]["code"]
        raise SettingError(f"{result.folder} was not made by {full}: its code is {made}, that of the commit {code}")
    return full


def describe(result: ResultPath, run: Run, about: Mapping[str, Any]) -> dict[str, Any]:
    """Which run it is, and on what it was made. Raises InputError for a run that the folder does not hold."""
    file, data = result.folder / "about.json", about["data"].get(run.data.name, {})
    if run.key not in about["runs"]:
        raise InputError(f"{file} does not tell of {run.key}")
    return {
        "schema": files.SCHEMA,
        "dataset": run.data.name,
        "method": run.spec.name,
        "seed": run.seed,
        "specification": {"dataset": run.data.resolved(), "method": run.spec.resolved()},
        "checksums": list_checksums(data),
        "finished": about.get("finished") or pd.Timestamp(int(file.stat().st_mtime), unit="s", tz="UTC").isoformat(),
        "versions": about["versions"],
        "machine": select_machine(about),
        "run": about["runs"][run.key],
    }
