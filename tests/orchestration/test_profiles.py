"""The same DAG on other machines: what the profiles request, and what is said where a machine does not have it."""

import os
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from project import SOURCE, Project, pretend, tiny_project
from snakemake_executor_plugin_slurm.submit_string import get_submit_command
from snakemake_executor_plugin_slurm.utils import set_gres_string

from despur.orchestration import resources
from despur.specs.paths import locate_result

RUN = "results/runs/colored_digits/erm/s0-1"
OF_EIGHT_GPUS = "results/stage1/imagenet/simclr/s0/models.safetensors"
SLURM = ("--workflow-profile", "profiles/slurm")


def make_project(root):
    """On a machine without GPUs of its own."""
    made = Project.fresh(root / "project")
    made.environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{pretend(root, 'nvidia-smi')}"
    return made


@pytest.fixture
def project(tmp_path):
    """One to be edited."""
    return make_project(tmp_path)


@pytest.fixture(scope="module")
def unedited(tmp_path_factory):
    """One that several tests read."""
    return make_project(tmp_path_factory.mktemp("unedited"))


@pytest.fixture
def gpu_project(unedited, monkeypatch):
    """On a machine that shows eight GPUs."""
    monkeypatch.setitem(unedited.environment, "CUDA_VISIBLE_DEVICES", ",".join(map(str, range(8))))
    return unedited


def read_resources(details):
    """The resources of a job of a dry-run, as numbers where they are."""
    pairs = re.search(r"resources: (.*)", details)[1].split(", ")
    return {key: int(value) if value.isdigit() else value for key, value in (pair.split("=", 1) for pair in pairs)}


@pytest.fixture(scope="module")
def on_slurm(unedited):
    """What the jobs behind some results ask SLURM for, by job."""
    names = ("celeba/erm", "moji/inlp", "cmnist/cnc")
    evaluated = (f"results/runs/{data}/erm/s0/metrics.csv" for data in ("imagenet+size=32", "colored_digits"))
    targets = [*(f"results/runs/{name}/s0/models.safetensors" for name in names), OF_EIGHT_GPUS, *evaluated]
    return {job: read_resources(details) for job, details in unedited.plan(*targets, *SLURM).items() if job != "all"}


def dry_run(project, visible, *arguments):
    """With the profile for GPUs on a machine that shows these."""
    project.environment["CUDA_VISIBLE_DEVICES"] = visible
    return project.call_snakemake("-n", "--workflow-profile", "profiles/gpu", f"{RUN}/metrics.csv", *arguments)


@pytest.mark.parametrize(
    ("visible", "slots", "message"),
    [
        ("", "1", "a GPU is requested, and this machine shows none"),
        ("0,1", "3", "3 slots are requested, but 2 GPUs (0, 1) with jobs_per_gpu=1"),
    ],
)
def test_gpus_that_are_not_there_are_refused_before_anything_runs(gpu_project, visible, slots, message):
    code, text = dry_run(gpu_project, visible, "--resources", f"gpu={slots}")
    assert code == 1 and message in text and "rule train" not in text


@pytest.mark.parametrize(
    ("profile", "expected"), [(("--workflow-profile", "profiles/gpu", "--resources", "gpu=2"), (1, 1)), ((), (0, 0))]
)
def test_training_asks_for_a_gpu_where_the_profile_has_some(gpu_project, profile, expected):
    plan = gpu_project.plan(f"{RUN}/models.safetensors", *profile)
    asked = read_resources(plan[f"train_stage2 {RUN.removeprefix('results/runs/')}"])
    assert (asked["gpu"], asked["jobs_per_gpu"]) == expected


@pytest.mark.parametrize(("slots", "jobs_per_gpu", "expected"), [(16, 2, 8), (8, 2, 1), (2, 16, 1)])
def test_a_stage_1_of_imagenet_takes_eight_gpus_where_the_profile_has_them(gpu_project, slots, jobs_per_gpu, expected):
    own = ("--resources", f"gpu={slots}", "--set-resources", f"train_stage1:jobs_per_gpu={jobs_per_gpu}")
    text = gpu_project.snakemake("-n", "-p", OF_EIGHT_GPUS, "--workflow-profile", "profiles/gpu", *own)
    command = (
        f"python -m despur.orchestration.gpu_slots --gpus {expected} --jobs-per-gpu {jobs_per_gpu} python -m "
        f"despur.warm -m despur.stage1 {OF_EIGHT_GPUS}"
    )
    assert command in " ".join(text.split())


def test_on_a_cluster_jobs_ask_for_what_their_data_and_method_need(on_slurm):
    trained, fitted = (on_slurm[f"train_stage2 {name}/s0"] for name in ("celeba/erm", "moji/inlp"))
    assert (trained["gpu"], trained["jobs_per_gpu"], trained["cpus_per_task"]) == (1, 0, 4)
    assert fitted["gpu"] == 0 and fitted["mem_mb"] < trained["mem_mb"] and fitted["runtime"] < trained["runtime"]
    assert trained["slurm_partition"] == "gpu"


def test_an_evaluation_asks_for_what_its_data_need(on_slurm):
    asked = [on_slurm[f"evaluate {data}/erm/s0"]["mem_mb"] for data in ("colored_digits", "imagenet+size=32")]
    results = [locate_result(f"results/runs/{data}/erm/s0") for data in ("colored_digits", "imagenet+size=32")]
    expected = [resources.estimate_resources(replace(result, stage="evaluate"))["mem_mb"] for result in results]
    assert asked == expected == sorted(set(asked))


def test_the_gpus_of_a_cluster_s_job_lie_on_one_node(on_slurm):
    """As sbatch is told by the executor."""
    asked = on_slurm["train_stage1 imagenet/simclr/s0"]
    job = SimpleNamespace(resources=SimpleNamespace(**asked, get=asked.get), threads=1)
    told = dict.fromkeys(("run_uuid", "slurm_logfile", "comment_str", "account", "partition", "workdir"), "")
    call = get_submit_command(job, told).split()
    assert {"--gpus=8", "--nodes=1"} <= {*call, *set_gres_string(job).split()}


def test_kubernetes_is_asked_for_gpus_with_a_limit_without_which_it_refuses_them():
    """Its executor sets limits where ``scale`` is 0 only."""
    profile = yaml.safe_load((SOURCE / "profiles/kubernetes/profile.yaml").read_text())
    assert {'gpu_manufacturer="nvidia"', "scale=0"} <= {*profile["default-resources"]}


def test_a_cluster_without_gpus_is_asked_for_the_minutes_of_a_cpu(on_slurm, unedited):
    job, models = "train_stage2 cmnist/cnc/s0", "results/runs/cmnist/cnc/s0/models.safetensors"
    plan = unedited.plan(models, *SLURM, "--set-resources", "train_stage2:gpu=0")
    with_gpu, without = on_slurm[job], read_resources(plan[job])
    assert (with_gpu["gpu"], without["gpu"]) == (1, 0) and without["runtime"] > with_gpu["runtime"]


@pytest.mark.parametrize(
    ("rules", "made", "stage"), [("evaluate", "metrics.csv", "evaluate"), ("stage2", "models.safetensors", "runs")]
)
def test_a_job_that_failed_is_tried_again_with_more(project, rules, made, stage):
    """The profile for SLURM, its jobs run here: each writes down what it was given and fails. How much,
    workflow/resources.yaml decides."""
    asked = project.root / "asked"
    shell = f'"echo {{resources.mem_mb}} {{resources.runtime}} >> {asked}; false"'
    project.edit(
        f"workflow/rules/{rules}.smk", lambda text: re.sub(r"(shell:\n\s+).*", rf"\1{shell}", text, flags=re.DOTALL)
    )
    data = ("inputs.npy", "masks.npy", "table.parquet", "groups.npz")
    trained = ("models.safetensors", "outputs.safetensors", "about.json") if rules == "evaluate" else ()
    files = [*(f"results/data/colored_digits/{name}" for name in data), *(f"{RUN}/{name}" for name in trained)]
    for file in files:
        (project.root / file).parent.mkdir(parents=True, exist_ok=True)
        (project.root / file).touch()
    here = (*SLURM, "--executor", "local", "--cores", "1", "--retries", "2", "--latency-wait", "0")
    code, text = project.call_snakemake(*here, "--", f"{RUN}/{made}")
    given = [tuple(map(int, line.split())) for line in asked.read_text().splitlines()]
    result = replace(locate_result(RUN), stage=stage)
    each = [resources.estimate_resources(result, attempt) for attempt in (1, 2, 3)]
    expected = [(own["mem_mb"], own["runtime"]) for own in each]
    assert code == 1 and given == expected == sorted(set(given)), text


def test_all_gpus_of_a_workstation_are_used(project):
    project.edit("Snakefile", lambda text: f"{text}\nprint('slots', workflow.global_resources['gpu'].value)\n")
    code, text = dry_run(project, "0,1,2")
    assert code == 0 and "slots 3\n" in text, text


def test_without_slurm_nothing_is_started_on_it(project):
    project.edit(
        "workflow/despur/orchestration/slurm.py",
        lambda text: text.replace('which("sbatch")', 'which("sbatch-of-nobody")'),
    )
    code, text = project.call_snakemake(*SLURM, f"{RUN}/metrics.csv")
    assert code == 1 and "this machine has no sbatch" in text and "FAILED" not in text


def test_nothing_is_sent_to_a_partition_that_is_not_there(project):
    for program in ("sbatch", "sinfo", "squeue"):  # without squeue or sacct, the plugin refuses to be imported
        pretend(project.root.parent, program, "batch")
    asked = ("--set-resources", "evaluate:slurm_partition=long")
    code, text = project.call_snakemake(*SLURM, f"{RUN}/metrics.csv", *asked)
    assert code == 1 and "no partition gpu, long (sinfo lists: batch)" in text and "FAILED" not in text, text


@pytest.mark.long
@pytest.mark.skipif(shutil.which("nvidia-smi") is not None, reason="here is a GPU")
def test_a_device_that_has_disappeared_is_an_error_and_leaves_nothing_half_written(tmp_path_factory, tmp_path):
    project = tiny_project(tmp_path_factory).copy(tmp_path / "project")
    shutil.rmtree(project.root / RUN)
    project.environment["CUDA_VISIBLE_DEVICES"] = "0"
    code, text = project.call_snakemake("--workflow-profile", "profiles/gpu", f"{RUN}/metrics.csv")
    assert code == 1 and "error: --device cuda: this machine has no usable GPU" in text
    assert not list((project.root / RUN).glob("*"))
