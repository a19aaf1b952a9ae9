"""Measurements: each number once, what is counted, verdicts judged together; and the examples of an audit."""

import numpy as np
import pandas as pd
import pytest

from despur.evidence.all_evidence import gather_evidence, judge_together, load_evidence
from despur.evidence.claims.claim_format import read_claims
from despur.evidence.claims.decisions import judge_claim
from despur.evidence.claims.measured_values import MeasuredValues
from despur.evidence.measurements import list_measurements
from despur.evidence.numbers.settings import find_origin, list_fitted
from despur.evidence.runs.collapsed import has_collapsed, mark_collapsed
from despur.evidence.tally import SCORECARD_COLUMNS, list_printed
from despur.evidence.verdicts import NumberVerdict, Settings, Tier
from despur.orchestration.experiments import load_experiments
from despur.orchestration.paper_folders import find_paper, list_papers

OWN = {
    "paper": "domain_temperature",
    "kind_of_row": "number",
    "paper_dataset": "cmnist_3v5",
    "method": "domain_weighted_pairs",
    "metric": "test_id_accuracy",
    "unit": "percent",
    "reported": 94.5,
    "seeds": 3,
    "verdict": "within 5",
    "by_seed": "1 2 3",
    "settings": "chosen by us",
    "data": "cmnist_3v5",
}
FIRST, CELL = "sigma=50;label_fraction=0.01", "sigma=50;label_fraction=0.01;tau_alpha=0.175;tau_beta=1.0"


def numbers(*rows):
    return pd.DataFrame([OWN | row for row in rows], columns=SCORECARD_COLUMNS).astype(object)


def test_a_number_that_is_printed_four_times_is_one():
    tables = [("Table 1", FIRST), ("Table 2", FIRST), ("Table 8", CELL), ("Table 9", f"{FIRST};discriminator=global")]
    found = list_measurements(numbers(*({"place": place, "setting": text} for place, text in tables)))
    assert len(found) == 1 and set(found[0].places) == {place for place, _ in tables}


def test_numbers_that_were_not_run_are_one_only_where_their_settings_fit():
    rows = [
        {"place": p, "setting": s, "by_seed": "", "seeds": 0, "verdict": "not run here"}
        for p, s in (("a", FIRST), ("b", CELL))
    ]
    other = rows[1] | {"place": "c", "setting": CELL.replace("1.0", "0.5")}  # another cell with the same value
    assert len(list_measurements(numbers(*rows))) == 1
    assert len(list_measurements(numbers(rows[1], other))) == 2
    assert len(list_measurements(numbers(rows[0], rows[1] | {"reported": 94.4}))) == 2


def test_a_number_that_a_setting_was_found_on_is_fitted_wherever_it_is_printed():
    fitted = {"place": "Table 1", "setting": FIRST, "settings": "fitted to print", "verdict": "fitted to print"}
    (found,) = list_measurements(numbers(fitted, {"place": "Table 2", "setting": FIRST}))
    assert found.verdict == NumberVerdict.FITTED


def test_a_setting_was_found_on_numbers_of_its_own_methods():
    experiments = load_experiments("domain_temperature")
    for name, found_on in (("cl_mmd", []), ("cl_dann", ["Table 1: domain accuracy 54.3"])):
        assert list_fitted(experiments, {name: {"weight": "0.1"}}) == found_on
    (points,) = list_fitted(experiments, {"cmnist_3v5": {"outside": "redraw"}, "methods": {"encoder.pooling": "mean"}})
    assert points.startswith("Tables 6 and 8")


def test_what_is_known_of_a_number_is_from_where_it_has_most_seeds():
    here = numbers({"place": "Table 1", "setting": FIRST, "seeds": 1, "verdict": "not known"})
    none = numbers({"place": "Table 1", "setting": FIRST, "seeds": 9, "verdict": "not run here"})
    kept = numbers({"place": "Table 1", "setting": FIRST})
    evidence = gather_evidence([kept, here, none])
    (found,) = evidence.measurements
    assert (found.seeds, found.verdict) == (3, "within 5")
    (paper,) = evidence.papers
    assert paper.numbers == {"within 5": 1} and paper.settings == {"chosen by us": 1}


@pytest.mark.parametrize("verdict", ["other settings", "not compared"])
def test_runs_on_the_paper_s_data_go_before_more_seeds_on_a_substitute(verdict):
    own = numbers({"place": "Table 1", "seeds": 3, "verdict": verdict})
    substitute = numbers({"place": "Table 1", "seeds": 10, "verdict": "substitute data", "data": "domain_digits"})
    assert [found.verdict for found in gather_evidence([own, substitute]).measurements] == [verdict]


def claims(*rows):
    own = {"paper": "cnc", "kind_of_row": "claim", "tier": Tier.PAPER, "primary": "", "verdict": "holds", "seeds": 3}
    rows = [own | {"claim": str(i), "paper_dataset": "cmnist", "p_fails": 1.0} | row for i, row in enumerate(rows)]
    return pd.DataFrame(rows).astype(object)


def test_primary_claims_are_judged_by_holm_and_others_have_q_values():
    """A bound's level of .004 may be wrong in .05, and errors fall as its root: .001 in .025, .00025 in .0125. A
    primary claim that was not measured is one of the three, too."""
    found = judge_together(
        claims(
            {"primary": "abstract", "p_holds": 0.0009},
            {"primary": "abstract", "p_holds": 0.00025},
            {"p_holds": 0.00025},
            {"p_holds": 0.001},
            {"p_holds": np.nan, "p_fails": np.nan, "verdict": "not run here"},
            {"p_holds": 1e-9, "verdict": "undecided", "reason": "other settings than the paper's"},
            {"primary": "abstract", "p_holds": 1e-9, "verdict": "undecided", "reason": "other settings"},
        )
    )
    assert found["p"].tolist()[:4] == pytest.approx([2 * 0.025 * 0.9**0.5, 3 * 0.0125, 0.0125, 0.025])
    assert set(found["verdict"][:2]) == {"holds"} and found["p"].isna().tolist()[4:] == [True, True, True]
    assert found["q"].tolist()[2:4] == pytest.approx([0.025, 0.025]) and found["q"].notna().sum() == 2
    two = judge_together(claims({"primary": "a", "p_holds": 0.0011}, {"primary": "b", "p_holds": 0.0039}))
    assert set(two["verdict"]) == {"undecided"}  # the level of two is a fourth of that of one


def test_a_decided_claim_goes_before_one_whose_baseline_is_not_tuned():
    kept = claims({"verdict": "holds", "seeds": 3, "p_holds": 1e-4})
    untuned = claims({"verdict": "baseline not tuned", "seeds": 10})
    (found,) = gather_evidence([numbers(), kept, untuned]).claims["verdict"]
    assert found == "holds"


def test_a_number_that_is_printed_with_a_deviation_and_without_is_one_and_judged_with_it():
    plain = {"place": "text", "setting": "", "reported_std": np.nan, "verdict": "within 2"}
    spread = {"place": "Table 1", "setting": "", "reported_std": 4.5, "verdict": "not known"}
    (found,) = list_measurements(numbers(plain, spread))
    assert (found.verdict, found.reported_std, len(found.places)) == ("not known", 4.5, 2)


def test_the_kept_evidence_is_read_and_every_tier_is_counted_apart():
    evidence = load_evidence()
    assert [paper.paper for paper in evidence.papers] == sorted(list_papers())  # whether anything was run or not
    without = [paper.paper for paper in evidence.papers if not len(paper.primary)]
    assert without == [], "their claims.yaml has no claim with the key primary"
    printed = sum(len(list_printed(paper)) for paper in list_papers())
    assert sum(len(found.places) for found in evidence.measurements) <= printed
    assert all(set(paper.claims) == set(Tier) for paper in evidence.papers)
    assert (
        evidence.claims[["collapsed", "reason", "primary", "advice"]]
        .map(lambda text: isinstance(text, str))
        .all(axis=None)
    )


def test_of_the_papers_data_the_ledger_counts_and_kept_runs_of_substitutes(tmp_path):
    claim = read_claims(find_paper("cnc") / "claims.yaml")[0][0]
    name, shared = claim.name, {"claim": claim.name, "paper_dataset": "cmnist", "p_holds": 1e-9}
    shared["statement"] = claim.statement
    rows = claims(shared, shared | {"tier": Tier.SUBSTITUTE, "verdict": "seen here"})
    (tmp_path / "published").mkdir()
    rows.to_csv(tmp_path / "published/scorecard.csv", index=False)

    def verdicts():
        found = load_evidence(reference=tmp_path).claims
        found = found[found["claim"].eq(name) & found["paper"].eq("cnc")]
        return found.set_index("tier")["verdict"].to_dict()

    assert verdicts() == {Tier.PAPER: "not run here", Tier.SUBSTITUTE: "seen here"}
    (tmp_path / "published").rename(tmp_path / "ledger")
    assert verdicts()[Tier.PAPER] == "holds"
    rows.assign(statement="as it was stated before").to_csv(tmp_path / "ledger/scorecard.csv", index=False)
    assert verdicts() == {Tier.PAPER: "not run here"}


# examples of the audit

CLAIMS = {claim.name: claim for claim in read_claims(find_paper("domain_temperature") / "claims.yaml")[0]}
METHODS = [
    *("domain_weighted_negatives", "domain_weighted_pairs"),
    *("standard_cl", "same_domain_negatives", "mmd", "dann"),
]
SIGMAS = (0.0, 25.0, 50.0, 75.0, 150.0)


def measured(sigmas, untuned="", screened="", partial=""):
    """Runs in which both domain-weighted methods are far above all others, at some sigmas."""
    keys = {"paper_dataset": "cmnist_3v5", "used_dataset": "cmnist_3v5", "data": "cmnist_3v5", "substitute": False}
    rows = [
        keys
        | {"paper_method": method, "split": split, "metric": metric, "group": group, "selection": selection}
        | {
            "sigma": sigma,
            "seed": seed,
            "untuned": "" if "weighted" in method else untuned,
            "partial": partial or untuned,
            "screened": "" if "weighted" in method else screened,
            "changed": "",
            "shortened": "",
        }
        | {
            "value": (0.9 if "weighted" in method else 0.5)
            - sigma * (1e-4 if "weighted" in method else 1e-3)
            + 1e-4 * seed * i * (1 + sigma / 50)
        }
        for i, method in enumerate(METHODS)
        for sigma in sigmas
        for seed in range(3)
        for selection in ("validation", "all_settings")
        for split in ("test_id", "test_ood")
        for metric, group in (("probe_accuracy", "1%"),)
    ]
    return MeasuredValues(pd.DataFrame(rows))


@pytest.mark.parametrize(
    "name",
    ["best_id_at_every_sigma", "often_best_ood_above_25", "better_in_most_settings", "id_accuracy_is_robust_to_sigma"],
)
def test_one_sigma_never_decides_every_sigma(name):
    found = judge_claim(CLAIMS[name], ["cmnist_3v5"], measured([50.0]))
    assert found["verdict"] == "not run here" and "sigma=" in found["reason"]
    assert judge_claim(CLAIMS[name], ["cmnist_3v5"], measured(SIGMAS))["verdict"] == "holds"


@pytest.mark.parametrize(
    ("name", "verdict"),
    [("beats_baselines_on_ood", "baseline not tuned"), ("higher_over_all_settings", "not run here")],
)
def test_baselines_at_guessed_settings_decide_nothing(name, verdict):
    found = judge_claim(CLAIMS[name], ["cmnist_3v5"], measured([50.0], untuned="temperature"))
    assert found["verdict"] == verdict and "standard_cl (temperature)" in found["reason"]
    assert judge_claim(CLAIMS[name], ["cmnist_3v5"], measured([50.0]))["verdict"] == "holds"


def test_a_claim_about_screened_settings_says_so():
    found = judge_claim(CLAIMS["beats_baselines_on_ood"], ["cmnist_3v5"], measured([50.0], screened="weight, screened"))
    assert found["verdict"] == "holds"
    assert found["reason"] == "" and found["settings"].startswith("dann (weight, screened); mmd (weight, screened)")


def test_of_all_settings_nothing_is_said_from_some_of_them():
    few = measured([50.0], screened="weight, screened", partial="weight")
    found = judge_claim(CLAIMS["higher_over_all_settings"], ["cmnist_3v5"], few)
    assert found["verdict"] == "not run here" and found["reason"].startswith("not all settings: ")


@pytest.mark.parametrize("tier", [Tier.PAPER, Tier.OTHER_ENCODER])
def test_what_is_noted_of_settings_takes_no_claim_out_of_what_is_judged_together(tier):
    row = {"paper": "p", "claim": "a", "paper_dataset": "d", "tier": tier, "primary": "", "p_holds": 0.001}
    row |= {"p_fails": 1, "reason": "", "settings": "mmd (weight, screened)"}
    table = judge_together(pd.DataFrame([row | {"verdict": "holds" if tier == Tier.PAPER else "seen here"}]))
    assert table["q"].notna().all()


def origin(method, spec, metric="test_id_accuracy", setting=FIRST, **columns):
    number = pd.Series({"method": method, "dataset": "cmnist_3v5", "metric": metric, "setting": setting})
    row = {
        "paper": "domain_temperature",
        "data": "cmnist_3v5",
        "method": spec,
        "tuned": "",
        "untuned": "",
        "other_point": "",
    }
    return find_origin(number, pd.DataFrame([row | columns]))


def test_a_point_of_a_grid_is_the_paper_s_only_where_the_paper_prints_it():
    guessed = origin("standard_cl", "simclr", untuned="temperature")
    assert guessed.kind == Settings.CHOSEN and guessed.names[0] == "temperature" and not guessed.refused
    unsearched = origin("standard_cl", "simclr", untuned="temperature", artifact="figure_1")
    assert unsearched.refused == "the paper selects temperature from a grid and prints no value"
    wrong = origin(
        "domain_weighted_pairs", "domain_weighted_pairs", untuned="tau_alpha;tau_beta", other_point="tau_alpha=0.175"
    )
    assert "tau_alpha=0.175" in wrong.refused
    cell = origin(
        "domain_weighted_pairs", "domain_weighted_pairs", setting=CELL, untuned="tau_alpha;tau_beta", other_point="x"
    )
    assert not cell.refused and "tau_alpha" not in cell.names


def test_a_screened_setting_is_selected_and_named():
    told = {"tuned": "temperature", "screened": "temperature, screened with one seed"}
    found = origin("standard_cl", "simclr", **told)
    assert found.names[-1] == told["screened"] and "temperature" not in found.names


def test_a_number_that_a_setting_was_found_on_is_never_compared():
    oracle = "simclr+augment.color_jitter=2.5"
    found = origin("color_jitter_oracle", oracle, metric="domain_test_id_accuracy")
    assert found.kind == Settings.FITTED and found.refused
    other = origin("color_jitter_oracle", oracle)
    assert other.kind == Settings.FITTED_ELSEWHERE and not other.refused
    assert origin("color_jitter_oracle", "simclr+augment.color_jitter=1").kind == Settings.CHOSEN


def test_pooling_is_fitted_at_the_points_that_it_was_found_on_and_elsewhere_at_others():
    for spec in ("domain_weighted_pairs+encoder.pooling=mean", "domain_weighted_negatives+encoder.pooling=mean"):
        for point, at_found in {"tau_alpha=0.2;tau_beta=1.0": True, "tau_alpha=0.15;tau_beta=0.1": False}.items():
            method = spec.partition("+")[0]
            kind = origin(method, spec, setting=f"{FIRST};{point}").kind
            assert (kind == Settings.FITTED) == (at_found and "pairs" in method)
            assert kind in (Settings.FITTED, Settings.FITTED_ELSEWHERE)
    redrawn = origin("domain_weighted_pairs", "domain_weighted_pairs", setting=CELL, data="cmnist_3v5+outside=redraw")
    assert redrawn.kind == Settings.FITTED_ELSEWHERE


def test_a_setting_of_the_data_that_was_argued_from_a_printed_number_is_fitted():
    number = pd.Series({"method": "erm", "dataset": "cmnist", "metric": "average_accuracy", "setting": ""})
    row = pd.DataFrame([{"paper": "cnc", "data": "cmnist+colors=released", "method": "erm"}])
    assert find_origin(number, row).kind == Settings.FITTED
    assert (
        find_origin(number.replace("average_accuracy", "worst_group_accuracy"), row).kind == Settings.FITTED_ELSEWHERE
    )


def test_a_setting_that_the_runs_select_is_no_choice_of_ours():
    found = origin("standard_cl", "simclr", tuned="temperature")
    assert "temperature" not in found.names and "temperature" in origin("standard_cl", "simclr").names


@pytest.mark.parametrize(
    ("paper", "method", "data"),
    [
        ("adapters", "contrastive_adapter", "waterbirds"),
        ("fair_cl", "con", "moji"),
        ("icl_msr", "simclr_msr", "cifar10"),
    ],
)
def test_what_a_paper_leaves_open_is_chosen_by_us(paper, method, data):
    number = pd.Series({"method": method, "dataset": data, "metric": "m", "setting": ""})
    found = find_origin(number, pd.DataFrame([{"paper": paper, "data": data, "method": "erm"}]))
    assert found.kind == Settings.CHOSEN and found.names


def training(accuracies, sizes=(50.0, 50.0), probe=None):
    rows = [{"metric": "samples", "group": f"{i}, red", "value": size} for i, size in enumerate(sizes)]
    rows += [{"metric": "accuracy", "group": f"{i}, red", "value": value} for i, value in enumerate(accuracies)]
    rows += [{"metric": "probe_accuracy", "group": g, "value": v} for g, v in (probe or {}).items()]
    return pd.DataFrame(rows).assign(data="d", method="m", seed=0, split="train", selection="best")


def test_a_seed_collapsed_where_it_did_not_learn_its_training_data():
    """Two classes: guessing gives .5, and a fifth of the way to 1 is .6, of the mean over classes."""
    assert has_collapsed(training([1.0, 0.1])) and not has_collapsed(training([1.0, 0.3]))
    assert has_collapsed(training([1.0, 0.1], sizes=(90.0, 10.0)))  # right in 91 % of the samples
    assert not has_collapsed(training([0.7, 0.7], sizes=(90.0, 10.0)))  # a robust method may be right in fewer
    probes = {"1%": 0.50, "10%": 0.59}
    assert has_collapsed(training([], probe=probes)) and not has_collapsed(training([], probe=probes | {"100%": 0.9}))
    assert not mark_collapsed(training([1.0, 0.3])).any() and mark_collapsed(training([1.0, 0.1])).all()
    zero_shot = training([1.0, 0.1]).assign(method="prompting+prompts=group")  # learns nothing
    assert not mark_collapsed(zero_shot).any()
    assert not mark_collapsed(training([1.0, 0.1]).assign(method="lff+q=0.5")).any()
