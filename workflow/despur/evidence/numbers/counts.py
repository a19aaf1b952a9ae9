"""How many printed numbers have which verdict, each number once; and how many stand if all verdicts are looked at
together."""

import numpy as np
import pandas as pd

from despur.evidence.numbers.verdicts import P_VALUES
from despur.evidence.statistics.multiplicity import adjust_false_discoveries, calibrate
from despur.evidence.verdicts import COUNTED, MEASURED, NumberVerdict

# How a number counts that is measured on several data sets: the first kind that any of them has.
ORDER = (
    NumberVerdict.BEYOND_5,
    NumberVerdict.NOT_KNOWN,
    NumberVerdict.WITHIN_5,
    NumberVerdict.WITHIN_2,
    NumberVerdict.NOT_AS_PRINTED,
    NumberVerdict.AS_PRINTED,
    NumberVerdict.FITTED,
    NumberVerdict.OTHER_SETTINGS,
    NumberVerdict.NOT_COMPARED,
    NumberVerdict.SUBSTITUTE,
    NumberVerdict.NOT_RUN,
)
COMPARED = (*MEASURED, *COUNTED)
NUMBER = ("paper", "place", "artifact", "paper_dataset", "method", "setting", "metric")  # what tells numbers apart
RATE = 0.05  # of false discoveries


def count_numbers(table: pd.DataFrame) -> dict[str, int]:
    """How many printed numbers are of each kind, of rows of tables or of measurements. A number that several runs
    measure counts once, as the first kind of ORDER."""
    kinds = table["verdict"].map(NumberVerdict)
    by_number = kinds.groupby([table[key].fillna("") for key in NUMBER if key in table])
    first_kinds = by_number.agg(lambda kinds_of_number: min(kinds_of_number, key=ORDER.index))
    return {name.value: int((first_kinds == name).sum()) for name in ORDER}


def count_standing(table: pd.DataFrame) -> dict[str, int]:
    """Of distinct rows, how many verdicts of each kind stand at 5 % false discoveries among all rows that were compared
    (Benjamini and Hochberg, of p values that hold for skewed seeds)."""
    compared = table[table["verdict"].isin(MEASURED)]
    standing = {}
    for verdict, column in P_VALUES.items():
        q_values = adjust_false_discoveries(calibrate(compared.get(column, pd.Series(dtype=float)).to_numpy(float)))
        given = compared["verdict"].eq(verdict).to_numpy()
        standing[verdict.value] = int(np.sum(given & (np.nan_to_num(q_values, nan=1.0) <= RATE)))
    return standing


def summarize_verdicts(table: pd.DataFrame) -> str:
    """One line on a comparison: how many printed numbers are within 2, within 5, ...; nothing of a table without
    printed numbers."""
    if not {"reported", "verdict"} <= set(table) or not (shown := table[table["reported"].notna()]).shape[0]:
        return ""
    counts = count_numbers(shown)
    each = ", ".join(f"{counts[kind]} {kind}" for kind in dict.fromkeys((*COMPARED, *ORDER)) if counts[kind])
    return f"{sum(counts.values())} printed numbers: {each}."
