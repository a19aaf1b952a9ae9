"""The effective temperatures of Domain-Weighted Pairs, epoch by epoch, as its runs recorded them."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from sweep import player, settings

from despur.orchestration.experiments import Cell
from despur.specs.paths import Run, locate
from despur.storage.store import Array, Container

ALPHA, BETA = 0.125, 0.1  # App. H


def recorded(cells: Sequence[Cell]) -> list[tuple[Cell, Run, Array]]:
    """Each run at these temperatures, with the percentiles 0 to 100 of its temperatures at each epoch's end,
    (epochs,101)."""
    found = []
    for cell in cells:
        for result in map(locate, cell.folders):
            for run in result.runs():
                own = run.spec.settings
                if (cell.printed, own.get("tau_alpha"), own.get("tau_beta")) == ("domain_weighted_pairs", ALPHA, BETA):
                    values = Container(result.folder / "outputs.safetensors")[f"{run.key}/diagnostics/temperature"]
                    found.append((cell, run, values))
    return found


def convergence(cells: Sequence[Cell]) -> pd.DataFrame:
    """How far temperatures are from tau_alpha in the first and in the last epoch: mean distance of the 5th to the 95th
    percentile, as metric ``distance_from_tau_alpha`` of group "first" and "last"."""
    rows = []
    for cell, run, values in recorded(cells):
        distance = np.abs(values[:, 5:96] - ALPHA).mean(axis=1)
        head = {
            "role": cell.role,
            "played": player(cell.dataset),
            "printed": cell.printed,
            "seed": run.seed,
            "split": "train",
            "selection": "best",
        }
        about = settings(run.data.name, run.spec.name) | {"metric": "distance_from_tau_alpha"}
        rows += [
            head | about | {"group": group, "value": float(distance[i])} for group, i in (("first", 0), ("last", -1))
        ]
    return pd.DataFrame(rows)
