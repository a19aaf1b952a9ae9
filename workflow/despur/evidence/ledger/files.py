"""The ledger: one small file for each finished run (data point, method point, seed), kept in git.

``results/ledger/DATASET/METHOD/s0-3fa9c2e1b7d0.json`` is a record, ``results/ledger/DATASET/card-9b1f04c8e2aa.json``
the card of a data point (:mod:`despur.evidence.ledger.cards`). Files are named by a digest of their content: nothing is
ever changed or merged, and there is no index. Arrays are text (:mod:`despur.evidence.ledger.coding`)."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from despur.evidence.ledger.coding import decode
from despur.orchestration.experiments import LEDGER as LEDGER
from despur.specs.declarations import list_revised_metrics
from despur.specs.names import parse
from despur.specs.paths import Run
from despur.specs.respecification import respecify
from despur.storage.store import Array, InputError
from despur.storage.texts import write_text

SCHEMA = 1
KEYS = {  # what a record holds, and of which type it is
    "schema": int,
    "dataset": str,
    "method": str,
    "seed": int,
    "specification": dict,
    "checksums": dict,
    "commit": str,
    "code": str,
    "revisions": dict,
    "finished": str,
    "versions": dict,
    "machine": dict,
    "run": dict,
    "metrics": dict,
    "card": str | None,
    "predictions": dict,
    "resampling": dict,
    "draws": dict,
}
# what records hold that were made since; others do not tell of it
LATER_KEYS = {"upstream": dict, "weights": dict, "features": dict}
COST_KEYS = {"device", "peak_memory_mb", "seconds"}  # what tables of cost read of a record's machine and run
Key = tuple[str, str, str]  # split, metric, group
Content = TypeVar("Content")


def write(folder: Path, stem: str, content: Mapping[str, Any]) -> Path:
    """Write a record or card under ``folder``, named by what it says; the same content gives the same file."""
    text = json.dumps(content, indent=1, allow_nan=False) + "\n"
    path = folder / f"{stem}-{digest(text)}.json"
    if not path.exists():
        write_text(path, text)
    return path


def digest(text: str) -> str:
    """What a file's content is called in its name."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def read(path: Path, keys: Mapping[str, Any]) -> dict[str, Any]:
    """The content of a record or card. Raises InputError, naming the file, where it is broken or of another schema."""

    def read_number(token: str) -> float:
        if not isfinite(value := float(token)):
            raise ValueError(f"{token} is not a finite number")
        return value

    try:
        text = path.read_text()
        content = json.loads(text, parse_constant=read_number, parse_float=read_number)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: not there, truncated or no JSON of finite numbers ({error})") from None
    schema = content.get("schema") if isinstance(content, dict) else None
    if schema != SCHEMA:
        raise InputError(f"{path}: schema {schema}, which this version does not read (it reads {SCHEMA})")
    required = {**keys, **{key: kind for key, kind in LATER_KEYS.items() if key in content}}
    if wrong := [key for key, kind in required.items() if key not in content or not isinstance(content[key], kind)]:
        raise InputError(f"{path}: {', '.join(wrong)} missing or of another type")
    untold = COST_KEYS - {*content["machine"], *content["run"]} if "machine" in keys else set()
    if untold:
        raise InputError(f"{path}: {', '.join(sorted(untold))} missing in machine and run")
    if not path.stem.endswith(f"-{digest(text)}"):
        raise InputError(f"{path}: changed since it was written: its name ends with the digest of another content")
    return content


@dataclass(frozen=True)
class Record:
    """What one finished run measured. ``content``: as it lies in ``path``; :func:`read` has seen its outermost keys.
    What reads further raises InputError for what is not as it must be."""

    path: Path
    content: dict[str, Any]

    def find_run(self) -> Run:
        """The run of the specification. Raises SettingError where its settings are not those of today."""
        settings = self.content["specification"]
        dataset, method = (parse(self.content[key])[0] for key in ("dataset", "method"))
        data = respecify("datasets", dataset, settings.get("dataset", {}))
        return Run(data, respecify("methods", method, settings.get("method", {}), dataset), self.content["seed"])

    @property
    def card(self) -> Path | None:
        """The file with the labels of its data point; None where they may not be passed on."""
        name = self.content["card"]
        return self.path.parent.parent / f"{Path(name).name}.json" if name else None

    def about(self) -> dict[str, Any]:
        """What made the run: seconds, steps and the like, and the machine (despur/storage/abouts.py)."""
        return {**self.content["machine"], **self.content["run"]}

    def upstream(self) -> dict[str, dict[str, Any]]:
        """The same of the runs of earlier stages behind it, by stage and key; empty in older records."""
        abouts = self.content.get("upstream", {})
        if not all(isinstance(runs, dict) for runs in abouts.values()):
            raise InputError("upstream is not what made each run, by stage and key")
        return abouts

    def metrics(self) -> dict[str, dict[Key, float]]:
        """Values by selection (best and last, written once where they are equal; epochs that were kept); NaN where a
        metric is not defined. Without metrics that are measured otherwise today."""
        by_selection = {
            name: self.flatten_metrics(metrics, read_value) for name, metrics in self.content["metrics"].items()
        }
        if "best" not in by_selection:
            raise InputError("no metrics of the selection best")
        return {"last": by_selection["best"], **by_selection}

    def predictions(self) -> dict[Key, Array]:
        """Codes uint8 (N,) of the samples of a split, in the order of the card (despur/metrics/codes.py)."""
        return flatten(self.content["predictions"], decode)

    def bootstrap_values(self) -> dict[Key, Array]:
        """Values (R,) on bootstrap samples of a split; ``content["resampling"]`` tells which samples."""
        best = self.metrics()["best"]
        deviations = self.flatten_metrics(self.content["draws"], decode)
        return {key: best.get(key, np.nan) + deviation.astype(float) for key, deviation in deviations.items()}

    def flatten_metrics(self, nested: Mapping[str, Any], read_one: Callable[[Any], Any]) -> dict[Key, Any]:
        """As :func:`flatten`, without metrics whose file has another revision today than in this record."""
        then, now = self.content["revisions"], list_revised_metrics()
        revised = tuple(begin for file, (begin, number) in now.items() if then.get(file, 1) != number)
        return {key: value for key, value in flatten(nested, read_one).items() if not key[1].startswith(revised)}


@cache
def load_record(file: str) -> Record:
    """The record of a file, read once. Raises InputError where it cannot be read."""
    return Record(Path(file), read(Path(file), KEYS))


def load(folder: Path) -> tuple[list[Record], list[str]]:
    """Every record below a folder, and what is wrong with the files that cannot be read."""
    return read_each(sorted(folder.rglob("*/s*.json")), lambda path: Record(path, read(path, KEYS)))


def read_each(paths: Iterable[Path], read_one: Callable[[Path], Content]) -> tuple[list[Content], list[str]]:
    """What is read of each file, and what is wrong with those that cannot be read."""
    contents, faults = [], []
    for path in paths:
        try:
            contents.append(read_one(path))
        except InputError as error:
            faults.append(str(error))
    return contents, faults


def read_value(value: float | None) -> float:
    return np.nan if value is None else float(value)


def nest(values: Mapping[Key, Any]) -> dict[str, dict[str, dict[str, Any]]]:
    """By split, metric, group."""
    nested: dict[str, dict[str, dict[str, Any]]] = {}
    for (split, metric, group), value in values.items():
        nested.setdefault(split, {}).setdefault(metric, {})[group] = value
    return nested


def flatten(nested: Mapping[str, Any], read_one: Callable[[Any], Any]) -> dict[Key, Any]:
    """What :func:`nest` made, each value read. Raises InputError for what is not nested so."""
    try:
        return {
            (split, metric, group): read_one(value)
            for split, metrics in nested.items()
            for metric, groups in metrics.items()
            for group, value in groups.items()
        }
    except (AttributeError, OverflowError, TypeError, ValueError) as error:
        raise InputError(f"not values by split, metric and group ({error})") from None
