"""Numbers of sentences: which values a formula has, and what they decide."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from despur.evidence.sentences import judging
from despur.evidence.sentences.judging import judge_sentences
from despur.evidence.sentences.sentence_format import read_sentence
from despur.orchestration.experiments import load_experiments
from despur.orchestration.paper_folders import find_paper, list_papers
from despur.specs.settings import SettingError

FIXED = {"split": "test", "selection": "best", "group": "", "substitute": False, "paper_dataset": "celeba"}
COLUMNS = "dataset,method,setting,metric,mean,std,unit,formula,note\n"
PLACES = {"paper_dataset": "celeba", "data": "celeba", "used_dataset": "celeba"}


@pytest.fixture
def paper(tmp_path, monkeypatch):
    """A paper with one sentence; returns what judges it on values: method -> shares by seed."""
    monkeypatch.setattr(judging, "find_paper", lambda name: tmp_path)
    about = {"seeds": 3, "datasets": {"both": ["celeba", "waterbirds"]}}
    monkeypatch.setattr(judging, "load_experiments", lambda name: {"sentences": about})
    (tmp_path / "reported").mkdir()

    def judge(formula, values, printed="10.0", dataset="celeba", unit="pp", **columns):
        line = f'{dataset},a,,accuracy,{printed},,{unit},"{formula}",\n'
        (tmp_path / "reported/prose.csv").write_text(COLUMNS + line)
        marks = columns.pop("collapsed", lambda seed: False)
        fixed = {**FIXED, **PLACES, "metric": "accuracy", **columns}
        rows = [
            fixed | {"paper_method": method, "seed": seed, "value": value, "collapsed": marks(seed)}
            for method, own in values.items()
            for seed, value in enumerate(own)
        ]
        return judge_sentences("toy", pd.DataFrame(rows)).to_dict("records")

    return judge


A, B, C = (0.61, 0.6, 0.59), (0.51, 0.5, 0.49), (0.4, 0.41, 0.42)


@pytest.mark.parametrize(
    ("formula", "ours"),
    [
        ("{method: a}", 60.0),
        ("{higher: a, than: b}", 10.0),
        ("{lower: b, than: a}", 10.0),
        ("{higher: 1, than: {method: a}}", 40.0),
        ("{higher: a, than: [b, c], take: smallest}", 10.0),
        ("{higher: a, than: [b, c], take: largest}", 19.0),
        ("{higher: a, than: [b, not_run], take: largest}", 10.0),
        ("{pairs: {a: b, b: c}, take: smallest}", 9.0),
        ("{mean: {method: [a, b]}}", 55.0),
    ],
)
def test_a_formula_has_the_value_that_its_words_say(paper, formula, ours):
    (row,) = paper(formula, {"a": A, "b": B, "c": C})
    assert row["ours"] == pytest.approx(ours) and row["seeds"] == 3


def test_a_contrast_is_paired_by_seed(paper):
    (row,) = paper("{higher: a, than: b}", {"a": (0.7, 0.5, 0.6, 0.1), "b": (0.6, 0.4, 0.5)})
    assert row["by_seed"] == "0:10 1:10 2:10" and row["ours_std"] == pytest.approx(0) and row["seeds"] == 3


@pytest.mark.parametrize(
    ("numbers", "settings", "verdict", "reason"),
    [
        ([], "fitted elsewhere", "not known", ""),
        ([{"metric": "accuracy"}], "fitted to print", "fitted to print", "found on it: colors=released"),
    ],
)
def test_a_sentence_says_the_settings_of_its_runs(paper, monkeypatch, numbers, settings, verdict, reason):
    rule = {"setting": "colors=released", "found_on": "Table 1", "numbers": numbers}
    monkeypatch.setattr("despur.evidence.numbers.settings.load_experiments", lambda name: {"fitted": [rule]})
    run = {"paper": "toy", "method": "erm", "data": "cmnist+colors=released"}
    (row,) = paper("{method: a}", {"a": A}, printed="60.0", **run)
    assert (row["settings"], row["verdict"], row["reason"]) == (settings, verdict, reason)
    assert (row["choices"], row["runs"]) == ("colors=released (Table 1)", "cmnist+colors=released/erm")


@pytest.mark.parametrize(
    ("values", "verdict", "would_decide"),
    [
        ((0.101, 0.1, 0.099), "within 2", ""),
        ((0.201, 0.2, 0.199), "beyond 5", ""),
        ((0.1, 0.1), "not known", "at least 3 seeds"),
        ((0.3, 0.1, -0.1), "not known", None),
    ],
)
def test_a_value_is_judged_as_a_table_s_number_is(paper, values, verdict, would_decide):
    (row,) = paper("{method: a}", {"a": values})
    assert row["verdict"] == verdict and row["difference"] == pytest.approx(100 * np.mean(values) - 10)
    assert would_decide is None or row["would_decide"] == would_decide


@pytest.mark.parametrize(("unit", "point"), [("pp", 1), ("fraction", 0.01)])
@pytest.mark.parametrize(("formula", "terms"), [("{method: a}", 1), ("{higher: a, than: b}", 2)])
def test_test_samples_vary_each_accuracy_of_a_formula(paper, monkeypatch, formula, terms, unit, point):
    monkeypatch.setattr("despur.evidence.sentences.values.sample_variance", lambda *_: 1.0)  # squared points
    (row,) = paper(formula, {"a": [0.6] * 3, "b": [0.5] * 3}, printed=str(10 * point), unit=unit)
    half = stats.norm.isf(0.025) * np.sqrt(terms) * point
    assert (row["high"] - row["low"]) / 2 == pytest.approx(half)


@pytest.mark.parametrize(
    ("formula", "ours", "verdict"),
    [
        ("{counted: true}", 8000.4, "as printed"),
        ("{counted: true}", 8000.6, "not as printed"),
        ("{counted: true, within: 500}", 8499.0, "as printed"),
        ("{counted: true, within: 500}", 8501.0, "not as printed"),
    ],
)
def test_what_is_counted_rounds_to_the_printed_number(paper, formula, ours, verdict):
    (row,) = paper(formula.replace("{", "{method: a, "), {"a": [ours]}, printed="8000", unit="count")
    assert (row["ours"], row["verdict"]) == (ours, verdict)


def test_what_is_not_measured_is_named(paper):
    (row,) = paper("{higher: a, than: b}", {"a": A})
    assert row["verdict"] == "not run here" and "of b on" in row["reason"] and row["seeds"] == 0
    (row,) = paper("{method: a}", {"a": A}, dataset="waterbirds")
    assert row["reason"] == "no data is used for waterbirds"
    (row,) = paper("{higher: a, than: [b, c]}", {"a": A, "b": B, "c": C})
    assert row["reason"] == "several values fit the number"


def test_of_several_data_sets_all_are_needed(paper):
    (row,) = paper("{method: a}", {"a": A}, dataset="both")
    assert row["ours"] == pytest.approx(60) and row["verdict"] == "not compared"
    assert row["reason"] == "not all of its data sets were run; over celeba"
    (row,) = paper("{method: a, mean: {dataset: every}}", {"a": A}, dataset="both")
    assert row["ours"] == pytest.approx(60) and row["verdict"] == "not compared"
    (row,) = paper("{method: a, mean: {dataset: [celeba, waterbirds]}}", {"a": A}, dataset="both")
    assert row["verdict"] == "not run here" and "on waterbirds" in row["reason"]


def test_a_number_is_compared_only_where_all_of_its_levels_were_measured(paper, tmp_path):
    """A value at half of the levels that the paper speaks of is shown, and what is missing."""
    of = "{mean: {method: [a, b]}, noise: every, take: largest, counted: true}"
    levels = "claims: []\nlevels: {noise: [0, 1]}\n"
    (tmp_path / "claims.yaml").write_text(levels)
    (row,) = paper(of, {"a": [0.1], "b": [0.1]}, noise=0)
    assert row["ours"] == pytest.approx(10)
    assert row["verdict"] == "not compared"
    assert row["reason"].startswith("not all of its levels: not measured: ") and "noise=1" in row["reason"]
    (tmp_path / "claims.yaml").write_text(levels.replace("[0, 1]", "[0]"))
    (row,) = paper(of, {"a": [0.1], "b": [0.1]}, noise=0)
    assert row["verdict"] == "as printed"
    (row,) = paper("{higher: a, than: [b, not_run], take: largest}", {"a": A, "b": B})
    assert row["verdict"] == "not compared" and "of not_run on" in row["reason"]


def test_the_best_of_several_noisy_values_is_shown_and_not_compared(paper):
    (row,) = paper("{higher: a, than: [b, c], take: largest}", {"a": A, "b": B, "c": C})
    assert row["verdict"] == "not compared" and "error rate is not known" in row["reason"]


def test_seeds_that_collapsed_are_in_no_sentence(paper):
    rows = {"a": (0.101, 0.1, 0.099, 0.9)}
    (row,) = paper("{method: a}", rows, collapsed=lambda seed: seed == 3)
    assert row["verdict"] == "within 2" and row["by_seed"] == "0:10.1 1:10 2:9.9"


def test_words_that_give_no_verdict_by_a_difference(paper):
    (row,) = paper("{claim: some_claim}", {"a": A})
    assert row["reason"] == "a range, judged as a claim: some_claim" and row["verdict"] == "not run here"
    (row,) = paper("{method: a, not_compared: other machine, beside: {the other is: {method: b}}}", {"a": A, "b": B})
    assert (row["verdict"], row["reason"]) == ("not compared", "other machine; the other is 0.5")
    (row,) = paper("{beside: {share: {method: b}}}", {"b": B})
    assert (row["verdict"], row["reason"], row["seeds"]) == ("not compared", "share 0.5", 0)
    first, second = paper("{instead: {a: the one, b: the other}}", {"a": A, "b": B})
    assert (first["ours"], second["ours"]) == pytest.approx((60, 50)) and second["reason"] == "the other"
    assert {first["method"], second["method"]} == {"a"}


def test_runs_on_other_data_and_settings_are_not_compared(paper):
    (row,) = paper("{method: a}", {"a": A}, substitute=True)
    assert row["verdict"] == "substitute data" and row["ours"] == pytest.approx(60)
    (row,) = paper("{method: a}", {"a": A}, changed="epochs=2")
    assert (row["verdict"], row["reason"]) == ("other settings", "epochs=2")


@pytest.mark.parametrize("paper_name", list_papers())
def test_every_formula_can_be_read_and_is_about_data_sets_of_its_paper(paper_name):
    experiments = load_experiments(paper_name)
    about = experiments["sentences"]
    assert {name for names in about.get("datasets", {}).values() for name in names} <= {*experiments["datasets"]}
    printed = pd.read_csv(find_paper(paper_name) / "reported/prose.csv").fillna({"formula": "", "method": ""})
    for number in printed[printed["formula"] != ""].itertuples():
        assert read_sentence(number, about, 0.5).words.get("take", "largest") in ("largest", "smallest")


@pytest.mark.parametrize(
    ("formula", "words"),
    [("{method: a", "is no YAML"), ("cnc", "is no mapping"), ("{take: most}", "unknown word of take 'most'")],
)
def test_what_is_no_formula_is_refused_with_file_and_number(paper, formula, words):
    with pytest.raises(SettingError, match=rf"prose.csv: accuracy of celeba: .*{words}"):
        paper(formula, {"a": A})
