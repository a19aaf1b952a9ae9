"""What is open of the data sets of a paper that were measured: runs, hours, and the numbers and claims that wait for
them, in a sentence."""

from collections.abc import Collection, Iterator

from despur.evidence.runs.sources import Sources
from despur.orchestration.configuration import load_configuration
from despur.orchestration.experiments import PUBLISHED
from despur.orchestration.resources import estimate_hours
from despur.reporting.open_runs import OpenRuns, list_open_runs, unite

SHOWN = 4  # artifacts on a data set that are named


def list_open_work(paper: str, datasets: Collection[str], sources: Sources) -> list[OpenRuns]:
    """The runs of the paper's settings and of its grids, on these data sets, that a printed number or a claim waits
    for."""
    config = load_configuration(PUBLISHED) | {"papers": [paper], "sweep": True}
    return [
        open_runs
        for open_runs in list_open_runs(config, sources)
        if open_runs.artifact_run.paper_dataset in datasets and open_runs.count_waiting()
    ]


def describe_open_work(open_work: list[OpenRuns]) -> Iterator[str]:
    """An item of a list, nothing where nothing is open."""
    if not open_work:
        return
    groups: dict[tuple[str, str], list[OpenRuns]] = {}
    for open_runs in open_work:
        groups.setdefault((open_runs.artifacts[0], open_runs.artifact_run.dataset), []).append(open_runs)
    order = sorted(groups.items(), key=lambda item: -rate_group(item[1]))
    said = [f"`{artifact}` of `{data}` {describe_group(group)}" for (artifact, data), group in order[:SHOWN]]
    said += [f"and {len(order) - SHOWN} more"] if len(order) > SHOWN else []
    yield (
        "- **Open for want of time alone**, of data that were measured, further seeds included: "
        f"{describe_group(open_work)} (on a CPU core, at most). Most numbers and claims an hour first: "
        f"{'; '.join(said)}. `despur plan --open --configfile {PUBLISHED} --device cpu` lists them; those of grids "
        "only with `sweep: true` in the file."
    )


def describe_group(group: list[OpenRuns]) -> str:
    """``3 runs of 3 hours for 2 numbers and 2 claims``: what several share counts once."""
    runs, numbers, claims = (len(unite(group, name)) for name in ("runs", "numbers", "claims"))
    waiting = [
        f"{count} {kind}{'s' * (count > 1)}"
        for count, kind in ((numbers, "printed number"), (claims, "claim"))
        if count
    ]
    hours = f"{estimate_group_hours(group):,.0f}"
    return f"{runs} run{'s' * (runs > 1)} of {hours} hour{'s' * (hours != '1')} for {' and '.join(waiting)}"


def rate_group(group: list[OpenRuns]) -> float:
    """How many numbers and claims wait for an hour of it."""
    return sum(len(unite(group, name)) for name in ("numbers", "claims")) / estimate_group_hours(group)


def estimate_group_hours(group: list[OpenRuns]) -> float:
    """Of all jobs behind these runs, as if none were done."""
    return estimate_hours(unite(group, "jobs"), "cpu")
