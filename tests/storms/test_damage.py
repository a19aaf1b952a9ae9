"""Intermediate files that are deleted, emptied, cut off, changed by a bit or exchanged, under their old time or a new
one, before what was made of them is made again: the results are bit-identical, or a message names the file, and its
remedy helps."""

import json
import os
import pickle
import random
import re
import shutil
import time
from collections import Counter

import pytest
from project import FIGURE, TABLE, tiny_project
from storms.conftest import RUNS, count_cases, forget_times

from despur.evidence.runs.run_files import READERS
from despur.storage.containers import Container
from despur.storage.reading import reading
from despur.storage.store import InputError, load_dataset

pytestmark = [pytest.mark.storm, pytest.mark.long]
TARGETS = {paper: (run,) for paper, run in RUNS.items()} | {"cnc": (TABLE, FIGURE)}
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


@pytest.fixture
def tiny(tmp_path_factory):
    return tiny_project(tmp_path_factory)


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
    if missing := re.search(rf"{re.escape(str(file))} is not there: make it with snakemake (\S+)", text):
        project.snakemake(missing[1])
        project.snakemake(*targets)
        return True
    name = r"\S+" if file.name == "about.json" else re.escape(file.name)  # an exchanged one keeps other checksums
    said = re.search(
        rf"{re.escape(str(file.parent))}/{name} is broken .*?delete (\S+), then: snakemake (\S+)", text, re.DOTALL
    )
    assert said, text
    (project.root / said[1]).unlink()
    project.snakemake(said[2])
    project.snakemake(*targets)
    return True


def read_by_suffix(path):
    """What a stage or a table reads of a result."""
    if path.name in ("metrics.csv", "resamples.parquet", "agreement.csv"):
        return READERS[path.name](path)
    if path.parts[-3:-1] == ("data", "colored_digits"):
        return load_dataset(path.parent, "colored_digits")
    if path.suffix == ".safetensors":
        return Container(path)
    with reading(path):
        return json.loads(path.read_text()) if path.suffix == ".json" else path.read_bytes()


def test_whatever_is_damaged_in_a_file_its_reader_names_it(tiny, tmp_path, record):
    root, rng, cases, same = tiny.copy(tmp_path / "p").root, random.Random(0), count_cases(100), 0
    files = [path for stage in ("data", "stage1", "groups", "runs") for path in list_files(root) if stage in path.parts]
    kept = {path: path.read_bytes() for path in files if path.stat().st_size}
    for _ in range(cases):
        path, how = rng.choice(list(kept)), rng.choice([how for how, change in DAMAGES.items() if change])
        damage(path, how, [], rng)
        try:
            found = read_by_suffix(path)
        except InputError as error:
            assert str(error).startswith(f"{path} is broken"), (path, how, error)
            path.write_bytes(kept[path])
        else:  # such as 1E-05 for 1e-05 in JSON, or other statistics in a parquet
            path.write_bytes(kept[path])
            assert path.name in ("about.json", "resamples.parquet"), (path, how)
            assert pickle.dumps(found) == pickle.dumps(read_by_suffix(path)), (path, how)
            same += 1
    outcome = f"{cases - same} refused by the name of the file, {same} with the same meaning"
    record("files of results: emptied, cut off, zeros or a bit, as their readers see them", cases, outcome)


def test_a_damaged_file_is_made_again_or_named(finished, tmp_path, record):
    rng, outcomes = random.Random(0), Counter()
    cases = list_cases(finished, rng)[: count_cases(40) // 10]
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
