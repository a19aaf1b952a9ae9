"""despur plan of result paths; with --open, what most printed numbers and claims wait for, per hour,
comes first. Shared runs and jobs count once."""

import json
from pathlib import Path

import pytest

from despur.cli.check import STATES
from despur.cli.plan import plan
from despur.cli.rows import format_json
from despur.evidence.runs import sources
from despur.orchestration.configuration import load_configuration
from despur.orchestration.experiments import list_artifact_runs
from despur.orchestration.plan import list_jobs_behind
from despur.orchestration.resources import estimate_resources
from despur.specs.settings import SettingError

CONFIGURATION = """
papers: [cnc]
seeds: 3
methods: [erm, cnc]
datasets: {cmnist: cmnist+colors=released+draw=seed}
"""


@pytest.fixture
def tables(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "find_sources", lambda use_ledger: sources.Sources())  # nothing is measured
    file = tmp_path / "mine.yaml"
    file.write_text(CONFIGURATION)
    return json.loads(format_json(plan("cpu", configfile=file, only_open=True)))


def test_open_runs_are_sorted_by_what_waits_per_hour(tables):
    rates = [row["per_hour"] for row in tables["open"]]
    assert rates == sorted(rates, reverse=True) and rates[0] > 0
    first = tables["open"][0]
    assert first["per_hour"] == pytest.approx((first["numbers"] + first["claims"]) / first["hours"])
    (cnc,) = (row for row in tables["open"] if row["method"] == "cnc" and "table_1" in row["artifacts"])
    assert {"table_1", "table_a1", "table_a3"} <= {*cnc["artifacts"]}


def test_what_several_rows_share_counts_once(tables):
    (total,) = tables["open_in_all"]
    assert total["runs"] == sum(row["runs"] for row in tables["open"]), "runs that several artifacts show are one row"
    for name in ("hours", "numbers", "claims"):
        assert 0 < total[name] < sum(row[name] for row in tables["open"])


def test_runs_whose_raw_data_is_missing_come_last(monkeypatch, tmp_path):
    monkeypatch.setattr(sources, "find_sources", lambda use_ledger: sources.Sources())
    monkeypatch.setenv("DESPUR_DATA_ROOT", str(tmp_path))
    (tmp_path / "celeba" / "img_align_celeba").mkdir(parents=True)
    for name in ("list_attr_celeba.txt", "list_eval_partition.txt", "img_align_celeba/000001.jpg"):
        (tmp_path / "celeba" / name).touch()
    file = tmp_path / "mine.yaml"
    file.write_text(CONFIGURATION.replace("datasets: {", "datasets: {waterbirds: waterbirds, celeba: celeba, "))
    rows = json.loads(format_json(plan("cpu", configfile=file, only_open=True)))["open"]
    by_state = {state: [row["per_hour"] for row in rows if row["raw_data"] == state] for state in STATES}
    assert {state for state, rates in by_state.items() if rates} == {"present", "download", "missing"}
    assert [row["raw_data"] for row in rows[-len(by_state["missing"]) :]] == ["missing"] * len(by_state["missing"])
    assert max(by_state["missing"]) > min(by_state["present"])


def test_the_cost_of_result_paths_is_that_of_all_jobs_behind_them():
    folders = [Path(f"results/runs/cmnist/{name}/s0") for name in ("jtt", "gdro")]
    *each, every = json.loads(format_json(plan("cpu", folders)))["cost"]
    jobs = [list_jobs_behind([f"{folder}/metrics.csv"]) for folder in folders]
    assert [row["name"] for row in each] == list(map(str, folders)) and [row["jobs"] for row in each] == list(
        map(len, jobs)
    )
    assert every["jobs"] == len(set.union(*jobs)) < sum(map(len, jobs))
    assert every["memory_gigabytes"] == max(row["memory_gigabytes"] for row in each)
    memory = [estimate_resources(job, gpus=0)["mem_mb"] for job in jobs[0]]
    assert each[0]["memory_gigabytes"] == max(memory) / 1000 > 2


def test_a_data_set_whose_size_is_not_known_is_named():
    paths = [Path(f"results/runs/{data}/erm/s0") for data in ("bring_your_own+name=mine", "scene_digits")]
    own, bundled = ([line for line in plan("cpu", [path]) if "is not known here:" in line] for path in paths)
    assert own[0].startswith("Of bring_your_own the number of samples") and not bundled


def test_a_table_costs_what_its_configuration_makes_for_it():
    of_table, every = json.loads(format_json(plan("cpu", [Path("results/papers/cnc/table_1.md")])))["cost"]
    config = load_configuration(Path("config.yaml"))
    files = [f for run in list_artifact_runs(config, "cnc", "table_1") for f in run.folders]
    assert of_table["jobs"] == every["jobs"] == len(list_jobs_behind(f"{folder}/metrics.csv" for folder in files)) > 30


def test_a_table_that_does_not_exist_is_refused_and_a_run_needs_no_configuration(tmp_path, monkeypatch):
    with pytest.raises(SettingError, match="unknown artifact of cnc 'table_99'; did you mean table_"):
        list(plan("cpu", [Path("results/papers/cnc/table_99.md")]))
    monkeypatch.chdir(tmp_path)
    assert any("2" in line.split() for line in plan(None, [Path("results/runs/cmnist/erm/s0/outputs.safetensors")]))


def test_a_file_asks_for_its_own_stage_and_a_wrong_path_is_refused():
    rows = json.loads(format_json(plan("gpu", [Path("results/runs/cmnist/erm/s0/outputs.safetensors")])))["cost"]
    assert [row["jobs"] for row in rows] == [2, 2]  # data and training, no evaluation
    for path, told in (
        ("results/runs/cmnist/erm", "lacks a range of seeds"),
        ("results/runs/cmnist/em/s0", "did you mean"),
    ):
        with pytest.raises(SettingError, match=told):
            list(plan("gpu", [Path(path)]))
    with pytest.raises(SettingError, match="--open"):
        list(plan("gpu", [Path("results/runs/cmnist/erm/s0")], only_open=True))
