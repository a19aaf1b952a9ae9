"""Every number of a paper's sentences beside ours: the table, and its rows."""

from dataclasses import replace
from typing import Any

import pandas as pd

from despur.evidence.claims.claim_format import read_levels
from despur.evidence.claims.evaluate_formulas import collect_rows
from despur.evidence.claims.judging import keep_used
from despur.evidence.claims.measured_values import AmbiguousValue, MeasuredValues
from despur.evidence.numbers.printed import explain_not_compared, list_changes
from despur.evidence.numbers.rows import describe_printed, name_runs, name_sources, refuse_settings
from despur.evidence.numbers.settings import find_origin
from despur.evidence.numbers.tables import NUMBER_COLUMNS, compare, format_digits, format_table
from despur.evidence.numbers.verdicts import last_digit
from despur.evidence.sentences.sentence_format import Sentence, read_sentence
from despur.evidence.sentences.values import describe_beside, take_value
from despur.evidence.statistics.formulas import Formulas
from despur.evidence.statistics.levels import Missing
from despur.evidence.verdicts import NumberVerdict, Settings
from despur.orchestration.experiments import load_experiments
from despur.orchestration.paper_folders import find_paper
from despur.specs.settings import SettingError


def judge_sentences(paper: str, metrics: pd.DataFrame, resamples: pd.DataFrame | None = None) -> pd.DataFrame:
    """A row for each number and each data set that is used for its own. ``metrics``, ``resamples``: what was measured,
    under the paper's names."""
    about, file = load_experiments(paper)["sentences"], find_paper(paper) / "reported/prose.csv"
    printed = pd.read_csv(file)
    printed = printed.fillna(dict.fromkeys(["method", "setting", "formula", "note"], ""))
    rounding = {metric: last_digit(part["mean"]) for metric, part in printed.groupby("metric")}
    plain = printed["formula"] == ""
    compared = compare(printed[plain], metrics, about["seeds"]).to_dict("records")
    levels = read_levels(find_paper(paper) / "claims.yaml")
    rows = [
        row if row["seeds"] else row | {"reason": "method, setting or data set not in this run"} for row in compared
    ]
    for number in printed[~plain].itertuples():
        try:
            sentence = read_sentence(number, about, rounding[number.metric], levels)
            rows += judge_sentence(sentence, metrics, pd.DataFrame() if resamples is None else resamples)
        except SettingError as error:
            raise SettingError(f"{file}: {number.metric} of {number.dataset}: {error}") from error
    units = dict(zip(printed["metric"], printed["unit"], strict=True))
    table = pd.DataFrame(rows, columns=NUMBER_COLUMNS)
    return table.assign(unit=table["metric"].map(units))


def format_sentences(table: pd.DataFrame) -> pd.DataFrame:
    """The table of :func:`judge_sentences` as people read it."""
    display = format_table(table, format_number)
    display["metric"] += " (" + table["unit"] + ")"
    return display


def format_number(mean: float, std: float) -> str:
    """A number of any size; a dash for nothing."""
    if pd.isna(mean):
        return "–"
    return format_digits(mean, 4) + ("" if pd.isna(std) else f" ({format_digits(std, 2)})")


def judge_sentence(sentence: Sentence, metrics: pd.DataFrame, resamples: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of one number."""
    number, words = sentence.number, sentence.words
    base = describe_printed(number, sentence.seeds)
    if "claim" in words:
        return [base | {"reason": f"a range, judged as a claim: {words['claim']}"}]
    rows = []
    for used in list_used_datasets(metrics, sentence.datasets):
        measured = MeasuredValues(*(keep_used(table, used) for table in (metrics, resamples)))
        head = base | {"data": ", ".join(dict.fromkeys(used.values()))}
        for method, reason in words.get("instead", {number.method: ""}).items():
            of_method = replace(sentence, shared={**sentence.shared, "method": method})
            row = head | measure_sentence(of_method, measured)
            rows.append(row | {"reason": "; ".join(filter(None, [reason, row.get("reason", "")]))})
    return rows or [base | {"reason": f"no data is used for {number.dataset}"}]


def list_used_datasets(metrics: pd.DataFrame, datasets: list[str]) -> list[dict[str, str]]:
    """The data set that is used for each of the paper's. For one data set: every choice. For several: the first of
    each that has any."""
    used_datasets = metrics[metrics["paper_dataset"].isin(datasets)].drop_duplicates(["paper_dataset", "used_dataset"])
    pairs = list(zip(used_datasets["paper_dataset"], used_datasets["used_dataset"], strict=True))
    if len(datasets) == 1:
        return [{name: used} for name, used in pairs]
    return [dict(reversed(pairs))] if pairs else []


def measure_sentence(sentence: Sentence, measured: MeasuredValues) -> dict[str, Any]:
    """Our number, its verdict, and the reason where there is none."""
    try:
        beside = describe_beside(sentence, measured)
        if not sentence.formula and {*sentence.words} == {"beside"}:
            on_substitute = measured.metrics["substitute"].any()
            verdict = NumberVerdict.SUBSTITUTE if on_substitute else NumberVerdict.NOT_COMPARED
            return {"verdict": verdict, "reason": beside}
        formulas = sentence.list_formulas(measured)
        taken = take_value(sentence, formulas, measured)
    except (Missing, AmbiguousValue) as missing:
        return {"reason": str(missing)}
    here = [name for name in sentence.datasets if any(name in datasets for datasets, _ in formulas)]
    used = pd.concat([collect_rows(Formulas([part]), measured) for _, part in formulas])
    origin, refused_settings = describe_settings(sentence.number, used)
    refused = refuse_sentence(sentence, used, measured) or refused_settings
    judged = refused or refuse_part(sentence, here, formulas, measured) or taken.judge(sentence, measured)
    several = len(sentence.datasets) > 1
    over = f"over {', '.join(here)}" if several else ""
    data = {"data": ", ".join(used["used_dataset"].unique())} if several else {}
    reason = "; ".join(filter(None, [judged.get("reason", ""), over, beside]))
    return taken.describe() | origin | judged | data | {"reason": reason}


def describe_settings(number: Any, used: pd.DataFrame) -> tuple[dict[str, str], dict[str, str]]:
    """The runs that a number is computed from, and the kind of their settings: of several kinds, the one that says
    least for the number. Then verdict and reason, where such settings are not compared. Nothing of substitutes, and of
    numbers that are counted from data."""
    columns = ["paper", "paper_method", "data", "method"]
    used = used.reindex(columns=[*used.columns, *{*columns} - {*used.columns}])
    used = used[~used["substitute"].astype(bool)].dropna(subset=columns)
    if not len(used):
        return {}, {}
    runs = used.groupby(columns)
    origins = [find_origin(number._replace(method=printed_method), rows) for (_, printed_method, *_), rows in runs]
    refusals = [refuse_settings(origin) for origin in origins if origin.refused]
    described = {
        "settings": max((origin.kind for origin in origins), key=list(Settings).index),
        "choices": ", ".join(dict.fromkeys(name for origin in origins for name in origin.names)),
        "runs": name_runs(used),
        "measured": name_sources(used),
    }
    return described, refusals[0] if refusals else {}


def refuse_sentence(sentence: Sentence, used: pd.DataFrame, measured: MeasuredValues) -> dict[str, str]:
    """Verdict and reason of a number that is not compared: of these rows of the metrics, or whatever they are."""
    runs = used[["paper_dataset", "paper_method", "data", "substitute"]].drop_duplicates()
    of_runs = list_changes(measured.metrics.merge(runs)).values()
    changed = {key: value for changes in of_runs for key, value in changes.items()}
    for run in runs.itertuples():
        if refused := explain_not_compared(sentence.number.setting, run.data, bool(run.substitute), changed):
            return refused
    reason = sentence.words.get("not_compared")
    return {"verdict": NumberVerdict.NOT_COMPARED, "reason": reason} if reason else {}


def refuse_part(sentence: Sentence, here: list[str], formulas: list[Any], measured: MeasuredValues) -> dict[str, str]:
    """The same of a number of which a part was run, or which is the best of several values that have noise."""
    reason = "" if len(here) == len(sentence.datasets) else "not all of its data sets were run"
    if not reason and (missing := sentence.list_missing(measured)):
        reason = f"not all of its levels: {missing[0]}"
    if not reason and len(formulas) > 1 and not {"at", "counted"} & {*sentence.words}:
        reason = f"the {sentence.words['take']} of several values: its error rate is not known"
    return {"verdict": NumberVerdict.NOT_COMPARED, "reason": reason} if reason else {}
