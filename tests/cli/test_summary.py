"""despur summary: a scorecard in one line."""

from pathlib import Path

import pandas as pd
import pytest
from despur.reporting.pages.scorecard_counts import COLUMNS
from project import SOURCE

from despur.cli.rows import format_json
from despur.cli.summary import NEXT, summarize_run
from despur.specs.settings import SettingError


@pytest.fixture
def scorecard(tmp_path, monkeypatch):
    """Writes a scorecard of numbers (method, verdict) and claims (verdict, on substitute data)."""
    monkeypatch.chdir(tmp_path)
    Path("config.yaml").write_text("papers: [cnc]\ndatasets: {}\noutputs: results/own\n")

    def write(numbers, claims):
        rows = [
            {"kind_of_row": "number", "place": "Table 1", "method": method, "verdict": verdict}
            for method, verdict in numbers
        ]
        rows += [
            {
                "kind_of_row": "claim",
                "claim": f"claim_{i}",
                "paper_dataset": "cmnist",
                "verdict": verdict,
                "substitute": own,
            }
            for i, (verdict, own) in enumerate(claims)
        ]
        Path("results/own").mkdir(parents=True)
        pd.DataFrame(rows, columns=COLUMNS).to_csv("results/own/scorecard.csv", index=False)

    return write


def test_numbers_and_claims_are_counted_apart_and_a_number_on_two_data_sets_once(scorecard):
    numbers = [("erm", "within 2"), ("cnc", "within 2"), ("cnc", "beyond 5"), ("jtt", "not run here")]
    claims = [("seen here", True), ("seen here", True), ("not seen", True), ("fails", False), ("not run here", False)]
    scorecard(numbers, claims)
    lines = list(summarize_run(Path("config.yaml")))
    assert lines[0] == "Made: 0 tables and figures, below results/own/papers. Pages: "
    assert lines[1] == (
        "Verdict: printed numbers: 1 within 2, 1 beyond 5 (distinct measurements: 2); claims on the papers' own data: "
        "1 fails; orders on substitute data: 2 seen here, 1 not seen"
    )
    assert '"orders on substitute data": {\n    "seen here": 2,' in format_json(lines)


def test_what_is_not_judged_is_said(scorecard):
    scorecard([("erm", "not run here")], [("not seen", True)])
    assert (
        "printed numbers: none judged here; claims on the papers' own data: none judged here"
        in list(summarize_run(Path("config.yaml")))[1]
    )


@pytest.mark.parametrize(("seeds", "few"), [("1", 1), ("2", 2), ("['0', '1-2']", 0), ("3", 0)])
def test_with_too_few_seeds_it_is_said_how_many_are_needed(scorecard, seeds, few):
    scorecard([], [("not seen", True)])
    Path("config.yaml").write_text(f"papers: [cnc]\ndatasets: {{}}\noutputs: results/own\nseeds: {seeds}\n")
    _, meaning, following = summarize_run(Path("config.yaml"))
    assert (f"a verdict needs 3 seeds, and this run has {few}" in meaning) == (few > 0)
    assert ("config/three_seeds.yaml" in following) == (few > 0)


def test_it_is_said_what_to_type_next(scorecard):
    scorecard([], [])
    Path("mine.yaml").write_text("papers: [cnc]\ndatasets: {}\noutputs: results/own\nseeds: 1\n")
    assert list(summarize_run(Path("mine.yaml")))[2] == (
        "Next: write seeds: 3 in mine.yaml, then make CONFIG=mine.yaml"
    )
    assert {file for file in NEXT if not (SOURCE / file).exists()} == set()


def test_without_a_scorecard_it_is_said_how_to_make_it(scorecard):
    with pytest.raises(SettingError, match=r"results/own/scorecard\.csv is not there: make it with snakemake"):
        list(summarize_run(Path("config.yaml")))
