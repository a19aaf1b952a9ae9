"""Choices that papers leave open: whose runs they are, and which numbers they explain."""

import pandas as pd
import pytest

from despur.evidence.numbers.choices import (
    OPEN,
    Choice,
    change_key,
    explain_numbers,
    list_tried,
    read_choices,
    select_runs,
)
from despur.evidence.runs.sources import Sources
from despur.orchestration.experiments import list_papers, load_experiments
from despur.specs.settings import SettingError

WIDE = Choice("simclr", {"encoder.width": "16"}, "App. D")
EXPLAINED = f"explained by {WIDE.name}"


@pytest.mark.parametrize("paper", list_papers())
def test_the_choices_of_papers_have_a_source_and_stand_in_their_one_spelling(paper):
    stated = load_experiments(paper).get("choices", {})
    assert [(choice.name, choice.source) for choice in read_choices(load_experiments(paper))] == list(stated.items())
    assert all(stated.values())


@pytest.mark.parametrize(
    "text",
    [
        "simclr+widht=16",
        "nothing+width=16",
        "simclr+encoder.width=-1",
        "simclr+batch_size=64~128",
        "simclr+batch_size=256",
    ],
)
def test_a_choice_that_nothing_has_is_refused(text):
    with pytest.raises(SettingError):
        read_choices({"datasets": ["cmnist_3v5"], "methods": {}, "choices": {text: "App. D"}})


@pytest.mark.parametrize(
    ("key", "changed"),
    [
        ("cmnist_3v5/simclr/s0", "cmnist_3v5/simclr+encoder.width=16/s0"),
        ("cmnist_3v5+draw=1/simclr+epochs=30/s1", "cmnist_3v5+draw=1/simclr+encoder.width=16+epochs=30/s1"),
        ("cmnist_3v5/simclr+encoder.width=8/s0", "cmnist_3v5/simclr+encoder.width=8/s0"),
        ("cmnist_3v5/cl_mmd/s0", "cmnist_3v5/cl_mmd/s0"),
    ],
)
def test_a_choice_changes_runs_that_do_not_state_its_settings(key, changed):
    assert change_key(key, WIDE) == changed


def test_a_choice_of_the_data_changes_the_runs_of_every_method():
    choice = Choice("cmnist_3v5", {"outside": "redraw"}, "Sec. 3")
    assert change_key("cmnist_3v5+draw=1/cl_mmd/s1", choice) == "cmnist_3v5+draw=1+outside=redraw/cl_mmd/s1"


def test_a_choice_of_all_methods_changes_each_of_them_and_no_data():
    choice = Choice("methods", {"encoder.width": "16"}, "App. D")
    assert change_key("cmnist_3v5/cl_mmd+weight=1/s0", choice) == "cmnist_3v5/cl_mmd+encoder.width=16+weight=1/s0"
    keys = ["a/cl_mmd+encoder.width=16+epochs=3/s0", "a/cl_mmd/s0"]
    assert list_tried(choice, keys) == keys[:1]


def test_measured_runs_of_a_choice_stand_for_those_without_it():
    where = {
        f"cmnist_3v5/{method}/s{seed}": f"{method} {seed}"
        for method, seeds in {"simclr": 3, "simclr+encoder.width=16": 2, "cl_mmd": 3}.items()
        for seed in range(seeds)
    }
    chosen = select_runs(WIDE, Sources(where)).where
    assert chosen == {f"cmnist_3v5/simclr/s{seed}": f"simclr+encoder.width=16 {seed}" for seed in range(2)}


def test_whatever_else_a_run_changes_it_was_tried():
    keys = ["a/simclr+encoder.width=16+epochs=30/s0", "a/simclr+encoder.width=8/s0", "a/simclr/s0", "b/erm/s0"]
    assert list_tried(WIDE, keys) == keys[:1]


def table(verdicts):
    """Printed numbers: two of a row of Table 1, and one of another row."""
    rows = pd.DataFrame(
        {"method": ["cl", "cl", "erm"], "metric": ["test_id", "test_ood", "test_id"], "setting": [float("nan")] * 3}
    )
    return rows.assign(
        paper="p", place="Table 1", artifact="table_1", paper_dataset="d", data="d", verdict=verdicts
    ).set_axis([7, 3, 5])


@pytest.mark.parametrize(
    ("before", "after", "explanations"),
    [
        (["differs", "agrees", "differs"], ["agrees", "agrees", "differs"], [EXPLAINED, "", OPEN]),
        (["too noisy", "differs", "agrees"], ["agrees", "differs", "agrees"], [EXPLAINED, OPEN, ""]),
        (["differs", "agrees", "differs"], ["agrees", "too noisy", "agrees"], [OPEN, "", OPEN]),
        (["differs", "too noisy", "differs"], ["agrees", "differs", "differs"], [OPEN, OPEN, OPEN]),
        (["differs", "agrees", "differs"], ["agrees", "not run here", "differs"], [EXPLAINED, "", OPEN]),
        (["not run here", "fewer than 3 seeds: undecided", "differs"], ["agrees"] * 3, ["", "", EXPLAINED]),
    ],
)
def test_a_choice_explains_a_number_if_none_that_it_measures_gets_worse(before, after, explanations):
    numbers = table(before)
    found = explain_numbers(numbers, {WIDE.name: table(after).iloc[::-1]})
    assert found.to_dict() == dict(zip(numbers.index, explanations, strict=True))


def test_a_choice_of_all_methods_must_measure_every_number_that_was_compared():
    numbers, chosen = (
        table(["differs", "agrees", "not run here"]),
        ["agrees", "fewer than 3 seeds: undecided", "differs"],
    )
    assert list(explain_numbers(numbers, {"methods+encoder.width=16": table(chosen)})) == [OPEN, "", ""]
    chosen[1] = "agrees"
    explained = "explained by methods+encoder.width=16"
    assert list(explain_numbers(numbers, {"methods+encoder.width=16": table(chosen)})) == [explained, "", ""]


def test_numbers_that_a_choice_does_not_measure_stay_open_and_the_first_that_explains_one_is_named():
    numbers = table(["differs", "agrees", "differs"])
    found = explain_numbers(
        numbers, {"first": table(["agrees", "agrees", "differs"])[:2], "second": table(["agrees"] * 3)}
    )
    assert list(found) == ["explained by first", "", "explained by second"]
    assert list(explain_numbers(numbers, {})) == [OPEN, "", OPEN]
