"""The effective temperatures of Domain-Weighted Pairs, epoch by epoch, as its runs recorded them."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from despur.orchestration.experiments import ArtifactRun
from despur.papers.domain_temperature.selection import read_settings, without_sigma
from despur.specs.paths import Run, locate_result
from despur.storage.containers import Container
from despur.storage.store import Array

ALPHA, BETA = 0.125, 0.1  # App. H


def load_temperatures(artifact_runs: Sequence[ArtifactRun]) -> list[tuple[ArtifactRun, Run, Array]]:
    """Each run at App. H's settings whose outputs are here, with the percentiles 0 to 100 of its effective temperatures
    at the end of each epoch, (epochs,101)."""
    temperatures = []
    for artifact_run in artifact_runs:
        for result in map(locate_result, artifact_run.folders):
            file = result.folder / "outputs.safetensors"
            runs = [run for run in result.runs() if is_of_app_h(artifact_run, run)] if file.exists() else []
            if runs:
                outputs = Container(file)
                temperatures += [(artifact_run, run, outputs[f"{run.key}/diagnostics/temperature"]) for run in runs]
    return temperatures


def is_of_app_h(artifact_run: ArtifactRun, run: Run) -> bool:
    settings = run.spec.settings
    at = (settings.get("tau_alpha"), settings.get("tau_beta"))
    return artifact_run.paper_method == "domain_weighted_pairs" and at == (ALPHA, BETA)


def measure_convergence(artifact_runs: Sequence[ArtifactRun]) -> pd.DataFrame:
    """How far effective temperatures are from tau_alpha: mean distance of the 5th to the 95th percentile, as metric
    ``distance_from_tau_alpha`` of group "first" and "last" (epoch). A row for each run and group."""
    rows = []
    for artifact_run, run, percentiles in load_temperatures(artifact_runs):
        distance = np.abs(percentiles[:, 5:96] - ALPHA).mean(axis=1)
        head = {
            "paper_dataset": artifact_run.paper_dataset,
            "used_dataset": without_sigma(artifact_run.dataset),
            "paper_method": artifact_run.paper_method,
            "seed": run.seed,
            "split": "train",
            "selection": "best",
            **read_settings(run.data.name, run.spec.name),
            "metric": "distance_from_tau_alpha",
        }
        rows.append(head | {"group": "first", "value": float(distance[0])})
        rows.append(head | {"group": "last", "value": float(distance[-1])})
    return pd.DataFrame(rows)
