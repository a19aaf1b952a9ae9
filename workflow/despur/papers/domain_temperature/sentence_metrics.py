"""What the paper's sentences speak of: sizes of the data, and how many settings of the sweep reach an accuracy."""

from collections.abc import Sequence

import pandas as pd

from despur.evidence.runs.artifact_metrics import rows_where
from despur.evidence.runs.data_counts import describe_data, measure_data
from despur.evidence.runs.run_files import NotRun, load_labels
from despur.orchestration.experiments import ArtifactRun
from despur.papers.domain_temperature.selection import FRACTIONS, SHARES, load_runs, without_sigma

THRESHOLD = 0.9  # App. F.3: "accuracies > 90%"
DOMAIN_WEIGHTED = ["domain_weighted_negatives", "domain_weighted_pairs"]


def load_sentence_metrics(artifact_runs: Sequence[ArtifactRun]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Metrics of the runs, counts of the data, and ``settings_above`` the threshold."""
    runs = load_runs(artifact_runs)
    counts = pd.concat([measure_data(artifact_runs), count_labels(artifact_runs)], ignore_index=True)
    if len(counts):
        counts["used_dataset"] = counts["used_dataset"].map(without_sigma)
    return pd.concat([runs, counts, count_settings(runs)], ignore_index=True), pd.DataFrame()


def count_labels(artifact_runs: Sequence[ArtifactRun]) -> pd.DataFrame:
    """``n_labelled_examples`` of training, by the paper's share of labels."""
    rows = []
    for artifact_run in {run.dataset: run for run in artifact_runs}.values():
        try:
            labels = load_labels(artifact_run).about.get("label_fractions", {})
        except NotRun:
            continue
        head = describe_data(artifact_run) | {"split": "train", "metric": "n_labelled_examples"}
        for name, count in labels.items():
            rows.append(head | {"label_fraction": FRACTIONS[SHARES.get(name, name)], "value": float(count)})
    return pd.DataFrame(rows)


def count_settings(runs: pd.DataFrame) -> pd.DataFrame:
    """Of the two methods, at sigma = 50 and 1 % of the labels: how many ``settings`` there are, and the share of them
    whose mean accuracy is above the threshold, ``settings_above``, by split."""
    accuracies = rows_where(runs, paper_method=DOMAIN_WEIGHTED, sigma=50, metric="probe_accuracy", group="1%")
    data = ["paper_dataset", "used_dataset", "substitute"]
    means = accuracies.groupby([*data, "split", "paper_method", "method"])["value"].mean()
    if not len(means):
        return pd.DataFrame()
    by_split = means.groupby([*data, "split"])
    counts = by_split.agg(settings_above=lambda accuracies: (accuracies > THRESHOLD).mean(), settings="count")
    rows = counts.astype(float).reset_index().melt([*data, "split"], var_name="metric")
    return rows.assign(paper_method="domain_weighted", data=rows["used_dataset"], selection="best", group="", seed=0)
