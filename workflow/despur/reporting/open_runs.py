"""What is open in a configuration: its runs that were measured neither on this machine nor elsewhere (the ledger), the
jobs behind them, and the printed numbers and claims that wait for them."""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from despur.evidence import tally
from despur.evidence.runs.grids import find_measured_methods
from despur.evidence.runs.sources import Sources, attach_sources
from despur.orchestration import artifact_files
from despur.orchestration.experiments import ArtifactRun, configure_artifact, list_artifact_runs
from despur.orchestration.plan import list_jobs_behind
from despur.reporting.assertions import list_claim_assertions, list_sentence_assertions
from despur.reporting.waiting import ShownRun, describe_points, find_waiting, find_waiting_numbers
from despur.specs.paths import ResultPath, locate_result, parse_seeds
from despur.specs.stages import PARTS
from despur.storage.finished_runs import is_copy


@dataclass(frozen=True)
class OpenRuns:
    """The runs of one printed method on one point of the data that are open, whichever artifacts show them. ``jobs``:
    what has to run, a seed each; ``numbers``, ``claims``: what waits for them, each with its paper."""

    artifact_run: ArtifactRun
    artifacts: tuple[str, ...]
    runs: frozenset[str]
    jobs: frozenset[ResultPath]
    numbers: frozenset[tuple[str, int]]
    claims: frozenset[tuple[str, str, str]]

    def count_waiting(self) -> int:
        """How many printed numbers and claims wait for these runs."""
        return len(self.numbers) + len(self.claims)


def unite(several: Iterable[OpenRuns], name: str) -> frozenset[Any]:
    """All runs, jobs, numbers or claims (``name``) of several: what they share is there once."""
    return frozenset().union(*(getattr(open_runs, name) for open_runs in several))


def list_open_runs(config: Mapping[str, Any], sources: Sources) -> Iterator[OpenRuns]:
    """What is open of each paper of a configuration. Results of other stages count with the runs that read them."""
    for paper in config["papers"]:
        printed, groups = tally.list_printed(paper), group_by_runs(config, paper)
        every = [shown.run for shown in itertools.chain(*groups)]
        measured = [*attach_sources(every, sources)]
        now, then = find_measured_methods(measured), find_measured_methods([*measured, *every])
        points = {shown: describe_points(shown.run, sources, now, then) for shown in itertools.chain(*groups)}
        rows = {shown: table.to_dict("records") for shown, table in points.items()}
        of_tables = find_waiting_numbers(printed, points)
        of_sentences = find_waiting(list_sentence_assertions(paper, printed), rows)
        claims = find_waiting(list_claim_assertions(paper), rows)
        for group in groups:
            runs, jobs = find_open_jobs(group[0].run, sources)
            if runs:
                yield OpenRuns(
                    group[0].run,
                    tuple(dict.fromkeys(shown.run.artifact for shown in group)),
                    frozenset(runs),
                    frozenset(jobs),
                    frozenset((paper, number) for shown in group for number in of_tables[shown] | of_sentences[shown]),
                    frozenset((paper, *claim) for shown in group for claim in claims[shown]),
                )


def group_by_runs(config: Mapping[str, Any], paper: str) -> list[list[ShownRun]]:
    """The runs of a paper's artifacts that read more than data; those that are the same together."""
    by_run: dict[ArtifactRun, list[ShownRun]] = {}
    for artifact in artifact_files.list_artifacts(config, paper):
        if configure_artifact(config, paper, artifact).get("inputs") == ["data"]:
            continue
        for artifact_run in itertools.chain(*map(split_by_data, list_artifact_runs(config, paper, artifact))):
            if artifact_run.result.stage == "runs":
                by_run.setdefault(replace(artifact_run, artifact=""), []).append(ShownRun(artifact, artifact_run))
    return list(by_run.values())


def split_by_data(artifact_run: ArtifactRun) -> Iterator[ArtifactRun]:
    """One for each point of its data, as each waits for numbers of its own."""
    results = [*map(locate_result, artifact_run.folders)]
    for point in results[0].datasets.points:
        folders = tuple(str(replace(result, dataset=point.name).folder) for result in results)
        yield replace(artifact_run, dataset=point.name, folders=folders)


def find_open_jobs(artifact_run: ArtifactRun, sources: Sources) -> tuple[set[str], set[ResultPath]]:
    """The keys of its open runs, and the jobs that they wait for."""
    runs: set[str] = set()
    files = []
    for result in map(locate_result, artifact_run.folders):
        for seed in parse_seeds(result.seeds):
            one = replace(result, seeds=f"s{seed}")
            missing = {run.key for run in one.runs()} - {*sources.where} - runs
            runs |= missing
            files += [str(one.folder / "metrics.csv")] * bool(missing)
    return runs, list_jobs_behind(files)


def is_done(job: ResultPath) -> bool:
    """Whether the result of a job that other jobs read is on this machine, in whichever chunk of seeds."""
    if job.stage == "data":
        return (job.folder / "about.json").exists()
    if job.stage not in PARTS:
        return False
    done = (file.parent.name for file in job.folder.parent.glob("s*/about.json") if not is_copy(file))
    return any({*parse_seeds(job.seeds)} <= {*parse_seeds(seeds)} for seeds in done)
