"""despur summary: the last screen of make."""

from pathlib import Path

import pandas as pd
import pytest

from despur.cli.rows import format_json
from despur.cli.summary import summarize_run
from despur.evidence.tally import SCORECARD_COLUMNS
from despur.orchestration.paper_folders import list_papers
from despur.reporting import digits
from despur.specs.settings import SettingError
from despur.storage.store import InputError


@pytest.fixture
def scorecard(tmp_path, monkeypatch):
    """An empty scorecard of a configuration."""
    monkeypatch.chdir(tmp_path)
    Path("config.yaml").write_text("papers: [cnc]\ndatasets: {}\noutputs: results/own\n")
    Path("results/own").mkdir(parents=True)
    pd.DataFrame(columns=SCORECARD_COLUMNS).to_csv("results/own/scorecard.csv", index=False)


def compared(monkeypatch, **counts):
    """The digits of four runs."""
    own = {"name": "ten_seeds", "here": 4, "equal": 0, "older": 0, "different": 0, "differences": [], "errors": []}
    monkeypatch.setattr(digits, "check_digits", lambda _: digits.Comparison(**own | counts))


def test_a_row_for_each_paper_then_the_digits_then_one_page_to_open(scorecard, monkeypatch):
    compared(monkeypatch, equal=4)
    lines = "\n".join(summarize_run(Path("config.yaml"))).splitlines()
    papers = list_papers()
    assert [line.split()[0] for line in lines[2 : 2 + len(papers)]] == papers
    *_, said, _, last = lines
    assert (
        said
        == "4 of 4 runs here equal the reference (ten_seeds) to the last digit: the code of these methods still gives "
        "its numbers."
    )
    assert last == "Open results/own/scorecard.html"
    assert '"paper": "cnc"' in format_json(summarize_run(Path("config.yaml")))


def test_differences_on_the_same_machine_are_an_error_after_all_is_said(scorecard, monkeypatch):
    differences = [(0.1, "x, test gap", 0.1, 0.2)]
    compared(monkeypatch, equal=3, different=1, differences=differences, errors=differences)
    lines = summarize_run(Path("config.yaml"))
    with pytest.raises(InputError, match="runs differ on the same machine, in 1 values"):
        for line in lines:
            said = line
    assert said == "\nOpen results/own/scorecard.html"


def test_without_a_scorecard_it_is_said_how_to_make_it(scorecard):
    Path("results/own/scorecard.csv").unlink()
    with pytest.raises(SettingError, match=r"results/own/scorecard\.csv is not there: make it with snakemake"):
        list(summarize_run(Path("config.yaml")))
