"""``despur search METHOD DATA --trials 16``: draw settings from the ranges that a method declares, train each point
with one seed, and the best one on validation data with several. A trial's settings follow from its number alone."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from despur.cli.metrics import find_roles, load_shown
from despur.cli.rows import Row
from despur.cli.run import make_metrics, require_checkout, spell_folders, use_finished
from despur.cli.show import rank_points, show_runs
from despur.compute.randomness import derive_generator
from despur.specs.declarations import read_declarations
from despur.specs.hyperparameters import RULES
from despur.specs.names import parse
from despur.specs.paths import locate_result
from despur.specs.settings import SearchRange, SettingError, spell

if TYPE_CHECKING:
    import pandas as pd


def search_settings(
    method: str, data: str, trials: int, seeds: int, selection: str, dry_run: bool, options: Sequence[str]
) -> Iterator[str]:
    """search settings of a method on a data set: draw points from its declared ranges, train each with one seed and the
    best on validation data with all seeds"""
    if trials < 1 or seeds < 1:
        raise SettingError("--trials and --seeds must be 1 or more")
    if selection in RULES and "selections" not in parse(method)[1]:
        method += "+selections=rules"
    points = draw_points(method, trials)
    folders = list(dict.fromkeys(spell_folders(method, data, point, "1")[0] for point in points))
    yield from describe_ranges(method)
    require_checkout()
    make_metrics(folders, [*options, *(["--dry-run"] if dry_run else [])])
    if dry_run:
        return
    roles = find_roles(Path(folders[0]), selection)
    ranked = [*rank_points(load_points(folders, selection), roles, ("validation",))]
    yield from ranked
    best = next(line.values["point"] for line in ranked if isinstance(line, Row))
    winner = [folder for chunk in spell_folders(best, data, [], str(seeds)) for folder in use_finished(chunk)]
    make_metrics(winner, options)
    yield f"\nthe best of {len(folders)} points, with {seeds} seeds:"
    yield from show_runs([Path(folder) for folder in winner], selection=selection)


def list_ranges(method: str) -> dict[str, SearchRange]:
    """The search ranges of a method's settings that its name does not set. Raises SettingError where it has none."""
    base, overrides = parse(method)
    declared = read_declarations("methods", base)["SETTINGS"]
    ranges = {key: setting.search for key, setting in declared.items() if setting.search and key not in overrides}
    if not ranges:
        raise SettingError(f"{method} declares no search range (search=log_uniform(...) of a setting) that is not set")
    return ranges


def describe_ranges(method: str) -> Iterator[str]:
    """A line for each setting that is searched."""
    for key, span in list_ranges(method).items():
        yield f"{key}: {spell(span.low)} to {span.high:.4g}, {span.scale} scale ({span.source})"


def draw_points(method: str, trials: int) -> list[list[str]]:
    """The settings of each trial, as ``key=value``; none of the first, which has the defaults. More trials begin with
    the same ones."""
    ranges = list_ranges(method)
    drawn = [[f"{key}={draw_value(key, span, trial)}" for key, span in ranges.items()] for trial in range(1, trials)]
    return [[], *drawn]


def draw_value(key: str, search: SearchRange, trial: int) -> str:
    """The value of a setting in a trial, with three digits; the same for all methods of the same range."""
    from scipy import stats

    rng = derive_generator(f"search/{key}", trial)
    if search.scale == "log":
        value = stats.loguniform(search.low, search.high).rvs(random_state=rng)
    else:
        value = stats.uniform(search.low, search.high - search.low).rvs(random_state=rng)
    return spell(float(f"{value:.3g}"))


def load_points(folders: Sequence[str], selection: str) -> "pd.DataFrame":
    """The shown rows of all trials; the column ``point`` has the name of the method with its settings."""
    import pandas as pd

    return pd.concat(
        [load_shown(Path(folder), selection).assign(point=locate_result(folder).name) for folder in folders]
    )
