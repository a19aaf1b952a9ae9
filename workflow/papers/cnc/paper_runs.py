"""The runs behind a printed number: what they measured, their times, and their data."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from despur.orchestration.experiments import ArtifactRun
from despur.reporting.tables import headline, load_metrics
from despur.specs.paths import locate
from despur.storage.store import Array, Dataset, load_dataset


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
