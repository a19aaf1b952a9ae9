"""Where the settings of a measurement come from: stated, selected, chosen by us, or fitted to printed numbers.

What the paper folder says (experiments.yaml): ``choices`` and ``open``, settings that the paper leaves open;
``printed_points``, where the paper prints which point of its grid a number is of; ``fitted``, settings that were found
on printed numbers. The rest follows from the runs: whether they have the whole of the paper's grid."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import pandas as pd

from despur.evidence.numbers.printed import is_same, parse_settings
from despur.evidence.runs.changed_settings import list_values
from despur.evidence.verdicts import Settings
from despur.orchestration.experiments import load_experiments
from despur.specs.names import parse
from despur.specs.resolution import resolve

ALL_METHODS = "methods"  # in the place of a method: all methods


class Origin(NamedTuple):
    """``kind`` of settings; ``names`` of what is chosen or fitted; ``refused``: why the number is not compared."""

    kind: Settings
    names: list[str]
    refused: str = ""

    def describe(self) -> dict[str, str]:
        """Its columns of a row."""
        return {"settings": self.kind, "choices": ", ".join(self.names)}


def find_origin(number: Any, rows: pd.DataFrame) -> Origin:
    """The origin of the settings of the runs (rows of metrics, of one method on one data set) that stand beside a
    printed number. Of rows that do not say of which paper they are: stated."""
    first = rows.iloc[0]
    paper = first.get("paper")
    if not isinstance(paper, str) or not paper:
        return Origin(Settings.STATED, [])
    experiments, printed_settings = load_experiments(paper), parse_settings(number.setting)
    untuned, tuned = split_names(first.get("untuned")) - {*printed_settings}, split_names(first.get("tuned"))
    if untuned and split_names(other := first.get("other_point")):
        return Origin(Settings.CHOSEN, sorted(untuned), f"the paper prints {other} for it")
    fitted = list_fitted_rules(paper, number.method, str(first["data"]), first["method"])
    names = [f"{rule['setting']} ({rule['found_on']})" for rule in fitted]
    if was_found_on(fitted, number):
        return Origin(Settings.FITTED, names, f"found on it: {', '.join(rule['setting'] for rule in fitted)}")
    named = [name for name in list_open(experiments, number.method, first) if name not in tuned]
    if selected := list_unselected(paper, first.get("artifact", ""), first.get("untuned"), number.setting):
        reason = f"the paper selects {', '.join(sorted(selected))} from a grid and prints no value"
        return Origin(Settings.CHOSEN, names, reason)
    chosen = list(dict.fromkeys([*sorted(untuned), *named]))
    names += [*chosen, *sorted(split_names(first.get("screened")))]
    if fitted:
        return Origin(Settings.FITTED_ELSEWHERE, names)
    if chosen:
        return Origin(Settings.CHOSEN, names)
    return Origin(Settings.SELECTED if tuned else Settings.STATED, names)


def list_unselected(paper: str, artifact: str, untuned: Any, setting: Any) -> set[str]:
    """Of the settings that nothing selects among the measured runs of an artifact (``untuned``), those that the paper
    selects from a grid there and does not print with the number (``setting``)."""
    names = split_names(untuned) - {*parse_settings(setting)}
    # what runs in the grid's place; without it each point is shown, or the whole grid always runs
    selects = names and "selected" in load_experiments(paper)["artifacts"].get(artifact, {})
    return names if selects else set()


def split_names(text: Any) -> set[str]:
    """``a;b`` as a set; nothing as none."""
    return {*filter(None, text.split(";"))} if isinstance(text, str) else set()


def is_run_of(rule: Mapping[str, Any], data: str, method: str) -> bool:
    """Whether a run has the settings of a rule of ``fitted``, perhaps of a component or of its data."""
    (point,) = resolve("methods", method, parse(data)[0]).points
    settings = list_values(resolve("datasets", data).points[0]) | list_values(point)
    wanted = parse_settings(rule["setting"]).items()
    return all(key in settings and is_same(settings[key], value) for key, value in wanted)


def list_fitted_rules(paper: str, printed_method: str, data: str, method: str) -> list[Mapping[str, Any]]:
    """The rules of ``fitted`` that are about a run of a printed method."""
    return [
        rule
        for rule in load_experiments(paper).get("fitted", [])
        if printed_method in rule.get("methods", [printed_method]) and is_run_of(rule, data, method)
    ]


def was_found_on(rules: Iterable[Mapping[str, Any]], number: Any) -> bool:
    """Whether one of these rules of ``fitted`` was found on a printed number."""
    return any(is_same_number(wanted, number) for rule in rules for wanted in rule["numbers"])


def list_fitted(experiments: Mapping[str, Any], changes: Mapping[str, Mapping[str, str]]) -> list[str]:
    """On which printed numbers these settings, by data set or method, were found."""
    found_on = []
    for rule in experiments.get("fitted", []):
        of_methods = {parse(experiments["methods"][method])[0] for method in rule.get("methods", [])}
        names = {ALL_METHODS, *of_methods} if of_methods else {*changes}
        items = {item for name in names & {*changes} for item in changes[name].items()}
        found_on += [rule["found_on"]] if {*parse_settings(rule["setting"]).items()} <= items else []
    return list(dict.fromkeys(found_on))


def is_same_number(wanted: Mapping[str, Any], number: Any) -> bool:
    """Whether a printed number has these columns and printed settings."""
    printed, dataset = parse_settings(number.setting), getattr(number, "paper_dataset", getattr(number, "dataset", ""))
    values = {key: getattr(number, key, printed.get(key, "")) for key in wanted} | {"dataset": dataset}
    return all(is_same(values[key], value) for key, value in wanted.items())


def list_open(experiments: Mapping[str, Any], method: str, row: pd.Series) -> list[str]:
    """The settings that the paper leaves open for a run: of its choices, and of ``open``, by method or data set."""
    names = (ALL_METHODS, method, parse(str(row["data"]))[0])
    users = {*names, parse(str(row["method"]))[0]}
    parts = [parse(part) for choice in experiments.get("choices", {}) for part in choice.split("/")]
    chosen = [key for base, settings in parts if base in users for key in settings]
    left_open = [key for name in names for key in experiments.get("open", {}).get(name, [])]
    return list(dict.fromkeys([*chosen, *left_open]))
