"""The effective temperatures of Domain-Weighted Pairs, epoch by epoch, as its runs recorded them."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from selection import read_settings, without_sigma

from despur.orchestration.experiments import Cell
from despur.specs.paths import Run, locate
from despur.storage.store import Array, Container

ALPHA, BETA = 0.125, 0.1  # App. H


def load_temperatures(cells: Sequence[Cell]) -> list[tuple[Cell, Run, Array]]:
    """Each run at App. H's settings, with the percentiles 0 to 100 of its effective temperatures at the end of each
    epoch, (epochs,101)."""
    found = []
    for cell in cells:
        for result in map(locate, cell.folders):
            own = [run for run in result.runs() if is_of_app_h(cell, run)]
            outputs = Container(result.folder / "outputs.safetensors") if own else {}
            found += [(cell, run, outputs[f"{run.key}/diagnostics/temperature"]) for run in own]
    return found


def is_of_app_h(cell: Cell, run: Run) -> bool:
    settings = run.spec.settings
    at = (settings.get("tau_alpha"), settings.get("tau_beta"))
    return cell.printed == "domain_weighted_pairs" and at == (ALPHA, BETA)


def measure_convergence(cells: Sequence[Cell]) -> pd.DataFrame:
    """How far effective temperatures are from tau_alpha: mean distance of the 5th to the 95th percentile, as metric
    ``distance_from_tau_alpha`` of group "first" and "last" (epoch). A row for each run and group."""
    rows = []
    for cell, run, percentiles in load_temperatures(cells):
        distance = np.abs(percentiles[:, 5:96] - ALPHA).mean(axis=1)
        head = {
            "role": cell.role,
            "played": without_sigma(cell.dataset),
            "printed": cell.printed,
            "seed": run.seed,
            "split": "train",
            "selection": "best",
            **read_settings(run.data.name, run.spec.name),
            "metric": "distance_from_tau_alpha",
        }
        rows.append(head | {"group": "first", "value": float(distance[0])})
        rows.append(head | {"group": "last", "value": float(distance[-1])})
    return pd.DataFrame(rows)
