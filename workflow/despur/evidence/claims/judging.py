"""A paper's claims, executed on what a run measured and on what the paper printed. (The format:
despur/evidence/claims/claim_format.py.)

A claim holds, fails or is undecided by the rules of despur/evidence/statistics/contrasts.py. On the paper's own
data, runs that were trained shorter than the paper's, or at other settings, decide nothing about it; on substitute
data, verdicts are about the settings of this run, not about the paper.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from despur.evidence.claims.advice import what_would_settle
from despur.evidence.claims.claim_evidence import summarize
from despur.evidence.claims.claim_format import Claim, read_claims
from despur.evidence.claims.evaluate_formulas import collect_rows, collect_values, common_seeds, evaluate
from despur.evidence.claims.evidence import AmbiguousValue, Source
from despur.evidence.claims.printed_numbers import Printed
from despur.evidence.claims.refusals import explain_no_interval, explain_not_run, explain_refusal, explain_settings
from despur.evidence.numbers.tables import name_sources
from despur.evidence.numbers.verdicts import NOT_RUN
from despur.evidence.runs.artifact_metrics import load_metrics, load_resamples
from despur.evidence.runs.run_files import count_test_originals
from despur.evidence.statistics.contrasts import WORDS, contrasts_of, decide, is_met
from despur.evidence.statistics.levels import Missing
from despur.orchestration.experiments import ArtifactRun

COLUMNS = [
    "claim",
    "statement",
    "place",
    "dataset",
    "data",
    "substitute",
    "verdict",
    "k",
    "needed",
    "estimate",
    "low",
    "high",
    "margin",
    "because",
    "seeds",
    "printed",
    "printed_note",
    "advice",
    "reason",
    "contrasts",
    "measured",
]
AS_PRINTED, CONTRADICTED, NOT_PRINTED = "holds", "contradicted by the paper's own numbers", "not printed"
NOT_EXECUTED = "not executed"
Measure = Callable[[list[ArtifactRun]], tuple[pd.DataFrame, pd.DataFrame]]


def load_measurements(artifact_runs: Sequence[ArtifactRun]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Metrics and resamples of an artifact's runs."""
    return load_metrics(artifact_runs), load_resamples(artifact_runs)


def judge_claim(
    claim: Claim, datasets: Sequence[str], source: Source, count_originals: Callable[[], int | None] = lambda: None
) -> dict[str, Any]:
    """Verdict and evidence of a claim on the runs of its data sets. ``count_originals``: of their tests, for advice."""
    try:
        formulas, conditions = claim.formulas(datasets, source), claim.conditions(datasets, source)
        frames = [*collect_values(formulas, source), *collect_values(conditions, source)]
        seeds = common_seeds(frames)
        found, given = evaluate(formulas, source, seeds), evaluate(conditions, source, seeds)
    except Missing as missing:
        return {"verdict": NOT_RUN, "reason": str(missing)}
    for values, where in (("by_seed", "here"), ("resampled", "on some bootstrap samples of the test data")):
        if not all(np.isfinite(getattr(contrast, values)).all() for contrast in contrasts_of(found)):
            return {"verdict": "undecided", "reason": f"a contrast has no finite value {where}"}
    verdict = WORDS[int(decide(found))]
    reason = explain_refusal(found, given)
    if not reason and not source.metrics["substitute"].eq(True).any():  # all of these data, or none, are substitutes
        used = pd.concat([collect_rows(formulas, source), collect_rows(conditions, source)])
        reason = explain_settings(used, source.metrics)
    if not reason and verdict == "undecided":
        reason = explain_no_interval(found)
    few = not all(contrast.decides for contrast in contrasts_of(found))
    wants_advice = few or (not reason and verdict == "undecided")
    advice = what_would_settle(found, count_originals()) if wants_advice else ""
    return summarize(found) | {"verdict": "undecided" if reason else verdict, "advice": advice, "reason": reason}


def judge_on_printed(claim: Claim, datasets: Sequence[str], printed: Source) -> dict[str, Any]:
    """What the paper's own numbers say of a claim."""
    try:
        formulas = claim.printed_formulas(datasets, printed)
        collect_values(formulas, printed)
        met = is_met(evaluate(formulas, printed, [0]))
    except (Missing, AmbiguousValue) as missing:
        return {"printed": NOT_PRINTED, "printed_note": select_note(claim.not_printed, datasets) or str(missing)}
    return {"printed": AS_PRINTED if met else CONTRADICTED, "printed_note": select_note(claim.slip, datasets)}


def select_note(note: str | Mapping[str, str], datasets: Sequence[str]) -> str:
    """A note on these data sets."""
    return note if isinstance(note, str) else "; ".join(note[name] for name in datasets if name in note)


def judge_claims(
    file: Path, artifact_runs: Sequence[ArtifactRun], measure: Measure = load_measurements
) -> pd.DataFrame:
    """A row for each claim and each data set that is used for it. ``measure``: reads from the runs the metrics that
    claims may use (default: all)."""
    claims, names = read_claims(file)
    tables = {
        artifacts: measure([artifact_run for artifact_run in artifact_runs if artifact_run.artifact in artifacts])
        for artifacts in {claim.artifacts for claim in claims}
    }
    printed = {claim.artifact: Printed(file.parent / "reported", names, claim.artifact) for claim in claims}
    rows = []
    for claim in claims:
        for datasets in claim.rows:
            head = {
                "claim": claim.name,
                "statement": claim.statement,
                "place": claim.place,
                "dataset": ", ".join(datasets),
                "margin": claim.margin,
                "because": claim.because,
            }
            if claim.not_executed:
                rows.append(head | {"verdict": NOT_EXECUTED, "reason": claim.not_executed})
                continue
            head |= judge_on_printed(claim, datasets, printed[claim.artifact])
            own_runs = [run for run in artifact_runs if run.artifact in claim.artifacts]
            rows += [head | found for found in judge_on_each(claim, datasets, *tables[claim.artifacts], own_runs)]
    return pd.DataFrame(rows).reindex(columns=COLUMNS)


def judge_on_each(
    claim: Claim,
    datasets: Sequence[str],
    metrics: pd.DataFrame,
    resamples: pd.DataFrame,
    artifact_runs: Sequence[ArtifactRun],
) -> list[dict[str, Any]]:
    """A verdict for each choice of the data sets that are used for those of the paper."""
    rows = []
    for used in list_used_datasets(metrics, datasets):
        mine = [table[uses_datasets(table, used)] if len(table) else table for table in (metrics, resamples)]
        source = Source(mine[0].reset_index(drop=True), mine[1].reset_index(drop=True))
        substitute = bool(mine[0]["substitute"].eq(True).any())
        head = {"data": ", ".join(dict.fromkeys(used.values())), "substitute": substitute}
        head["measured"] = name_sources(mine[0])
        rows.append(head | judge_claim(claim, datasets, source, partial(count_test_originals, artifact_runs, used)))
    run = {*metrics["paper_dataset"]} if len(metrics) else set()
    return rows or [{"data": "", "verdict": NOT_RUN, "reason": explain_not_run(claim.artifact, datasets, run)}]


def uses_datasets(table: pd.DataFrame, used: Mapping[str, str]) -> pd.Series:
    """Which rows are of the data that is used for each data set of the paper."""
    return table["paper_dataset"].map(used) == table["used_dataset"]


def list_used_datasets(metrics: pd.DataFrame, datasets: Sequence[str]) -> list[dict[str, str]]:
    """The data set that is used for each data set of the paper. For one data set: every choice. For several: the
    papers' own data, and the first substitutes."""
    if not len(metrics):
        return []
    found = metrics.groupby(["used_dataset", "paper_dataset"])["substitute"].max().reset_index()
    if len(datasets) == 1:
        return [{datasets[0]: used} for used in found.loc[found["paper_dataset"] == datasets[0], "used_dataset"]]
    found = found.drop_duplicates(["substitute", "paper_dataset"]).set_index("paper_dataset")
    each = [own["used_dataset"].to_dict() for _, own in found.groupby("substitute")]
    return [{name: own[name] for name in datasets} for own in each if set(datasets) <= set(own)]


def format_claims(table: pd.DataFrame) -> pd.DataFrame:
    """The claims as people read them: what was judged before what was not run."""
    table = table.sort_values("verdict", key=lambda verdict: verdict.isin([NOT_RUN, NOT_EXECUTED]), kind="stable")
    interval = [
        "–" if pd.isna(row.estimate) else f"{row.estimate:+.3g} [{row.low:+.3g}, {row.high:+.3g}]"
        for row in table.itertuples()
    ]
    words = table[["data", "advice", "reason", "printed"]].fillna("")
    return pd.DataFrame(
        {
            "claim": table["statement"],
            "place": table["place"],
            "data set": table["dataset"],
            "data used": words["data"].replace("", "–"),
            "verdict": table["verdict"],
            "contrasts": table["k"].fillna(0).astype(int),
            "nearest to its margin [bounds]": interval,
            "margin": [f"{row.margin:g}: {row.because}" for row in table.itertuples()],
            "seeds": table["seeds"].fillna(0).astype(int),
            "on printed numbers": words["printed"],
            "what would settle it": words["advice"],
            "reason": words["reason"],
        }
    )
