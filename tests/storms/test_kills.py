"""Processes killed with -9 at random: Snakemake, a job, the server of jobs, everything at once. In the end all results
are bit-identical to those of an undisturbed run, and no process and no temporary file is left."""

import contextlib
import random
import shutil
import time
from pathlib import Path

import psutil
import pytest
from project import FIGURE, TABLE, finish, tiny_project
from storms.conftest import count_cases, read_results

pytestmark = [pytest.mark.storm, pytest.mark.long]
RUNS = "results/runs/colored_digits"
TARGETS = [TABLE, FIGURE, *(f"{RUNS}/{method}/s0-1/metrics.csv" for method in ("jtt", "dfr", "leace"))]
LONGEST = 12  # seconds until a kill


def find_processes(root):
    """Processes that work in a project's folder: Snakemake, commands of jobs, their server and its children."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.status() != psutil.STATUS_ZOMBIE and Path(process.cwd()).is_relative_to(root):
                found.append(process)
    return found


def is_server(process):
    return "despur.warm.server" in process.cmdline()


VICTIMS = {
    "Snakemake": lambda process: "snakemake" in " ".join(process.cmdline()),
    "a job": lambda process: is_server(process) and is_server(process.parent()),
    "the server": lambda process: is_server(process) and not is_server(process.parent()),
    "everything": lambda process: True,
}


def strike(root, victim, rng):
    """Kill one process of this kind, or all of them; whether there was any."""
    found = []
    for process in find_processes(root):
        with contextlib.suppress(psutil.Error):
            if VICTIMS[victim](process):
                found.append(process)
    for process in found if victim == "everything" else rng.sample(found, min(1, len(found))):
        with contextlib.suppress(psutil.Error):
            process.kill()
    return bool(found)


def wait_until_gone(root, seconds=60):
    """The processes that still work in a project's folder after some time."""
    end = time.monotonic() + seconds
    while (left := find_processes(root)) and time.monotonic() < end:
        time.sleep(0.1)
    return left


@pytest.fixture
def undisturbed(tmp_path_factory):
    """A finished run, in which all of ERM, CNC, JTT (with retraining), DFR (fitted) and LEACE (erasure) are made."""
    project = tiny_project(tmp_path_factory).copy(tmp_path_factory.mktemp("undisturbed") / "project")
    project.snakemake(*TARGETS)
    return project


def test_whatever_is_killed_the_results_are_bit_identical(undisturbed, tmp_path, record):
    project = undisturbed.copy(tmp_path / "p")
    project.environment["TMPDIR"] = str(tmp_path / "t")
    (tmp_path / "t").mkdir()
    shutil.rmtree(project.root / "results")
    rng, kills = random.Random(0), dict.fromkeys(VICTIMS, 0)
    wanted = max(4, count_cases(40) // 10)
    while sum(kills.values()) < wanted:
        process = project.start("-m", "snakemake", "-c2", *TARGETS)
        victim, until = min(kills, key=kills.get), time.monotonic() + rng.uniform(2, LONGEST)
        while process.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        struck = False
        while process.poll() is None and not struck:
            struck = strike(project.root, victim, rng)
            time.sleep(0.05)
        kills[victim] += struck
        if rng.random() < 0.5:  # else the next one starts while others are still ending
            wait_until_gone(project.root)
        code, text = finish(process)
        assert "unlock" not in text, text
        assert struck or code == 0, text
        if code == 0:
            assert read_results(project.root) == read_results(undisturbed.root)
            shutil.rmtree(project.root / "results")
    project.snakemake(*TARGETS)
    assert read_results(project.root) == read_results(undisturbed.root)
    assert wait_until_gone(project.root) == []
    assert [*(tmp_path / "t").glob("despur-*")] == [] and not [*project.root.glob("results/.resume/*")]
    told = ", ".join(f"{count} of {victim}" for victim, count in kills.items())
    outcome = f"killed with -9: {told}; results bit-identical, no process, no temporary file and no lock left"
    record("kills of a run of five kinds of methods", sum(kills.values()), outcome)
