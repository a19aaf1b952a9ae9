"""Processes killed with -9 at random, many in the middle of training: Snakemake, a job, the server of jobs, everything
at once. In the end all results are bit-identical to those of an undisturbed run, and when the same command has ended,
no process, no temporary file and no lock is left."""

import contextlib
import json
import random
import re
import shutil
import time
from collections import Counter
from pathlib import Path

import psutil
import pytest
from project import TABLE, finish
from storms.conftest import METHOD_TARGETS, count_cases, list_differences

pytestmark = [pytest.mark.storm, pytest.mark.long]
LONGEST = 12  # seconds until a kill
MOST = 20  # saved steps until a kill


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


def is_forked(process):
    """Whether a server has forked this one, for a job."""
    parent = process.parent()
    return is_server(process) and parent is not None and is_server(parent)


VICTIMS = {
    "Snakemake": lambda process: "snakemake" in " ".join(process.cmdline()),
    "a job": is_forked,
    "the server": lambda process: is_server(process) and not is_forked(process),
    "everything": lambda process: True,
}


def find_victims(root, victim):
    """The processes of this kind; not one that ends meanwhile."""
    found = []
    for process in find_processes(root):
        with contextlib.suppress(psutil.Error):
            if VICTIMS[victim](process):
                found.append(process)
    return found


def strike(root, victim, rng):
    """Kill one process of this kind, or all of them; whether there was any."""
    found = find_victims(root, victim)
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


def wait(process, root, rng, middle):
    """Wait for some seconds or, ``middle``, until some steps of training have been saved."""
    until, wanted, saved = time.monotonic() + rng.uniform(2, LONGEST), rng.randint(1, MOST), set()
    while process.poll() is None and (len(saved) < wanted if middle else time.monotonic() < until):
        for path in root.glob("results/.resume/*/*.pt"):
            with contextlib.suppress(FileNotFoundError):
                saved.add(path.stat().st_mtime_ns)
        time.sleep(0.01)


def find_resumed(project, undisturbed):
    """The trainings that went on at a step in the middle, by the logs of their jobs: log and step."""
    found = set()
    for about in undisturbed.root.glob("results/*/*/*/*/about.json"):
        log = project.root / "results/logs" / about.parent.relative_to(undisturbed.root / "results").with_suffix(".log")
        steps = [run["steps"] for run in json.loads(about.read_text()).get("runs", {}).values()]
        for step in re.findall(r"resumes at step (\d+)", log.read_text() if log.exists() else ""):
            if 0 < int(step) < min(steps):
                found.add((log, int(step)))
    return found


def list_left(project):
    """What a run that was killed may leave behind, but a run that has ended must not: processes, temporary files and
    folders, locks, and what Snakemake notes about files that are being written."""
    at_work = wait_until_gone(project.root)
    hidden = [path for path in project.root.glob("results/**/.*") if path.is_file() or any(path.iterdir())]
    noted = [path for folder in ("locks", "incomplete") for path in project.root.glob(f".snakemake/{folder}/*")]
    temporary = Path(project.environment["TMPDIR"]).rglob("*")  # Snakemake and torch leave empty folders there
    return [*at_work, *hidden, *noted, *(p for p in temporary if not p.is_dir() or p.name.startswith("despur-"))]


def disturb(project, victim, middle, rng):
    """Start the run and kill a victim: whether it was struck, and whether the run has ended nevertheless."""
    process, struck = project.start("-m", "snakemake", "-c2", *METHOD_TARGETS), False
    wait(process, project.root, rng, middle)
    while process.poll() is None and not struck:
        struck = strike(project.root, victim, rng)
        time.sleep(0.05)
    if rng.random() < 0.5:  # else the next one starts while others are still ending
        wait_until_gone(project.root)
    code, text = finish(process)
    assert "unlock" not in text, text
    assert struck or code == 0, text
    return struck, code == 0


def tell(record, kills, resumed):
    """The row of this storm."""
    told = ", ".join(f"{count} of {victim}" for victim, count in kills.items())
    outcome = (
        f"killed with -9: {told}; trainings that went on in the middle, at different steps: {resumed};"
        " results bit-identical; when the command had ended, no process, no lock"
        " and, but for empty folders of Snakemake and torch, no temporary file left"
    )
    record("kills of a run of five kinds of methods", kills.total(), outcome)


def test_whatever_is_killed_the_results_are_bit_identical(undisturbed, project, record):
    rng, kills, resumed, rounds = random.Random(0), Counter(dict.fromkeys(VICTIMS, 0)), set(), 0
    wanted = max(4, count_cases(40) // 10)
    while (kills.total() < wanted or not resumed) and rounds < 5 * wanted:
        # The numbers of victims and of moments have no common factor: each meets each.
        middle, victim = rounds % 3 > 0, min(kills, key=kills.get)
        struck, ended = disturb(project, victim, middle, rng)
        kills[victim], rounds = kills[victim] + struck, rounds + 1
        resumed |= find_resumed(project, undisturbed)
        if ended:
            assert list_differences(project, undisturbed, METHOD_TARGETS) == []
            shutil.rmtree(project.root / "results")
    (project.root / TABLE).unlink(missing_ok=True)  # so that a server starts, which removes what killed ones have left
    project.snakemake(*METHOD_TARGETS)
    assert list_differences(project, undisturbed, METHOD_TARGETS) == []
    assert list_left(project) == []
    resumed |= find_resumed(project, undisturbed)
    assert kills.total() >= wanted and resumed
    tell(record, kills, len(resumed))
