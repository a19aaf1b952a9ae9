"""Stages that are given too little at random: room on the disk, size of files, memory, open files, seconds of a CPU.
Each ends, or says in words what is missing; nothing half-written is left, and with enough of everything the same
command ends with bit-identical results."""

import random
import re
import resource
import shutil
import signal
import subprocess
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pytest
from project import tiny_project
from storms.conftest import CASES, RUNS, SECONDS, count_cases, read_results

pytestmark = [pytest.mark.storm, pytest.mark.long]
PROGRAMS = {  # by the folder of a stage's results
    "data": ["data"],
    "stage1": ["stage1"],
    "groups": ["groups"],
    "runs": ["stage2", "evaluate"],
}
LIMITS = {
    "size of files": (resource.RLIMIT_FSIZE, lambda rng: rng.choice([0, 10, 1000, 10**5, 10**6])),
    "memory": (resource.RLIMIT_AS, lambda rng: int(rng.uniform(0.2, 4) * 2**30)),
    "open files": (resource.RLIMIT_NOFILE, lambda rng: rng.randint(5, 30)),
    "seconds of a CPU": (resource.RLIMIT_CPU, lambda rng: rng.randint(1, 8)),
}
DISK = "room on the disk"
WORDS = re.compile(
    r"not enough memory|cannot be written|Too many open files|File too large|No space left|Cannot allocate memory|"
    r"failed to map segment|MemoryError|Memory allocation|No usable temporary directory|"
    r"can't start new thread|cannot allocate memory|bad_alloc|"
    r"SystemError: error return without exception set"  # of CPython, where an import finds no memory
)


@contextmanager
def small_disk(folder, rng):
    """A disk with little room for the results, which it holds already."""
    kept = folder.with_name("kept")
    folder.rename(kept)
    folder.mkdir()
    used = sum(path.stat().st_size for path in kept.rglob("*") if path.is_file()) // 1024
    size = int(used * 1.1) + rng.choice([64, 500, 5000])  # kB
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", folder]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("no disk can be mounted here")
    try:
        shutil.copytree(kept, folder, dirs_exist_ok=True)
        yield
    finally:
        shutil.rmtree(kept)
        shutil.copytree(folder, kept)
        subprocess.run(["umount", folder], check=True)
        folder.rmdir()
        kept.rename(folder)


def list_stages(root):
    """(program, folder) of every finished result."""
    folders = (path.parent.relative_to(root) for path in sorted(root.glob("results/**/about.json")))
    return [(program, folder) for folder in folders for program in PROGRAMS[folder.parts[1]]]


def start(project, stage, limit=None):
    """A stage (program, folder) as a command of its own, with a limit: exit status and what it says."""
    program, folder = stage

    def restrict():
        if limit:
            kind, amount = limit
            resource.setrlimit(kind, (amount, amount + 1 if kind == resource.RLIMIT_CPU else amount))

    said_alone = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    process = project.start("-m", f"despur.{program}", str(folder), preexec_fn=restrict, **said_alone)
    try:
        _, said = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        state = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0]
        process.kill()
        _, said = process.communicate()
        # OpenBLAS, while it is imported, asks for memory again and again; nothing of despur's may wait
        assert limit and limit[0] == resource.RLIMIT_AS and state == "R", (stage, limit, state, said)
    return process.returncode, said


def list_temporary(root):
    """Files that are being written."""
    return [path for path in root.glob("results/**/.*") if path.is_file()]


def test_what_is_too_little_is_said_and_leaves_nothing(tmp_path_factory, tmp_path, record):
    project = tiny_project(tmp_path_factory).copy(tmp_path / "p")
    if CASES:
        project.snakemake(*RUNS.values())
    before, rng, outcomes = read_results(project.root), random.Random(0), Counter()
    kinds, stages = [*LIMITS, DISK], list_stages(project.root)
    for number in range(max(len(kinds), count_cases(20) // 5)):
        kind, stage = kinds[number % len(kinds)], rng.choice(stages)
        if kind == DISK:
            with small_disk(project.root / "results", rng):
                code, said = start(project, stage)
        else:
            limit, choose = LIMITS[kind]
            code, said = start(project, stage, (limit, choose(rng)))
        assert code <= 0 or WORDS.search(said), (kind, stage, said)
        assert list_temporary(project.root) == [] or code < 0, (kind, stage)  # of those that are killed, the next one
        if code:
            assert start(project, stage)[0] == 0, (kind, stage)
        assert list_temporary(project.root) == [] and read_results(project.root) == before, (kind, stage)
        ends = {0: "ended", 1: "said what is missing", -signal.SIGKILL: "asked for memory without end, in OpenBLAS"}
        outcomes[ends.get(code, "killed by the system")] += 1
    told = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    outcome = f"{told}; nothing half-written left, the same command then ended, results bit-identical"
    record(f"stages with too little: {', '.join(kinds)}", outcomes.total(), outcome)
