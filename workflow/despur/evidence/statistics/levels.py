"""Which single values the keys of a claim's contrast stand for: lists, levels of a setting, levels within bounds."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Protocol

from despur.specs.names import unknown

BOUNDS = {
    "above": lambda level, bound: level > bound,
    "at_least": lambda level, bound: level >= bound,
    "below": lambda level, bound: level < bound,
    "at_most": lambda level, bound: level <= bound,
    "other_than": lambda level, bound: level not in (bound if isinstance(bound, list) else [bound]),
}
LEVEL_WORDS = ("every", "lowest", "highest")
MeasurementKeys = dict[str, Any]  # keys (method, metric, split, ..., settings) to single values


class Missing(LookupError):
    """A claim needs what was not run, measured or printed; the message says what."""


class Levels(Protocol):
    """What knows the levels of a key that were measured (or printed), in rising order, where other keys are fixed."""

    def levels(self, key: str, measurement: MeasurementKeys) -> list[Any]: ...


class PaperLevels:
    """The levels of settings that a paper speaks of (``levels`` of claims.yaml), in the place of those that were
    measured (or printed); of what is no setting (groups, splits, selections) the measured ones. Without
    ``no_settings``, also those of a setting whose levels are not stated."""

    def __init__(
        self, of_paper: Mapping[str, list[Any]], measured: Levels, no_settings: Collection[str] | None = None
    ) -> None:
        self.of_paper, self.measured, self.no_settings = of_paper, measured, no_settings

    def levels(self, key: str, measurement: MeasurementKeys) -> list[Any]:
        """Raises Missing for a setting whose levels are not stated: then nobody knows whether all were run."""
        if key in self.of_paper:
            return list(self.of_paper[key])
        if self.no_settings is not None and key not in self.no_settings:
            raise Missing(f"claims.yaml does not state the paper's levels of {key}")
        return self.measured.levels(key, measurement)


def is_many(value: Any) -> bool:
    """Whether a stated value is to be resolved into single ones."""
    return isinstance(value, list | Mapping) or value in LEVEL_WORDS


def list_fixed(measurement: Mapping[str, Any], key: str) -> list[MeasurementKeys]:
    """The other keys of a measurement that have a single value; of a change, those of both its ends."""
    plain = {k: v for k, v in measurement.items() if k not in (key, "change") and not is_many(v)}
    ((changed, ends),) = measurement["change"].items() if "change" in measurement else ((key, [None]),)
    if changed == key:
        return [plain]
    return [{k: v for k, v in {**plain, changed: end}.items() if not is_many(v)} for end in ends]


def list_single_values(key: str, values: Any, measurements: Sequence[MeasurementKeys], levels: Levels) -> list[Any]:
    """The values that are stated for a key: a list; or those levels that all measurements have, within bounds, or at an
    end."""
    if isinstance(values, list):
        return values
    first, *others = [levels.levels(key, end) for one in measurements for end in list_fixed(one, key)]
    levels_of_all = [level for level in first if all(level in other for other in others)]
    if isinstance(values, Mapping):
        for name in set(values) - set(BOUNDS):
            raise unknown(f"bound of {key}", name, BOUNDS)
        levels_of_all = [
            level for level in levels_of_all if all(BOUNDS[name](level, bound) for name, bound in values.items())
        ]
    if not levels_of_all:
        bounds = ", ".join(f"{name} {bound}" for name, bound in values.items()) if isinstance(values, Mapping) else ""
        raise Missing(f"not measured: {key} ({bounds})" if bounds else f"no {key} that was varied for all sides")
    ends = {"lowest": levels_of_all[:1], "highest": levels_of_all[-1:]}
    return ends.get(values, levels_of_all) if isinstance(values, str) else levels_of_all


def list_combinations(shared: Mapping[str, Any], sides: Sequence[Any], levels: Levels) -> Iterator[MeasurementKeys]:
    """The shared keys with single values: a mapping for each combination of values that all sides have (numbers have
    any)."""
    key = next((key for key, value in shared.items() if key != "change" and is_many(value)), None)
    if key is None:
        yield dict(shared)
        return
    whole = [{**shared, **side} for side in sides if isinstance(side, Mapping)]
    for value in list_single_values(key, shared[key], whole, levels):
        yield from list_combinations({**shared, key: value}, sides, levels)
