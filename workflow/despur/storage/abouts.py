"""What about.json of a folder says of each of its runs: of the run alone (seconds, steps, trained parameters), and of
the machine and the process that made all runs of the folder."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from despur.specs.paths import ResultPath, Run, locate_result
from despur.specs.stages import PARTS
from despur.storage.reading import read_json

OF_MACHINE = (
    *("machine", "processor", "device", "threads", "processes", "precision", "deterministic"),
    *("peak_memory_mb", "gpu_memory_mb"),  # of the process that made all runs of the folder
)
About = dict[str, Any]


def select_machine(about: Mapping[str, Any]) -> About:
    """Of about.json, the machine."""
    return {key: about[key] for key in OF_MACHINE if key in about}


def list_checksums(data_about: Mapping[str, Any]) -> dict[str, str]:
    """Of what about.json says of a data set, the checksums of its raw files."""
    return data_about.get("sha256", data_about.get("md5", {})) | data_about.get("raw", {})


def read_abouts(folder: Path) -> dict[str, About]:
    """By the key of each run in a folder; none where that is not here. An inference tells of its machine alone."""
    file = folder / "about.json"
    if not file.exists():
        return {}
    about = read_json(file)
    runs = about["runs"] if "runs" in about else {run.key: {} for run in locate_result(folder).runs()}
    return {key: select_machine(about) | run_about for key, run_about in runs.items()}


def read_upstream(result: ResultPath, run: Run) -> dict[str, About]:
    """Of the runs of earlier stages behind a run of ``result``, as far as they are here, by stage and key
    (``stage1/colored_digits/erm/s0``)."""
    abouts = {}
    for stage, folder, key in list_upstream(result, run):
        if about := read_abouts(folder).get(key):
            abouts[f"{stage}/{key}"] = about
    return abouts


def list_upstream(result: ResultPath, run: Run) -> Iterator[tuple[str, Path, str]]:
    """(stage, folder, key) of each run of an earlier stage that a run reads, or that one of these reads."""
    for component in PARTS:
        for earlier in result.upstream(component) if component in run.spec.components else ():
            for earlier_run in earlier.runs():
                if earlier_run.key == run.find_upstream_key(component):
                    yield component, earlier.folder, earlier_run.key
                    yield from list_upstream(earlier, earlier_run)
