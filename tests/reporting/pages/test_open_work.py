"""What is open of the data sets that were measured, as the page What we found says it."""

import pytest
from project import SOURCE

from despur.evidence.ledger import files as ledger
from despur.evidence.runs.sources import Sources, find_sources
from despur.orchestration.experiments import ArtifactRun
from despur.orchestration.resources import estimate_hours
from despur.reporting.open_runs import OpenRuns
from despur.reporting.pages.open_work import describe_open_work, list_open_work
from despur.specs.paths import locate_result

SHARED = locate_result("results/runs/cmnist/erm/s0")


def make_open(artifact, method, numbers=(), claims=()):
    """Open runs of one seed, and a job that others wait for, too."""
    folder = f"results/runs/cmnist/{method}/s0"
    run = ArtifactRun("cmnist", "cmnist", method, (folder,), artifact, "cnc")
    jobs = frozenset({locate_result(folder), SHARED})
    return OpenRuns(run, (artifact,), frozenset({folder}), jobs, frozenset(numbers), frozenset(claims))


def test_tables_with_most_an_hour_come_first_and_shared_jobs_count_once():
    few = make_open("table_a5", "cnc", numbers=[("cnc", 1)])
    many = make_open("table_a1", "gdro", numbers=[("cnc", 1), ("cnc", 2)], claims=[("cnc", "a", "cmnist")])
    (said,) = describe_open_work([few, many])
    hours = estimate_hours(few.jobs | many.jobs, "cpu")
    assert len(few.jobs | many.jobs) == 3 and round(hours) == 1
    assert f": 2 runs of {hours:,.0f} hour for 2 printed numbers and 1 claim (on a CPU core" in said
    assert said.index("`table_a1` of `cmnist` 1 run of") < said.index("`table_a5` of `cmnist` 1 run of")
    assert [*describe_open_work([])] == []
    groups = [make_open(f"table_a{i}", "cnc", numbers=[("cnc", n) for n in range(i)]) for i in range(1, 7)]
    (said,) = describe_open_work(groups)
    assert "`table_a6`" in said and "`table_a2`" not in said and "; and 2 more. `despur plan" in said


@pytest.mark.parametrize("datasets, found", [({"cmnist"}, {"cmnist"}), ({"moji"}, set())])
def test_only_what_waits_on_measured_data_is_listed(datasets, found, monkeypatch):
    monkeypatch.chdir(SOURCE)
    listed = list_open_work("cnc", datasets, Sources())
    assert {open_runs.artifact_run.paper_dataset for open_runs in listed} == found
    assert all(open_runs.numbers or open_runs.claims for open_runs in listed)


def test_records_close_what_is_open(monkeypatch, tmp_path):
    monkeypatch.chdir(SOURCE)
    recorded = list_open_work("cnc", {"cmnist"}, find_sources(results=tmp_path, folder=ledger.LEDGER))
    every = list_open_work("cnc", {"cmnist"}, Sources())
    methods = [{run.artifact_run.paper_method for run in runs} for runs in (recorded, every)]
    assert "gdro" not in methods[0] and "gdro" in methods[1]
