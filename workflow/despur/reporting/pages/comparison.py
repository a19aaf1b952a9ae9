"""The cross-paper matrix: every method on the same data, by the metrics of all papers, with ranks and their
uncertainty.

    python -m despur.reporting.pages.comparison matrix --artifact-runs JSON --output results/matrix

matrix.csv has a row for each method and metric: mean and standard deviation over seeds; its rank among the methods
(1: best) with the ranks that are not refuted; ``versus_erm``, whether it is shown to be better than ERM (helps) or
worse (hurts), or is undecided. Methods are compared in pairs, by the rule of contrasts
(despur/evidence/statistics/contrasts.py), each method at a level that is corrected for the number of the
others: it is behind at least those that are shown to be better, and ahead of those that are shown to be worse. Fewer
than three seeds show nothing.

Representations are compared at the same scale: leakage and mutual information are of standardized ones, the latter
fitted on one half of the samples and averaged over the other; alignment is the cosine. A method ``near_chance``
(:func:`is_near_chance`) has no rank by a metric that is good where nothing is known: what it does not know, it does not
leak.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from despur.evidence.claims.measured_values import MeasuredValues
from despur.evidence.runs.artifact_metrics import load_metrics, load_resamples
from despur.evidence.runs.run_files import MACHINE, find_run, load_abouts, load_upstream
from despur.evidence.statistics.formulas import DEFAULTS
from despur.evidence.statistics.levels import Missing
from despur.orchestration.experiments import ArtifactRun
from despur.orchestration.matrix import list_papers
from despur.reporting.pages.matrix_figure import draw_matrix
from despur.reporting.pages.ranking import find_ranks, is_near_chance, summarize
from despur.reporting.tables import main
from despur.specs.stages import PARTS
from despur.storage.store import Array, write_csv

COMPARISON_COLUMNS = [
    *("method", "papers", "data", "sees_attribute", "near_chance"),
    *("metric", "label", "unit", "paper", "higher_is_better"),
    *("value", "std", "seeds", "rank", "rank_low", "rank_high", "versus_erm", "folder"),
]


@dataclass(frozen=True)
class Metric:
    """A column of the matrix. ``scale``: from what is stored to the unit that is shown; ``paper``: whose measure it is;
    ``higher_is_better``: None for what methods are not ranked by; ``good_near_chance``: a constant representation is
    best by it; ``as_ratio``: compared by logarithms."""

    name: str
    label: str
    unit: str
    paper: str = ""
    higher_is_better: bool | None = False
    scale: float = 1.0
    good_near_chance: bool = False
    as_ratio: bool = False


METRICS = (
    Metric("worst_group_accuracy", "worst-group accuracy", "%", "cnc", True, 100),
    Metric("average_accuracy", "average accuracy", "%", "", True, 100),
    Metric("gap", "GAP", "%", "fair_cl", scale=100, good_near_chance=True),
    Metric("leakage_representations_standardized", "leakage", "%", "fair_cl", scale=100, good_near_chance=True),
    Metric("mutual_information_class_standardized_half", "I(Y;Z)", "nats", "cnc", True),
    Metric("mutual_information_attribute_standardized_half", "I(A;Z)", "nats", "cnc", good_near_chance=True),
    Metric("cosine_similarity", "alignment", "cosine", "adapters", True, good_near_chance=True),
    Metric("steps", "steps", "of training", higher_is_better=None),
    Metric("seconds", "training time", "s a seed", as_ratio=True),
    Metric("peak_memory_mb", "peak memory", "MB", as_ratio=True),
)


def load_costs(artifact_run: ArtifactRun) -> pd.DataFrame:
    """Seconds of training by seed and peak memory of a process, stages that it reads included, as rows of metrics; none
    of runs whose records lack the costs of earlier stages."""
    rows = []
    upstream = load_upstream(artifact_run)
    for key, about in load_abouts(artifact_run).items():
        run, abouts = find_run(key), [about, *upstream[key].values()]
        if len(abouts) <= len(run.spec.components.keys() & set(PARTS)):
            continue
        machine = "; ".join(sorted({stage[key] for stage in abouts for key in MACHINE if stage.get(key)}))
        head = {**locate_seed(artifact_run, run.seed), "machine": machine}
        rows.append(head | {"metric": "seconds", "value": sum(stage.get("seconds", 0.0) for stage in abouts)})
        rows.append(head | {"metric": "peak_memory_mb", "value": max(stage["peak_memory_mb"] for stage in abouts)})
    return pd.DataFrame(rows)


def load_steps(artifact_run: ArtifactRun) -> pd.DataFrame:
    """Optimizer steps of the method's own training by seed, without earlier stages, as rows of metrics; none of a
    method that is fitted at once, which counts as one."""
    return pd.DataFrame(
        [
            {**locate_seed(artifact_run, find_run(key).seed), "metric": "steps", "value": float(about["steps"])}
            for key, about in load_abouts(artifact_run).items()
            if about.get("steps", 0) > 1
        ]
    )


def locate_seed(artifact_run: ArtifactRun, seed: int) -> dict[str, Any]:
    """Where a seed's costs stand among rows of metrics."""
    return {
        "paper_method": artifact_run.paper_method,
        "seed": seed,
        "split": "test",
        "selection": "best",
        "group": "",
    }


def compare(artifact_runs: Sequence[ArtifactRun]) -> pd.DataFrame:
    """A row for each metric and method, over all seeds: a method whose seeds collapse is worse for it. Raises Missing
    where methods have no seed in common."""
    costs = [load_comparable_costs(artifact_runs), *map(load_steps, artifact_runs)]
    metrics = pd.concat([load_metrics(artifact_runs), *costs], ignore_index=True)
    metrics = metrics.drop(columns="collapsed")
    seeds = sorted(set.intersection(*(set(part["seed"]) for _, part in metrics.groupby("paper_method"))))
    if not seeds:
        raise Missing("the methods of the matrix have no seed in common")
    measured = MeasuredValues(metrics, load_resamples(artifact_runs))
    methods = pd.DataFrame([describe_method(artifact_run) for artifact_run in artifact_runs])
    methods["near_chance"] = [is_near_chance(measured, method, seeds) for method in methods["method"]]
    tables = [methods.merge(compare_on(metric, measured, methods, seeds), on="method") for metric in METRICS]
    return pd.concat(tables, ignore_index=True).reindex(columns=COMPARISON_COLUMNS)


def load_comparable_costs(artifact_runs: Sequence[ArtifactRun]) -> pd.DataFrame:
    """The costs of all methods; no rows where they were measured on several machines."""
    spent = pd.concat(list(map(load_costs, artifact_runs)), ignore_index=True)
    return spent[:0] if len(spent) and spent["machine"].nunique() > 1 else spent


def describe_method(artifact_run: ArtifactRun) -> dict[str, Any]:
    """What a method's rows share: its papers, its data, whether it trains on true attributes, its first
    folder."""
    (point,) = artifact_run.result.sweep.points
    return {
        "method": artifact_run.paper_method,
        "papers": " ".join(list_papers(artifact_run)),
        "data": artifact_run.dataset,
        "sees_attribute": point.trains_on_attribute,
        "folder": artifact_run.folders[0],
    }


def compare_on(metric: Metric, measured: MeasuredValues, methods: pd.DataFrame, seeds: Sequence[int]) -> pd.DataFrame:
    """A metric of all methods: means over seeds, and ranks: of all, or of those that are not near chance."""
    every = {method: measure(measured, method, metric, seeds) for method in methods["method"]}
    by_method = {method: values for method, values in every.items() if values is not None}
    unranked = {*methods.loc[methods["near_chance"] & metric.good_near_chance, "method"]}
    compared = {
        method: np.log(values) if metric.as_ratio else values
        for method, values in by_method.items()
        if method not in unranked
    }
    ranked = {} if metric.higher_is_better is None else find_ranks(compared, metric.higher_is_better)
    shown = {"metric": metric.name, **vars(metric)}
    means = {method: summarize(values[:, 0]) for method, values in by_method.items()}
    return pd.DataFrame([{"method": m, **shown, **means.get(m, {}), **ranked.get(m, {})} for m in methods["method"]])


def measure(measured: MeasuredValues, method: str, metric: Metric, seeds: Sequence[int]) -> Array | None:
    """A metric in the unit shown, (seeds,1+B): its values, then those on B bootstrap samples; None where it is not
    measured."""
    try:
        values = measured.value({**DEFAULTS, "method": method, "metric": metric.name}).loc[list(seeds)]
    except (Missing, KeyError):
        return None
    return metric.scale * values.to_numpy(float) if np.isfinite(values["value"]).all() else None


def write(artifact_runs: Sequence[ArtifactRun], prefix: Path) -> None:
    """The matrix as a table, and as a heat map."""
    table = compare(artifact_runs)
    write_csv(prefix.with_suffix(".csv"), table)
    draw_matrix(table, prefix)


if __name__ == "__main__":
    main({"matrix": write})
