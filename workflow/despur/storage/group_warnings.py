"""Warnings about inferred groups that leave a method nothing to work with: found by the groups stage, kept in its
about.json, shown wherever the metrics of a run that reads these groups are shown."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from despur.specs.paths import ResultPath, locate_result
from despur.specs.settings import SettingError
from despur.storage.reading import read_json
from despur.storage.store import Array


def find_warnings(inferred: Array, y: Array, classes: Sequence[str]) -> list[str]:
    """What is degenerate about an inferred attribute (N,) beside the classes ``y`` (N,), named ``classes``: it has one
    value; it is the class of every sample; or it has one value in some classes, whose other groups are empty."""
    if len(np.unique(inferred)) == 1:
        return ["all samples have the same inferred attribute: the method has no inferred groups to compare"]
    if np.array_equal(inferred, y):
        return ["the inferred attribute is the class of every sample: stage 1 is wrong nowhere"]
    alone = [name for label, name in enumerate(classes) if len(np.unique(inferred[y == label])) == 1]
    return [f"empty groups: one inferred attribute in all samples of class {', '.join(alone)}"] if alone else []


def describe_warnings(folders: Iterable[str | Path]) -> list[str]:
    """The warnings about the groups that the runs of these folders read, each once, in words."""
    return list(
        dict.fromkeys(
            f"{result.name} on {data}, seed {seed}: {warning}"
            for result in map(locate_result, folders)
            for data, seed, warning in load_warnings(result)
        )
    )


def load_warnings(result: ResultPath) -> Iterator[tuple[str, int, str]]:
    """(data set, seed, warning) of the groups that the runs of a folder read; none for a run of another version, whose
    name means nothing here."""
    try:
        read = result.upstream("groups") if result.stage == "runs" else []
    except SettingError:
        return
    for upstream in read:
        about = upstream.folder / "about.json"
        found = read_json(about).get("warnings", {}) if about.exists() else {}
        for run in upstream.runs():
            for warning in found.get(run.key, ()):
                yield run.data.name, run.seed, f"{run.spec.name}: {warning}"
