"""The numbers that the paper states in sentences: gains, gaps, shares of trained parameters, the Lipschitz constant."""

from collections.abc import Callable, Sequence
from typing import Any

import named
import numpy as np
import pandas as pd

from despur.experiments import Cell
from despur.metrics.lipschitz import product_bound, sampled_bound
from despur.paths import locate
from despur.reporting.printed import printed_settings
from despur.reporting.tables import COLUMNS
from despur.store import Container, load_dataset

WORST, AVERAGE, GAP = "worst_group_accuracy", "average_accuracy", "gap"
EVERYWHERE = ("all", "all_9", "representative_4", "mean_of_4")
BASELINES = {"best_single_component": ("adapter_hard_sampling_only", "adapter_contrastive_only"), "worst_prior_method": ("jtt",),
             "next_best": ("zero_shot", "group_prompt", "linear_probe", "adapter", "wise_ft", "dfr_subsample", "dfr_upsample")}  # fmt: skip
METHODS = {"linear_probe_or_adapter": ("linear_probe", "adapter")}


class NotHere(LookupError):
    """A number that this run cannot give; the message says why."""


class Means:
    """Means over seeds, in percent, of test metrics under the paper's names."""

    def __init__(self, metrics: pd.DataFrame) -> None:
        test = metrics[(metrics["split"] == "test") & (metrics["selection"] == "best") & (metrics["group"] == "")]
        self.test = test

    def value(self, role: str, method: str, metric: str, backbone: str, samples: str = "") -> float:
        rows = self.test
        rows = rows[(rows["role"] == role) & (rows["printed"] == method) & (rows["metric"] == metric)]
        if method != "zero_shot":  # which is the same for all
            levels = pd.to_numeric(rows.get("data.samples", pd.Series(np.nan, rows.index))).fillna(0)
            rows = rows[levels == float(samples or 0)]
        rows = rows[rows["backbone"].isin([backbone, named.FULL])] if backbone else rows
        if not len(rows):
            raise NotHere(f"{method} on {role} was not run" + (f" with {samples} samples" if samples else ""))
        return 100 * float(rows.groupby("backbone")["value"].mean().iloc[0])


def change(number: Any, asked: dict[str, str], means: Means, roles: Sequence[str]) -> list[float]:
    """By how much a method is better (or, with drop, increase, shortfall in the metric's name, worse) than a baseline, on each data set."""
    metric = GAP if number.metric.startswith("gap") else WORST
    sign = -1 if any(word in number.metric for word in ("drop", "shortfall", "gap_reduction")) else 1
    methods, baselines = METHODS.get(number.method, (number.method,)), BASELINES.get(asked.get("baseline", ""), (asked.get("baseline"),))
    backbone = asked.get("backbone", "")
    found = []
    for role in roles:
        base = max(means.value(role, str(name), metric, backbone) for name in baselines)
        found += [sign * (means.value(role, method, metric, backbone, asked.get("n_train", "")) - base) for method in methods]
    return found


def measured(number: Any, asked: dict[str, str], means: Means, roles: Sequence[str]) -> list[float]:
    """A metric of a method on each data set."""
    metric = {"gap_max": GAP, "worst_group_accuracy_min": WORST}.get(number.metric, number.metric)
    if metric == "trained_params_percent":
        metric = "trained_params_share"
    return [means.value(role, number.method, metric, asked.get("backbone", "")) for role in roles]


def lipschitz(cells: Sequence[Cell]) -> tuple[float, float]:
    """Sampled lower and product upper bound of the first seed's contrastive adapter on the larger model, on Waterbirds or what plays it."""
    for cell in cells:
        for folder in cell.folders if (cell.role, cell.printed, cell.artifact) == ("waterbirds", "contrastive_adapter", "table_3") else ():
            place = locate(folder)
            for run in place.runs():
                if named.identify(cell.printed, run.spec.name, run.data.name)[:2] == ("contrastive_adapter", named.LARGER):
                    (source,) = place.upstream("stage1")
                    kept = Container(place.folder / "models.safetensors").under(f"{run.key}/best")
                    weights = {key.removeprefix("encoder."): value for key, value in kept.items()}
                    z = Container(source.folder / "outputs.safetensors")[f"{run.of('stage1')}/last/z"].astype(float)
                    return sampled_bound(weights, z), product_bound(weights)
    raise NotHere("the contrastive adapter was not run on Waterbirds")


def smallest_share(cells: Sequence[Cell], role: str) -> float:
    """Percent of training samples in the smallest group (class x attribute)."""
    for cell in cells:
        if cell.role == role:
            place = locate(cell.folders[0])
            dataset = load_dataset(place.data.folder, place.runs()[0].data.name)
            return float(100 * dataset.cells[dataset.rows("train")].mean(axis=0).min())
    raise NotHere(f"nothing plays the part of {role}")


def ours(number: Any, cells: Sequence[Cell], means: Means) -> dict[str, Any]:
    """Our number, the largest or smallest over data sets where the paper's is; raises NotHere."""
    asked = printed_settings(number.setting)
    roles = list(dict.fromkeys(cell.role for cell in cells)) if number.dataset in EVERYWHERE else [number.dataset]
    if number.metric == "lipschitz_constant":
        low, high = lipschitz(cells)
        return {"ours": high, "reason": f"product bound; the sampled lower bound is {low:.3g}"}
    if number.metric == "smallest_group_fraction":
        return {"ours": smallest_share(cells, number.dataset), "reason": ""}
    if not roles:
        raise NotHere("nothing was run")
    measure: Callable[..., list[float]] = change if "baseline" in asked and number.metric not in ("gap", AVERAGE) else measured
    values = measure(number, asked, means, roles)
    reduce = (
        np.mean if number.dataset == "mean_of_4" else np.min if asked.get("bound") == "min" or number.metric.endswith("_min") else np.max
    )
    return {"ours": float(reduce(values)), "reason": f"over {', '.join(roles)}" if number.dataset in EVERYWHERE else ""}


def prose(printed: pd.DataFrame, cells: list[Cell]) -> pd.DataFrame:
    """A row for each printed number, with the reason where there is none. Nothing is judged here: the tables judge what they are of."""
    metrics = named.load(cells, resampled=False)[0]
    means = Means(metrics) if len(metrics) else None
    stand_in = any(cell.stand_in for cell in cells)
    rows = []
    for number in printed.itertuples():
        base = {"paper_dataset": number.dataset, "method": number.method, "setting": number.setting, "metric": number.metric,
                "reported": number.mean, "reported_std": number.std, "note": number.note, "seeds": 0, "verdict": "not run here",
                "reason": "nothing was run"}  # fmt: skip
        try:
            if means is not None:
                found = ours(number, cells, means)
                own = {"seeds": metrics["seed"].nunique(), "verdict": "stand-in: not compared" if stand_in else "see tables"}
                base |= found | own | ({} if stand_in else {"difference": found["ours"] - number.mean})
        except NotHere as reason:
            base["reason"] = str(reason)
        rows.append(base)
    return pd.DataFrame(rows, columns=[*COLUMNS, "reason"])
