"""The trials of a search: points of the search ranges that a method, and the stage-1 model that it reads, declare. A
trial's settings follow from its number alone, so more trials begin with the same ones, and methods with the same ranges
get the same values."""

from collections.abc import Mapping
from typing import Any

from despur.compute.randomness import derive_generator
from despur.orchestration.experiments import list_run_folders
from despur.orchestration.matrix import list_methods
from despur.specs.declarations import read_declarations
from despur.specs.names import parse
from despur.specs.resolution import resolve, resolve_canonical
from despur.specs.settings import SearchRange, SettingError, spell
from despur.specs.spec import Spec


def list_trials(config: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """By name of each method of the configuration's matrix, the folders of its trials, of seed 0: ``matrix.trials`` of
    them, the first with the settings that the matrix names. One, where a method declares no range. Nothing without
    ``matrix.trials``."""
    matrix = config.get("matrix") or {}
    if not (trials := matrix.get("trials")):
        return {}
    if not matrix.get("methods"):
        raise SettingError("matrix.trials: name the methods whose settings are searched (matrix.methods)")
    data = resolve_canonical("datasets", matrix["data"]).name
    return {name: list_folders(method, data, trials) for name, method in list_methods(matrix).items()}


def list_folders(method: str, data: str, trials: int) -> tuple[str, ...]:
    """The folders of the trials of a method, each once, of seed 0. Raises SettingError for several points of the method
    or the data: a search ranks its own, on one data set."""
    for kind, name, dataset in (("methods", method, parse(data)[0]), ("datasets", data, "")):
        if len(resolve(kind, name, dataset).points) > 1:
            raise SettingError(f"{name} has several points: a search tries points of its own, on one data set")
    points = draw_points(method, data, trials)
    folders = (list_run_folders(data, "+".join([method, *point]), 1)[0] for point in points)
    return tuple(dict.fromkeys(folders))


def find_ranges(method: str, data: str) -> dict[str, SearchRange]:
    """The search ranges of the settings of a method and of what it reads (``stage1.learning_rate``) that its name does
    not set, for this data set."""
    sweep = resolve("methods", method, parse(data)[0])
    return {key: span for key, span in read_ranges(sweep.points[0]).items() if key not in sweep.overrides}


def read_ranges(spec: Spec, path: str = "") -> dict[str, SearchRange]:
    """The search ranges that a component and its components declare, by key in a name."""
    declared = read_declarations(spec.kind, spec.base_name)["SETTINGS"]
    ranges = {path + key: s.search.resolve(spec.settings[key]) for key, s in declared.items() if s.search}
    for key, component in spec.components.items():
        ranges |= read_ranges(component, "stage1." if key == "stage1" else f"{path}{key}.")
    return ranges


def draw_points(method: str, data: str, trials: int) -> list[list[str]]:
    """The settings of each trial, as ``key=value``; none of the first, which has those without a search, nor of any
    where no range is declared."""
    ranges = find_ranges(method, data)
    drawn = [[f"{key}={draw_value(key, span, trial)}" for key, span in ranges.items()] for trial in range(1, trials)]
    return [[], *drawn]


def draw_value(key: str, search: SearchRange, trial: int) -> str:
    """The value of a setting in a trial, with three digits (of its distance to 1 on that scale); the same for all
    methods of the same range."""
    from scipy import stats

    low, high = (1 - search.high, 1 - search.low) if search.scale == "log_to_one" else (search.low, search.high)
    distribution = stats.uniform(low, high - low) if search.scale == "linear" else stats.loguniform(low, high)
    value = distribution.rvs(random_state=derive_generator(f"search/{key}", trial))
    drawn = float(f"{value:.3g}")
    return spell(round(1 - drawn, 12) if search.scale == "log_to_one" else drawn)
