"""The numbers that the paper states in sentences: the best hyper-parameters, how large gains are, how many classes
COCO has left. Their verdicts follow the rule of claims (despur/evidence/statistics/contrasts.py)."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from despur.evidence.claims.evaluate_formulas import common_seeds
from despur.evidence.claims.evidence import Source
from despur.evidence.numbers.printed import find_refusal
from despur.evidence.numbers.tables import COLUMNS
from despur.evidence.runs.artifact_metrics import load_resamples
from despur.evidence.statistics.contrasts import FAILS, HOLDS, SEEDS, Contrast, Group, decide
from despur.evidence.statistics.formulas import DEFAULTS
from despur.evidence.statistics.levels import Missing
from despur.evidence.verdicts import NumberVerdict
from despur.orchestration.experiments import ArtifactRun
from despur.papers.icl_msr.rows import BASES, REST, load_runs

REPORTED = Path(__file__).parent / "reported"
SWEPT = {"best_lambda": ("weight", 1), "best_gamma": ("uniformity", 1), "worst_gamma": ("uniformity", -1)}
TABLES = ("table_1", "table_2", "table_3")


def compare(first: pd.DataFrame, second: pd.DataFrame, sign: int = 1, margin: float = 0.0) -> Contrast:
    """``sign`` times the difference of two measurements by seed, over the seeds that both have."""
    seeds = common_seeds([first, second])
    difference = sign * (first.loc[seeds] - second.loc[seeds]).to_numpy(float)
    return Contrast(difference[:, 0], difference[:, 1:], margin)


def find_level(metric: str, printed: float, source: Source, dataset: str) -> tuple[float, Group, pd.DataFrame]:
    """The level of a setting with the best (or worst) mean accuracy of a linear classifier in Figure 5; the statement
    that the printed level is so; and the rows behind them."""
    key, sign = SWEPT[metric]
    fixed = {name: value for name, value in REST.items() if name != key}
    at = {**DEFAULTS, **fixed, "artifact": "figure_5", "dataset": dataset, "metric": "linear_top1"}
    levels = {level: source.value({**at, key: level}) for level in source.levels(key, at)}
    if len(levels) < 2:
        raise Missing(f"no run varies {key}")
    means = {level: sign * frame["value"].mean() for level, frame in levels.items()}
    others = [frame for level, frame in levels.items() if level != printed]
    parts = [compare(levels[printed], other, sign) for other in others] if printed in levels else []
    return max(means, key=means.__getitem__), Group(parts), source.rows(source.metrics, at)


def list_gains() -> Iterator[dict[str, str]]:
    """Every gain by MSR that Tables 1 to 3 print: the table, data set, metric and method without MSR."""
    for artifact in TABLES:
        printed = pd.read_csv(REPORTED / f"{artifact}.csv")
        for (dataset, metric), rows in printed.groupby(["dataset", "metric"]):
            for base in BASES:
                if {base, f"{base}_msr"} <= set(rows["method"]):
                    yield {"artifact": artifact, "dataset": dataset, "metric": metric, "method": base}


def find_gain(bound: float, source: Source) -> tuple[float, Group, pd.DataFrame]:
    """The median gain in points of methods with MSR over those without; the statement that most gains are above 0 and
    below the bound; and the rows behind them."""
    gains: list[tuple[pd.Series, pd.Series]] = []
    used = []
    for case in list_gains():
        try:
            pair = [{**DEFAULTS, **case, "method": case["method"] + end} for end in ("_msr", "")]
            gains.append(tuple(map(source.value, pair)))
            used += [source.rows(source.metrics, measurement) for measurement in pair]
        except Missing:
            continue
    if not gains:
        raise Missing("no method was run with and without MSR")
    parts = [Group([compare(*pair), compare(*pair, sign=-1, margin=-bound / 100)]) for pair in gains]
    median = pd.Series([100 * float(compare(*pair).estimate) for pair in gains]).median()
    return float(median), Group(parts, len(parts) // 2 + 1), pd.concat(used)


def count_seeds(statement: Group) -> int:
    """Of the contrast that has the fewest."""
    return min(count_seeds(part) if isinstance(part, Group) else part.seeds for part in statement.parts)


def judge(statement: Group) -> dict[str, str]:
    """As printed where the sentence is shown to be true of our runs, not as printed where it is shown to be false."""
    if count_seeds(statement) < SEEDS:
        return {"verdict": NumberVerdict.NOT_KNOWN, "would_decide": f"at least {SEEDS} seeds"}
    known = {HOLDS: NumberVerdict.AS_PRINTED, FAILS: NumberVerdict.NOT_AS_PRINTED}
    return {"verdict": known.get(int(decide(statement)), NumberVerdict.NOT_KNOWN)}


def measure(number: Any, source: Source) -> dict[str, Any]:
    """Our number, and its verdict where data and settings are the paper's. Raises Missing for what was not run."""
    if number.metric == "n_classes":
        from despur.datasets.coco30 import CATEGORIES

        loaded = {"ours": float(len(CATEGORIES)), "data": "coco30", "seeds": 0}
        return loaded | {"verdict": NumberVerdict.NOT_COMPARED, "reason": "of the loader alone"}
    if number.metric in SWEPT:
        value, statement, rows = find_level(number.metric, number.mean, source, number.dataset)
    else:
        value, statement, rows = find_gain(number.mean, source)
    if not statement.parts:
        raise Missing(f"the printed level, {number.mean:g}, was not run")
    found = {"ours": value, "data": ", ".join(rows["data"].unique()), "seeds": count_seeds(statement)}
    used = rows[["data", "substitute"]].drop_duplicates().itertuples(index=False, name=None)
    if refused := find_refusal(number.setting, used, rows):
        return found | refused
    return found | {"difference": value - number.mean} | judge(statement)


def compare_prose(artifact_runs: Sequence[ArtifactRun]) -> pd.DataFrame:
    """A row for each printed number, with the reason where there is none of ours."""
    source, rows = Source(load_runs(artifact_runs), load_runs(artifact_runs, load_resamples)), []
    for number in pd.read_csv(REPORTED / "prose.csv").itertuples():
        base = {
            "paper_dataset": number.dataset,
            "method": number.method,
            "setting": number.setting,
            "metric": number.metric,
            "reported": number.mean,
            "reported_std": number.std,
            "note": number.note,
            "seeds": 0,
            "verdict": NumberVerdict.NOT_RUN,
        }
        try:
            rows.append(base | {"reason": ""} | measure(number, source))
        except Missing as reason:
            rows.append(base | {"reason": str(reason)})
    return pd.DataFrame(rows, columns=COLUMNS)
