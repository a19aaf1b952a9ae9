"""Two Snakemakes at work in one folder, one of them killed with -9 at a random moment: the other one ends as if it were
alone, and the killed one goes on without --unlock."""

import random
import shutil
import time

import pytest
from project import finish, kill, tiny_project
from storms.conftest import CASES, count_cases, read_results

pytestmark = [pytest.mark.storm, pytest.mark.long]
DATASETS = ("colored_digits", "colored_digits+p_corr=0.6")  # no file of one is made by the other
METHOD, LONGEST = ("cnc", 8) if CASES else ("erm", 5)  # seconds until the kill


def start(project, dataset):
    return project.start("-m", "snakemake", "-c1", f"results/runs/{dataset}/{METHOD}/s0-1/metrics.csv")


@pytest.fixture
def undisturbed(tmp_path_factory):
    """The finished runs of both, made one after the other."""
    project = tiny_project(tmp_path_factory).copy(tmp_path_factory.mktemp("undisturbed") / "project")
    shutil.rmtree(project.root / "results")
    for dataset in DATASETS:
        code, text = finish(start(project, dataset))
        assert code == 0, text
    return project


def test_of_two_in_one_folder_one_is_killed_and_the_other_goes_on(undisturbed, tmp_path, record):
    project = undisturbed.copy(tmp_path / "p")
    rng, wanted, killed, rounds = random.Random(0), max(2, count_cases(20) // 25), 0, 0
    while killed < wanted and rounds < 5 * wanted:  # in some rounds the run ends before its kill
        rounds += 1
        shutil.rmtree(project.root / "results")
        first, second = (start(project, dataset) for dataset in DATASETS)
        dead, other, dataset = (first, second, DATASETS[0]) if rng.random() < 0.5 else (second, first, DATASETS[1])
        time.sleep(rng.uniform(1, LONGEST))
        at_work = dead.poll() is None
        kill(dead)
        code, text = finish(other)
        assert code == 0, text
        code, text = finish(start(project, dataset))
        assert code == 0 and "unlock" not in text, text
        assert read_results(project.root) == read_results(undisturbed.root)
        killed += at_work
    assert killed == wanted
    outcome = "killed with -9; the other one ended, the killed one went on without --unlock; results bit-identical"
    record("two Snakemakes in one folder, one of them killed", killed, outcome)
