"""Every job of a configuration, as Snakemake would start them, and the longest chain of jobs."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from despur.orchestration import artifact_files, matrix, resources
from despur.orchestration.trials import list_trials
from despur.specs.paths import ResultPath, locate_result
from despur.specs.stages import FOLDERS, PARTS, STAGES, find_stage


def find_job(file: str) -> ResultPath | None:
    """The job that makes a file of results/; none for files of the repository, tables and figures."""
    if not file.startswith(tuple(f"results/{folder}/" for folder in FOLDERS)):
        return None
    result = locate_result(file)
    return replace(result, stage=find_stage(result.stage, Path(file).name).name)


@cache
def list_upstream_jobs(result: ResultPath) -> tuple[ResultPath, ...]:
    """The jobs that a job waits for."""
    upstream = [] if result.stage == "data" else [result.data]
    for stage in STAGES[result.stage].reads:
        upstream += result.upstream(stage) if stage in PARTS else [replace(result, stage=stage)]
    return tuple(upstream)


def list_jobs_behind(files: Iterable[str]) -> set[ResultPath]:
    """Every job that files come from."""
    behind: set[ResultPath] = set()
    queue = [result for result in map(find_job, files) if result]
    while queue:
        result = queue.pop()
        if result not in behind:
            behind.add(result)
            queue += list_upstream_jobs(result)
    return behind


def list_jobs(config: Mapping[str, Any]) -> dict[str, set[ResultPath]]:
    """Every job behind the artifacts of each paper of a configuration, behind its matrix and the search for it."""
    files = {
        paper: [
            file
            for name in artifact_files.list_artifacts(config, paper)
            for file in artifact_files.list_inputs(config, paper, name)
        ]
        for paper in config["papers"]
    }
    if config.get("matrix"):
        files["matrix"] = matrix.list_inputs(config)
    if trials := list_trials(config):
        files["search"] = [f"{folder}/metrics.csv" for folders in trials.values() for folder in folders]
    return {name: list_jobs_behind(named_files) for name, named_files in files.items()}


def find_longest_chain(jobs: Iterable[ResultPath], device: str) -> tuple[float, list[ResultPath]]:
    """Seconds of the chain of jobs that takes longest, each on all GPUs that it can use, and its jobs: no number of
    machines is faster."""

    @cache
    def chain(result: ResultPath) -> tuple[float, tuple[ResultPath, ...]]:
        seconds, path = max(map(chain, list_upstream_jobs(result)), key=lambda timed: timed[0], default=(0.0, ()))
        return seconds + resources.estimate_elapsed_seconds(result, device), (*path, result)

    seconds, path = max(map(chain, jobs), key=lambda timed: timed[0], default=(0.0, ()))
    return seconds, list(path)
