"""``despur diff RUN RUN``: how two results differ. For reading only."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from despur.cli.commands import PATH, Arguments
from despur.cli.metrics import format_seeds, format_spread, load_metrics, read_roles, refuse_unknown
from despur.cli.rows import Row
from despur.specs.paths import ResultPath, locate_result
from despur.specs.settings import SettingError, spell
from despur.storage.reading import read_json, require_file

ARGUMENTS: Arguments = {"first": PATH, "second": PATH}


def show_difference(first: Path, second: Path) -> Iterator[str]:
    """how two runs differ: settings, seeds, versions, code (of one method), and the metrics of the headline split,
    point by point, with an interval of each change, paired by seed"""
    if data := [str(path) for path in (first, second) if locate_result(path).stage == "data"]:
        raise SettingError(
            f"{', '.join(data)}: data, which no run is; results/{{stage1,groups,runs}}/DATASET/NAME/SEEDS can differ"
        )
    abouts = [read_about(locate_result(path)) for path in (first, second)]
    yield from list_differences(*abouts)
    if all((locate_result(path).folder / "metrics.csv").exists() for path in (first, second)):
        yield from list_changes(
            load_metrics(first), load_metrics(second), [read_roles(path).headline for path in (first, second)]
        )


def read_about(result: ResultPath) -> dict[str, Any]:
    """What made a result. Where a run is not there, its last file is named: making it makes all."""
    file = result.folder / "about.json"
    refuse_unknown(file)
    if result.stage == "runs" and not file.exists():
        require_file(result.folder / "metrics.csv")
    return read_json(file)


def list_differences(first: dict[str, Any], second: dict[str, Any]) -> Iterator[str]:
    """Of two about.json: settings (of a sweep, each with all its values), seeds, how it was computed, code."""
    for part, prefix in (("dataset", "data."), ("points", "")):
        left, right = (list_settings(about["specification"].get(part, [])) for about in (first, second))
        for key in sorted({*left, *right}):
            if left.get(key) != right.get(key):
                values = [side.get(key, "–") for side in (left, right)]
                text = f"{prefix}{key}: {' | '.join(values)}"
                yield Row(text, "settings", setting=f"{prefix}{key}", first=values[0], second=values[1])
    seeds = [format_seeds(about["specification"].get("seeds", [])) for about in (first, second)]
    yield seeds[0] if seeds[0] == seeds[1] else f"{' | '.join(seeds)}: a change may be the seeds'"
    for key in ("device", "precision", "versions"):
        if first.get(key) != second.get(key):
            text = f"{key}: {first.get(key)} | {second.get(key)}"
            yield Row(text, "made_by", key=key, first=first.get(key), second=second.get(key))
    left, right = (about["specification"]["code"] for about in (first, second))
    if list_names(first) == list_names(second):  # each method, and each data set, has code of its own
        yield Row(
            f"code: {'the same' if left == right else 'differs'}", "made_by", key="code", first=left, second=right
        )


def list_names(about: dict[str, Any]) -> set[tuple[str, str]]:
    """The data sets, methods and their components of a result, without settings."""
    parts = (flatten(point) for part in ("dataset", "points") for point in about["specification"].get(part, []))
    return {(key, value) for part in parts for key, value in part.items() if key.rpartition(".")[2] == "name"}


def list_changes(first: dict[str, pd.DataFrame], second: dict[str, pd.DataFrame], splits: list[str]) -> Iterator[str]:
    """Each metric that both measured, of the points that both have, or of each point against the only one of the
    other."""
    pairs = [(name, name) for name in first if name in second]
    if not pairs and 1 in (len(first), len(second)):
        pairs = [(one, other) for one in first for other in second]
    if not pairs:
        sizes = f"{len(first)} points ({', '.join(first)}) against {len(second)} others ({', '.join(second)})"
        raise SettingError(
            f"no metrics compared: {sizes}; choose a result of a single point, or look at each: despur show"
        )
    measured = {"split": " | ".join(dict.fromkeys(splits)), "selection": "best"}
    title = f"{measured['split']}, best step: mean (std) over seeds"
    for one, other in pairs:
        yield "\n" + " | ".join(name for name in dict.fromkeys((one, other)) if name)
        yield f"{title:<48}{'first':>24}{'second':>24}{'change':>12}  95 % over seeds, paired"
        for metric, row in first[one].iterrows():
            if (
                metric in second[other].index
                and len(left := row.dropna())
                and len(right := second[other].loc[metric].dropna())
            ):
                change = right.mean() - left.mean()
                low, high = find_interval(left, right)
                interval = "" if low is None else f"  [{low:+.3g}, {high:+.3g}]"
                text = f"{metric:<48}{format_spread(left):>24}{format_spread(right):>24}{change:>+12.3g}{interval}"
                means = {"first": left.mean(), "second": right.mean(), "change": change, "low": low, "high": high}
                yield Row(text, "metrics", first_point=one, second_point=other, metric=metric, **measured, **means)


def find_interval(left: pd.Series, right: pd.Series) -> tuple[float, float] | tuple[None, None]:
    """The 95 % interval of a change, paired by seed; none where the seeds are not the same three or more, or the change
    does not vary. What the test data themselves vary is not in it."""
    from despur.evidence.claims.claim_evidence import find_bounds
    from despur.evidence.statistics.contrasts import SEEDS, Contrast

    changes = (right - left).to_numpy(float)
    contrast = Contrast(changes, np.empty((len(changes), 0)))
    if len(left) < SEEDS or {*left.index} != {*right.index} or not contrast.has_interval:
        return None, None
    return find_bounds(contrast)


def list_settings(points: Iterable[dict[str, Any]]) -> dict[str, str]:
    """Settings of all points, components by their dots; several values of one: ``0.5 ~ 0.9``."""
    values_by_key: dict[str, dict[str, None]] = {}
    for point in points:
        for key, value in flatten(point).items():
            values_by_key.setdefault(key, {})[spell(value)] = None
    return {key: " ~ ".join(values) for key, values in values_by_key.items()}


def flatten(value: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """``{"a": {"b": 1}}`` -> ``{"a.b": 1}``."""
    parts = (
        flatten(item, f"{prefix}{key}.") if isinstance(item, dict) else {f"{prefix}{key}": item}
        for key, item in value.items()
    )
    return {key: item for part in parts for key, item in part.items()}
