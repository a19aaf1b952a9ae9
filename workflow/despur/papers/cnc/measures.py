"""What the paper's sentences state as numbers, measured: on the runs of Table 1, on stage 1, or on the data alone.

Each measure takes a printed number and the runs, and returns an array of values: one for each seed, or a single one.
It raises :class:`NotRun` where there is nothing to measure."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from despur.evidence.numbers.printed import parse_settings
from despur.evidence.numbers.sample_noise import sample_variance
from despur.evidence.runs.artifact_metrics import select_headline
from despur.evidence.runs.run_files import NotRun
from despur.evidence.verdicts import NumberVerdict
from despur.papers.cnc.paper_runs import PaperRuns
from despur.storage.store import Array

BASELINES = {"prior_sota": "jtt"}  # what a sentence calls a method; Sec. 1 compares with JTT


def measure_lift(number: Any, runs: PaperRuns) -> Array:
    """By how many points CNC's worst group is above the baseline's, by seed; of several data sets, the mean."""
    lifts = [
        runs.worst_group_by_seed(number.method, paper_dataset)
        - runs.worst_group_by_seed(find_baseline(number), paper_dataset)
        for paper_dataset in runs.paper_datasets
    ]
    of_all = pd.concat(lifts, axis=1).dropna().mean(axis=1)
    if not len(of_all):
        raise NotRun("no seed in common")
    return 100 * of_all.to_numpy()


def find_baseline(number: Any) -> str:
    """The method that a number is against; empty where there is none."""
    named = parse_settings(number.setting).get("baseline", "")
    return BASELINES.get(named, named)


def find_lift_variance(number: Any, runs: PaperRuns) -> float:
    """Variance of the difference to a printed lift by test samples, in squared points: of both methods, as if their
    test samples were not the same, which is an upper bound. Of several data sets, of the mean."""
    test, accuracy = select_headline(runs.metrics), number._replace(metric="worst_group_accuracy")
    pairs = test[test["paper_method"].isin([number.method, find_baseline(number)])]
    each = [
        sample_variance(accuracy, rows, str(data))
        for (_, _, data), rows in pairs.groupby(["paper_dataset", "paper_method", "data"])
    ]
    return sum(each) / len(runs.paper_datasets) ** 2


def measure_shortfall(number: Any, runs: PaperRuns) -> Array:
    return -measure_lift(number, runs)


def class_gap(rows: pd.DataFrame) -> float:
    """Average minus worst-group accuracy within a class, mean over classes and seeds."""
    average, worst = (
        rows.loc[rows["metric"] == metric, "value"].mean()
        for metric in ("class_average_accuracy", "class_worst_group_accuracy")
    )
    return average - worst


def measure_gap_reduction(number: Any, runs: PaperRuns) -> Array:
    """The largest share, in percent, by which CNC's per-class gap is below ERM's or JTT's, over data sets."""
    test, reductions = select_headline(runs.metrics), []
    for _, rows in test.groupby("paper_dataset"):
        gaps = {method: class_gap(rows[rows["paper_method"] == method]) for method in ("cnc", "erm", "jtt")}
        reductions += [100 * (1 - gaps["cnc"] / gaps[other]) for other in ("erm", "jtt") if gaps[other] > 0]
    if not np.isfinite(reductions).any():
        raise NotRun("neither ERM nor JTT was run beside CNC")
    return np.array([np.nanmax(reductions)])


def measure_agreement(number: Any, runs: PaperRuns) -> Array:
    """Share of training samples whose inferred label matches the spurious attribute, in percent, by seed."""
    rows = runs.metrics[(runs.metrics["paper_method"] == number.method) & (runs.metrics["metric"] == "best_match")]
    if not len(rows):
        raise NotRun(f"{number.method} was not run on {number.dataset}")
    return 100 * rows["value"].to_numpy()


def measure_upsampling(number: Any, runs: PaperRuns) -> Array:
    return np.array([run["largest_factor"] for run in runs.abouts("runs", "jtt")])


def measure_hours(number: Any, runs: PaperRuns) -> Array:
    return np.array([run["seconds"] / 3600 for run in runs.abouts("stage1", "erm")])


def count_samples(number: Any, runs: PaperRuns) -> Array:
    return np.array([runs.group_sizes().sum()])


def measure_minority(number: Any, runs: PaperRuns) -> Array:
    """Share of training samples without the most frequent attribute of their class, in percent."""
    sizes = runs.group_sizes()
    return np.array([100 * (1 - sizes.max(axis=1).sum() / sizes.sum())])


def measure_majority(number: Any, runs: PaperRuns) -> Array:
    return 100 - measure_minority(number, runs)


def count_smallest_group(number: Any, runs: PaperRuns) -> Array:
    return np.array([runs.group_sizes().min()])


def measure_smallest_group(number: Any, runs: PaperRuns) -> Array:
    """Share of the smallest group among training samples, in percent."""
    sizes = runs.group_sizes()
    return np.array([100 * sizes.min() / sizes.sum()])


def measure_blond_men(number: Any, runs: PaperRuns) -> Array:
    """Share of men among blond training samples, in percent."""
    about = runs.dataset.about
    if "blond" not in about["classes"]:
        raise NotRun(f"{runs.data} has no class blond")
    blond = runs.group_sizes()[about["classes"].index("blond")]
    return np.array([100 * blond[about["attributes"].index("male")] / blond.sum()])


class Measure(NamedTuple):
    """How a printed number is measured.

    ``of_data``: a statistic of the data, which has no deviation. ``refused``: why it is not compared.
    ``test_variance``: of the difference to the printed number by test samples, in its squared unit."""

    compute: Callable[[Any, PaperRuns], Array]
    of_data: bool = False
    refused: str = ""
    test_variance: Callable[[Any, PaperRuns], float] = lambda number, runs: 0.0

    def refuse(self) -> dict[str, str]:
        """Verdict and reason where it is not compared; else empty."""
        return {"verdict": NumberVerdict.NOT_COMPARED, "reason": self.refused} if self.refused else {}


MEASURES = {
    "worst_group_accuracy_lift": Measure(measure_lift, test_variance=find_lift_variance),
    "worst_group_accuracy_shortfall": Measure(measure_shortfall, test_variance=find_lift_variance),
    "per_class_gap_reduction_max": Measure(measure_gap_reduction, refused="data set and baseline not stated"),
    "stage1_spurious_attribute_agreement": Measure(measure_agreement),
    "upsampling_factor": Measure(measure_upsampling),
    "train_hours": Measure(measure_hours, refused="other machine"),
    "n_examples": Measure(count_samples, of_data=True),
    "minority_fraction": Measure(measure_minority, of_data=True),
    "majority_fraction": Measure(measure_majority, of_data=True),
    "smallest_group_size": Measure(count_smallest_group, of_data=True),
    "smallest_group_fraction": Measure(measure_smallest_group, of_data=True),
    "male_fraction": Measure(measure_blond_men, of_data=True),
}
