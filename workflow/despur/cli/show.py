"""What finished runs measured, on the split that tables show, under selection ``best``: one run, or how two differ.
For reading only."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from despur.specs.paths import locate
from despur.specs.settings import SettingError, spell

if TYPE_CHECKING:
    import pandas as pd

WIDTH = 140  # characters of a line


def show(path: Path) -> Iterator[str]:
    """what a finished run measured: the headline split's metrics, mean (std) over seeds, a row for each point of a
    sweep"""
    import pandas as pd

    points, split = measured(path), headline(path)
    first = next(iter(points.values()))
    yield (
        f"{locate(path).folder}: split {split}, selection best, {seeds(first.columns)}; mean (std) over seeds, "
        "shares as in metrics.csv\n"
    )
    table = pd.DataFrame(
        {name: {metric: spread(row.dropna()) for metric, row in point.iterrows()} for name, point in points.items()}
    )
    shown = table if len(points) == 1 else table.T
    yield shown.fillna("–").to_string(line_width=WIDTH, header=len(points) > 1)


def diff(first: Path, second: Path) -> Iterator[str]:
    """how two runs differ: settings, seeds, code, versions, and the metrics of the headline split, point by point"""
    if data := [str(path) for path in (first, second) if locate(path).stage == "data"]:
        raise SettingError(
            f"{', '.join(data)}: data, which no run is; results/{{stage1,groups,runs}}/DATASET/NAME/SEEDS can differ"
        )
    abouts = [json.loads(of_result(path, "about.json").read_text()) for path in (first, second)]
    yield from differences(*abouts)
    if all((locate(path).folder / "metrics.csv").exists() for path in (first, second)):
        yield from changes(measured(first), measured(second), [headline(path) for path in (first, second)])


def differences(first: dict[str, Any], second: dict[str, Any]) -> Iterator[str]:
    """Of two about.json: settings (of a sweep, each with all its values), seeds, how it was computed, code."""
    for part, prefix in (("dataset", "data."), ("points", "")):
        left, right = (settings(about["question"].get(part, [])) for about in (first, second))
        for key in sorted({*left, *right}):
            if left.get(key) != right.get(key):
                yield f"{prefix}{key}: {left.get(key, '–')} | {right.get(key, '–')}"
    asked = [seeds(about["question"].get("seeds", [])) for about in (first, second)]
    yield asked[0] if asked[0] == asked[1] else f"{' | '.join(asked)}: a change may be the seeds'"
    for key in ("device", "precision", "versions"):
        if first.get(key) != second.get(key):
            yield f"{key}: {first.get(key)} | {second.get(key)}"
    yield f"code: {'the same' if first['question']['code'] == second['question']['code'] else 'differs'}"


def changes(first: dict[str, "pd.DataFrame"], second: dict[str, "pd.DataFrame"], splits: list[str]) -> Iterator[str]:
    """Each metric that both measured, of the points that both have, or of each point against the only one of the
    other."""
    pairs = [(name, name) for name in first if name in second]
    if not pairs and 1 in (len(first), len(second)):
        pairs = [(one, other) for one in first for other in second]
    if not pairs:
        sizes = f"{len(first)} points ({', '.join(first)}) against {len(second)} others ({', '.join(second)})"
        raise SettingError(
            f"no metrics compared: {sizes}; ask for one of a single point, or look at each: python -m despur show"
        )
    title = f"{' | '.join(dict.fromkeys(splits))} metric, mean (std) over seeds"
    for one, other in pairs:
        yield "\n" + " | ".join(name for name in dict.fromkeys((one, other)) if name)
        yield f"{title:<44}{'first':>18}{'second':>18}{'change':>12}"
        for metric, row in first[one].iterrows():
            if (
                metric in second[other].index
                and len(left := row.dropna())
                and len(right := second[other].loc[metric].dropna())
            ):
                yield f"{metric:<44}{spread(left):>18}{spread(right):>18}{right.mean() - left.mean():>+12.3g}"


def measured(path: Path) -> dict[str, "pd.DataFrame"]:
    """By the settings that a sweep varies (``lambda=0.5``; nothing, where it varies none): metrics of no group, and of
    probes, by seeds. Raises InputError where there are none of the headline split."""
    import pandas as pd

    from despur.storage.store import InputError

    if locate(path).stage != "runs":
        raise SettingError(f"{path}: only results/runs/DATASET/METHOD/SEEDS have metrics")
    table = pd.read_csv(
        of_result(path, "metrics.csv"), keep_default_na=False, na_values={"value": ["nan", ""]}, low_memory=False
    )
    of_all = (table["group"] == "") | (table["metric"] == "probe_accuracy")
    best, split = table[(table["selection"] == "best") & of_all], headline(path)
    chosen = best[best["split"] == split]
    if chosen.empty:
        there, about = ", ".join(best["split"].unique()) or "none", locate(path).data.folder / "about.json"
        remedy = (
            "" if about.exists() else f"; {about}, which says the split that tables show, is not there: make or copy it"
        )
        raise InputError(
            f"{of_result(path, 'metrics.csv')} has no metrics of the split {split}, selection best; splits: "
            f"{there}{remedy}"
        )
    varied = list(table.columns[2 : table.columns.get_loc("seed")])
    points = [
        ", ".join(f"{key}={spell(v)}" for key, v in zip(varied, row, strict=True))
        for row in chosen[varied].to_numpy(object)
    ]
    named = chosen.assign(point=points, metric=(chosen["metric"] + " " + chosen["group"]).str.strip())
    return {
        point: own.pivot_table("value", "metric", "seed", dropna=False, sort=False).dropna(how="all")
        for point, own in named.groupby("point", sort=False)
    }


def spread(values: "pd.Series") -> str:
    """``0.712 (0.031)``; of one seed, ``0.712``."""
    return f"{values.mean():.4g}" + (f" ({values.std():.2g})" if len(values) > 1 else "")


def seeds(numbers: Iterable[int]) -> str:
    """``seeds 0-2``; each by its number where they leave one out."""
    every = sorted(map(int, numbers))
    if len(every) > 2 and every == list(range(every[0], every[-1] + 1)):
        return f"seeds {every[0]}-{every[-1]}"
    return f"seed{'s' * (len(every) > 1)} {', '.join(map(str, every)) or '–'}"


def settings(points: Iterable[dict[str, Any]]) -> dict[str, str]:
    """Settings of all points, parts by their dots; several values of one: ``0.5 ~ 0.9``."""
    found: dict[str, dict[str, None]] = {}
    for point in points:
        for key, value in flat(point).items():
            found.setdefault(key, {})[spell(value)] = None
    return {key: " ~ ".join(values) for key, values in found.items()}


def flat(value: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """``{"a": {"b": 1}}`` -> ``{"a.b": 1}``."""
    parts = (
        flat(each, f"{prefix}{key}.") if isinstance(each, dict) else {f"{prefix}{key}": each}
        for key, each in value.items()
    )
    return {key: each for part in parts for key, each in part.items()}


def headline(path: Path) -> str:
    """The split of a result's data whose metrics are in tables."""
    file = locate(path).data.folder / "about.json"
    abouts = json.loads(file.read_text()) if file.exists() else {}
    return next((about["headline"] for about in abouts.values() if "headline" in about), "test")


def of_result(path: Path, name: str) -> Path:
    """A file of the folder of a result. Raises InputError where it is not made."""
    from despur.storage.store import require_file

    return require_file(locate(path).folder / name)
