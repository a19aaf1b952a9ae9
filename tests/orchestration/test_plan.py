"""The bill of a configuration: every job that Snakemake would start, once, and what the published one costs to look
at."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from project import Project

from despur.cli import plan as command
from despur.cli.plan import explain_retries
from despur.orchestration import artifact_files, configuration, estimates, experiments, plan, resources
from despur.specs.paths import locate_result
from despur.specs.stages import STAGES, TABLE

PAPER_HYPERPARAMETERS = "config/published.yaml"


# Runs a command from a small process: what a child has used at most is no less than what its parent had when it
# started the child.
MEASURED = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:])
print("peak", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, "kB")
sys.exit(code)
"""


@pytest.fixture
def project(tmp_path):
    return Project.fresh(tmp_path / "project")


def bill(config="config/published.yaml", device="gpu"):
    """What is printed, line by line, and the numbers of each row."""
    lines = list(command.plan(device, configfile=Path(config)))
    table = lines[1 : next(i for i, line in enumerate(lines) if line.startswith("\n"))]
    rows = {line[:20].strip(): [float(word.replace(",", "")) for word in line[20:].split()] for line in table}
    return lines, rows


@pytest.mark.long
def test_the_published_configuration_is_planned_as_snakemake_plans_it_within_a_gigabyte(project):
    command = [
        sys.executable,
        "-c",
        MEASURED,
        sys.executable,
        "-m",
        "snakemake",
        "-n",
        "--configfile",
        PAPER_HYPERPARAMETERS,
    ]
    child = subprocess.run(command, cwd=project.root, env=project.environment, capture_output=True, text=True)
    text = child.stdout + child.stderr
    assert child.returncode == 0, text
    assert float(re.findall(r"^peak (\d+) kB$", text, re.MULTILINE)[0]) < 1e6
    counted = {rule: int(count) for rule, count in re.findall(r"^(\w+) +(\d+)$", text, re.MULTILINE)}
    config = configuration.load_configuration(Path(PAPER_HYPERPARAMETERS))
    files = [
        f
        for paper in config["papers"]
        for a in artifact_files.list_artifacts(config, paper)
        for f in artifact_files.list_inputs(config, paper, a)
    ]
    stages = Counter(STAGES[result.stage].rule for result in plan.list_jobs_behind(files))
    assert {rule: counted[rule] for rule in (stage.rule for stage in TABLE)} == stages
    _, rows = bill()
    assert rows["all, shared once"][0] == counted["total"] > 1000


def test_what_papers_share_is_paid_once():
    _, rows = bill()
    papers = configuration.load_configuration(Path(PAPER_HYPERPARAMETERS))["papers"]
    alone = [rows[paper] for paper in papers]
    assert rows["all, shared once"][1] <= sum(row[1] for row in alone)
    assert rows["all, shared once"][5] == max(row[5] for row in alone)


def test_jobs_behind_a_file_and_the_longest_chain():
    jobs = plan.list_jobs_behind(
        [
            "results/runs/cmnist/jtt/s0/metrics.csv",
            "results/runs/cmnist/gdro/s0/metrics.csv",
            "workflow/despur/papers/cnc/x.csv",
        ]
    )
    by_stage = Counter(result.stage for result in jobs)
    assert by_stage == {"data": 1, "stage1": 1, "groups": 2, "runs": 2, "evaluate": 2}
    seconds, chain = plan.find_longest_chain(jobs, "gpu")
    assert [result.stage for result in chain] == ["data", "stage1", "groups", "runs", "evaluate"]
    assert chain[-1].name == "jtt"
    assert seconds == pytest.approx(sum(resources.estimate_seconds(result, "gpu")[0] for result in chain))


def test_the_bill_says_what_was_measured_and_what_is_a_guess():
    for device in ("cpu", "gpu"):  # results/ledger has runs on both
        lines, _ = bill("config/mnist.yaml", device)
        measured, of = map(int, re.search(r"for (\d+) of (\d+) training jobs", "\n".join(lines)).groups())
        assert 0 < measured <= of


def test_grids_run_only_when_they_are_asked_for():
    config = configuration.load_configuration(Path(PAPER_HYPERPARAMETERS))
    point, grid = (
        {
            artifact_run.paper_method: locate_result(artifact_run.folders[0]).sweep
            for artifact_run in experiments.list_artifact_runs(
                {**config, "sweep": sweep}, "domain_temperature", "figure_1"
            )
        }
        for sweep in (False, True)
    )
    assert {name: len(sweep.points) for name, sweep in point.items()} == dict.fromkeys(grid, 1)
    assert sum(len(sweep.points) for sweep in grid.values()) == 190  # App. D


def test_a_configuration_s_own_methods_come_before_the_selected_ones():
    changed = {"artifacts": {"domain_temperature": {"figure_1": {"methods": {"mmd": "cl_mmd+weight=5"}}}}}
    config = {**configuration.load_configuration(Path(PAPER_HYPERPARAMETERS)), **changed}
    assert {
        artifact_run.paper_method
        for artifact_run in experiments.list_artifact_runs(config, "domain_temperature", "figure_1")
    } == {"mmd"}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, {"cmnist_3v5+draw=seed/cl_mmd+temperature=0.5+weight=5"}),  # at sigma = 50, the default, alone
        ({"sweep": True}, set()),  # they are in the grid
        ({"datasets": {"cmnist_3v5": "domain_digits"}}, set()),
        ({"datasets": {"cmnist_3v5": "cmnist_3v5+draw=seed+outside=redraw"}}, set()),
        ({"artifacts": {"domain_temperature": {"figure_1": {"data": "sigma=25"}}}}, set()),
        ({"artifacts": {"domain_temperature": {"figure_1": {"methods": {"mmd": "cl_mmd"}}}}}, set()),
    ],
)
def test_what_a_screening_left_over_runs_besides_what_is_selected(changes, expected):
    config = {**configuration.load_configuration(Path(PAPER_HYPERPARAMETERS)), **changes}
    runs = experiments.list_artifact_runs(config, "domain_temperature", "figure_1")
    folders = [Path(folder).parent for run in runs if run.paper_method == "mmd" for folder in run.folders]
    named = {str(folder.relative_to("results/runs")) for folder in folders}
    assert named and {name for name in named if name.endswith("+temperature=0.5+weight=5")} == expected


def test_a_job_that_shares_its_batches_out_takes_a_part_of_the_time_and_all_gpu_hours():
    result = locate_result("results/stage1/imagenet/simclr/s0")
    assert (
        resources.estimate_elapsed_seconds(result) * 8 == resources.estimate_seconds(result)[0]
        and resources.estimate_elapsed_seconds(result, "cpu") == resources.estimate_seconds(result, "cpu")[0]
    )
    assert plan.find_longest_chain([result], "gpu")[0] < resources.estimate_seconds(result)[0]


def test_a_job_that_the_profile_does_not_try_often_enough_is_said_to_fail_and_how_not_to():
    longest, allowed = estimates.load_estimates()["longest"], resources.load_retries()
    assert list(explain_retries(longest)) == []
    assert [line.split()[-2:] for line in explain_retries(longest * 1.5)] == [["1", "retries."]]
    assert len(list(explain_retries(longest * (allowed + 1)))) == 1
    minutes = longest * (allowed + 2.5)
    _, warning = explain_retries(minutes)
    assert f"within the {allowed} retries" in warning and f"set retries there to {allowed + 2}" in warning
    enough = int(re.search(r"longest to ([\d,]+)", warning)[1].replace(",", ""))
    assert enough * (allowed + 1) >= minutes > (enough - 1) * (allowed + 1)


def test_the_published_configuration_can_finish_on_the_profile_for_slurm():
    assert not any("CANNOT" in line for line in bill()[0])
