"""Tables of Lewis et al. 2023, and two that it has not: other rules of selection, and the choices that it leaves
open."""

from functools import partial
from pathlib import Path

import pandas as pd
from beyond import table_choices, table_selection
from grids import shown as shown_grids
from grids import table_3_8
from statements import prose
from sweep import SPLITS, as_printed, at, averaged, choose, load, selected
from temperature import convergence

from despur.orchestration.experiments import Cell
from despur.reporting.tables import compare, load_resamples, main, shown, write_table

ROOM = Path(__file__).parent
SEEDS = 5  # Sec. 3


def reported(name: str) -> pd.DataFrame:
    """Printed numbers of a table, shares as percentages."""
    table = pd.read_csv(ROOM / f"reported/{name}.csv")
    return table.assign(mean=table["mean"] * table["unit"].map({"fraction": 100.0}).fillna(1.0))


def beside(printed: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Printed accuracies beside ours."""
    return compare(printed, as_printed(runs), SEEDS, SPLITS)


def accuracies(name: str, cells: list[Cell], output: Path) -> None:
    """Accuracies of the setting of each method that is selected on validation data, at each sigma."""
    runs = load(cells)
    write_table(output, beside(reported(name), selected(runs, choose(runs))))


def grids(cells: list[Cell], output: Path) -> None:
    """Tables 3 to 8, a file each: the accuracies of every setting of the two methods."""
    runs = load(cells)
    table = table_3_8({i: reported(f"table_{i}") for i in range(3, 9)}, at(runs, sigma=50.0), beside)
    for number, part in table.groupby("table"):
        write_table(output.with_name(f"table_{number}"), part, shown_grids(part))


def statements(cells: list[Cell], output: Path) -> None:
    """Every number that a sentence states."""
    table = prose(pd.read_csv(ROOM / "reported/prose.csv"), cells)
    display = shown(table, lambda mean, std: "–" if pd.isna(mean) else f"{mean:,.4g}")
    display["metric"] += " (" + table["unit"] + ")"
    write_table(output, table, display.assign(reason=table["reason"].fillna("")))


def measured(cells: list[Cell]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """What claims may ask: all runs ("best"), those selected by the paper's rule ("validation"), means over settings
    ("every"; those of projectors "every_of_a_dimension"), and how far effective temperatures are from tau_alpha."""
    runs, resamples = load(cells), load(cells, load_resamples)
    chosen = choose(runs)
    metrics, drawn = (
        [table, selected(table, chosen), averaged(table), averaged(table, "every_of_a_dimension", "projector_dim")]
        for table in (runs, resamples)
    )
    return pd.concat([*metrics, convergence(cells)], ignore_index=True), pd.concat(drawn, ignore_index=True)


def judged(cells: list[Cell], output: Path) -> None:
    """The paper's claims, with their evidence and verdicts."""
    from despur.reporting import claims  # scipy.stats: other tables need not wait for it

    table = claims.claims_table(ROOM / "claims.yaml", cells, measured)
    write_table(output, table, claims.shown(table))


ARTIFACTS = {
    **{name: partial(accuracies, name) for name in ("table_1", "table_2", "table_9")},
    "table_3_8": grids,
    "table_selection": table_selection,
    "table_choices": table_choices,
    "prose": statements,
    "claims": judged,
}

if __name__ == "__main__":
    main(ARTIFACTS)
