"""The table of results in the README."""

import pandas as pd
import pytest
from project import SOURCE

from despur.reporting import summary


def rows(kind, **columns):
    """Rows of a scorecard of one paper."""
    return pd.DataFrame({"paper": "cnc", "kind_of_row": kind, **columns}).reindex(
        columns=["paper", "kind_of_row", "verdict", "substitute", *summary.NUMBER, "claim"]
    )


def test_the_readme_has_the_table_of_today():
    text = (SOURCE / "README.md").read_text()
    assert summary.replace_summary(text) == text, "run: python -m despur.reporting.summary README.md"


def test_a_number_that_several_runs_measure_counts_once():
    table = rows(
        "number",
        method=["erm", "erm", "cnc", "jtt", "gdro"],
        verdict=["agrees", "differs", "agrees", "substitute data: not compared", "too noisy"],
    )
    assert summary.count_numbers(table) == {"compared": 3, "agree": 1}


def test_claims_on_substitutes_are_counted_apart():
    table = rows(
        "claim",
        claim=["a", "a", "b", "c", "d"],
        paper_dataset=["cmnist", "cmnist", "cmnist", "cmnist", "cmnist"],
        substitute=[True, False, True, "True", True],
        verdict=["holds", "fails", "holds", "undecided", "not run here"],
    )
    assert summary.count_claims(table, True) == {"holds": 2, "fails": 0, "undecided": 1}
    assert summary.format_claims(summary.count_claims(table, True)) == "2 hold, 0 fail, 1 undecided"
    assert summary.format_claims(summary.count_claims(table, False)) == "0 hold, 1 fails, 0 undecided"
    assert summary.format_claims(summary.count_claims(table[:0], True)) == "–"


def test_a_text_without_marks_is_refused():
    with pytest.raises(ValueError, match="once each"):
        summary.replace_summary("# despur\n")


@pytest.mark.filterwarnings("error::FutureWarning")  # of pandas, about empty tables
def test_kept_scorecards_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(summary, "REFERENCE", tmp_path)
    (tmp_path / "mnist").mkdir()
    rows("number", method=["erm"], verdict=["agrees"]).to_csv(tmp_path / "mnist/scorecard.csv", index=False)
    line = next(line for line in summary.format_summary().splitlines() if "papers/cnc/" in line)
    assert line.endswith("| 1 | 1 | – | – |")
