"""The files of a table, and its page: what a reader sees who opens nothing else."""

import json
import re
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from project import SOURCE

from despur.evidence.numbers.tables import NUMBER_COLUMNS
from despur.evidence.verdicts import ClaimVerdict, NumberVerdict
from despur.orchestration.experiments import ArtifactRun
from despur.reporting import tables
from despur.reporting.tables import VERDICTS, mark_up, name_as_printed, render_table, write_table


def make_row(dataset, metric, reported, std, verdict, **ours):
    named = {"paper_dataset": dataset, "method": "cnc", "metric": metric, "reported": reported, "reported_std": std}
    return dict.fromkeys(NUMBER_COLUMNS, np.nan) | {"seeds": 0} | named | {"verdict": verdict} | ours


@pytest.fixture
def table():
    """A number that agrees, one on substitute data, and one that was not run."""
    ours = {"ours": 77.0, "ours_std": 1.0, "difference": -0.4, "low": -2.0, "high": 1.2, "seeds": 3, "data": "cmnist"}
    other = {"seeds": 3, "data": "scene_digits+draw=1"}
    rows = [
        make_row("cmnist", "worst_group_accuracy", 77.4, 1.0, "within 5", **ours),
        make_row("celeba", "worst_group_accuracy", 88.8, np.nan, "not run here"),
        make_row("waterbirds", "gap", 9.0, np.nan, "substitute data", **other),
    ]
    return pd.DataFrame(rows, columns=NUMBER_COLUMNS)


def test_a_table_is_written_in_four_forms(table, tmp_path):
    write_table(tmp_path / "table_1.csv", table)
    again = pd.read_csv(tmp_path / "table_1.csv", float_precision="round_trip")
    assert again["ours"].tolist()[0] == table["ours"].tolist()[0]
    assert again["verdict"].tolist() == ["within 5", "not run here", "substitute data"]
    for form in ("md", "tex", "html"):
        text = (tmp_path / f"table_1.{form}").read_text()
        on = "of the test split, at the step that is best on validation data, else at the last"
        assert (on in text) == (form != "tex")
        line = "3 printed numbers: 1 within 5, 1 substitute data, 1 not run here."
        above = {"md": text.splitlines()[0], "html": text.partition("<table")[0], "tex": text}[form]
        assert (line in above) == (form != "tex")
        for shown_text in ("77.4 (1.0)", "77.0 (1.0)", "-0.4", "within 5", "not run here"):
            assert shown_text in text
    assert sorted(path.suffix for path in tmp_path.glob("table_1*")) == [".csv", ".html", ".md", ".tex"]


def test_tables_call_things_as_figures_do():
    names = {"data set": ["cmnist, moji", "scene_digits"], "method": ["cnc_one_sided", "con+batch_size=32"]}
    shown = name_as_printed(pd.DataFrame(names | {"metric": ["tpr gap (percent)", "train hours"], "seeds": ["3", "–"]}))
    assert shown["data set"].tolist() == ["CMNIST*, Moji", "scene_digits"]
    assert shown["method"].tolist() == ["CNC, one-sided", "con+batch_size=32"]
    assert shown["metric"].tolist() == ["GAP (percent)", "train hours"] and shown["seeds"].tolist() == ["3", "–"]


def test_the_command_line_makes_the_artifact_that_it_names(monkeypatch, tmp_path):
    made = []
    artifacts = {
        name: lambda artifact_runs, output, name=name: made.append((name, artifact_runs, output))
        for name in ("table_1", "table_2")
    }
    artifact_run = ArtifactRun("cmnist", "cmnist", "erm", ("results/runs/cmnist/erm/s0",))
    monkeypatch.setattr(
        "sys.argv",
        [
            "tables.py",
            "table_2",
            "--artifact-runs",
            json.dumps({"artifact_runs": [asdict(artifact_run)]}),
            "--output",
            str(tmp_path / "x"),
        ],
    )
    tables.main(artifacts)
    assert made == [("table_2", [artifact_run], tmp_path / "x")]


@pytest.fixture
def page(table, tmp_path):
    """The page of Table 1 of cnc, as its job writes it."""
    prefix = tmp_path / "papers/cnc/table_1"
    prefix.parent.mkdir(parents=True)
    write_table(prefix, table)
    return prefix.with_suffix(".html").read_text()


def test_a_page_says_which_table_of_which_paper_it_is_and_what_it_shows(page):
    assert re.search(r"<title>Table 1 of cnc: despur</title>.*<h1>Table 1</h1>", page, re.DOTALL)
    assert "Correct-N-Contrast: A Contrastive Approach" in page
    assert "<b>Table 1 of the paper</b>: worst-group and average test accuracy" in page  # its caption


def test_a_page_has_a_legend_of_its_columns_and_verdicts_and_of_no_others(page):
    legend = page.partition("<h2>Legend</h2>")[2]
    names = [re.sub("<.*?>", "", name).strip() for name in re.findall(r"<dt>(.*?)</dt>", legend, re.DOTALL)]
    assert names == [
        *("reported", "ours", "difference", "95 % interval", "seeds", "data used"),
        *("within 5", "substitute data", "not run here"),
    ]
    assert "of the test split, at the step that is best on validation data, else at the last" in legend
    assert {*NumberVerdict, *ClaimVerdict} == {*VERDICTS}


@pytest.mark.parametrize(("title", "verdicts"), [("numbers", NumberVerdict), ("claims", ClaimVerdict)])
def test_the_page_about_results_explains_every_verdict(title, verdicts):
    text = (SOURCE / "docs/reading_results.md").read_text().partition(f"\n## Verdicts on {title}\n")[2]
    rows = text.partition("| --- |")[2].partition("\n\n")[0]
    cells = re.findall(r"^\| ([a-z0-9 ,]+?)(?: \(.*\))? \|", rows, re.MULTILINE)
    assert sorted(", ".join(cells).split(", ")) == sorted(verdicts)


def test_rows_that_were_not_run_are_folded(page):
    shown, _, folded = page.partition("<details><summary>1 rows that are not run here")
    assert "77.0 (1.0)" in shown and "88.8" not in shown and "88.8" in folded


def test_claims_that_cannot_be_executed_are_folded_and_explained():
    rows = pd.DataFrame({"claim": ["claim A", "claim B"], "verdict": [ClaimVerdict.HOLDS, ClaimVerdict.NOT_EXECUTED]})
    shown, _, folded = render_table("cnc", "claims", rows, "").partition("<details><summary>1 rows that are not run")
    assert "claim B" not in shown and "claim B" in folded and VERDICTS[ClaimVerdict.NOT_EXECUTED] in folded


def test_where_nothing_was_run_nothing_is_folded(table, tmp_path):
    write_table(tmp_path / "table_9", table.iloc[1:2])
    text = (tmp_path / "table_9.html").read_text()
    assert "<details>" not in text and "88.8" in text and "<h1>Table 9</h1>" in text


def test_names_of_data_are_text_and_may_be_broken_between_their_settings(table, tmp_path):
    write_table(tmp_path / "table_1", table.assign(data="a<b+draw=1"))
    assert "a&lt;b+\u200bdraw=1" in (tmp_path / "table_1.html").read_text()


def test_marks_of_a_caption():
    assert mark_up("**A** *b* ``c*`` <i>") == "<b>A</b> <em>b</em> <code>c*</code> &lt;i&gt;"
