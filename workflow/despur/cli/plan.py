"""``despur plan``: what a configuration or results cost before anything runs: jobs, hours, disk, memory, the
longest chain.

Seconds are those of :mod:`despur.orchestration.resources`: measured speeds where there are any, else stated guesses.
``--open``: the runs that were measured nowhere yet, and what they would settle."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import filterfalse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from despur.cli.check import STATES, list_needed_data
from despur.cli.commands import PATH, Arguments
from despur.cli.rows import Row
from despur.orchestration import artifact_files, configuration, estimates, resources
from despur.orchestration.gpu_slots import list_visible_gpus
from despur.orchestration.plan import find_longest_chain, list_jobs, list_jobs_behind
from despur.orchestration.targets import name_last_file
from despur.specs.names import parse
from despur.specs.paths import ResultPath
from despur.specs.settings import SettingError

if TYPE_CHECKING:
    from despur.reporting.open_runs import OpenRuns

ARGUMENTS: Arguments = {
    "paths": PATH | {"nargs": "*", "help": "runs, tables or figures, instead of a configuration"},
    "--configfile": PATH | {"default": Path("config.yaml")},
    "--device": {"choices": ("gpu", "cpu"), "help": "what trains: a GPU, or one CPU core; default: as here"},
    "--open": {
        "action": "store_true",
        "dest": "only_open",
        "help": "the runs that are neither here nor in the ledger, and how many numbers they would settle",
    },
}


def format_row(name: str, jobs: set[ResultPath], artifacts: int, device: str, width: int) -> Row:
    """Jobs, hours of training jobs, hours of the others, disk, hours of the longest chain, memory of the largest
    job."""
    training = {result for result in jobs if resources.estimate_resources(result)["gpu"]}
    hours = [resources.estimate_hours(some, device) for some in (training, jobs - training)]
    disk = sum(map(resources.estimate_megabytes, jobs)) / 1000
    longest, count = find_longest_chain(jobs, device)[0] / 3600, len(jobs) + artifacts
    gpus = 0 if device == "cpu" else math.inf
    memory = max((resources.estimate_resources(result, gpus=gpus)["mem_mb"] for result in jobs), default=0) / 1000
    return Row(
        f"{name:<{width}}{count:>8,}{len(training):>10,}{hours[0]:>16,.1f}{hours[1]:>13,.1f}{disk:>10,.1f}"
        f"{longest:>12,.1f}{memory:>13,.1f}",
        "cost",
        name=name,
        jobs=count,
        training_jobs=len(training),
        training_hours=hours[0],
        other_hours=hours[1],
        gigabytes=disk,
        longest_chain_hours=longest,
        memory_gigabytes=memory,
    )


def explain_retries(minutes: float) -> Iterator[str]:
    """Of the longest job, which takes so many minutes, more than a job may request: whether the profile tries it often
    enough."""
    longest, allowed = estimates.load_estimates()["longest"], resources.load_retries()
    retries = math.ceil(minutes / longest) - 1
    if retries > 0:
        yield (
            f"No job requests more than {longest:,} minutes (workflow/resources.yaml); one of {minutes:,.0f} needs "
            f"{retries:,} retries."
        )
    if retries > allowed:
        enough = math.ceil(minutes / (allowed + 1))
        yield (
            f"It CANNOT FINISH within the {allowed} retries of profiles/slurm: set retries there to {retries:,}, or "
            f"longest to {enough:,}, where your partition gives a job so many minutes."
        )


def list_open(config: Mapping[str, Any], device: str) -> Iterator[str]:
    """A row for each method and point of the data of a paper that has open runs: those whose raw data is missing come
    last; of the others first what most numbers and claims wait for, per hour."""
    from despur.evidence.runs.sources import find_sources
    from despur.reporting.open_runs import is_done, list_open_runs, unite  # pandas

    sources = find_sources(config["ledger"])
    yield from (f"not used: {fault}" for fault in sources.faults)
    open_runs = list(list_open_runs(config, sources))
    missing = {*filterfalse(is_done, unite(open_runs, "jobs"))}
    hours = [resources.estimate_hours(open_run.jobs & missing, device) for open_run in open_runs]
    states = [max((data.state for data in list_needed_data(open_run.jobs)), key=STATES.index) for open_run in open_runs]
    yield f"{'runs':>7}{f'{device.upper()} hours':>15}{'numbers':>9}{'claims':>8}{'per hour':>10}{'raw data':>10}  of"
    rows = [format_open(*row) for row in zip(open_runs, hours, states, strict=True)]
    yield from sorted(rows, key=lambda row: (row.values["raw_data"] == "missing", -row.values["per_hour"]))
    runs, numbers, claims = (unite(open_runs, name) for name in ("runs", "numbers", "claims"))
    total = resources.estimate_hours(missing, device)
    yield Row(
        f"{len(runs):>7,}{total:>15,.2f}{len(numbers):>9,}{len(claims):>8,}{'':>20}  all, shared once",
        "open_in_all",
        runs=len(runs),
        hours=total,
        numbers=len(numbers),
        claims=len(claims),
    )


def format_open(open_runs: "OpenRuns", hours: float, raw_data: str) -> Row:
    """How many runs are open, their hours, how many printed numbers and claims wait for them, whether the raw data is
    here, and what they are."""
    run, numbers, claims = open_runs.artifact_run, len(open_runs.numbers), len(open_runs.claims)
    per_hour = open_runs.count_waiting() / hours
    return Row(
        f"{len(open_runs.runs):>7,}{hours:>15,.2f}{numbers:>9,}{claims:>8,}{per_hour:>10,.1f}{raw_data:>10}  "
        f"{run.paper} {', '.join(open_runs.artifacts)}: {Path(run.folders[0]).parent}",
        "open",
        paper=run.paper,
        artifacts=open_runs.artifacts,
        method=run.paper_method,
        paper_dataset=run.paper_dataset,
        dataset=run.dataset,
        folders=run.folders,
        runs=len(open_runs.runs),
        hours=hours,
        numbers=numbers,
        claims=claims,
        per_hour=per_hour,
        raw_data=raw_data,
    )


def list_jobs_of(path: Path, configfile: Path) -> set[ResultPath]:
    """The jobs behind a run's folder, or behind a table or figure of a configuration."""
    if path.parent.parent.name != "papers":
        return list_jobs_behind([str(name_last_file(path))])
    paper, artifact = artifact_files.locate_artifact(path)
    return list_jobs_behind(artifact_files.list_inputs(configuration.load_configuration(configfile), paper, artifact))


def plan(
    device: str | None, paths: Sequence[Path] = (), configfile: Path = Path("config.yaml"), only_open: bool = False
) -> Iterator[str]:
    """what a configuration or results cost before they are made: jobs, hours, disk, memory, the longest chain"""
    if paths and only_open:
        raise SettingError("--open is of a configuration: name no paths")
    device = device or ("gpu" if list_visible_gpus() else "cpu")
    if paths:
        yield from list_costs({str(path): list_jobs_of(path, configfile) for path in paths}, {}, device)
        return
    config: Mapping[str, Any] = configuration.load_configuration(configfile)
    if only_open:
        yield from list_open(config, device)
        return
    counts = {paper: len(artifact_files.list_artifacts(config, paper)) for paper in config["papers"]}
    yield from list_costs(list_jobs(config), counts | {"matrix": 1, "all": 2}, device)  # all: the scorecard, and `all`


def explain_estimates(every: Iterable[ResultPath], device: str) -> Iterator[str]:
    """For how many training jobs speeds are measured, and which data sets' sizes are not known."""
    training = [result for result in every if resources.estimate_resources(result)["gpu"]]
    measured = sum(resources.estimate_seconds(result, device)[1] for result in training)
    yield (
        f"\nSpeeds are measured (results/ledger, results/reference) for {measured} of {len(training)} training jobs, "
        "else guessed (workflow/resources.yaml)."
    )
    sizes = estimates.load_estimates()["datasets"]
    if unknown := sorted({parse(result.dataset)[0] for result in every} - sizes.keys()):
        names = ", ".join(unknown)
        count = sizes["*"]["train"]
        yield f"Of {names} the number of samples is not known here: {count:,} training samples are assumed."


def list_costs(jobs: Mapping[str, set[ResultPath]], counts: Mapping[str, int], device: str) -> Iterator[str]:
    """A row for each name and one for all, whose ``jobs`` count once; the longest chain. ``counts``: jobs besides."""
    every, width = set().union(*jobs.values()), max(20, *(len(name) + 2 for name in jobs))
    yield (
        f"{'':<{width}}{'jobs':>8}{'training':>10}{f'{device.upper()} hours':>16}{'other hours':>13}{'GB':>10}"
        f"{'longest (h)':>12}{'memory (GB)':>13}"
    )
    for name, paper_jobs in jobs.items():
        yield format_row(name, paper_jobs, counts.get(name, 0), device, width)
    extra = sum(count for name, count in counts.items() if name in jobs or name == "all")
    yield format_row("all, shared once", every, extra, device, width)
    yield from explain_estimates(every, device)
    yield from explain_retries(
        max((resources.estimate_elapsed_seconds(result, device) for result in every), default=0.0) / 60
    )
    yield "Times are at most: nothing is known of early stopping. The longest chain:"
    for result in find_longest_chain(every, device)[1]:
        hours = resources.estimate_elapsed_seconds(result, device) / 3600
        folder = result.folder.relative_to(result.root)
        text = f"  {hours:>10,.2f} h  {result.stage:<9} {folder}"
        yield Row(text, "longest_chain", stage=result.stage, folder=str(folder), hours=hours)
