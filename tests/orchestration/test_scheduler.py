"""Snakemake's scheduler looks at jobs when one has finished, not by timers that add up."""

import re

import pytest
from project import Project

TOY = """
import threading

include: "workflow/rules/machine.smk"

started, start = [], threading.Timer.start
threading.Timer.start = lambda timer: (started.append(timer), start(timer))
JOBS = [str(i) for i in range(int(config["jobs"]))]

rule all:
    input: JOBS

rule one:
    output: "{i}"
    shell: "touch {output}"

onstart:
    lift_job_limit()

onsuccess:
    print("timers", len(started))
"""


def count_timers(folder, jobs, *arguments):
    """How many timers Snakemake starts in a run of so many jobs, one at a time."""
    project = Project.fresh(folder)
    (project.root / "Toy").write_text(TOY)
    command = ("-c1", "-s", "Toy", "--config", f"jobs={jobs}", *arguments)
    code, text = project.call_snakemake(*command, seconds=120)
    assert code == 0 and len(list(project.root.glob("[0-9]*"))) == jobs, text
    return int(re.search(r"timers (\d+)", text)[1])


@pytest.mark.parametrize("jobs", [4, 16])
def test_no_timers_are_started_however_many_jobs_there_are(tmp_path, jobs):
    assert count_timers(tmp_path / "project", jobs) == 0


def test_a_limit_that_is_given_stays(tmp_path):
    assert count_timers(tmp_path / "project", 4, "--max-jobs-per-timespan", "99/1s") > 0
