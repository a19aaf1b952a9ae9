"""A training that is killed and run again is bit-identical to an uninterrupted one. Of whole runs: storms/test_kills.py
and storms/test_two_snakemakes.py."""

import json
import shutil
import signal
import time

import forked
import pytest
from project import finish, save_every_step, tiny_project

RUN = "results/runs/colored_digits/cnc/s0-1"
TRAINED = ("models.safetensors", "outputs.safetensors", "history.csv")
STAGE2 = ("-m", "despur.stage2", RUN)
# Stage 2, killed as soon as the second seed has written 20 checkpoints.
KILLED = """
import os, runpy, signal
from despur.training import loop

save, written = loop.save_checkpoint, []

def save_and_count(path, *of):
    save(path, *of)
    written.append(path)
    if path != written[0] and written.count(path) == 20:
        os.kill(os.getpid(), signal.SIGKILL)

loop.save_checkpoint = save_and_count
runpy.run_module("despur.stage2", run_name="__main__")
"""


@pytest.fixture(scope="session")
def uninterrupted(tmp_path_factory):
    return tiny_project(tmp_path_factory)


@pytest.fixture
def project(uninterrupted, tmp_path):
    """As if the run had not been made."""
    copy = uninterrupted.copy(tmp_path / "project")
    shutil.rmtree(copy.root / RUN)
    return copy


def checkpoints(project):
    """The checkpoints: one for each seed that has been begun."""
    return [file for file in project.root.glob("results/.resume/*/*.pt") if not file.name.startswith(".")]


def facts(project):
    """What about.json says of each run, without seconds."""
    runs = json.loads((project.root / RUN / "about.json").read_text())["runs"]
    return {key: {name: value for name, value in run.items() if name != "seconds"} for key, run in runs.items()}


def work(project, *command):
    """What ``python COMMAND`` ends with and prints, in a fork of this process."""
    return forked.run([*command], project.root, project.environment, 600, forked.HERE)


def test_a_killed_training_goes_on_and_ends_with_the_same_digits(project, uninterrupted):
    (project.root / "workflow/killed.py").write_text(KILLED)
    code, text = work(project, "workflow/killed.py", RUN, "--checkpoint-seconds", "0")
    assert code == -signal.SIGKILL, text
    assert not (project.root / RUN).exists() and len(checkpoints(project)) == 2
    code, text = work(project, *STAGE2)
    assert code == 0, text
    steps = {
        seed: int(line.rpartition(" ")[2])
        for line in text.splitlines()
        for seed in "01"
        if f"/{seed}: resumes at step" in line
    }
    whole = {key[-1]: run["steps"] for key, run in facts(uninterrupted).items()}
    assert steps["0"] == whole["0"] and steps["1"] == 20 < whole["1"]
    for file in TRAINED:
        assert (project.root / RUN / file).read_bytes() == (uninterrupted.root / RUN / file).read_bytes(), file
    assert facts(project) == facts(uninterrupted) and not checkpoints(project)


@pytest.mark.long
def test_a_training_that_is_interrupted_says_so_in_one_line_and_keeps_its_checkpoint(project):
    save_every_step(project)
    process = project.start(*STAGE2)
    while process.poll() is None and not checkpoints(project):
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    assert finish(process) == (1, "stopped; the same command goes on where it was\n")
    assert checkpoints(project) and not (project.root / RUN).exists()
