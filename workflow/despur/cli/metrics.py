"""The metrics of finished runs, as the commands ``show`` and ``diff`` print them: of the split that tables show."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from despur.specs.paths import locate_result
from despur.specs.settings import SettingError, spell
from despur.storage.finished_runs import read_metrics
from despur.storage.reading import InputError, read_json

if TYPE_CHECKING:
    import pandas as pd


def load_headline(path: Path) -> "pd.DataFrame":
    """The rows of metrics.csv of the headline split. The column ``point`` has the settings that a sweep varies
    (``lambda=0.5``; nothing, where it varies none). Raises InputError where there are no such rows."""
    if locate_result(path).stage != "runs":
        raise SettingError(f"{path}: only results/runs/DATASET/METHOD/SEEDS have metrics")
    file = locate_result(path).folder / "metrics.csv"
    table, split = read_metrics(file), find_headline(path)
    best = table[table["selection"] == "best"]
    if not (best["split"] == split).any():
        there, about = ", ".join(best["split"].unique()) or "none", locate_result(path).data.folder / "about.json"
        remedy = (
            "" if about.exists() else f"; {about}, which says the split that tables show, is not there: make or copy it"
        )
        raise InputError(f"{file} has no metrics of the split {split}, selection best; splits: {there}{remedy}")
    varied = list(table.columns[2 : table.columns.get_loc("seed")])
    chosen = table[table["split"] == split]
    points = [
        ", ".join(f"{key}={spell(v)}" for key, v in zip(varied, row, strict=True))
        for row in chosen[varied].to_numpy(object)
    ]
    return chosen.assign(point=points)


def load_metrics(path: Path) -> dict[str, "pd.DataFrame"]:
    """By point: metrics of no group, and of probes, selection best, by seeds."""
    table = load_headline(path)
    of_all = (table["group"] == "") | (table["metric"] == "probe_accuracy")
    chosen = table[(table["selection"] == "best") & of_all]
    named = chosen.assign(metric=(chosen["metric"] + " " + chosen["group"]).str.strip())
    return {
        point: own.pivot_table("value", "metric", "seed", dropna=False, sort=False).dropna(how="all")
        for point, own in named.groupby("point", sort=False)
    }


def format_spread(values: "pd.Series") -> str:
    """``0.712 (0.031)``; of one seed, ``0.712``."""
    return f"{values.mean():.4g}" + (f" ({values.std():.2g})" if len(values) > 1 else "")


def format_seeds(numbers: Iterable[int]) -> str:
    """``seeds 0-2``; each by its number where they leave one out."""
    every = sorted(map(int, numbers))
    if len(every) > 2 and every == list(range(every[0], every[-1] + 1)):
        return f"seeds {every[0]}-{every[-1]}"
    return f"seed{'s' * (len(every) > 1)} {', '.join(map(str, every)) or '–'}"


def find_headline(path: Path) -> str:
    """The split of a result's data whose metrics are in tables."""
    file = locate_result(path).data.folder / "about.json"
    abouts = read_json(file) if file.exists() else {}
    return next((about["headline"] for about in abouts.values() if "headline" in about), "test")
