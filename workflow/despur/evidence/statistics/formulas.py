"""Contrasts as formulas: weighted sums of single measurements, or a rank correlation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from despur.evidence.statistics.levels import MeasurementKeys
from despur.specs.settings import SettingError

NEAR = 0.05  # points as shares; of logarithms about as many percent
DEFAULTS = {"split": "test", "selection": "best", "group": ""}


@dataclass(frozen=True)
class Formula:
    """A contrast: a weighted sum of measurements (of their logarithms on the ``log`` scale) and a constant."""

    terms: tuple[tuple[float, MeasurementKeys], ...]
    constant: float
    margin: float
    label: str
    scale: str = "plain"
    counted: bool = False


@dataclass(frozen=True)
class Correlation:
    """A contrast: the rank correlation of two metrics over the points that differ in the keys ``over``, times
    ``sign``."""

    metrics: tuple[str, str]
    over: tuple[str, ...]
    of: Mapping[str, Any]  # further keys to a value or a list of values
    sign: float
    margin: float
    label: str

    @property
    def terms(self) -> tuple[tuple[float, MeasurementKeys], ...]:
        """Its two metrics, each over all points."""
        return tuple((1.0, {**self.of, "metric": metric}) for metric in self.metrics)

    @property
    def count(self) -> int:
        """How many runs of each seed it needs: one for each combination of values that are stated."""
        return math.prod(len(self.of.get(key, [0])) for key in self.over if key not in DEFAULTS)


@dataclass(frozen=True)
class Formulas:
    """Several formulas or groups of them, of which all or ``at_least`` so many should be true."""

    parts: list[Formula | Correlation | Formulas]
    at_least: int | None = None

    def leaves(self) -> Iterator[Formula | Correlation]:
        """Each formula, those of groups within it included."""
        for part in self.parts:
            yield from part.leaves() if isinstance(part, Formulas) else [part]


def describe(high: Any, low: Any, hidden: set[str]) -> str:
    """``cnc - erm (worst_group_accuracy, data.p_corr=0.9)``: what differs between the sides, then what they share."""
    high, low = (_drop_changed(side) for side in (high, low))
    both = [side for side in (high, low) if isinstance(side, Mapping)]
    shown = [key for key in dict.fromkeys(key for side in both for key in side) if key not in hidden]
    apart = [key for key in shown if key == "method" or any(side.get(key) != both[0].get(key) for side in both)]
    same = [_item(key, both[0][key]) for key in shown if key not in apart and DEFAULTS.get(key) != both[0][key]]
    names = [
        " ".join(_item(key, side[key]) for key in apart if key in side) if isinstance(side, Mapping) else f"{side:g}"
        for side in (high, low)
    ]
    return f"{names[0]} - {names[1]}" + (f" ({', '.join(same)})" if same else "")


def _drop_changed(side: Any) -> Any:
    """A side without its own values of keys that its change gives."""
    if not isinstance(side, Mapping):
        return side
    return {key: value for key, value in side.items() if key not in side.get("change", {})}


def _item(key: str, value: Any) -> str:
    if key == "change":
        ((setting, (first, last)),) = value.items()
        return f"from {setting}={first} to {last}"
    return str(value) if key in ("method", "metric") else f"{key}={value}"


def read_margin(margin: float | str) -> float:
    """A margin: a number; ``near``: less by the tolerance of numbers. Raises SettingError for anything else."""
    if margin == "near":
        return -NEAR
    if isinstance(margin, str) or not math.isfinite(margin):
        raise SettingError(f"margin {margin!r} is neither a finite number nor near")
    return float(margin)
