"""The table of results in the README."""

import pandas as pd
import pytest
from project import SOURCE

from despur.evidence.claims.judging import CONTRADICTED
from despur.reporting.pages import summary
from despur.reporting.pages.scorecard_counts import COLUMNS, count_headline, count_measurements, count_verdicts
from despur.reporting.pages.tally import CLAIM, COMPARISON
from despur.storage.store import InputError


def rows(kind, **columns):
    """Rows of a scorecard of one paper."""
    return pd.DataFrame({"paper": "cnc", "kind_of_row": kind, **columns}).reindex(columns=COLUMNS)


def test_the_readme_has_the_table_of_today():
    text = (SOURCE / "README.md").read_text()
    assert summary.replace_summary(text) == text, "run: python -m despur.reporting.pages.summary README.md"


def test_a_number_that_several_runs_measure_counts_once():
    table = rows(
        "number",
        method=["erm", "erm", "cnc", "jtt", "gdro"],
        verdict=["agrees", "differs", "agrees", "substitute data: not compared", "too noisy"],
    )
    found = {kind: count for kind, count in count_verdicts(table)["numbers"].items() if count}
    assert found == {"differs": 1, "agrees": 1, "too noisy": 1, "substitute data": 1}


def test_claims_on_substitutes_are_counted_apart():
    table = rows(
        "claim",
        claim=["a", "a", "b", "c", "d"],
        paper_dataset=["cmnist", "cmnist", "cmnist", "cmnist", "cmnist"],
        substitute=[True, False, True, "True", True],
        verdict=["holds", "fails", "holds", "undecided", "not run here"],
    )
    found = count_verdicts(table)
    assert found["substitute"] == {"holds": 2, "fails": 0, "undecided": 1}
    assert summary.format_claims(found["substitute"]) == "2 hold, 0 fail, 1 undecided"
    assert summary.format_claims(found["own"]) == "0 hold, 1 fails, 0 undecided"
    assert summary.format_claims(count_verdicts(table[:0])["own"]) == "–"


def test_comparisons_are_not_counted_among_claims():
    table = rows([COMPARISON, CLAIM], claim=["a", "b"], paper_dataset="cmnist", substitute=False, verdict="holds")
    table["printed"] = CONTRADICTED
    assert count_verdicts(table)["own"] == {"holds": 1, "fails": 0, "undecided": 0}
    found = count_headline(table)
    assert (found["own"]["holds"], found["slips"], found["claims"]) == (1, 1, 1)


def test_a_claim_has_a_verdict_on_each_data_and_none_is_chosen():
    verdicts = ["holds", "fails", "holds", "undecided"]
    table = rows("claim", claim=["a", "a", "a", "b"], substitute=True, verdict=verdicts)
    table["paper_dataset"] = ["cmnist", "cmnist", "celeba", "cmnist"]
    assert count_verdicts(table)["substitute"] == {"holds": 2, "fails": 1, "undecided": 1}


def test_a_text_without_marks_is_refused():
    with pytest.raises(InputError, match="once each"):
        summary.replace_summary("# despur\n")


@pytest.mark.filterwarnings("error::FutureWarning")  # of pandas, about empty tables
def test_kept_scorecards_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(summary, "REFERENCE", tmp_path)
    (tmp_path / "mnist").mkdir()
    rows("number", method=["erm"], verdict=["agrees"]).to_csv(tmp_path / "mnist/scorecard.csv", index=False)
    line = next(line for line in summary.format_summary().splitlines() if "papers/cnc/" in line)
    assert line.endswith("| 1 agrees, 0 differ, 0 too noisy (1 different measurement) | – | – |")


def test_the_first_page_of_the_report_has_a_sentence_for_each_paper_of_the_run():
    table = rows("claim", claim=["best"], paper_dataset=["cmnist"], substitute=[True], verdict=["holds"])
    text = summary.format_first_page(table)
    title, words = text.splitlines()
    assert title.startswith("Correct-N-Contrast") and words.startswith("   Of 186 printed numbers compared: none. ")
    assert words.endswith("Claims on the paper's data: none judged; on substitutes: 1 holds, 0 fail, 0 undecided.")


def test_a_number_that_tables_repeat_is_one_measurement_and_one_of_the_data_is_of_no_model():
    table = rows(
        "number",
        place=["Table 1", "Table 2", "Table 2", "text"],
        method=["erm", "erm", "erm", None],
        metric=["average_accuracy", "average_accuracy", "worst_group_accuracy", "minority_fraction"],
        ours=[90.0, 90.0, 80.0, 0.5],
        verdict=["agrees", "agrees", "differs", "agrees"],
        explanation=["", "", "explained by erm+epochs=3", ""],
    )
    found = {"numbers": 3, "agrees": 2, "explained": 1, "open": 0, "measurements": 2}
    assert count_measurements(table) == found
    assert summary.format_measurements(found) == " (2 different measurements; 1 explained)"
