"""Tables of Lewis et al. 2023, and two that the paper does not have: a function writes each."""

from functools import partial
from pathlib import Path

import pandas as pd

from despur.evidence.runs.artifact_metrics import load_resamples, rows_where
from despur.orchestration.experiments import ArtifactRun
from despur.papers.domain_temperature.added_tables import write_table_choices, write_table_selection
from despur.papers.domain_temperature.effective_temperatures import measure_convergence
from despur.papers.domain_temperature.selection import (
    average_settings,
    keep_selected,
    load_runs,
    select_settings,
)
from despur.papers.domain_temperature.sentence_metrics import load_sentence_metrics
from despur.papers.domain_temperature.temperature_grids import (
    compare_accuracies,
    compare_grids,
    format_grid,
    load_reported,
)
from despur.reporting.judged_tables import judge_paper
from despur.reporting.tables import WriteArtifact, main, write_table


def write_accuracies(name: str, artifact_runs: list[ArtifactRun], output: Path) -> None:
    """Tables 1, 2 and 9: accuracies of the setting of each method that is selected on validation data, by sigma."""
    runs = load_runs(artifact_runs)
    write_table(output, compare_accuracies(load_reported(name), keep_selected(runs, select_settings(runs))))


def write_table_3_8(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """Tables 3 to 8, a file each: the accuracies of every setting of the two methods."""
    table = compare_grids(rows_where(load_runs(artifact_runs), sigma=50.0))
    for number, part in table.groupby("table"):
        write_table(output.with_name(f"table_{number}"), part, format_grid(part))


def load_claim_metrics(artifact_runs: list[ArtifactRun]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Metrics and resamples for the claims, with the distance of effective temperatures from tau_alpha.

    ``selection``: "best" are all runs, "validation" those that the paper's rule selects, "all_settings" means over
    settings, "all_settings_of_a_dimension" means over the settings of a projector's dimension."""
    runs, resamples = load_runs(artifact_runs), load_runs(artifact_runs, load_resamples)
    selected = select_settings(runs)
    metrics, drawn = (
        [
            table,
            keep_selected(table, selected),
            average_settings(table),
            average_settings(table, "all_settings_of_a_dimension", "projector_dim"),
        ]
        for table in (runs, resamples)
    )
    return pd.concat([*metrics, measure_convergence(artifact_runs)], ignore_index=True), pd.concat(
        drawn, ignore_index=True
    )


ARTIFACTS: dict[str, WriteArtifact] = {
    "table_1": partial(write_accuracies, "table_1"),
    "table_2": partial(write_accuracies, "table_2"),
    "table_3_8": write_table_3_8,
    "table_9": partial(write_accuracies, "table_9"),
    "table_selection": write_table_selection,
    "table_choices": write_table_choices,
    **judge_paper("domain_temperature", load_sentence_metrics, load_claim_metrics),
}

if __name__ == "__main__":
    main(ARTIFACTS)
