"""What is checked of a finished rehearsal: one result of each kind is deleted, made again by its stage's own command,
and deleted and asked for again. Snakemake then plans what was deleted and what depends on it, and nothing else; all
results end with the bytes that they had."""

import re
from collections.abc import Iterable, Mapping

from project import Project

from despur.specs.stages import TABLE

MODULES = {stage.rule: stage.program for stage in TABLE}
ARTIFACT = re.compile(r"_(table|figure|prose|claims|projections)(?:_|$)")
ALWAYS = ("scorecard", "all")  # what reads everything
# Files that tell when a job ran, or how long.
WITH_TIMES = re.compile(
    r"/about\.json$|/logs/|/(matrix|report|scorecard|table_a12|table_time)\."
    r"|/cnc/(claims|prose)\.|/fair_cl/(claims|table_1)\."
)


def check(project: Project, *configuration: str) -> None:
    """Delete and ask again, as above; the project has finished all of a configuration."""
    jobs = project.plan(*configuration, "--forceall")
    dependents = find_dependents(jobs)
    chosen = choose_jobs(dependents)
    before = read_results(project)
    for job in chosen:
        outputs = list_files(jobs[job], "output")
        delete(project, outputs)
        if module := MODULES.get(job.split(" ")[0]):
            project.python("-m", f"despur.{module}", outputs[0])
            assert_same({file: before[file] for file in outputs if file in before}, read_results(project), job)
            delete(project, outputs)
    expected = {*chosen}.union(*(dependents[job] for job in chosen))
    asked = [*configuration, "--", "all", *(list_files(jobs[job], "output")[0] for job in chosen)]
    planned = {*project.plan(*asked)}
    assert planned == expected, f"planned in vain: {planned - expected}; not planned: {expected - planned}"
    code, text = project.call_snakemake("--cores", "2", *asked, seconds=3600)
    assert code == 0, text
    assert_same(before, read_results(project), "what was asked for again")
    print(f"Made again with the same bytes: {len(expected)} jobs, of which these were deleted: {', '.join(chosen)}")


def choose_jobs(dependents: Mapping[str, set[str]]) -> list[str]:
    """A job of each kind, of those on which fewest others depend; none of them depends on another."""
    found: dict[str, set[str]] = {}
    for job in sorted({*dependents} - {*ALWAYS}, key=lambda job: (len(dependents[job]), job)):
        apart = not any(job in below or other in dependents[job] for other, below in found.items())
        if apart and name_kind(job) not in map(name_kind, found):
            found[job] = dependents[job]
    return list(found)


def name_kind(job: str) -> str:
    """``table`` of ``cnc_table_1``; of jobs of a stage, the name of the rule."""
    rule = job.split(" ")[0]
    return found[1] if (found := ARTIFACT.search(rule)) else rule


def find_dependents(jobs: Mapping[str, str]) -> dict[str, set[str]]:
    """By job, those that read what it makes, directly or not."""
    makers = {file: job for job in jobs for file in list_files(jobs[job], "output")}
    readers: dict[str, set[str]] = {job: set() for job in jobs}
    for job in jobs:
        for file in list_files(jobs[job], "input"):
            if file in makers:
                readers[makers[file]].add(job)
    return {job: collect(readers, job) for job in jobs}


def collect(readers: Mapping[str, set[str]], job: str) -> set[str]:
    found: set[str] = set()
    queue = [job]
    while queue:
        new = readers[queue.pop()] - found
        found |= new
        queue += new
    return found


def list_files(details: str, kind: str) -> list[str]:
    """Input or output of a job."""
    named = re.search(rf"^ +{kind}: (.*)$", details, re.MULTILINE)
    return named[1].split(", ") if named else []


def delete(project: Project, files: Iterable[str]) -> None:
    for file in files:
        (project.root / file).unlink()


def read_results(project: Project) -> dict[str, bytes]:
    """All results but those that tell times."""
    return {file: content for file, content in project.results().items() if not WITH_TIMES.search(file)}


def assert_same(before: Mapping[str, bytes], after: Mapping[str, bytes], what: str) -> None:
    changed = sorted(file for file in before if before[file] != after.get(file))
    assert not changed, f"{what}: these files are gone or have other bytes: {changed}"
