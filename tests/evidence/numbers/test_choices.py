"""Choices that papers leave open: whose runs they are, and whether numbers support them."""

import pandas as pd
import pytest

from despur.evidence.numbers.choices import (
    Choice,
    change_key,
    judge_choice,
    list_tried,
    measure_cost,
    read_choices,
    select_runs,
)
from despur.evidence.numbers.counts import NUMBER
from despur.evidence.runs.sources import Sources
from despur.evidence.verdicts import NumberVerdict
from despur.orchestration.experiments import load_experiments
from despur.orchestration.paper_folders import list_papers
from despur.specs.settings import SettingError

WIDE = Choice({"simclr": {"encoder.width": "16"}}, "App. D")


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
    choice = Choice({"cmnist_3v5": {"outside": "redraw"}}, "Sec. 3")
    assert change_key("cmnist_3v5+draw=1/cl_mmd/s1", choice) == "cmnist_3v5+draw=1+outside=redraw/cl_mmd/s1"


def test_a_choice_of_all_methods_changes_each_of_them_and_no_data():
    choice = Choice({"methods": {"encoder.width": "16"}}, "App. D")
    assert change_key("cmnist_3v5/cl_mmd+weight=1/s0", choice) == "cmnist_3v5/cl_mmd+encoder.width=16+weight=1/s0"
    keys = ["a/cl_mmd+encoder.width=16+epochs=3/s0", "a/cl_mmd/s0"]
    assert list_tried(choice, keys) == keys[:1]


def test_measured_runs_of_a_choice_stand_for_those_without_it():
    counts = {"simclr": 3, "simclr+encoder.width=16": 2, "cl_mmd": 3}
    runs = [(method, seed) for method, seeds in counts.items() for seed in range(seeds)]
    where = {f"cmnist_3v5/{method}/s{seed}": f"{method} {seed}" for method, seed in runs}
    chosen = select_runs(WIDE, Sources(where)).where
    assert chosen == {f"cmnist_3v5/simclr/s{seed}": f"simclr+encoder.width=16 {seed}" for seed in range(2)}


def test_whatever_else_a_run_changes_it_was_tried():
    keys = ["a/simclr+encoder.width=16+epochs=30/s0", "a/simclr+encoder.width=8/s0", "a/simclr/s0", "b/erm/s0"]
    assert list_tried(WIDE, keys) == keys[:1]


def test_a_choice_of_data_and_methods_was_tried_only_where_both_are_made():
    both = Choice({"cmnist_3v5": {"outside": "redraw"}, "methods": {"encoder.pooling": "mean"}}, "both")
    assert both.name == "cmnist_3v5+outside=redraw/methods+encoder.pooling=mean"
    made = "cmnist_3v5+draw=1+outside=redraw/simclr+encoder.pooling=mean/s1"
    assert change_key("cmnist_3v5+draw=1/simclr/s1", both) == made
    keys = [made, "cmnist_3v5/simclr+encoder.pooling=mean/s0", "cmnist_3v5+outside=redraw/simclr/s0"]
    assert list_tried(both, keys) == [made]


def test_a_choice_tells_its_seeds_what_it_took_and_what_a_run_of_it_would_take_on_a_cpu():
    hours = {"a/simclr/s0": 1.0, "a/simclr/s1": 3.0, "a/simclr+epochs=3/s0": 0.1, "b/erm/s0": 9.0, "a/simclr/s2": 0.1}
    assert measure_cost(WIDE, hours, {"a/simclr/s2"}) == {
        **{"tried": "", "full_length": 0, "seeds": 0, "hours": 0.0, "hours_a_run": 2.0},
    }
    tried = [f"a/simclr+encoder.width=16/s{seed}" for seed in (0, 1)]
    found = measure_cost(WIDE, hours | dict.fromkeys(tried, 0.25))
    assert (found["tried"], found["seeds"], found["hours"]) == (" ".join(tried), 2, 0.5)
    trial = measure_cost(WIDE, dict.fromkeys([*tried, "a/simclr+encoder.width=16+epochs=3/s0"], 0.25))
    assert (trial["full_length"], trial["seeds"], len(trial["tried"].split())) == (2, 2, 3)


def test_a_choice_is_within_one_that_changes_more():
    wider = Choice({"simclr": {"encoder.width": "16", "batch_size": "64"}}, "both")
    of_data = Choice({"simclr": {"encoder.width": "16"}, "cmnist": {"crop": "centre"}}, "both")
    assert WIDE.is_within(wider) and WIDE.is_within(of_data)
    of_all = Choice({"methods": {"encoder.width": "16"}}, "App. D")
    assert of_all.is_within(wider) and of_all.is_within(WIDE) and not WIDE.is_within(of_all)
    assert not (WIDE.is_within(WIDE) or wider.is_within(WIDE) or wider.is_within(of_data))


PRINTED = [80.0, 60.0, 90.0]


def table(values, verdicts):
    """Numbers of three metrics: our values by seed, and their verdicts."""
    return pd.DataFrame(
        {
            **dict.fromkeys(NUMBER, "x"),
            "metric": ["a", "b", "c"],
            "unit": "percent",
            "data": "d",
            "reported": PRINTED,
            "by_seed": [" ".join(f"{seed}:{value}" for seed, value in enumerate(own)) for own in values],
            "verdict": verdicts,
        }
    )


NEAR = [[p - 0.5, p, p + 0.5, p + 0.1, p, p - 0.1] for p in PRINTED]
OFF = [[p + 10, p + 11, p + 10.5, p + 10, p + 11, p + 10.5] for p in PRINTED]
BEYOND, WITHIN, NOT_KNOWN = NumberVerdict.BEYOND_5, NumberVerdict.WITHIN_5, NumberVerdict.NOT_KNOWN


def test_a_choice_is_supported_if_numbers_move_to_print_and_are_then_equivalent():
    found = judge_choice(table(OFF, [BEYOND, NOT_KNOWN, BEYOND]), table(NEAR, [WITHIN] * 3))
    assert (found["verdict"], found["numbers"], found["seeds"]) == ("supported", 3, 6)
    assert found["moved"].startswith("+10.5 [") and found["remaining"].startswith("+0.0 [-0.2")
    both = table(OFF, [BEYOND] * 3), table(NEAR, [WITHIN] * 3)
    twice = [pd.concat([one, one.assign(artifact="y")]) for one in both]
    assert judge_choice(*twice) == found  # a number that is printed twice counts once


def test_a_number_below_print_moves_up_to_it_and_what_stays_far_from_print_is_not_supported():
    below = [[2 * p - value for value in own] for p, own in zip(PRINTED, OFF, strict=True)]
    found = judge_choice(table(below, [BEYOND] * 3), table(NEAR, [WITHIN] * 3))
    assert found["verdict"] == "supported" and found["moved"].startswith("+10.5 [")
    far = [[p + 2 * (value - p) for value in own] for p, own in zip(PRINTED, OFF, strict=True)]
    found = judge_choice(table(far, [BEYOND] * 3), table(OFF, [NOT_KNOWN] * 3))
    assert found["verdict"] == "not supported" and found["moved"].startswith("+10.5 [")


def test_the_seeds_that_find_what_is_off_and_on_which_side_are_not_those_that_decide():
    exact = table([[p] * 6 for p in PRINTED], [NumberVerdict.AS_PRINTED] * 3)

    def judge(first, second):
        return judge_choice(table([[p + first, p + second] * 3 for p in PRINTED], [BEYOND] * 3), exact)

    assert [judge(off, 0)["numbers"] for off in (1.9, 2.1)] == [0, 3]
    assert judge(0, 10)["numbers"] == 0
    for second, moved in ((0, "+0.0 ["), (-20, "-20.0 [")):
        found = judge(10, second)
        assert (found["numbers"], found["verdict"]) == (3, "not supported") and found["moved"].startswith(moved)


def test_one_chance_flip_vetoes_no_choice_but_a_number_that_is_shown_to_be_off_does():
    after = [NOT_KNOWN, WITHIN, WITHIN]
    assert judge_choice(table(OFF, [BEYOND] * 3), table(NEAR, after))["verdict"] == "supported"
    after[0] = BEYOND
    assert judge_choice(table(OFF, [BEYOND] * 3), table(NEAR, after))["verdict"] == "not supported"


def test_more_noise_supports_no_choice():
    noisy = [[p - 30, p - 20, p, p, p + 30, p + 20] for p in PRINTED]
    assert judge_choice(table(OFF, [BEYOND] * 3), table(noisy, [NOT_KNOWN] * 3))["verdict"] == "not supported"


def test_numbers_that_a_choice_was_found_on_or_that_were_right_before_do_not_count():
    fitted = table(NEAR, [NumberVerdict.FITTED, WITHIN, WITHIN])
    assert judge_choice(table([OFF[0], OFF[1], NEAR[2]], [BEYOND, BEYOND, WITHIN]), fitted)["numbers"] == 1
    assert judge_choice(table(NEAR, [WITHIN] * 3), fitted)["verdict"] == "not supported"
    assert judge_choice(table(NEAR, [WITHIN] * 3), table(NEAR, [NumberVerdict.NOT_RUN] * 3))["verdict"] == (
        "nothing to compare"
    )


def test_a_choice_that_brings_numbers_exactly_to_print_is_supported():
    exact = [[p] * 6 for p in PRINTED]
    found = judge_choice(table(OFF, [BEYOND] * 3), table(exact, [NumberVerdict.AS_PRINTED] * 3))
    assert (found["verdict"], found["numbers"], found["seeds"]) == ("supported", 3, 6)
    counted = table(exact, [NumberVerdict.AS_PRINTED] * 3).assign(by_seed=float("nan"))  # of data: of no seed
    assert judge_choice(counted, counted)["verdict"] == "nothing to compare"


def test_few_seeds_support_nothing_and_values_are_paired_by_seed():
    few = table([own[:5] for own in NEAR], [WITHIN] * 3)
    assert judge_choice(table(OFF, [BEYOND] * 3), few)["verdict"] == "too few seeds"
    gap = table(NEAR, [WITHIN] * 3).assign(by_seed=lambda t: t["by_seed"].str.replace("0:", "9:"))
    assert judge_choice(table(OFF, [BEYOND] * 3), gap)["seeds"] == 5
