"""Tables, claims and the scorecard of a configuration from what is measured already, on this machine or elsewhere
(records of the ledger). Nothing is trained."""

import multiprocessing
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from despur.evidence import tally
from despur.evidence.ledger import recorded
from despur.evidence.ledger.files import load_record
from despur.evidence.numbers.choices import is_made, judge_choice, measure_cost, read_choices, select_runs
from despur.evidence.numbers.settings import list_fitted
from despur.evidence.runs.run_files import is_record, load_about
from despur.evidence.runs.sources import NOT_SHOWN, Sources, attach_sources, explain_records, find_sources
from despur.evidence.statistics.contrasts import SEEDS
from despur.evidence.verdicts import ChoiceVerdict
from despur.orchestration import configuration, matrix
from despur.orchestration.artifact_files import TABLE, find_module, list_artifacts, list_outputs, list_run_inputs
from despur.orchestration.experiments import (
    REFERENCE,
    ArtifactRun,
    configure_artifact,
    list_artifact_runs,
    load_experiments,
)
from despur.reporting.pages import scorecard
from despur.reporting.tables import append_warnings
from despur.specs.names import parse
from despur.specs.paths import locate_result
from despur.storage.reading import read_json
from despur.storage.store import write_csv

RECORDED = {"metrics", "resamples", "about", "base_about"}  # kinds of files that a record stands for
CHOICE_COLUMNS = [
    *("paper", "choice", "source", "tried", "full_length", "seeds", "hours", "hours_a_run", "found_on"),
    *("verdict", "numbers", "moved", "remaining"),
]
Runs = dict[str, list[ArtifactRun]]


def give_verdicts(configfile: Path, output: Path, use_ledger: bool) -> Iterator[str]:
    """Make them in ``output``; a line for each thing to know.
    Records of the ledger count unless ``use_ledger`` or the configuration's ``ledger`` is false; so do runs of this
    machine."""
    config = configuration.load_configuration(configfile)
    sources = find_sources(use_ledger and config["ledger"])
    yield from (f"not used: {fault}" for fault in sources.faults)
    again = f"despur judge --configfile {configfile} --output {output}{'' if use_ledger else ' --no-ledger'}"
    yield from write_verdicts(config, sources, output, again)
    write_choices(config, sources, output / "choices.csv")
    yield f"{output / 'scorecard.html'}: the scorecard; {output / 'papers'}: the tables"


def write_verdicts(config: Mapping[str, Any], sources: Sources, output: Path, again: str = "") -> Iterator[str]:
    """Tables, claims, the scorecard and evidence.csv of a configuration in ``output``; a line for each thing to
    know. ``again``: the command that does this."""
    config = {**config, "outputs": str(output)}
    shown = {paper: list_measured_runs(config, paper, sources) for paper in config["papers"]}
    compared = list(attach_sources(matrix.list_artifact_runs(config), sources))
    make_tables(config, shown)
    if len(compared) > 1:
        from despur.reporting.pages import comparison  # seaborn

        comparison.write(compared, Path(matrix.list_outputs(config)[0]).with_suffix(""))
    every = [*compared, *(run for artifact_runs in shown.values() for runs in artifact_runs.values() for run in runs)]
    yield from write_evidence(sources, every, output / "evidence.csv")
    scorecard.write(config, output / "scorecard", again)


def list_measured_runs(config: Mapping[str, Any], paper: str, sources: Sources) -> Runs:
    """Of each table of a paper, the runs that were measured and whose other files are here."""
    runs: Runs = {}
    for artifact in list_artifacts(config, paper):
        if find_module(artifact) == TABLE:
            here = configure_artifact(config, paper, artifact)
            further = {*here.get("inputs", ["metrics"])} - RECORDED - {*here.get("can_lack", [])}
            runs[artifact] = [
                artifact_run
                for artifact_run in attach_sources(list_artifact_runs(config, paper, artifact), sources)
                if has_files(artifact_run, sorted(further))
            ]
    return runs


def has_files(artifact_run: ArtifactRun, kinds: Sequence[str]) -> bool:
    """Whether files of these kinds are in the folders of an artifact's runs."""
    return all(
        file.exists() for folder in artifact_run.folders for file in list_run_inputs(locate_result(folder), kinds)
    )


def make_tables(config: Mapping[str, Any], shown: Mapping[str, Runs]) -> None:
    """Every table of each paper, in two processes."""
    with ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
        for done in [pool.submit(make_tables_of, config, paper, runs) for paper, runs in shown.items()]:
            done.result()


def make_tables_of(config: Mapping[str, Any], paper: str, shown: Runs) -> None:
    """Every table of a paper, by the functions of its tables.py."""
    write = import_module(f"despur.papers.{paper}.tables").ARTIFACTS
    for artifact, runs in shown.items():
        output = Path(list_outputs(config, paper, artifact)[0]).with_suffix("")
        output.parent.mkdir(parents=True, exist_ok=True)
        write[artifact](runs, output)
        append_warnings(output, runs)


def write_choices(config: Mapping[str, Any], sources: Sources, file: Path) -> None:
    """A row for each choice that a paper leaves open: its source, which of its runs were measured, of how many seeds,
    their hours and those of a further run, the printed numbers that it was found on, and whether others support it."""
    abouts = {key: load_about(key, where) for key, where in sources.where.items()}
    rows, hours = [], read_kept_hours() | {key: about["seconds"] / 3600 for key, about in abouts.items()}
    on_gpu = {key for key, about in abouts.items() if about["device"] != "cpu"}
    for paper in config["papers"]:
        experiments = load_experiments(paper)
        own_hours = {
            key: spent for key, spent in hours.items() if parse(key.split("/")[0])[0] in experiments["datasets"]
        }
        choices = read_choices(experiments)
        for choice in choices:
            larger = [other for other in choices if choice.is_within(other)]  # whose runs try more than this one
            alone = {key: spent for key, spent in own_hours.items() if not any(is_made(other, key) for other in larger)}
            cost, runs = measure_cost(choice, alone, on_gpu), select_runs(choice, sources)
            judged: dict[str, Any] = {"verdict": ChoiceVerdict.TOO_FEW if cost["tried"] else ChoiceVerdict.NOT_TRIED}
            if runs.seeds >= SEEDS:  # both sides of the same runs: a setting is selected among the same ones
                others = Sources({key: sources.where[key] for key in runs.where})
                judged = judge_choice(*(measure_numbers(config, paper, side) for side in (others, runs)))
            found_on = "; ".join(list_fitted(experiments, choice.changes))
            row = {"paper": paper, "choice": choice.name, "source": choice.source, "found_on": found_on}
            rows.append(cost | row | judged)
    write_csv(file, pd.DataFrame(rows, columns=CHOICE_COLUMNS))


def measure_numbers(config: Mapping[str, Any], paper: str, sources: Sources) -> pd.DataFrame:
    """A paper's printed numbers beside what these runs alone measured."""
    with tempfile.TemporaryDirectory() as folder:
        there = {**config, "outputs": folder}
        make_tables(there, {paper: list_measured_runs(there, paper, sources)})
        return tally.gather_numbers(there, paper)


def read_kept_hours() -> dict[str, float]:
    """Hours of stage 2 of each run whose tables are kept (results/reference), by its key."""
    return {
        key: float(about["seconds"]) / 3600 / len(about["runs"])
        for file in sorted(REFERENCE.glob("*/*/provenance.json"))
        for folder, about in read_json(file)["runs"].items()
        if locate_result(folder).stage == "runs"  # a model of stage 1 has the key of a run of ERM
        for key in about.get("runs", [])
    }


def write_evidence(sources: Sources, shown: Sequence[ArtifactRun], file: Path) -> Iterator[str]:
    """A row for each record: whether it counts, and why not; a line for each that is shown here and does not."""
    used = {key: where for run in shown for key, where in run.sources}
    rows = []
    for path, key, reason in explain_records(sources, used):
        content = load_record(str(path)).content
        rows.append(
            {
                "record": path,
                "run": key or f"{content['dataset']}/{content['method']}/s{content['seed']}",
                "used": not reason,
                "reason": reason,
                "measured": recorded.describe_source(load_record(str(path))),
                "finished": content["finished"],
            }
        )
    write_csv(file, pd.DataFrame(rows, columns=["record", "run", "used", "reason", "measured", "finished"]))
    refused = [row for row in rows if row["reason"] not in ("", NOT_SHOWN) and row["run"] not in used]
    yield from (f"not counted: {row['record']}: {row['reason']}" for row in refused)
    count, unshown = (sum(row["reason"] == reason for row in rows) for reason in ("", NOT_SHOWN))
    here = sum(not is_record(where) for where in used.values())
    yield (
        f"These tables show {count} of {len(rows)} records ({unshown} are of runs that no table here shows; "
        f"{file} lists all), and {here} runs of this machine"
    )
