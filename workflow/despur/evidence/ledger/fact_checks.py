"""What is wrong with what a record says of its run: name, facts and values, each looked at by itself."""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import cache
from typing import Any

import numpy as np

from despur.evidence.ledger.files import Key, Record
from despur.metrics.resampling import plan_checksum
from despur.specs.names import parse
from despur.specs.paths import MOST_SEEDS, Run
from despur.specs.resolution import resolve
from despur.specs.settings import SettingError
from despur.specs.spec import Spec
from despur.storage.store import Array, InputError

PREDICTED = ("average_accuracy", "worst_group_accuracy", "probe_accuracy", "domain_accuracy")  # what tables show
NUMBERS = ("seconds", "peak_memory_mb")
NOT_NEGATIVE = ("alignment_loss", "mutual_information")  # what names of metrics begin with
ROUNDING = 1e-9  # by so much a value may differ that is summed in another order
# metrics of which verdicts read bootstrap values: these names, and what begins so
RESAMPLED, RESAMPLED_BEGINNINGS = ("alignment_loss", "cosine_similarity"), ("mutual_information", "leakage")
find_checksum = cache(plan_checksum)


def identify_run(record: Record) -> tuple[Run, list[Spec]] | None:
    """The run of a record's specification; and data and method as its name says them, several points of a name that
    stands for several. None where this version does not know one of them."""
    try:
        run, data = record.find_run(), resolve("datasets", record.content["dataset"]).points
        return run, [*data, *resolve("methods", record.content["method"], data[0].base_name).points]
    except SettingError:
        return None


def check_name(record: Record, run: Run, points: list[Spec]) -> Iterator[str]:
    """Settings that the name of a run gives (``points``), and its specification (``run``) does not have."""
    if len(points) != 2:
        yield f"{record.content['dataset']}/{record.content['method']} are several runs"
    for named, found in zip(points, (run.data, run.spec), strict=False):
        for key, value in named.changes.items():
            if found.changes.get(key) != value:
                yield f"is called {named.name}, but its specification does not say {key}={value}"


def check_values(record: Record) -> Iterator[str]:
    """No accuracies of test data; shares beyond 0 and 1, negative losses."""
    best = record.metrics()["best"]
    if not any(metric in PREDICTED for split, metric, _ in best if split.startswith("test")):
        yield f"has none of {', '.join(PREDICTED)} of test data"
    for selection, metrics in record.metrics().items():
        for key, value in metrics.items():
            if is_share(key[1]) and not (np.isnan(value) or 0 <= value <= 1):
                yield f"{selection} {' '.join(key)} is {value}, which is no share from 0 to 1"
            if key[1].startswith(NOT_NEGATIVE) and value < -ROUNDING:
                yield f"{selection} {' '.join(key)} is {value}, below 0"


def check_bootstrap_values(record: Record, withheld: bool) -> Iterator[str]:
    """Bootstrap values that are not there, not finite, or of other bootstrap samples. ``withheld``: labels are, so that
    accuracies have some, too. Of a run that is identified."""
    best = record.metrics()["best"]
    name, drawn = parse(record.content["dataset"])[0], record.bootstrap_values()
    for key, value in best.items():
        if key not in drawn and is_resampled(key, withheld) and not np.isnan(value):
            yield f"has no bootstrap values of {' '.join(key)}"
    for key, values in drawn.items():
        yield from check_bootstrap_value(key, values, best, record.content["resampling"].get(key[0]), name)


def check_bootstrap_value(
    key: Key, values: Array, best: Mapping[Key, float], checksum: str | None, name: str
) -> Iterator[str]:
    """What is wrong with the bootstrap values of one metric."""
    if np.isinf(values).any():
        yield f"bootstrap values of {' '.join(key)} are not finite"
    if key not in best or values.ndim != 1:
        yield f"bootstrap values of {' '.join(key)} have no metric, or more than one dimension"
    elif checksum != find_checksum(name, len(values)):
        yield f"bootstrap values of {' '.join(key)} are of other bootstrap samples than those of today"


def is_resampled(key: Key, withheld: bool) -> bool:
    """Whether verdicts read bootstrap values of a metric, of test samples together."""
    split, metric, group = key
    names = (*RESAMPLED, *PREDICTED) if withheld else RESAMPLED
    return split.startswith("test") and not group and (metric in names or metric.startswith(RESAMPLED_BEGINNINGS))


def is_share(metric: str) -> bool:
    return "accuracy" in metric or metric.startswith("leakage") or metric.endswith("gap")


def check_facts(content: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with what made a run."""
    if not re.fullmatch("[0-9a-f]{40}", content["commit"]):
        yield f"commit {content['commit']!r} is no full commit hash (40 signs, 0-9 and a-f)"
    try:
        aware = datetime.fromisoformat(content["finished"]).tzinfo is not None
    except ValueError:
        aware = False
    if not aware:
        yield f"finished {content['finished']!r} is no time with its zone, 2026-01-31T12:00:00+00:00"
    if wrong := [name for name, number in content["revisions"].items() if type(number) is not int]:
        yield f"revisions of {', '.join(wrong)} are no whole numbers"
    yield from check_machine(content)


def check_machine(content: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the machine of a run, and with what it cost."""
    if content["machine"].get("precision") == "bf16":
        yield "was trained in bf16: records are of single precision"
    about = {**content["machine"], **content["run"]}
    if not isinstance(about["device"], str):
        yield f"device {about['device']!r} is no name"
    for name, value in about.items():
        if name in NUMBERS and (isinstance(value, bool) or not isinstance(value, int | float) or value < 0):
            yield f"{name} is {value!r}, not a number from 0 on"


def check_seed(content: Mapping[str, Any]) -> None:
    """Raises InputError for what is no seed."""
    if type(content["seed"]) is not int or not 0 <= content["seed"] < MOST_SEEDS:
        raise InputError(f"seed {content['seed']!r} is no whole number from 0 to {MOST_SEEDS - 1}")
