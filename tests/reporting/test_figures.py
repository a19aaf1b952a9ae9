from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from helpers import tiny_dataset
from making import write_run
from matplotlib.figure import Figure
from project import SOURCE

from despur.orchestration.experiments import ArtifactRun
from despur.papers.cnc import figures
from despur.reporting import projections
from despur.reporting.figures import COLORS, limit_percent, name_data
from despur.reporting.printed_names import BASELINES, NAMES
from despur.reporting.projections import load_projections, write_projections
from despur.specs.paths import locate_result
from despur.storage.containers import save_arrays
from despur.storage.store import save_dataset

METHODS = ["erm", "jtt", "cnc"]
CLASSES = ["0,1", "2,3"]
MEASURED = [
    "worst_group_accuracy",
    "average_accuracy",
    "alignment_loss",
    "mutual_information_class",
    "mutual_information_attribute",
]
BY_CLASS = ["average_accuracy", "worst_group_accuracy", "average_loss", "worst_group_loss", "bound", "bound_alignment"]


def metrics_of(folder, levels, setting, selections=("best", "last")):
    """A made-up metrics.csv: every number differs from every other."""
    result, rng, rows = locate_result(folder), np.random.default_rng(len(str(folder))), []
    names = [(m, "") for m in MEASURED] + [(f"class_{m}", c) for m in BY_CLASS for c in CLASSES]
    for level in levels:
        for seed in (0, 1):
            for split in ("val", "test"):
                for selection in selections:
                    data = f"{result.dataset.split('+')[0]}+p_corr={level}"
                    head = {"dataset": data, "method": result.name, setting: level, "seed": seed, "split": split}
                    rows += [
                        {**head, "selection": selection, "metric": metric, "group": group}
                        | {"value": rng.uniform(0.1, 0.9)}
                        for metric, group in names
                    ]
    write_run(folder, rows)
    return pd.DataFrame(rows)


@pytest.fixture
def artifact_runs(tmp_path):
    """A maker of runs with made-up metrics: of each method, on one or two data sets."""

    def make(methods=METHODS, levels=(0.2, 0.8), setting="data.p_corr", selections=("best", "last"), datasets=1):
        made, tables = [], []
        for paper_dataset, dataset in [
            ("cmnist", f"{name}+p_corr=0.2~0.8") for name in ("colored_digits", "cmnist")[:datasets]
        ]:
            for method in methods:
                folder = tmp_path / "results/runs" / dataset / method / "s0-1"
                tables.append(
                    metrics_of(folder, levels, setting, selections).assign(used_dataset=dataset, paper_method=method)
                )
                made.append(ArtifactRun(paper_dataset, dataset, method, (str(folder),)))
        return made, pd.concat(tables)

    return make


def drawn(function, made, output):
    """The csv beside a figure, once the figure has been made in all its forms."""
    function(made, output)
    assert sorted(file.name for file in output.parent.glob(f"{output.name}.*")) == [
        f"{output.name}.{kind}" for kind in ("csv", "pdf", "png")
    ]
    assert output.with_suffix(".png").read_bytes()[:4] == b"\x89PNG"
    return pd.read_csv(output.with_suffix(".csv"), float_precision="round_trip", keep_default_na=False)


def looked_up(table, row, metric, group="", setting=None):
    """The one value of metrics.csv that a row of a figure's csv must hold."""
    same = {
        "used_dataset": row["used_dataset"],
        "paper_method": row["paper_method"],
        "seed": row["seed"],
        "split": "test",
        "metric": metric,
        "group": group,
    }
    same["selection"] = row.get("selection", "best")
    if setting:
        same[setting] = row[setting]
    return table[np.logical_and.reduce([table[key] == value for key, value in same.items()])]["value"].item()


@pytest.mark.parametrize(
    ("name", "methods", "setting", "selections", "datasets"),
    [
        ("figure_3", ["erm"], "data.p_corr", ("best", "last", "epoch=1", "epoch=2"), 1),
        ("figure_4", ["erm", "jtt"], "data.p_corr", ("best", "last"), 1),
        ("figure_7", METHODS, "data.p_corr", ("best", "last"), 2),
        ("figure_7d", ["jtt", "cnc"], "groups.noise", ("best", "last"), 1),
    ],
)
def test_figures_over_a_setting_show_what_was_measured(
    artifact_runs, tmp_path, name, methods, setting, selections, datasets
):
    made, table = artifact_runs(methods, setting=setting, selections=selections, datasets=datasets)
    shown = drawn(figures.ARTIFACTS[name], made, tmp_path / name)
    kept = [s for s in selections if s != "last"] if name == "figure_3" else ["best"]
    assert len(shown[shown["selection"].isin(kept)]) == datasets * len(methods) * 2 * 2 * len(kept)
    for row in shown.to_dict("records"):
        for metric in MEASURED:
            assert row[metric] == looked_up(table, row, metric, setting=setting)
        assert row["ratio"] == row["mutual_information_class"] / row["mutual_information_attribute"]


def test_figure_5_shows_what_was_measured_and_the_mean_gap_of_the_classes(artifact_runs, tmp_path):
    made, table = artifact_runs(levels=(0.8,))
    shown = drawn(figures.ARTIFACTS["figure_5"], made, tmp_path / "figure_5")
    assert len(shown) == 4 * len(made) * 2
    for row in shown.to_dict("records"):
        if row["metric"] == "class_gap":
            pairs = [
                [looked_up(table, row, f"class_{k}_accuracy", c) for k in ("average", "worst_group")] for c in CLASSES
            ]
            assert row["value"] == pytest.approx(np.mean([first - second for first, second in pairs]))
        else:
            assert row["value"] == looked_up(table, row, row["metric"])


def test_the_theorem_s_figure_shows_gaps_and_bounds_of_every_class(artifact_runs, tmp_path):
    made, table = artifact_runs(levels=(0.8,))
    shown = drawn(figures.ARTIFACTS["figure_theorem_3_1"], made, tmp_path / "figure_theorem_3_1")
    assert len(shown) == 3 * len(CLASSES) * len(made) * 2
    for row in shown.to_dict("records"):
        if row["metric"] == "class_gap_loss":
            worst, average = (
                looked_up(table, row, f"class_{kind}_loss", row["group"]) for kind in ("worst_group", "average")
            )
            assert row["value"] == worst - average
        else:
            assert row["value"] == looked_up(table, row, row["metric"], row["group"])


@pytest.fixture
def trained(tmp_path, monkeypatch):
    """A maker of runs with made-up data and representations: z of a sample is its number in the data set, its class,
    the seed. UMAP takes the first two components."""
    monkeypatch.setattr(projections, "project", lambda z, seed: z[:, :2])

    def make(name, printed, stage="runs", dataset="colored_digits"):
        result = locate_result(tmp_path / "results" / stage / dataset / name / "s0-1")
        built = {point.name: tiny_dataset(seed=i) for i, point in enumerate(result.datasets.points)}
        for data in built.values():
            data.about["attribute"] = "color"
        save_dataset(result.data.folder, built)
        arrays = {}
        for run in result.runs():
            data = built[run.data.name]
            z = np.stack([np.arange(len(data.y)), data.y, np.full(len(data.y), run.seed)], axis=1).astype(np.float16)
            arrays[f"{run.key}/{'last' if stage == 'stage1' else 'best'}/z"] = z
        save_arrays(result.folder / "outputs.safetensors", arrays)
        return ArtifactRun("cmnist", dataset, printed, (str(result.folder),)), built

    return make


def test_projections_cover_the_test_set_of_the_first_seed_and_know_its_labels(trained, tmp_path):
    artifact_run, built = trained("erm", "erm")
    write_projections([artifact_run, artifact_run], tmp_path / "projections")
    (points,) = load_projections(tmp_path / "figure_11", artifact_run)
    (data,) = built.values()
    rows = data.rows("test")
    assert points["position"].tolist() == list(range(len(rows)))
    assert points["x1"].tolist() == rows.tolist()
    assert points["y"].tolist() == data.y[rows].tolist()
    assert points["a"].tolist() == data.table["a"][rows].tolist()
    assert points["class"].tolist() == [f"class {y}" for y in data.y[rows]]
    assert points["attribute"].tolist() == [f"color {a}" for a in data.table["a"][rows]]
    assert set(points["seed"]) == {0} and set(points["kind_of_attribute"]) == {"color"}


def test_projections_of_many_samples_are_of_the_same_random_part_for_all_methods(trained, tmp_path, monkeypatch):
    monkeypatch.setattr(projections, "SAMPLES", 7)
    artifact_runs = [trained(name, name)[0] for name in ("erm", "gdro")]
    for again in (1, 2):
        write_projections(artifact_runs, tmp_path / str(again) / "projections")
    first, second = (load_projections(tmp_path / "1/figure_11", artifact_run)[0] for artifact_run in artifact_runs)
    assert len(first) == 7 and first["position"].is_unique
    assert first["position"].tolist() == second["position"].tolist() != list(range(7))
    assert (tmp_path / "1/projections.parquet").read_bytes() == (tmp_path / "2/projections.parquet").read_bytes()


def test_projections_of_stage_1_are_of_training_samples(trained, tmp_path):
    artifact_run, built = trained("erm", "erm", "stage1")
    write_projections([artifact_run], tmp_path / "projections")
    (points,) = load_projections(tmp_path / "figure_10", artifact_run)
    (data,) = built.values()
    assert points["x1"].tolist() == data.rows("train").tolist()


def test_of_a_sweep_the_first_and_the_last_point_are_projected(trained, tmp_path):
    artifact_run, _ = trained("erm", "erm", dataset="colored_digits+p_corr=0.2~0.5~0.8")
    write_projections([artifact_run], tmp_path / "projections")
    assert [p["data"][0] for p in load_projections(tmp_path / "x", artifact_run)] == [
        f"colored_digits+p_corr={level}" for level in (0.2, 0.8)
    ]


def test_maps_show_every_projected_sample(trained, tmp_path):
    artifact_runs = [trained(name, name)[0] for name in METHODS]
    write_projections(artifact_runs, tmp_path / "projections")
    shown = drawn(figures.ARTIFACTS["figure_11"], artifact_runs, tmp_path / "figure_11")
    points = pd.read_parquet(tmp_path / "projections.parquet")
    assert (
        shown[["run", "position", "x1", "y", "a"]].to_numpy().tolist()
        == points[["run", "position", "x1", "y", "a"]].to_numpy().tolist()
    )
    assert shown.groupby("paper_method").size().to_dict() == dict.fromkeys(METHODS, 30)


def test_figure_2_names_the_level_and_worst_group_of_each_map(trained, tmp_path):
    artifact_run, _ = trained("erm", "erm", dataset="colored_digits+p_corr=0.2~0.5~0.8")
    write_projections([artifact_run], tmp_path / "projections")
    head = {"method": "erm", "split": "test", "metric": "worst_group_accuracy", "value": 0.5}
    rows = [
        {"dataset": f"colored_digits+p_corr={level}", "data.p_corr": level, "seed": seed, **head}
        for level in (0.2, 0.5, 0.8)
        for seed in (0, 1)
    ]
    write_run(Path(artifact_run.folders[0]), rows)
    shown = drawn(figures.ARTIFACTS["figure_2"], [artifact_run], tmp_path / "figure_2")
    assert shown.groupby("p_corr").size().to_dict() == {0.2: 30, 0.8: 30}


def test_figure_10_shows_inferred_labels_of_the_projected_samples_and_their_agreement(trained, tmp_path, monkeypatch):
    monkeypatch.setattr(projections, "SAMPLES", 20)
    base, _ = trained("erm", "erm", "stage1")
    artifact_runs, labels = [base], {}
    for i, kind in enumerate(("predictions", "clusters")):
        result = locate_result(tmp_path / "results/groups/colored_digits" / kind / "s0-1")
        labels[kind] = np.random.default_rng(i).integers(0, 5, 60)
        save_arrays(
            result.folder / "groups.safetensors",
            {run.key: labels[kind] if run.seed == 0 else 9 - labels[kind] for run in result.runs()},
        )
        agreement = [
            {"dataset": "colored_digits", "inference": kind, "seed": s, "best_match": 0.5 + 0.1 * i + s} for s in (0, 1)
        ]
        pd.DataFrame(agreement).to_csv(result.folder / "agreement.csv", index=False)
        artifact_runs.append(ArtifactRun("cmnist", "colored_digits", kind, (str(result.folder),)))
    write_projections(artifact_runs, tmp_path / "projections")
    shown = drawn(figures.ARTIFACTS["figure_10"], artifact_runs, tmp_path / "figure_10")
    assert len(shown) == 20
    for i, kind in enumerate(labels):
        assert shown[kind].tolist() == labels[kind][shown["position"]].tolist()
        assert shown[f"{kind}_match"].tolist() == [0.5 + 0.1 * i] * 20


def test_every_named_method_has_a_color():
    assert set(COLORS) == set(NAMES)


def test_methods_of_the_benchmark_are_called_by_their_names():
    config = yaml.safe_load((SOURCE / "config/benchmark.yaml").read_text())
    assert {name for name in config["matrix"]["methods"] if name not in {**NAMES, **BASELINES}} == set()
    assert NAMES["dfr_held_out"] == "DFR, held-out data" and NAMES["mine_too"] == "mine too"


def test_neighbors_differ_in_color():
    colors = list(COLORS.values())
    assert all(len(set(colors[i : i + 10])) == 10 for i in range(len(colors) - 9))


def test_substitutes_are_named_in_figures():
    assert name_data("cmnist", "colored_digits+draw=1") == "CMNIST*, substitute: colored_digits+draw=1"
    assert name_data("cmnist", "cmnist+colors=released") == "CMNIST*"


def test_an_axis_of_percent_ends_at_100_and_markers_at_the_edge_are_whole():
    figure = Figure()
    axis = figure.add_subplot()
    (marked,) = axis.plot([0, 1], [40, 100], marker="o")
    (interval,) = axis.plot([1, 1], [90, 130])
    limit_percent(axis, 0)
    assert axis.get_ylim() == (0, 100)
    assert not marked.get_clip_on() and interval.get_clip_on()
