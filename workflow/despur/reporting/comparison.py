"""The cross-paper matrix: every method on the same data, by the metrics of all papers, with ranks and their
uncertainty.

    python -m despur.reporting.comparison --artifact-runs JSON --output results/matrix

matrix.csv has a row for each method and metric: mean and standard deviation over seeds; its rank among the methods
(1: best) with the ranks that are not refuted; ``versus_erm``, whether it is shown to be better than ERM (helps) or
worse (hurts), or is undecided. Methods are compared in pairs, by the rule of contrasts
(despur/reporting/contrasts.py), each method at a level that is corrected for the number of the others: it is behind
at least those that are shown to be better, and ahead of those that are shown to be worse. Fewer than three seeds show
nothing.

Representations are compared at the same scale: leakage and mutual information are of standardized ones, the latter
fitted on one half of the samples and averaged over the other. A method ``at_chance`` (:func:`is_at_chance`) has no
rank: what it does not know, it does not leak.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from despur.orchestration.experiments import ArtifactRun
from despur.orchestration.matrix import list_papers
from despur.reporting.contrasts import FAILS, HOLDS, LEVEL, Contrast, decide
from despur.reporting.evidence import Source
from despur.reporting.formulas import DEFAULTS
from despur.reporting.levels import Missing
from despur.reporting.run_files import describe_machine, find_run, load_abouts, load_upstream
from despur.reporting.tables import load_metrics, load_resamples, parse_artifact_runs
from despur.specs.declarations import declared
from despur.specs.paths import locate
from despur.storage.store import Array, write_csv

BASELINE = "erm"
COLUMNS = [
    *(
        "method",
        "papers",
        "data",
        "sees_attribute",
        "at_chance",
        "metric",
        "label",
        "unit",
        "paper",
        "higher_is_better",
    ),
    *("value", "std", "seeds", "rank", "rank_low", "rank_high", "versus_erm", "folder"),
]


@dataclass(frozen=True)
class Metric:
    """A column of the matrix. ``scale``: from what is stored to the unit that is shown; ``paper``: whose measure it is;
    ``as_ratio``: compared by logarithms."""

    name: str
    label: str
    unit: str
    paper: str = ""
    higher_is_better: bool = False
    scale: float = 1.0
    as_ratio: bool = False


METRICS = (
    Metric("worst_group_accuracy", "worst-group accuracy", "%", "cnc", True, 100),
    Metric("average_accuracy", "average accuracy", "%", "", True, 100),
    Metric("gap", "GAP", "%", "fair_cl", scale=100),
    Metric("leakage_representations_standardized", "leakage", "%", "fair_cl", scale=100),
    Metric("mutual_information_class_standardized_half", "I(Y;Z)", "nats", "cnc", True),
    Metric("mutual_information_attribute_standardized_half", "I(A;Z)", "nats", "cnc"),
    Metric("alignment_loss", "alignment loss", "distance", "cnc"),
    Metric("seconds", "training time", "s a seed", as_ratio=True),
    Metric("peak_memory_mb", "peak memory", "MB", as_ratio=True),
)


def costs(artifact_run: ArtifactRun) -> pd.DataFrame:
    """Seconds of training by seed and peak memory of a process, stages that it reads included, as rows of metrics; none
    of runs that are not told of with all that they read (older records)."""
    rows = []
    upstream = load_upstream([artifact_run])
    for key, about in load_abouts([artifact_run]).items():
        run, abouts = find_run(key), [about, *upstream[key].values()]
        if len(abouts) <= len(run.spec.components.keys() & {"stage1", "groups"}):
            continue
        own = {
            "paper_method": artifact_run.paper_method,
            "seed": run.seed,
            "split": "test",
            "selection": "best",
            "group": "",
            "machine": "; ".join(sorted(set(map(describe_machine, abouts)))),
        }
        rows.append(own | {"metric": "seconds", "value": sum(each.get("seconds", 0.0) for each in abouts)})
        rows.append(own | {"metric": "peak_memory_mb", "value": max(each["peak_memory_mb"] for each in abouts)})
    return pd.DataFrame(rows)


def compare(artifact_runs: Sequence[ArtifactRun]) -> pd.DataFrame:
    """A row for each method and metric. Raises Missing where methods have no seed in common."""
    spent = pd.concat(list(map(costs, artifact_runs)), ignore_index=True)
    if len(spent) and spent["machine"].nunique() > 1:  # nothing to compare
        spent = spent[:0]
    metrics = pd.concat([load_metrics(artifact_runs), spent], ignore_index=True)
    seeds = sorted(set.intersection(*(set(part["seed"]) for _, part in metrics.groupby("paper_method"))))
    if not seeds:
        raise Missing("the methods of the matrix have no seed in common")
    source = Source(metrics, load_resamples(artifact_runs))
    at_chance = {
        artifact_run.paper_method: is_at_chance(source, artifact_run.paper_method, seeds)
        for artifact_run in artifact_runs
    }
    rows = []
    for metric in METRICS:
        found = {
            artifact_run.paper_method: measured(source, artifact_run.paper_method, metric, seeds)
            for artifact_run in artifact_runs
        }
        compared = {
            method: np.log(values) if metric.as_ratio else values
            for method, values in found.items()
            if values is not None and not at_chance[method]
        }
        ranked = ranks(compared, metric.higher_is_better)
        for artifact_run in artifact_runs:
            fixed = {
                "method": artifact_run.paper_method,
                "papers": " ".join(list_papers(artifact_run)),
                "data": artifact_run.dataset,
                "metric": metric.name,
                "sees_attribute": sees_attribute(artifact_run),
                "at_chance": at_chance[artifact_run.paper_method],
            }
            shown = {
                "label": metric.label,
                "unit": metric.unit,
                "paper": metric.paper,
                "higher_is_better": metric.higher_is_better,
            }
            values = found[artifact_run.paper_method]
            own = {} if values is None else summary(values[:, 0]) | ranked.get(artifact_run.paper_method, {})
            rows.append(fixed | shown | own | {"folder": artifact_run.folders[0]})
    return pd.DataFrame(rows).reindex(columns=COLUMNS)


def sees_attribute(artifact_run: ArtifactRun) -> bool:
    """Whether a method reads the true attribute of training samples."""
    (point,) = locate(artifact_run.folders[0]).sweep.points
    return "groups" in point.components and bool(
        declared("inference", point.components["groups"].base_name).get("READS_TRUE_GROUPS")
    )


def is_at_chance(source: Source, method: str, seeds: Sequence[int]) -> bool:
    """Whether the mean over classes of a method's accuracy is not above 1 / classes, that of any constant prediction:
    by the lower bound of a contrast; by the estimate from fewer seeds than decide. A method without a classifier is
    not at chance."""
    asked = {**DEFAULTS, "method": method, "metric": "class_average_accuracy"}
    classes = source.levels("group", {key: value for key, value in asked.items() if key != "group"})
    if not classes:
        return False
    each = [source.value({**asked, "group": name}).loc[list(seeds)].to_numpy(float) for name in classes]
    above = np.nanmean(each, axis=0) - 1 / len(classes)  # a bootstrap sample may lack a class
    contrast = Contrast(above[:, 0], above[:, 1:])
    return not (contrast.holds() if contrast.decides else contrast.estimate > 0)


def measured(source: Source, method: str, metric: Metric, seeds: Sequence[int]) -> Array | None:
    """A metric in the unit shown, (seeds,1+B): its values, then those on B bootstrap samples; None where it is not
    measured."""
    try:
        values = source.value({**DEFAULTS, "method": method, "metric": metric.name}).loc[list(seeds)]
    except (Missing, KeyError):
        return None
    return metric.scale * values.to_numpy(float) if np.isfinite(values["value"]).all() else None


def summary(by_seed: Array) -> dict[str, float | str]:
    """Mean and standard deviation over seeds; none where they do not differ."""
    return {
        "value": by_seed.mean(),
        "std": by_seed.std(ddof=1) if np.ptp(by_seed) else float("nan"),
        "seeds": len(by_seed),
    }


def ranks(found: dict[str, Array], higher_is_better: bool) -> dict[str, dict[str, float | str]]:
    """Rank of each method (1: best; ties share the mean), the best and worst rank that are not refuted, and how it
    compares with the baseline. ``found``: (seeds,1+B) of each method, as :func:`measured` gives them. Where nothing
    varies over seeds or test data, as the memory of a process, there is nothing to refute ranks with."""
    if not found:
        return {}
    scores = np.stack([values if higher_is_better else -values for values in np.broadcast_arrays(*found.values())])
    points = rankdata(-scores[..., 0].mean(axis=1))
    if not np.ptp(scores, axis=(1, 2)).any():
        return {method: {"rank": rank} for method, rank in zip(found, points, strict=True)}
    differences = scores[:, None] - scores[None]  # (methods,methods,seeds,1+B)
    shown = decide(Contrast(differences[..., 0], differences[..., 1:]), LEVEL / max(len(scores) - 1, 1))
    words = {HOLDS: "helps", FAILS: "hurts"}
    base = list(found).index(BASELINE) if BASELINE in found else None
    return {
        method: {
            "rank": points[i],
            "rank_low": 1 + int((shown[i] == FAILS).sum()),
            "rank_high": len(scores) - int((shown[i] == HOLDS).sum()),
            "versus_erm": "" if base is None or i == base else words.get(int(shown[i, base]), "undecided"),
        }
        for i, method in enumerate(found)
    }


def draw(table: pd.DataFrame, prefix: Path) -> None:
    """One heat map: the color is the rank in a column, the text the value and the ranks that are not refuted."""
    import seaborn as sns

    from despur.reporting import figures

    spread = partial(table.pivot, index="method", columns="label")
    labels = list(dict.fromkeys(table["label"]))
    by_worst = table[table["metric"] == METRICS[0].name].sort_values("rank")["method"]
    rank, low, high, value = (
        spread(values=name).loc[by_worst, labels] for name in ("rank", "rank_low", "rank_high", "value")
    )
    texts = [
        [cell_text(*each) for each in zip(*rows, strict=True)]
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
    without_rank = set(table.loc[table["at_chance"], "method"])
    names = [figures.NAMES.get(method, method) + " (at chance)" * (method in without_rank) for method in rank.index]
    axes.set_yticks(np.arange(len(rank)) + 0.5, names, rotation=0)
    axes.set(xlabel="", ylabel="")
    figures.write_figure(prefix, figure)


def cell_text(value: float, low: float, high: float) -> str:
    """``71.3`` and below it the ranks that are not refuted, ``2–5``."""
    if np.isnan(value):
        return "–"
    shown = f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return shown if np.isnan(low) else f"{shown}\n{low:g}–{high:g}"


def write(artifact_runs: Sequence[ArtifactRun], prefix: Path) -> None:
    """The matrix as a table, and as a heat map."""
    table = compare(artifact_runs)
    write_csv(prefix.with_suffix(".csv"), table)
    draw(table, prefix)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--artifact-runs", required=True, help="JSON: the runs behind the matrix")
    parser.add_argument("--output", type=Path, required=True, help="where to write it, without suffix")
    arguments = parser.parse_args()
    write(parse_artifact_runs(arguments.artifact_runs), arguments.output)


if __name__ == "__main__":
    main()
