"""Settings that were found on printed numbers, as the page *What we found* shows them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any

from despur.evidence.ledger.standing import JudgedRecord
from despur.evidence.numbers.choices import is_trial
from despur.evidence.numbers.counts import COMPARED
from despur.evidence.numbers.settings import is_run_of, was_found_on
from despur.evidence.verdicts import NumberVerdict
from despur.orchestration.experiments import load_experiments
from despur.orchestration.paper_folders import find_paper
from despur.reporting.markdown import escape_star, to_markdown
from despur.reporting.pages.paper_findings import PaperFindings
from despur.specs.names import parse


def describe_choices(findings: list[PaperFindings]) -> list[str]:
    """A table of the settings that were found on printed numbers; below it what papers' files say of choices."""
    rows = [row for found in findings for row in tabulate_fitted(found)]
    said = [f"- `{found.paper}`: {text}" for found in findings for text in describe_own_findings(found)]
    titles = ["choice", "found on", "ours there", "runs (hours)", "other numbers of these runs"]
    said_first = "Settings that were chosen so that a printed number is met; that number is then not compared:"
    table = [said_first, to_markdown(titles, rows)]
    return [*(table if rows else []), *(["\n".join(said)] if said else [])]


def describe_own_findings(found: PaperFindings) -> Iterator[str]:
    """What a paper's own ``findings.py`` says of its records."""
    if (find_paper(found.paper) / "findings.py").exists():
        yield from import_module(f"despur.papers.{found.paper}.findings").describe_findings(found.records)


def tabulate_fitted(found: PaperFindings) -> Iterator[list[str]]:
    """Of each choice that was found on printed numbers: the settings, on which numbers, what they give there, how many
    runs have them and what these took, and how other numbers of these runs compare."""
    rules: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for rule in load_experiments(found.paper).get("fitted", []):
        methods = f" of {', '.join(f'`{method}`' for method in rule['methods'])}" if "methods" in rule else ""
        rules.setdefault((methods, rule["found_on"]), []).append(rule)
    for (methods, found_on), same in rules.items():
        fitted = [
            measurement
            for measurement in found.measurements
            if any(f", {rule['setting']} ({found_on})" in f", {measurement.choices}" for rule in same)
        ]
        counts = Counter(measurement.verdict for measurement in fitted)
        there = [
            f"{measurement.ours:.4g}"
            for measurement in fitted
            if measurement.verdict == NumberVerdict.FITTED and was_found_on(same, measurement)
        ]
        runs = select_fitted_runs(found.paper, same, found.records)
        trials = sum(is_trial(judged.key.split("/")[1]) for judged in runs)
        settings = " and ".join(f"`{rule['setting']}`" for rule in same)
        hours = sum(judged.record.content["run"]["seconds"] for judged in runs) / 3600
        shorter = f", {trials} of them shorter" if trials else ""
        ran = f"{len(runs)} ({hours:.1f}){shorter}" if runs else "not run yet"
        yield [
            f"`{found.paper}`: {settings}{methods}",
            escape_star(found_on),
            ", ".join(there) or "–",
            ran,
            ", ".join(f"{counts[verdict]} {verdict}" for verdict in COMPARED if counts[verdict]) or "none compared",
        ]


def select_fitted_runs(
    paper: str, rules: Iterable[Mapping[str, Any]], records: Iterable[JudgedRecord]
) -> list[JudgedRecord]:
    """The records of runs that one of these rules is about."""
    selected = []
    for judged in records:
        data, method, _ = judged.key.split("/")
        if any(is_of_methods(rule, paper, method) and is_run_of(rule, data, method) for rule in rules):
            selected.append(judged)
    return selected


def is_of_methods(rule: Mapping[str, Any], paper: str, method: str) -> bool:
    """Whether a rule of ``fitted`` is about a method, which no printed name tells: one with the settings of a method of
    the rule, if it names any."""
    name, settings = parse(method)
    printed = [parse(load_experiments(paper)["methods"][printed_name]) for printed_name in rule.get("methods", [])]
    return not printed or any(name == base and own.items() <= settings.items() for base, own in printed)
