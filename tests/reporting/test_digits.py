"""Runs of this machine beside those that were kept: to the digit, or not."""

from pathlib import Path

import pandas as pd
import pytest

from despur.orchestration import configuration
from despur.reporting import digits
from despur.storage.store import InputError

MACHINE = {"processor": "one", "versions": {"torch": "2"}}
OTHER = {"processor": "another", "versions": {"torch": "2"}}
RUNS = [f"colored_digits/erm/s{seed}" for seed in range(3)]


def runs(*values):
    """Runs with these accuracies."""
    return {
        key: {"values": {"test gap": 0.5, "test average_accuracy": value}, "revisions": {}}
        for key, value in zip(RUNS, values, strict=False)
    }


def compared(kept, now, here=MACHINE):
    return digits.compare_digits(
        {key: run | MACHINE | {"reference": "ten_seeds"} for key, run in kept.items()}, now, here
    )


def test_equal_runs_are_counted_on_any_machine():
    equal = "equal the reference (ten_seeds) to the last digit"
    for here in (MACHINE, OTHER):
        said = compared(runs(0.1, 0.2, 0.3), runs(0.1, 0.2, 0.3), here).describe()
        assert said == f"3 of 3 runs here {equal}: the code of these methods still gives its numbers."
    said = compared(runs(0.1), runs(0.1, 0.2)).describe()
    assert said == f"1 of 2 runs here {equal}. Of 1 of 2 runs here no reference is kept."
    assert compared(runs(0.1), {}).describe() == ""


def test_any_difference_on_the_same_machine_is_an_error_that_lists_both_values():
    with pytest.raises(InputError, match=r"erm/s1, test average_accuracy: recorded 0\.2, here 0\.25$"):
        compared(runs(0.1, 0.2), runs(0.1, 0.25)).refuse_differences()


def test_on_another_machine_the_number_of_runs_and_the_largest_difference_are_told():
    found = compared(runs(0.1, 0.2, 0.3), runs(0.1, 0.25, 0.31), OTHER)
    found.refuse_differences()
    first, second = found.describe().split(". ", 1)
    assert first.startswith("1 of 3 runs here equal") and second.startswith("2 of 3 runs here differ")
    assert "by at most 0.05, colored_digits/erm/s1, test average_accuracy" in second


def test_of_runs_of_an_older_revision_a_stranger_is_told_what_it_means():
    now = {key: own | {"revisions": {"metrics/information": 2}} for key, own in runs(0.2).items()}
    said = compared(runs(0.1), now).describe()
    assert said.startswith("1 of 1 runs here cannot be compared with the reference (ten_seeds): methods have changed")
    assert "`make reference`" in said


def test_metrics_that_were_added_since_are_no_difference():
    now = {key: run | {"values": run["values"] | {"test brier": 0.1}} for key, run in runs(0.1).items()}
    assert compared(runs(0.1), now).equal == 1


def test_what_is_kept_of_a_papers_runs_says_whether_they_changed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("some.yaml").write_text("papers: [cnc]\nseeds: 1\ndatasets: {cmnist: colored_digits}\nmethods: [erm]\n")
    config = configuration.load_configuration(Path("some.yaml"))
    assert digits.check_digits(config).describe() == ""
    folder = Path("results/runs/colored_digits/erm/s0")
    folder.mkdir(parents=True)
    head = {"dataset": "colored_digits", "method": "erm", "seed": 0, "selection": "best", "group": ""}
    rows = [head | {"split": split, "metric": "gap", "value": 0.1 + 0.2} for split in ("val", "test")]
    table = pd.DataFrame(rows)[["dataset", "method", "seed", "split", "selection", "metric", "group", "value"]]
    table.to_csv(folder / "metrics.csv", index=False)
    assert digits.measure_digits(config, "icl_msr") == {}
    digits.keep_digits(config, "cnc")
    kept = digits.read_kept_runs()["colored_digits/erm/s0"]
    assert kept["values"] == {"test gap": 0.1 + 0.2} and kept["reference"] == "results"
    table[::-1].to_csv(folder / "metrics.csv", index=False)  # in another order
    other = config | {"outputs": "results/other"}  # whichever configuration the digits were kept of
    assert digits.check_digits(other).equal == 1
    table.assign(value=0.3).to_csv(folder / "metrics.csv", index=False)
    with pytest.raises(InputError, match=r"test gap: recorded 0\.30000000000000004, here 0\.3$"):
        digits.check_digits(config).refuse_differences()
