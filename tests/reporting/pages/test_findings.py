"""The page What we found: from records alone, and of today."""

import re
from types import SimpleNamespace

import pandas as pd
import pytest
from project import SOURCE

from despur.evidence.all_evidence import load_evidence
from despur.evidence.ledger import files as ledger
from despur.evidence.ledger.record_checks import load_sound
from despur.evidence.ledger.standing import judge_records
from despur.evidence.verdicts import Tier
from despur.orchestration.experiments import load_experiments
from despur.papers.cnc import findings as cnc
from despur.papers.domain_temperature.findings import STANDARD, describe_control, describe_others, describe_points
from despur.reporting.pages import findings, judged_claims, number_lists, open_choices
from despur.reporting.pages.findings import format_findings, format_kinds
from despur.reporting.pages.fitted_settings import tabulate_fitted
from despur.reporting.pages.judged_claims import format_judged_claims
from despur.reporting.pages.number_lists import describe_unknown, list_numbers
from despur.reporting.pages.paper_findings import gather_findings

OUTDATED = "bring it up to date: despur ledger report"


def number(**fields):
    """A measurement, as far as sentences read it."""
    common = {"method": "mmd", "paper_dataset": "cmnist_3v5", "metric": "test_id_accuracy", "unit": "percent"}
    common |= {"places": ("Table 1", "Table 2"), "setting": "sigma=50", "reported": 92.9, "ours": 95.44}
    return SimpleNamespace(**common | fields)


def test_the_pages_are_of_the_records_of_today(monkeypatch):
    monkeypatch.chdir(SOURCE)
    records = judge_records(load_sound(ledger.LEDGER)[0])
    evidence = load_evidence()
    found = gather_findings(evidence, records)
    assert format_findings(evidence, records, found) == findings.PAGE.read_text(), OUTDATED
    assert format_judged_claims(evidence.claims) == judged_claims.PAGE.read_text(), OUTDATED
    assert open_choices.format_choices(open_choices.load_choices()) == open_choices.PAGE.read_text(), OUTDATED


def test_numbers_of_a_method_and_metric_stand_together():
    other = number(reported=96.0, ours=98.0, setting="sigma=50;label_fraction=0.1")
    count = number(method="", metric="samples", unit="count", setting="", reported=12, ours=12)
    assert list_numbers([number(), other, count]) == (
        "test id accuracy of `mmd` 92.9 % (ours 95.4 %; Table 1, sigma=50) and 1 more; samples 12 (ours 12; Table 1)"
    )
    two = [number(setting=""), number(setting="", paper_dataset="cmnist", reported=1.0, ours=2.0)]
    assert "92.9 % (ours 95.4 %; Table 1, cmnist_3v5)" in list_numbers(two)
    many = [number(method=f"m{i}") for i in range(number_lists.GROUPS + 2)]
    assert list_numbers(many).endswith("; and 2 further methods and metrics")


def test_numbers_with_a_verdict_stand_in_a_table_by_metric_the_first_of_each_method():
    normal = {"verdict": "not known", "if_normal": "beyond 5"}
    measured = [number(verdict="within 5"), number(verdict="within 2", reported=0), number(**normal, method="erm")]
    measured += [number(verdict="within 5", method="george", ours=96), number(verdict="not known", if_normal="")]
    measured.append(number(verdict="within 5", method="", metric="n_examples", unit="count", reported=12, ours=12))
    _, table = findings.describe_numbers([SimpleNamespace(paper="cnc", measurements=measured)])
    both = "MMD 92.9 % → 95.4 % (Table 1, sigma=50; 1 more); GEORGE 92.9 % → 96.0 % (Table 1, sigma=50)"
    assert table.splitlines()[2:] == [
        "| within 2 or 5 | `cnc`: cmnist_3v5 | n examples | 12 → 12 (Table 1, sigma=50) |",
        f"| within 2 or 5 | `cnc`: cmnist_3v5 | Test-ID accuracy | {both} |",
        "| perhaps beyond 5 | `cnc`: cmnist_3v5 | Test-ID accuracy | ERM 92.9 % → 95.4 % (Table 1, sigma=50) |",
    ]
    assert findings.describe_numbers([SimpleNamespace(paper="cnc", measurements=measured[4:5])]) == []


def test_claims_that_are_decided_stand_in_a_table_the_surest_first():
    row = {"paper": "cnc", "tier": Tier.PAPER, "paper_dataset": "cmnist", "verdict": "holds"}
    rows = [row | {"statement": "C beats D on CMNIST*", "q": 0.31}, row | {"statement": "E beats F", "q": 0.04}]
    rows += [row | {"statement": "G", "q": 0.5, "verdict": "undecided"}, row | {"statement": "H", "tier": ""}]
    _, table = findings.tabulate_claims([SimpleNamespace(claims=pd.DataFrame(rows))])
    assert table.splitlines()[2:] == [
        "| holds | E beats F (`cnc`: cmnist) | 0.04 |",
        "| holds | C beats D on CMNIST\\* (`cnc`: cmnist) | 0.31 |",
    ]


def test_what_a_fitted_setting_gives_is_of_the_number_that_it_was_found_on():
    common = {"paper_dataset": "cmnist", "metric": "average_accuracy", "verdict": "fitted to print"}
    colors, kl = (f"{rule['setting']} ({rule['found_on']})" for rule in load_experiments("cnc")["fitted"][::-1])
    measured = [
        number(**common, method=m, choices=f"{colors}, {kl}", ours=o) for m, o in (("erm", 33.3), ("cim", 41.2))
    ]
    measured += [number(**common | {"verdict": "not known"}, method="jtt", choices=colors)]
    names = ("erm+epochs=3", "cim", "cim+kl=sum")
    runs = [record(f"cmnist+colors=released/{method}/s0", seconds=1800) for method in names]
    runs.append(record("cmnist/erm/s0", seconds=3600))
    found = SimpleNamespace(paper="cnc", measurements=measured, records=runs)
    of_cim, of_all = tabulate_fitted(found)
    assert of_cim[0] == "`cnc`: `kl=mean` of `cim`" and of_cim[2:] == ["41.2", "1 (0.5)", "none compared"]
    assert of_all[0] == "`cnc`: `colors=released`"
    assert of_all[2:] == ["33.3", "3 (1.5), 1 of them shorter", "1 not known"]
    not_run = next(tabulate_fitted(SimpleNamespace(paper="cnc", measurements=measured, records=[])))
    assert not_run[3] == "not run yet"


def test_all_that_is_compared_is_counted_by_the_kind_of_its_settings():
    measured = [number(settings="stated", verdict=verdict) for verdict in ("not as printed", "not known", "within 5")]
    *_, row = format_kinds([*measured, number(settings="stated", verdict="not compared")]).splitlines()
    assert row == "| stated | 3 | 0 | 1 | 0 | 1 | 0 | 1 |"
    assert "| none (counts of data) | 1 | 0 | 0 |" in format_kinds([number(settings="", verdict="as printed")])


def test_what_is_not_known_says_what_would_decide_it():
    texts = ["about 4 seeds of ours", "about 81 seeds of ours", "nothing: all seeds are equal", "more than 100 seeds"]
    texts += ["at least 3 seeds"] * 5 + ["how much the test data vary"] * 6
    said = describe_unknown([pd.Series({"would_decide": text}) for text in texts])
    assert [*map(int, re.findall(r"\d+", said))] == [10, 1, 2, 1, 5, 6]


@pytest.fixture
def points():
    """Printed above chance and below; Test-ID of ours right, right, wrong and right."""
    return pd.DataFrame(
        {
            "method": "domain_weighted_pairs",
            "tau_alpha": [0.05, 0.2, 0.15, 0.25],
            "tau_beta": 0.1,
            "seeds": [1, 1, 2, 1],
            "id": [0.83, 0.516, 0.52, 0.5],
            "printed_id": [0.918, 0.511, 0.739, 0.51],
            "ood": [0.6, 0.5, 0.5, 0.5],
            "printed_ood": [0.7, 0.51, 0.5, 0.9],
            "was_found_on": [True, True, False, False],
        }
    )


def test_points_that_print_has_at_chance_are_counted_apart_from_others(points):
    said = describe_points(points)
    assert "23 of its 80 points at chance; 2 of them were run, 1 of which the choice was fitted to: 2 fall." in said
    assert "Of 2 others that were run, 1 fall, and the largest distance from printed Test-ID is 21.9 points" in said
    assert "at tau_alpha 0.15, tau_beta 0.1). 3 of these 4 points have one seed." in said
    assert "Of 0 others that were run, 0 fall. " in describe_points(points[points["printed_id"] < 0.55])
    assert ": 0 fall, the highest Test-ID of the others is 93.0. Of" in describe_points(points.assign(id=0.93))
    assert "2 of the points that print has at chance were run at this length: 2 fall." in describe_control(points)
    assert "choice, 0 of the points" in describe_control(points[:1]) and describe_control(points[:1]).endswith(
        "length."
    )


def record(key, values=None, seconds=0):
    """A record that counts. ``values``: (split, metric, group) -> value; ``seconds`` of its stage 2."""
    content = {"run": {"seconds": seconds}, "seed": int(key.rpartition("/s")[2])}
    return SimpleNamespace(
        key=key, reason="", record=SimpleNamespace(metrics=lambda: {"best": values or {}}, content=content)
    )


def test_what_the_choice_does_elsewhere_is_told_with_print(points):
    values = {("test_id", "probe_accuracy", "1%"): 0.626, ("test_ood", "probe_accuracy", "1%"): 0.47}
    said = describe_others([record(f"a/{STANDARD}/s0", values=values), record(f"a/{STANDARD}+x=1/s0")], points)
    below = 100 * (0.1 + 0.01 + 0 + 0.4) / 4
    assert (
        f"{below:.1f} points below print on average over the 4 points, more than 5 at 2; at 3 it is the same, 50.0."
        in said
    )
    assert "Test-ID 62.6 (88.0), Test-OOD 47.0 (78.4); 1 seed." in said
    assert "Standard CL" not in describe_others([], points)
    sizes = {("train", "samples", group): 50 for group in ("3, red", "5, red")}
    values |= sizes | {("train", "probe_accuracy", "1%"): 0.5, ("train", "probe_accuracy", "100%"): 0.52}
    assert "1 of 1 seeds collapsed" in describe_others([record(f"a/{STANDARD}/s0", values=values)], points)


def test_clusterings_of_cnc_are_compared_on_the_seeds_that_all_have():
    def run(method, seed, worst):
        measured = {"worst_group_accuracy": worst, "average_accuracy": 0.9}
        values = {(split, name, ""): value for split in ("val", "test") for name, value in measured.items()}
        return record(f"cmnist+colors=released/{method}/s{seed}", values=values)

    runs = [run("cnc", 0, 0.7), run("cnc", 1, 0.8), run("cnc+groups.metric=euclidean", 0, 0.0), run("jtt", 0, 0.5)]
    runs += [run("cnc+groups.algorithm=gmm", seed, 0.6 + 0.2 * seed) for seed in range(3)]
    other_data = run("cnc", 0, 0.9)
    other_data.key = "cmnist+colors=released+p_corr=0.8/cnc/s0"
    runs += [other_data, SimpleNamespace(key="", reason="unknown to the present code")]
    (said,) = cnc.describe_findings(runs)
    both, one = said.split("(average) of ")[1].split("; of ")
    assert both.startswith("seeds 0, 1: `cnc` 75.0 (90.0), `cnc+groups.algorithm=gmm` 70.0 (90.0), of which validation")
    assert one.startswith("seed 0: `cnc` 70.0 (90.0), `cnc+groups.algorithm=gmm` 60.0 (90.0), `cnc+groups.metric=euc")
    assert one.endswith("validation data select `cnc`. Table 1 prints 77.4 (90.9).")
    assert not [*cnc.describe_findings(runs[:2])]
