"""despur show, diff: what runs measured and how they differ, from folders with known numbers."""

import json
from pathlib import Path

import pandas as pd
import pytest
from making import write_run
from scipy import stats

from despur.cli.diff import show_difference
from despur.cli.metrics import Roles, format_seeds, format_spread
from despur.cli.rows import Row, format_json
from despur.cli.show import list_ranking, show_runs
from despur.specs.settings import SettingError
from despur.storage.store import InputError, write_json


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def said(lines):
    return "\n".join(lines)


def made(name, values, asked="s0", key="lambda", **settings):
    """A finished folder: GAP of each point (of ``key``; None: no sweep) and seed, and rows that no table shows."""
    folder = Path(f"results/runs/colored_digits/{name}/{asked}")
    numbers = sorted({seed for of_seeds in values.values() for seed in of_seeds})
    points = [
        {"name": name.split("+")[0], **settings, **({key: point} if point is not None else {})} for point in values
    ]
    write_json(
        folder / "about.json",
        {"specification": {"points": points, "seeds": numbers, "code": "abc"}, "device": "cpu", "versions": {}},
    )
    shown = {("test", "best", ""): lambda value: value, ("val", "best", ""): lambda value: 1 - value}
    kinds = [("test", "best", "gap", ""), ("test", "last", "gap", ""), ("test", "best", "accuracy", "3")]
    kinds += [("test", "best", "samples", "3"), ("train", "best", "gap", ""), ("val", "best", "gap", "")]
    rows = [
        {"dataset": "colored_digits", "method": "erm", **({key: point} if point is not None else {}), "seed": seed}
        | {"split": split, "selection": selection, "metric": metric, "group": group}
        | {"value": 40 if metric == "samples" else shown.get((split, selection, group), lambda value: 9)(value)}
        for point, of_seeds in values.items()
        for seed, value in of_seeds.items()
        for split, selection, metric, group in kinds
    ]
    write_run(folder, rows)
    write_history(folder, "val_worst_group_accuracy", "val_average_accuracy")
    return folder


def write_history(folder, *scores):
    """What a training wrote: its loss, and validation scores, by the first of which it chose the best step."""
    rows = [{"dataset": "colored_digits", "method": "erm", "seed": 0, "name": name} for name in ("loss", *scores)]
    pd.DataFrame(rows).assign(epoch=1, step=1, value=0.5).to_csv(folder / "history.csv", index=False)


def test_a_seed_that_did_not_learn_its_training_data_is_warned_of():
    folder = made("cnc", {0.2: {0: 0.1, 1: 0.3}, 0.4: {0: 0.1, 1: 0.3}}, "s0-1")
    rows = pd.read_csv(folder / "metrics.csv", keep_default_na=False)
    key = {"dataset": "colored_digits", "split": "train", "selection": "best"}
    learned = [
        key | {"method": f"cnc+lambda={point}", "lambda": point, "seed": seed, "metric": metric, "group": group}
        for point in (0.2, 0.4)
        for seed in (0, 1)
        for metric in ("accuracy", "samples")
        for group in ("3, red", "5, red")
    ]
    accuracy = {(0.2, 0): (1, 0), (0.2, 1): (0.9, 0.8), (0.4, 0): (1, 1), (0.4, 1): (0.6, 0.5)}
    for row in learned:
        of_groups = accuracy[row["lambda"], row["seed"]]
        row["value"] = 20 if row["metric"] == "samples" else of_groups[row["group"] == "5, red"]
    rows["method"] = [f"cnc+lambda={point}" for point in rows["lambda"]]
    write_run(folder, [*rows.to_dict("records"), *learned])
    warned = [line.values for line in show_runs([folder]) if isinstance(line, Row) and line.table == "warnings"]
    assert [(row["seed"], row["warning"].partition(":")[0]) for row in warned] == [
        (0, "cnc+lambda=0.2"),
        (1, "cnc+lambda=0.4"),
    ]
    assert "collapsed" in warned[0]["warning"]


def test_a_run_shows_mean_and_std_of_validation_and_of_what_tables_show():
    text = said(show_runs([made("erm", {None: {0: 0.1, 1: 0.3}}, "s0-1") / "metrics.csv"]))
    assert "seeds 0, 1" in text and "Best step: by worst_group_accuracy of the split val" in text
    assert [line.split() for line in text.splitlines()[2:]] == [
        ["metric", *("val,", "best", "step"), *("test,", "best", "step"), *("test,", "last", "step")],
        ["gap", "0.8", "(0.14)", "0.2", "(0.14)", "9", "(0)"],
    ]


@pytest.mark.parametrize(
    ("scores", "words", "criteria"),
    [
        (["val_log_likelihood", "val_average_accuracy"], "by log_likelihood of the split val", ["log_likelihood"]),
        ([], "the last", ["last"]),
        (None, "by what results/runs/colored_digits/erm/s0/history.csv, which is not there, would say", None),
    ],
)
def test_what_chose_the_best_step_is_said_as_the_training_wrote_it(scores, words, criteria):
    folder = made("erm", {None: {0: 0.1}})
    if scores is None:
        (folder / "history.csv").unlink()
    else:
        write_history(folder, *scores)
    head = next(show_runs([folder]))
    assert f"Best step: {words}" in head and head.values["best_step_by"] == (criteria or head.values["best_step_by"])


def test_json_names_splits_and_what_selects_step_and_point():
    (run,) = json.loads(format_json(show_runs([made("erm", {None: {0: 0.1}})])))["runs"]
    assert run["splits"] == {"validation": "val", "best": "test", "last": "test"}
    assert (run["best_step_by"], run["best_point_by"]) == (["worst_group_accuracy"], "gap")  # its only metric
    assert run["folders"] == ["results/runs/colored_digits/erm/s0"]


def test_groups_are_shown_where_they_are_asked_for():
    folder = made("erm", {None: {0: 0.1, 1: 0.3}}, "s0-1")
    rows = pd.read_csv(folder / "metrics.csv", dtype={"group": str})
    of_validation = rows[rows["metric"] == "samples"].assign(split="val", value=7)
    pd.concat([of_validation, rows]).to_csv(folder / "metrics.csv", index=False)
    text = said(show_runs([folder], groups=True))
    assert text.splitlines()[-1].split() == ["accuracy", "of", '"3"', "(40", "samples)", "–", "9", "(0)", "–"]


def test_folders_of_the_same_runs_are_shown_as_one_and_a_seed_counts_once():
    folders = [made("erm", {None: {0: 0.1}}), made("erm", {None: {1: 0.3}}, "s1")]
    folders += [made("erm", {None: {0: 0.1, 1: 0.3}}, "s0-1"), made("erm+epochs=3", {None: {0: 0.5}})]
    first, second = [line for line in show_runs(folders) if line.startswith("gap")]
    assert first.split()[3:5] == ["0.2", "(0.14)"] and second.split()[2] == "0.5"


def made_on_draws(name, values, first=0):
    """A run without randomness of its own: one seed, and each value on a draw of the data."""
    last = first + len(values) - 1
    seeds = f"s{first}-{last}" if last > first else f"s{first}"
    folder = Path(f"results/runs/colored_digits+draw=seed/{name}/{seeds}")
    write_json(
        folder / "about.json",
        {"specification": {"points": [{"name": name}], "seeds": [0], "code": "abc"}, "device": "cpu", "versions": {}},
    )
    rows = [
        {"dataset": f"colored_digits+draw={draw}" if draw else "colored_digits", "method": name, "seed": 0}
        | {"split": split, "selection": "best", "metric": "gap", "group": "", "value": value}
        for draw, value in enumerate(values, start=first)
        for split in ("test", "val")
    ]
    write_run(folder, rows)
    write_history(folder)
    return folder


def test_a_quoted_pattern_shows_the_finished_runs_that_it_matches():
    folders = [made("erm", {None: {0: 0.4}}), made("lff", {None: {0: 0.3}})]
    Path("results/runs/colored_digits/cnc/s0").mkdir(parents=True)  # stopped before it was evaluated
    assert said(show_runs([Path("results/runs/*/*/s0")])) == said(show_runs(folders))
    with pytest.raises(SettingError, match=r"results/runs/adult/\*/s0: no finished run"):
        list(show_runs([Path("results/runs/adult/*/s0")]))


def test_probes_rank_methods_without_a_classifier():
    rows = [(metric, group) for metric in ("samples", "probe_accuracy") for group in ("1%", "10%")]
    table = pd.DataFrame(rows, columns=["metric", "group"])
    assert list_ranking(table, Roles()) == ["probe_accuracy 1%", "probe_accuracy 10%"]
    assert list_ranking(table[:2], Roles()) == ["samples 1%", "samples 10%"]
    both = pd.concat([table, pd.DataFrame([("average_accuracy", ""), ("gap", "")], columns=table.columns)])
    assert list_ranking(both, Roles(metric="gap")) == ["gap", "average_accuracy"]


def test_draws_of_the_data_are_not_one_seed():
    first, second = made_on_draws("dfr", [0.1, 0.5, 0.6]), made_on_draws("leace", [0.2, 0.7, 0.9])
    ranked = [line for line in show_runs([first, second]) if isinstance(line, Row) and line.table == "points"]
    assert [line.values["gap best"] for line in ranked] == [pytest.approx(0.6), pytest.approx(0.4)]
    assert "/s0-2: seeds 0-2; mean (std)" in said(show_runs([first]))
    assert ": seeds 0, 2; mean (std)" in said(
        show_runs([made_on_draws("zero_shot", [0.1]), made_on_draws("zero_shot", [0.1], 2)])
    )
    change = said(show_difference(first, second)).splitlines()[-1]
    assert change.split()[:6] == ["gap", "0.4", "(0.26)", "0.6", "(0.36)", "+0.2"] and "[" in change


SWEEP = {0.5: {0: 0.1, 1: 0.3}, 1.0: {0: 0.5, 1: 0.5}, 2.0: {0: 0.05, 1: 0.05}}


@pytest.fixture
def sweep():
    """A sweep whose test metrics and validation metrics have opposite orders; validation selects by GAP."""
    write_json(
        Path("results/data/colored_digits/about.json"),
        {"colored_digits": {"headline": "test", "select": "val", "selection": "gap"}},
    )
    return made("erm+lambda=0.5~1~2", SWEEP, "s0-1")


def test_several_methods_on_the_same_data_end_with_a_line_for_each(sweep):
    folders = [made("erm", {None: {0: 0.4}}), made("jtt", {None: {0: 0.15}})]
    ranked = [line for line in show_runs([*folders, sweep]) if isinstance(line, Row) and line.table == "points"]
    assert [line.values["point"] for line in ranked[3:]] == [
        "erm+lambda=0.5~1~2 lambda=2",
        "jtt",
        "erm+lambda=0.5~1~2 lambda=0.5",
        "erm",
        "erm+lambda=0.5~1~2 lambda=1",
    ]
    other = Path(str(folders[0]).replace("colored_digits", "scene_digits"))
    other.parent.mkdir(parents=True)
    folders[0].rename(other)
    assert not [line for line in show_runs([other, folders[1]]) if getattr(line, "table", "") == "points"]


def test_a_sweep_shows_a_line_for_each_point_the_best_on_validation_data_first(sweep):
    _, _, head, *points, legend = show_runs([sweep])
    assert head.split() == ["setting", "val", "gap", "test", "gap"]
    assert [line.split() for line in points] == [
        ["*", "lambda=2", "0.95", "(0)", "0.05", "(0)"],
        ["lambda=0.5", "0.8", "(0.14)", "0.2", "(0.14)"],
        ["lambda=1", "0.5", "(0)", "0.5", "(0)"],
    ]
    assert legend == "* best by gap of val, the split that selects; test selects nothing"


def test_test_data_never_choose_a_point(sweep):
    table = pd.read_csv(sweep / "metrics.csv", keep_default_na=False)
    table.loc[table["split"] == "test", "value"] = 1.0
    table.to_csv(sweep / "metrics.csv", index=False)
    assert [
        line.values["point"] for line in show_runs([sweep]) if isinstance(line, Row) and line.table == "points"
    ] == ["lambda=2", "lambda=0.5", "lambda=1"]
    table[table["split"] != "val"].to_csv(sweep / "metrics.csv", index=False)
    assert not any(line.startswith("* lambda") for line in show_runs([sweep]))  # nothing to choose by


def test_of_equal_points_the_average_on_validation_data_decides(sweep):
    table = pd.read_csv(sweep / "metrics.csv", keep_default_na=False)
    table.loc[(table["split"] == "val"), "value"] = 0.5
    averages = table[table["metric"] == "gap"].assign(metric="average_accuracy", value=table["lambda"] % 2)
    pd.concat([table, averages]).to_csv(sweep / "metrics.csv", index=False)
    points = [line.values["point"] for line in show_runs([sweep]) if isinstance(line, Row) and line.table == "points"]
    assert points == ["lambda=1", "lambda=0.5", "lambda=2"]
    assert "* best by gap, then average_accuracy of val" in said(show_runs([sweep]))


def test_each_of_equally_good_points_has_the_star(sweep):
    table = pd.read_csv(sweep / "metrics.csv", keep_default_na=False)
    table.loc[(table["split"] == "val") & (table["lambda"] < 2), "value"] = 0.99
    table.to_csv(sweep / "metrics.csv", index=False)
    starred = [line.split()[1] for line in show_runs([sweep]) if line.startswith("* lambda")]
    assert starred == ["lambda=0.5", "lambda=1"]


def test_points_with_different_numbers_of_seeds_show_them(sweep):
    head, *points, _ = said(show_runs([made("erm", {None: {0: 0.4}}), sweep])).splitlines()[-6:]
    assert head.split()[-1] == "seeds" and sorted(line.split()[-1] for line in points) == ["1", "2", "2", "2"]


def test_with_groups_a_sweep_shows_each_point_too(sweep):
    text = said(show_runs([sweep], groups=True))
    first, second = text.split("\nlambda=1\n")
    assert "\nlambda=0.5\n" in first and second.splitlines()[1].split()[-6:-4] == ["0.5", "(0)"]


def test_what_a_run_shows_is_json_for_programs(sweep):
    run = made("erm", {None: {0: 0.1, 1: 0.3}}, "s0-1")
    table = json.loads(format_json(show_runs([run], groups=True)))["metrics"]
    assert [(row["metric"], row["group"]) for row in table] == [("gap", ""), ("accuracy", "3")]
    assert table[0]["validation"] == pytest.approx(0.8) and table[0]["best"] == pytest.approx(0.2)
    assert table[0]["last"] == 9 and table[0]["seeds"] == 2
    assert table[1]["last"] is None  # JSON has no NaN
    points = json.loads(format_json(show_runs([sweep])))["points"]
    measured = {"point": "lambda=2", "rank": 1, "seeds": 2, "gap validation": 0.95, "gap best": 0.05}
    assert points[0] == measured | {"run": "results/runs/colored_digits/erm+lambda=0.5~1~2"}


def test_a_deviation_of_equal_values_is_zero():
    assert format_spread([0.1 + 0.2, 0.3]) == "0.3 (0)" and format_spread([0.25]) == "0.25"


def test_what_has_no_metrics_is_refused():
    with pytest.raises(SettingError, match="only results/runs"):
        said(show_runs([Path("results/stage1/colored_digits/erm/s0")]))
    with pytest.raises(InputError, match="make it with snakemake"):
        said(show_runs([Path("results/runs/colored_digits/erm/s0")]))
    with pytest.raises(SettingError, match="only results/runs"):
        said(show_runs([Path("results/data/colored_digits")]))


def test_a_split_that_was_not_measured_is_named_with_those_that_were():
    folder, about = made("erm", {None: {0: 0.1}}), Path("results/data/colored_digits/about.json")
    table = pd.read_csv(folder / "metrics.csv", keep_default_na=False)
    table.replace({"split": {"test": "test_ood"}}).to_csv(folder / "metrics.csv", index=False)
    with pytest.raises(
        InputError,
        match=r"no metrics of the split test, .*splits: test_ood, train, val; .*about\.json, .* is not there",
    ):
        said(show_runs([folder]))
    write_json(about, {"colored_digits": {"headline": "other"}})
    with pytest.raises(InputError, match=r"no metrics of the split other, .*splits: test_ood, train, val$"):
        said(show_runs([folder]))
    write_json(about, {"colored_digits": {"headline": "test_ood"}})
    assert "test_ood, best step" in said(show_runs([folder]))


def test_data_cannot_differ():
    folders = [Path(f"results/data/{name}") for name in ("colored_digits", "domain_digits")]
    for folder in folders:
        write_json(folder / "about.json", {folder.name: {"headline": "test"}})
    for pair in (folders, [made("erm", {None: {0: 0.1}}), folders[0]]):
        with pytest.raises(SettingError, match=r"results/data/colored_digits.*: data, which no run is"):
            said(show_difference(*pair))


def test_two_runs_differ_in_settings_and_metrics():
    folders = (
        made("erm", {None: {0: 0.25}}, epochs=12, decay="none"),
        made("erm+epochs=3", {None: {0: 0.75}}, epochs=3, decay="none"),
    )
    text = said(show_difference(*folders))
    assert text.splitlines()[:2] == ["epochs: 12 | 3", "seed 0"]
    assert "code: the same" in text and "decay" not in text
    assert "9" not in text.split()  # the value of rows that no table shows
    assert text.splitlines()[-1].split() == ["gap", "0.25", "0.75", "+0.5"]
    assert "code" not in said(show_difference(folders[0], made("jtt", {None: {0: 0.5}})))


def test_columns_do_not_run_together():
    folders = made("erm", {None: {0: 0.0007334, 1: 0.0007164}}), made("erm+epochs=3", {None: {0: 0.00059, 1: 0.000525}})
    *_, last = show_difference(*folders)
    assert last.split() == ["gap", "0.0007249", "(1.2e-05)", "0.0005575", "(4.6e-05)", "-0.000167"]


def test_sweeps_differ_point_by_point_and_in_the_values_of_a_setting():
    folders = (
        made("erm+lambda=0.5~1", {0.5: {0: 0.1}, 1.0: {0: 0.2}}),
        made("erm+lambda=1~2", {1.0: {0: 0.7}, 2.0: {0: 0.9}}),
    )
    text = said(show_difference(*folders))
    assert text.splitlines()[0] == "lambda: 0.5 ~ 1 | 1 ~ 2" and "points" not in text
    assert text.count("gap") == 1 and text.splitlines()[-3] == "lambda=1"
    assert text.splitlines()[-1].split() == ["gap", "0.2", "0.7", "+0.5"]


def test_each_point_is_compared_with_a_run_that_sweeps_nothing():
    text = said(
        show_difference(made("erm", {None: {0: 0.1}}), made("erm+lambda=0.5~1", {0.5: {0: 0.2}, 1.0: {0: 0.4}}))
    )
    assert [line.split()[-1] for line in text.splitlines() if line.startswith("gap")] == ["+0.1", "+0.3"]
    assert "\nlambda=0.5\n" in text and "\nlambda=1\n" in text


def test_sweeps_without_a_point_in_common_are_not_compared():
    folders = [made(f"erm+{key}=1~2", {1: {0: 0.1}, 2: {0: 0.2}}, key=key) for key in ("lambda", "width")]
    with pytest.raises(SettingError, match=r"2 points \(lambda=1, lambda=2\) against 2 others.*despur show"):
        said(show_difference(*folders))


def test_other_seeds_are_said_and_their_spread_shown():
    text = said(
        show_difference(made("erm", {None: {0: 0.1, 1: 0.2, 2: 0.3}}, "s0-2"), made("erm", {None: {3: 0.5}}, "s3"))
    )
    assert "seeds 0-2 | seed 3: a change may be the seeds'" in text
    assert text.splitlines()[-1].split() == ["gap", "0.2", "(0.1)", "0.5", "+0.3"]
    assert format_seeds([0, 2, 3]) == "seeds 0, 2, 3"


def test_a_change_has_its_interval_where_the_same_three_seeds_have_it():
    """Differences .1, .2, .3: mean .2, deviation .1, Student's t with 2 degrees of freedom."""
    first, second = {0: 0.1, 1: 0.5, 2: 0.2}, {0: 0.2, 1: 0.7, 2: 0.5}
    folders = made("erm", {None: first}, "s0-2"), made("erm+epochs=3", {None: second}, "s0-2")
    half = stats.t.isf(0.025, 2) * 0.1 / 3**0.5
    assert said(show_difference(*folders)).splitlines()[-1].endswith(f"+0.2  [{0.2 - half:+.3g}, {0.2 + half:+.3g}]")
    equal = made("erm", {None: {0: 0.1, 1: 0.2, 2: 0.4}}, "s0-2"), made("jtt", {None: {0: 0.2, 1: 0.3, 2: 0.5}}, "s0-2")
    assert "[" not in said(show_difference(*equal)).splitlines()[-1]  # what rounding makes is no interval
    folders = made("erm", {None: first}, "s0-2"), folders[1]
    (row,) = json.loads(format_json(show_difference(*folders)))["metrics"]
    assert (row["low"], row["high"]) == (pytest.approx(0.2 - half), pytest.approx(0.2 + half))


def test_runs_differ_in_the_metrics_of_their_headline_split():
    folders = made("erm", {None: {0: 0.25}}), made("erm+epochs=3", {None: {0: 0.75}})
    write_json(Path("results/data/colored_digits/about.json"), {"colored_digits": {"headline": "train"}})
    title, last = said(show_difference(*folders)).splitlines()[-2:]
    assert title.startswith("train, best step") and last.split() == ["gap", "9", "9", "+0"]
    assert {
        (row["split"], row["selection"]) for row in json.loads(format_json(show_difference(*folders)))["metrics"]
    } == {("train", "best")}


@pytest.mark.parametrize("name", ["metrics.csv", "about.json"])
@pytest.mark.parametrize("size", [0, 10, 0.5, -5])
def test_a_broken_file_is_named(name, size):
    folder = made("erm", {None: {0: 0.1, 1: 0.3}}, "s0-1")
    file = folder / name
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2 if size == 0.5 else size])
    for command in (show_difference, lambda *folders: show_runs(folders[:1]))[: 1 + (name == "metrics.csv")]:
        with pytest.raises(InputError) as error:
            list(command(folder, folder))
        assert str(error.value).startswith(f"{file} is broken (") and "\n" not in str(error.value)


def test_a_broken_file_of_its_data_is_named():
    data = Path("results/data/colored_digits/about.json")
    folder = made("erm", {None: {0: 0.1}})
    data.parent.mkdir(parents=True)
    data.write_text('{"colored')
    with pytest.raises(InputError, match=f"^{data} is broken .*: delete .*, then: snakemake results.*"):
        list(show_runs([folder]))


def test_a_run_that_is_not_made_cannot_differ():
    with pytest.raises(InputError, match=r"make it with snakemake results/runs/colored_digits/erm/s1/metrics\.csv"):
        said(show_difference(made("erm", {None: {0: 0.25}}), Path("results/runs/colored_digits/erm/s1")))
    absolute = Path("results/runs/colored_digits/erm/s1").absolute()
    with pytest.raises(InputError, match=r"make it with snakemake results/runs"):
        said(show_runs([absolute]))


def test_a_name_that_does_not_exist_is_said_before_what_is_not_made():
    wrong = Path("results/runs/colored_digits/jttt/s0")
    for lines in (show_runs([wrong]), show_difference(made("erm", {None: {0: 0.25}}), wrong)):
        with pytest.raises(SettingError, match="did you mean jtt"):
            said(lines)


def test_a_selection_that_was_kept_is_shown_and_its_metric_chooses_the_point():
    """Worst classes have the opposite order of worst groups; a method with one step has no other."""
    numbers = {"0.1": (0.9, 0.2), "0.2": (0.5, 0.6)}  # of each learning rate: worst group, worst class
    name = "erm+learning_rate=0.1~0.2+selections=rules"
    rows = [
        {"dataset": "colored_digits", "method": "erm", "learning_rate": float(point), "seed": 0, "split": split}
        | {"selection": selection, "metric": metric, "group": "", "value": value + shift}
        for point, values in numbers.items()
        for split, shift in (("val", 0.0), ("test", 0.01))
        for selection in ("best", "last", "worst_class_accuracy")
        for metric, value in zip(("worst_group_accuracy", "worst_class_accuracy"), values, strict=True)
    ]
    folder = Path(f"results/runs/colored_digits/{name}/s0")
    write_run(folder, rows)
    for selection, first in (("best", "learning_rate=0.1"), ("worst_class_accuracy", "learning_rate=0.2")):
        lines = [line for line in show_runs([folder], selection=selection) if isinstance(line, Row)]
        assert next(line.values["point"] for line in lines if line.table == "points") == first
        metric = "worst_group_accuracy" if selection == "best" else selection
        assert lines[0].values["best_point_by"] == metric
    with pytest.raises(InputError, match=r"selection loss, but best, last, worst_class_accuracy$"):
        list(show_runs([folder], selection="loss"))
    with pytest.raises(InputError, match="selections=rules"):
        list(show_runs([made("erm", {None: {0: 0.1}})], selection="balanced_accuracy"))
    fitted = Path("results/runs/colored_digits/dfr/s0")
    write_run(fitted, [{**row, "method": "dfr"} for row in rows[:8] if row["selection"] != "worst_class_accuracy"])
    list(show_runs([fitted], selection="worst_class_accuracy"))


def test_the_oracle_is_a_column_of_its_own_and_changes_no_other():
    """Of each seed the kept step that is best on test data; validation prefers another one."""
    folder = Path("results/runs/colored_digits/erm+selections=rules/s0-1")
    test = {"best": (0.5, 0.6), "last": (0.7, 0.1), "worst_class_accuracy": (0.6, 0.8)}  # of two seeds
    rows = [
        {"dataset": "colored_digits", "method": "erm", "seed": seed, "split": split, "selection": selection}
        | {"metric": "worst_group_accuracy", "group": "", "value": values[seed] if split == "test" else 0.9}
        for selection, values in test.items()
        for split in ("val", "test")
        for seed in (0, 1)
    ]
    write_run(folder, rows)
    (plain,) = json.loads(format_json(show_runs([folder])))["metrics"]
    lines = list(show_runs([folder], oracle=True))
    (told,) = json.loads(format_json(lines))["metrics"]
    assert told["oracle"] == pytest.approx(0.75) and plain.items() <= told.items()
    assert "test, oracle step" in said(lines) and lines[-1].endswith("worst_group_accuracy of test; for analysis only")
