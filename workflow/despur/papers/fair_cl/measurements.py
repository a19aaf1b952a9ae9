"""All that Table 1 and the claims compare: metrics at the selected settings, trade-offs and training times."""

from collections.abc import Sequence

import pandas as pd

from despur.orchestration.experiments import ArtifactRun
from despur.papers.fair_cl.selected_settings import load_selected
from despur.papers.fair_cl.times import compare_times
from despur.papers.fair_cl.tradeoffs import add_tradeoffs
from despur.storage.finished_runs import list_bootstrap_columns


def load_measurements(artifact_runs: Sequence[ArtifactRun]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Metrics at the selected settings with trade-offs and relative training times, and bootstrap values of all but
    times."""
    selected, resamples = load_selected(artifact_runs)
    if not len(selected):
        return selected, resamples
    metrics = add_tradeoffs(selected, ["value"])
    metrics = pd.concat([metrics, compare_times(metrics, artifact_runs)], ignore_index=True)
    if len(resamples):
        resamples = add_tradeoffs(resamples, list_bootstrap_columns(resamples))
    return name_models_of_all_classes(metrics), name_models_of_all_classes(resamples)


def name_models_of_all_classes(table: pd.DataFrame) -> pd.DataFrame:
    """For Table 2: rows of models of all classes of Bios are put under the data set of the two classes."""
    of_pair = table.loc[
        (table["artifact"] == "table_2") & (table["paper_dataset"] == "bios_nurse_surgeon"), "used_dataset"
    ].unique()
    everyone = (table["artifact"] == "table_2") & (table["paper_dataset"] == "bios")
    if len(of_pair) != 1:
        return table
    rows = table[everyone]
    moved = rows.assign(
        paper_method=rows["paper_method"] + "_all_classes", paper_dataset="bios_nurse_surgeon", used_dataset=of_pair[0]
    )
    return pd.concat([table[~everyone], moved], ignore_index=True)
