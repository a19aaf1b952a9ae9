"""Claims: intervals with known answers, verdicts, what an effect may say."""

import math

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy import stats

from despur.orchestration import experiments
from despur.orchestration.experiments import Cell
from despur.reporting import claims
from despur.reporting.claims import claims_table, common_seeds, holm, judge, p_value, read, shown
from despur.reporting.evidence import DRAWS
from despur.specs.settings import SettingError

WORST = "worst_group_accuracy"
NOISE = np.linspace(-0.1, 0.1, 200)
SHARED = {"role": "cmnist", "played": "colored_digits", "split": "test", "selection": "best"}


def runs(values, metric=WORST, group="", **settings):
    """Rows of metrics: ``values`` are a method's values, by seed."""
    return pd.DataFrame(
        [
            SHARED
            | {"printed": method, "seed": seed, "metric": metric, "group": group, "value": float(value), **settings}
            for method, each in values.items()
            for seed, value in enumerate(each)
        ]
    )


def resampled(metrics, noise=NOISE):
    """The same runs on 200 bootstrap samples: the value plus a method's noise."""
    clouds = [noise[name] if isinstance(noise, dict) else noise for name in metrics["printed"]]
    cloud = metrics["value"].to_numpy()[:, None] + np.array(clouds)
    return metrics.drop(columns="value").join(pd.DataFrame(cloud, columns=[str(i) for i in range(cloud.shape[1])]))


def claim(effect, margin=0.0, **more):
    return {"name": "made up", "artifact": "table_1", "effect": effect, "margin": margin, **more}


def judged(effect, metrics, resamples=None, margin=0.0):
    return judge(claim(effect, margin), metrics, pd.DataFrame() if resamples is None else resamples)


def test_the_interval_over_test_originals_is_that_of_their_bootstrap_values():
    metrics = runs({"cnc": [0.8, 0.8, 0.8]})
    found = judged(f"value('cnc', '{WORST}')", metrics, resampled(metrics))
    # percentiles of 200 evenly spaced values from .7 to .9, each drawn as often
    assert found["effect"] == pytest.approx(0.8)
    assert (found["low"], found["high"]) == pytest.approx((0.705, 0.895), abs=1e-3)
    assert found["seeds"] == 3


def test_the_interval_over_seeds_is_that_of_seeds_drawn_with_replacement():
    def of(*values):
        metrics = runs({"cnc": values})
        return judged(f"value('cnc', '{WORST}')", metrics, resampled(metrics, np.zeros(200)))

    # means of two draws of 0 and 1: 0, 1/2, 1 with chances 1/4, 1/2, 1/4
    assert [of(0, 1)[key] for key in ("effect", "low", "high")] == [0.5, 0.0, 1.0]
    # means of five draws of 0 and 1: the chance of none is 1/32, more than 2.5 %; with eight it is 1/256
    assert of(*[0, 1] * 4)["low"] == pytest.approx(1 / 8)


@pytest.mark.parametrize(
    ("values", "verdict"),
    [([3.0, 5, 4, 4], "undecided"), ([3.0, 5, 4, 4, 4], "holds"), ([1.0, 5, 4, 4, 4], "undecided")],
)
def test_without_test_data_five_seeds_decide_by_student_s_interval(values, verdict):
    metrics = runs({"cnc": values}, metric="seconds")
    found = judged("value('cnc', 'seconds')", metrics, resampled(runs({"cnc": values})), margin=2)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert (found["low"], found["high"]) == pytest.approx((expected.low, expected.high))
    assert found["verdict"] == verdict
    assert ("less than 5 seeds" in found.get("reason", "")) == (len(values) < 5)


@pytest.mark.parametrize(
    ("margin", "verdict"),
    [(0.70, "holds"), (0.71, "undecided"), (0.8, "undecided"), (0.89, "undecided"), (0.90, "fails")],
)
def test_the_verdict_is_on_which_side_of_the_margin_the_interval_lies(margin, verdict):
    metrics = runs({"cnc": [0.8, 0.8, 0.8]})
    assert judged(f"value('cnc', '{WORST}')", metrics, resampled(metrics), margin)["verdict"] == verdict


def test_one_seed_never_decides():
    found = judged(f"value('cnc', '{WORST}')", runs({"cnc": [0.8]}), margin=0.1)
    assert found["verdict"] == "undecided" and "one seed" in found["reason"]
    assert math.isnan(found["p_seeds"])


@pytest.mark.parametrize("seeds", [1, 3])
@pytest.mark.parametrize(("margin", "verdict"), [(0.01, "holds"), (0.011, "fails")])
def test_a_count_decides_by_its_value(seeds, margin, verdict):
    metrics = runs({"cnc": [0.0103] * seeds}, "trained_params_share")
    counted = claim("value('cnc', 'trained_params_share')", margin, counted=True)
    found = judge(counted, metrics, pd.DataFrame())
    assert (found["verdict"], found["low"], found["high"]) == (verdict, pytest.approx(0.0103), pytest.approx(0.0103))
    assert judge({**counted, "counted": False}, metrics, pd.DataFrame())["verdict"] == "undecided"


def test_methods_on_the_same_originals_and_seeds_are_paired():
    metrics = runs({"cnc": [0.3, 0.6, 0.9], "jtt": [0.2, 0.5, 0.8]})
    effect = f"value('cnc', '{WORST}') - value('jtt', '{WORST}')"
    paired = judged(effect, metrics, resampled(metrics))
    assert (paired["low"], paired["high"]) == pytest.approx((0.1, 0.1))
    other_originals = judged(effect, metrics, resampled(metrics, {"cnc": NOISE, "jtt": NOISE[::-1]}))
    other_seeds = judged(effect, runs({"cnc": [0.3, 0.6, 0.9], "jtt": [0.8, 0.2, 0.5]}))
    for unpaired in (other_originals, other_seeds):
        assert unpaired["effect"] == pytest.approx(0.1)
        assert unpaired["high"] - unpaired["low"] > 0.3


def test_seeds_that_only_one_method_has_do_not_count():
    metrics = runs({"cnc": [0.8, 0.8, 0.2], "jtt": [0.5, 0.5]})
    assert common_seeds(metrics, f"value('cnc', '{WORST}') - value('jtt', '{WORST}')") == [0, 1]
    assert judged(f"value('cnc', '{WORST}') - value('jtt', '{WORST}')", metrics)["effect"] == pytest.approx(0.3)


def test_a_name_within_another_is_not_it():
    metrics = runs({"cnc": [0.8], "cnc_align_loss": [0.7, 0.7, 0.7]})
    assert common_seeds(metrics, f"value('cnc_align_loss', '{WORST}')") == [0, 1, 2]


@pytest.mark.parametrize(
    ("effect", "reason"),
    [
        (f"value('cim', '{WORST}')", "no seed in common"),
        (f"value('cnc', '{WORST}') - value('cim', '{WORST}')", "printed=cim"),
        ("value('cnc', 'leakage')", "metric=leakage"),
        (f"rise('data_p_corr', 'cnc', '{WORST}')", "no run varies data_p_corr"),
        (f"value('cnc', '{WORST}', data_p_corr=0.9)", "data_p_corr=0.9"),
        ("classes('cnc', 'class_bound')", "class_bound"),
    ],
)
def test_what_is_missing_is_not_run_and_says_why(effect, reason):
    found = judged(effect, runs({"cnc": [0.8, 0.7]}))
    assert found["verdict"] == "not run here" and reason in found["reason"]


def test_nothing_run_names_the_artifact():
    found = judged(
        f"value('cnc', '{WORST}')", pd.DataFrame(columns=[*SHARED, "printed", "seed", "metric", "group", "value"])
    )
    assert found == {"verdict": "not run here", "reason": "nothing was run of table_1"}


def test_what_is_not_a_number_is_not_judged():
    assert judged(f"value('cnc', '{WORST}')", runs({"cnc": [np.nan, 0.5]}))["verdict"] == "not run here"


# settings that runs vary


def swept(levels, slope, key="data.p_corr"):
    return pd.concat(
        [runs({"erm": [slope * float(x), slope * float(x) + 0.1]}, **{key: x}) for x in levels], ignore_index=True
    )


def test_levels_are_ordered_and_bounded():
    metrics = swept([1.0, 0.5, 0.9], slope=-1)
    assert judged(f"rise('data_p_corr', 'erm', '{WORST}')", metrics)["effect"] == pytest.approx(-0.5)
    assert judged(f"spread('data_p_corr', 'erm', '{WORST}', at_most=0.9)", metrics)["effect"] == pytest.approx(0.4)
    assert judged(f"mean(over('data_p_corr', 'erm', '{WORST}', above=0.5))", metrics)["effect"] == pytest.approx(-0.9)
    assert "above" not in judged(f"mean(over('data_p_corr', 'erm', '{WORST}', at_least=0.9))", metrics).get(
        "reason", ""
    )
    assert judged(f"mean(over('data_p_corr', 'erm', '{WORST}', above=1))", metrics)["verdict"] == "not run here"


def test_a_setting_is_found_however_it_is_spelled():
    metrics = swept([0.0, 0.5], slope=1, key="groups.noise")
    spelled = resampled(metrics).assign(**{"groups.noise": lambda t: t["groups.noise"].map({0.0: "0", 0.5: "0.5"})})
    found = judged(f"value('erm', '{WORST}', groups_noise=0)", metrics, spelled)
    assert found["high"] - found["low"] > 0.18  # it was resampled


def test_several_runs_are_not_taken_for_one():
    with pytest.raises(SettingError, match="several runs have printed=erm"):
        judged(f"value('erm', '{WORST}')", swept([0.5, 0.9], slope=1))


def test_metrics_by_class():
    metrics = pd.concat(
        [
            runs({"erm": [high, high]}, f"class_{kind}", group)
            for group, gap, bound in (("0,1", 0.2, 1.0), ("2,3", 0.4, 3.0))
            for kind, high in (
                ("average_accuracy", 0.9),
                ("worst_group_accuracy", 0.9 - gap),
                ("average_loss", 1.0),
                ("worst_group_loss", 1.0 + gap),
                ("bound", bound),
            )
        ],
        ignore_index=True,
    )
    assert judged("gap('erm')", metrics)["effect"] == pytest.approx(0.3)
    assert judged("slack('erm')", metrics)["effect"] == pytest.approx(0.8)  # 1.0 - 0.2 < 3.0 - 0.4


# p values


def test_p_from_seeds_alone_is_a_one_sided_t_test():
    t = 0.2 / (0.1 / math.sqrt(3))  # of .1, .2, .3; with two degrees of freedom the tail has a closed form
    assert p_value(np.array([0.1, 0.2, 0.3]), 0.0) == pytest.approx(0.5 - t / (2 * math.sqrt(2 + t**2)))
    assert p_value(np.array([0.1, 0.2, 0.3]), 0.2) == pytest.approx(0.5)
    assert math.isnan(p_value(np.array([0.1]), 0.0)) and math.isnan(p_value(np.array([0.1, 0.1]), 0.0))
    metrics = runs({"cnc": [0.1, 0.2, 0.3]})
    assert judged(f"value('cnc', '{WORST}')", metrics, resampled(metrics))["p_seeds"] == pytest.approx(0.0371, abs=1e-4)


def test_holm_by_hand():
    # .01 x 3, .03 x 2, .04 x 1 and never less than a smaller one's; what is missing does not count
    assert holm([0.01, 0.04, np.nan, 0.03]) == pytest.approx([0.03, 0.06, np.nan, 0.06], nan_ok=True)
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert all(math.isnan(p) for p in holm([np.nan, np.nan])) and holm([]) == []


# what an effect may say


@pytest.mark.parametrize(
    "effect",
    [
        "__import__('os').system('true')",
        "().__class__.__base__",
        "value.__globals__",
        "open('x')",
        "[v for v in [1]]",
        "(lambda: 1)()",
        "value('cnc', f'{1}')",
        "eval('1')",
        "print",
        "(v := 1)",
    ],
)
def test_an_effect_reaches_nothing_but_its_functions(effect):
    with pytest.raises(SettingError):
        judged(effect, runs({"cnc": [0.8, 0.7]}))


def test_a_misspelled_function_names_the_nearest():
    with pytest.raises(SettingError, match="did you mean spread"):
        read("spraed('lambda', 'cnc', 'worst_group_accuracy')")


def test_an_effect_is_one_number():
    with pytest.raises(SettingError, match="not one number"):
        judged(f"over('data_p_corr', 'erm', '{WORST}')", swept([0.5, 0.9], slope=1))
    assert judged(
        f"lowest([value('cnc', '{WORST}'), value('jtt', '{WORST}')])", runs({"cnc": [0.8, 0.8], "jtt": [0.5, 0.9]})
    )["effect"] == pytest.approx(0.7)  # of the means; by seed .5 and .8


# a table of claims


@pytest.fixture
def written(tmp_path):
    """Run folders of two methods, as the evaluation writes them, and their cells."""
    metrics = runs({"cnc": [0.6, 0.7, 0.8], "jtt": [0.5, 0.55, 0.6]}).drop(columns=["role", "played"])
    found = []
    for method, part in metrics.groupby("printed"):
        folder = tmp_path / "runs/colored_digits" / method / "s0-2"
        folder.mkdir(parents=True)
        part = part.reset_index(drop=True)
        columns = {"printed": "method"}
        part.assign(dataset="colored_digits").rename(columns=columns).to_csv(folder / "metrics.csv", index=False)
        resampled(part, NOISE / 10).assign(dataset="colored_digits").rename(columns=columns).to_parquet(
            folder / "resamples.parquet"
        )
        found.append(Cell("cmnist", "colored_digits", method, (str(folder),), "table_1"))
    return found


def test_a_row_for_each_claim_and_player(written, tmp_path):
    text = {"statement": "CNC beats JTT", "place": "Table 1", "because": "'better'"}
    effect = f"value('cnc', '{WORST}') - value('jtt', '{WORST}')"
    every = [
        claim(effect, datasets=["cmnist", "celeba"], **text),
        claim(effect, 0.3, datasets=["cmnist"], **text) | {"name": "by far"},
        claim(effect, datasets=["cmnist"], **text) | {"artifact": "figure_7", "name": "elsewhere"},
    ]
    (tmp_path / "claims.yaml").write_text(yaml.safe_dump(every))
    table = claims_table(tmp_path / "claims.yaml", written)
    assert table.columns.tolist() == claims.COLUMNS
    assert table["verdict"].tolist() == ["holds", "not run here", "fails", "not run here"]
    assert table["effect"].tolist() == pytest.approx(
        [0.15, np.nan, 0.15, np.nan], nan_ok=True
    )  # the means in metrics.csv
    assert table["p_holm"].iloc[0] == pytest.approx(min(1, 2 * table["p_seeds"].iloc[0]))
    display = shown(table)
    assert display["effect [95 % interval]"].iloc[0].startswith("+0.15 [+0.1")
    assert display["data used"].tolist() == [
        "colored_digits",
        "colored_digits",
        "–",
        "–",
    ]  # what was judged comes first


ROOMS = [paper for paper in experiments.list_papers() if (experiments.PAPERS / paper / "claims.yaml").exists()]


@pytest.mark.parametrize("paper", ROOMS)
def test_the_claims_of_a_room_can_be_read(paper):
    known = experiments.load_experiments(paper)
    every = yaml.safe_load((experiments.PAPERS / paper / "claims.yaml").read_text())
    assert len({claim["name"] for claim in every}) == len(every)
    for claim in every:
        read(claim["effect"])
        assert set(claim["datasets"]) <= set(known["datasets"]), claim["name"]
        assert isinstance(claim["margin"], int | float) and claim["statement"] and claim["place"] and claim["because"]
        if claim["artifact"] in known["artifacts"]:
            assert claim["artifact"] in known["artifacts"]["claims"]["from"], (
                f"{claim['name']}: {claim['artifact']} is not among its runs"
            )
    assert set(claims_table(experiments.PAPERS / paper / "claims.yaml", [])["verdict"]) == {"not run here"}


def test_draws_use_every_bootstrap_sample_as_often():
    assert DRAWS % len(NOISE) == 0


def test_a_claim_whose_given_does_not_hold_is_not_judged():
    metrics = runs({"cnc": [0.8, 0.8, 0.8]})
    held = {
        least: judge(
            claim(f"value('cnc', '{WORST}')", given=f"value('cnc', '{WORST}') - {least}"), metrics, resampled(metrics)
        )
        for least in (0.5, 1)
    }
    assert held[0.5]["verdict"] == "holds"
    assert held[1]["verdict"] == "undecided" and "not above 0" in held[1]["reason"]


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_an_infinite_effect_decides_nothing():
    found = judged(f"-log(value('cnc', '{WORST}'))", runs({"cnc": [0.0, 0.0]}))
    assert found == {"verdict": "undecided", "reason": "the effect is infinite here"}
