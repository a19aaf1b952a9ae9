"""Printed numbers and claims, gathered: each once, judged as its table says, and never more than was run."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import yaml
from page import table_file
from scipy import stats
from tests.reporting.test_claims import WORST, judged, runs

from despur.orchestration import experiments
from despur.reporting import tally, verdicts
from despur.reporting.claims import holm

PAPERS = experiments.list_papers()


@pytest.fixture
def outputs(tmp_path, monkeypatch):
    """A configuration of cnc whose outputs lie in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return {"papers": ["cnc"], "seeds": 3, "outputs": "results", "datasets": {"cmnist": "colored_digits"}}


def finish(config, artifact, table):
    """Write a table, and empty files where its other forms would be."""
    for file in map(tally.Path, experiments.list_outputs(config, "cnc", artifact)):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    table.to_csv(table_file(config, "cnc", artifact), index=False)


def beside(rows):
    """Rows of Table A.4, with what ``rows`` (method, metric) say of ours."""
    numbers = pd.read_csv(experiments.PAPERS / "cnc/reported/table_a4.csv").rename(
        columns={"dataset": "paper_dataset", "mean": "reported", "std": "reported_std"}
    )
    return numbers.merge(pd.DataFrame(rows, columns=["method", "metric", *tally.OURS]), on=["method", "metric"])


ROWS = [
    ("cnc", "worst_group_accuracy", 80.0, 1.0, -9.7, 3, "waterbirds", "differs"),
    ("cnc", "worst_group_accuracy", 89.0, 1.0, -0.7, 3, "waterbirds+draw=1", "agrees"),
    ("cnc", "average_accuracy", 90.8, 0.0, 0.0, 3, "waterbirds", "agrees"),
    ("cnc_one_sided", "worst_group_accuracy", 70.0, math.nan, -10.0, 1, "waterbirds", "one seed: undecided"),
    ("cnc_train_finetune", "worst_group_accuracy", 60.0, 2.0, math.nan, 3, "scene_digits", "stand-in: not compared"),
    (
        "cnc_projection_head",
        "average_accuracy",
        60.0,
        2.0,
        math.nan,
        3,
        "waterbirds+size=64",
        "other settings (size=64): not compared",
    ),
]


@pytest.mark.parametrize("paper", PAPERS)
def test_every_printed_number_appears_once_with_a_unit_and_a_place(paper):
    table = tally.printed(paper)
    assert len(table)
    assert not table.duplicated(tally.KEY).any(), table[table.duplicated(tally.KEY, keep=False)]
    assert table[["unit", "place", "metric", "paper_dataset"]].notna().all(axis=None)
    assert set(table["artifact"]) <= set(experiments.load_experiments(paper)["artifacts"])


@pytest.mark.parametrize("paper", PAPERS)
def test_without_runs_nothing_is_compared_and_nothing_holds(paper, outputs):
    numbers, claims = tally.numbers(outputs, paper), tally.claims(outputs, paper)
    assert set(numbers["verdict"]) == set(claims["verdict"]) == {"not run here"}
    assert verdicts.counts(numbers)["not run here"] == len(tally.printed(paper)) == len(numbers)
    asked = yaml.safe_load((experiments.PAPERS / paper / "claims.yaml").read_text())
    assert len(claims) == sum(len(claim["datasets"]) for claim in asked)


def test_a_number_counts_once_and_differs_where_any_data_differs(outputs):
    finish(outputs, "table_a4", beside(ROWS))
    table = tally.numbers(outputs, "cnc")
    assert len(table[table["artifact"] == "table_a4"]) == 7  # six are printed legibly, one of them is measured twice
    assert {k: n for k, n in verdicts.counts(table[table["artifact"] == "table_a4"]).items() if n} == {
        "differs": 1,
        "agrees": 1,
        "undecided": 1,
        "stand-in": 1,
        "not compared": 1,
        "not run here": 1,
    }
    assert sum(verdicts.counts(table).values()) == len(tally.printed("cnc"))


def test_tables_of_papers_that_the_configuration_leaves_out_do_not_count(outputs):
    finish(outputs, "table_a4", beside(ROWS))
    assert set(tally.numbers(outputs | {"papers": []}, "cnc")["verdict"]) == {"not run here"}


def test_a_half_finished_artifact_does_not_count(outputs):
    finish(outputs, "table_a4", beside(ROWS))
    tally.Path(experiments.list_outputs(outputs, "cnc", "table_a4")[-1]).unlink()
    assert set(tally.numbers(outputs, "cnc")["verdict"]) == {"not run here"}


def test_a_share_that_a_table_shows_in_percent_is_in_percent(outputs):
    config = outputs | {"papers": ["domain_temperature"]}
    numbers = pd.read_csv(experiments.PAPERS / "domain_temperature/reported/table_1.csv")
    row = (
        numbers.iloc[[0]]
        .rename(columns={"dataset": "paper_dataset", "mean": "reported"})
        .assign(reported=lambda t: 100 * t["reported"])
    )
    row = row.assign(
        ours=70.0, ours_std=1.0, difference=math.nan, seeds=5, data="domain_digits", verdict="stand-in: not compared"
    )
    for file in map(tally.Path, experiments.list_outputs(config, "domain_temperature", "table_1")):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    row.to_csv(table_file(config, "domain_temperature", "table_1"), index=False)
    table = tally.numbers(config, "domain_temperature")
    (found,) = table[table["kind"] == "stand-in"].itertuples()
    assert (found.reported, found.unit, found.ours) == (pytest.approx(78.4), "percent", 70.0)
    assert set(table.loc[table["kind"] == "not run here", "unit"]) == {"fraction", "count", "value"}


def test_claims_keep_what_their_table_says_and_the_rest_is_not_run(outputs):
    rows = [
        {
            "claim": "near_group_dro",
            "dataset": "cmnist",
            "data": "colored_digits",
            "verdict": "undecided",
            "effect": 0.0,
            "low": -0.1,
            "high": 0.1,
            "seeds": 1,
            "reason": "one seed: the interval is over test originals only",
        }
    ]
    finish(outputs, "claims", pd.DataFrame(rows))
    table = tally.claims(outputs, "cnc")
    assert table["verdict"].value_counts().to_dict() == {"not run here": len(table) - 1, "undecided": 1}
    assert table.loc[table["verdict"] == "undecided", "settle"].tolist() == ["a second seed, at least"]


# what would settle a claim


def undecided(seeds, of_seeds, of_originals, effect, margin=0.0):
    """A claim whose effect has these standard deviations over seeds (of one) and over test originals."""
    t = (effect - margin) / (of_seeds / math.sqrt(seeds))
    half = stats.norm.ppf(0.975) * math.sqrt(of_seeds**2 * (seeds - 1) / seeds**2 + of_originals**2)
    return SimpleNamespace(
        verdict="undecided",
        seeds=seeds,
        effect=effect,
        margin=margin,
        low=effect - half,
        high=effect + half,
        p_seeds=stats.t.sf(t, seeds - 1),
        reason=math.nan,
    )


@pytest.mark.parametrize("effect", [0.5, -0.5])
def test_how_many_seeds_follow_from_the_spread_over_seeds(effect):
    # (1.96 / 0.5)^2 = 15.4; with originals of deviation .2: 1 / ((.5 / 1.96)^2 - .04) = 39.9
    assert tally.settle(undecided(4, 1.0, 0.0, effect)) == "about 16 seeds"
    assert tally.settle(undecided(4, 1.0, 0.2, effect)) == "about 40 seeds"


def test_where_test_originals_spread_too_far_no_number_of_seeds_helps():
    assert tally.settle(undecided(4, 1.0, 0.3, 0.5)) == "no number of seeds: more test originals"


def test_a_claim_whose_condition_is_not_met_waits_for_other_runs():
    row = SimpleNamespace(
        verdict="undecided", effect=math.nan, seeds=math.nan, margin=0.0, p_seeds=math.nan, reason="not above 0: ..."
    )
    assert tally.settle(row) == "runs in which it means something: see the reason"


def test_a_settled_claim_needs_nothing():
    assert tally.settle(SimpleNamespace(verdict="holds")) == tally.settle(SimpleNamespace(verdict="not run here")) == ""


# intervals and corrections


def test_intervals_cover_the_true_effect_about_as_often_as_they_say():
    """Ten seeds of deviation 1 on test originals of deviation 1/2; percentile intervals are somewhat too narrow with
    few seeds."""
    rng, covered = np.random.default_rng(0), []
    for _ in range(200):
        values = 3 + rng.normal(0, 1, 10) + rng.normal(0, 0.5)
        metrics = runs({"cnc": values})
        noise = pd.DataFrame(values[:, None] + rng.normal(0, 0.5, 200), columns=[str(i) for i in range(200)])
        found = judged(f"value('cnc', '{WORST}')", metrics, metrics.drop(columns="value").join(noise))
        covered.append(found["low"] <= 3 <= found["high"])
    assert 0.87 <= np.mean(covered) <= 0.98


def test_holm_is_the_closed_test_of_bonferroni():
    """The corrected p value is the largest, over all sets of hypotheses with this one, of their Bonferroni test."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        p = rng.choice([*(rng.random(5) ** 3), 0.01], 5)  # with ties
        sets = [s for size in range(1, 6) for s in itertools.combinations(range(5), size)]
        slow = [max(min(len(s) * min(p[list(s)]), 1) for s in sets if i in s) for i in range(5)]
        assert holm(p) == pytest.approx(slow)
