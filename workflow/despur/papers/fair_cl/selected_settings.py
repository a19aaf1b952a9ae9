"""For each method, the setting that validation data select from its sweep of Figure 2, by the rule of the paper.
Other rules: selections.py."""

from collections.abc import Sequence

import pandas as pd

from despur.evidence.runs.artifact_metrics import keep_candidates, load_metrics, load_resamples
from despur.metrics.selection import select, sweep_means
from despur.orchestration.experiments import ArtifactRun
from despur.papers.fair_cl.method_names import add_names

PAPER_METHODS = ["ce", "inlp", "adv", "con_ft", "con"]
TUNED = ["leace", "adv_single"]
METHODS = [*PAPER_METHODS, *TUNED]
MARGIN = 0.01  # of accuracy: the paper selects "as close as possible to the best-achievable value" and prints no number
FAMILY = ["artifact", "paper_dataset", "used_dataset", "paper_method"]  # of which one setting is selected
MEASURED_METRICS = ["average_accuracy", "gap", "leakage_representations", "leakage_logits"]


def load_settings(artifact_runs: Sequence[ArtifactRun]) -> pd.DataFrame:
    """Metrics at every setting."""
    return add_names(load_metrics(artifact_runs))


def select_settings(metrics: pd.DataFrame) -> pd.DataFrame:
    """The selected setting of each method on each data set: the lowest GAP on validation data among the settings within
    MARGIN of the method's best accuracy; of candidates (:func:`keep_candidates`)."""
    metrics = keep_candidates(metrics, FAMILY)
    rows = [
        (*key, *select(sweep_means(part, ["method"], "val"), margin=MARGIN)) for key, part in metrics.groupby(FAMILY)
    ]
    return pd.DataFrame(rows, columns=[*FAMILY, "method"])


def load_selected(artifact_runs: Sequence[ArtifactRun]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Metrics at the selected settings, and their values on bootstrap samples."""
    metrics, resamples = load_settings(artifact_runs), add_names(load_resamples(artifact_runs))
    if not len(metrics):
        return metrics, resamples
    selected = select_settings(metrics)
    return metrics.merge(selected), resamples.merge(selected) if len(resamples) else resamples
