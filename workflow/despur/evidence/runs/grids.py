"""How the settings of a run were found that its paper selects: from the whole of the paper's grid, by a screening, as
the paper prints them, or not at all."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

from despur.evidence.runs.changed_settings import KEPT, list_points, list_stated, list_values, name_data
from despur.orchestration.experiments import ArtifactRun, load_experiments
from despur.specs.names import parse
from despur.specs.paths import locate_result
from despur.specs.resolution import resolve
from despur.specs.settings import spell


class Grid(NamedTuple):
    """The settings, ``temperature;weight``, that the paper folder varies to select among them: ``tuned``, of which
    these runs have every value, or all runs that a screening left over (``screened``: ``temperature, screened with one
    seed``); ``untuned``, of which they have not and the paper does not print the point; ``partial``, of which they have
    not every value, whatever else is known. ``other_point``: that of the paper, where it prints one and the run is at
    another."""

    tuned: str
    untuned: str
    partial: str
    other_point: str
    screened: str


MeasuredMethods = dict[tuple[str, ...], frozenset[str]]


def find_measured_methods(artifact_runs: Iterable[ArtifactRun]) -> MeasuredMethods:
    """The methods among which one is selected (:func:`name_family`), on the paper's data: those with the most seeds."""
    seeds: dict[tuple[str, ...], dict[str, set[str]]] = {}
    for artifact_run in (run for run in artifact_runs if run.paper and not run.substitute):
        runs = (run for folder in artifact_run.folders for run in locate_result(folder).runs())
        for key in [key for key, _ in artifact_run.sources] or [run.key for run in runs]:
            data, method, seed = key.split("/")
            family = name_family(artifact_run, name_data(artifact_run, data))
            seeds.setdefault(family, {}).setdefault(method, set()).add(seed)
    most = {family: max(map(len, methods.values())) for family, methods in seeds.items()}
    return {
        family: frozenset(method for method, its_seeds in methods.items() if len(its_seeds) == most[family])
        for family, methods in seeds.items()
    }


def name_family(artifact_run: ArtifactRun, data: str) -> tuple[str, ...]:
    """What the runs of a printed method at the same settings of the data have in common."""
    return artifact_run.paper, artifact_run.artifact, artifact_run.paper_dataset, artifact_run.paper_method, data


@cache
def describe_grid(artifact_run: ArtifactRun, data: str, method: str, measured: frozenset[str]) -> Grid:
    """How the settings of a run were found, which the paper selects among the methods that were ``measured``."""
    if not artifact_run.paper or artifact_run.substitute:
        return Grid("", "", "", "", "")
    grid, whole = find_whole(artifact_run, measured)
    settings = list_run_settings(artifact_run, data, method)
    screening = "" if whole == grid else find_screening(artifact_run, data, method, measured)
    tuned = grid if screening else whole
    printed = find_printed_point(artifact_run, settings)
    is_at_point = has_values(settings, printed)
    return Grid(
        tuned=";".join(sorted(tuned)),
        untuned=";".join(sorted(grid - tuned - printed.keys() if is_at_point else grid - tuned)),
        partial=";".join(sorted(grid - whole)),
        other_point="" if is_at_point else ";".join(f"{key}={value}" for key, value in printed.items()),
        screened=";".join(f"{key}, {screening}" for key in sorted(grid)) if screening else "",
    )


@cache
def find_whole(artifact_run: ArtifactRun, measured: frozenset[str]) -> tuple[set[str], set[str]]:
    """The settings that the paper folder varies; and those of them of which every value was measured, at each measured
    point of the others."""
    stated = _list_points(artifact_run, list_stated(artifact_run))
    keys = [key for key, values in collect_values(stated).items() if len(values) > 1 and key not in KEPT]
    grid, here = (
        {tuple(point.get(key, "") for key in keys) for point in points}
        for points in (stated, _list_points(artifact_run, measured))
    )
    whole = set()
    for i, key in enumerate(keys):
        others = {point[:i] + point[i + 1 :] for point in grid & here}
        if others and {point for point in grid if point[:i] + point[i + 1 :] in others} <= here:
            whole.add(key)
    return {*keys}, whole


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


def find_screening(artifact_run: ArtifactRun, data: str, method: str, measured: frozenset[str]) -> str:
    """How the settings of a run were screened, if it is among those that a screening left over (``screened`` of
    experiments.yaml), and all of them were measured; else nothing."""
    (point,) = resolve("datasets", data).points
    artifact = load_experiments(artifact_run.paper)["artifacts"].get(artifact_run.artifact, {})
    for rule in _list_rules(artifact_run, artifact.get("screened", []), list_values(point)):
        left_over, here, run = (
            [without_kept(point) for point in _list_points(artifact_run, names)]
            for names in (rule["runs"], measured, [method])
        )
        is_same_data = point.changes.keys() - {"draw"} <= rule["at"].keys()
        if is_same_data and run[0] in left_over and all(point in here for point in left_over):
            return f"screened {rule['how']}"
    return ""


def without_kept(point: Mapping[str, str]) -> dict[str, str]:
    """The settings of a point that change what is trained."""
    return {key: value for key, value in point.items() if key not in KEPT}


def _list_rules(
    artifact_run: ArtifactRun, rules: list[dict[str, Any]], settings: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Those of experiments.yaml's rules that are about a run of this method at these settings."""
    return [rule for rule in rules if rule["method"] == artifact_run.paper_method and has_values(settings, rule["at"])]


def has_values(settings: Mapping[str, str], wanted: Mapping[str, Any]) -> bool:
    """Whether settings have these values, however they are spelled."""
    return all(settings.get(key) == spell(value) for key, value in wanted.items())


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
