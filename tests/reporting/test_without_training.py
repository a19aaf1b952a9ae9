"""Tables, claims, matrix and scorecard from records of the ledger alone."""

import json
from pathlib import Path

import pandas as pd
import pytest
from records import add

from despur.cli.summary import show_known
from despur.evidence.ledger import files as ledger
from despur.evidence.numbers.choices import Choice, select_runs
from despur.evidence.runs.sources import find_sources
from despur.orchestration.configuration import load_configuration
from despur.orchestration.experiments import load_experiments
from despur.reporting import without_training
from despur.reporting.without_training import give_verdicts

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
    assert [row.values["paper"] for row in show_known(Path("results/verdicts/scorecard.csv")) if hasattr(row, "values")]
    assert any(line.startswith("These tables show 6 of 6 records") for line in lines)
    table = pd.read_csv("results/verdicts/papers/cnc/table_1.csv")
    shown = table[table["seeds"] > 0]
    assert set(shown["method"]) == {"erm", "jtt"} and set(shown["seeds"]) == {3}
    assert set(shown["measured"]) == {"commit cccccccc, one"}
    assert set(pd.read_csv("results/verdicts/matrix.csv")["method"]) == {"erm", "jtt"}
    again = "despur judge --configfile some.yaml --output results/verdicts"
    assert f"<code>{again}</code>" in Path("results/verdicts/scorecard.html").read_text()


@pytest.mark.parametrize(("text", "use_ledger"), [(CONFIG, False), (CONFIG + "ledger: false\n", True)])
def test_records_are_left_out_by_option_and_by_configuration(text, use_ledger, monkeypatch):
    monkeypatch.setattr("despur.reporting.without_training.make_tables", lambda config, shown: made.update(shown))
    monkeypatch.setattr("despur.reporting.pages.scorecard.write", lambda config, prefix, again: None)
    made = {}
    judge(text, use_ledger)
    assert made and not any(runs for own in made.values() for runs in own.values())


def test_hours_of_a_run_are_not_those_of_its_stage_1(tmp_path, monkeypatch):
    monkeypatch.setattr(without_training, "REFERENCE", tmp_path)
    key = "colored_digits/erm/s0"
    runs = {f"results/{stage}/{key}": {"seconds": s, "runs": [key]} for stage, s in (("runs", 7200), ("stage1", 36))}
    (tmp_path / "mnist/cnc").mkdir(parents=True)
    (tmp_path / "mnist/cnc/provenance.json").write_text(json.dumps({"runs": runs}))
    assert without_training.read_kept_hours() == {key: 2.0}


@pytest.mark.long
def test_tables_under_a_choice_show_its_runs_in_the_place_of_the_others(monkeypatch):
    method, measured = "erm+learning_rate=0.1", []
    for seed in range(3):
        made = add(ledger.LEDGER, seed + 10, method, machine=MACHINE)  # other predictions than those of erm
        file = ledger.write(made.parent, f"s{seed}", json.loads(made.read_text()) | {"seed": seed})
        made.unlink()
        measured.append(ledger.load_record(str(file)).metrics()["best"]["test", "average_accuracy", ""])
    choice = Choice({"erm": {"learning_rate": "0.1"}}, "App. E: not stated")
    few = Choice({"jtt": {"learning_rate": "0.1"}}, "App. E: not stated")
    add(ledger.LEDGER, 0, "jtt+learning_rate=0.1", machine=MACHINE)
    larger = Choice({"erm": {"learning_rate": "0.1", "momentum": "0.5"}}, "both")
    add(ledger.LEDGER, 3, larger.name, machine=MACHINE)  # no run of the smaller choice alone
    paper = load_experiments("cnc")
    monkeypatch.setitem(paper, "datasets", [*paper["datasets"], "colored_digits"])  # only a paper's own data count
    monkeypatch.setattr(without_training, "read_choices", lambda own: [choice, few, larger] if own == paper else [])
    Path("some.yaml").write_text(CONFIG)
    config = load_configuration(Path("some.yaml")) | {"outputs": "results"}
    found = without_training.measure_numbers(config, "cnc", select_runs(choice, find_sources()))
    rows = found.query("artifact == 'table_1' and seeds > 0 and metric == 'average_accuracy'")
    assert set(rows["method"]) == {"erm"}
    assert rows["ours"].tolist() == pytest.approx([100 * sum(measured) / 3])
    judge(CONFIG)
    found = pd.read_csv("results/verdicts/choices.csv").set_index("choice").loc[[few.name, method]]
    assert found["tried"].str.split().str.len().tolist() == found["seeds"].tolist() == [1, 3]
    assert found["verdict"].tolist() == ["too few seeds", "nothing to compare"], "erm without the choice was not run"
