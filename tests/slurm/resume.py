"""On a real SLURM: the tiny configuration as SLURM jobs. A training job that is canceled, is pre-empted or loses its
node continues from its checkpoint, and its result is bit-identical.

make test-slurm   (needs Debian's slurm-wlm and munge, and root; not among the tests that `make test` collects)
"""

import contextlib
import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import psutil
import pytest
from project import finish, kill, save_every_step, tiny_project

HERE = Path(__file__).parent
RUNS = [f"results/runs/colored_digits/{method}/s0-1" for method in ("cnc", "erm")]
MADE = ("models.safetensors", "outputs.safetensors", "history.csv", "metrics.csv")
LOG = "results/logs/runs/colored_digits/cnc/s0-1.log"
# What a user edits in the profile: here is one partition, no account, no accounting, no GPU. Then: how patient a test
# is.
PROFILE = (
    "--workflow-profile profiles/slurm --default-resources slurm_partition=test --slurm-no-account "
    "--slurm-status-command squeue"
)
PROFILE += " --set-resources train_stage1:gpu=0 train_stage2:gpu=0"
TEST = "--latency-wait 5 --slurm-init-seconds-before-status-checks 3"

pytestmark = pytest.mark.skipif(
    not (shutil.which("slurmctld") and shutil.which("munged") and os.getuid() == 0),
    reason="apt-get install slurm-wlm munge; as root",
)


@pytest.fixture(scope="session")
def uninterrupted(tmp_path_factory):
    """The same runs without SLURM and without a cancellation."""
    return tiny_project(tmp_path_factory)


@pytest.fixture
def cluster(tmp_path_factory):
    """A SLURM of our own: its folder."""
    folder = tmp_path_factory.mktemp("slurm")
    try:
        subprocess.run([HERE / "start.sh", folder], check=True, timeout=60)
        yield folder
    finally:
        subprocess.run([HERE / "stop.sh", folder], check=True, timeout=60)


@pytest.fixture
def project(uninterrupted, cluster, tmp_path):
    """The finished runs, with this SLURM at hand."""
    project = uninterrupted.copy(tmp_path / "project")
    project.environment |= {
        "SLURM_CONF": str(cluster / "slurm.conf"),
        "PATH": f"{cluster / 'bin'}:{project.environment['PATH']}",
    }
    return project


def start_anew(project, *folders):
    """What is in these folders is not made yet, and every step will be saved."""
    for folder in folders:
        shutil.rmtree(project.root / folder)
    save_every_step(project)


def slurm(project, *command):
    return subprocess.run(command, env=project.environment, capture_output=True, text=True, check=True).stdout


def queue(project):
    """Numbers of the jobs that run, by what the executor says of them:
    ``rule_train_stage2_wildcards_colored_digits_cnc_s0-1``."""
    lines = slurm(project, "squeue", "--noheader", "--states=R", "--format=%i %k").splitlines()
    return {comment: number for number, _, comment in (line.partition(" ") for line in lines)}


def saved(project):
    """The steps of CNC's first seed that have been saved, as times of its checkpoints."""
    found = [path.stat().st_mtime_ns for path in project.root.glob("results/.resume/*/*,s0.pt")]
    return max(found, default=0)


def stop_in_the_middle(project, process, stop, checkpoints=20):
    """Wait until CNC has saved some checkpoints, then stop its job."""
    times = set()
    while len(times - {0}) < checkpoints:
        assert process.poll() is None, process.communicate()[0]
        running = [
            number for comment, number in queue(project).items() if "train_stage2" in comment and "cnc" in comment
        ]
        deadline = time.monotonic() + 1
        while running and time.monotonic() < deadline and len(times) <= checkpoints:
            times.add(saved(project))
            time.sleep(0.002)
    stop(project, running[0])


def cancel(project, job):
    """As a user does, or SLURM where a job takes too many minutes: Snakemake submits it again."""
    slurm(project, "scancel", job)


def preempt(project, job):
    """As SLURM does where a more urgent job needs the place: the job goes back into the queue by itself."""
    slurm(project, "scontrol", "requeue", job)


def lose_node(project, job):
    """The node's daemon and all that it started die at once. SLURM sees it, and the node comes back."""
    cluster = Path(project.environment["SLURM_CONF"]).parent
    node = slurm(project, "sinfo", "--noheader", "--format=%n").strip()
    daemon = psutil.Process(int((cluster / "slurmd.pid").read_text()))
    steps = [each for each in psutil.process_iter() if each.name().startswith("slurmstepd")]
    started = [child for step in steps for child in step.children(recursive=True)]
    for process in (daemon, *steps, *started):
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    slurm(project, "scontrol", "update", f"nodename={node}", "state=down", "reason=lost")
    slurm(project, "slurmd")  # ReturnToService in start.sh: jobs are sent to it again


def snakemake(project, *options):
    """Start Snakemake on this SLURM for the metrics of all runs."""
    targets = (f"{run}/metrics.csv" for run in RUNS)
    return project.start("-m", "snakemake", *PROFILE.split(), *TEST.split(), *options, "--", *targets)


def assert_same(project, uninterrupted):
    for run in RUNS:
        for file in MADE:
            assert (project.root / run / file).read_bytes() == (uninterrupted.root / run / file).read_bytes(), (
                f"{run}/{file}"
            )


@pytest.mark.parametrize("stop", [cancel, preempt, lose_node])
def test_a_stopped_job_goes_on_where_it_was_and_ends_with_the_digits_of_an_uninterrupted_run(
    stop, project, uninterrupted
):
    # one of them sends all stages to SLURM, the others only what can be stopped and what follows it
    start_anew(project, *(["results", ".snakemake"] if stop is cancel else ["results/runs"]))
    process = snakemake(project)
    try:
        stop_in_the_middle(project, process, stop)
        code, text = finish(process, seconds=400)
    finally:
        if process.poll() is None:
            kill(process)
    assert code == 0, text
    if stop is cancel:  # else SLURM starts it again by itself
        assert re.search("^again +Training cnc on colored_digits", text, re.MULTILINE), text
    resumed = re.search(r"/0: resumes at step (\d+)", (project.root / LOG).read_text())
    steps = json.loads((project.root / RUNS[0] / "about.json").read_text())["runs"]["colored_digits/cnc/s0"]["steps"]
    assert resumed and 0 < int(resumed[1]) < steps
    assert_same(project, uninterrupted)
    assert not list(project.root.glob("results/.resume/*/*.pt"))


def test_more_jobs_than_may_be_in_the_queue_at_once_all_end(project, uninterrupted):
    for run in RUNS:
        (project.root / run / "metrics.csv").unlink()
    code, text = finish(snakemake(project, "--jobs", "1"), seconds=200)
    assert code == 0, text
    assert_same(project, uninterrupted)
