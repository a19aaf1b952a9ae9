"""A paper's claims, executed on what a run measured and on what the paper printed. (The format:
despur/evidence/claims/claim_format.py.)

How one is decided: despur/evidence/claims/decisions.py.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from despur.evidence.claims.claim_evidence import format_estimate
from despur.evidence.claims.claim_format import Claim, read_claims
from despur.evidence.claims.decisions import find_tier, judge_claim, judge_on_printed, list_collapsed
from despur.evidence.claims.measured_values import MeasuredValues
from despur.evidence.claims.printed_numbers import PrintedNumbers
from despur.evidence.claims.refusals import explain_not_run
from despur.evidence.numbers.rows import name_sources
from despur.evidence.runs.artifact_metrics import load_metrics, load_resamples, rows_where
from despur.evidence.runs.run_files import count_test_originals
from despur.evidence.verdicts import ClaimVerdict, Tier
from despur.orchestration.experiments import ArtifactRun

CLAIM_COLUMNS = [
    *("claim", "statement", "place", "dataset", "data", "substitute", "verdict", "k", "needed"),
    *("estimate", "low", "high", "margin", "weakest", "because", "seeds", "printed", "printed_note"),
    *("advice", "reason", "settings", "contrasts", "measured", "tier", "primary", "p_holds", "p_fails", "collapsed"),
]
SelectedTables = dict[tuple[Any, ...], tuple[dict[str, Any], MeasuredValues]]
Measure = Callable[[list[ArtifactRun]], tuple[pd.DataFrame, pd.DataFrame]]


def load_measurements(artifact_runs: Sequence[ArtifactRun]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Metrics and resamples of an artifact's runs."""
    return load_metrics(artifact_runs), load_resamples(artifact_runs)


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
    folder = file.parent / "reported"
    printed = {name: PrintedNumbers(folder, names, name) for name in {claim.artifact for claim in claims}}
    rows, selected = [], SelectedTables()
    for claim in claims:
        for datasets in claim.rows:
            head = {
                "claim": claim.name,
                "statement": claim.statement,
                "place": claim.place,
                "dataset": ", ".join(datasets),
                "margin": claim.margin,
                "because": claim.because,
                "primary": claim.primary,
            }
            if claim.not_executed:
                rows.append(head | {"verdict": ClaimVerdict.NOT_EXECUTED, "reason": claim.not_executed})
                continue
            head |= judge_on_printed(claim, datasets, printed[claim.artifact])
            own_runs = [run for run in artifact_runs if run.artifact in claim.artifacts]
            verdicts = judge_on_each(claim, datasets, *tables[claim.artifacts], own_runs, selected)
            rows += [head | verdict for verdict in verdicts]
    return pd.DataFrame(rows).reindex(columns=CLAIM_COLUMNS)


def judge_on_each(
    claim: Claim,
    datasets: Sequence[str],
    metrics: pd.DataFrame,
    resamples: pd.DataFrame,
    artifact_runs: Sequence[ArtifactRun],
    selected: SelectedTables,
) -> list[dict[str, Any]]:
    """A verdict for each choice of the data sets that are used for those of the paper. ``selected``: the rows that were
    selected of the tables of a claim's artifacts, which claims share; filled here."""
    rows = []
    for used in list_used_datasets(metrics, datasets):
        key = claim.artifacts, *used.items()
        if key not in selected:
            selected[key] = select_used(metrics, resamples, used)
        head, measured = selected[key]
        count = partial(count_test_originals, artifact_runs, used)
        rows.append(head | judge_claim(claim, datasets, measured, count, head["tier"]))
    run = {*metrics["paper_dataset"]} if len(metrics) else set()
    return rows or [
        {"data": "", "verdict": ClaimVerdict.NOT_RUN, "reason": explain_not_run(claim.artifact, datasets, run)}
    ]


def select_used(
    metrics: pd.DataFrame, resamples: pd.DataFrame, used: Mapping[str, str]
) -> tuple[dict[str, Any], MeasuredValues]:
    """What rows of claims say of the data that is used for each data set of the paper, and what was measured there."""
    mine = [keep_used(table, used) for table in (metrics, resamples)]
    tier = find_tier(mine[0])
    head = {"data": ", ".join(dict.fromkeys(used.values())), "substitute": tier == Tier.SUBSTITUTE, "tier": tier}
    head |= {"measured": name_sources(mine[0]), "collapsed": list_collapsed(mine[0])}
    return head, MeasuredValues(*mine)


def keep_used(table: pd.DataFrame, used: Mapping[str, str]) -> pd.DataFrame:
    """The rows that are of the data that is used for each data set of the paper."""
    if not len(table):
        return table
    return table[table["paper_dataset"].map(used) == table["used_dataset"]].reset_index(drop=True)


def list_used_datasets(metrics: pd.DataFrame, datasets: Sequence[str]) -> list[dict[str, str]]:
    """The data set that is used for each data set of the paper. For one data set: every choice. For several: the
    papers' own data, and the first substitutes."""
    if not len(metrics):
        return []
    used_datasets = metrics.groupby(["used_dataset", "paper_dataset"])["substitute"].max().reset_index()
    if len(datasets) == 1:
        (name,) = datasets
        return [{name: used} for used in rows_where(used_datasets, paper_dataset=name)["used_dataset"]]
    used_datasets = used_datasets.drop_duplicates(["substitute", "paper_dataset"]).set_index("paper_dataset")
    by_substitute = [group["used_dataset"].to_dict() for _, group in used_datasets.groupby("substitute")]
    return [{name: names[name] for name in datasets} for names in by_substitute if set(datasets) <= set(names)]


def format_claims(table: pd.DataFrame) -> pd.DataFrame:
    """The claims as people read them: what was judged before what was not run."""
    not_run = [ClaimVerdict.NOT_RUN, ClaimVerdict.NOT_EXECUTED]
    table = table.sort_values("verdict", key=lambda verdicts: verdicts.isin(not_run), kind="stable")
    interval = [
        "–" if pd.isna(row.estimate) else format_estimate(row.estimate, row.low, row.high) for row in table.itertuples()
    ]
    words = table[["data", "advice", "reason", "settings", "printed"]].fillna("")
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
            "settings": words["settings"],
        }
    )
