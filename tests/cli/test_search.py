"""despur search: the points that it draws, what it trains, and that validation data alone choose."""

import math
import os
import re
import time
from pathlib import Path

import pandas as pd
import pytest
import yaml
from scipy import stats

from despur import __main__ as main
from despur.cli import run, search
from despur.orchestration import matrix, trials
from despur.orchestration.configuration import load_configuration
from despur.specs.names import parse
from despur.specs.paths import locate_result
from despur.specs.resolution import resolve
from despur.specs.settings import SettingError, around, log_to_one, log_uniform, uniform
from despur.storage.store import write_json


def test_points_lie_in_their_ranges_and_more_trials_begin_with_the_same():
    few, many = (trials.draw_points("focal", "waterbirds", count) for count in (4, 60))
    assert few == many[:4] and few[0] == [] and len({tuple(point) for point in many}) == 60
    ranges = trials.find_ranges("focal", "waterbirds")
    assert set(ranges) == {"learning_rate", "weight_decay", "gamma"} and all(each.source for each in ranges.values())
    for point in many[1:]:
        for key, text in (each.split("=") for each in point):
            assert ranges[key].low <= float(text) <= ranges[key].high
        assert resolve("methods", "+".join(["focal", *sorted(point)])).points


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (log_uniform(1e-4, 1e-2, "a source"), stats.uniform(-4, 2)),
        (uniform(0.2, 0.6, "a source"), stats.uniform(0.2, 0.4)),
        (log_to_one(0.99, 0.9999, "a source"), stats.uniform(-4, 2)),
        (around(10, "a source").resolve(0.02), stats.uniform(math.log10(0.002), 2)),
    ],
)
def test_draws_have_the_distribution_that_the_range_names(given, expected):
    values = [float(trials.draw_value("rate", given, trial)) for trial in range(400)]
    if given.scale == "log_to_one":
        values = [1 - value for value in values]
    shown = values if given.scale == "linear" else [math.log10(value) for value in values]
    assert stats.kstest(shown, expected.cdf).pvalue > 0.01


def test_methods_get_the_same_values_of_the_same_ranges_and_what_a_name_sets_is_kept():
    rates = {
        name: [
            point[0] for point in trials.draw_points(name, "waterbirds", 5)[1:] if point[0].startswith("learning_rate")
        ]
        for name in ("erm", "focal")
    }
    assert rates["erm"] == rates["focal"] and len(rates["erm"]) == 4
    kept = trials.draw_points("erm+learning_rate=0.5", "waterbirds", 3)[1]
    assert [each.partition("=")[0] for each in kept] == ["weight_decay"]
    with pytest.raises(SettingError, match="declares no search range"):
        [*search.describe_ranges("zero_shot", "waterbirds")]


def test_the_settings_of_a_stage_1_are_searched_with_those_of_its_method():
    keys = {"stage1.learning_rate", "stage1.weight_decay"}
    assert set(trials.find_ranges("dfr", "waterbirds")) == keys
    assert set(trials.find_ranges("gdro+groups=george", "waterbirds")) > keys  # the groups read it
    assert set(trials.find_ranges("dfr+groups.stage1.learning_rate=0.1", "waterbirds")) == {"stage1.weight_decay"}
    drawn = dict(setting.split("=") for setting in trials.draw_points("jtt", "scene_digits", 2)[1])
    assert drawn["learning_rate"] != drawn["stage1.learning_rate"]


def test_learning_rates_lie_around_what_the_method_has_on_the_data_set():
    rates = {
        (method, data): trials.find_ranges(method, data)["learning_rate"]
        for method, data in (("erm", "waterbirds"), ("erm", "scene_digits+p_corr=0.9"), ("jtt", "waterbirds"))
    }
    ends = [(span.low, span.high) for span in rates.values()]
    assert ends == [pytest.approx(pair) for pair in ((1e-4, 1e-2), (1e-3, 1e-1), (1e-6, 1e-4))]
    assert trials.find_ranges("jtt", "waterbirds")["weight_decay"].high == 1  # its own value lies in a range
    with pytest.raises(SettingError, match="a range around 0: "):
        around(10, "a source").resolve(0)


def test_every_range_holds_values_that_its_setting_takes():
    from despur.specs.declarations import list_components, read_declarations

    for name in list_components("methods"):
        for key, setting in read_declarations("methods", name)["SETTINGS"].items():
            if setting.search:
                span = setting.search.resolve(setting.default)
                for value in (span.low, span.high):
                    setting.parse(key, str(value))


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Where Snakemake would run, numbers are written: the smaller the learning rate, the better on validation data,
    and the worse on test data. The folders of each call."""
    calls = []
    monkeypatch.chdir(tmp_path)
    Path("Snakefile").touch()
    roles = {"headline": "test", "select": "val", "selection": "worst_group_accuracy"}
    write_json(Path("results/data/colored_digits/about.json"), {"colored_digits": roles})

    def make(folders, options):
        calls.append(list(folders))
        for folder in folders:
            result = locate_result(folder)
            result.folder.mkdir(parents=True, exist_ok=True)
            rate = result.sweep.points[0].settings["learning_rate"]
            rows = [
                ("colored_digits", "erm", run.seed, split, selection, metric, "", value)
                for run in result.runs()
                for metric, split, value in (
                    ("worst_group_accuracy", "val", 1 - rate),
                    ("worst_group_accuracy", "test", rate),
                    ("worst_class_accuracy", "val", rate),
                )
                for selection in ("best", "last")
            ]
            heads = ["dataset", "method", "seed", "split", "selection", "metric", "group", "value"]
            pd.DataFrame(rows, columns=heads).to_csv(result.folder / "metrics.csv", index=False)
            criterion = result.sweep.points[0].settings["criterion"]
            scores = ["colored_digits", "erm", 0, 1, 5, f"val_{criterion}", 1.0]
            heads = ["dataset", "method", "seed", "epoch", "step", "name", "value"]
            pd.DataFrame([scores], columns=heads).to_csv(result.folder / "history.csv", index=False)
        return 0

    for module in (search, run):
        monkeypatch.setattr(module, "call_snakemake", make)
    return calls


def test_validation_data_choose_and_only_the_best_is_tested_with_all_seeds(made):
    lines = list(search.search_settings("erm", "colored_digits", 5, 3, "best", False, []))
    tried, winner = made
    rates = [float(parse(Path(folder).parts[-2])[1].get("learning_rate", ["0.01"])[0]) for folder in tried]
    assert len(tried) == 5 and all(folder.endswith("/s0") for folder in tried)
    best = Path(tried[rates.index(min(rates))]).parts[-2]
    assert {Path(folder).parts[-2] for folder in winner} == {best}
    assert [Path(folder).name for folder in winner] == ["s0", "s1-2"]  # the first seed is there
    ranked = [line for line in lines if getattr(line, "table", "") == "points"]
    assert [line.values["rank"] for line in ranked] == [1, 2, 3, 4, 5] and ranked[0].values["point"] == best
    assert ranked[0].startswith("* ") and not any("best" in key for line in ranked for key in line.values)
    metrics = [line for line in lines if getattr(line, "table", "") == "metrics"]
    assert (
        len(metrics) == 1 and metrics[0].values["best"] == pytest.approx(min(rates)) and metrics[0].values["seeds"] == 3
    )


def test_points_are_ranked_by_the_criterion_that_selects_their_steps(made):
    told = list(search.search_settings("erm+criterion=worst_class_accuracy", "colored_digits", 5, 1, "best", False, []))
    rates = [float(parse(Path(folder).parts[-2])[1].get("learning_rate", ["0.01"])[0]) for folder in made[0]]
    ranked = [line.values["point"] for line in told if getattr(line, "table", "") == "points"]
    assert (
        ranked[0] == Path(made[0][rates.index(max(rates))]).parts[-2] and "criterion=worst_class_accuracy" in ranked[0]
    )


def test_where_nothing_is_started_older_trials_are_not_ranked(made, monkeypatch):
    """As where another Snakemake is at work, which writes logs meanwhile."""
    (file := Path("small.yaml")).write_text(MATRIX)
    search.call_snakemake(["results/runs/colored_digits/erm/s0"], [])

    def refuse(folders, options):
        (log := Path("results/logs/runs/other/erm/s0.log")).parent.mkdir(parents=True, exist_ok=True)
        log.touch()
        return 3

    monkeypatch.setattr(search, "call_snakemake", refuse)
    with pytest.raises(SystemExit, match="3"):
        list(search.search_settings(None, None, 16, 3, "best", False, [], file))
    with pytest.raises(SystemExit, match="3"):
        list(search.search_settings("erm", "colored_digits", 2, 1, "best", False, []))
    assert not Path("small_tuned.yaml").exists()


def test_trials_whose_data_cannot_be_made_again_are_lost_though_they_have_metrics(made, monkeypatch):
    list(search.search_settings("erm", "colored_digits", 2, 1, "best", False, []))

    def fail(folders, options):
        (log := Path("results/logs/data/colored_digits.log")).parent.mkdir(parents=True)
        log.touch()
        os.utime(log, (time.time() + 5, time.time() + 5))
        return 1

    monkeypatch.setattr(search, "call_snakemake", fail)
    with pytest.raises(SettingError, match="no trial could be trained"):
        list(search.search_settings("erm", "colored_digits", 2, 1, "best", False, []))


def test_what_cannot_be_searched_is_refused_before_anything_is_trained(made):
    for method, data, selection, said in (
        ("erm", "colored_digits", "worst_group", "worst_group: one of best, "),
        ("erm+epochs=1~2", "colored_digits", "best", "has several points"),
        ("erm", "colored_digits+p_corr=0.6~0.9", "best", "has several points"),
    ):
        with pytest.raises(SettingError, match=re.escape(said)):
            list(search.search_settings(method, data, 2, 1, selection, False, []))
    assert not made


def test_a_search_by_a_rule_keeps_what_it_selects(made):
    list(search.search_settings("erm", "colored_digits", 2, 1, "worst_class_accuracy", True, []))
    assert all("selections=rules" in folder for folder in made[0])


NO_RANGE = "dfr+stage1.learning_rate=0.1+stage1.weight_decay=0.1"
MATRIX = f"""
papers: []
datasets: {{}}
seeds: 2
outputs: results/small
matrix: {{data: colored_digits, trials: 3, methods: {{ERM: erm, Focal: focal, DFR: {NO_RANGE}}}}}
"""


def test_each_method_of_a_matrix_gets_the_same_number_of_trials_and_the_best_make_a_configuration(made, monkeypatch):
    """The fake learns the better the smaller the rate; one trial is never made."""
    (file := Path("small.yaml")).write_text(MATRIX)
    make, lost = search.call_snakemake, []

    def make_all_but_one(folders, options):
        assert options == ["--keep-going", "--cores", "2"]
        lost.append(
            min(
                (f for f in folders if "/erm+" in f),
                key=lambda f: float(parse(f.split("/")[-2])[1]["learning_rate"][0]),
            )
        )
        make([folder for folder in folders if folder not in lost and NO_RANGE not in folder], options)
        dfr = Path(next(folder for folder in folders if NO_RANGE in folder))
        dfr.mkdir(parents=True)
        text = Path(next(folder for folder in folders if "/erm/" in folder), "metrics.csv").read_text()
        (dfr / "metrics.csv").write_text(text)
        log = Path(lost[0].replace("results/runs", "results/logs/runs") + ".log")
        log.parent.mkdir(parents=True)
        log.touch()
        return 1

    monkeypatch.setattr(search, "call_snakemake", make_all_but_one)
    told = "\n".join(search.search_settings(None, None, 16, 3, "best", False, ["--cores", "2"], file))
    (folders,) = made
    assert len(folders) == 5 and all(folder.endswith("/s0") for folder in folders)
    tuned = yaml.safe_load(Path("small_tuned.yaml").read_text())
    rates = {
        name: parse(point)[1].get("learning_rate", ["0.01"])[0] for name, point in tuned["matrix"]["methods"].items()
    }
    drawn = sorted(
        float(parse(folder.split("/")[-2])[1].get("learning_rate", ["0.01"])[0])
        for folder in folders
        if "/focal" in folder
    )
    assert (
        float(rates["Focal"]) == drawn[0]
        and float(rates["ERM"]) > drawn[0]
        and tuned["matrix"]["methods"]["DFR"] == NO_RANGE
    )
    assert f"1 of 7 trials could not be trained (results/logs says why): {lost[0]}" in told
    assert (
        tuned["matrix"].keys() == {"data", "methods"}
        and tuned["seeds"] == 2
        and "snakemake matrix --configfile small_tuned.yaml" in told
    )
    Path("small_tuned.yaml").write_text("seeds: 3\n")
    with pytest.raises(SettingError, match="move it away"):
        list(search.search_settings(None, None, 16, 3, "best", False, [], file))


def test_the_tuned_methods_are_those_that_were_tried_with_the_settings_of_the_matrix(made):
    text = MATRIX.replace(
        f"methods: {{ERM: erm, Focal: focal, DFR: {NO_RANGE}}}",
        "settings: {epochs: 7}, methods: {A: erm, B: erm+epochs=8}",
    )
    (file := Path("small.yaml")).write_text(text.replace("trials: 3", "trials: 1"))
    list(search.search_settings(None, None, 16, 3, "best", False, [], file))
    tuned = load_configuration(Path("small_tuned.yaml"))
    folders = {run.paper_method: run.folders[0] for run in matrix.list_artifact_runs(tuned)}
    assert {name: str(Path(folder).parent) for name, folder in folders.items()} == {
        "A": "results/runs/colored_digits/erm+epochs=7",
        "B": "results/runs/colored_digits/erm",
    }


def test_a_search_needs_a_method_and_data_or_the_trials_of_a_matrix(made):
    with pytest.raises(SettingError, match="name a method and a data set, or a configuration"):
        list(search.search_settings("erm", None, 16, 3, "best", False, []))
    (file := Path("small.yaml")).write_text(MATRIX.replace("trials: 3, ", ""))
    for given in (("erm", None, 16, 3, "best"), (None, None, 9, 3, "best"), (None, None, 16, 3, "nonsense")):
        with pytest.raises(SettingError, match=r"leave out the method, .* --selection"):
            list(search.search_settings(*given, False, [], file))
    with pytest.raises(SettingError, match=r"matrix\.trials must say"):
        list(search.search_settings(None, None, 16, 3, "best", False, [], file))
    file.write_text(re.sub(", methods: {.*?}", "", MATRIX))
    with pytest.raises(SettingError, match=r"name the methods .*\(matrix\.methods\)"):
        list(search.search_settings(None, None, 16, 3, "best", False, [], file))


def test_a_dry_run_shows_ranges_and_jobs_only(made):
    lines = list(search.search_settings("erm", "colored_digits", 2, 3, "best", True, []))
    assert (
        len(made) == 1
        and len(lines) == 2
        and lines[0]
        == "learning_rate: 0.001 to 0.1, uniform in its logarithm (SubpopBench, of images: 1e-4 to 1e-2, default 1e-3)"
    )
    with pytest.raises(SettingError, match="--trials and --seeds must be 1 or more"):
        list(search.search_settings("erm", "colored_digits", 0, 1, "best", False, []))


def test_options_of_snakemake_stand_last():
    found = main.parse_arguments(main.build_parser(), ["search", "erm", "moji", "--trials", "2", "--", "--cores", "2"])
    assert found["options"] == ["--cores", "2"] and found["trials"] == 2 and found["seeds"] == 3


def test_nothing_runs_outside_of_a_checkout(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingError, match="has no Snakefile"):
        list(run.run_method("erm", "colored_digits", [], "1", False, []))
