"""Tables, claims, matrix and scorecard from records of the ledger alone."""

from pathlib import Path

import pandas as pd
import pytest
from records import add

from despur.cli.summary import count_scorecard
from despur.reporting.without_training import give_verdicts
from despur.storage import ledger

CONFIG = """
papers: [cnc]
seeds: 3
datasets: {cmnist: colored_digits}
methods: [erm, jtt]
matrix: {data: colored_digits}
"""

MACHINE = {"machine": "Linux", "processor": "one", "device": "cpu", "peak_memory_mb": 5.0}


@pytest.fixture(autouse=True)
def _fresh_clone(tmp_path, monkeypatch):
    """A folder with records and no runs."""
    monkeypatch.chdir(tmp_path)
    for seed in range(3):
        for method in ("erm", "jtt"):
            run = {"seconds": 1.0 + seed, "largest_factor": 5}
            add(ledger.LEDGER, seed, method, machine=MACHINE, run=run)


def judge(text, use_ledger=True):
    Path("some.yaml").write_text(text)
    return list(give_verdicts(Path("some.yaml"), Path("results/verdicts"), use_ledger))


@pytest.mark.long
def test_records_alone_give_tables_matrix_and_scorecard():
    lines = judge(CONFIG)
    assert "printed numbers: none judged here" in count_scorecard(Path("results/verdicts/scorecard.csv"))
    assert any(line.startswith("6 of 6 records count") for line in lines)
    table = pd.read_csv("results/verdicts/papers/cnc/table_1.csv")
    shown = table[table["seeds"] > 0]
    assert set(shown["method"]) == {"erm", "jtt"} and set(shown["seeds"]) == {3}
    assert set(shown["measured"]) == {"commit cccccccc, one"}
    assert set(pd.read_csv("results/verdicts/matrix.csv")["method"]) == {"erm", "jtt"}
    assert Path("results/verdicts/scorecard.html").exists()


@pytest.mark.parametrize(("text", "use_ledger"), [(CONFIG, False), (CONFIG + "ledger: false\n", True)])
def test_records_are_left_out_by_option_and_by_configuration(text, use_ledger, monkeypatch):
    monkeypatch.setattr("despur.reporting.without_training.make_tables", lambda config, shown: made.update(shown))
    monkeypatch.setattr("despur.reporting.pages.scorecard.write", lambda config, prefix: None)
    made = {}
    judge(text, use_ledger)
    assert made and not any(runs for own in made.values() for runs in own.values())
