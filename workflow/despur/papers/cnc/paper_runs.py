"""The runs behind a printed number: what they measured, their times, and their data."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from despur.evidence.runs.artifact_metrics import load_metrics, select_headline
from despur.evidence.runs.run_files import NotRun, load_abouts, load_labels
from despur.orchestration.experiments import ArtifactRun
from despur.specs.paths import locate_result
from despur.storage.store import Array, Dataset


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
        return load_labels(self.artifact_runs[0])

    def worst_group_by_seed(self, method: str, paper_dataset: str) -> pd.Series:
        """Test worst-group accuracy of a method of Table 1, indexed by seed."""
        test = select_headline(self.metrics)
        test = test[(test["metric"] == "worst_group_accuracy") & (test["group"] == "")]
        mine = test[(test["paper_method"] == method) & (test["paper_dataset"] == paper_dataset)]
        if not len(mine):
            raise NotRun(f"{method} was not run on {paper_dataset}")
        return mine.groupby("seed")["value"].mean()

    def abouts(self, stage: str, method: str) -> list[dict[str, Any]]:
        """What made each run of a method in a stage."""
        own = [c for c in self.artifact_runs if c.paper_method == method and locate_result(c.folders[0]).stage == stage]
        if not own:
            raise NotRun(f"{method} was not run on {', '.join(self.paper_datasets)}")
        return list(load_abouts(own).values())

    def group_sizes(self) -> Array:
        """Training samples, (classes, attributes)."""
        train = self.dataset.table.iloc[self.dataset.rows("train")]
        return pd.crosstab(train["y"], train["a"]).to_numpy()
