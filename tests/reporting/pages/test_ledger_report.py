"""What papers' READMEs say of the ledger."""

import contextlib
import shutil

import pandas as pd
import pytest
from project import SOURCE, Project
from records import add, rewrite

from despur.cli.ledger import check_or_report
from despur.evidence.all_evidence import load_evidence
from despur.evidence.ledger import files as ledger
from despur.evidence.ledger.record_checks import load_sound
from despur.evidence.ledger.standing import judge_records
from despur.orchestration import paper_folders
from despur.reporting.markdown import replace_between
from despur.reporting.pages import paper_findings
from despur.reporting.pages.ledger_report import report_records, select_records
from despur.reporting.pages.paper_findings import MARKS, gather_findings, report_paper
from despur.reporting.pages.summary import DOCUMENTS
from despur.storage.store import InputError

KEEP = "from despur.cli.ledger import JUDGED; from despur.reporting.reference import *; keep_ledger_verdicts(JUDGED)"
MODULE = "despur.reporting.pages.ledger_report"


def judge(folder):
    """The records of a ledger that have no fault."""
    return judge_records(load_sound(folder)[0])


@pytest.fixture(scope="module")
def findings():
    """What is known of each paper today."""
    with contextlib.chdir(SOURCE):
        return gather_findings(load_evidence(), judge(ledger.LEDGER))


@pytest.mark.parametrize("paper", paper_folders.list_papers())
def test_what_readmes_say_is_of_the_ledger_of_today(paper, findings):
    text = (paper_folders.PAPERS / paper / "README.md").read_text()
    assert all(text.count(mark) == 1 for mark in MARKS), "the README has no place for what was measured"
    report = report_paper(next(found for found in findings if found.paper == paper))
    assert replace_between(text, *MARKS, report) == text, "bring it up to date: despur ledger report"


@pytest.mark.long
def test_verdicts_that_are_kept_are_of_the_ledger_of_today(tmp_path):
    project, kept = Project.fresh(tmp_path / "project"), "results/reference/ledger/scorecard.csv"
    shutil.copytree(SOURCE / "results/ledger", project.root / "results/ledger")
    project.python("-c", KEEP)
    now, then = (pd.read_csv(root / kept) for root in (project.root, SOURCE))
    pd.testing.assert_frame_equal(now, then, rtol=1e-9)


def test_seeds_of_a_method_are_one_line_and_those_after_a_gap_do_not_count(tmp_path, monkeypatch):
    monkeypatch.setattr(f"{MODULE}.load_experiments", lambda paper: {"datasets": ["colored_digits"]})
    assert report_mine(tmp_path) == "No run is recorded.\n"
    for seed in (0, 1, 3):
        add(tmp_path, seed, run={"seconds": 5000.0 * (seed + 1)})
    add(tmp_path, 2, revisions={"methods/erm": 9})
    accuracies = [100 * own.metrics()["best"]["test", "average_accuracy", ""] for own in counted(tmp_path)[:2]]
    head, _, line, _, hours = report_mine(tmp_path).splitlines()
    spent = sum(own.content["run"]["seconds"] for own in counted(tmp_path)) / 3600
    assert f"Stage 2 of these runs took {spent:.1f} hours on cpu" in hours
    assert line.startswith("| `colored_digits` | `erm` | 0, 1; not 3, as 2 is missing | ")
    cells = dict(zip(head.split(" | "), line.split(" | "), strict=True))
    mean, deviation = sum(accuracies) / 2, abs(accuracies[0] - accuracies[1]) / 2**0.5
    assert cells["test: average accuracy"] == f"{mean:.1f} ({deviation:.1f})"


def test_trials_are_counted_and_runs_of_a_papers_stage_1_are_listed(tmp_path, monkeypatch):
    monkeypatch.setattr(f"{MODULE}.load_experiments", lambda paper: {"datasets": ["colored_digits"]})
    for method in ("erm+epochs=2", "erm+epochs=2+learning_rate=0.5", "jtt+stage1.epochs=2"):
        add(tmp_path, method=method)
    _, _, line, _, said = report_mine(tmp_path).splitlines()
    assert line.startswith("| `colored_digits` | `jtt+stage1.epochs=2` | 0 | ")
    assert "is not the paper's: `erm+epochs=2` on `colored_digits`: 2. " in said


def test_a_record_with_a_fault_is_in_no_report(tmp_path, monkeypatch):
    monkeypatch.setattr(f"{MODULE}.load_experiments", lambda paper: {"datasets": ["colored_digits"]})
    rewrite(add(tmp_path), lambda content: content["metrics"]["best"]["test"]["average_accuracy"].update({"": 0.5}))
    assert report_mine(tmp_path) == "No run is recorded.\n"


def report_mine(folder):
    """What a README says of the records of a ledger, of the paper ``mine``."""
    return report_records(select_records("mine", judge(folder)))


def counted(folder):
    return [own for own in ledger.load(folder)[0] if not own.content["revisions"]]


def test_a_readme_without_marks_is_refused_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for file in DOCUMENTS:
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text("# a project of mine\n")
    monkeypatch.setattr(paper_findings, "write_readmes", lambda findings: pytest.fail("a README was written"))
    with pytest.raises(InputError, match=r"README\.md must have"):
        list(check_or_report("report"))
