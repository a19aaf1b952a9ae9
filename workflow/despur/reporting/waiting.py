"""The printed numbers of tables, and the assertions (claims, numbers of sentences), that wait for a run: of the paper's
own data, at its settings."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import pandas as pd

from despur.evidence.claims.read_formulas import list_values
from despur.evidence.numbers.printed import at_settings, explain_not_compared, is_same, parse_settings
from despur.evidence.numbers.settings import list_fitted_rules, list_unselected, split_names, was_found_on
from despur.evidence.runs.changed_settings import describe_changes, name_data
from despur.evidence.runs.grids import MeasuredMethods, describe_grid, name_family
from despur.evidence.runs.sources import Sources, list_runs
from despur.evidence.statistics.contrasts import SEEDS
from despur.evidence.statistics.levels import MeasurementKeys
from despur.orchestration.experiments import ArtifactRun, load_experiments
from despur.orchestration.paper_folders import find_paper
from despur.reporting.assertions import ANY, COMPARED_UNITS, Assertion
from despur.specs.names import parse
from despur.specs.paths import identify_run, locate_result
from despur.specs.resolution import change_data, resolve
from despur.specs.settings import Settings, spell

Point = dict[Any, Any]  # a row of describe_points


class ShownRun(NamedTuple):
    """A run on one point of the data, and the artifact that shows it."""

    artifact: str
    run: ArtifactRun


def describe_points(
    artifact_run: ArtifactRun, sources: Sources, now: MeasuredMethods, then: MeasuredMethods
) -> pd.DataFrame:
    """The points of a run with their settings, as metrics.csv names them, under the printed names of their methods;
    whether each has the seeds that a comparison needs now (``compared``), or with the open runs (``settled``).
    ``untuned``: the settings that the paper selects from a grid and that nothing selects among the methods that are
    measured ``now``, or ``then``. ``partial``: those of which not every value is. ``changes``: from the paper's."""
    result, rows = artifact_run.result, []
    planned = {run.key for folder in artifact_run.folders for run in locate_result(folder).runs()}
    for runs in list_runs(artifact_run, SEEDS).values():
        keys, enough = {run.key for run in runs}, len(runs) >= SEEDS
        compared, settled = (enough and keys <= measured for measured in ({*sources.where}, {*sources.where} | planned))
        data, method = name_data(artifact_run, runs[0].data.name), runs[0].spec.name
        methods = (now if compared else then).get(name_family(artifact_run, data), frozenset())
        grid = describe_grid(artifact_run, data, method, methods)
        about = {"untuned": grid.untuned, "partial": grid.partial}
        about |= {"paper_method": artifact_run.paper_method, "changes": describe_changes(artifact_run, data, method)}
        state = {"data": data, "compared": compared, "settled": settled and not compared}
        rows.append(identify_run(result, runs[0]) | state | about)
    points = pd.DataFrame(rows)
    if not (find_paper(artifact_run.paper) / "method_names.py").exists():
        return points
    return import_module(f"despur.papers.{artifact_run.paper}.method_names").add_names(points)


def find_waiting_numbers(printed: pd.DataFrame, points: Mapping[ShownRun, pd.DataFrame]) -> dict[ShownRun, set[int]]:
    """The positions of the ``printed`` numbers of tables that wait for each run: nothing is compared with them yet.
    ``points``: of each run what :func:`describe_points` says."""
    numbers: dict[tuple[str, str, str], list[Any]] = {}
    for number in printed[printed["unit"].isin(COMPARED_UNITS) & printed["formula"].isna()].itertuples():
        numbers.setdefault((number.artifact, number.paper_dataset, number.method), []).append(number)
    compared, settled = (
        {shown: {*find_numbers(numbers, shown, table, state)} for shown, table in points.items()}
        for state in ("compared", "settled")
    )
    done = set().union(*compared.values())
    return {shown: mine - done for shown, mine in settled.items()}


def find_numbers(
    numbers: Mapping[tuple[str, str, str], list[Any]], shown: ShownRun, points: pd.DataFrame, state: str
) -> Iterator[int]:
    """The positions of the printed numbers of a table that are of a point in this ``state``: ``compared``, or
    ``settled`` with the open runs."""
    artifact, run = shown
    for method, points_of_method in points[points[state]].groupby("paper_method"):
        for number in numbers.get((artifact, run.paper_dataset, str(method)), ()):
            if not reads_data(parse_settings(number.setting), run):
                continue
            mine = at_settings(points_of_method, number.setting)
            if any(
                is_comparable(number, run, *point)
                for point in zip(mine["data"], mine["method"], mine["changes"], mine["untuned"], strict=True)
            ):
                yield int(number.Index)


def is_comparable(number: Any, artifact_run: ArtifactRun, data: str, method: str, changes: str, untuned: str) -> bool:
    """Whether a point has the data and settings of a printed number, selected as in the paper and not found on it."""
    grid = artifact_run.paper, artifact_run.artifact
    return not (
        explain_not_compared(number.setting, data, artifact_run.substitute, parse_settings(changes))
        or list_unselected(*grid, untuned, number.setting)
        or was_found_on(list_fitted_rules(artifact_run.paper, number.method, data, method), number)
    )


def find_waiting(assertions: Iterable[Assertion], points: Mapping[ShownRun, list[Point]]) -> dict[ShownRun, set[Any]]:
    """The keys of the assertions that wait for each run: it measures a term of theirs that was measured nowhere yet.
    ``points``: of each run the rows of :func:`describe_points`."""
    own_data = {shown: rows for shown, rows in points.items() if not shown.run.substitute}
    waiting: dict[ShownRun, set[Any]] = {shown: set() for shown in points}
    for assertion in assertions:
        states = {
            state: {shown: {*list_read_terms(assertion, shown, rows, state)} for shown, rows in own_data.items()}
            for state in ("compared", "settled")
        }
        measured = set().union(*states["compared"].values())
        for shown, terms in states["settled"].items():
            if terms - measured:
                waiting[shown].add(assertion.key)
    return waiting


def list_read_terms(assertion: Assertion, shown: ShownRun, points: list[Point], state: str) -> Iterator[int]:
    """The positions of the terms that are of a point in this ``state``, at the paper's settings, selected as in the
    paper unless the assertion names them."""
    terms_of_run = [
        (position, term)
        for position, term in enumerate(assertion.terms)
        if shown.run.artifact in (assertion.artifacts or (term.get("artifact", shown.run.artifact),))
        and shown.run.paper_dataset in list_values(term["dataset"])
    ]
    if not terms_of_run:
        return
    named = {key for term in assertion.terms for key in term}
    column = "partial" if assertion.grid else "untuned"
    mine = [point for point in points if point[state] and not point["changes"] and split_names(point[column]) <= named]
    for position, term in terms_of_run:
        if mine and reads_data(term, shown.run) and any(reads_point(term, point) for point in mine):
            yield position


def reads_data(settings: Mapping[str, Any], artifact_run: ArtifactRun) -> bool:
    """Whether the data of a run has these settings, ``data.samples`` or, where its method has none of this name,
    ``samples``. Where they do not name one that its artifact varies: the default."""
    data, defaults, of_method = read_settings(
        artifact_run.paper, artifact_run.artifact, artifact_run.dataset, artifact_run.folders[0]
    )
    named = {key.removeprefix("data."): value for key, value in settings.items() if key not in of_method}
    return all(has_value(value, named.get(key, defaults.get(key, ANY))) for key, value in data.items())


@cache
def read_settings(paper: str, artifact: str, dataset: str, folder: str) -> tuple[Settings, Settings, Settings]:
    """The settings of a data set; the defaults of those that the artifact varies; the settings of the method of a
    run."""
    declared = load_experiments(paper)["artifacts"][artifact].get("data", "")
    (point,) = resolve("datasets", dataset).points
    (default,) = resolve("datasets", point.base_name).points
    varied = parse(change_data(point.base_name, declared))[1]
    defaults = {key: value for key, value in default.settings.items() if key in varied}
    return point.settings, defaults, locate_result(folder).sweep.points[0].settings


def reads_point(term: MeasurementKeys, point: Point) -> bool:
    """Whether a point is of the method and settings of a term; keys that are no settings of it say nothing."""
    if point["paper_method"] not in list_values(term["method"]):
        return False
    (spec,) = resolve("methods", point["method"], parse(point["data"])[0]).points
    settings = {**spec.settings, **point}
    wanted = {key: value for key, value in term.items() if key in settings and key not in ("method", "dataset")}
    return all(has_value(settings[key], value) for key, value in wanted.items())


def has_value(value: Any, wanted: Any) -> bool:
    """Whether a value is the wanted one, or one of them, however they are spelled."""
    return wanted in (ANY, None) or any(is_same(spell(value), each) for each in list_values(wanted))
