"""Claims: what a verdict rests on, what it refuses, and that the claims of all papers are what their printed numbers
say."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import yaml
from making import write_run
from scipy import stats

from despur.evidence.claims import judging
from despur.evidence.claims.claim_evidence import format_estimate
from despur.evidence.claims.claim_format import Claim, read_claims
from despur.evidence.claims.decisions import judge_claim, judge_on_printed, select_note
from despur.evidence.claims.judging import format_claims, judge_claims
from despur.evidence.claims.measured_values import AmbiguousValue, MeasuredValues
from despur.evidence.claims.printed_numbers import PrintedNumbers, load_printed_numbers
from despur.evidence.claims.refusals import list_fitted_settings
from despur.evidence.statistics.levels import Missing
from despur.evidence.statistics.rank_correlations import fisher, least_half_width
from despur.evidence.verdicts import PrintedVerdict, Tier
from despur.orchestration import experiments, paper_folders
from despur.orchestration.experiments import ArtifactRun

WORST = "worst_group_accuracy"
NOISE = np.linspace(-0.1, 0.1, 200)
SHARED = {"paper_dataset": "cmnist", "used_dataset": "colored_digits", "substitute": True}
SHARED |= {"split": "test", "selection": "best"}


def runs(values, metric=WORST, group="", **settings):
    """Rows of metrics: ``values`` are a method's values, by seed."""
    rows = [(method, seed, float(value)) for method, each in values.items() for seed, value in enumerate(each)]
    table = pd.DataFrame(rows, columns=["paper_method", "seed", "value"])
    return table.assign(**{**SHARED, "metric": metric, "group": group, **settings})


def resampled(metrics, noise=NOISE):
    """The same runs on 200 bootstrap samples: the value plus a method's noise."""
    clouds = [noise[name] if isinstance(noise, dict) else noise for name in metrics["paper_method"]]
    cloud = metrics["value"].to_numpy()[:, None] + np.array(clouds)
    return metrics.drop(columns="value").join(pd.DataFrame(cloud, columns=[str(i) for i in range(cloud.shape[1])]))


def claim(contrasts, margin=0.0, **more):
    own = {"name": "made_up", "statement": "s", "place": "p", "artifact": "table_1", "datasets": ["cmnist"]}
    return Claim(**{**own, "defaults": {"metric": WORST}, "contrasts": contrasts, "margin": margin, **more})


def judged(contrasts, metrics, resamples=None, margin=0.0, tier=Tier.PAPER, **more):
    return judge_claim(claim(contrasts, margin, **more), ["cmnist"], MeasuredValues(metrics, resamples), tier=tier)


CNC = {"higher": "cnc", "than": 0}
AGAINST_JTT = {"higher": "cnc", "than": "jtt"}


# what a verdict rests on


def test_estimate_and_bounds_are_student_s_over_seeds_and_the_noise_of_test_data():
    metrics = runs({"cnc": [0.7, 0.8, 0.9]})
    found = judged(CNC, metrics, resampled(metrics))
    t, z = stats.t.isf(0.025, 2), stats.norm.isf(0.025)
    half = math.sqrt(t**2 * 0.01 / 3 + z**2 * NOISE.var(ddof=1))
    assert (found["estimate"], found["low"], found["high"]) == pytest.approx((0.8, 0.8 - half, 0.8 + half))
    assert (found["seeds"], found["k"], found["verdict"]) == (3, 1, "holds")
    alone = judged(CNC, metrics)
    assert alone["low"] == pytest.approx(0.8 - t * 0.1 / math.sqrt(3))


def test_methods_on_the_same_originals_and_seeds_are_paired():
    metrics = runs({"cnc": [0.3, 0.6, 0.9], "jtt": [0.2, 0.5, 0.8001]})
    paired = judged(AGAINST_JTT, metrics, resampled(metrics))
    assert (paired["low"], paired["high"]) == pytest.approx((0.1, 0.1), abs=1e-3) and paired["verdict"] == "holds"
    other_originals = judged(AGAINST_JTT, metrics, resampled(metrics, {"cnc": NOISE, "jtt": NOISE[::-1]}))
    other_seeds = judged(AGAINST_JTT, runs({"cnc": [0.3, 0.6, 0.9], "jtt": [0.8, 0.2, 0.5]}))
    for unpaired in (other_originals, other_seeds):
        assert unpaired["estimate"] == pytest.approx(0.1, abs=1e-3) and unpaired["verdict"] == "undecided"
        assert unpaired["high"] - unpaired["low"] > 0.3


def test_seeds_are_those_that_all_methods_have_those_of_given_too():
    metrics = runs({"cnc": [0.8, 0.8, 0.8, 0.2], "jtt": [0.5, 0.5, 0.5], "erm": [0.4, 0.4]})
    assert judged(AGAINST_JTT, metrics)["estimate"] == pytest.approx(0.3)
    assert judged(AGAINST_JTT, metrics)["seeds"] == 3
    found = judged(AGAINST_JTT, metrics, given={"higher": "erm", "than": 0})
    assert found["seeds"] == 2 and found["verdict"] == "undecided" and "2 seeds: fewer than 3" in found["reason"]


def test_the_row_shows_the_contrast_nearest_to_its_margin_and_lists_all():
    metrics = runs({"cnc": [0.8, 0.81, 0.82], "jtt": [0.5, 0.51, 0.52], "erm": [0.79, 0.78, 0.81]})
    found = judged({"higher": "cnc", "than": ["jtt", "erm"]}, metrics)
    assert found["estimate"] == pytest.approx(0.05 / 3) and found["k"] == 2
    assert found["contrasts"].startswith("cnc - jtt (worst_group_accuracy): +0.3 [")
    assert "; cnc - erm" in found["contrasts"]


def test_logarithms_are_taken_of_each_seed():
    metrics = runs({"con": [1.0, 2.0, 4.0], "ce": [0.5, 1.0, 1.9]}, "seconds")
    asked = {"higher": "con", "than": "ce", "metric": "seconds", "scale": "log"}
    found = judged(asked, metrics, margin=math.log(1.5))
    ratios = np.log([2, 2, 4 / 1.9])
    low = stats.ttest_1samp(ratios, 0).confidence_interval(0.95).low
    assert (found["estimate"], found["low"], found["verdict"]) == pytest.approx((ratios.mean(), low, "holds"))
    zero = judged(asked, runs({"con": [0, 1, 1], "ce": [1, 1, 1]}, "seconds"))
    assert zero["verdict"] == "undecided" and "no finite value" in zero["reason"]


def test_a_mean_over_data_sets_takes_those_that_the_claim_names():
    tables = [
        runs({"cnc": [a, a + 0.01, a]}).assign(paper_dataset=paper_dataset, used_dataset=paper_dataset)
        for paper_dataset, a in (("cmnist", 0.7), ("celeba", 0.5))
    ]
    every = claim({**CNC, "mean": {"dataset": "every"}}, datasets=["cmnist", "celeba"], together=True)
    found = judge_claim(every, every.datasets, MeasuredValues(pd.concat(tables)))
    assert found["estimate"] == pytest.approx((0.7 + 0.5) / 2 + 0.01 / 3)
    lacking = judge_claim(every, every.datasets, MeasuredValues(tables[0]))
    assert lacking["verdict"] == "not run here" and "on celeba" in lacking["reason"]


def points(errors, losses):
    """Two metrics of several methods: the same order in each seed, but for noise."""
    names = [f"m{i}" for i in range(len(errors))]
    rows = [
        runs({name: [value + 0.001 * s for s in range(3)]}, metric)
        for metric, each in ((WORST, errors), ("loss", losses))
        for name, value in zip(names, each, strict=True)
    ]
    return pd.concat(rows, ignore_index=True)


CORRELATION = {"rank_correlation": [WORST, "loss"], "over": ["method"]}
ERRORS, LOSSES = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [1, 3, 2, 4, 5, 6]
MANY_ERRORS, MANY_LOSSES = [*ERRORS, 0.7, 0.8], [*LOSSES, 7, 8]


def test_a_rank_correlation_is_one_for_each_seed():
    found = judged(CORRELATION, points(MANY_ERRORS, MANY_LOSSES))
    assert found["estimate"] == pytest.approx(fisher(stats.spearmanr(MANY_ERRORS, MANY_LOSSES).statistic, 8))
    assert found["verdict"] == "holds" and found["seeds"] == 3
    assert judged({**CORRELATION, "sign": -1}, points(MANY_ERRORS, MANY_LOSSES))["verdict"] == "fails"
    assert judged(CORRELATION, points(MANY_ERRORS, MANY_LOSSES), margin=9)["verdict"] == "fails"
    few = judged(CORRELATION, points(ERRORS[:4], LOSSES[:4]))
    assert few["verdict"] == "not run here" and "4 different runs in common, 5 are needed" in few["reason"]


def test_a_rank_correlation_needs_all_levels_of_the_paper_and_all_methods_that_are_named():
    asked = {**CORRELATION, "over": ["method", "data.p_corr"], "method": ["m0", "m1", "m2"]}
    three = points(ERRORS[:3], LOSSES[:3])
    table = pd.concat([three.assign(**{"data.p_corr": p, "value": three["value"] + p}) for p in (0.2, 0.5, 0.9)])
    table = table.reset_index(drop=True)
    assert judged(asked, table, levels={"data.p_corr": [0.2, 0.5, 0.9]})["verdict"] != "not run here"
    more_levels = judged(asked, table, levels={"data.p_corr": [0.2, 0.5, 0.9, 0.99]})
    assert more_levels["verdict"] == "not run here" and "9 different runs in common, 12 are" in more_levels["reason"]
    more_methods = judged({**asked, "method": ["m0", "m1", "m2", "m3"]}, table, levels={"data.p_corr": [0.2, 0.5]})
    assert "6 different runs in common, 8 are needed" in more_methods["reason"]
    assert "does not state the paper's levels" in judged(asked, table)["reason"]


def test_a_seed_that_is_not_finished_does_not_undo_a_rank_correlation():
    three = points(MANY_ERRORS, MANY_LOSSES)
    fourth = three[(three["seed"] == 0) & (three["paper_method"] == "m0")].assign(seed=3)
    found = judged(CORRELATION, pd.concat([three, fourth], ignore_index=True))
    assert (found["seeds"], found["verdict"]) == (3, "holds")
    lacking = three[(three["paper_method"] != "m0") | (three["seed"] == 0)]  # a point of one seed
    others = fisher(stats.spearmanr(MANY_ERRORS[1:], MANY_LOSSES[1:])[0], 7)
    assert judged(CORRELATION, lacking)["estimate"] == pytest.approx(others)


def test_the_same_rank_correlation_in_all_seeds_is_no_certainty():
    """Over six points, chance alone makes correlations of up to .81; of .77 nothing is known, however many seeds."""
    found = judged(CORRELATION, points(ERRORS, [1, 4, 2, 3, 6, 5]))
    assert found["estimate"] == pytest.approx(fisher(1 - 6 * 8 / 210, 6)) and found["verdict"] == "undecided"
    assert found["low"] < 0 and "over 6 points such" in found["advice"]


def test_test_data_that_change_the_order_of_points_widen_a_rank_correlation():
    metrics = points(ERRORS, LOSSES)
    reverses = {f"m{i}": np.tile([0, -2 * error], 100) for i, error in enumerate(ERRORS)}  # every other sample
    found = judged(CORRELATION, metrics, resampled(metrics, reverses))
    z = fisher(stats.spearmanr(ERRORS, LOSSES).statistic, 6)  # or -z, the same for all seeds
    assert found["high"] - found["low"] == pytest.approx(2 * stats.norm.isf(0.025) * np.std([z, -z] * 100, ddof=1))
    alike = {f"m{i}": NOISE for i in range(6)}  # moves all points: their order stays
    assert judged(CORRELATION, metrics, resampled(metrics, alike)) == judged(CORRELATION, metrics)
    some = resampled(metrics, reverses)[lambda table: table["paper_method"] != "m0"]
    assert judged(CORRELATION, metrics, some) == judged(CORRELATION, metrics)


def test_snapshots_of_a_run_are_one_point():
    """Two epochs of each of six runs: the bounds are those of six points."""
    alone = points(ERRORS, LOSSES)
    table = pd.concat([alone.assign(selection=f"epoch={i}", value=alone["value"] + i) for i in range(2)])
    asked = {**CORRELATION, "over": ["method", "selection"], "selection": ["epoch=0", "epoch=1"]}
    asked["method"] = [f"m{i}" for i in range(6)]
    found = judged(asked, table.reset_index(drop=True))
    assert found["high"] - found["low"] == pytest.approx(2 * least_half_width(6, 0.025))
    few = judged(asked, table[~table["paper_method"].isin(["m0", "m1"])].reset_index(drop=True))
    assert "4 different runs in common" in few["reason"]


def test_a_count_is_exact():
    metrics = runs({"adapter": [0.0103]}, "trained_params_share")
    asked = {"lower": "adapter", "than": 0.011, "metric": "trained_params_share"}
    assert judged({**asked, "counted": True}, metrics)["verdict"] == "holds"
    assert judged(asked, metrics)["verdict"] == "undecided"


def test_what_is_undecided_says_what_would_settle_it():
    found = judged(CNC, runs({"cnc": [0.1, 0.4, 0.1]}))
    assert found["verdict"] == "undecided" and found["advice"].startswith("about ")
    metrics = runs({"cnc": [0.01, 0.02, 0.01]})
    assert "the test data are too few" in judged(CNC, metrics, resampled(metrics))["advice"]


@pytest.mark.parametrize("seeds", [1, 2])
def test_of_fewer_than_three_seeds_the_table_of_claims_advises_three(written, tmp_path, seeds):
    for artifact_run in written:
        file = tmp_path / artifact_run.folders[0] / "metrics.csv"
        pd.read_csv(file).query(f"seed < {seeds}").to_csv(file, index=False)
    head = {"statement": "s", "place": "p", "because": "b", "artifact": "table_1", "datasets": ["cmnist"]}
    table = judge_claims(write(tmp_path, [{"name": "few", **head, "contrasts": AGAINST_JTT}]), written)
    assert table[["verdict", "advice"]].to_numpy().tolist() == [["not seen", "at least 3 seeds"]]
    assert table["reason"].item().endswith("fewer than 3 decide nothing")
    assert format_claims(table)["what would settle it"].item() == "at least 3 seeds"


def test_an_estimate_that_floats_alone_make_is_written_as_zero():
    assert format_estimate(-1.1e-17, -0.00168, 0.00168) == "+0 [-0.00168, +0.00168]"


# what decides nothing


@pytest.mark.parametrize(("least", "verdict"), [(0.5, "holds"), (0.79, "undecided"), (1, "undecided")])
def test_what_is_given_must_be_shown(least, verdict):
    """A contrast, too: an estimate above 0 whose lower bound is not decides nothing."""
    metrics = runs({"cnc": [0.78, 0.8, 0.82]})
    found = judged(CNC, metrics, given={"higher": "cnc", "than": least})
    assert found["verdict"] == verdict
    assert ("is not shown: that cnc - " in found.get("reason", "")) == (verdict == "undecided")


@pytest.mark.parametrize(
    ("shortened", "tier", "verdict"),
    [
        ("epochs=5 instead of 300", Tier.PAPER, "undecided"),
        ("epochs=5 instead of 300", Tier.SUBSTITUTE, "seen here"),
        ("", Tier.PAPER, "holds"),
    ],
)
def test_shorter_training_on_the_paper_s_data_decides_nothing_about_it(shortened, tier, verdict):
    found = judged(CNC, runs({"cnc": [0.7, 0.71, 0.7]}, shortened=shortened), tier=tier)
    assert found["verdict"] == verdict
    assert (shortened in found.get("reason", "")) == (verdict == "undecided" or not shortened)


def test_other_settings_than_the_paper_s_decide_nothing_about_it_but_longer_training_does():
    values = {"cnc": [0.7, 0.71, 0.7]}
    found = judged(CNC, runs(values, changed="size=64;epochs=900").assign(substitute=False))
    assert found["verdict"] == "undecided" and "other settings than the paper's (size=64)" in found["reason"]
    longer = judged(CNC, runs(values, changed="stage1.epochs=900;finetune_epochs=9").assign(substitute=False))
    assert longer["verdict"] == "holds"


def test_what_is_derived_or_given_is_refused_with_the_runs_behind_it():
    """A mean over settings says nothing of how its runs were trained: all runs of its method on this data do."""
    values = {"cnc": [0.7, 0.71, 0.7]}
    short = runs(values, shortened="epochs=1 instead of 300", changed="epochs=1").assign(substitute=False)
    mean = short.assign(selection="all_settings").drop(columns=["shortened", "changed"])
    found = judged({**CNC, "selection": "all_settings"}, pd.concat([short, mean], ignore_index=True))
    assert found["verdict"] == "undecided" and "epochs=1 instead of 300" in found["reason"]
    jtt = runs({"jtt": [0.7, 0.71, 0.7]}, shortened="", changed="").assign(substitute=False)
    both = pd.concat([jtt, short], ignore_index=True)
    assert judged({"higher": "jtt", "than": 0.1}, both)["verdict"] == "holds"
    found = judged({"higher": "jtt", "than": 0.1}, both, given={"higher": "cnc", "than": 0.1})
    assert found["verdict"] == "undecided" and "epochs=1 instead of 300" in found["reason"]


def test_a_group_that_a_bootstrap_sample_lacks_leaves_the_others_to_a_rank_correlation():
    metrics = points(ERRORS, LOSSES)
    drawn = resampled(metrics)
    drawn.loc[0, "0"] = np.nan
    source = MeasuredValues(metrics, drawn)
    (asked,) = claim(CORRELATION).formulas(["cmnist"], source).parts
    found, number = source.correlation(asked)
    assert number == 6 and found.shape == (3, 1 + 199) and found.notna().all(axis=None)


def test_only_the_runs_that_a_claim_reads_can_make_it_undecided():
    short = runs({"lff": [0.1, 0.2, 0.1]}, shortened="epochs=1 instead of 300")
    found = judged(CNC, pd.concat([runs({"cnc": [0.7, 0.71, 0.7]}, shortened=""), short]).assign(substitute=False))
    assert found["verdict"] == "holds"


def test_a_logarithm_that_is_infinite_on_a_bootstrap_sample_is_named():
    metrics = runs({"con": [1.0, 2.0, 4.0], "ce": [0.5, 1.0, 1.9]})
    drawn = resampled(metrics)
    drawn.loc[0, "0"] = 0.0
    found = judged({"higher": "con", "than": "ce", "scale": "log"}, metrics, drawn)
    assert found["verdict"] == "undecided" and "no finite value on some bootstrap samples" in found["reason"]


@pytest.mark.parametrize(
    ("contrasts", "reason"),
    [
        ({"higher": "cim", "than": 0}, "of cim"),
        ({"higher": "cnc", "than": 0, "metric": "leakage"}, "leakage of cnc"),
        ({"rises_with": "data.p_corr", "method": "cnc"}, "the paper's levels of data.p_corr"),
        ({"higher": "cnc", "than": 0, "data.p_corr": 0.9}, "data.p_corr=0.9"),
        ({"higher": "cnc", "than": "later"}, "no seed in common"),
        ({"higher": "broken", "than": 0}, "not a number"),
    ],
)
def test_what_is_missing_is_not_run_and_says_why(contrasts, reason):
    metrics = pd.concat([runs({"cnc": [0.8, 0.7], "broken": [np.nan, 0.5]}), runs({"later": [0.5]}).assign(seed=7)])
    found = judged(contrasts, metrics)
    assert found["verdict"] == "not run here" and reason in found["reason"]


def test_a_method_whose_seeds_all_collapsed_is_not_called_unmeasured():
    metrics = runs({"cnc": [0.7, 0.8, 0.9], "jtt": [0.1, 0.1, 0.1]})
    metrics = metrics.assign(collapsed=metrics["paper_method"].eq("jtt"))
    found = judged(AGAINST_JTT, metrics)
    assert found["verdict"] == "not run here"
    assert found["reason"] == "every seed collapsed: worst_group_accuracy of jtt on cmnist"


def test_several_runs_are_not_taken_for_one():
    metrics = pd.concat([runs({"erm": [x, x]}, **{"data.p_corr": x}) for x in (0.5, 0.9)], ignore_index=True)
    with pytest.raises(AmbiguousValue, match=r"several values have .* of erm"):
        judged({"higher": "erm", "than": 0}, metrics)
    shown_twice = pd.concat([runs({"erm": [0.5, 0.5, 0.6]}, artifact=name) for name in ("table_1", "figure_2")])
    assert judged({"higher": "erm", "than": 0}, shown_twice)["verdict"] == "holds"


def test_a_setting_is_found_however_it_is_spelled():
    metrics = pd.concat([runs({"erm": [x, x, x]}, **{"groups.noise": x}) for x in (0.0, 0.5)], ignore_index=True)
    spelled = resampled(metrics).assign(**{"groups.noise": lambda t: t["groups.noise"].map({0.0: "0", 0.5: "0.5"})})
    found = judged({"higher": "erm", "than": 0, "groups.noise": 0}, metrics, spelled)
    assert found["high"] - found["low"] > 0.1  # it was resampled


def test_a_run_without_bootstrap_values_does_not_count_where_others_have_them():
    metrics = runs({"cnc": [0.8, 0.8, 0.8, 0.8]})
    drawn = resampled(metrics)
    assert judged(CNC, metrics, drawn[drawn["seed"] < 3])["seeds"] == 3


# a table of claims


@pytest.fixture
def written(tmp_path):
    """Run folders of two methods, as the evaluation writes them, and the runs of an artifact."""
    metrics = runs({"cnc": [0.6, 0.7, 0.8], "jtt": [0.5, 0.55, 0.6]})
    metrics = metrics.drop(columns=["paper_dataset", "used_dataset", "substitute"])
    found = []
    for method, part in metrics.groupby("paper_method"):
        rows = part.assign(dataset="colored_digits").rename(columns={"paper_method": "method"})
        folder = write_run(tmp_path / "runs/colored_digits" / method / "s0-2", rows, NOISE / 10)
        found.append(ArtifactRun("cmnist", "colored_digits", method, (folder,), "table_1"))
    return found


PRINTED = "dataset,method,setting,metric,mean,std,unit,note\n"


def write(folder, asked, numbers=""):
    """claims.yaml and printed numbers of a paper."""
    (folder / "reported").mkdir(exist_ok=True)
    (folder / "reported/table_1.csv").write_text(PRINTED + numbers)
    (folder / "claims.yaml").write_text(yaml.safe_dump({"defaults": {"metric": WORST}, "claims": asked}))
    load_printed_numbers.cache_clear()
    return folder / "claims.yaml"


def test_a_row_for_each_claim_and_data_set(written, tmp_path):
    own = {"statement": "CNC beats JTT", "place": "Table 1", "artifact": "table_1", "datasets": ["cmnist"]}
    text = {**own, "because": "'better'", "contrasts": AGAINST_JTT}
    claims = [
        {**text, "name": "better", "datasets": ["cmnist", "celeba"]},
        {**text, "name": "not_much", "margin": 0.4},
        {**text, "name": "worse", "contrasts": {"lower": "cnc", "than": "jtt"}},
        {**text, "name": "elsewhere", "artifact": "figure_7"},
        {**own, "name": "theorem", "not_executed": "a proof"},
    ]
    table = judge_claims(write(tmp_path, claims), written)
    assert table.columns.tolist() == judging.CLAIM_COLUMNS
    seen = ["not seen", "not run here", "not run here", "not seen", "not run here", "not executed"]
    assert table["verdict"].tolist() == seen
    means = [0.15, np.nan, np.nan, -0.15]
    assert table["estimate"].tolist()[:4] == pytest.approx(means, nan_ok=True)  # of the values in metrics.csv
    assert table["reason"].tolist()[4:] == ["nothing was run of figure_7", "a proof"]
    assert "about a magnitude" in table["reason"].iloc[2]  # only orders are looked at on substitutes
    assert table["tier"].iloc[[0, 2, 3]].eq(Tier.SUBSTITUTE).all()
    display = format_claims(table)
    assert display["nearest to its margin [bounds]"].iloc[0].startswith("+0.15 [")
    assert display["data used"].tolist()[:2] == ["colored_digits"] * 2  # what was judged comes first


def test_own_data_and_substitutes_are_never_joined_in_one_verdict():
    used = (("cmnist", "cmnist"), ("cmnist", "digits"), ("celeba", "celeba"), ("celeba", "scenes"))
    own = runs({"cnc": [0.7, 0.7, 0.8]})
    tables = [own.assign(paper_dataset=a, used_dataset=b, substitute=a != b) for a, b in used]
    every = claim({**CNC, "mean": {"dataset": "every"}}, datasets=["cmnist", "celeba"], together=True)
    found = judging.judge_on_each(every, every.datasets, pd.concat(tables, ignore_index=True), pd.DataFrame(), [], {})
    assert [(row["data"], row["substitute"], row["verdict"]) for row in found] == [
        ("cmnist, celeba", False, "holds"),
        ("digits, scenes", True, "seen here"),
    ]
    mixed = pd.concat(tables[1:3], ignore_index=True)
    (only,) = judging.judge_on_each(every, every.datasets, mixed, pd.DataFrame(), [], {})
    assert only["verdict"] == "not run here"


# printed numbers


NUMBERS = """cmnist,cnc,p_corr=0.995,worst_group_accuracy,77.4,3.0,percent,
cmnist,cnc,p_corr=0.995;lambda=0.2,worst_group_accuracy,70.4,3.0,percent,
cmnist,cnc,p_corr=0.995;lambda=0.4,worst_group_accuracy,74.4,,percent,
cmnist,jtt,p_corr=0.995,worst_group_accuracy,74.5,2.4,percent,
cmnist,erm,p_corr=0.995,worst_group_accuracy,,,percent,lost in print
cmnist,cnc,p_corr=0.995,mi,1.2,,nats,
"""


@pytest.mark.parametrize(
    ("contrasts", "margin", "outcome"),
    [
        (AGAINST_JTT, 0, "holds"),
        (AGAINST_JTT, 0.029, "holds"),  # 2.9 points, printed with one digit
        (AGAINST_JTT, 0.06, "holds"),  # within the printed deviations of 3.0 and 2.4
        (AGAINST_JTT, 0.08, "contradicted by the paper's own numbers"),
        ({"higher": "cnc", "than": "erm"}, 0, "not printed"),
        ({"higher": "cnc", "than": 1.1, "metric": "mi"}, 0, "holds"),
        ({"higher": {"method": "cnc", "lambda": 0.2}, "than": "jtt"}, 0, "contradicted by the paper's own numbers"),
        ({"higher": {"method": "cnc", "lambda": 0.4}, "than": "jtt"}, 0, "holds"),  # a last digit lower
        ({**AGAINST_JTT, "data.p_corr": "every"}, 0, "holds"),
        ({**AGAINST_JTT, "split": "val"}, 0, "not printed"),
    ],
)
def test_a_claim_is_executed_on_printed_numbers(contrasts, margin, outcome, tmp_path):
    write(tmp_path, [], NUMBERS)
    numbers = PrintedNumbers(tmp_path / "reported", [])
    assert judge_on_printed(claim(contrasts, margin), ["cmnist"], numbers)["printed"] == outcome


def test_a_claim_about_levels_of_which_one_is_not_printed_is_not_printed(tmp_path):
    write(tmp_path, [], NUMBERS)
    numbers = PrintedNumbers(tmp_path / "reported", [])
    of_every = claim({**AGAINST_JTT, "data.p_corr": "every"}, 0)
    outcomes = [
        judge_on_printed(replace(of_every, levels={"data.p_corr": levels}), ["cmnist"], numbers)["printed"]
        for levels in ([0.995], [0.9, 0.995])
    ]
    assert outcomes == ["holds", "not printed"]


def test_a_paper_without_tables_of_numbers_prints_none(tmp_path):
    assert load_printed_numbers(tmp_path / "reported").empty


def test_printed_numbers_may_go_by_other_names(tmp_path):
    write(tmp_path, [], "cmnist,cnc,label_fraction=0.01,test_ood_accuracy,0.9,,fraction,\n")
    names = [
        {"of": {"metric": "probe", "split": "ood"}, "is": {"metric": "test_ood_accuracy"}},
        {"of": {"group": "1%"}, "is": {"label_fraction": 0.01}},
    ]
    numbers = PrintedNumbers(tmp_path / "reported", names)
    asked = {"method": "cnc", "dataset": "cmnist", "metric": "probe", "split": "ood", "selection": "best"}
    assert numbers.value({**asked, "group": "1%"})["value"].tolist() == [0.9]
    with pytest.raises(Missing):
        numbers.value({**asked, "group": "10%"})
    printed = {"contrasts": {"higher": "cnc", "than": 0.5, "metric": "test_ood_accuracy"}}
    own = claim({"higher": "other_name", "than": 0.5}, printed=printed)
    assert judge_on_printed(own, ["cmnist"], numbers)["printed"] == "holds"


# the claims of the papers

PAPERS = [paper for paper in paper_folders.list_papers() if (paper_folders.PAPERS / paper / "claims.yaml").exists()]


@pytest.mark.parametrize("paper", PAPERS)
def test_the_claims_of_a_paper_can_be_read_and_name_artifacts_that_are_there(paper):
    known = experiments.load_experiments(paper)
    every, _ = read_claims(paper_folders.PAPERS / paper / "claims.yaml")
    assert len({claim.name for claim in every}) == len(every)
    for claim in every:
        assert set(claim.datasets) <= set(known["datasets"]), claim.name
        assert claim.not_executed or claim.because, claim.name
        places = known["artifacts"] if claim.not_executed else known["artifacts"]["claims"]["from"]
        assert set(claim.artifacts) <= set(places), claim.name


@pytest.mark.parametrize("paper", PAPERS)
def test_every_claim_is_executed_on_the_printed_numbers_first(paper):
    """It holds there by its own margin, or is listed with where the paper contradicts it, or with why its numbers are
    not printed."""
    every, names = read_claims(paper_folders.PAPERS / paper / "claims.yaml")
    folder = paper_folders.PAPERS / paper / "reported"
    numbers = {claim.artifact: PrintedNumbers(folder, names, claim.artifact) for claim in every}
    for claim in (claim for claim in every if not claim.not_executed):
        for datasets in claim.rows:
            found = judge_on_printed(claim, datasets, numbers[claim.artifact])
            declared = {
                PrintedVerdict.CONTRADICTED: select_note(claim.slip, datasets),
                PrintedVerdict.NOT_PRINTED: select_note(claim.not_printed, datasets),
            }
            expected = next((outcome for outcome, note in declared.items() if note), PrintedVerdict.HOLDS)
            assert found["printed"] == expected, f"{claim.name} on {', '.join(datasets)}: {found['printed_note']}"


def test_a_claim_names_the_settings_of_its_runs_that_were_found_on_printed_numbers():
    run = {"paper": "domain_temperature", "paper_dataset": "cmnist_3v5", "used_dataset": "cmnist_3v5"}
    run |= {"data": "cmnist_3v5"}
    names = {"dann": "cl_dann+weight=0.1", "mmd": "cl_mmd+weight=0.1", "standard_cl": "simclr"}
    every = pd.DataFrame([run | {"paper_method": name, "method": method} for name, method in names.items()])
    assert list_fitted_settings(every, every) == "dann (weight=0.1, found on Table 1: domain accuracy 54.3)"
    assert list_fitted_settings(every.query("paper_method != 'dann'"), every) == ""
    pooled = every.assign(method="simclr+encoder.pooling=mean", paper_method="standard_cl")
    assert list_fitted_settings(pooled, pooled).startswith("all methods (encoder.pooling=mean, found on Tables 6 and 8")
    assert list_fitted_settings(every, every.assign(paper="")) == "", "derived rows say nothing"
