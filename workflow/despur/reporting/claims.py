"""A paper's claims: named statements, executed on what a run measured.

claims.yaml of a room lists for each claim its ``name``, ``statement``, ``place`` in the paper, the ``artifact`` whose
runs it reads (and others ``beside`` it), the ``datasets`` (the paper's) it is about, an ``effect``, a ``margin`` and
why that margin (``because``). The claim holds when the 95 % interval of the effect lies above the margin, fails when
it lies below, else it is undecided, as it is from one seed. Where ``given``, an expression too, is not above 0,
nothing is decided: an encoder that has learned nothing has no gap, for one. What is ``counted`` (parameters) is the
same from every seed: its value decides. An effect is an expression of the functions of :class:`Evidence`, such as
``value('cnc', 'worst_group_accuracy') - best('worst_group_accuracy', 'jtt', 'erm')``; accuracies are shares, not
percent. Its interval is of percentiles over seeds and test originals, both drawn with replacement and the same for all
methods: with three seeds it is rather too narrow, which is why the p value from seeds alone stands beside it. Where no
test data enters (seconds, temperatures), it is Student's over seeds, of which it takes five."""

import ast
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml
from scipy import stats

from despur.compute.randomness import generator
from despur.orchestration.experiments import Cell
from despur.reporting.evidence import DRAWS, Evidence, Missing, decide
from despur.reporting.tables import load_metrics, load_resamples
from despur.specs.names import unknown
from despur.specs.settings import SettingError
from despur.storage.store import Array

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
    "because",
    "seeds",
    "p_seeds",
    "p_holm",
    "reason",
]


OF_EVIDENCE = ("value", "best", "least", "over", "rise", "spread", "classes", "gap", "slack")
Measure = Callable[[Sequence[Cell]], tuple[pd.DataFrame, pd.DataFrame]]
ARITHMETIC: dict[str, Callable[..., Any]] = {
    "log": np.log,
    "minimum": np.minimum,
    "maximum": np.maximum,
    "mean": partial(np.mean, axis=0),
    "lowest": partial(np.min, axis=0),
    "highest": partial(np.max, axis=0),
}
ALLOWED = (
    ast.Expression,
    ast.Call,
    ast.Name,
    ast.Load,
    ast.Constant,
    ast.keyword,
    ast.List,
    ast.BinOp,
    ast.UnaryOp,
    ast.Subscript,
    ast.operator,
    ast.unaryop,
)


def read(expression: str) -> ast.Expression:
    """An effect's syntax tree: arithmetic and calls of known functions only. Raises SettingError for anything else."""
    known = (*OF_EVIDENCE, *ARITHMETIC)
    tree = ast.parse(expression.strip(), mode="eval")
    for node in ast.walk(tree):
        if not isinstance(node, ALLOWED):
            raise SettingError(
                f"effect {expression!r}: {ast.unparse(node)} is neither arithmetic nor a call of {', '.join(known)}"
            )
        if isinstance(node, ast.Name) and node.id not in known:
            raise unknown(f"effect {expression!r}: function", node.id, known)
    return tree


def common_seeds(metrics: pd.DataFrame, expression: str) -> list[int]:
    """The seeds that every method named in an expression has."""
    named = {node.value for node in ast.walk(read(expression)) if isinstance(node, ast.Constant)}
    each = [set(part["seed"]) for name, part in metrics.groupby("printed") if name in named]
    return sorted(set.intersection(*each)) if each else []


def judge(claim: dict[str, Any], metrics: pd.DataFrame, resamples: pd.DataFrame) -> dict[str, Any]:
    """Verdict and evidence of a claim on the runs of one data set."""
    try:
        seeds = common_seeds(metrics, claim["effect"])
        if not seeds:
            raise Missing("no seed in common" if len(metrics) else f"nothing was run of {claim['artifact']}")
        draws = generator(f"claims/{claim['name']}").integers(0, len(seeds), (DRAWS, len(seeds)))
        asked = Evidence(metrics, resamples, seeds, draws)
        found = effect(claim["effect"], asked)
        given = effect(claim["given"], asked)[0] if "given" in claim else 1.0
        if np.isnan(found[0]):
            raise Missing("the effect is not a number here")
    except Missing as missing:
        return {"verdict": "not run here", "reason": str(missing)}
    if np.isinf(found[0]) or not given > 0:
        return {
            "verdict": "undecided",
            "reason": "the effect is infinite here" if given > 0 else f"not above 0: {claim['given']}",
        }
    return decided(claim, found, asked)


def decided(claim: dict[str, Any], found: Array, asked: Evidence) -> dict[str, Any]:
    """The verdict on an effect's value, draws and values by seed."""
    alone = found[DRAWS + 1 :]
    side, evidence = decide(found, claim["margin"], asked.resampled, bool(claim.get("counted")))
    of_all = {"effect": found[0], "seeds": len(asked.seeds), "p_seeds": p_value(alone, claim["margin"])}
    return of_all | evidence | {"verdict": {"above": "holds", "below": "fails"}.get(side, side)}


def effect(expression: str, evidence: Evidence) -> Array:
    """An effect's value, draws and values by seed, from the functions of Evidence, elementwise ones, and ``mean``,
    ``lowest``, ``highest`` over what ``over`` or ``classes`` gives, or over a list. Raises SettingError for an effect
    that is not one number."""
    known = ARITHMETIC | {name: getattr(evidence, name) for name in OF_EVIDENCE}
    found = np.asarray(eval(compile(read(expression), expression, "eval"), {"__builtins__": {}}, known))
    if found.shape != (1 + DRAWS + len(evidence.seeds),):
        raise SettingError(f"effect {expression!r} is not one number: reduce it with mean, lowest or highest")
    return found


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


def measured(cells: Sequence[Cell]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Metrics and resamples of cells."""
    return load_metrics(cells), load_resamples(cells)


def claims_table(file: Path, cells: Sequence[Cell], measure: Measure = measured) -> pd.DataFrame:
    """A row for each claim and each data set that plays a part in it. ``measure``: what effects may ask of cells
    (default: all of it)."""
    claims, rows = yaml.safe_load(file.read_text()), []
    behind = {claim["name"]: (claim["artifact"], *claim.get("beside", [])) for claim in claims}
    tables = {names: measure([cell for cell in cells if cell.artifact in names]) for names in set(behind.values())}
    for claim in claims:
        for role in claim["datasets"]:
            mine = [table[table["role"] == role] for table in tables[behind[claim["name"]]]]
            for player in sorted(set(mine[0]["played"])) or [""]:
                found = judge(claim, *(table[table["played"] == player] for table in mine))
                head = {
                    "claim": claim["name"],
                    **{key: claim[key] for key in ("statement", "place", "margin", "because")},
                }
                rows.append({**head, "dataset": role, "data": player, **found})
    table = pd.DataFrame(rows).reindex(columns=COLUMNS)
    return table.assign(p_holm=holm(table["p_seeds"]))


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """The claims as people read them: what was judged before what was not run."""
    table = table.sort_values("verdict", key=lambda verdict: verdict == "not run here", kind="stable")
    interval = [
        "–" if pd.isna(row.effect) else f"{row.effect:+.3g} [{row.low:+.3g}, {row.high:+.3g}]"
        for row in table.itertuples()
    ]
    p = ["–" if pd.isna(v) else f"{v:.2g}" for v in table["p_holm"]]
    return pd.DataFrame(
        {
            "claim": table["statement"],
            "place": table["place"],
            "data set": table["dataset"],
            "data used": table["data"].replace("", "–"),
            "verdict": table["verdict"],
            "effect [95 % interval]": interval,
            "margin": [f"{row.margin:g}: {row.because}" for row in table.itertuples()],
            "seeds": table["seeds"].fillna(0).astype(int),
            "p, seeds alone (Holm)": p,
            "reason": table["reason"].fillna(""),
        }
    )
