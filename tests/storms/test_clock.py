"""A clock that jumps: files say at random that they are of last year, of now or of next year. The same command makes
again what Snakemake takes for old, and changes no result. Where it stops at a file from the future, its message says
what to do, and that helps."""

import os
import random
import shlex
import subprocess
import time

import pytest
from project import FIGURE, TABLE, finish, tiny_project
from storms.conftest import count_cases, read_results

pytestmark = [pytest.mark.storm, pytest.mark.long]
YEAR = 365 * 24 * 3600  # seconds


def set_times(root, rng):
    """A random time, within a year, for every file of results."""
    for path in sorted((root / "results").rglob("*")):
        if path.is_file():
            moment = time.time() + rng.choice((-YEAR, 0, YEAR))
            os.utime(path, (moment, moment))


def test_whatever_times_files_have_the_results_are_bit_identical(tmp_path_factory, tmp_path, record):
    project = tiny_project(tmp_path_factory).copy(tmp_path / "p")
    before, rng = read_results(project.root), random.Random(0)
    jumps, stopped = max(2, count_cases(20) // 50), 0
    for _ in range(jumps):
        set_times(project.root, rng)
        code, text = finish(project.start("-m", "snakemake", "-c2", TABLE, FIGURE))
        if code != 0:
            stopped += 1
            command = next(line for line in text.splitlines() if line.strip().startswith("find results"))
            subprocess.run(shlex.split(command), cwd=project.root, check=True)
            project.snakemake(TABLE, FIGURE)
        after = read_results(project.root)  # without files of stopped jobs that Snakemake removed and nothing needs now
        assert {TABLE, FIGURE} <= set(after) and [name for name in after if after[name] != before[name]] == []
    outcome = f"{jumps - stopped} ended, {stopped} stopped with a message whose remedy helped; results bit-identical"
    record("times of files set at random, within a year", jumps, outcome)
