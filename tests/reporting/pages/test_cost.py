"""What a run cost: made-up records of Snakemake, read back."""

import json
import os
from base64 import urlsafe_b64encode

import pytest

from despur.reporting.pages import cost
from despur.storage.store import write_json

DATA, STAGE1, RUN, METRICS, TABLE = (
    "d/inputs.npy",
    "s/outputs.safetensors",
    "r/models.safetensors",
    "r/metrics.csv",
    "t/table.csv",
)


@pytest.fixture
def record(tmp_path, monkeypatch):
    """Write the record of a file as Snakemake does."""
    monkeypatch.chdir(tmp_path)
    cost.RECORDS.mkdir(parents=True)

    def write(file, rule, inputs, seconds, log=""):
        name = urlsafe_b64encode(file.encode()).decode()
        *folders, last = [name[i : i + 254] for i in range(0, len(name), 254)]
        path = cost.RECORDS.joinpath(*("@" + part for part in folders), last)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            json.dumps(
                {
                    "rule": rule,
                    "input": inputs,
                    "log": [log or f"{file}.log"],
                    "starttime": 100.0,
                    "endtime": 100.0 + seconds,
                }
            )
        )

    return write


@pytest.fixture
def jobs(record):
    """data -> stage 1 -> run -> evaluation -> table; the data feeds the run too."""
    record(DATA, "build_data", [], 2, "data.log")
    record("d/table.parquet", "build_data", [], 2, "data.log")
    record(STAGE1, "train_stage1", [DATA], 10)
    record(RUN, "train_stage2", [DATA, "d/table.parquet", STAGE1], 20, "run.log")
    record(METRICS, "evaluate", [RUN, DATA], 5)
    record(TABLE, "cnc_table_1", [METRICS, "reported.csv"], 1)
    return cost.Jobs()


def test_a_job_counts_once_whatever_it_makes(jobs):
    found = jobs.collect_jobs([TABLE, METRICS])
    assert sorted(job.rule for job in found.values()) == [
        "build_data",
        "cnc_table_1",
        "evaluate",
        "train_stage1",
        "train_stage2",
    ]
    assert sum(job.seconds for job in found.values()) == pytest.approx(38)


def test_only_what_a_file_comes_from_counts(jobs):
    assert sorted(job.rule for job in jobs.collect_jobs([STAGE1]).values()) == ["build_data", "train_stage1"]
    assert jobs.collect_jobs(["reported.csv", "elsewhere.csv"]) == {}


def test_the_critical_path_is_the_longest_chain(jobs, record):
    record("p/figure.png", "cnc_figure_1", [DATA], 30)
    chain = jobs.critical_path(jobs.collect_jobs([TABLE, "p/figure.png"]))
    assert [job.rule for job in chain] == ["build_data", "train_stage1", "train_stage2", "evaluate", "cnc_table_1"]
    assert jobs.critical_path({}) == []


def test_a_name_too_long_for_the_file_system_is_found(record):
    file = f"results/runs/{'x' * 180}/{'y' * 180}/s0/models.safetensors"
    record(file, "train_stage2", [], 7)
    assert cost.Jobs().job(file).seconds == pytest.approx(7)


def test_a_job_that_has_not_ended_and_a_broken_record_do_not_count(record):
    record(RUN, "train_stage2", [], 7)
    (path,) = (p for p in cost.RECORDS.rglob("*") if p.is_file())
    for text in ('{"rule": "train_stage2", "starttime": 1.0, "endtime": null, "input": [], "log": []}', '{"rule"'):
        path.write_text(text)
        assert cost.Jobs().job(RUN) is None


def test_without_snakemake_there_is_no_record(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cost.Jobs().collect_jobs([RUN]) == {}


def test_stages_have_the_memory_and_device_of_their_processes(jobs, tmp_path):
    write_json(tmp_path / "r/about.json", {"seconds": 18.0, "peak_memory_mb": 900.0, "device": "cpu"})
    write_json(tmp_path / "d/about.json", {"scene_digits": {"licence": "CC BY 4.0"}})
    rows = {row["name"]: row for row in cost.sum_by_stage(jobs.collect_jobs([TABLE]).values())}
    assert list(rows) == ["data", "stage 1", "stage 2", "evaluation", "tables and figures"]
    assert rows["stage 2"] == {
        "name": "stage 2",
        "jobs": 1,
        "seconds": pytest.approx(20),
        "own_seconds": 18.0,
        "peak_memory_mb": 900.0,
        "devices": "cpu",
        "cached": 0,
    }
    assert rows["stage 1"]["own_seconds"] is None and rows["data"]["peak_memory_mb"] is None


@pytest.mark.parametrize(("written", "taken"), [(50.0, 1), (105.0, 0)])
def test_results_older_than_their_job_are_taken_from_the_cache_others_are_put_there(jobs, tmp_path, written, taken):
    """The job ran from 100 to 110."""
    (tmp_path / "s").mkdir()
    (tmp_path / "cache").touch()
    os.utime(tmp_path / "cache", (written, written))
    (tmp_path / "s/outputs.safetensors").symlink_to(tmp_path / "cache")
    assert {row["name"]: row["cached"] for row in cost.sum_by_stage(jobs.collect_jobs([STAGE1]).values())} == {
        "data": 0,
        "stage 1": taken,
    }


def test_times_of_a_run_are_listed_by_stage_paper_and_critical_path(jobs, monkeypatch):
    monkeypatch.setattr(cost.artifact_files, "list_paper_outputs", lambda config, paper: [TABLE])
    monkeypatch.setattr(cost.matrix, "list_outputs", lambda config: [METRICS])
    times = cost.list_times({"papers": ["cnc"]}).set_index(["kind", "name"])
    assert times.loc[("stage", "stage 2"), "seconds"] == 20
    assert times.loc[("paper", "cnc"), "jobs"] == 5 and times.loc[("paper", "matrix"), "jobs"] == 4
    assert times.loc[("all", ""), "seconds"] == 38
    assert [*times.loc["critical path"].index] == [
        "data: d",
        "stage 1: s",
        "stage 2: r",
        "evaluation: r",
        "tables and figures: t",
    ]


def test_without_records_no_times_are_listed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cost.list_times({"papers": ["cnc"], "seeds": 1, "datasets": {}}).empty
