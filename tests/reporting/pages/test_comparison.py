"""The cross-paper matrix: which runs it takes, ranks and comparisons with known answers."""

import json
import math
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers import quick
from hypothesis import given
from hypothesis import strategies as st
from making import write_run
from project import SOURCE
from scipy import stats

from despur.evidence.claims.measured_values import MeasuredValues
from despur.evidence.runs.artifact_metrics import load_metrics
from despur.evidence.statistics.contrasts import LEVEL
from despur.orchestration import artifact_files, configuration, matrix, paper_folders, plan
from despur.orchestration.experiments import ArtifactRun
from despur.orchestration.trials import list_trials
from despur.reporting import tables
from despur.reporting.pages import comparison
from despur.reporting.pages.comparison import METRICS, compare
from despur.reporting.pages.matrix_figure import format_entries, format_entry, name_methods, name_runs
from despur.reporting.pages.ranking import find_ranks, is_near_chance
from despur.specs.paths import locate_result
from despur.specs.resolution import resolve
from despur.specs.settings import SettingError
from despur.storage.store import write_json

CONFIG = {
    "papers": ["cnc"],
    "seeds": 3,
    "datasets": {"waterbirds": {"data": "scene_digits", "methods": ["erm", "cnc", "cnc_one_sided"]}},
    "artifacts": {"cnc": {"table_a4": {"seeds": {"cnc_one_sided": 1}}}},
}


def names(**asked):
    return {
        artifact_run.paper_method: artifact_run.folders
        for artifact_run in matrix.list_artifact_runs(CONFIG | {"matrix": {"data": "scene_digits", **asked}})
    }


def test_runs_that_papers_make_with_these_seeds_are_taken_as_they_are():
    assert names() == {name: (f"results/runs/scene_digits/{name}/s0-2",) for name in ("erm", "cnc")}
    assert set(names(seeds=1)) == {"cnc_one_sided"}


def test_further_methods_come_after_and_a_run_comes_once():
    asked = names(methods={"erm": "erm", "con": "con+ratio=0.1", "leace": "leace"})
    assert list(asked) == ["erm", "cnc", "con", "leace"]
    assert asked["con"] == ("results/runs/scene_digits/con+ratio=0.1/s0-2",)
    with pytest.raises(SettingError, match=r"matrix\.methods\.erm=erm\+epochs=3: papers .* another run .*, erm: call"):
        names(methods={"erm": "erm+epochs=3"})
    for methods, other in (({"ce": "erm"}, "erm"), ({"a": "leace", "b": "leace"}, "a")):
        with pytest.raises(SettingError, match=f": is the run of {other}, too: leave one of them out"):
            names(methods=methods)


def test_the_figure_calls_methods_as_other_figures_do():
    shown = name_methods(["resample", "erm", "mine_too"], near_chance={"erm"})
    assert shown == ["RWG", "ERM (near chance)", "mine too"]


def test_without_a_matrix_there_is_nothing_and_a_misspelled_method_is_refused():
    assert matrix.list_artifact_runs(CONFIG) == matrix.list_outputs(CONFIG) == matrix.list_inputs(CONFIG) == []
    with pytest.raises(SettingError, match="did you mean con"):
        names(methods={"con": "con_"})


def test_settings_are_those_of_all_methods_and_of_their_stage_1():
    spelled = {"erm": "erm", "dfr": "dfr+fits=2", "crt": "crt", "jtt": "jtt", "own": "erm+criterion=last+encoder=mlp"}
    rule, settings = "worst_class_accuracy", {"criterion": "worst_class_accuracy", "encoder": "convnet"}
    asked = {
        name: locate_result(folders[0]).name for name, folders in names(methods=spelled, settings=settings).items()
    }
    assert asked == {
        "erm": f"erm+criterion={rule}+encoder=convnet",
        "dfr": f"dfr+fits=2+stage1.criterion={rule}+stage1.encoder=convnet",
        "crt": f"crt+criterion={rule}+stage1.criterion={rule}+stage1.encoder=convnet",
        "jtt": f"jtt+criterion={rule}+encoder=convnet+stage1.encoder=convnet",
        "own": "erm+criterion=last+encoder=mlp",
    }
    config = CONFIG | {"matrix": {"data": "scene_digits", "trials": 3, "methods": spelled, "settings": settings}}
    assert all(f"+criterion={rule}+encoder=convnet+" in folder for folder in list_trials(config)["erm"][1:])
    with pytest.raises(SettingError, match=r"matrix\.settings\.epoch: no method of matrix\.methods has"):
        names(methods=spelled, settings={"epoch": 3})
    with pytest.raises(SettingError, match=r"matrix\.settings, on erm: .*epochs"):
        names(methods=spelled, settings={"epochs": "many"})


def test_settings_of_components_and_truth_values_are_spelled_as_in_names():
    asked = names(
        methods={"con": "con", "george": "george"}, settings={"encoder.dropout": 0.1, "encoder": "convnet", "epochs": 2}
    )
    assert {name: locate_result(folders[0]).name for name, folders in asked.items()} == {
        "con": "con+encoder=convnet+encoder.dropout=0.1+epochs=2",
        "george": "george+encoder=convnet+encoder.dropout=0.1+epochs=2+stage1.encoder=convnet",
    }
    (folder,) = names(methods={"cnc": "cnc"}, settings={"shrink": True})["cnc"]
    assert locate_result(folder).name == "cnc+shrink=true"


def test_where_no_method_runs_on_its_data_there_is_no_matrix():
    config = CONFIG | {"matrix": {"data": "scene_digits+draw=7"}}
    assert matrix.list_artifact_runs(config) == matrix.list_outputs(config) == matrix.list_inputs(config) == []


@pytest.mark.parametrize("name", ["mnist", "published"])
def test_the_matrix_of_real_data_adds_no_job_to_those_of_the_papers(name):
    config = configuration.load_configuration(SOURCE / f"config/{name}.yaml")
    artifacts = [
        (paper, artifact) for paper in config["papers"] for artifact in artifact_files.list_artifacts(config, paper)
    ]
    papers = plan.list_jobs_behind(file for pair in artifacts for file in artifact_files.list_inputs(config, *pair))
    own = plan.list_jobs_behind(matrix.list_inputs(config))
    assert len(matrix.list_artifact_runs(config)) >= 11 and own <= papers


def test_the_bundled_matrix_has_methods_of_several_papers_and_at_most_15_further_processes():
    config = configuration.load_configuration(paper_folders.PAPERS.parents[2] / "config.yaml")
    found = matrix.list_artifact_runs(config)
    assert len({paper for artifact_run in found for paper in matrix.list_papers(artifact_run)}) >= 3
    assert {"erm", "jtt", "cnc", "gdro", "con", "standard_cl"} <= {artifact_run.paper_method for artifact_run in found}
    # train and evaluate each, one further stage 1, the matrix
    assert 2 * len(config["matrix"]["methods"]) + 1 + 1 <= 15


def series(value, noise, seeds=(-0.1, 0, 0.1)):
    """A method's values by seed, then those on bootstrap samples, which shift all seeds alike."""
    by_seed = value + np.array(seeds, float)
    return np.column_stack([by_seed, by_seed[:, None] + np.resize(noise, 200)])


def test_ranks_and_what_refutes_them_by_hand():
    """Methods that nearly share their seeds' noise: differences vary little but for test data, of 1 around three."""
    noise = np.resize([-1.0, 1.0], 200)
    found = {"erm": series(10, 0), "same": series(10.5, noise)}
    found |= {"far": series(20, noise, (-0.1, 0.01, 0.1)), "low": series(1, noise, (-0.1, 0, 0.11))}
    better = find_ranks(found, higher_is_better=True)
    assert {name: row["rank"] for name, row in better.items()} == {"far": 1, "same": 2, "erm": 3, "low": 4}
    shown = {name: (row["rank_low"], row["rank_high"]) for name, row in better.items()}
    assert shown == {"far": (1, 1), "same": (2, 3), "erm": (2, 3), "low": (4, 4)}
    assert {name: row["versus_erm"] for name, row in better.items()} == {
        "erm": "",
        "same": "undecided",
        "far": "helps",
        "low": "hurts",
    }
    worse = find_ranks(found, higher_is_better=False)
    assert worse["low"]["rank"] == 1 and worse["far"]["versus_erm"] == "hurts"


def test_comparisons_are_corrected_for_the_number_of_other_methods():
    """Just enough for one comparison, but not for two."""
    half = stats.t.isf(LEVEL, 2) * 0.1 / math.sqrt(3)
    base, near, far = (
        np.array([[v]]) + np.array([[a], [b], [c]])
        for v, a, b, c in ((0, 0, 0, 0), (half * 1.01, -0.1, 0, 0.1), (50, 1, 0, 2))
    )
    assert find_ranks({"erm": base, "near": near}, True)["near"]["versus_erm"] == "helps"
    assert find_ranks({"erm": base, "near": near, "far": far}, True)["near"]["versus_erm"] == "undecided"


def test_what_varies_with_nothing_has_ranks_that_nothing_refutes():
    same = {"erm": series(900, [0], [0, 0, 0]), "cnc": series(1000, [0], [0, 0, 0])}
    assert find_ranks(same, False) == {"erm": {"rank": 1}, "cnc": {"rank": 2}}
    assert find_ranks({}, True) == {}


def test_methods_that_share_their_noise_are_told_apart():
    """The same seeds and originals for all: what moves them together does not blur their order."""
    noise = np.random.default_rng(0).normal(0, 5, 200)
    found = find_ranks({"erm": series(10, noise), "cnc": series(10.1, noise, (-0.1, 0, 0.101))}, True)
    assert (found["cnc"]["rank_low"], found["cnc"]["rank_high"], found["cnc"]["versus_erm"]) == (1, 1, "helps")


@pytest.mark.parametrize(("seeds", "verdict"), [(1, "undecided"), (2, "undecided"), (3, "helps")])
def test_a_method_helps_by_the_rule_of_claims(seeds, verdict):
    values = {"erm": (1, [0.0, 0.1, 0.2]), "far": (20, [0.0, 0.1, 0.21])}
    found = {name: series(value, [-0.1, 0.1], each[:seeds]) for name, (value, each) in values.items()}
    assert find_ranks(found, True)["far"]["versus_erm"] == verdict


@quick
@given(st.lists(st.integers(0, 5), min_size=2, max_size=6), st.booleans())
def test_ranks_sum_to_what_they_must_and_ties_share(values, higher):
    found = find_ranks({str(i): series(float(v), [-0.1, 0.1]) for i, v in enumerate(values)}, higher)
    got = [row["rank"] for row in found.values()]
    assert sum(got) == pytest.approx(len(values) * (len(values) + 1) / 2)
    assert all((values[i] == values[j]) == (got[i] == got[j]) for i in range(len(values)) for j in range(i))
    assert all(row["rank_low"] <= row["rank"] <= row["rank_high"] for row in found.values())


MACHINE = {"machine": "Linux", "processor": "a processor"}


def run(root, name, worst, seconds, memory=500.0, probe=False):
    """The files of a run folder: three seeds, one metric and its bootstrap values."""
    metric = "probe_accuracy" if probe else "worst_group_accuracy"
    head = {"dataset": "scene_digits", "method": name, "split": "test", "metric": metric}
    rows = [head | {"seed": seed, "value": value} for seed, value in enumerate(worst)]
    runs = {
        f"scene_digits/{name}/s{seed}": {"seconds": seconds, "steps": 1 if name == "leace" else 100 + seed}
        for seed in range(3)
    }
    about = MACHINE | {"device": "cpu", "seconds": 9.0, "peak_memory_mb": memory, "runs": runs}
    folder = write_run(root / f"runs/scene_digits/{name}/s0-2", rows, np.linspace(-0.02, 0.02, 200), about)
    return ArtifactRun("scene_digits", "scene_digits", name, (folder,), "matrix")


@pytest.fixture
def artifact_runs(tmp_path):
    write_json(
        tmp_path / "stage1/scene_digits/erm+epochs=8/s0-2/about.json",
        MACHINE
        | {"device": "cpu", "peak_memory_mb": 800.0}
        | {"runs": {f"scene_digits/erm+epochs=8/s{s}": {"seconds": 4.0} for s in range(3)}},
    )
    groups = MACHINE | {"peak_memory_mb": 100.0, "seconds": 0.1}  # they name no device
    write_json(tmp_path / "groups/scene_digits/oracle/s0-2/about.json", groups)
    return [
        run(tmp_path, "erm", [0.2, 0.25, 0.3], 5.0),
        run(tmp_path, "leace", [0.7, 0.74, 0.81], 1.0),
        run(tmp_path, "simclr", [0.9, 0.9, 0.9], 7.0, probe=True),
    ]


def test_a_row_for_each_method_and_metric(artifact_runs):
    table = compare(artifact_runs).set_index(["method", "metric"])
    assert len(table) == 3 * len(METRICS)
    worst = table.xs("worst_group_accuracy", level="metric")
    assert worst["value"].to_dict() == pytest.approx({"erm": 25, "leace": 75, "simclr": math.nan}, nan_ok=True)
    assert worst.loc["erm", "std"] == pytest.approx(100 * np.std([0.2, 0.25, 0.3], ddof=1))
    assert worst["rank"].to_dict() == pytest.approx({"erm": 2, "leace": 1, "simclr": math.nan}, nan_ok=True)
    assert worst.loc["leace", "versus_erm"] == "helps"
    assert table.xs("gap", level="metric")["value"].isna().all()


def by_class(accuracies):
    """Accuracies of two classes by seed, (seeds,2), as a table."""
    keys = {"paper_method": "erm", "split": "test", "selection": "best", "metric": "class_average_accuracy"}
    return pd.DataFrame(
        [
            keys | {"seed": seed, "group": group, "value": value}
            for seed, pair in enumerate(accuracies)
            for group, value in zip(("3", "5"), pair, strict=True)
        ]
    )


@pytest.mark.parametrize(
    ("accuracies", "expected"),
    [
        ([(1, 0), (0, 1), (1, 0)], True),  # constant predictions
        ([(0.9, 0.29)] * 3, True),  # 0.595 of two classes
        ([(0.9, 0.31)] * 3, False),
        ([(0.9, 0.1), (0.9, 0.9), (0.9, 0.3001)], False),  # one of three seeds guesses
        ([(0.9, 0.1), (0.9, 0.9), (0.9, 0.2)], True),
        ([(0.9, 0.9), (0.9, 0.1)], False),  # half of the seeds
        ([(0.5, 0.5)], True),
    ],
)
def test_a_method_is_near_chance_if_most_seeds_guess(accuracies, expected):
    assert is_near_chance(MeasuredValues(by_class(accuracies)), "erm", range(len(accuracies))) is expected


def test_a_method_near_chance_has_values_but_no_rank_where_nothing_known_is_good(artifact_runs):
    for artifact_run, accuracy in zip(artifact_runs[:2], (0.7, 0.5), strict=True):
        file = Path(artifact_run.folders[0]) / "metrics.csv"
        rows = pd.read_csv(file)
        own = [rows.assign(metric="class_average_accuracy", group=name, value=accuracy) for name in ("3", "5")]
        pd.concat([rows, rows.assign(metric="gap"), *own]).to_csv(file, index=False)
    table = compare(artifact_runs).set_index(["method", "metric"])
    assert table["near_chance"].groupby("method").first().to_dict() == {"erm": False, "leace": True, "simclr": False}
    leace, erm = (table.loc[(method, "worst_group_accuracy")] for method in ("leace", "erm"))
    assert leace["value"] == pytest.approx(75) and leace["rank"] == 1 and erm["rank"] == 2
    leace, erm = (table.loc[(method, "gap")] for method in ("leace", "erm"))
    assert leace["value"] == pytest.approx(75) and math.isnan(leace["rank"]) and erm["rank"] == 1


def test_seeds_that_collapsed_count(artifact_runs):
    before = compare(artifact_runs)
    file = Path(artifact_runs[0].folders[0]) / "metrics.csv"
    rows = pd.read_csv(file)
    guessed = [
        rows[rows["seed"].eq(0)].head(1).assign(split="train", metric=metric, group=group, value=value)
        for group in ("3, red", "5, red")
        for metric, value in (("accuracy", 0.5), ("samples", 10))
    ]
    pd.concat([rows, *guessed]).to_csv(file, index=False)
    assert load_metrics(artifact_runs).query("seed == 0 and paper_method == 'erm'")["collapsed"].all()
    pd.testing.assert_frame_equal(compare(artifact_runs), before)


def test_costs_count_the_stages_that_a_method_reads(artifact_runs):
    table = compare(artifact_runs).set_index(["method", "metric"])["value"]
    assert [table[m, "seconds"] for m in ("erm", "leace", "simclr")] == [5, 1 + 4, 7]
    assert [table[m, "peak_memory_mb"] for m in ("erm", "leace", "simclr")] == [500, 800, 500]
    assert table.xs("steps", level="metric").to_dict() == pytest.approx(
        {"erm": 101, "leace": np.nan, "simclr": 101}, nan_ok=True
    )


@pytest.mark.parametrize("stage", ["stage1/scene_digits/erm+epochs=8", "groups/scene_digits/oracle"])
def test_costs_are_not_compared_where_a_stage_is_from_another_machine(artifact_runs, tmp_path, stage):
    file = tmp_path / stage / "s0-2/about.json"
    write_json(file, json.loads(file.read_text()) | {"processor": "another"})
    table = compare(artifact_runs).set_index("metric")
    assert table.loc[["seconds", "peak_memory_mb"], "value"].isna().all()


def test_who_is_told_the_attribute_is_marked(artifact_runs):
    table = compare(artifact_runs).drop_duplicates("method").set_index("method")
    assert table["sees_attribute"].to_dict() == {"erm": False, "leace": True, "simclr": False}
    told = {
        name: resolve("methods", name, "scene_digits").points[0].trains_on_attribute
        for name in ("gdro+groups=ssa", "gdro+groups=classes", "dfr_held_out", "cnc")
    }
    assert told == {"gdro+groups=ssa": True, "gdro+groups=classes": False, "dfr_held_out": True, "cnc": False}
    assert table.loc["leace", "papers"] == "fair_cl"


def test_the_command_line_writes_table_and_heat_map(artifact_runs, tmp_path, monkeypatch):
    asked = json.dumps({"artifact_runs": [asdict(artifact_run) for artifact_run in artifact_runs]})
    monkeypatch.setattr(
        "sys.argv", ["comparison", "matrix", "--artifact-runs", asked, "--output", str(tmp_path / "matrix")]
    )
    tables.main({"matrix": comparison.write})
    assert len(pd.read_csv(tmp_path / "matrix.csv")) == 3 * len(METRICS)
    assert (tmp_path / "matrix.png").read_bytes().startswith(b"\x89PNG") and (
        tmp_path / "matrix.pdf"
    ).read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ((71.25, 2, 5), "71.2\n2–5"),
        ((1234.5, math.nan, math.nan), "1,234"),
        ((math.nan, math.nan, math.nan), "–"),
        ((0.5, 1, 1), "0.5\n1–1"),
        ((0.5, 3.5, 4), "0.5\n3.5–4"),
    ],
)
def test_what_an_entry_of_the_heat_map_says(entry, text):
    assert format_entry(*entry) == text


def test_the_matrix_names_its_data_and_seeds():
    table = pd.DataFrame({"data": "scene_digits", "seeds": [10, 9]})
    assert name_runs(table) == "scene_digits, 10 seeds; substitute data"
    assert name_runs(table.assign(data="waterbirds", seeds=1)) == "waterbirds, 1 seed"


def test_ranks_are_shown_in_columns_where_any_is_refuted():
    value, high = pd.DataFrame({"x": [9.0, 8.0], "y": [7.0, 6.0]}), pd.DataFrame({"x": [2.0, 2.0], "y": [1.0, 2.0]})
    low = pd.DataFrame({"x": [1.0, 1.0], "y": [1.0, 2.0]})
    assert format_entries(value, low, high).tolist() == [["9", "7\n1–1"], ["8", "6\n2–2"]]
