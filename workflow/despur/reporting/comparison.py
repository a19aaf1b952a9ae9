"""The cross-paper matrix: every method on the same data, by the metrics of all papers, with ranks that say how sure
they are.

    python -m despur.reporting.comparison --cells JSON --output results/matrix

matrix.csv has a row for each method and metric: mean and standard deviation over seeds; its rank among the methods (1:
best) with the 95 % interval of that rank; ``versus_erm``, whether the 95 % interval of the difference from ERM lies on
the better side (helps), on the worse (hurts) or on both (undecided), by the rule of claims: always undecided from one
seed and, where no test data enters (seconds), from less than five. Intervals are over seeds and test originals, both
drawn with replacement and the same for all methods; from one seed, over test originals alone. Nothing is corrected for
the number of comparisons."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from despur.compute.randomness import generator
from despur.orchestration.experiments import Cell
from despur.orchestration.matrix import list_papers
from despur.reporting.evidence import DRAWS, Evidence, Missing, decide
from despur.reporting.tables import cells_from, load_metrics, load_resamples
from despur.specs.declarations import declared
from despur.specs.paths import ResultPath, locate
from despur.storage.store import Array, write_csv

BASELINE = "erm"
COLUMNS = [
    *("method", "papers", "data", "sees_attribute", "metric", "label", "unit", "paper", "higher_is_better"),
    *("value", "std", "seeds", "rank", "rank_low", "rank_high", "versus_erm", "folder"),
]


@dataclass(frozen=True)
class Metric:
    """A column of the matrix. ``scale``: from what is stored to the unit that is shown; ``paper``: whose measure it
    is."""

    name: str
    label: str
    unit: str
    paper: str = ""
    higher_is_better: bool = False
    scale: float = 1.0


METRICS = (
    Metric("worst_group_accuracy", "worst-group accuracy", "%", "cnc", True, 100),
    Metric("average_accuracy", "average accuracy", "%", "", True, 100),
    Metric("gap", "GAP", "%", "fair_cl", scale=100),
    Metric("leakage_representations", "leakage", "%", "fair_cl", scale=100),
    Metric("mutual_information_class", "I(Y;Z)", "nats", "cnc", True),
    Metric("mutual_information_attribute", "I(A;Z)", "nats", "cnc"),
    Metric("alignment_loss", "alignment loss", "distance", "cnc"),
    Metric("seconds", "training time", "s a seed"),
    Metric("peak_memory_mb", "peak memory", "MB"),
)


def behind(result: ResultPath) -> list[ResultPath]:
    """A folder and those of earlier stages that it reads."""
    return [
        result,
        *(further for part in ("stage1", "groups") for up in result.upstream(part) for further in behind(up)),
    ]


def costs(cell: Cell) -> pd.DataFrame:
    """Seconds of training by seed and peak memory of a process, stages that it reads included, as rows of metrics."""
    rows = []
    for folder in map(locate, cell.folders):
        abouts = {
            result: json.loads((result.folder / "about.json").read_text()) for result in dict.fromkeys(behind(folder))
        }
        for run in folder.runs():
            spent = [
                a["runs"][key]["seconds"]
                for a in abouts.values()
                for key in a.get("runs", {})
                if key.endswith(f"/s{run.seed}")
            ]
            own = {"printed": cell.printed, "seed": run.seed, "split": "test", "selection": "best", "group": ""}
            rows.append(own | {"metric": "seconds", "value": sum(spent)})
            rows.append(
                own | {"metric": "peak_memory_mb", "value": max(about["peak_memory_mb"] for about in abouts.values())}
            )
    return pd.DataFrame(rows)


def compare(cells: Sequence[Cell]) -> pd.DataFrame:
    """A row for each method and metric. Raises Missing where methods have no seed in common."""
    metrics = pd.concat([load_metrics(cells), *map(costs, cells)], ignore_index=True)
    seeds = sorted(set.intersection(*(set(part["seed"]) for _, part in metrics.groupby("printed"))))
    if not seeds:
        raise Missing("the methods of the matrix have no seed in common")
    draws = generator("matrix").integers(0, len(seeds), (DRAWS, len(seeds)))
    evidence = Evidence(metrics, load_resamples(cells), seeds, draws)
    rows = []
    for metric in METRICS:
        evidence.resampled = False
        found = {cell.printed: ask(evidence, cell.printed, metric) for cell in cells}
        measured = {method: values for method, values in found.items() if values is not None}
        ranked = ranks(measured, metric.higher_is_better, evidence.resampled)
        for cell in cells:
            fixed = {
                "method": cell.printed,
                "papers": " ".join(list_papers(cell)),
                "data": cell.dataset,
                "metric": metric.name,
                "sees_attribute": sees_attribute(cell),
            }
            shown = {
                "label": metric.label,
                "unit": metric.unit,
                "paper": metric.paper,
                "higher_is_better": metric.higher_is_better,
            }
            values = found[cell.printed]
            own = {} if values is None else summary(values, len(seeds)) | ranked[cell.printed]
            rows.append(fixed | shown | own | {"folder": cell.folders[0]})
    return pd.DataFrame(rows).reindex(columns=COLUMNS)


def sees_attribute(cell: Cell) -> bool:
    """Whether a method is told the true attribute of training samples."""
    (point,) = locate(cell.folders[0]).sweep.points
    return "groups" in point.components and bool(
        declared("inference", point.components["groups"].base_name).get("READS_TRUE_GROUPS")
    )


def ask(evidence: Evidence, method: str, metric: Metric) -> Array | None:
    """Value, draws and values by seed of a metric (as :class:`Evidence` has them) in the unit shown; None where it is
    not measured."""
    try:
        values = metric.scale * evidence.value(method, metric.name)
    except Missing:
        return None
    return values if np.isfinite(values[0]) else None


def summary(values: Array, seeds: int) -> dict[str, float | str]:
    """Mean and standard deviation over seeds; none where they do not differ."""
    alone = values[1 + DRAWS :]
    return {"value": values[0], "std": alone.std(ddof=1) if np.ptp(alone) else float("nan"), "seeds": seeds}


def ranks(found: dict[str, Array], higher_is_better: bool, resampled: bool = True) -> dict[str, dict[str, float | str]]:
    """Rank of each method (1: best; ties share the mean), its 95 % interval, and what its difference from the baseline
    says.

    Where nothing varies over seeds and test originals, as the memory of a process, ranks have no interval.
    """
    better = 1 if higher_is_better else -1
    scores = {method: better * values for method, values in found.items()}
    drawn = np.array([values[1 : 1 + DRAWS] for values in scores.values()])
    points = rankdata([-values[0] for values in scores.values()])
    if not len(scores) or not np.ptp(drawn, axis=1).any():
        return {method: {"rank": rank} for method, rank in zip(scores, points, strict=True)}
    low, high = np.nanpercentile(
        rankdata(-drawn, axis=0, nan_policy="omit"), [2.5, 97.5], axis=1, method="inverted_cdf"
    )
    named = zip(scores, points, low, high, strict=True)
    base = scores.get(BASELINE)
    return {
        method: {
            "rank": rank,
            "rank_low": first,
            "rank_high": last,
            "versus_erm": versus(scores[method], base, method, resampled),
        }
        for method, rank, first, last in named
    }


def versus(scores: Array, base: Array | None, method: str, resampled: bool) -> str:
    """helps, hurts or undecided; nothing for the baseline or without it."""
    if base is None or method == BASELINE:
        return ""
    side, _ = decide(scores - base, 0.0, resampled)
    return {"above": "helps", "below": "hurts"}.get(side, side)


def draw(table: pd.DataFrame, prefix: Path) -> None:
    """One heat map: the colour is the rank in a column, the text the value and the interval of the rank."""
    import seaborn as sns

    from despur.reporting import figures

    spread = partial(table.pivot, index="method", columns="label")
    labels = list(dict.fromkeys(table["label"]))
    by_worst = table[table["metric"] == METRICS[0].name].sort_values("rank")["method"]
    rank, low, high, value = (
        spread(values=name).loc[by_worst, labels] for name in ("rank", "rank_low", "rank_high", "value")
    )
    texts = [
        [cell_text(*cell) for cell in zip(*rows, strict=True)]
        for rows in zip(value.to_numpy(), low.to_numpy(), high.to_numpy(), strict=True)
    ]
    figure, (axes,) = figures.panels(1, width=2 * figures.COLUMN, height=0.6 + 0.3 * len(rank))
    sns.heatmap(
        rank,
        annot=np.array(texts),
        fmt="",
        cmap="viridis_r",
        cbar_kws={"label": "rank (1: best)"},
        linewidths=0.5,
        annot_kws={"size": 5.5},
        ax=axes,
    )
    units = table.drop_duplicates("label").set_index("label")["unit"]
    axes.set_xticks(
        np.arange(len(labels)) + 0.5, [f"{label}\n({units[label]})" for label in labels], rotation=40, ha="right"
    )
    axes.set_yticks(
        np.arange(len(rank)) + 0.5, [figures.NAMES.get(method, method) for method in rank.index], rotation=0
    )
    axes.set(xlabel="", ylabel="")
    figures.write_figure(prefix, figure)


def cell_text(value: float, low: float, high: float) -> str:
    """``71.3`` and below it the interval of the rank, ``2–5``."""
    if np.isnan(value):
        return "–"
    shown = f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return shown if np.isnan(low) else f"{shown}\n{low:g}–{high:g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", required=True, help="JSON: the runs behind the matrix")
    parser.add_argument("--output", type=Path, required=True, help="where to write it, without suffix")
    arguments = parser.parse_args()
    table = compare(cells_from(arguments.cells))
    write_csv(arguments.output.with_suffix(".csv"), table)
    draw(table, arguments.output)


if __name__ == "__main__":
    main()
