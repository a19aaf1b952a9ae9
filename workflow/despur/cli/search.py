"""``despur search METHOD DATA --trials 16``: draw settings from the ranges that a method declares, train each point
with one seed, and the best one on validation data with several. ``despur search --configfile config/benchmark.yaml``:
the same number of trials for each method of a matrix; the best ones make a configuration."""

import sys
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from despur.cli.commands import PATH, SELECTION, Arguments
from despur.cli.metrics import find_roles, load_shown
from despur.cli.rows import Row
from despur.cli.run import call_snakemake, make_metrics, require_checkout, spell_folders, use_finished
from despur.cli.show import rank_points, show_runs
from despur.orchestration.configuration import load_configuration
from despur.orchestration.plan import list_jobs_behind
from despur.orchestration.trials import find_ranges, list_folders, list_trials
from despur.specs.hyperparameters import RULES
from despur.specs.names import parse
from despur.specs.paths import locate_result
from despur.specs.resolution import check_length, resolve
from despur.specs.settings import SettingError
from despur.storage.texts import write_text

SCALES = {
    "linear": "uniform",
    "log": "uniform in its logarithm",
    "log_to_one": "uniform in the logarithm of 1 minus it",
}
TRIALS, SEEDS = 16, 3  # of the search of one method
HEADER = "# Written by despur search --configfile {}: of each method the point that is best on validation data.\n"

ARGUMENTS: Arguments = {
    "method": {
        "nargs": "?",
        "help": "with settings to keep, if you like: erm+encoder=convnet",
        "completes": "methods",
    },
    "data": {"nargs": "?", "help": "a data set, such as scene_digits+draw=1", "completes": "datasets"},
    "--configfile": PATH
    | {"help": "instead: each method of its matrix, with matrix.trials points; writes FILE_tuned.yaml"},
    "--selection": SELECTION,
    "--trials": {
        "type": int,
        "default": TRIALS,
        "help": "points that are tried; the first has the defaults",
    },
    "--seeds": {
        "type": int,
        "default": SEEDS,
        "help": "how often the best point is trained; default: 3",
    },
    "--dry-run": {"action": "store_true", "help": "only list the points and the jobs"},
}


def search_settings(
    method: str | None,
    data: str | None,
    trials: int,
    seeds: int,
    selection: str,
    dry_run: bool,
    options: Sequence[str],
    configfile: Path | None = None,
) -> Iterator[str]:
    """search settings of a method on a data set: draw points from its declared ranges, train each with one seed and the
    best on validation data with all seeds; or of all methods of a configuration's matrix"""
    options = [*options, *(["--dry-run"] if dry_run else [])]
    if configfile:
        if method or data or (trials, seeds, selection) != (TRIALS, SEEDS, "best"):
            raise SettingError(
                "--configfile searches the methods of its matrix, with matrix.trials points on matrix.data: leave out "
                "the method, the data set, --trials, --seeds and --selection"
            )
        yield from search_matrix(configfile, options, dry_run)
        return
    if not method or not data:
        raise SettingError("name a method and a data set, or a configuration (--configfile FILE)")
    if trials < 1 or seeds < 1:
        raise SettingError("--trials and --seeds must be 1 or more")
    if selection not in ("best", *RULES):
        raise SettingError(f"--selection {selection}: one of best, {', '.join(RULES)}")
    if selection in RULES and "selections" not in parse(method)[1]:
        method += "+selections=rules"
    folders = list_folders(method, check_length(resolve("datasets", data).name), trials)
    yield from describe_ranges(method, data)
    ranked = yield from rank_trials({method: folders}, selection, dry_run, options)
    if not ranked:
        return
    points = ranked[method]
    winner = [folder for chunk in spell_folders(points[0], data, [], str(seeds)) for folder in use_finished(chunk)]
    make_metrics(winner, options)
    yield f"\nthe best of {len(points)} points, with {seeds} seeds:"
    yield from show_runs([Path(folder) for folder in winner], selection=selection)


def search_matrix(configfile: Path, options: Sequence[str], dry_run: bool) -> Iterator[str]:
    """Train the trials of each method of a matrix, with one seed, and write the configuration whose matrix has the best
    of each. A trial that cannot be trained loses."""
    config = load_configuration(configfile)
    trials, target = list_trials(config), configfile.with_stem(f"{configfile.stem}_tuned")
    header = HEADER.format(configfile)
    if not trials:
        raise SettingError(f"{configfile}: matrix.trials must say how many points of each method are tried")
    if config["papers"]:
        raise SettingError(f"{configfile}: a search for a matrix has papers: [], as the best points are no paper's")
    if target.exists() and not target.read_text().startswith(header):
        raise SettingError(f"{target} does not begin with {header.strip()!r}: move it away, it would be replaced")
    ranked = yield from rank_trials(trials, "best", dry_run, options)
    if ranked:
        write_tuned(target, header, config, {name: points[0] for name, points in ranked.items()})
        yield f"\n{target} has the best point of each method: snakemake matrix --configfile {target}"


def rank_trials(
    trials: Mapping[str, Sequence[str]], selection: str, dry_run: bool, options: Sequence[str]
) -> Generator[str, None, dict[str, list[str]]]:
    """Train the trials of each method. Of those that could be trained a line, the best on validation data first;
    returns the points of each method in this order, nothing of a dry run."""
    require_checkout()
    every = [*dict.fromkeys(folder for folders in trials.values() for folder in folders)]
    if dry_run:
        make_metrics(every, options)
        return {}
    every_trained, points = train_trials(every, options), {}
    if lost := [folder for folder in every if folder not in every_trained]:
        yield f"{len(lost)} of {len(every)} trials could not be trained (results/logs says why): {', '.join(lost)}"
    for name, folders in trials.items():
        trained = [folder for folder in folders if folder in every_trained]
        if not trained:
            raise SettingError(f"{name}: no trial could be trained; results/logs says why")
        roles = find_roles(Path(trained[0]), selection)
        ranked = [*rank_points(load_points(trained, selection), roles, ("validation",))]
        yield from [f"\n{name}", *ranked]
        points[name] = [str(line.values["point"]) for line in ranked if isinstance(line, Row)]
    return points


def train_trials(folders: Sequence[str], options: Sequence[str]) -> list[str]:
    """Train trials; those that could be trained. Where no job of the others was started, end as Snakemake does."""
    begun = time.time() - 1  # the clock of files is coarser
    code = call_snakemake(folders, ["--keep-going", *options])
    if not code:
        return [*folders]
    logs = {folder: list_logs(folder) for folder in folders}
    trained = [folder for folder in folders if is_newer(Path(folder) / "metrics.csv", logs[folder])]
    lost_logs = [log for folder in folders if folder not in trained for log in logs[folder]]
    if code < 0 or not any(log.stat().st_mtime >= begun for log in lost_logs):
        sys.exit(code)
    return trained


def list_logs(folder: str) -> list[Path]:
    """The logs of the jobs behind a run that were started here, whenever."""
    behind = (job.folder.relative_to(job.root) for job in list_jobs_behind([f"{folder}/metrics.csv"]))
    parts = [*behind, Path("evaluate", *Path(folder).parts[-3:])]
    return [log for part in parts if (log := Path("results/logs", f"{part}.log")).exists()]


def is_newer(metrics: Path, logs: Sequence[Path]) -> bool:
    """Whether metrics were made since the last start of each job behind them."""
    return metrics.exists() and all(log.stat().st_mtime <= metrics.stat().st_mtime for log in logs)


def write_tuned(target: Path, header: str, config: Mapping[str, Any], winners: Mapping[str, str]) -> None:
    """The configuration of a matrix with these methods, whose names have the matrix's settings."""
    matrix = {key: value for key, value in config["matrix"].items() if key not in ("trials", "settings")}
    tuned = {**config, "matrix": matrix | {"methods": dict(winners)}}
    write_text(target, header + yaml.safe_dump(tuned, sort_keys=False))


def describe_ranges(method: str, data: str) -> Iterator[str]:
    """A line for each setting that is searched. Raises SettingError where there is none."""
    if not (ranges := find_ranges(method, data)):
        raise SettingError(f"{method} declares no search range (search=log_uniform(...) of a setting) that is not set")
    for key, span in ranges.items():
        yield f"{key}: {span.low:.6g} to {span.high:.6g}, {SCALES[span.scale]} ({span.source})"


def load_points(folders: Sequence[str], selection: str) -> pd.DataFrame:
    """The shown rows of all trials; the column ``point`` has the name of the method with its settings."""
    return pd.concat(
        [load_shown(Path(folder), selection).assign(point=locate_result(folder).name) for folder in folders]
    )
