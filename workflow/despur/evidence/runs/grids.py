"""How the settings of a run were found that its paper selects: from the whole of the paper's grid, by a screening, as
the paper prints them, or not at all."""

from collections.abc import Collection, Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

from despur.evidence.runs.changed_settings import KEPT, list_points, list_stated, list_values, name_data
from despur.orchestration.experiments import ArtifactRun, load_experiments
from despur.orchestration.screenings import list_screenings
from despur.specs.names import parse
from despur.specs.paths import locate_result
from despur.specs.resolution import resolve
from despur.specs.settings import spell


class Grid(NamedTuple):
    """The settings, ``temperature;weight``, that the paper folder varies to select among them. ``tuned``: searched in
    full, or all runs that a screening left over were trained (``screened``: ``temperature and weight screened with one
    seed``). ``untuned``: neither, and the paper prints no point that the run is at. ``partial``: not searched in full,
    even if screened or printed. ``other_point``: the point that the paper prints, where the run is at another."""

    tuned: str
    untuned: str
    partial: str
    other_point: str
    screened: str


ENOUGH = 3  # seeds: fewer decide no claim
MeasuredMethods = dict[tuple[str, ...], frozenset[str]]


def find_measured_methods(artifact_runs: Iterable[ArtifactRun]) -> MeasuredMethods:
    """The methods among which one is selected (:func:`name_family`), on the paper's data: those with at least so many
    seeds, the most with which they are a complete search (:func:`is_complete`), at least ``ENOUGH``; else all with
    ``ENOUGH`` or, where none has as many, with the most. So a further seed of one point changes nothing."""
    seeds: dict[tuple[str, ...], dict[str, set[str]]] = {}
    examples: dict[tuple[str, ...], tuple[ArtifactRun, str]] = {}
    for artifact_run in (run for run in artifact_runs if run.paper and not run.substitute):
        runs = (run for folder in artifact_run.folders for run in locate_result(folder).runs())
        for key in [key for key, _ in artifact_run.sources] or [run.key for run in runs]:
            data, method, seed = key.split("/")
            named = name_data(artifact_run, data)
            family = name_family(artifact_run, named)
            examples.setdefault(family, (artifact_run, named))
            seeds.setdefault(family, {}).setdefault(method, set()).add(seed)
    return {family: choose_measured(*examples[family], methods) for family, methods in seeds.items()}


def choose_measured(artifact_run: ArtifactRun, data: str, seeds: Mapping[str, Collection[str]]) -> frozenset[str]:
    """Of the methods of a family, with the ``seeds`` of each, those among which one is selected."""
    counts = sorted({len(its_seeds) for its_seeds in seeds.values()}, reverse=True)
    by_count = [
        frozenset(method for method, its_seeds in seeds.items() if len(its_seeds) >= count)
        for count in counts
        if count >= min(ENOUGH, counts[0])
    ]
    return next((methods for methods in by_count if is_complete(artifact_run, data, methods)), by_count[-1])


def is_complete(artifact_run: ArtifactRun, data: str, methods: frozenset[str]) -> bool:
    """Whether these are all points of a grid, or all that a screening left over."""
    grids = (describe_grid(artifact_run, data, method, methods) for method in methods)
    return any(grid.screened or (grid.tuned and not grid.partial) for grid in grids)


def name_family(artifact_run: ArtifactRun, data: str) -> tuple[str, ...]:
    """What the runs of a printed method at the same settings of the data have in common."""
    return artifact_run.paper, artifact_run.artifact, artifact_run.paper_dataset, artifact_run.paper_method, data


@cache
def describe_grid(artifact_run: ArtifactRun, data: str, method: str, measured: frozenset[str]) -> Grid:
    """How the settings of a run were found, which the paper selects among the methods that were ``measured``."""
    if not artifact_run.paper or artifact_run.substitute:
        return Grid("", "", "", "", "")
    grid, whole = find_whole(artifact_run, method, measured)
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
        screened=f"{' and '.join(sorted(grid))} {screening}" if screening else "",
    )


@cache
def find_whole(artifact_run: ArtifactRun, method: str, measured: frozenset[str]) -> tuple[set[str], set[str]]:
    """The settings that the paper folder varies; and those of them of which every value was measured, at each measured
    point of the others. Points count that differ from the run in nothing else; of a run that is not among the
    ``measured`` ones, nothing was."""
    stated = _list_points(artifact_run, list_stated(artifact_run))
    keys = [key for key, values in collect_values(stated).items() if len(values) > 1 and key not in KEPT]
    (run,) = _list_points(artifact_run, [method])
    rest_of_run = without_keys(run, keys)
    same = [point for point in _list_points(artifact_run, measured) if without_keys(point, keys) == rest_of_run]
    grid, here = ({tuple(point.get(key, "") for key in keys) for point in points} for points in (stated, same))
    here &= grid
    whole = set()
    for i, key in enumerate(keys) if method in measured else ():
        every_value = {point[i] for point in grid} == {point[i] for point in here}
        rest = {point[:i] + point[i + 1 :] for point in here}
        if every_value and {point for point in grid if point[:i] + point[i + 1 :] in rest} <= here:
            whole.add(key)
    return {*keys}, whole


def without_keys(point: Mapping[str, str], keys: Iterable[str] = ()) -> dict[str, str]:
    """The settings of a point that change what is trained, but for these."""
    return {key: value for key, value in point.items() if key not in {*KEPT, *keys}}


def list_run_settings(artifact_run: ArtifactRun, data: str, method: str) -> dict[str, str]:
    """Every setting of a run and of its data."""
    (point,) = resolve("datasets", data).points
    stage = artifact_run.result.stage
    return {**list_values(point), **list_points(stage, method, parse(data)[0])[0]}


def find_printed_point(artifact_run: ArtifactRun, settings: Mapping[str, str]) -> dict[str, Any]:
    """The point of its grid that the paper prints for a run with these settings (``printed_points`` of
    experiments.yaml). Empty where it prints none."""
    for rule in load_experiments(artifact_run.paper).get("printed_points", []):
        if rule["method"] == artifact_run.paper_method and has_values(settings, rule["at"]):
            return dict(rule["point"])
    return {}


def find_screening(artifact_run: ArtifactRun, data: str, method: str, measured: frozenset[str]) -> str:
    """How the settings of a run were screened, if it is among those that a screening left over (``screened`` of
    experiments.yaml), and all of them were measured; else nothing."""
    (point,) = resolve("datasets", data).points
    artifact = load_experiments(artifact_run.paper)["artifacts"].get(artifact_run.artifact, {})
    for rule in list_screenings(artifact, artifact_run.paper_method, point):
        left_over, here, (run,) = (
            [without_keys(point) for point in _list_points(artifact_run, names)]
            for names in (rule["runs"], measured, [method])
        )
        if run in left_over and all(point in here for point in left_over):
            return f"screened {rule['how']}"
    return ""


def has_values(settings: Mapping[str, str], wanted: Mapping[str, Any]) -> bool:
    """Whether settings have these values, however they are spelled."""
    return all(settings.get(key) == spell(value) for key, value in wanted.items())


def _list_points(artifact_run: ArtifactRun, specifications: Iterable[str]) -> list[dict[str, str]]:
    """Every setting of each point of specifications of the run's stage, on its data."""
    stage, base = artifact_run.result.stage, parse(artifact_run.dataset)[0]
    return [point for text in specifications for point in list_points(stage, text, base)]


def collect_values(points: list[dict[str, str]]) -> dict[str, set[str]]:
    """Every value of each setting."""
    values: dict[str, set[str]] = {}
    for point in points:
        for key, value in point.items():
            values.setdefault(key, set()).add(value)
    return values
