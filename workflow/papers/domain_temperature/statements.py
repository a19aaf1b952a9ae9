"""The numbers that the paper states in sentences: of the data, counted; of the sweep, with what this run says of
them."""

from typing import Any

import pandas as pd
from sweep import FRACTIONS, SHARES, load

from despur.orchestration.experiments import Cell
from despur.reporting.printed import printed_settings
from despur.reporting.tables import COLUMNS
from despur.specs.paths import locate
from despur.storage.store import Dataset, load_dataset

SPLITS = {"train": "train", "validation": "val", "test_id": "test_id", "test_ood": "test_ood"}
CLAIMS = {"sigma_from_which_often_best_ood": "often_best_ood_above_25"}
OURS = ("domain_weighted_negatives", "domain_weighted_pairs")


def counted(number: Any, dataset: Dataset) -> int:
    """Samples of a split, or of all; or labels of a share."""
    own = printed_settings(number.setting)
    if number.metric == "n_examples":
        return len(dataset.rows(SPLITS[own["split"]])) if "split" in own else len(dataset.table)
    shares = {FRACTIONS[SHARES.get(name, name)]: count for name, count in dataset.about["label_fractions"].items()}
    return int(shares[float(own["label_fraction"])])


def above(threshold: float, runs: pd.DataFrame) -> str:
    """Which share of the settings of the two methods has a mean accuracy above a threshold, by split."""
    rows = runs[
        runs["printed"].isin(OURS)
        & (runs["sigma"] == 50)
        & (runs["metric"] == "probe_accuracy")
        & (runs["group"] == "1%")
    ]
    means = rows.groupby(["split", "printed", "method"])["value"].mean()
    if not len(means):
        return "neither method was run at sigma = 50"
    share = (means > threshold).groupby("split").mean()
    return (
        f"settings above it: Test-OOD {share['test_ood']:.0%}, Test-ID {share['test_id']:.0%}, of "
        f"{len(means['test_id'])}"
    )


def prose(printed: pd.DataFrame, cells: list[Cell]) -> pd.DataFrame:
    """A row for each printed number and each data set that plays the part, with the reason where there is none."""
    runs, rows = load(cells), []
    players = {cell.dataset: cell for cell in cells}
    for number in printed.itertuples():
        base = {
            "paper_dataset": number.dataset,
            "method": number.method,
            "setting": number.setting,
            "metric": number.metric,
            "reported": number.mean,
            "reported_std": number.std,
            "note": number.note,
            "unit": number.unit,
            "seeds": 0,
        }
        if number.metric in CLAIMS:
            rows.append(
                base | {"verdict": "not run here", "reason": f"a range, judged as a claim: {CLAIMS[number.metric]}"}
            )
        elif number.metric == "test_ood_accuracy_threshold":
            rows.append(
                base | {"verdict": "a threshold", "reason": above(number.mean, runs)}
                if len(runs)
                else base | {"verdict": "not run here"}
            )
        else:
            rows += [base | of_data(number, cell) for cell in players.values()] or [
                base | {"verdict": "not run here", "reason": "no data here"}
            ]
    return pd.DataFrame(rows).reindex(columns=[*COLUMNS, "unit", "reason"])


def of_data(number: Any, cell: Cell) -> dict[str, Any]:
    """A count of the data that the first run of a cell reads."""
    result = locate(cell.folders[0])
    dataset = load_dataset(result.data.folder, result.runs()[0].data.name)
    ours = counted(number, dataset)
    row = {"ours": ours, "seeds": 1, "data": cell.dataset}
    if cell.stand_in:
        return row | {"verdict": "stand-in: not compared"}
    return row | {"difference": ours - number.mean, "verdict": "agrees" if ours == number.mean else "differs"}
