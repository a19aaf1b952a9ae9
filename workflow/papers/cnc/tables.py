"""Tables of Correct-N-Contrast."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from prose import prose
from sweeps import shown as shown_sweeps
from sweeps import sweeps

from despur.orchestration.experiments import Cell
from despur.reporting import claims
from despur.reporting.printed import printed_settings, weighted_averages
from despur.reporting.tables import COLUMNS, compare, load_metrics, main, shown, write_table
from despur.specs.paths import locate
from despur.storage.store import load_dataset

ROOM = Path(__file__).parent
REPORTED = ROOM / "reported"
SEEDS = 3  # App. E.2.1
ACCURACY_TABLES = ("table_1", "table_a1", "table_a2", "table_a3", "table_a4", "table_a5")
WEIGHTED = (
    "erm",
    "cvar_dro",
    "lff",
    "jtt",
    "gdro",
)  # Table 1: their numbers on Waterbirds are copied, with that average
IDENTITIES = {"lgbtq": "LGBTQ"}  # the paper's data set spells the others as we do


def as_averaged(metrics: pd.DataFrame) -> pd.DataFrame:
    """With the averages that the paper prints: those that it copies for Waterbirds weight groups by their training
    sizes."""
    return weighted_averages(metrics, (metrics["role"] == "waterbirds") & metrics["printed"].isin(WEIGHTED))


def accuracies(name: str, cells: list[Cell], output: Path) -> None:
    """Worst-group and average accuracy of methods, or of one method at several settings."""
    write_table(output, compare(pd.read_csv(REPORTED / f"{name}.csv"), as_averaged(load_metrics(cells)), SEEDS))


def plain(mean: float, std: float) -> str:
    """A number of any size; a dash for nothing."""
    if pd.isna(mean):
        return "–"
    return f"{mean:,.4g}" if pd.isna(std) else f"{mean:,.4g} ({std:.2g})"


def beside(number: Any) -> dict[str, Any]:
    """The columns of a printed number."""
    return {
        "paper_dataset": number.dataset,
        "method": number.method,
        "setting": number.setting,
        "metric": number.metric,
        "reported": number.mean,
        "reported_std": number.std,
        "note": number.note,
        "seeds": 0,
        "verdict": "not run here",
    }


def table_a6(cells: list[Cell], output: Path) -> None:
    """Percent toxic among the training comments that mention an identity: of the data, not of a model."""
    rows = []
    for number in pd.read_csv(REPORTED / "table_a6.csv").itertuples():
        identity = printed_settings(number.setting)["identity"]
        found = [beside(number) | toxic(cell, IDENTITIES.get(identity, identity), number.mean) for cell in cells]
        rows += found or [beside(number)]
    write_table(
        output, table := pd.DataFrame(rows, columns=COLUMNS), shown(table, plain).drop(columns=["method", "seeds"])
    )


def toxic(cell: Cell, identity: str, printed: float) -> dict[str, Any]:
    """Percent of the training samples of an identity's groups that are of the second class."""
    result = locate(cell.folders[0])
    dataset = load_dataset(result.data.folder, result.runs()[0].data.name)
    names = [f"{label}, {identity}" for label in dataset.about["classes"]]
    if dataset.groups is None or not set(names) <= set(dataset.about["groups"]):
        return {"data": cell.dataset, "verdict": "not applicable: no such groups"}
    sizes = dataset.groups[dataset.rows("train")].sum(axis=0)
    fine, bad = (int(sizes[dataset.about["groups"].index(name)]) for name in names)
    ours = 100 * bad / max(fine + bad, 1)
    row = {"ours": ours, "seeds": 1, "data": cell.dataset}
    if cell.stand_in:
        return row | {"verdict": "stand-in: not compared"}
    return row | {"difference": ours - printed, "verdict": "agrees" if round(ours, 1) == printed else "differs"}


def table_a12(cells: list[Cell], output: Path) -> None:
    """Hours of both stages beside the printed ones; seconds a run and peak memory of the process, with the device."""
    rows = []
    for number in pd.read_csv(REPORTED / "table_a12.csv").itertuples():
        mine = [cell for cell in cells if (cell.role, cell.printed) == (number.dataset, number.method)]
        rows += [beside(number) | spent(cell) for cell in mine] or [beside(number)]
    table = pd.DataFrame(rows).reindex(columns=[*COLUMNS, "seconds", "peak_memory_mb", "device"])
    extra = {
        name.replace("_", " "): ["–" if pd.isna(v) else f"{v:,.0f}" for v in table[name]]
        for name in ("seconds", "peak_memory_mb")
    }
    display = shown(table, plain).join(pd.DataFrame(extra | {"device": table["device"].fillna("–")}))
    write_table(output, table, display)


def spent(cell: Cell) -> dict[str, Any]:
    """What about.json of a cell's folders says: time of training one run (mean over seeds), largest memory of a
    process."""
    abouts = [json.loads((Path(folder) / "about.json").read_text()) for folder in cell.folders]
    seconds = pd.Series([run["seconds"] for about in abouts for run in about["runs"].values()], dtype=float)
    return {
        "ours": seconds.mean() / 3600, "ours_std": seconds.std() / 3600, "seeds": len(seconds), "data": cell.dataset,
        "seconds": seconds.mean(), "peak_memory_mb": max(about["peak_memory_mb"] for about in abouts),
        "device": ", ".join(sorted({f"{about['device']} ({about['machine']})" for about in abouts})),
        "verdict": "stand-in: not compared" if cell.stand_in else "other machine: not compared",
    }  # fmt: skip


def table_a7_a11(cells: list[Cell], output: Path) -> None:
    """Hyper-parameters: tried, selected, taken."""
    write_table(output, table := sweeps(REPORTED, cells), shown_sweeps(table))


def numbers_of_the_text(cells: list[Cell], output: Path) -> None:
    """Every number that a sentence states."""
    table = prose(pd.read_csv(REPORTED / "prose.csv"), cells, SEEDS)
    display = shown(table, plain)
    display["metric"] += " (" + table["unit"] + ")"
    write_table(output, table, display.assign(reason=table["reason"].fillna("")))


def judged(cells: list[Cell], output: Path) -> None:
    """The paper's claims, with their evidence and verdicts."""
    table = claims.claims_table(ROOM / "claims.yaml", cells)
    write_table(output, table, claims.shown(table))


ARTIFACTS = {
    **{name: partial(accuracies, name) for name in ACCURACY_TABLES},
    "table_a6": table_a6,
    "table_a7_a11": table_a7_a11,
    "table_a12": table_a12,
    "prose": numbers_of_the_text,
    "claims": judged,
}

if __name__ == "__main__":
    main(ARTIFACTS)
