"""Settings that were found on printed numbers, as the page *What we found* shows them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from despur.evidence.ledger.standing import JudgedRecord
from despur.evidence.measurements import Measurement
from despur.evidence.numbers.choices import is_trial
from despur.evidence.numbers.counts import COMPARED
from despur.evidence.numbers.printed import parse_settings
from despur.evidence.numbers.settings import is_at, is_same_number
from despur.evidence.verdicts import NumberVerdict
from despur.orchestration.experiments import load_experiments
from despur.reporting.pages.markdown import escape_star
from despur.specs.names import parse


def describe_fitted(paper: str, measurements: list[Measurement], records: list[JudgedRecord]) -> Iterator[str]:
    """The settings that were found on printed numbers, what they give there, how other numbers of the same runs
    compare, and what these runs took. ``records``: those of the paper that count."""
    rules: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for rule in load_experiments(paper).get("fitted", []):
        methods = f" of {', '.join(f'`{method}`' for method in rule['methods'])}" if "methods" in rule else ""
        rules.setdefault((methods, rule["found_on"]), []).append(rule)
    for (methods, found_on), same in rules.items():
        of_fitted = [
            measurement
            for measurement in measurements
            if any(f", {rule['setting']} ({found_on})" in f", {measurement.choices}" for rule in same)
        ]
        judged = Counter(measurement.verdict for measurement in of_fitted if measurement.verdict in COMPARED)
        others = ", ".join(f"{judged[verdict]} {verdict}" for verdict in COMPARED if judged[verdict])
        there = [f"{measurement.ours:.4g}" for measurement in of_fitted if was_fitted(measurement, same)]
        ours = f"; ours {', '.join(there)}" if there else ""
        runs = [judged for judged in records if any(is_run_of(rule, paper, judged.key) for rule in same)]
        hours = sum(judged.record.content["run"]["seconds"] for judged in runs) / 3600
        full = sum(not is_trial(judged.key.split("/")[1]) for judged in runs)
        used = f"used by {len(runs)} runs ({full} of full length) of {hours:.1f} hours" if runs else "not run yet"
        settings = " and ".join(f"`{rule['setting']}`" for rule in same)
        yield (
            f"- **Fitted to print**: {settings}{methods} ({escape_star(found_on)}{ours}), {used}. Other numbers of "
            f"such runs: {others or 'none compared'}."
        )


def is_run_of(rule: Mapping[str, Any], paper: str, key: str) -> bool:
    """Whether a recorded run is one of those that a rule of ``fitted`` is about."""
    data, method, _ = key.split("/")
    name, settings = parse(method)
    specifications = [parse(load_experiments(paper)["methods"][printed]) for printed in rule.get("methods", [])]
    is_method = any(name == base and has.items() <= settings.items() for base, has in specifications)
    ((setting, value),) = parse_settings(rule["setting"]).items()
    return (is_method or not specifications) and is_at(data, method, setting, value)


def was_fitted(measurement: Measurement, rules: Iterable[Mapping[str, Any]]) -> bool:
    """Whether one of these rules was found on a number."""
    found_on = [wanted for rule in rules for wanted in rule["numbers"]]
    return measurement.verdict == NumberVerdict.FITTED and any(
        is_same_number(wanted, measurement) for wanted in found_on
    )
