"""What the rules read of a job: which result it makes, which files it reads, the arguments of its script. Knows nothing
of Snakemake."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from despur.orchestration import artifact_files, experiments, matrix, paper_folders
from despur.specs.paths import ResultPath, data_root
from despur.specs.resolution import resolve
from despur.specs.spec import Spec
from despur.specs.stages import STAGES
from despur.storage import hub, raw_files, tokenizers, weight_files
from despur.storage.digest import declarations_digest, script_digest
from despur.storage.reading import InputError

ROOT = "or set DESPUR_WEIGHTS_ROOT to the folder that holds it"
DOWNLOADED = f"the job that needs it downloads it. Without a network, put it there, {ROOT}"


def find_result(stage: str, wildcards: Mapping[str, str]) -> ResultPath:
    """The result that a job of a stage makes, by the wildcards of its output: a data set; for all stages but ``data``
    also the name of a stage-1 model, inference or method, and seeds (``0-2``)."""
    names = [wildcards[key] for key in ("base", "inference", "method") if key in wildcards.keys()]  # noqa: SIM118
    if not names:
        return ResultPath(experiments.RESULTS, stage, wildcards["dataset"])
    return ResultPath(experiments.RESULTS, stage, wildcards["dataset"], names[0], f"s{wildcards['seeds']}")


def list_data_files(result: ResultPath) -> list[Path]:
    """The files of the data set that a job reads: all but about.json, which also says how they were made."""
    return [result.data.folder / file for kind, file in STAGES["data"].files.items() if kind != "about"]


def list_missing(result: ResultPath) -> Iterator[str]:
    """What is said, before anything is made, of raw files that are not there, and of weights and tokenizers that the
    job of a result, or of its data, downloads. Raises InputError for other weights and tokenizers, and for class
    embeddings that the data do not have. Nothing is missing where the result is there."""
    if (result.folder / "about.json").exists():
        return
    data = result if result.stage == "data" else result.data
    if not (data.folder / "about.json").exists():
        yield from list_missing_raw(result.datasets.points)
        yield from list_missing_tokenizers(result.datasets.points)
    if not STAGES[result.stage].trains:
        return
    given = [point.base_name for point in result.sweep.points if point.settings.get("classes") == "given"]
    if given and (lacking := [d for d in result.datasets.points if raw_files.lacks_class_embeddings(d, data_root())]):
        raise InputError(
            f"{lacking[0].name} has no class_embeddings, which {given[0]} needs ({result.folder}): add them to the "
            ".npz, or take the mean of each class's samples: METHOD+stage1.classes=means, zero_shot+classes=means"
        )
    for encoder in weight_files.list_encoders(result.sweep.points):
        for file in weight_files.list_missing(encoder):
            told = f"{file} is not there, from which the encoder {encoder.base_name} starts"
            if not raw_files.is_downloaded(encoder):
                raise InputError(f"{told} ({result.folder}): put it there, {ROOT}{hub.how_to_download(encoder)}")
            yield f"{told}: {DOWNLOADED}"


def list_missing_raw(points: Iterable[Spec]) -> Iterator[str]:
    """What is said of the raw files that data sets need, which are named with their settings where these decide which
    files. Those that lack them fail; others can be made."""
    root = data_root()
    for point in points:
        missing = [] if point.source else raw_files.list_missing(point, root)
        name = name_by_raw(point) if missing else ""
        if missing and raw_files.is_downloaded(point):
            yield f"{name}: its raw files are not in {root}; its job downloads them"
        elif missing:
            others = f" and {len(missing) - 1} more" if missing[1:] else ""
            first = missing[0].split(" |")[0]
            yield f"{name} cannot be built: {first}{others} not in {root} (DESPUR_DATA_ROOT). See despur check {name}"


def name_by_raw(point: Spec) -> str:
    """The name of a data set, with its settings where these decide which raw files it needs."""
    usual = resolve("datasets", point.base_name).points[0]
    return point.base_name if raw_files.list_patterns(point) == raw_files.list_patterns(usual) else point.name


def list_missing_tokenizers(points: Iterable[Spec]) -> Iterator[str]:
    """What is said of the files of tokenizers that data sets need, and that their jobs download. Raises InputError for
    others."""
    for point in points:
        vocabulary = point.settings.get("vocabulary", "words")
        for file in tokenizers.list_missing(vocabulary) if vocabulary != "words" else ():
            told = f"{file} is not there, by which {point.name} tells words"
            if not tokenizers.is_downloaded(vocabulary):
                raise InputError(f"{told}: put it there, {ROOT}; or name a commit of the hub: {vocabulary}--COMMIT")
            yield f"{told}: {DOWNLOADED}"


def list_upstream_files(result: ResultPath, component: str, file: str) -> list[Path]:
    """A file of each folder of a component (``stage1``, ``groups``) that a job reads."""
    return [upstream.folder / file for upstream in result.upstream(component)]


def list_source_tables(result: ResultPath) -> list[Path]:
    """The tables of the data sets that a data set is made from; none of one that is made from raw files."""
    return [upstream.data.folder / "table.parquet" for upstream in result.upstream("stage1")]


def serialize_artifact(config: Mapping[str, Any], paper: str, artifact: str) -> str:
    """The one string that an artifact's script takes: its runs and the digest of the code behind it, as JSON."""
    script = paper_folders.find_paper(paper) / f"{artifact_files.find_module(artifact)[0]}.py"
    shows_settings = experiments.configure_artifact(config, paper, artifact).get("shows_settings")
    settings = {"settings": declarations_digest()} if shows_settings else {}
    return serialize(experiments.list_artifact_runs(config, paper, artifact), str(script), **settings)


def serialize_matrix(config: Mapping[str, Any]) -> str:
    """As :func:`serialize_artifact`, for the cross-paper matrix."""
    return serialize(matrix.list_artifact_runs(config), "despur/reporting/pages/comparison.py")


def serialize(artifact_runs: Iterable[experiments.ArtifactRun], script: str, **further: str) -> str:
    """Runs and the digest of a script's code, as JSON. ``further``: what else decides what is made."""
    runs = [asdict(artifact_run) for artifact_run in artifact_runs]
    return json.dumps({"artifact_runs": runs, "code": script_digest(script), **further})
