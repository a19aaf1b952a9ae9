"""A single claim, decided on what was measured and on what the paper printed.

On the paper's data a claim needs the levels that the paper speaks of, and settings that are selected as the paper
selects them; then it holds, fails or is undecided by the rules of despur/evidence/statistics/contrasts.py. Runs that
were trained shorter than the paper's, or at other settings, decide nothing about it. On other data only its order is
looked at."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from despur.evidence.claims.claim_evidence import summarize, what_would_settle
from despur.evidence.claims.claim_format import Claim
from despur.evidence.claims.evaluate_formulas import collect_rows, common_seeds, evaluate
from despur.evidence.claims.measured_values import AmbiguousValue, MeasuredValues
from despur.evidence.claims.printed_numbers import PrintedNumbers, loosen
from despur.evidence.claims.refusals import (
    explain_no_interval,
    explain_refusal,
    explain_settings,
    list_changed,
    list_fitted_settings,
    list_fixed_keys,
    list_settings,
)
from despur.evidence.numbers.printed import parse_settings
from despur.evidence.numbers.rows import name_sources
from despur.evidence.runs.collapsed import describe_collapsed
from despur.evidence.statistics.contrasts import FAILS, HOLDS, UNDECIDED, Group, contrasts_of, decide, is_met
from despur.evidence.statistics.formulas import DEFAULTS
from despur.evidence.statistics.levels import Missing, PaperLevels
from despur.evidence.verdicts import ClaimVerdict, PrintedVerdict, Tier

# settings, of a method or of data, that say which encoder it is, and with which weights
ENCODER = re.compile(r"(.+\.)?(encoder|backbone|features)(\.(model|checkpoint))?")
DECISIONS = {  # whether it is the paper's data, and what is decided
    True: {HOLDS: ClaimVerdict.HOLDS, FAILS: ClaimVerdict.FAILS, UNDECIDED: ClaimVerdict.UNDECIDED},
    False: {HOLDS: ClaimVerdict.SEEN, FAILS: ClaimVerdict.OPPOSITE, UNDECIDED: ClaimVerdict.NOT_SEEN},
}
NOTHING = {tier: DECISIONS[tier == Tier.PAPER][UNDECIDED] for tier in Tier}


def judge_claim(
    claim: Claim,
    datasets: Sequence[str],
    measured: MeasuredValues,
    count_originals: Callable[[], int | None] = lambda: None,
    tier: Tier = Tier.PAPER,
) -> dict[str, Any]:
    """Verdict and evidence of a claim on the runs of its data sets. ``count_originals``: of their tests, for advice. On
    the paper's data: whether it holds, at the paper's levels; on other data: whether its order is seen."""
    if tier != Tier.PAPER and not claim.is_order:
        about = claim.about if claim.about != "order" else "magnitude"
        return {"verdict": ClaimVerdict.NOT_RUN, "reason": f"about a {about}: not looked at on {tier}"}
    levels = PaperLevels(claim.levels, measured, DEFAULTS) if tier == Tier.PAPER else measured
    try:
        formulas, conditions = claim.formulas(datasets, levels), claim.conditions(datasets, levels)
        seeds = common_seeds(measured, formulas, conditions)
        statement, given = evaluate(formulas, measured, seeds), evaluate(conditions, measured, seeds)
    except Missing as missing:
        return {"verdict": ClaimVerdict.NOT_RUN, "reason": str(missing)}
    for values, where in (("by_seed", "here"), ("resampled", "on some bootstrap samples of the test data")):
        if not all(np.isfinite(getattr(contrast, values)).all() for contrast in contrasts_of(statement)):
            return {"verdict": NOTHING[tier], "reason": f"a contrast has no finite value {where}"}
    refused, settings = explain_refusal(statement, given), ""
    used = pd.concat([collect_rows(formulas, measured), collect_rows(conditions, measured)])
    evidence = summarize(statement) | {"measured": name_sources(used)}
    if tier == Tier.OTHER_ENCODER:
        settings = ", ".join(list_changed(used, measured.metrics))
    if not refused and tier == Tier.PAPER:
        column, verdict = ("partial", ClaimVerdict.NOT_RUN) if claim.grid else ("untuned", ClaimVerdict.NOT_TUNED)
        if missing_settings := list_settings(column, used, measured.metrics, list_fixed_keys(formulas)):
            reason = f"{'not all settings' if claim.grid else 'not selected as in the paper'}: {missing_settings}"
            return evidence | {"verdict": verdict, "reason": reason}
        refused = explain_settings(used, measured.metrics)
        found = [list_fitted_settings(used, measured.metrics), list_settings("screened", used, measured.metrics)]
        settings = "; ".join(filter(None, found))
    return evidence | describe_decision(statement, refused, tier, count_originals) | {"settings": settings}


def describe_decision(
    statement: Group, refused: str, tier: Tier, count_originals: Callable[[], int | None]
) -> dict[str, Any]:
    """Verdict, reason and advice of contrasts that were evaluated. ``refused``: why they decide nothing."""
    decision = int(decide(statement))
    reason = refused or ("" if decision else explain_no_interval(statement))
    few = not all(contrast.decides for contrast in contrasts_of(statement))
    wants_advice = few or (not reason and not decision)
    return {
        "verdict": NOTHING[tier] if reason else DECISIONS[tier == Tier.PAPER][decision],
        "advice": what_would_settle(statement, count_originals()) if wants_advice else "",
        "reason": reason,
    }


def judge_on_printed(claim: Claim, datasets: Sequence[str], printed: PrintedNumbers) -> dict[str, Any]:
    """What the paper's own numbers say of a claim, at all levels that it is about. They contradict it where they do by
    more than their last digit and their printed deviations."""
    try:
        formulas = claim.printed_formulas(datasets, PaperLevels(claim.levels, printed))
        met = is_met(evaluate(loosen(formulas, printed), printed, common_seeds(printed, formulas)))
    except (Missing, AmbiguousValue) as missing:
        note = select_note(claim.not_printed, datasets) or str(missing)
        return {"printed": PrintedVerdict.NOT_PRINTED, "printed_note": note}
    verdict = PrintedVerdict.HOLDS if met else PrintedVerdict.CONTRADICTED
    return {"printed": verdict, "printed_note": select_note(claim.slip, datasets)}


def select_note(note: str | Mapping[str, str], datasets: Sequence[str]) -> str:
    """A note on these data sets."""
    return note if isinstance(note, str) else "; ".join(note[name] for name in datasets if name in note)


def find_tier(metrics: pd.DataFrame) -> Tier:
    """On which data rows were measured: on those of the paper, with its encoder or another one, or on substitutes."""
    if metrics["substitute"].eq(True).any():
        return Tier.SUBSTITUTE
    changed = {key for text in metrics.get("changed", pd.Series(dtype=str)).dropna() for key in parse_settings(text)}
    return Tier.OTHER_ENCODER if any(map(ENCODER.fullmatch, changed)) else Tier.PAPER


def list_collapsed(metrics: pd.DataFrame) -> str:
    """``jtt: 1 of 5 seeds collapsed (...)`` of each method with such seeds."""
    if "collapsed" not in metrics:
        return ""
    runs = metrics.drop_duplicates(["paper_dataset", "paper_method", "method", "data", "seed"])
    texts = runs.groupby(["paper_method"])["collapsed"].agg(lambda collapsed: describe_collapsed(collapsed.eq(True)))
    return "; ".join(f"{method}: {text}" for method, text in texts.items() if text)
