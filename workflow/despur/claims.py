"""A paper's claims: named statements, executed on what a run measured.

claims.yaml of a room lists for each claim its ``statement``, ``place`` in the paper, the ``artifact`` whose runs it reads, the ``datasets``
(the paper's) it is about, an ``effect`` and a ``margin``. The claim holds when the 95 % interval of the effect lies above the margin, fails
when it lies below, else it is undecided. An effect is an expression of the functions of :class:`Evidence`, such as
``value('cnc', 'worst_group_accuracy') - best('worst_group_accuracy', 'jtt', 'erm')``; accuracies are shares, not percent.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml
from scipy import stats

from despur.evidence import DRAWS, Evidence, Missing
from despur.experiments import Cell
from despur.randomness import generator
from despur.store import Array
from despur.tables import load_metrics, load_resamples

COLUMNS = [
    "claim",
    "statement",
    "place",
    "dataset",
    "data",
    "verdict",
    "effect",
    "low",
    "high",
    "margin",
    "seeds",
    "p_seeds",
    "p_holm",
    "reason",
]


def common_seeds(metrics: pd.DataFrame, expression: str) -> list[int]:
    """The seeds that every method named in an expression has."""
    each = [set(part["seed"]) for name, part in metrics.groupby("printed") if f"'{name}'" in expression]
    return sorted(set.intersection(*each)) if each else []


def judge(claim: dict[str, Any], metrics: pd.DataFrame, resamples: pd.DataFrame) -> dict[str, Any]:
    """Verdict and evidence of a claim on the runs of one data set."""
    try:
        seeds = common_seeds(metrics, claim["effect"])
        if not seeds:
            raise Missing("nothing was run")
        draws = generator(f"claims/{claim['name']}").integers(0, len(seeds), (DRAWS, len(seeds)))
        evidence = Evidence(metrics, resamples, seeds, draws)
        found = effect(claim["effect"], evidence)
    except Missing as missing:
        return {"verdict": "not run here", "reason": str(missing)}
    drawn, alone = found[1 : DRAWS + 1], found[DRAWS + 1 :]
    low, high = np.nanpercentile(drawn, [2.5, 97.5])
    verdict = "holds" if low > claim["margin"] else "fails" if high < claim["margin"] else "undecided"
    return {
        "verdict": verdict,
        "effect": found[0],
        "low": low,
        "high": high,
        "seeds": len(seeds),
        "p_seeds": p_value(alone, claim["margin"]),
    }


def effect(expression: str, evidence: Evidence) -> Array:
    """An effect's value, draws and values by seed. Only the functions of Evidence and numpy's elementwise ones are known to it."""
    known = {name: getattr(evidence, name) for name in ("value", "best", "least", "levels", "over", "rise", "spread", "gap")}
    known |= {"log": np.log, "minimum": np.minimum, "maximum": np.maximum, "mean": lambda *arrays: np.mean(arrays, axis=0)}
    return np.asarray(eval(compile(expression, expression, "eval"), {"__builtins__": {}}, known))


def p_value(alone: Array, margin: float) -> float:
    """One-sided t test over seeds alone that the effect lies above the margin; NaN from fewer than two seeds."""
    if len(alone) < 2 or np.ptp(alone) == 0:
        return float("nan")
    return float(stats.ttest_1samp(alone, margin, alternative="greater").pvalue)


def holm(values: Iterable[float]) -> list[float]:
    """Holm's correction of p values; NaN stays and does not count."""
    p = np.array(list(values), float)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known])]
    steps = p[order] * np.arange(len(order), 0, -1)
    p[order] = np.minimum(np.maximum.accumulate(steps), 1) if len(order) else []
    return p.tolist()


def claims_table(file: Path, cells: Sequence[Cell]) -> pd.DataFrame:
    """A row for each claim and each data set that plays a part in it."""
    rows = []
    for claim in yaml.safe_load(file.read_text()):
        mine = [cell for cell in cells if cell.artifact == claim["artifact"]]
        metrics, resamples = load_metrics(mine), load_resamples(mine)
        for role in claim["datasets"]:
            played = sorted(set(metrics.loc[metrics["role"] == role, "played"])) or [""]
            for player in played:
                found = judge(claim, *(t[(t["role"] == role) & (t["played"] == player)] for t in (metrics, resamples)))
                head = {"claim": claim["name"], **{key: claim[key] for key in ("statement", "place", "margin")}}
                rows.append({**head, "dataset": role, "data": player, **found})
    table = pd.DataFrame(rows).reindex(columns=COLUMNS)
    return table.assign(p_holm=holm(table["p_seeds"]))


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """The claims as people read them."""
    interval = ["–" if pd.isna(row.effect) else f"{row.effect:+.3g} [{row.low:+.3g}, {row.high:+.3g}]" for row in table.itertuples()]
    p = ["–" if pd.isna(v) else f"{v:.2g}" for v in table["p_holm"]]
    return pd.DataFrame({
        "claim": table["statement"], "place": table["place"], "data set": table["dataset"], "data used": table["data"].replace("", "–"),
        "verdict": table["verdict"], "effect [95 % interval]": interval, "margin": table["margin"],
        "seeds": table["seeds"].fillna(0).astype(int), "p, seeds alone (Holm)": p, "reason": table["reason"].fillna(""),
    })  # fmt: skip
