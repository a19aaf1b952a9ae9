"""The paper fair_cl: what is selected, what is derived, and that every number is one of the runs'."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from making import make_table, row_of, write_run
from scipy import stats

from despur.evidence.numbers.rows import read_by_seed
from despur.evidence.numbers.verdicts import JUDGED_COLUMNS
from despur.metrics.fairness import tradeoff
from despur.metrics.resampling import counts
from despur.orchestration import paper_folders
from despur.orchestration.experiments import ArtifactRun
from despur.papers.fair_cl import figures, selections, tables, two_classes
from despur.reporting.figures import COLUMN, label_rows
from despur.specs.resolution import draw_for_seeds
from despur.storage.store import Dataset

PAPER = paper_folders.PAPERS / "fair_cl"
DATA = "scene_embeddings"
SHARES = ("average_accuracy", "gap", "leakage_representations", "leakage_logits", "leakage_representations_nonlinear")
CE, CON, FT = (0.70, 0.40, 0.85, 0.70, 0.9), (0.76, 0.14, 0.56, 0.55, 0.6), (0.74, 0.16, 0.58, 0.56, 0.6)


@pytest.fixture
def artifact_run(tmp_path, monkeypatch):
    """Makes made-up runs of a method: ``points`` are (specification, settings, test values, validation accuracy and
    GAP)."""
    monkeypatch.chdir(tmp_path)

    def make(printed, points, name, paper_dataset="moji", dataset=DATA, seconds=1.0, artifact="table_1"):
        rows, runs = [], {}
        for method, settings, values, validation in points:
            for seed in (0, 1, 2):
                data = draw_for_seeds(dataset, [seed])
                own = {"dataset": data, "method": method, **settings, "seed": seed, "group": ""}
                shift = 0.02 * (seed - 1)
                test = [(m, "", v + shift) for m, v in zip(SHARES, values, strict=True)]
                test.append(("samples", "a", 50.0))
                rows += [own | {"split": "test", "metric": m, "group": g, "value": v} for m, g, v in test]
                selecting = zip(SHARES, validation, strict=False)
                rows += [own | {"split": "val", "metric": m, "value": v} for m, v in selecting]
                runs[f"{data}/{method}/s{seed}"] = {"seconds": seconds}
        noise = np.linspace(-0.02, 0.02, 5) * (1 + 1e-4 * len(printed) * len(dataset))  # hardly differs
        folder = write_run(tmp_path / "results/runs" / dataset / name / "s0-2", rows, noise, {"runs": runs})
        return ArtifactRun(paper_dataset, dataset, printed, (folder,), artifact)

    return make


@pytest.fixture
def moji(artifact_run):
    """CE, Con-ft and a sweep of Con: ratio 1 is selected (near the best accuracy, lower GAP) though ratio .1 is better
    on test data."""
    con = [
        ("con", {"parts": "both", "ratio": 1}, CON, (0.795, 0.10)),
        ("con+ratio=0.1", {"parts": "both", "ratio": 0.1}, (0.99, 0.01, 0.5, 0.5, 0.5), (0.80, 0.20)),
        ("con+ratio=10", {"parts": "both", "ratio": 10}, (0.99, 0.01, 0.5, 0.5, 0.5), (0.70, 0.01)),
        ("con+parts=scl", {"parts": "scl", "ratio": 1}, (0.71, 0.5, 0.9, 0.8, 0.9), (0.7, 0.5)),
    ]
    return [
        artifact_run("ce", [("erm", {}, CE, (0.7, 0.4))], "erm", seconds=2.0),
        artifact_run("con_ft", [("con_ft", {}, FT, (0.7, 0.2))], "con_ft", seconds=1.0),
        artifact_run("con", con, "con+parts=both~scl+ratio=0.1~1~10", seconds=3.0),
    ]


def made(name, artifact_runs, tmp_path):
    return make_table(tables, name, artifact_runs, tmp_path)[0]


def test_validation_data_select_and_test_data_are_shown(moji, tmp_path):
    table = made("table_1", moji, tmp_path)
    for metric, value in zip(("accuracy", "tpr_gap", "leakage_h", "leakage_yhat"), CON, strict=False):
        row = row_of(table, paper_dataset="moji", method="con", metric=metric)
        assert row["ours"] == pytest.approx(100 * value) and row["seeds"] == 3 and row["selected"] == "con"
        assert row["ours_std"] == pytest.approx(100 * 0.02)
    assert row_of(table, paper_dataset="moji", method="inlp", metric="accuracy")["verdict"] == "not run here"
    assert set(table.loc[table["seeds"] > 0, "verdict"]) == {"substitute data"}


def test_the_tradeoff_is_of_means_in_tables_and_seed_by_seed_in_claims(moji, artifact_run, tmp_path):
    baselines = [artifact_run(name, [(name, {}, CE, (0.7, 0.2))], name) for name in ("inlp", "adv")]
    table, claims = (made(name, [*moji, *baselines], tmp_path) for name in ("table_1", "claims"))
    assert row_of(claims, claim="con_ft_has_a_better_tradeoff_than_baselines", dataset="moji")["verdict"] == "seen here"
    values = np.transpose([CE, CON, FT])[:4]
    for method, expected in zip(("ce", "con", "con_ft"), tradeoff(*values), strict=True):
        row = row_of(table, paper_dataset="moji", method=method, metric="tradeoff")
        by_seed = [tradeoff(*values + shift)[("ce", "con", "con_ft").index(method)] for shift in (-0.02, 0, 0.02)]
        assert row["ours"] == pytest.approx(expected) and row["ours_std"] == pytest.approx(np.std(by_seed, ddof=1))


def test_without_one_of_the_five_methods_there_is_no_tradeoff(moji, tmp_path):
    table, claims = (made(name, moji, tmp_path) for name in ("table_1", "claims"))
    row = row_of(table, paper_dataset="moji", method="con", metric="tradeoff")
    assert np.isnan(row["ours"]) and row["reason"] == "not computed without inlp, adv"
    assert row_of(table, paper_dataset="moji", method="adv", metric="tradeoff")["verdict"] == "not run here"
    assert (
        row_of(claims, claim="con_ft_has_a_better_tradeoff_than_baselines", dataset="moji")["verdict"] == "not run here"
    )


def test_times_are_relative_to_ce_on_the_papers_data(artifact_run, moji, tmp_path):
    runs = [
        artifact_run("ce", [("erm", {}, CE, (0.7, 0.4))], "erm", dataset="moji", seconds=2.0),
        artifact_run("con_ft", [("con_ft", {}, FT, (0.7, 0.2))], "con_ft", dataset="moji", seconds=1.0),
    ]
    of_time = {"paper_dataset": "moji", "metric": "relative_time"}
    table = made("table_1", runs, tmp_path)
    assert [row_of(table, **of_time, method=name)["ours"] for name in ("ce", "con_ft")] == pytest.approx([1.0, 0.5])
    row = row_of(made("table_1", moji, tmp_path), **of_time, method="con_ft")
    assert np.isnan(row["ours"]) and row["reason"] == "times are compared on the paper's data alone"


def test_times_are_of_all_seeds_where_each_has_a_draw_of_its_own(artifact_run, tmp_path):
    points = {"ce": ("erm", {}, 2.0), "con": ("con", {"parts": "both", "ratio": 1}, 3.0)}
    artifact_runs = [
        artifact_run(printed, [(name, settings, CE, (0.7, 0.4))], name, dataset="moji+draw=seed", seconds=seconds)
        for printed, (name, settings, seconds) in points.items()
    ]
    row = row_of(made("table_1", artifact_runs, tmp_path), paper_dataset="moji", method="con", metric="relative_time")
    assert row["ours"] == pytest.approx(1.5) and row["seeds"] == 3


def test_on_the_paper_s_own_data_numbers_are_judged(artifact_run, tmp_path):
    artifact_runs = [artifact_run("ce", [("erm", {}, CE, (0.7, 0.4))], "erm", dataset="moji")]
    table = made("table_1", artifact_runs, tmp_path)
    # 40.0 against 40.2: seeds spread by two
    assert row_of(table, paper_dataset="moji", method="ce", metric="tpr_gap")["verdict"] == "not known"
    assert row_of(table, paper_dataset="moji", method="ce", metric="leakage_yhat")["difference"] == pytest.approx(
        70 - 70.96
    )
    assert row_of(table, paper_dataset="moji", method="ce", metric="relative_time")["reason"] == "1 by definition"


def draw_ratios(metric, **values):
    """Ratios of methods on Moji, by seed."""
    fixed = {"paper_dataset": "moji", "data": "moji", "split": "test", "selection": "best", "group": ""}
    return pd.DataFrame(
        [
            fixed | {"metric": metric, "paper_method": method, "seed": seed, "value": value}
            for method, each in values.items()
            for seed, value in enumerate(each)
        ]
    )


def judged_ratio(metrics, resamples, reported, ours):
    """The row of Con in a table of one printed ratio, judged."""
    metric = metrics["metric"].iloc[0]
    row = {"metric": metric, "paper_dataset": "moji", "data": "moji", "method": "con", "seeds": 3, "verdict": ""}
    numbers = {"reported": reported, "ours": ours, "difference": ours - reported}
    table = pd.DataFrame([dict.fromkeys([*JUDGED_COLUMNS, "reason"]) | row | numbers]).astype(object)
    tables.judge_ratios(table, metrics, resamples, 10)
    return table.iloc[0]


@pytest.mark.parametrize(("reported", "verdict"), [(2.0, "not known"), (1.9, "not known"), (20.0, "beyond 5")])
def test_times_are_compared_by_logarithms_of_each_seed_s_ratio(reported, verdict):
    """CE's seeds differ by a factor of two; the ratios of the same seed hardly do."""
    metrics = draw_ratios("relative_time", ce=(1.0, 2.0, 4.0), con=(2.0, 4.4, 8.0))
    found = judged_ratio(metrics, pd.DataFrame(), reported, 2.07)
    logs = np.log([2.0, 2.2, 2.0])
    half, mean = stats.t.isf(0.025, 2) * logs.std(ddof=1) / np.sqrt(3), logs.mean() - np.log(reported)
    ends = [reported * np.expm1(mean + sign * half) for sign in (-1, 1)]
    assert [found["low"], found["high"]] == pytest.approx(ends) and found["verdict"] == verdict


@pytest.mark.parametrize("ce", [(1.0, 2.0), None])
def test_times_need_three_seeds_in_common_with_ce(ce):
    metrics = draw_ratios("relative_time", con=(2.0, 4.4, 8.0), **({} if ce is None else {"ce": ce}))
    assert judged_ratio(metrics, pd.DataFrame(), 3.0, 2.07)["would_decide"] == "at least 3 seeds"


def test_a_trade_off_has_the_noise_of_test_data_too():
    metrics = draw_ratios("tradeoff", con=(0.98, 1.0, 0.99))
    columns = pd.DataFrame(np.exp(np.tile([-0.1, 0.1], (3, 50))), columns=[str(i) for i in range(100)])
    drawn = metrics.drop(columns="value").join(columns)
    found = judged_ratio(metrics, drawn, 0.99, 0.99)
    of_seeds = stats.t.isf(0.025, 2) ** 2 * np.log([0.98, 1.0, 0.99]).var(ddof=1) / 3
    half = np.sqrt(of_seeds + stats.norm.isf(0.025) ** 2 * 2 * 0.01 * 100 / 99)
    assert found["high"] == pytest.approx(0.99 * np.expm1(half)) and found["verdict"] == "not known"
    assert "test data" in judged_ratio(metrics, pd.DataFrame(), 0.99, 0.99)["would_decide"]


def test_claims_read_the_selected_settings(moji, tmp_path):
    table = made("claims", moji, tmp_path)
    row = row_of(table, claim="con_lowers_gap", dataset="moji")
    assert row["estimate"] == pytest.approx(CE[1] - FT[1]) and row["verdict"] == "seen here"  # Con-ft is the nearer one
    assert "con_ce_fcl" in row_of(table, claim="both_parts_lower_gap", dataset="moji")["reason"]
    time = row_of(table, claim="con_is_faster_than_adv", dataset="moji")
    assert time["verdict"] == "not run here" and "about a time" in time["reason"]


def test_with_two_classes_against_all(artifact_run, tmp_path, monkeypatch):
    """``on_two``: CE's model of all classes on the two, which is measured from outputs."""
    pair, on_two = f"{DATA}+classes=8-3", dict(zip(SHARES, (0.6, 0.5, 0.9, 0.8), strict=False))
    labels = Dataset(np.zeros((1, 1)), pd.DataFrame({"split": ["test"]}), {"classes": ["a", "b"]})
    monkeypatch.setattr(two_classes, "load_labels", lambda _: labels)
    rows = [{"metric": m, "group": "", "value": v, **{str(i): v for i in range(5)}} for m, v in on_two.items()]
    monkeypatch.setattr(two_classes, "measure_run", lambda *_: rows)
    points = {"ce": ("erm", CE), "con": ("con", CON)}
    two = [
        artifact_run(m, [(n, {}, v, v[:2])], n, "bios_nurse_surgeon", pair, artifact="table_2")
        for m, (n, v) in points.items()
    ]
    every = [artifact_run(m, [(n, {}, CE, CE[:2])], n, "bios", artifact="table_2") for m, (n, _) in points.items()]
    for run in two + every:
        (Path(run.folders[0]) / "outputs.safetensors").touch()
    table = made("claims", two + every, tmp_path)
    row = row_of(table, claim="more_effect_with_two_classes")
    assert row["estimate"] == pytest.approx(CE[1] - CON[1]) and row["verdict"] == "seen here"
    contrasts = row_of(table, claim="two_classes_are_easier")["contrasts"]
    assert "ce - ce_multiclass (average_accuracy): +0.1 " in contrasts


def test_seeds_with_draws_of_their_own_are_of_the_same_data(monkeypatch):
    monkeypatch.setattr(two_classes, "measure_run", lambda *_: [{"value": 0.5}])
    run = ArtifactRun("bios", "moji+draw=seed", "ce", ("results/runs/moji+draw=seed/erm/s0-1",), "table_2")
    head = {"data": "moji", "method": "erm", "split": "test", "selection": "best", "metric": "gap", "group": ""}
    own = [head | {"seed": seed, "value": 0.25, "paper": "fair_cl", "collapsed": seed == 1} for seed in (0, 1)]
    monkeypatch.setattr(two_classes, "load_metrics", lambda _: pd.DataFrame(own))
    rows = list(two_classes.measure_artifact_run(run, ["a", "b"]))
    assert [(row["data"], row["seed"], row["value"]) for row in rows] == [("moji", 0, 0.5), ("moji", 1, 0.5)]
    assert [(row["paper"], row["collapsed"]) for row in rows] == [("fair_cl", False), ("fair_cl", True)]
    monkeypatch.setattr(two_classes, "load_metrics", lambda _: pd.DataFrame(own[:1]))  # seed 1 is not evaluated
    assert [row["seed"] for row in two_classes.measure_artifact_run(run, ["a", "b"])] == [0]


def test_metrics_on_two_of_three_classes():
    y, a = np.array([0, 0, 2, 2, 1] * 2), np.array([0, 1, 0, 1, 0] * 2)
    table = pd.DataFrame({"split": ["train"] * 5 + ["test"] * 5, "y": y, "a": a, "original": range(10)})
    about = {"classes": ["x", "y", "z"], "attributes": ["p", "q"], "select": "val", "headline": "test"}
    logits = np.eye(3)[[0, 0, 2, 2, 1, 0, 1, 2, 2, 0]]
    z = np.where(a == 1, 1.0, -1.0)[:, None]
    found = two_classes.measure_classes(Dataset(z, table, about), z, logits, ["x", "z"], "three", 50)
    assert found["average_accuracy", ""][0] == 0.75
    assert found["gap", ""][0] == pytest.approx(np.sqrt((1 + 0) / 2))
    assert found["leakage_representations", ""][0] == 1.0
    assert sum(value[0] for (metric, _), value in found.items() if metric == "samples") == 4
    drawn = counts("three", np.arange(5, 9), 50)
    hits = np.array([1, 0, 1, 1])
    assert found["average_accuracy", ""] == pytest.approx(drawn @ hits / drawn.sum(axis=1), nan_ok=True)


def test_tuned_baselines_and_intervals(moji, tmp_path):
    table = made("table_beyond", moji, tmp_path)
    row = row_of(table, paper_dataset="moji", method="con")
    assert row["gap"] == pytest.approx(14) and row["leakage_h_nonlinear"] == pytest.approx(60)
    assert row["gap_low"] < 14 < row["gap_high"] and row["kind"] == "the paper's method"
    assert row_of(table, paper_dataset="moji", method="leace")["verdict"] == "not run here"


def test_other_rules_select_from_the_same_sweep(artifact_run, tmp_path):
    validation = {"0.1": (0.80, 0.18), "1": (0.795, 0.179), "10": (0.70, 0.01)}
    sweep = [
        (
            "con" if r == "1" else f"con+ratio={r}",
            {"parts": "both", "ratio": r},
            (0.5, float(r) / 100, 0.5, 0.5, 0.5),
            v,
        )
        for r, v in validation.items()
    ]
    artifact_runs = [
        artifact_run("con", sweep, "con+ratio=0.1~1~10"),
        artifact_run("con_ft", [("con_ft", {}, FT, (0.99, 0.01))], "con_ft"),
    ]
    table = made("table_selection", artifact_runs, tmp_path)
    picked = {rule: row_of(table, paper_dataset="moji", method="con", rule=rule) for rule in selections.RULES}
    selected = {"near_best_accuracy": "con", "dto": "con+ratio=10", "dto_shared": "con+ratio=0.1"}
    assert {rule: row["selected"] for rule, row in picked.items()} == selected
    assert all(row["on_front"] and row["settings"] == row["seeds"] == 3 for row in picked.values())
    assert picked["dto"]["val_gap"] == pytest.approx(1) and picked["dto"]["gap"] == pytest.approx(10)
    text = (tmp_path / "table_selection.md").read_text()
    assert "near best accuracy" in text and "con_ft" not in text  # of which one setting was run


def test_points_on_the_pareto_front_are_marked_method_by_method(artifact_run):
    values = {"0.1": (0.80, 0.1, 0.8), "1": (0.78, 0.1, 0.6), "10": (0.75, 0.1, 0.7)}  # ratio 10 is beaten by 1
    sweep = [(f"con+ratio={r}", {"parts": "both", "ratio": r}, (*v, 0.5, 0.5), (0.7, 0.1)) for r, v in values.items()]
    single = [("adv+discriminators=1", {"discriminators": 1, "weight": 1}, (0.1, 0.9, 0.9, 0.9, 0.9), (0.7, 0.1))]
    table = figures.list_points(
        [artifact_run("con", sweep, "con+ratio=0.1~1~10"), artifact_run("adv", single, "adv+discriminators=1~3")]
    )
    front = table.set_index("method")["pareto"].to_dict()
    assert front == {"con+ratio=0.1": True, "con+ratio=1": True, "con+ratio=10": False, "adv+discriminators=1": True}
    assert set(table["paper_method"]) == {"con", "adv_single"} and table["average_accuracy"].max() == pytest.approx(80)
    assert table.set_index("method")["strength"].to_dict() == {
        "con+ratio=0.1": 0.1,
        "con+ratio=1": 1,
        "con+ratio=10": 10,
        "adv+discriminators=1": 0.8,  # as stated for Moji
    }


def test_the_strength_of_points_that_lie_together_is_written_once():
    points = np.array([[86.7, 86.8], [86.6, 86.9], [86.2, 86.5], [84.0, 86.5]])
    assert figures.join_neighbors(points) == [[0, 1, 2], [3]]
    assert figures.join_neighbors(points, 0.3) == [[0, 1], [2], [3]]


def test_the_names_of_bars_stand_apart():
    figure, (row,) = label_rows(["Moji"], 4, 2 * COLUMN, 1.75)
    for axis in row:
        values = pd.DataFrame({"paper_method": figures.PARTS, "value": 80.0})
        figures.draw_bars(axis, values, "Leakage@h, %")
    figure.canvas.draw()
    for axis in row:
        boxes = [label.get_window_extent() for label in axis.get_xticklabels()]
        assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
    plt.close(figure)


def test_a_figure_shows_the_data_sets_on_which_there_is_something_to_compare():
    told = figures.choose_datasets
    table = pd.DataFrame(
        {
            "paper_dataset": ["moji", "moji", "bios", "bios"],
            "used_dataset": "x",
            "paper_method": ["con", "con", "con", "ce"],
            "method": list("abca"),
        }
    )
    assert [name for name, _ in told(table, ["con"], 2)] == ["Moji, substitute: x"]
    assert len(told(table, ["con"], 3)) == 2


@pytest.mark.parametrize(("spec", "verdict"), [("con+epochs=2", "other settings"), ("con", "not known")])
def test_leakage_at_other_settings_is_not_compared(artifact_run, spec, verdict, tmp_path):
    at = {"con": (spec, {"parts": "both", "ratio": 1}, CON, (0.7, 0.1)), "con_ft": ("con_ft", {}, FT, (0.7, 0.2))}
    runs = [artifact_run(name, [point], point[0], dataset="moji") for name, point in at.items()]
    found = row_of(made("prose", [replace(run, paper="fair_cl") for run in runs], tmp_path), metric="leakage_approx")
    assert found["verdict"] == verdict and np.isnan(found["difference"]) == (spec != "con")
    assert "epochs=2" in str(found["reason"]) or spec == "con"


def test_prose_reads_con_s_leakage(moji, tmp_path):
    found = row_of(made("prose", moji, tmp_path), metric="leakage_approx")
    expected = 100 * np.mean([CON[2], CON[3], FT[2], FT[3]])
    by_seed = [*read_by_seed(found["by_seed"])]
    assert by_seed == pytest.approx([expected - 2, expected, expected + 2])
