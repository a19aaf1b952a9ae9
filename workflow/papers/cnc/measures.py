"""What the paper's sentences state as numbers, measured: on the runs of Table 1, on stage 1, or on the data alone.

Each measure takes a printed number and the runs, and returns an array of values: one for each seed, or a single one.
It raises :class:`NotRun` where this run has nothing to measure."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from despur.orchestration.experiments import ArtifactRun
from despur.reporting.printed import printed_settings
from despur.reporting.tables import headline, load_metrics
from despur.specs.paths import locate
from despur.storage.store import Array, Dataset, load_dataset

BASELINES = {"prior_sota": "jtt"}  # what a sentence calls a method; Sec. 1 compares with JTT


class NotRun(LookupError):
    """This run cannot give a number; the message says why."""


@dataclass
class PaperRuns:
    """The runs on one data set of the paper, or on all of them: of Table 1, of stage 1, and its labels."""

    paper_datasets: list[str]
    artifact_runs: list[ArtifactRun]

    @cached_property
    def metrics(self) -> pd.DataFrame:
        return load_metrics(
            [artifact_run for artifact_run in self.artifact_runs if artifact_run.artifact in ("table_1", "prose")]
        )

    @property
    def data(self) -> str:
        return ", ".join(sorted({artifact_run.dataset for artifact_run in self.artifact_runs}))

    @property
    def substitute(self) -> bool:
        return any(artifact_run.substitute for artifact_run in self.artifact_runs)

    @cached_property
    def dataset(self) -> Dataset:
        result = locate(self.artifact_runs[0].folders[0])
        return load_dataset(result.data.folder, result.runs()[0].data.name)

    def worst_group_by_seed(self, method: str, paper_dataset: str) -> pd.Series:
        """Test worst-group accuracy of a method of Table 1, indexed by seed."""
        test = headline(self.metrics)
        test = test[(test["metric"] == "worst_group_accuracy") & (test["group"] == "")]
        mine = test[(test["paper_method"] == method) & (test["paper_dataset"] == paper_dataset)]
        if not len(mine):
            raise NotRun(f"{method} was not run on {paper_dataset}")
        return mine.groupby("seed")["value"].mean()

    def abouts(self, stage: str, method: str) -> list[dict[str, Any]]:
        """What about.json says of each run of a method in a stage."""
        own = [c for c in self.artifact_runs if c.paper_method == method and locate(c.folders[0]).stage == stage]
        folders = dict.fromkeys(folder for artifact_run in own for folder in artifact_run.folders)
        if not folders:
            raise NotRun(f"{method} was not run on {', '.join(self.paper_datasets)}")
        files = [json.loads((Path(folder) / "about.json").read_text()) for folder in folders]
        return [run for about in files for run in about["runs"].values()]

    def group_sizes(self) -> Array:
        """Training samples, (classes, attributes)."""
        train = self.dataset.table.iloc[self.dataset.rows("train")]
        return pd.crosstab(train["y"], train["a"]).to_numpy()


def measure_lift(number: Any, runs: PaperRuns) -> Array:
    """By how many points CNC's worst group is above the baseline's, by seed; of several data sets, the mean."""
    named = printed_settings(number.setting)["baseline"]
    baseline = BASELINES.get(named, named)
    lifts = [
        runs.worst_group_by_seed(number.method, paper_dataset) - runs.worst_group_by_seed(baseline, paper_dataset)
        for paper_dataset in runs.paper_datasets
    ]
    if len(lifts) == 1:
        return 100 * lifts[0].dropna().to_numpy()
    return 100 * np.array([np.mean([lift.mean() for lift in lifts])])


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
    test, reductions = headline(runs.metrics), []
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
    """How a printed number is measured, and whether it is a statistic of the data, which has no deviation."""

    compute: Callable[[Any, PaperRuns], Array]
    of_data: bool = False


MEASURES = {
    "worst_group_accuracy_lift": Measure(measure_lift),
    "worst_group_accuracy_shortfall": Measure(measure_shortfall),
    "per_class_gap_reduction_max": Measure(measure_gap_reduction),
    "stage1_spurious_attribute_agreement": Measure(measure_agreement),
    "upsampling_factor": Measure(measure_upsampling),
    "train_hours": Measure(measure_hours),
    "n_examples": Measure(count_samples, of_data=True),
    "minority_fraction": Measure(measure_minority, of_data=True),
    "majority_fraction": Measure(measure_majority, of_data=True),
    "smallest_group_size": Measure(count_smallest_group, of_data=True),
    "smallest_group_fraction": Measure(measure_smallest_group, of_data=True),
    "male_fraction": Measure(measure_blond_men, of_data=True),
}
