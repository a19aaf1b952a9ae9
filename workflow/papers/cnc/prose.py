"""The numbers that the paper states in sentences: measured on this run where it has the data for them."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from despur.orchestration.experiments import Cell
from despur.reporting.printed import printed_settings
from despur.reporting.tables import compare, headline, load_metrics
from despur.specs.paths import locate
from despur.storage.store import Array, Dataset, load_dataset

ALL = ["cmnist", "waterbirds", "celeba", "civilcomments"]
ACCURACIES = ("worst_group_accuracy", "average_accuracy")
CLAIMS = {"lambda": "flat_in_lambda", "p_corr_from_which_cnc_is_better": "more_robust_above_95"}


class NotHere(LookupError):
    """A number that this run cannot give; the message says why."""


@dataclass
class Here:
    """What this run has on one data set of the paper, or on all of them: cells of Table 1, of the two stages, of stage
    1's predictions."""

    roles: list[str]
    cells: list[Cell]

    @cached_property
    def metrics(self) -> pd.DataFrame:
        return load_metrics([cell for cell in self.cells if cell.artifact in ("table_1", "prose")])

    @property
    def data(self) -> str:
        return ", ".join(sorted({cell.dataset for cell in self.cells}))

    @property
    def stand_in(self) -> bool:
        return any(cell.stand_in for cell in self.cells)

    @cached_property
    def dataset(self) -> Dataset:
        result = locate(self.cells[0].folders[0])
        return load_dataset(result.data.folder, result.runs()[0].data.name)

    def by_seed(self, method: str, role: str, metric: str = "worst_group_accuracy") -> pd.Series:
        """A test metric of a method of Table 1, by seed."""
        rows = headline(self.metrics)
        rows = rows[
            (rows["printed"] == method) & (rows["role"] == role) & (rows["metric"] == metric) & (rows["group"] == "")
        ]
        if not len(rows):
            raise NotHere(f"{method} was not run on {role}")
        return rows.groupby("seed")["value"].mean()

    def runs(self, method: str) -> list[dict[str, Any]]:
        """What about.json says of each run of a method of Table 1, or (``stage1/erm``) of a base."""
        stage, _, name = method.rpartition("/")
        found = [
            cell for cell in self.cells if cell.printed == name and locate(cell.folders[0]).stage == (stage or "runs")
        ]
        folders = {
            folder: json.loads((Path(folder) / "about.json").read_text()) for cell in found for folder in cell.folders
        }
        if not folders:
            raise NotHere(f"{method} was not run on {', '.join(self.roles)}")
        return [run for about in folders.values() for run in about["runs"].values()]


def lift(number: Any, here: Here) -> Array:
    """CNC's worst-group accuracy above the baseline's, in points, by seed; over several data sets, the mean. 'Prior
    SOTA': JTT."""
    baseline = {"prior_sota": "jtt"}.get(name := printed_settings(number.setting)["baseline"], name)
    series = [here.by_seed(number.method, role) - here.by_seed(baseline, role) for role in here.roles]
    return 100 * (
        series[0].dropna().to_numpy() if len(series) == 1 else np.array([np.mean([each.mean() for each in series])])
    )


def shortfall(number: Any, here: Here) -> Array:
    return -lift(number, here)


def gap_reduction(number: Any, here: Here) -> Array:
    """Largest share, in percent, by which CNC's per-class gap is smaller than ERM's or JTT's, over data sets; means
    over seeds."""
    test, found = headline(here.metrics), []
    for role in sorted(set(test["role"])):
        gap = {}
        for method in ("cnc", "erm", "jtt"):
            mine = test[(test["role"] == role) & (test["printed"] == method)]
            average, worst = (
                mine.loc[mine["metric"] == f"class_{kind}_accuracy", "value"].mean()
                for kind in ("average", "worst_group")
            )
            gap[method] = average - worst
        found += [100 * (1 - gap["cnc"] / gap[other]) for other in ("erm", "jtt") if gap[other] > 0]
    if not np.isfinite(found).any():
        raise NotHere("neither ERM nor JTT was run beside CNC")
    return np.array([np.nanmax(found)])


def agreement(number: Any, here: Here) -> Array:
    """Share of training samples whose stage-1 prediction matches the spurious attribute, in percent, by seed."""
    rows = here.metrics[(here.metrics["printed"] == number.method) & (here.metrics["metric"] == "best_match")]
    if not len(rows):
        raise NotHere(f"{number.method} was not run on {number.dataset}")
    return 100 * rows["value"].to_numpy()


def factor(number: Any, here: Here) -> Array:
    return np.array([run["largest_factor"] for run in here.runs("jtt")])


def hours(number: Any, here: Here) -> Array:
    return np.array([run["seconds"] / 3600 for run in here.runs("stage1/erm")])


def group_sizes(here: Here) -> Array:
    """Training samples, (classes, attributes)."""
    train = here.dataset.table.iloc[here.dataset.rows("train")]
    return pd.crosstab(train["y"], train["a"]).to_numpy()


def minority(number: Any, here: Here) -> Array:
    """Share of training samples without their class's most frequent attribute, in percent."""
    sizes = group_sizes(here)
    return np.array([100 * (1 - sizes.max(axis=1).sum() / sizes.sum())])


def males(number: Any, here: Here) -> Array:
    """Share of men among the blond, in percent."""
    about = here.dataset.about
    if "blond" not in about["classes"]:
        raise NotHere(f"{here.data} has no class blond")
    of_blond = group_sizes(here)[about["classes"].index("blond")]
    return np.array([100 * of_blond[about["attributes"].index("male")] / of_blond.sum()])


def smallest(number: Any, here: Here) -> Array:
    return np.array([group_sizes(here).min()])


def smallest_share(number: Any, here: Here) -> Array:
    return np.array([100 * group_sizes(here).min() / group_sizes(here).sum()])


MEASURES: dict[str, Callable[[Any, Here], Array]] = {
    "worst_group_accuracy_lift": lift,
    "worst_group_accuracy_shortfall": shortfall,
    "per_class_gap_reduction_max": gap_reduction,
    "stage1_spurious_attribute_agreement": agreement,
    "upsampling_factor": factor,
    "train_hours": hours,
    "minority_fraction": minority,
    "majority_fraction": lambda number, here: 100 - minority(number, here),
    "n_examples": lambda number, here: np.array([group_sizes(here).sum()]),
    "smallest_group_size": smallest,
    "smallest_group_fraction": smallest_share,
    "male_fraction": males,
}


def prose(printed: pd.DataFrame, cells: list[Cell], seeds: int) -> pd.DataFrame:
    """A row for each printed number and each data set that plays its part, with the reason where there is none."""
    accuracies = printed["metric"].isin(ACCURACIES)
    table = compare(printed[accuracies], Here(ALL, cells).metrics, seeds)
    table["reason"] = np.where(table["seeds"] == 0, "method, setting or data set not in this run", "")
    rows = [row for number in printed[~accuracies].itertuples() for row in measured(number, cells)]
    table = pd.concat([table, pd.DataFrame(rows)], ignore_index=True)
    return table.assign(unit=table["metric"].map(dict(zip(printed["metric"], printed["unit"], strict=True))))


def measured(number: Any, cells: list[Cell]) -> list[dict[str, Any]]:
    """A number that is no accuracy of Table 1, for each player of its data set; for all data sets together, one."""
    base = {
        "paper_dataset": number.dataset,
        "method": number.method,
        "setting": number.setting,
        "metric": number.metric,
        "reported": number.mean,
        "reported_std": number.std,
        "note": number.note,
        "seeds": 0,
    }
    missing = base | {"verdict": "not run here"}
    if number.metric in CLAIMS:
        return [missing | {"reason": f"a range, judged as a claim: {CLAIMS[number.metric]}"}]
    everywhere = number.dataset not in ALL
    roles = ALL if everywhere else [number.dataset]
    mine = [cell for cell in cells if cell.role in roles]
    players = (
        [mine]
        if everywhere
        else [[c for c in mine if c.dataset == player] for player in sorted({c.dataset for c in mine})]
    )
    rows = []
    for own in filter(None, players):
        here = Here(roles, own)
        try:
            values = MEASURES[number.metric](number, here)
        except NotHere as reason:
            rows.append(missing | {"reason": str(reason), "data": here.data})
            continue
        spread = float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")
        found = {"ours": float(np.mean(values)), "ours_std": spread, "seeds": len(values), "data": here.data}
        rows.append(base | found | verdict(number, found["ours"], here.stand_in))
    return rows or [missing | {"reason": f"nothing plays the part of {number.dataset}"}]


def verdict(number: Any, ours: float, stand_in: bool) -> dict[str, Any]:
    """Statistics of the data agree where they round to what is printed; what else has no printed deviation is not
    judged."""
    if stand_in:
        return {"verdict": "stand-in: not compared"}
    difference = {"difference": ours - number.mean}
    if not number.metric.endswith(("_fraction", "_size", "n_examples")):
        return difference | {"verdict": "no printed deviation: not judged"}
    rounded = round(ours, len(f"{number.mean:g}".partition(".")[2]))
    return difference | {"verdict": "agrees" if rounded == number.mean else "differs"}
