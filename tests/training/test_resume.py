"""A run that is killed at any moment and run again is bit-identical to an uninterrupted run."""

import contextlib
import json
import os
import select
import shutil
import signal
import time
from pathlib import Path

import forked
import pytest
from project import finish, kill, tiny_project

RUN = "results/runs/colored_digits/cnc/s0-1"
LOG = "results/logs/runs/colored_digits/cnc/s0-1.log"
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

# Python runs it at its start: training stops as soon as it has written a checkpoint.
HOOK = """
import os, signal, sys, time
from importlib.machinery import PathFinder

class Hook:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "despur.training.loop":
            return None
        spec = PathFinder.find_spec(name, path)
        load = spec.loader.exec_module
        def exec_module(module):
            load(module)
            save = module.save_checkpoint
            def save_and_stop(*of):
                save(*of)
                if os.environ.get("STOP") == "die":
                    os.kill(os.getpid(), signal.SIGKILL)
                said = os.environ["SAID"]
                if os.environ["STOP"] == "wait" and os.path.exists(said):
                    with open(said, "w") as file:  # closed here, so that an interruption is not lost
                        file.write("here")
                    while os.path.exists(said):
                        time.sleep(0.1)
            module.save_checkpoint = save_and_stop
        spec.loader.exec_module = exec_module
        return spec

sys.meta_path.insert(0, Hook)
"""


@pytest.fixture(scope="session")
def uninterrupted(tmp_path_factory):
    return tiny_project(tmp_path_factory)


@pytest.fixture
def project(uninterrupted, tmp_path):
    """As if the run had not been made."""
    copy = uninterrupted.copy(tmp_path / "project")
    shutil.rmtree(copy.root / RUN)
    (copy.root / LOG).unlink()
    return copy


def checkpoints(project):
    """When each checkpoint was last written, oldest first: one for each seed that has been begun."""
    files = [file for file in project.root.glob("results/.resume/*/*.pt") if not file.name.startswith(".")]
    return sorted(file.stat().st_mtime_ns for file in files)


def stop_at_first_checkpoint(project, how):
    """From now on, a training that has written its first checkpoint is killed (``die``) or waits until hooks/said is
    deleted (``wait``); what it says when it waits can be read from the file that is returned."""
    (project.root / "hooks").mkdir(exist_ok=True)
    (project.root / "hooks/sitecustomize.py").write_text(HOOK)
    said = project.root / "hooks/said"
    if not said.exists():
        os.mkfifo(said)
    paths = f"{project.root / 'hooks'}{os.pathsep}{project.root / 'workflow'}"
    project.environment |= {"PYTHONPATH": paths, "STOP": how, "SAID": str(said)}
    return os.open(said, os.O_RDWR)


def wait_for_checkpoint(said):
    """Wait for a training that stopped at its first checkpoint."""
    assert select.select([said], [], [], 600)[0], "no training came to a checkpoint in ten minutes"
    os.close(said)


def facts(project, run=RUN):
    """What about.json says of each run, without seconds."""
    runs = json.loads((project.root / run / "about.json").read_text())["runs"]
    return {key: {name: value for name, value in run.items() if name != "seconds"} for key, run in runs.items()}


def assert_same(project, uninterrupted, *files):
    for file in files:
        assert (project.root / RUN / file).read_bytes() == (uninterrupted.root / RUN / file).read_bytes(), file
    assert facts(project) == facts(uninterrupted)
    assert checkpoints(project) == []


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
    assert_same(project, uninterrupted, *TRAINED)


@pytest.mark.long
def test_the_steps_that_rules_select_survive_a_kill(project):
    ruled = RUN.replace("/s0-1", "+evaluate_every=4+selections=rules/s0-1")
    kept = []
    for killed in (False, True):
        (project.root / "workflow/killed.py").write_text(KILLED)
        if killed:
            shutil.rmtree(project.root / ruled)
            code, text = work(project, "workflow/killed.py", ruled, "--checkpoint-seconds", "0")
            assert code == -signal.SIGKILL, text
        code, text = work(project, "-m", "despur.stage2", ruled)
        assert code == 0 and ("1: resumes at step 20" in text) == killed, text
        kept.append([facts(project, ruled), *((project.root / ruled / file).read_bytes() for file in TRAINED)])
    assert kept[0] == kept[1]
    assert any({*run["selections"].values()} - {"best", "last"} for run in kept[0][0].values())


def work(project, *command):
    """What ``python COMMAND`` ends with and prints, in a fork of this process."""
    return forked.run([*command], project.root, project.environment, 600, forked.HERE)


def call(project):
    return project.start("-m", "snakemake", "-c1", f"{RUN}/metrics.csv")


@pytest.mark.long
def test_a_training_that_is_interrupted_says_so_in_one_line_and_keeps_its_checkpoint(project, uninterrupted):
    said = stop_at_first_checkpoint(project, "wait")
    process = project.start(*STAGE2)
    wait_for_checkpoint(said)
    process.send_signal(signal.SIGINT)
    assert finish(process) == (1, "stopped; the same command goes on where it was\n")
    assert len(checkpoints(project)) == 1
    project.environment["STOP"] = ""
    assert "/0: resumes at step" in project.python(*STAGE2)
    assert_same(project, uninterrupted, *TRAINED)


def list_open_files(process):
    """What the descriptors of a process point to; one may be closed between its listing and its reading."""
    opened = []
    for descriptor in Path(f"/proc/{process.pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            opened.append(descriptor.readlink())
    return opened


def wait_until_open(process, file):
    """Wait until a process has opened a file."""
    while file not in list_open_files(process):
        assert process.poll() is None, "it ended without opening the file"
        time.sleep(0.01)


@pytest.mark.long
def test_while_snakemake_is_at_work_others_are_refused_also_after_one_was_killed(project, uninterrupted):
    said = stop_at_first_checkpoint(project, "wait")
    working = call(project)
    wait_for_checkpoint(said)
    starting = call(project)
    wait_until_open(starting, project.root / ".snakemake/alive")
    kill(starting)
    code, text = finish(call(project))
    assert code == 1 and "cannot be locked" in text

    (project.root / "hooks/said").unlink()
    code, text = finish(working)
    assert code == 0, text
    assert_same(project, uninterrupted, *TRAINED, "metrics.csv")
    assert "Nothing to be done" in project.snakemake(f"{RUN}/metrics.csv")  # without --unlock


@pytest.mark.long
def test_snakemake_goes_on_after_its_job_or_itself_was_killed_and_ends_with_the_same_digits(project, uninterrupted):
    log = project.root / LOG
    os.close(stop_at_first_checkpoint(project, "die"))
    code, text = finish(call(project))
    assert code == 1 and "FAILED  Training cnc" in text
    assert len(checkpoints(project)) == 1

    said = stop_at_first_checkpoint(project, "wait")
    process = call(project)
    wait_for_checkpoint(said)
    assert "/0: resumes at step" in log.read_text()
    kill(process)
    project.environment["STOP"] = ""
    (project.root / RUN).mkdir(parents=True, exist_ok=True)
    (project.root / RUN / "outputs.safetensors").write_bytes(b"half writ")

    project.snakemake(f"{RUN}/metrics.csv")
    assert "/0: resumes at step" in log.read_text()
    assert_same(project, uninterrupted, *TRAINED, "metrics.csv")
