"""How the settings of a run were found that its paper selects: from the whole of the paper's grid, by a screening, as
the paper prints them, or not at all."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from despur.evidence.runs.changed_settings import KEPT, list_points, list_stated, list_values
from despur.orchestration.experiments import ArtifactRun, load_experiments
from despur.specs.names import parse
from despur.specs.paths import locate_result
from despur.specs.resolution import resolve
from despur.specs.settings import spell


class Grid(NamedTuple):
    """The settings, ``temperature;weight``, that the paper folder varies to select among them: ``tuned``, of which
    these runs have every value, or all that a screening left over (``screened``: ``temperature, screened with one
    seed``); ``untuned``, of which they have not and the paper does not print the point. ``other_point``: that of the
    paper, where it prints one and the run is at another."""

    tuned: str
    untuned: str
    other_point: str
    screened: str


@cache
def describe_grid(artifact_run: ArtifactRun, data: str, method: str) -> Grid:
    """How the settings of a run were found, which the paper selects."""
    if not artifact_run.paper or artifact_run.substitute:
        return Grid("", "", "", "")
    measured_points = list_measured_points(artifact_run)
    here = collect_values(measured_points)
    grid = {
        key: values
        for key, values in collect_values(_list_points(artifact_run, list_stated(artifact_run))).items()
        if len(values) > 1
    }
    settings = list_run_settings(artifact_run, data, method)
    screened = find_screening(artifact_run, settings, measured_points, grid)
    whole = {key for key, values in grid.items() if values <= here.get(key, set())} | screened.keys()
    untuned = {*grid} - whole - KEPT
    printed = find_printed_point(artifact_run, settings)
    is_at_point = has_values(settings, printed)
    return Grid(
        tuned=";".join(sorted(whole)),
        untuned=";".join(sorted(untuned - {*printed} if is_at_point else untuned)),
        other_point="" if is_at_point else ";".join(f"{key}={value}" for key, value in printed.items()),
        screened=";".join(f"{key}, {how}" for key, how in sorted(screened.items())),
    )


def list_run_settings(artifact_run: ArtifactRun, data: str, method: str) -> dict[str, str]:
    """Every setting of a run and of its data."""
    (point,) = resolve("datasets", data).points
    stage = locate_result(artifact_run.folders[0]).stage
    return {**list_values(point), **list_points(stage, method, parse(data)[0])[0]}


def find_printed_point(artifact_run: ArtifactRun, settings: Mapping[str, str]) -> dict[str, Any]:
    """The point of its grid that the paper prints for a run with these settings (``printed_points`` of
    experiments.yaml). Empty where it prints none."""
    rules = load_experiments(artifact_run.paper).get("printed_points", [])
    return next((rule["point"] for rule in _list_rules(artifact_run, rules, settings)), {})


def find_screening(
    artifact_run: ArtifactRun,
    settings: Mapping[str, str],
    measured_points: Sequence[Mapping[str, str]],
    grid: Collection[str],
) -> dict[str, str]:
    """How each setting of the grid was screened, if a run with these settings is among those that a screening left over
    (``screened`` of experiments.yaml), and all of them are measured."""
    artifact = load_experiments(artifact_run.paper)["artifacts"].get(artifact_run.artifact, {})
    for rule in _list_rules(artifact_run, artifact.get("screened", []), settings):
        left_over = [{key: point[key] for key in grid} for point in _list_points(artifact_run, rule["runs"])]
        are_measured = all(any(has_values(point, wanted) for point in measured_points) for wanted in left_over)
        if are_measured and any(has_values(settings, wanted) for wanted in left_over):
            return dict.fromkeys(grid, f"screened {rule['how']}")
    return {}


def _list_rules(
    artifact_run: ArtifactRun, rules: list[dict[str, Any]], settings: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Those of experiments.yaml's rules that are about a run of this method at these settings."""
    return [rule for rule in rules if rule["method"] == artifact_run.paper_method and has_values(settings, rule["at"])]


def has_values(settings: Mapping[str, str], wanted: Mapping[str, Any]) -> bool:
    """Whether settings have these values, however they are spelled."""
    return all(settings.get(key) == spell(value) for key, value in wanted.items())


def list_measured_points(artifact_run: ArtifactRun) -> list[dict[str, str]]:
    """Every setting of each point of the runs that were measured; of runs that are not looked for elsewhere, of all."""
    names = {key.split("/")[1] for key, _ in artifact_run.sources}
    return _list_points(artifact_run, sorted(names) or {folder.split("/")[-2] for folder in artifact_run.folders})


def _list_points(artifact_run: ArtifactRun, specifications: Iterable[str]) -> list[dict[str, str]]:
    """Every setting of each point of specifications of the run's stage, on its data."""
    stage, base = locate_result(artifact_run.folders[0]).stage, parse(artifact_run.dataset)[0]
    return [point for text in specifications for point in list_points(stage, text, base)]


def collect_values(points: list[dict[str, str]]) -> dict[str, set[str]]:
    """Every value of each setting."""
    values: dict[str, set[str]] = {}
    for point in points:
        for key, value in point.items():
            values.setdefault(key, set()).add(value)
    return values
