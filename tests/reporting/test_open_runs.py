"""What is open: runs measured nowhere, the jobs behind them, and what three seeds would settle."""

from dataclasses import replace
from itertools import filterfalse
from pathlib import Path

import pandas as pd
import pytest
from records import add

from despur.evidence.claims.claim_format import Claim
from despur.evidence.ledger import files as ledger
from despur.evidence.runs.sources import Sources, find_sources
from despur.evidence.tally import list_printed
from despur.orchestration.configuration import complete_configuration
from despur.orchestration.experiments import ArtifactRun
from despur.reporting.open_runs import is_done, list_open_runs
from despur.reporting.waiting import find_claims, list_levels, reads_run
from despur.specs.paths import locate_result

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
    assert len(found["cnc"].numbers) == 6, "these of Tables 1, A.1 and A.3"
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


def test_what_no_paper_states_or_nothing_selects_waits_for_nothing():
    artifact_run = ArtifactRun("moji", "moji", "con", (), "table_1", "fair_cl")
    stated = {"name": "a", "statement": "a", "place": "a", "artifact": "table_1", "datasets": ["moji"]}
    asked = [Claim(**stated, contrasts={"higher": "con", "than": "ce"}, ours=ours) for ours in (False, True)]
    points = pd.DataFrame({"settled": [True], "untuned": ""})
    found = [list(find_claims([claim], artifact_run, points)) for claim in asked]
    assert found == [[("a", "moji")], []]
    other = points.assign(untuned="ratio")
    contrasts = {"higher": {"method": "con", "ratio": 1}, "than": "ce"}
    about = [asked[0], replace(asked[0], contrasts=contrasts)]
    assert [len(list(find_claims([claim], artifact_run, other))) for claim in about] == [0, 1], "it names the ratio"


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


@pytest.mark.parametrize("dataset, waits", [("samples=100", {"42.6", "20.8"}), ("samples=250", {"25.9"})])
def test_a_sentence_waits_for_the_artifact_and_the_data_that_its_formula_names(dataset, waits):
    printed = list_printed("adapters")
    own = printed[(printed["paper_dataset"] == "waterbirds") & (printed["method"] == "contrastive_adapter")]
    folder = f"results/runs/waterbirds+fit=clip+{dataset}/contrastive_adapter/s0"
    run = ArtifactRun(
        "waterbirds", locate_result(folder).dataset, "contrastive_adapter", (folder,), "figure_5", "adapters"
    )
    read = {f"{number.reported:g}" for number in own.itertuples() if reads_run(number, run)}
    assert read & {"42.6", "20.8", "25.9", "33.7"} == waits, "33.7 is of Table 4; the others name 100 or 250 samples"
    assert "83.7" not in read, "Table 6 names no number of samples: it has them all"


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


@pytest.mark.parametrize(
    "formula, levels",
    [
        ({"higher": {"data.sigma": 50}, "than": {"sigma": "lowest"}}, [0, 50]),
        ({"each": {"sigma": {"above": 25}}}, [50, 150]),
        ({"change": {"sigma": ["highest", 25]}}, [25, 150]),
        ({"higher": "a", "than": "b", "group": "1%"}, []),
    ],
)
def test_levels_that_a_formula_names(formula, levels):
    assert sorted(list_levels([formula, None], "sigma", [0, 25, 50, 150])) == levels
