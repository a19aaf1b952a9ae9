"""What was measured on test data, as a sentence of the paper needs it."""

from collections.abc import Mapping, Sequence

import pandas as pd

from despur.evidence.numbers.printed import find_refusal
from despur.evidence.runs.run_files import NotRun
from despur.papers.adapters import method_names


class Measured:
    """Test metrics under the paper's names."""

    def __init__(self, metrics: pd.DataFrame) -> None:
        test = metrics[(metrics["split"] == "test") & (metrics["selection"] == "best") & (metrics["group"] == "")]
        self.test, self.metrics = test, metrics

    def list_datasets(self, known: Sequence[str], methods: Sequence[str]) -> list[str]:
        """The data sets that some of these methods were run on."""
        here = set(self.test.loc[self.test["paper_method"].isin(methods), "paper_dataset"])
        return [name for name in known if name in here]

    def select(self, datasets: Sequence[str], method: str, quantity: str, settings: Mapping[str, str]) -> pd.DataFrame:
        """The rows of a quantity. ``settings``: those of the printed number (model, table, number of training
        samples)."""
        rows, samples = self.test, settings.get("n_train", "")
        rows = rows[
            rows["paper_dataset"].isin(datasets) & (rows["paper_method"] == method) & (rows["metric"] == quantity)
        ]
        if method != "zero_shot":  # which is the same for all
            levels = pd.to_numeric(rows.get("data.samples", pd.Series(0, rows.index))).fillna(0)
            rows = rows[levels == float(samples or 0)]
        artifact = "figure_5" if samples else f"table_{settings['table']}" if "table" in settings else ""
        rows = rows[rows["artifact"] == artifact] if artifact else rows
        if "backbone" in settings:
            own = rows["backbone"].isin([settings["backbone"], method_names.FULL])
            rows = rows[own | ~rows["backbone"].str.startswith(method_names.IMAGES)]
        if not len(rows):
            few = f" with {samples} samples" if samples else ""
            raise NotRun(f"{method} on {', '.join(datasets)} was not run{few}")
        return rows

    def average(
        self, datasets: Sequence[str], method: str, quantity: str, settings: Mapping[str, str]
    ) -> "dict[str, pd.Series[float]]":
        """Percent of a method by seed, mean over data sets, of each foundation model that has all of them."""
        rows = self.select(datasets, method, quantity, settings)
        wide = rows.groupby(["backbone", "seed", "paper_dataset"])["value"].mean().unstack()
        means = 100 * wide.reindex(columns=list(datasets)).dropna().mean(axis=1)
        return {str(model): own.droplevel("backbone") for model, own in means.groupby(level="backbone")}

    def refuse(self, rows: pd.DataFrame, setting: str) -> dict[str, str]:
        """Verdict and reason of rows that are not compared with a printed number; nothing for the paper's data and
        settings."""
        runs = rows[["paper_dataset", "paper_method", "data", "substitute"]].drop_duplicates()
        used = runs[["data", "substitute"]].itertuples(index=False, name=None)
        return find_refusal(setting, used, self.metrics.merge(runs))
