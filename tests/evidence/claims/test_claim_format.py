"""From claims.yaml to contrasts: which measurements each form compares, with which levels; and what the format
refuses."""

import math
import re

import pytest
import yaml

from despur.evidence.claims.claim_format import read_claims
from despur.evidence.claims.read_formulas import read_group
from despur.evidence.statistics.formulas import DEFAULTS, NEAR, Formulas
from despur.evidence.statistics.levels import Missing, list_single_values
from despur.orchestration.paper_folders import find_paper, list_papers
from despur.specs.settings import SettingError


class Known:
    """Levels that some measurements have."""

    def levels(self, key, measurement):
        assert "margin" not in measurement and key not in measurement
        if key == "data.p_corr" and measurement.get("method") == "jtt":
            return [0.5, 0.9]
        return {"data.p_corr": [0.2, 0.5, 0.9], "group": ["0", "1"]}.get(key, [])


def read(node, **shared):
    return read_group(node, {**DEFAULTS, "dataset": "cmnist", "margin": 0.0, "metric": "wga", **shared}, Known())


def terms(formula):
    """A formula as readable text: each weight and what its measurement has besides defaults."""
    plain = {**DEFAULTS, "dataset": "cmnist", "metric": "wga"}
    return sorted(
        (weight, " ".join(f"{k}={v}" for k, v in sorted(one.items()) if plain.get(k) != v))
        for weight, one in formula.terms
    )


def compared(node, **shared):
    return [terms(part) for part in read(node, **shared).parts]


def difference(high, low):
    return sorted([(1.0, high), (-1.0, low)])


def test_a_method_against_several_makes_a_contrast_with_each():
    expected = [difference("method=cnc", "method=erm"), difference("method=cnc", "method=jtt")]
    assert compared({"higher": "cnc", "than": ["erm", "jtt"]}) == expected
    assert compared({"lower": ["erm", "jtt"], "than": "cnc"}) == expected
    assert read({"higher": "cnc", "than": ["erm", "jtt"]}).at_least is None


def test_pairs_compare_each_method_with_its_own_other():
    found = compared({"pairs": {"a_msr": "a", "b_msr": "b"}, "metric": ["top1", "top5"]})
    assert found == [
        difference(f"method={m}_msr metric={t}", f"method={m} metric={t}") for m in "ab" for t in ("top1", "top5")
    ]


def test_near_compares_in_both_directions():
    assert compared({"near": "cnc", "to": "gdro"}) == [
        difference("method=cnc", "method=gdro"),
        difference("method=gdro", "method=cnc"),
    ]


def test_flat_over_levels_is_every_pair_once():
    found = compared({"near": {"lambda": [1, 2, 3]}, "to": {"lambda": [1, 2, 3]}, "method": "cnc"})
    pairs = [(a, b) for a in (1, 2, 3) for b in (1, 2, 3) if a != b]
    assert sorted(found) == sorted(difference(f"lambda={a} method=cnc", f"lambda={b} method=cnc") for a, b in pairs)


def test_a_number_is_a_constant():
    (formula,) = read({"higher": "con", "than": 0.9, "scale": "log"}).parts
    assert formula.constant == pytest.approx(-math.log(0.9)) and terms(formula) == [(1.0, "method=con")]
    (formula,) = read({"lower": "cnc", "than": 0.55}).parts
    assert formula.constant == 0.55 and terms(formula) == [(-1.0, "method=cnc")]


def test_rises_between_the_ends():
    at = "data.p_corr={} method=erm".format
    assert compared({"rises_with": "data.p_corr", "method": "erm"}) == [difference(at(0.9), at(0.2))]
    assert compared({"falls_with": "data.p_corr", "method": "erm"}) == [difference(at(0.2), at(0.9))]


def test_every_level_is_one_that_all_sides_have():
    parts = read({"higher": "cnc", "than": "jtt", "data.p_corr": "every"}).parts
    assert [part.terms[0][1]["data.p_corr"] for part in parts] == [0.5, 0.9]
    assert len(read({"higher": "cnc", "than": "erm", "data.p_corr": "every"}).parts) == 3


def test_of_several_sides_a_level_is_one_that_each_of_them_has():
    class Measured:
        def levels(self, key, measurement):
            return {"a": [1, 2, 3], "b": [2, 3], "c": [1, 3]}[measurement["method"]]

    assert list_single_values("lambda", "every", [{"method": name} for name in "abc"], Measured()) == [3]


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ({"above": 0.5}, [0.9]),
        ({"at_least": 0.5}, [0.5, 0.9]),
        ({"below": 0.5}, [0.2]),
        ({"at_most": 0.5, "above": 0.2}, [0.5]),
        ({"other_than": 0.5}, [0.2, 0.9]),
    ],
)
def test_levels_within_bounds(bounds, expected):
    found = read({"higher": "cnc", "than": "erm", "data.p_corr": bounds}).parts
    assert [dict(part.terms[0][1])["data.p_corr"] for part in found] == expected


def test_a_difference_of_differences():
    found = compared({"higher": {"method": "cnc"}, "than": {"method": "jtt"}, "change": {"noise": [0, 1]}})
    of_cnc, of_jtt = (difference(f"method={name} noise=1", f"method={name} noise=0") for name in ("cnc", "jtt"))
    assert found == [sorted([*of_cnc, *((-weight, one) for weight, one in of_jtt)])]
    change = {"change": {"method": ["con", "ce"]}}
    of_methods = compared({"higher": change, "than": {"dataset": "bios", **change}})
    assert (1.0, "method=ce") in of_methods[0] and (1.0, "dataset=bios method=con") in of_methods[0]


def test_a_change_between_the_lowest_and_the_highest_level():
    (found,) = compared({"higher": {"method": "erm", "change": {"data.p_corr": ["lowest", "highest"]}}, "than": 0})
    assert found == difference("data.p_corr=0.9 method=erm", "data.p_corr=0.2 method=erm")


def test_a_mean_is_over_levels_that_both_sides_have():
    (found,) = compared({"higher": "cnc", "than": "jtt", "mean": {"data.p_corr": "every"}})
    assert found == sorted(
        (sign / 2, f"data.p_corr={level} method={m}") for sign, m in ((1, "cnc"), (-1, "jtt")) for level in (0.5, 0.9)
    )
    mean = {"method": ["x", "y"], "group": "every"}
    (found,) = compared({"higher": {"split": "a"}, "than": {"split": "b"}, "mean": mean})
    assert len(found) == 8 and {abs(weight) for weight, _ in found} == {1 / 4}


def test_every_data_set_is_what_the_claim_names_whether_it_was_run_or_not():
    names = ["waterbirds", "celeba", "civilcomments"]
    (found,) = compared({"higher": "cnc", "than": "jtt", "mean": {"dataset": "every"}}, dataset=names)
    assert sorted({one.split()[0] for _, one in found}) == sorted(f"dataset={name}" for name in names)
    assert len(read({"higher": "cnc", "than": "jtt"}, dataset=names).parts) == 3
    of_both = {"higher": "cnc", "than": ["jtt", "erm"]}
    counted = read({"at_least": "most", "each": {"dataset": "every"}, "of": of_both}, dataset=names)
    assert counted.at_least == 2 and [len(part.parts) for part in counted.parts] == [2, 2, 2]


def test_lists_are_of_all_and_counts_keep_their_items_apart():
    both = [{"higher": "a", "than": ["x", "y"]}, {"higher": "b", "than": ["x", "y"]}]
    assert len(read(both).parts) == 4
    either = read({"at_least": 1, "of": both})
    assert either.at_least == 1 and [len(part.parts) for part in either.parts] == [2, 2]
    assert read({"at_least": "most", "of": {"higher": "a", "than": ["x", "y", "z"]}}).at_least == 2
    nested = read([{"higher": "a", "than": "x"}, {"at_least": 1, "of": both}])
    assert len(nested.parts) == 2 and isinstance(nested.parts[1], Formulas)


def test_each_value_of_a_key_is_a_part():
    either = {"at_least": 1, "of": {"higher": ["a", "b"], "than": "x"}}
    found = read({"at_least": "most", "each": {"data.p_corr": {"above": 0.2}}, "of": either})
    assert found.at_least == 2 and [part.at_least for part in found.parts] == [1, 1]
    assert found.parts[0].parts[0].label == "a - x (wga, data.p_corr=0.5)"


def test_of_a_change_the_label_has_its_ends_alone():
    change = {"change": {"metric": ["average", "worst"]}}
    (found,) = read({"higher": {"method": "a", **change}, "than": {"method": "b", **change}}).parts
    assert found.label == "a - b (from metric=average to worst)"
    (found,) = read({"higher": {"metric": "bound"}, "than": change, "method": "a"}).parts
    assert found.label == "bound a - a from metric=average to worst"


def test_keys_around_a_group_are_shared_and_null_takes_a_default_away():
    found = compared({"of": [{"higher": "a", "than": "x"}], "split": "val", "backbone": None}, backbone="rn50")
    assert found == [difference("method=a split=val", "method=x split=val")]


def test_a_correlation_has_its_metrics_points_and_sign():
    asked = {"rank_correlation": ["wga", "loss"], "over": ["method", "data.p_corr"], "method": ["a", "b"]}
    (found,) = read({**asked, "sign": -1}).parts
    assert (found.metrics, found.over, found.sign) == (("wga", "loss"), ("method", "data.p_corr"), -1)
    assert found.of["method"] == ["a", "b"] and "metric" not in found.of
    assert found.of["data.p_corr"] == [0.2, 0.5, 0.9] and found.count == 6


def test_a_correlation_goes_over_levels_within_bounds():
    stated = {"rank_correlation": ["wga", "loss"], "over": ["data.p_corr"], "method": "a"}
    (found,) = read(stated | {"data.p_corr": {"other_than": [0.2, 0.5]}}).parts
    assert found.of["data.p_corr"] == [0.9]
    (found,) = read(stated | {"data.p_corr": {"other_than": 0.2}}).parts
    assert found.of["data.p_corr"] == [0.5, 0.9]


@pytest.mark.parametrize(("stated", "value"), [(0.1, 0.1), ("near", -NEAR)])
def test_margins(stated, value):
    (found,) = read({"higher": "a", "than": "b", "margin": stated}).parts
    assert found.margin == value


@pytest.mark.parametrize(
    ("node", "error"),
    [
        ("cnc - jtt", "neither a contrast nor a list"),
        ({"higher": "a"}, "higher needs than"),
        ({"higher": "a", "than": "b", "near": "c"}, "one of higher, lower"),
        ({"method": "a"}, "here: none"),
        ({"higher": "a", "than": "b", "scale": "ratio"}, "unknown scale"),
        ({"higher": "a", "than": "b", "data.p_corr": {"over": 1}}, "unknown bound"),
        ({"higher": "a", "than": "b", "margin": "much"}, "neither a finite number nor near"),
    ],
)
def test_what_the_format_does_not_know_is_refused(node, error):
    with pytest.raises(SettingError, match=error):
        read(node)


@pytest.mark.parametrize(
    "node",
    [
        {"higher": "a", "than": "b", "data.p_corr": {"above": 0.9}},
        {"higher": "a", "than": "b", "data.other": "every"},
        {"rises_with": "data.other", "method": "a"},
        {"higher": {"x": 1}, "than": {"x": [1]}, "method": "a"},
        {"at_least": 3, "of": {"higher": ["a", "b"], "than": "c"}},
    ],
)
def test_levels_that_were_not_measured_are_missing(node):
    with pytest.raises(Missing):
        read(node)


def test_a_file_with_misspelled_or_missing_keys_is_refused(tmp_path):
    claim = {"name": "a", "statement": "b", "place": "c", "artifact": "d", "datasets": ["e"]}
    claim["contrasts"] = {"higher": "x", "than": "y"}

    def of(stated, **more):
        (tmp_path / "claims.yaml").write_text(yaml.safe_dump({"claims": [stated], **more}))
        return read_claims(tmp_path / "claims.yaml")

    (found,), names = of(claim, defaults={"metric": "wga"}, printed=[{"of": {"a": 1}, "is": {}}])
    assert found.margin == 0 and found.defaults == {"metric": "wga"} and len(names) == 1
    for wrong, error in (
        ({**claim, "margn": 0}, "did you mean margin"),
        ({key: claim[key] for key in claim if key != "place"}, "has no place"),
        ({key: claim[key] for key in claim if key != "contrasts"}, "needs either contrasts, or not_executed"),
        ({**claim, "not_executed": "why"}, "needs either contrasts, or not_executed"),
        ({**claim, "datasets": "cmnist"}, "datasets is 'cmnist', not a list of names"),
        ({**claim, "margin": math.nan}, "margin nan is neither a finite number nor near"),
    ):
        with pytest.raises(SettingError, match=error):
            of(wrong)
    with pytest.raises(SettingError, match="did you mean defaults"):
        of(claim, default={})


MAGNITUDE = re.compile(r"\d points?\b|(above|below|least|most) \d[\d.]* %|\d times\b")


@pytest.mark.parametrize("paper", list_papers())
def test_only_a_claim_about_a_magnitude_names_one(paper):
    """By how much is a number of the text (reported/prose.csv); a claim about an order says no more than the order."""
    executed = [claim for claim in read_claims(find_paper(paper) / "claims.yaml")[0] if claim.contrasts]
    assert [claim.name for claim in executed if claim.about == "order" and MAGNITUDE.search(claim.statement)] == []
    assert [claim.name for claim in executed if "deviation" in claim.because] == []  # no margin is of one


@pytest.mark.parametrize("paper", list_papers())
def test_a_claim_that_has_a_number_on_a_side_is_about_a_magnitude(paper):
    for claim in read_claims(find_paper(paper) / "claims.yaml")[0]:
        near = claim.margin == -NEAR or "'margin': 'near'" in str(claim.contrasts)
        assert claim.is_order == (claim.about == "order" and not near), claim.name
