"""Which seeds collapsed: their model did not learn its own training data.

A seed collapsed where its training accuracy goes less than ``SHARE`` of the way from guessing to 1. Accuracy: the mean
over classes, so that many samples of one class do not count as learning; guessing gives 1 over their number. Of probes
on representations, the accuracy with the largest measured share of labels; guessing gives the largest class's share.
No test sample and no comparison of seeds enters, so what is left is a sample of the seeds that did not collapse.
Methods whose training accuracy says nothing about learning do not collapse: those that learn nothing from training
data, and LfF, which gives hardly any weight to samples that its biased network fits (on CMNIST*: nearly all)."""

import re

import numpy as np
import pandas as pd
from scipy import stats

SHARE = 0.2
NEVER_COLLAPSED = {"prompting", "zero_shot", "lff"}
PROBE, SHARE_OF_LABELS = "probe_accuracy", re.compile(r"([\d.]+)")


def mark_collapsed(rows: pd.DataFrame) -> pd.Series:
    """Whether each row of a table of metrics (``data``, ``method``, ``seed``, ...) is of a seed that collapsed; never
    where no training accuracy is measured."""
    can_collapse = ~rows["method"].str.partition("+")[0].isin(NEVER_COLLAPSED)
    train_rows = rows[(rows["split"] == "train") & (rows["selection"] == "best") & can_collapse]
    keys = ["data", "method", "seed"]
    collapsed = {key: has_collapsed(part) for key, part in train_rows.groupby(keys, sort=False)}
    return pd.Series([collapsed.get(key, False) for key in zip(*(rows[key] for key in keys), strict=True)], rows.index)


def has_collapsed(train: pd.DataFrame) -> bool:
    """Whether a run collapsed, from the rows of its training split."""
    groups = train[train["metric"].isin(["accuracy", "samples"])]
    wide = groups.pivot_table(index="group", columns="metric", values="value", aggfunc="first")
    if "samples" not in wide:
        return False
    labels = wide.index.str.rpartition(", ").get_level_values(0)
    sizes = wide.groupby(labels)["samples"].sum()
    sizes = sizes[sizes > 0]
    if len(sizes) < 2:
        return False
    if "accuracy" in wide and wide["accuracy"].notna().any():
        correct = (wide["accuracy"] * wide["samples"]).groupby(labels).sum()
        return is_guessing(float((correct / sizes).mean()), 1 / len(sizes))
    probes = train[(train["metric"] == PROBE) & train["group"].str.match(SHARE_OF_LABELS)]
    if not len(probes):
        return False
    best = probes.loc[probes["group"].str.extract(SHARE_OF_LABELS)[0].astype(float).idxmax(), "value"]
    return is_guessing(float(best), float(sizes.max() / sizes.sum()))


def is_guessing(accuracy: float, chance: float) -> bool:
    """Whether an accuracy goes less than ``SHARE`` of the way from that of guessing to 1."""
    return accuracy < chance + SHARE * (1 - chance)


def mark_seeds(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Which rows are of a seed that collapsed; none, where rows do not say so."""
    return rows["collapsed"].eq(True) if "collapsed" in rows else pd.Series(False, rows.index)


def describe_collapsed(marks: "pd.Series[bool]") -> str:
    """``2 of 5 seeds collapsed (5 to 85 %)``, with the exact 95 % interval of the share (Clopper and Pearson 1934);
    empty for none. ``marks``: one for each seed."""
    count = int(np.sum(marks))
    if not count:
        return ""
    share = stats.binomtest(count, len(marks)).proportion_ci(0.95, method="exact")
    return f"{count} of {len(marks)} seeds collapsed ({100 * share.low:.0f} to {100 * share.high:.0f} %)"
