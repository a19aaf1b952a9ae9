"""The table of results in the README."""

import pandas as pd
import pytest
from despur.reporting.pages.scorecard_counts import COLUMNS, count_headline, count_verdicts
from project import SOURCE

from despur.evidence.tally import CLAIM, COMPARISON
from despur.evidence.verdicts import DECIDED, ORDERS, Printed
from despur.reporting.pages import summary
from despur.storage.store import InputError


def rows(kind, **columns):
    """Rows of a scorecard of one paper."""
    return pd.DataFrame({"paper": "cnc", "kind_of_row": kind, **columns}).reindex(columns=COLUMNS)


def test_the_readme_has_the_table_of_today():
    text = (SOURCE / "README.md").read_text()
    assert summary.replace_summary(text) == text, "run: python -m despur.reporting.pages.summary README.md"


def test_a_number_that_several_runs_measure_counts_once():
    verdicts = ["within 2", "beyond 5", "within 2", "substitute data", "not known"]
    table = rows("number", method=["erm", "erm", "cnc", "jtt", "gdro"], verdict=verdicts)
    found = {kind: count for kind, count in count_verdicts(table)["numbers"].items() if count}
    assert found == {"beyond 5": 1, "not known": 1, "within 2": 1, "substitute data": 1}


def test_claims_on_substitutes_are_counted_apart():
    table = rows(
        "claim",
        claim=["a", "a", "b", "c", "d"],
        paper_dataset=["cmnist", "cmnist", "cmnist", "cmnist", "cmnist"],
        substitute=[True, False, True, "True", True],
        verdict=["seen here", "fails", "seen here", "not seen", "not run here"],
    )
    found = count_verdicts(table)
    assert found["substitute"] == {"seen here": 2, "opposite seen here": 0, "not seen": 1}
    assert summary.format_counts(found["substitute"], ORDERS) == "2 seen here, 1 not seen"
    assert summary.format_counts(found["own"], DECIDED) == "1 fails"
    assert summary.format_counts(count_verdicts(table[:0])["own"], DECIDED) == "–"


def test_comparisons_are_not_counted_among_claims():
    table = rows([COMPARISON, CLAIM], claim=["a", "b"], paper_dataset="cmnist", substitute=False, verdict="holds")
    table["printed"] = Printed.CONTRADICTED
    assert count_verdicts(table)["own"] == {"holds": 1, "fails": 0, "undecided": 0}
    found = count_headline(table)
    assert (found["own"]["holds"], found["slips"], found["claims"]) == (1, 1, 1)


def test_a_claim_has_a_verdict_on_each_data_and_none_is_chosen():
    verdicts = ["holds", "fails", "holds", "undecided"]
    table = rows("claim", claim=["a", "a", "a", "b"], substitute=False, verdict=verdicts)
    table["paper_dataset"] = ["cmnist", "cmnist", "celeba", "cmnist"]
    assert count_verdicts(table)["own"] == {"holds": 2, "fails": 1, "undecided": 1}


def test_a_text_without_marks_is_refused():
    with pytest.raises(InputError, match="once each"):
        summary.replace_summary("# despur\n")


@pytest.mark.filterwarnings("error::FutureWarning")  # of pandas, about empty tables
def test_kept_scorecards_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(summary, "REFERENCE", tmp_path)
    (tmp_path / "mnist").mkdir()
    rows("number", method=["erm"], place="Table 1", verdict=["within 2"]).to_csv(
        tmp_path / "mnist/scorecard.csv", index=False
    )
    line = next(line for line in summary.format_summary().splitlines() if "papers/cnc/" in line)
    assert line.endswith("| 1 within 2 | – | – |")


def test_the_first_page_of_the_report_has_a_sentence_for_each_paper_of_the_run():
    table = rows("claim", claim=["best"], paper_dataset=["cmnist"], substitute=[True], verdict=["seen here"])
    text = summary.format_first_page(table)
    title, words = text.splitlines()
    assert title.startswith("Correct-N-Contrast") and words.startswith(
        "   Of 186 printed numbers, distinct and compared: none. "
    )
    assert words.endswith("Claims on the paper's data: none judged; seen on substitutes: 1 seen here.")
