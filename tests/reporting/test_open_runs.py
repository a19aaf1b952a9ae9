"""What is open: runs measured nowhere, the jobs behind them, and what three seeds would settle."""

from itertools import filterfalse
from pathlib import Path

import pytest
from records import add

from despur.evidence.claims.claim_format import read_claims
from despur.evidence.ledger import files as ledger
from despur.evidence.runs.sources import Sources, find_sources
from despur.evidence.tally import list_printed
from despur.orchestration.configuration import complete_configuration
from despur.orchestration.experiments import ArtifactRun
from despur.orchestration.paper_folders import find_paper
from despur.reporting.assertions import Assertion, list_claim_assertions
from despur.reporting.open_runs import is_done, list_open_runs
from despur.reporting.waiting import ShownRun, find_waiting

OWN = "cmnist+colors=released+draw=seed"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def name_run(seed, method):
    """The key of a run on the split and coloring of its seed; draw 0 is the default, which names leave out."""
    return f"cmnist+colors=released{f'+draw={seed}' * (seed > 0)}/{method}/s{seed}"


def find_open(sources, data=OWN, seeds=3):
    """What is open of Table 1 of cnc, by method."""
    config = {"papers": ["cnc"], "seeds": seeds, "methods": ["erm", "cnc", "gdro"], "datasets": {"cmnist": data}}
    found = list_open_runs(complete_configuration(config), sources)
    return {each.artifact_run.paper_method: each for each in found if "table_1" in each.artifacts}


def measured(*seeds, method="erm"):
    return Sources(where={name_run(seed, method): "a record" for seed in seeds})


def test_runs_that_were_measured_nowhere_are_open_and_settle_the_printed_numbers_of_all_their_tables():
    found = find_open(Sources())
    assert found["erm"].runs == {name_run(seed, "erm") for seed in range(3)}
    assert len(found["erm"].numbers) == 1, "Table 1: worst-group accuracy; colors=released was found on the average"
    assert len(found["cnc"].numbers) == 8, "these of Tables 1, A.1 and A.3, and two means over data sets"
    assert sorted(job.stage for job in found["erm"].jobs) == sorted(["data", "runs", "evaluate"] * 3)


def test_what_was_measured_is_not_open_and_a_missing_seed_leaves_numbers_open():
    found = find_open(measured(0, 1))
    assert found["erm"].runs == {name_run(2, "erm")} and len(found["erm"].numbers) == 1
    assert "erm" not in find_open(measured(0, 1, 2)) and "cnc" in find_open(measured(0, 1, 2))


def test_numbers_and_claims_wait_only_for_runs_that_make_three_seeds():
    found = find_open(Sources(), seeds=2)["cnc"]
    assert (len(found.runs), found.numbers, found.claims) == (2, set(), set())
    found = find_open(measured(0, 1, 2, method="cnc"), seeds=5)["cnc"]
    assert (len(found.runs), found.numbers, found.claims) == (2, set(), set()), "they have three"


@pytest.mark.parametrize(
    "assertion, point, waits",
    [
        ({}, {}, True),
        ({}, {"settled": False, "compared": True}, False),
        ({}, {"changes": "epochs=1"}, False),
        ({}, {"untuned": "ratio"}, False),
        ({"terms": [{"method": "con", "dataset": "moji", "ratio": 1}]}, {"untuned": "ratio", "ratio": "1"}, True),
        ({"terms": [{"method": "con", "dataset": "moji", "ratio": 5}]}, {"ratio": "1"}, False),
        ({"grid": True}, {"partial": "ratio"}, False),
        ({"artifacts": ("table_2",)}, {}, False),
        ({"terms": [{"method": "con", "dataset": "bios"}]}, {}, False),
        ({"terms": [{"method": "ce", "dataset": "moji"}]}, {}, False),
    ],
)
def test_an_assertion_waits_for_settled_points_that_it_reads_at_the_settings_of_the_paper(assertion, point, waits):
    run = ArtifactRun("moji", "moji", "con", ("results/runs/moji/con/s0",), "table_1", "fair_cl")
    common = {"terms": [{"method": "con", "dataset": "moji"}], "artifacts": ("table_1",)}
    own = {"data": "moji", "method": "con", "paper_method": "con", "settled": True, "compared": False}
    own |= {"changes": "", "untuned": "", "partial": ""}
    shown = ShownRun("table_1", run)
    found = find_waiting([Assertion("a", **common | assertion)], {shown: [own | point]})
    assert found == {shown: {"a"} if waits else set()}


def test_claims_of_ours_and_those_that_are_not_executed_wait_for_nothing():
    claims, _ = read_claims(find_paper("cnc") / "claims.yaml")
    left_out = {claim.name for claim in claims if claim.ours or claim.not_executed}
    named = {name for name, _ in (assertion.key for assertion in list_claim_assertions("cnc"))}
    assert left_out and not left_out & named and named | left_out == {claim.name for claim in claims}


def test_claims_wait_for_the_methods_that_they_name():
    claims = {method: {name for _, name, _ in each.claims} for method, each in find_open(Sources()).items()}
    assert "near_group_dro" in claims["cnc"] & claims["gdro"]
    assert "near_group_dro" not in claims["erm"]


def test_records_count_and_substitute_data_settles_nothing_about_the_paper():
    add(ledger.LEDGER, 0)
    found = find_open(find_sources(), "colored_digits")
    assert found["erm"].runs == {f"colored_digits/erm/s{seed}" for seed in (1, 2)}
    assert {(len(each.numbers), len(each.claims)) for each in found.values()} == {(0, 0)}


def test_a_stage_1_model_that_is_here_is_not_trained_again():
    def stages():
        return sorted(job.stage for job in filterfalse(is_done, find_open(Sources(), "colored_digits")["cnc"].jobs))

    assert stages().count("stage1") == 3
    folder = Path("results/stage1/colored_digits/erm/s0-1")
    folder.mkdir(parents=True)
    (folder / "about.json").touch()
    assert stages().count("stage1") == 1


def test_numbers_wait_until_all_that_a_screening_left_over_is_run():
    config = {"papers": ["domain_temperature"], "seeds": 3, "datasets": {"cmnist_3v5": "cmnist_3v5+draw=seed"}}
    config["artifacts"] = {"domain_temperature": {"figure_1": {"data": "sigma=50"}}}
    runs = {f"cmnist_3v5{f'+draw={seed}' * (seed > 0)}/cl_mmd/s{seed}": "a record" for seed in range(3)}
    for sources in (Sources(), Sources(where=runs)):
        found = list_open_runs(complete_configuration(config), sources)
        (screened,) = (each for each in found if "+weight=5" in each.artifact_run.folders[0])
        assert len(screened.numbers) == 9 and screened.claims  # of Tables 1 and 2


def test_a_number_that_is_compared_with_one_of_two_screened_settings_does_not_wait():
    other = "cl_mmd+temperature=0.5+weight=5"
    names = [(method, seed) for method in ("cl_mmd", other) for seed in range(3)]
    runs = {f"cmnist_3v5{f'+draw={seed}' * (seed > 0)}/{method}/s{seed}": "a record" for method, seed in names}
    config = {"papers": ["domain_temperature"], "seeds": 4, "datasets": {"cmnist_3v5": "cmnist_3v5+draw=seed"}}
    config["artifacts"] = {"domain_temperature": {"figure_1": {"data": "sigma=50"}}}
    found = list_open_runs(complete_configuration(config), Sources(where=runs))
    assert [len(each.numbers) for each in found if "cl_mmd" in each.artifact_run.folders[0]] == [0, 0]


def test_grid_points_that_nothing_selects_settle_no_number():
    config = {"papers": ["domain_temperature"], "seeds": 3, "datasets": {"cmnist_3v5": "cmnist_3v5+draw=seed"}}
    found = list(list_open_runs(complete_configuration(config), Sources()))
    assert {len(each.numbers) for each in found if each.artifacts == ("table_9",)} == {0}
    assert not any("figure_3" in each.artifacts for each in found), "it shows data alone: nothing is trained for it"


def test_each_point_of_the_data_waits_for_numbers_of_its_own_and_costs_only_its_own_runs():
    config = {"papers": ["domain_temperature"], "seeds": 3, "datasets": {"cmnist_3v5": "cmnist_3v5+draw=seed"}}
    config["artifacts"] = {"domain_temperature": {"figure_1": {"data": "sigma=0~50"}}}
    method = "domain_weighted_pairs"
    runs = {f"cmnist_3v5{f'+draw={seed}' * (seed > 0)}/{method}/s{seed}": "a record" for seed in range(3)}
    for sources, expected in ((Sources(), {"+sigma=0": 0, "": 15}), (Sources(where=runs), {"+sigma=0": 0})):
        found = [*list_open_runs(complete_configuration(config), sources)]
        mine = {each.artifact_run.dataset: each for each in found if f"/{method}/" in each.artifact_run.folders[0]}
        numbers = {data.removeprefix("cmnist_3v5+draw=seed"): len(each.numbers) for data, each in mine.items()}
        assert numbers == expected
        assert all(len(each.runs) == 3 and len(each.jobs) >= 3 for each in mine.values())


@pytest.fixture(scope="module")
def of_adapters():
    """The printed values that wait for each run on Waterbirds, by the last parts of its folder."""
    printed = list_printed("adapters")
    config = {"papers": ["adapters"], "seeds": 3, "datasets": {"waterbirds": "waterbirds"}}
    return {
        each.artifact_run.folders[0].removeprefix("results/runs/waterbirds+fit=clip").rpartition("/")[0]: {
            (number.method, f"{number.reported:g}")
            for _, position in each.numbers
            for number in [printed.loc[position]]
        }
        for each in list_open_runs(complete_configuration(config), Sources())
    }


def test_a_sentence_waits_for_both_its_sides_on_the_data_that_it_names(of_adapters):
    gains = {("contrastive_adapter", "42.6"), ("contrastive_adapter", "20.8"), ("contrastive_adapter", "25.9")}
    asked = {data: of_adapters[f"{data}/contrastive_adapter"] & gains for data in ("+samples=100", "+samples=250", "")}
    assert {data: sorted(value for _, value in found) for data, found in asked.items()} == {
        "+samples=100": ["20.8", "42.6"],
        "+samples=250": ["25.9"],
        "": [],
    }
    assert ("contrastive_adapter", "42.6") in of_adapters["+samples=100/gdro+groups=ssa"], "it is above SSA's"


def test_printed_methods_wait_for_the_job_that_they_share(of_adapters):
    job = next(
        found
        for folder, found in of_adapters.items()
        if "/contrastive_adapter+contrastive=false~true+sampling=hard~random" in folder
    )
    assert {"adapter", "adapter_hard_sampling_only", "adapter_contrastive_only"} <= {method for method, _ in job}
    wise_ft = [found for folder, found in of_adapters.items() if "/wise_ft" in folder]
    assert any("linear_probe" in {method for method, _ in found} for found in wise_ft), "its alpha 0"


def test_a_claim_waits_for_the_points_of_the_data_that_it_names():
    config = {"papers": ["cnc"], "seeds": 3, "datasets": {"cmnist": OWN}}
    found = [*list_open_runs(complete_configuration(config), Sources())]
    waiting = {
        each.artifact_run.dataset.removeprefix(OWN): {name for _, name, _ in each.claims}
        for each in found
        if "/erm+snapshots=1/" in each.artifact_run.folders[0]
    }
    trends = {"erm_worst_group_falls", "alignment_loss_tracks_error"}
    assert trends | {"jtt_beats_erm_at_high_p_corr"} <= waiting[""], "a trend, every level, and the highest"
    assert trends <= waiting["+p_corr=0.2"] and "jtt_beats_erm_at_high_p_corr" not in waiting["+p_corr=0.2"]
    assert trends & waiting["+p_corr=0.8"] == {"alignment_loss_tracks_error"}, "the trend is from lowest to highest"


def test_the_terms_of_a_claim_are_all_that_it_reads():
    (trend,) = (each for each in list_claim_assertions("cnc") if each.key[0] == "erm_worst_group_falls")
    assert trend.terms == [{"dataset": "cmnist", "method": "erm", "data.p_corr": level} for level in (0.2, 0.995)], (
        "the ends of the levels"
    )
    assert not trend.grid and trend.artifacts == ("figure_7",)
