"""The metrics of finished runs, as the commands ``show`` and ``diff`` print them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from despur.evidence.runs.run_files import read_once
from despur.specs.hyperparameters import RULES
from despur.specs.names import parse
from despur.specs.paths import locate_result
from despur.specs.settings import SettingError, spell
from despur.storage.finished_runs import read_history
from despur.storage.reading import InputError, read_json

DEFAULT_CRITERION = RULES[0]  # then the data set says what selects a setting
SCORE = "val_"  # begins the names of validation scores in history.csv


@dataclass(frozen=True)
class Roles:
    """What a data set's splits are for, and the metric by which its validation split selects a setting."""

    selecting: str = "val"
    headline: str = "test"  # whose metrics stand in tables
    metric: str = "worst_group_accuracy"
    selection: str = "best"  # which steps' models are shown, beside the last
    oracle: bool = False  # whether a column shows the step that test data would select, which only an analysis may know

    @property
    def splits(self) -> dict[str, str]:
        """The split of each column that is shown."""
        oracle = {"oracle": self.headline} if self.oracle else {}
        return {"validation": self.selecting, "best": self.headline, "last": self.headline, **oracle}

    @property
    def heads(self) -> dict[str, str]:
        """The words of each column that is shown."""
        steps = {"last": "last", "oracle": "oracle"}
        return {column: f"{split}, {steps.get(column, self.selection)} step" for column, split in self.splits.items()}


def read_roles(path: Path) -> Roles:
    """What the splits of a result's data are for, and the metric that selects a setting, as the data set says it."""
    file = locate_result(path).data.folder / "about.json"
    abouts = read_json(file) if file.exists() else {}
    about: dict[str, Any] = next((about for about in abouts.values() if "headline" in about), {})
    names = {"selecting": "select", "headline": "headline", "metric": "selection"}
    return Roles(**{field: about[name] for field, name in names.items() if name in about})


def find_roles(path: Path, selection: str = "best", oracle: bool = False) -> Roles:
    """The same; but the metric of the selection, or of the criterion of best steps, if it has one and is not the
    default, selects a setting, too."""
    criteria = find_criteria(path) if selection == "best" else {selection}
    rule = criteria.pop() if len(criteria) == 1 and criteria != {DEFAULT_CRITERION} else selection
    selecting_metric = {"metric": rule} if rule.endswith("accuracy") else {}
    return replace(read_roles(path), selection=selection, oracle=oracle, **selecting_metric)


def find_criteria(path: Path) -> set[str]:
    """What chose the best steps of a finished run: by its history.csv, the first score of each training; ``last``,
    where nothing is scored."""
    file = locate_result(path).folder / "history.csv"
    if not file.exists():
        return {f"what {file}, which is not there, would say"}
    history = read_history(file)
    scores = history[history["name"].str.startswith(SCORE)].drop_duplicates(["dataset", "method", "seed"])
    return {name.removeprefix(SCORE) for name in scores["name"]} or {"last"}


def load_points(path: Path) -> pd.DataFrame:
    """The rows of metrics.csv. The column ``point`` has the settings that a sweep varies (``lambda=0.5``; nothing,
    where it varies none). Where each seed has a draw of the data, ``seed`` is the draw: a method without randomness has
    one seed on all. Raises InputError where there are no rows of the headline split."""
    if locate_result(path).stage != "runs":
        raise SettingError(f"{path}: only results/runs/DATASET/METHOD/SEEDS have metrics")
    file = locate_result(path).folder / "metrics.csv"
    refuse_unknown(file)
    table, split = read_once(file), read_roles(path).headline
    best = table[table["selection"] == "best"]
    if not (best["split"] == split).any():
        there, about = ", ".join(best["split"].unique()) or "none", locate_result(path).data.folder / "about.json"
        remedy = (
            "" if about.exists() else f"; {about}, which says the split that tables show, is not there: make or copy it"
        )
        raise InputError(f"{file} has no metrics of the split {split}, selection best; splits: {there}{remedy}")
    varied = list(table.columns[2 : table.columns.get_loc("seed")])
    points = [
        ", ".join(f"{key}={spell(v)}" for key, v in zip(varied, row, strict=True))
        for row in table[varied].to_numpy(object)
    ]
    on_draws = "seed" in locate_result(path).datasets.overrides.get("draw", [])
    return table.assign(point=points, seed=number_draws(table["dataset"]) if on_draws else table["seed"])


def refuse_unknown(file: Path) -> None:
    """Raises SettingError where a result is not there since its name is none."""
    if not file.exists():
        locate_result(file).runs()


def load_shown(path: Path, selection: str = "best", oracle: bool = False) -> pd.DataFrame:
    """The rows that are shown; the column ``shown`` says in which column: ``validation`` (the split that selects, best
    step), ``best``, ``last`` and, if asked for, ``oracle`` (the headline split). ``selection``: of the steps that are
    called best. Raises InputError where a run did not keep it; a method that has one step has no other."""
    table, roles = load_points(path), find_roles(path, selection)
    kept = list(table["selection"].unique())
    if selection in RULES and "selections" not in locate_result(path).sweep.points[0].settings:
        selection = "best"
    elif selection not in kept:
        remedy = "; run it with the setting selections=rules" if selection in RULES else ""
        raise InputError(f"{path} has not kept the selection {selection}, but {', '.join(kept)}{remedy}")
    parts = [
        table[(table["split"] == split) & (table["selection"] == ("last" if column == "last" else selection))]
        for column, split in roles.splits.items()
    ]
    shown = [part.assign(shown=column) for part, column in zip(parts, roles.splits, strict=True)]
    return pd.concat([*shown, *([pick_by_test(table, roles).assign(shown="oracle")] if oracle else [])])


def pick_by_test(table: pd.DataFrame, roles: Roles) -> pd.DataFrame:
    """Of each point and seed the headline rows of the kept step with the largest ``roles.metric`` of the headline split
    itself: what no rule may select. Nothing where a run has no such metric."""
    of_run = ["point", "seed", "selection"]
    test = table[table["split"] == roles.headline]
    scores = test[test["metric"] == roles.metric].groupby(of_run)["value"].mean().dropna()
    picked = scores.groupby(of_run[:2]).idxmax().tolist()
    return test.set_index(of_run, drop=False).loc[lambda rows: rows.index.isin(picked)].reset_index(drop=True)


def load_metrics(path: Path) -> dict[str, pd.DataFrame]:
    """By point: metrics of the headline split, best step, of no group and of probes, by seeds."""
    table = load_points(path)
    table = table[table["split"] == read_roles(path).headline]
    of_all = (table["group"] == "") | (table["metric"] == "probe_accuracy")
    chosen = table[(table["selection"] == "best") & of_all]
    named = chosen.assign(metric=name_metrics(chosen))
    return {
        point: rows.pivot_table("value", "metric", "seed", dropna=False, sort=False).dropna(how="all")
        for point, rows in named.groupby("point", sort=False)
    }


def name_metrics(table: pd.DataFrame) -> pd.Series:
    """The name of each row's metric, with its group."""
    return (table["metric"] + " " + table["group"]).str.strip()


def number_draws(datasets: pd.Series) -> pd.Series:
    """The draw of each row's data set."""
    return datasets.map(lambda name: int(parse(name)[1].get("draw", ["0"])[0]))


def format_spread(values: Sequence[float] | pd.Series) -> str:
    """``0.712 (0.031)``; of one seed, ``0.712``; a dash of none."""
    values = pd.Series(values, dtype=float).dropna()
    if not len(values):
        return "–"
    spread = values.std() if len(values) > 1 else 0.0
    spread = spread if spread > 1e-12 else 0.0  # what floats alone make
    return f"{values.mean():.4g}" + (f" ({spread:.2g})" if len(values) > 1 else "")


def format_seeds(numbers: Iterable[int]) -> str:
    """``seeds 0-2``; each by its number where they leave one out."""
    every = sorted(map(int, numbers))
    if len(every) > 2 and every == list(range(every[0], every[-1] + 1)):
        return f"seeds {every[0]}-{every[-1]}"
    return f"seed{'s' * (len(every) > 1)} {', '.join(map(str, every)) or '–'}"
