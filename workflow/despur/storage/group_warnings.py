"""Warnings about inferred groups that leave a method nothing to work with: found by the groups stage, kept in its
about.json, shown wherever the metrics of a run that reads these groups are shown."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from despur.specs.paths import ResultPath, locate_result
from despur.specs.settings import SettingError
from despur.storage.reading import read_json
from despur.storage.store import Array

if TYPE_CHECKING:
    import pandas as pd

ACCURACY = "val_average_accuracy"  # in history.csv


def find_warnings(inferred: Array, y: Array, classes: Sequence[str]) -> list[str]:
    """What is degenerate about an inferred attribute (N,) beside the classes ``y`` (N,), named ``classes``: it has one
    value; it is the class of every sample; or it has one value in some classes, whose other groups are empty."""
    if len(np.unique(inferred)) == 1:
        return [
            "all samples have the same inferred attribute: each class is one group, and no attributes can be compared"
        ]
    if np.array_equal(inferred, y):
        return ["the inferred attribute is the class of every sample: stage 1 is wrong nowhere"]
    alone = [name for label, name in enumerate(classes) if len(np.unique(inferred[y == label])) == 1]
    return [f"empty groups: one inferred attribute in all samples of class {', '.join(alone)}"] if alone else []


def find_remedy(inferred: Array, y: Array, history: "pd.DataFrame", learning_rate: float) -> str:
    """What to try where :func:`find_warnings` warns: a setting of stage 1 and its value, from ``history``, the rows of
    its history.csv of one run (epoch, name, value).

    Where it is right of whole classes, fewer epochs: those after which its validation accuracy had half of its gain.
    Where it gives one value to them, it has learned too little: twice the epochs while its loss still falls, else a
    tenth of its learning rate."""
    by_epoch = history.groupby(["name", "epoch"])["value"].last()
    accuracy, losses = (by_epoch[name] if name in by_epoch.index else by_epoch[:0] for name in (ACCURACY, "loss"))
    trained = int(history["epoch"].max())
    slower = f"stage1.learning_rate={learning_rate / 10:g}"
    alone = [label for label in np.unique(y) if len(np.unique(inferred[y == label])) == 1]
    if len(np.unique(inferred)) > 1 and all((inferred[y == label] == label).all() for label in alone):
        chance = 1 / len(np.unique(y))
        learned = accuracy.index[accuracy - chance >= (accuracy.max() - chance) / 2] if len(accuracy) else []
        epochs = min(int(learned[0]) if len(learned) else trained // 2, trained - 1)
        return f"try stage1.epochs={epochs} instead of {trained}" if epochs > 0 else f"try {slower}"
    falls = len(losses) < 2 or losses.iloc[-1] < 0.99 * losses.iloc[-2]
    return (
        f"try stage1.epochs={2 * trained}: its loss still falls" if falls else f"try {slower}: its loss no longer falls"
    )


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
        warnings = read_json(about).get("warnings", {}) if about.exists() else {}
        for run in upstream.runs():
            for warning in warnings.get(run.key, ()):
                yield run.data.name, run.seed, f"{run.spec.name}: {warning}"
