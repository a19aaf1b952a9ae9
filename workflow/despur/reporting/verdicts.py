"""Does a reproduced number agree with the printed one, and how many do?"""

import math

import pandas as pd

NOT_RUN = "not run here"
# How a number counts that several data sets play a part in: the first kind that any of them has.
KINDS = ("differs", "agrees", "undecided", "stand-in", "not compared", NOT_RUN)


def agrees(
    reported: float,
    reported_std: float | None,
    reported_seeds: int,
    ours: float,
    ours_std: float,
    seeds: int,
    samples: float,
) -> bool | None:
    """Whether the difference lies within two standard deviations of it; all values in percent.

    Its variance is reported_std^2 / reported_seeds + ours_std^2 / seeds + the binomial variance of a share ``ours`` of
    ``samples`` test samples. None (undecided) from one seed.
    """
    if seeds < 2:
        return None
    share = min(max(ours / 100, 0.0), 1.0)
    variance = (
        (reported_std or 0.0) ** 2 / reported_seeds + ours_std**2 / seeds + 1e4 * share * (1 - share) / max(samples, 1)
    )
    return abs(ours - reported) <= 2 * math.sqrt(variance)


def kind(verdict: str) -> str:
    """The kind of a verdict: agrees, differs, undecided (one seed), stand-in, not compared (other settings, ...), not
    run here."""
    if verdict in ("agrees", "differs"):
        return verdict
    return next(
        (
            k
            for word, k in (("undecided", "undecided"), ("stand-in", "stand-in"), (NOT_RUN, NOT_RUN))
            if word in verdict
        ),
        "not compared",
    )


def counts(table: pd.DataFrame) -> dict[str, int]:
    """How many printed numbers are of each kind; each counts once, and where any data set differs, it differs."""
    each = table.groupby("number")["kind"].agg(lambda kinds: min(kinds, key=KINDS.index))
    return {name: int((each == name).sum()) for name in KINDS}


def summary(table: pd.DataFrame) -> str:
    """One line on a comparison: how many printed numbers agree, differ, ...; nothing of a table without printed
    numbers."""
    if not {"reported", "verdict"} <= set(table) or not (shown := table[table["reported"].notna()]).shape[0]:
        return ""
    keys = [key for key in ("paper_dataset", "method", "setting", "metric") if key in table]
    number = shown.groupby(keys, dropna=False, sort=False).ngroup()
    found = counts(shown.assign(number=number, kind=shown["verdict"].map(kind)))
    words = {"agrees": "agree", "differs": "differ", "undecided": "undecided (one seed)"}
    parts = [
        f"{found[name]} {words.get(name, name)}"
        for name in ("agrees", "differs", "undecided", "stand-in", "not compared", NOT_RUN)
        if found[name] or name not in ("undecided", "not compared")
    ]
    return f"{number.nunique()} printed numbers: {', '.join(parts)}."
