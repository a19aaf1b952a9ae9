"""What a run cost: Snakemake's own records of its jobs, and what about.json says of their folders.

Snakemake keeps a record for each output file (.snakemake/metadata): the rule, its inputs, when it started and ended.
From the files of an artifact they lead back to everything that was done for it. What was made without Snakemake has no
record.

``benchmark:`` of rules is not enough: it names no inputs, by which a job is counted for an artifact, and writes nothing
for jobs whose results come from a cache."""

import json
import os
from base64 import urlsafe_b64encode
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import Any

import pandas as pd

from despur.orchestration import artifact_files, matrix
from despur.specs.stages import OTHER_RULES, RULE_TITLES, TABLE
from despur.storage.reading import read_json

RECORDS = Path(".snakemake/metadata")
HEAVY = {stage.title for stage in TABLE if stage.trains or stage.name == "groups"}  # about.json has their own seconds


@dataclass(frozen=True)
class Job:
    """A finished job. ``seconds``: from its start to its end; ``folder``: its results; ``cached``: taken from
    Snakemake's cache."""

    rule: str
    log: str
    inputs: tuple[str, ...]
    seconds: float
    folder: Path
    cached: bool

    @property
    def stage(self) -> str:
        return RULE_TITLES.get(self.rule, OTHER_RULES)


class Jobs:
    """Snakemake's records, read when they are used."""

    def __init__(self, records: Path = RECORDS) -> None:
        self.records = records
        self.longest = os.pathconf(records, "PC_NAME_MAX") or 255 if records.exists() else 255
        self.job = cache(self._read)

    def _read(self, file: str) -> Job | None:
        """The job that made a file; None where there is no record."""
        name, size = urlsafe_b64encode(file.encode()).decode(), self.longest - 1
        *folders, last = [name[i : i + size] for i in range(0, len(name), size)]  # as Snakemake cuts long names
        try:
            record = json.loads(self.records.joinpath(*(f"@{part}" for part in folders), last).read_text())
            started, seconds = record["starttime"], record["endtime"] - record["starttime"]
        except (OSError, ValueError, KeyError, TypeError):  # none, or of a job that has not ended
            return None
        log = next(iter(record["log"]), file)
        return Job(
            record["rule"], log, tuple(record["input"]), seconds, Path(file).parent, is_older(Path(file), started)
        )

    def collect_jobs(self, files: Iterable[str]) -> dict[str, Job]:
        """All jobs that files come from, by their log."""
        jobs: dict[str, Job] = {}
        queue = list(files)
        while queue:
            job = self.job(queue.pop())
            if job and job.log not in jobs:
                jobs[job.log] = job
                queue += job.inputs
        return jobs

    def critical_path(self, jobs: Mapping[str, Job]) -> list[Job]:
        """The chain of jobs, each reading what the one before it made, that takes longest: no number of cores is
        faster."""

        @cache
        def chain(log: str) -> tuple[float, list[Job]]:
            before = (chain(job.log) for job in map(self.job, jobs[log].inputs) if job)
            seconds, path = max(before, key=itemgetter(0), default=(0.0, []))
            return seconds + jobs[log].seconds, [*path, jobs[log]]

        return max(map(chain, jobs), key=itemgetter(0), default=(0.0, []))[1]


def is_older(file: Path, started: float) -> bool:
    """Whether a file is a link to one that was there before its job started: it was taken from the cache, not put
    there."""
    return file.is_symlink() and file.exists() and file.stat().st_mtime < started


def read_about(folder: Path) -> dict[str, Any]:
    """about.json of a folder; empty where it says nothing of a process (data, tables)."""
    file = folder / "about.json"
    about = read_json(file) if file.exists() else {}
    return about if "seconds" in about else {}


def sum_by_stage(jobs: Iterable[Job]) -> list[dict[str, Any]]:
    """What each stage cost, in the order of the stages."""
    mine: dict[str, list[Job]] = {}
    for job in jobs:
        mine.setdefault(job.stage, []).append(job)
    return [
        {"name": stage, **sum_jobs(mine[stage])}
        for stage in sorted(mine, key=[*RULE_TITLES.values(), OTHER_RULES].index)
    ]


def sum_jobs(jobs: Collection[Job]) -> dict[str, Any]:
    """Jobs, seconds of wall time, jobs taken from the cache; of what trains and infers: own seconds, largest memory
    (MB), devices."""
    abouts = [about for job in jobs if job.stage in HEAVY and (about := read_about(job.folder))]
    return {
        "jobs": len(jobs),
        "seconds": sum(job.seconds for job in jobs),
        "own_seconds": sum(about["seconds"] for about in abouts) if abouts else None,
        "peak_memory_mb": max((about["peak_memory_mb"] for about in abouts), default=None),
        "devices": ", ".join(sorted({about["device"] for about in abouts if "device" in about})),
        "cached": sum(job.cached for job in jobs),
    }


def measure_run(config: Mapping[str, Any]) -> dict[str, Any]:
    """Jobs and seconds behind all artifacts of a configuration: by stage and by paper, what papers share, the critical
    path, and in all."""
    jobs = Jobs()
    by_paper = {
        paper: jobs.collect_jobs(artifact_files.list_paper_outputs(config, paper)) for paper in config["papers"]
    }
    by_paper["matrix"] = jobs.collect_jobs(matrix.list_outputs(config))
    every = {log: job for paper_jobs in by_paper.values() for log, job in paper_jobs.items()}
    used = Counter(log for paper_jobs in by_paper.values() for log in paper_jobs)
    papers = [
        {"name": name, **sum_jobs(paper_jobs.values()), "shared": sum(used[log] > 1 for log in paper_jobs)}
        for name, paper_jobs in by_paper.items()
        if paper_jobs
    ]
    return {
        "stages": sum_by_stage(every.values()),
        "papers": papers,
        "path": jobs.critical_path(every),
        **sum_jobs(every.values()),
    }


def list_times(config: Mapping[str, Any]) -> pd.DataFrame:
    """A row for each stage, each paper and each job of the critical path of a finished run, and one for all: jobs,
    seconds from start to end, and seconds of training and inference themselves. Empty without Snakemake's records."""
    if not (measured := measure_run(config))["jobs"]:
        return pd.DataFrame()
    path = [{"name": f"{job.stage}: {job.folder}", "jobs": 1, "seconds": job.seconds} for job in measured["path"]]
    kinds = {
        "stage": measured["stages"],
        "paper": measured["papers"],
        "critical path": path,
        "all": [{"name": "", **measured}],
    }
    rows = [{"kind": kind, **row} for kind, parts in kinds.items() for row in parts]
    return pd.DataFrame(rows, columns=["kind", "name", "jobs", "seconds", "own_seconds"])
