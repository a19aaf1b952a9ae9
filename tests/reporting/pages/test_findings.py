"""The page What we found: from records alone, and of today."""

import re

import pandas as pd
from project import SOURCE

from despur.evidence.all_evidence import load_evidence
from despur.evidence.ledger import files as ledger
from despur.evidence.ledger.record_checks import load_sound
from despur.evidence.ledger.standing import judge_records
from despur.papers.domain_temperature.findings import describe_points
from despur.reporting.pages import findings
from despur.reporting.pages.findings import CHOICES, PAGE, describe_unknown, format_findings, list_numbers


def test_the_page_is_of_the_records_of_today(monkeypatch):
    monkeypatch.chdir(SOURCE)
    records = judge_records(load_sound(ledger.LEDGER)[0])
    text = format_findings(load_evidence(), pd.read_csv(CHOICES, keep_default_na=False), records)
    assert text == PAGE.read_text(), "bring it up to date: despur ledger report"


def test_numbers_of_a_method_and_metric_stand_together():
    rows = [("mmd", "test_id_accuracy", 92.9, 95.44), ("mmd", "test_id_accuracy", 96.0, 98.0), ("", "samples", 12, 12)]
    names = ("method", "metric", "reported", "ours", "places")
    own = [pd.Series(dict(zip(names, [*row, ("Table 1", "Table 2")], strict=True))) for row in rows]
    said = "test id accuracy of `mmd` 92.9 (ours 95.44; Table 1), 96 (98; Table 1); samples 12 (ours 12; Table 1)"
    assert list_numbers(own) == said
    many = [
        pd.Series(dict(zip(names, (f"m{i}", "a", 1, 1, ("text",)), strict=True))) for i in range(findings.GROUPS + 2)
    ]
    assert list_numbers(many).endswith("; and 2 further methods and metrics")


def test_what_is_not_known_says_what_would_decide_it():
    texts = ["about 4 seeds of ours", "about 81 seeds of ours", "nothing: all seeds are equal", "more than 100 seeds"]
    said = describe_unknown([pd.Series({"would_decide": text}) for text in texts])
    assert [*map(int, re.findall(r"\d+", said))] == [10, 1, 2, 1]


def test_points_are_counted_apart_from_those_that_the_choice_was_found_on():
    """Printed at chance and not; ours right, right, wrong and right."""
    points = pd.DataFrame(
        {
            "method": "domain_weighted_pairs",
            "tau_alpha": [0.05, 0.2, 0.15, 0.25],
            "tau_beta": 0.1,
            "seeds": [1, 1, 2, 1],
            "ours": [0.83, 0.516, 0.52, 0.5],
            "printed": [0.918, 0.511, 0.739, 0.51],
            "was_found_on": [True, True, False, False],
        }
    )
    said = describe_points(points)
    assert "2 of 2 points that it was found on" in said and "of 2 others 1 do" in said
    assert "pairs at (0.15, 0.1): 52.0 (73.9)" in said
    assert "others were not run yet" in describe_points(points[points["was_found_on"]])
