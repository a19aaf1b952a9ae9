"""Runs of this machine beside those that were kept: to the digit, or not."""

import json
from pathlib import Path

import pandas as pd
import pytest

from despur.reporting import digits
from despur.storage.store import InputError

MACHINE = {"processor": "one", "versions": {"torch": "2"}}
OTHER = {"processor": "another", "versions": {"torch": "2"}}
RUNS = [f"colored_digits/erm/s{seed}" for seed in range(3)]


def runs(*values):
    """What is kept of runs with these accuracies."""
    return {
        key: {
            "digest": str(value),
            "values": {"test gap": 0.5, "test average_accuracy": value},
            "revisions": {},
        }
        for key, value in zip(RUNS, values, strict=False)
    }


def compared(kept, now, here=MACHINE):
    return list(digits.compare_digits({**MACHINE, "runs": kept}, now, here))


def test_equal_runs_are_counted_on_any_machine():
    for here in (MACHINE, OTHER):
        assert compared(runs(0.1, 0.2, 0.3), runs(0.1, 0.2, 0.3), here) == ["3 of 3 runs as recorded: 3 to the digit"]
    assert compared(runs(0.1, 0.2, 0.3), runs(0.1)) == ["1 of 1 runs as recorded: 1 to the digit"]
    assert compared(runs(0.1), runs(0.1, 0.2)) == ["1 of 2 runs as recorded: 1 to the digit"]


def test_any_difference_on_the_same_machine_is_an_error_that_lists_both_values():
    with pytest.raises(InputError, match=r"erm/s1, test average_accuracy: recorded 0\.2, here 0\.25$"):
        compared(runs(0.1, 0.2), runs(0.1, 0.25))


def test_on_another_machine_the_largest_difference_is_told():
    first, second = compared(runs(0.1, 0.2, 0.3), runs(0.1, 0.25, 0.31), OTHER)
    assert first == "3 of 3 runs as recorded: 1 to the digit"
    assert second.startswith("2 differ") and second.endswith("0.05 (colored_digits/erm/s1, test average_accuracy)")


def test_runs_of_an_older_revision_are_not_compared():
    now = {key: own | {"revisions": {"metrics/information": 2}} for key, own in runs(0.2).items()}
    assert compared(runs(0.1), now) == [
        "1 of 1 runs as recorded: 0 to the digit",
        "1 were recorded with an older revision, and are not compared",
    ]


def test_what_is_kept_of_a_finished_run_says_whether_it_changed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = Path("some.yaml")
    config.write_text("papers: [cnc]\nseeds: 1\ndatasets: {cmnist: colored_digits}\nmethods: [erm]\n")
    assert list(digits.check_digits(config)) == [
        "no digits of some.yaml are recorded: make reference CONFIG=some.yaml keeps those that are here"
    ]
    folder = Path("results/runs/colored_digits/erm/s0")
    folder.mkdir(parents=True)
    head = {"dataset": "colored_digits", "method": "erm", "seed": 0, "selection": "best", "group": ""}
    rows = [head | {"split": split, "metric": "gap", "value": 0.1 + 0.2} for split in ("val", "test")]
    table = pd.DataFrame(rows)[["dataset", "method", "seed", "split", "selection", "metric", "group", "value"]]
    table.to_csv(folder / "metrics.csv", index=False)
    digits.keep_digits(config)
    kept = json.loads(digits.find_file(config).read_text())["runs"]
    assert kept["colored_digits/erm/s0"]["values"] == {"test gap": 0.1 + 0.2}
    table[::-1].to_csv(folder / "metrics.csv", index=False)  # in another order
    config = config.rename("other.yaml")  # whichever configuration the digits were kept of
    assert list(digits.check_digits(config)) == ["1 of 1 runs as recorded: 1 to the digit"]
    table.assign(value=[0.3, 0.1 + 0.2]).to_csv(folder / "metrics.csv", index=False)  # of validation data alone
    with pytest.raises(InputError, match="in 0 values"):
        list(digits.check_digits(config))
