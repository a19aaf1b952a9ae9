"""Processes that are stopped for half a minute (SIGSTOP) at random, as by a full machine or a laptop that sleeps:
Snakemake, a job, the server of jobs, everything at once. The run goes on by itself, with bit-identical results."""

import contextlib
import random
import shutil
import signal
import time
from collections import Counter

import psutil
import pytest
from project import finish
from storms.conftest import CASES, RUNS, count_cases, list_differences
from storms.test_kills import VICTIMS, find_victims, list_left

pytestmark = [pytest.mark.storm, pytest.mark.long]
TARGETS = list(RUNS.values()) if CASES else [RUNS["cnc"]]
STOPPED = 30 if CASES else 3  # seconds
LONGEST = 15 * len(TARGETS)  # seconds until a stop


def send(processes, number):
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.send_signal(number)


def stop(root, victim, rng):
    """Stop a process of this kind, or all of them, for some time; whether there was any."""
    found = find_victims(root, victim)
    chosen = found if victim == "everything" else rng.sample(found, min(1, len(found)))
    send(chosen, signal.SIGSTOP)
    try:
        time.sleep(STOPPED if chosen else 0.05)
    finally:
        send(chosen, signal.SIGCONT)
    return bool(chosen)


def test_a_run_whose_processes_are_stopped_for_some_time_ends_as_if_they_were_not(undisturbed, project, record):
    rng, wanted, stopped = random.Random(0), max(len(VICTIMS), count_cases(20) // 10), Counter()
    for number in range(5 * wanted):  # in some rounds the run ends before its stop
        if stopped.total() == wanted:
            break
        victim = list(VICTIMS)[number % len(VICTIMS)]
        process, struck, until = project.start("-m", "snakemake", "-c2", *TARGETS), False, rng.uniform(0, LONGEST)
        time.sleep(until)
        while process.poll() is None and not struck:
            struck = stop(project.root, victim, rng)
        code, text = finish(process)
        assert code == 0, (victim, until, text)
        assert list_left(project) == []
        assert list_differences(project, undisturbed, TARGETS) == [], (victim, until)
        shutil.rmtree(project.root / "results")
        stopped[victim] += struck
    assert stopped.total() == wanted
    told = ", ".join(f"{count} of {victim}" for victim, count in stopped.items())
    outcome = f"{told}; the run ended by itself, results bit-identical, nothing left"
    record(f"processes stopped for {STOPPED} seconds (SIGSTOP) at random", wanted, outcome)
