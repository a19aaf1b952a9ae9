"""Intermediate files that are deleted, emptied, cut off, changed by a bit or exchanged, under their old time or a new
one, before what was made of them is made again: the results are bit-identical, or a message names the file, and its
remedy helps."""

import json
import os
import random
import re
import shutil
import time
from collections import Counter

import pytest
from project import FIGURE, TABLE, tiny_project
from storms.conftest import count_cases, forget_times

pytestmark = [pytest.mark.storm, pytest.mark.long]
TARGETS = {
    "cnc": (TABLE, FIGURE),
    "adapters": (
        "results/runs/scene_digits+copies=1/contrastive_adapter+epochs=1+stage1.epochs=1+stage1.scenes=5/s0/metrics.csv",
    ),
    "icl_msr": ("results/runs/colored_digits/linear_classifier+stage1=simclr_msr/s0/metrics.csv",),
}
EVALUATED = ("metrics.csv", "resamples.parquet")  # made by another job than the other files of their folder


def flip(content, rng):
    """One bit is changed."""
    at = rng.randrange(len(content))
    return content[:at] + bytes([content[at] ^ 1 << rng.randrange(8)]) + content[at + 1 :]


DAMAGES = {
    "deleted": None,
    "emptied": lambda content, rng: b"",
    "cut off": lambda content, rng: content[: len(content) // 2],
    "zeros": lambda content, rng: bytes(len(content)),
    "a bit": flip,
    "exchanged": None,
}


def find_job(path):
    """The files of one folder that one job makes, by a name of their own."""
    return path.parent, path.name in EVALUATED


def list_files(root):
    """All files of results but logs, those that were made first before others."""
    files = [path for path in root.glob("results/**/*") if path.is_file() and "logs" not in path.parts]
    return sorted(files, key=lambda path: path.stat().st_mtime_ns)


def damage(path, how, others, rng):
    """Damage a file; an exchanged one gets the content of another file of its name."""
    if how == "deleted":
        path.unlink()
    elif how == "exchanged":
        path.write_bytes(rng.choice(others).read_bytes())
    else:
        path.write_bytes(DAMAGES[how](path.read_bytes(), rng))


def remove_later(root, path):
    """Remove what was made after a file, by other jobs than its own."""
    made = path.stat().st_mtime_ns
    for other in list_files(root):
        if other.stat().st_mtime_ns > made and find_job(other) != find_job(path):
            other.unlink()


def read(root, without):
    """The contents of all files of results but logs and one file; of JSON, without what differs from run to run."""
    contents = {str(path.relative_to(root)): path.read_bytes() for path in list_files(root) if path != root / without}
    return {
        name: forget_times(json.loads(content)) if name.endswith(".json") else content
        for name, content in contents.items()
    }


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """By paper, a finished run; each is the tiny project's, with targets of its own."""
    found = {}
    for paper, targets in TARGETS.items():
        project = tiny_project(tmp_path_factory).copy(tmp_path_factory.mktemp(paper) / "project")
        if paper != "cnc":
            shutil.rmtree(project.root / "results")
            project.snakemake(*targets)
        found[paper] = project
    return found


def list_cases(finished, rng):
    """(paper, file, damage, whether its time is old) of every intermediate file, in random order."""
    cases = []
    for paper, project in finished.items():
        files = [path.relative_to(project.root) for path in list_files(project.root)]
        for file in (file for file in files if file.parts[1] in ("data", "stage1", "groups", "runs")):
            if str(file) not in TARGETS[paper]:
                cases += [(paper, file, how, old) for how in DAMAGES for old in (True, False)]
    return rng.sample(cases, len(cases))


def ruin(project, file, how, old, others, rng):
    """Damage a file of a project whose later files are removed, where the damage keeps its time: what is left."""
    path = project.root / file
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    if old:
        remove_later(project.root, path)
    damage(path, how, others, rng)
    if how != "deleted":
        os.utime(path, ns=times if old else (time.time_ns(), time.time_ns()))


def make_again(project, targets, file):
    """Run Snakemake; where it stops, do what the message says: whether that was needed."""
    code, text = project.call_snakemake("-c1", *targets)
    if code == 0:
        return False
    assert "Traceback" not in text, text
    name = r"\S+" if file.name == "about.json" else re.escape(file.name)  # an exchanged one keeps other checksums
    said = re.search(
        rf"{re.escape(str(file.parent))}/{name} is broken .*?delete (\S+), then: snakemake (\S+)", text, re.DOTALL
    )
    assert said, text
    (project.root / said[1]).unlink()
    project.snakemake(said[2])
    project.snakemake(*targets)
    return True


def test_a_damaged_file_is_made_again_or_named(finished, tmp_path, record):
    rng, outcomes = random.Random(0), Counter()
    cases = list_cases(finished, rng)[: count_cases(8)]
    for number, (paper, file, how, old) in enumerate(cases):
        others = [p for each in finished.values() for p in each.root.glob(f"results/**/{file.name}")]
        others = [p for p in others if p.read_bytes() != (finished[paper].root / file).read_bytes()]
        if how == "exchanged" and not others:
            continue
        project = finished[paper].copy(tmp_path / str(number))
        ruin(project, file, how, old, others, rng)
        named = make_again(project, TARGETS[paper], file)
        same = read(project.root, file) == read(finished[paper].root, file)
        assert same, (paper, file, how, old)
        outcomes["named, and made again as the message says" if named else "not read, or made again"] += 1
        shutil.rmtree(project.root)
    text = "; ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    record("intermediate files: deleted, emptied, cut off, zeros, a bit, exchanged", outcomes.total(), text)
