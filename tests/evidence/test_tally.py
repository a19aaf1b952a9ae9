"""Printed numbers and claims, gathered: each once, judged as its table says, and never more than was run."""

import math

import pandas as pd
import pytest
from page import table_file

from despur.evidence import tally
from despur.evidence.claims.claim_format import read_claims
from despur.evidence.claims.judging import judge_claims
from despur.evidence.numbers.counts import count_numbers
from despur.orchestration import artifact_files, experiments, paper_folders

PAPERS = paper_folders.list_papers()


@pytest.fixture
def outputs(tmp_path, monkeypatch):
    """A configuration of cnc whose outputs lie in an empty folder."""
    monkeypatch.chdir(tmp_path)
    datasets = {"cmnist": "colored_digits", "waterbirds": "waterbirds"}
    return {"papers": ["cnc"], "seeds": 3, "outputs": "results", "datasets": datasets}


def finish(config, artifact, table, paper="cnc"):
    """Write a table, and empty files where its other forms would be."""
    for file in map(tally.Path, artifact_files.list_outputs(config, paper, artifact)):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    table.to_csv(table_file(config, paper, artifact), index=False)


def beside(rows):
    """Rows of Table A.4, with what ``rows`` (method, metric) say of ours."""
    names = {"dataset": "paper_dataset", "mean": "reported", "std": "reported_std"}
    numbers = pd.read_csv(paper_folders.PAPERS / "cnc/reported/table_a4.csv").rename(columns=names)
    return numbers.merge(pd.DataFrame(rows, columns=["method", "metric", *tally.OURS]), on=["method", "metric"])


def measured(method, metric, ours, verdict, data="waterbirds", **more):
    own = {"method": method, "metric": metric, "ours": ours, "ours_std": 1.0, "seeds": 3, "data": data}
    return own | {"verdict": verdict, "by_seed": f"{ours - 1} {ours} {ours + 1}", "measured": "here", **more}


ROWS = [
    measured("cnc", "worst_group_accuracy", 80.0, "beyond 5", difference=-9.7),
    measured("cnc", "worst_group_accuracy", 89.0, "within 2", "waterbirds+draw=1", difference=-0.7),
    measured("cnc", "average_accuracy", 90.8, "within 2", difference=0.0),
    measured("cnc_one_sided", "worst_group_accuracy", 70.0, "not known", difference=-10.0, seeds=1),
    measured("cnc_train_finetune", "worst_group_accuracy", 60.0, "substitute data", "scene_digits"),
    measured("cnc_projection_head", "average_accuracy", 60.0, "other settings", "waterbirds+size=64", reason="size=64"),
]


@pytest.mark.parametrize("paper", PAPERS)
def test_every_printed_number_appears_once_with_a_unit_and_a_place(paper):
    table = tally.list_printed(paper)
    assert len(table)
    assert not table.duplicated(tally.PRINTED_KEY).any(), table[table.duplicated(tally.PRINTED_KEY, keep=False)]
    assert table[["unit", "place", "metric", "paper_dataset"]].notna().all(axis=None)
    assert set(table["artifact"]) <= set(experiments.load_experiments(paper)["artifacts"])


def test_a_number_belongs_to_the_table_that_compares_it_not_to_a_figure_that_draws_it():
    printed = tally.list_printed("domain_temperature")
    grids = printed[printed["place"].isin([f"Table {i}" for i in range(3, 9)])]
    assert len(grids) == 240 and set(grids["artifact"]) == {"table_3_8"}


@pytest.mark.parametrize("paper", PAPERS)
def test_without_runs_nothing_is_compared_and_nothing_holds(paper, outputs):
    numbers, claims = tally.gather_numbers(outputs, paper), tally.gather_claims(outputs, paper)
    assert set(numbers["verdict"]) == {"not run here"} and set(claims["verdict"]) <= {"not run here", "not executed"}
    assert count_numbers(numbers)["not run here"] == len(tally.list_printed(paper)) == len(numbers)
    assert len(claims) == sum(len(claim.rows) for claim in read_claims(paper_folders.PAPERS / paper / "claims.yaml")[0])


def test_a_number_counts_once_and_is_beyond_where_any_data_is(outputs):
    finish(outputs, "table_a4", beside(ROWS))
    table = tally.gather_numbers(outputs, "cnc")
    numbers = table[table["artifact"] == "table_a4"]
    assert len(numbers) == 7  # six are printed legibly, one of them is measured twice
    verdicts = ["beyond 5", "within 2", "not known", "substitute data", "other settings", "not run here"]
    assert {k: n for k, n in count_numbers(numbers).items() if n} == dict.fromkeys(verdicts, 1)
    assert sum(count_numbers(table).values()) == len(tally.list_printed("cnc"))


def test_tables_of_papers_that_the_configuration_leaves_out_do_not_count(outputs):
    finish(outputs, "table_a4", beside(ROWS))
    assert set(tally.gather_numbers(outputs | {"papers": []}, "cnc")["verdict"]) == {"not run here"}


def test_a_half_finished_artifact_does_not_count(outputs):
    finish(outputs, "table_a4", beside(ROWS))
    tally.Path(artifact_files.list_outputs(outputs, "cnc", "table_a4")[-1]).unlink()
    assert set(tally.gather_numbers(outputs, "cnc")["verdict"]) == {"not run here"}


def test_a_share_that_a_table_shows_in_percent_is_in_percent(outputs):
    config = outputs | {"papers": ["domain_temperature"], "datasets": {"cmnist_3v5": "domain_digits"}}
    numbers = pd.read_csv(paper_folders.PAPERS / "domain_temperature/reported/table_1.csv")
    row = numbers.iloc[[0]].rename(columns={"dataset": "paper_dataset", "mean": "reported"})
    own = {"ours": 70.0, "ours_std": 1.0, "difference": math.nan, "seeds": 5, "data": "domain_digits"}
    row = row.assign(**own, reported=100 * row["reported"], verdict="substitute data")
    finish(config, "table_1", row, "domain_temperature")
    table = tally.gather_numbers(config, "domain_temperature")
    (found,) = table[table["verdict"] == "substitute data"].itertuples()
    assert (found.reported, found.unit, found.ours) == (pytest.approx(78.4), "percent", 70.0)
    assert set(table.loc[table["verdict"] == "not run here", "unit"]) == {"fraction", "count", "value"}


def test_claims_keep_what_their_table_says_and_the_rest_is_not_run(outputs):
    row = {"claim": "near_group_dro", "dataset": "cmnist", "data": "colored_digits", "substitute": True, "k": 1}
    row |= {"verdict": "undecided", "estimate": 0.0, "low": -0.1, "high": 0.1, "seeds": 3, "advice": "about 12 seeds"}
    finish(outputs, "claims", pd.DataFrame([row]))
    table = tally.gather_claims(outputs, "cnc")
    executed = table[table["verdict"] != "not executed"]
    assert executed["verdict"].value_counts().to_dict() == {"not run here": len(executed) - 1, "undecided": 1}
    assert len(table) == len(tally.gather_claims(outputs | {"papers": []}, "cnc"))
    found = table[table["verdict"] == "undecided"].iloc[0]
    assert (found["advice"], found["seeds"], found["artifact"]) == ("about 12 seeds", 3, "table_1")
    assert found["substitute"]
    assert set(table["printed"]) >= {"holds", "not printed"}  # whatever was run


def test_claims_of_a_complete_table_are_not_executed_again(outputs, monkeypatch):
    alone = tally.gather_claims(outputs, "cnc")
    finish(outputs, "claims", judge_claims(paper_folders.PAPERS / "cnc/claims.yaml", []))
    monkeypatch.delattr(tally, "judge_claims")
    both = tally.gather_claims(outputs, "cnc"), alone
    read, alone = (table.round(12).astype(str).replace("nan", "") for table in both)
    pd.testing.assert_frame_equal(read, alone)


def test_a_table_without_rows_has_no_columns(tmp_path):
    pd.DataFrame().to_csv(tmp_path / "table.csv", index=False)
    assert tally.read_rows(tmp_path / "table.csv").empty
