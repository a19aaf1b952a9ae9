"""The tables of cnc: every number is one of the runs', or of the data."""

import json

import making
import numpy as np
import pandas as pd
import pytest
from helpers import save_tiny, tiny_dataset
from making import row_of, write_run
from scipy import stats

from despur.evidence.claims.measured_values import MeasuredValues
from despur.evidence.sentences.sentence_format import read_sentence
from despur.evidence.sentences.values import sum_noise
from despur.orchestration import configuration, experiments, paper_folders
from despur.orchestration.experiments import ArtifactRun
from despur.papers.cnc import hyperparameters, measurements, tables
from despur.specs.paths import locate_result
from despur.specs.resolution import resolve
from despur.storage.store import Dataset, load_dataset, save_dataset

PAPER = paper_folders.PAPERS / "cnc"
CLASSES = ["0,1", "2,3"]
# worst group, by seed
VALUES = {"erm": (0.10, 0.30), "jtt": (0.50, 0.60), "cnc": (0.55, 0.75), "gdro": (0.60, 0.70), "george": (0.40, 0.50)}


def rows(worst, seed, base="cnc", **settings):
    """What the evaluation writes of one run: average accuracy is .2 above the worst group, class by class, validation
    .1 below. Its name is as if all were CNC's, where nobody reads it."""
    named = {"seed": seed, "method": "+".join([base, *(f"{key}={value}" for key, value in settings.items())])}
    values = [("worst_group_accuracy", "", 0.0), ("average_accuracy", "", 0.2), ("accuracy", "0,1, red", 0.0)]
    values += [("class_average_accuracy", name, 0.2) for name in CLASSES]
    values += [("class_worst_group_accuracy", name, 0.0) for name in CLASSES]
    values += [("samples", "0,1, red", 50.0 - worst)]
    return [
        {**named, "split": split, "selection": "best", "metric": m, "group": g, "value": worst + v + shift, **settings}
        for split, shift in (("test", 0.0), ("val", -0.1))
        for m, g, v in values
    ]


@pytest.fixture
def world(tmp_path, monkeypatch):
    """Made-up runs of cmnist (by a substitute) and celeba; returns what makes the runs of a method."""
    monkeypatch.chdir(tmp_path)
    dataset = save_tiny(tmp_path / "results")
    save_dataset(tmp_path / "results/data/colored_digits+draw=1", {"colored_digits+draw=1": dataset})

    def artifact_run(paper_dataset, printed, artifact, dataset="colored_digits", stage="runs", name="", values=None):
        folder = tmp_path / "results" / stage / dataset / (name or printed) / "s0-1"
        folder.mkdir(parents=True, exist_ok=True)
        if stage == "runs":
            table = [r for seed, v in enumerate(VALUES[printed]) for r in rows(v, seed)] if values is None else values
            write_run(folder, pd.DataFrame(table).assign(dataset=dataset))
        if stage == "groups":
            agreement = {"dataset": dataset, "inference": name, "seed": [0, 1], "best_match": values or [0.90, 0.94]}
            pd.DataFrame(agreement).to_csv(folder / "agreement.csv", index=False)
        own = [{"seconds": 36.0 * (seed + 1), "largest_factor": 900.0 + 200 * seed} for seed in (0, 1)]
        seconds = {f"{dataset}/{name or printed}/s{seed}": own[seed] for seed in (0, 1)}
        about = {"runs": seconds, "peak_memory_mb": 512.0, "device": "cpu", "machine": "Linux x86_64", "seconds": 100.0}
        (folder / "about.json").write_text(json.dumps(about))
        return ArtifactRun(paper_dataset, dataset, printed, (str(folder),), artifact)

    return artifact_run


def make_table(name, artifact_runs, tmp_path):
    return making.make_table(tables, name, artifact_runs, tmp_path, dtype={"selected": str})


@pytest.mark.parametrize(
    ("paper_dataset", "dataset", "method", "average"),
    [
        ("waterbirds", "waterbirds", "jtt", 90.0),
        ("waterbirds", "waterbirds", "eiil", 90.0),
        ("waterbirds", "scene_digits", "jtt", 70.0),  # where only orders are read, all methods have one average
        ("waterbirds", "waterbirds", "gdro", 70.0),  # App. E.2.5: run by the authors
        ("waterbirds", "waterbirds", "cnc", 70.0),
        ("celeba", "celeba", "jtt", 70.0),
    ],
)
def test_copied_averages_on_waterbirds_weight_groups_by_their_training_sizes(
    world, tmp_path, paper_dataset, dataset, method, average
):
    own, weighted = rows(0.5, 0), {"metric": "weighted_average_accuracy", "value": 0.9}
    own += [{**row, **weighted} for row in own if row["metric"] == "average_accuracy"]
    artifact_runs = [world(paper_dataset, method, "table_1", dataset=dataset, values=own)]
    table, _ = make_table("table_1", artifact_runs, tmp_path)
    found = row_of(table, paper_dataset=paper_dataset, method=method, metric="average_accuracy")
    assert found["ours"] == pytest.approx(average)


def test_copied_are_the_numbers_that_the_printed_table_marks_so():
    table = pd.read_csv(PAPER / "reported/table_1.csv")
    copied = table[(table["dataset"] == "waterbirds") & table["note"].str.startswith("from original paper")]
    assert set(copied["method"]) == set(tables.COPIED)


def test_lambda_picks_the_runs_of_table_a5(world, tmp_path):
    points = [(i, x, seed) for i, x in enumerate((0.2, 0.4, 0.6, 0.8, 0.9)) for seed in (0, 1)]
    sweep = [r for i, x, seed in points for r in rows(0.1 * i + 0.02 * seed, seed, **{"lambda": x})]
    artifact_run = world("cmnist", "cnc", "table_a5", name="cnc+lambda=0.2~0.4~0.6~0.8~0.9", values=sweep)
    table, _ = make_table("table_a5", [artifact_run], tmp_path)
    worst = table[table["metric"] == "worst_group_accuracy"]
    assert worst["ours"].tolist() == pytest.approx([1.0, 11.0, 21.0, 31.0, 41.0])
    assert set(table["verdict"]) == {"substitute data"} and set(table["seeds"]) == {2}


def test_a_sweep_is_selected_on_validation_data_and_shown_on_test_data(world, tmp_path):
    sweep = pd.DataFrame(
        [r for x, worst in ((0.2, 0.5), (0.4, 0.7)) for seed in (0, 1) for r in rows(worst, seed, **{"lambda": x})]
    )
    flip = (sweep["split"] == "val") & (sweep["metric"] == "worst_group_accuracy")
    sweep.loc[flip, "value"] = 1 - sweep.loc[flip, "value"]  # on validation data .2 is better: .6 against .4
    artifact_run = world("cmnist", "cnc", "table_a5", name="cnc+lambda=0.2~0.4", values=sweep.to_dict("records"))
    table, _ = make_table("table_a7_a11", [artifact_run], tmp_path)
    own = row_of(table, data="colored_digits")
    assert (own["hyperparameter"], own["tried"], own["selected"]) == ("lambda", "0.2; 0.4", "lambda=0.2")
    assert own["seeds"] == 2
    assert own["validation_worst_group"] == pytest.approx(60.0)
    assert (own["test_worst_group"], own["test_average"]) == pytest.approx((50.0, 70.0))


def test_a_method_is_selected_from_all_points_of_its_grids(world, tmp_path):
    weights = [r for x, worst in ((0.2, 0.5), (0.4, 0.7)) for r in rows(worst, 0, **{"lambda": x})]
    pairs = [(0.1, 16, 0.3), (0.1, 64, 0.4), (0.2, 16, 0.8), (0.2, 64, 0.6)]
    others = [r for heat, steps, worst in pairs for r in rows(worst, 0, accumulation=steps, temperature=heat)]
    artifact_runs = [
        world("cmnist", "cnc", "table_a7_a11", name=f"cnc+{grid}", values=values)
        for grid, values in (("lambda=0.2~0.4", weights), ("accumulation=16~64+temperature=0.1~0.2", others))
    ]
    own = row_of(make_table("table_a7_a11", artifact_runs, tmp_path)[0], data="colored_digits")
    assert own["tried"] == "0.2; 0.4 or 16; 64 x 0.1; 0.2"
    assert own["hyperparameter"] == "lambda or accumulation, temperature"
    default = resolve("methods", "cnc", "colored_digits").points[0].value("lambda")
    assert own["selected"] == f"lambda={default}, accumulation=16, temperature=0.2"
    assert [own[name] for name in hyperparameters.SCORES] == pytest.approx([70.0, 80.0, 100.0])


def test_the_clustering_is_selected_by_the_worst_group_on_validation_data(world, tmp_path):
    variants = [("gmm", "cosine", 0.5), ("gmm", "euclidean", 0.7), ("kmeans", "cosine", 0.6)]
    values = []
    for algorithm, metric, worst in variants:
        settings = {"groups.algorithm": algorithm, "groups.metric": metric}
        values += [row for seed in (0, 1) for row in rows(worst, seed, **settings)]
    values = pd.DataFrame(values)
    validation = (values["split"] == "val") & (values["metric"] == "worst_group_accuracy")
    values.loc[validation, "value"] = 1 - values.loc[validation, "value"]  # the best on validation is the worst on test
    name = "cnc+groups.algorithm=gmm~kmeans+groups.metric=cosine~euclidean"
    runs = [world("cmnist", "cnc", "table_clustering", name=name, values=values.to_dict("records"))]
    table, text = make_table("table_clustering", runs, tmp_path)
    assert len(table) == 3 and table["seeds"].eq(2).all()
    selected = row_of(table, verdict="selected")
    assert (selected["groups.algorithm"], selected["groups.metric"], selected["default"]) == ("gmm", "cosine", "no")
    assert selected["validation_worst_group"] == pytest.approx(60) and selected["test_worst_group"] == pytest.approx(50)
    assert row_of(table, default="yes")["groups.metric"] == "euclidean" and "60.0" in text


def test_the_clusterings_of_cmnist_run_at_one_seed_if_a_sweep_is_asked_for():
    config = configuration.load_configuration(paper_folders.PAPERS.parents[2] / "config/mnist.yaml")
    runs = [experiments.list_artifact_runs({**config, "sweep": sweep}, "cnc", "table_clustering") for sweep in (0, 1)]
    assert runs[0] == [] and [len(run.folders) for run in runs[1]] == [1]
    assert len(locate_result(runs[1][0].folders[0]).runs()) == 4


def test_of_points_with_the_same_worst_group_the_better_average_is_selected(world, tmp_path):
    values = pd.DataFrame([r for q in (0.3, 0.5, 0.7) for r in rows(0.1, 0, "lff", q=q)])  # validation: all at 0
    better = (values["split"] == "val") & (values["metric"] == "average_accuracy") & (values["q"] == 0.5)
    values.loc[better, "value"] += 0.1
    artifact_run = world("cmnist", "lff", "table_a7_a11", name="lff+q=0.3~0.5~0.7", values=values.to_dict("records"))
    own = row_of(make_table("table_a7_a11", [artifact_run], tmp_path)[0], data="colored_digits")
    assert (own["selected"], own["validation_worst_group"]) == ("q=0.5", pytest.approx(0.0))


def test_a_selected_point_names_the_settings_that_its_grid_fixes(world, tmp_path):
    factors = {10: 0.4, 100: 0.8}
    constant = [r for x in factors for r in rows(factors[x], 0, "jtt", factor=x, upsampling="constant")]
    epochs = [r for n, worst in ((1, 0.5), (2, 0.6)) for r in rows(worst, 0, "jtt", **{"stage1.epochs": n})]
    artifact_runs = [
        world("cmnist", "jtt", "table_a7_a11", name=f"jtt+{grid}", values=values)
        for grid, values in (("stage1.epochs=1~2", epochs), ("factor=10~100+upsampling=constant", constant))
    ]
    own = row_of(make_table("table_a7_a11", artifact_runs, tmp_path)[0], data="colored_digits")
    default = resolve("methods", "jtt", "colored_digits").points[0].value("stage1.epochs")
    assert own["hyperparameter"] == "stage1.epochs or factor, upsampling"
    assert own["tried"] == "1; 2 or 10; 100 x constant"
    assert own["selected"] == f"stage1.epochs={default}, factor=100, upsampling=constant"


def test_the_source_of_a_setting_of_groups_is_not_that_of_the_method(package):
    package.write("datasets/toy.py", 'PAPER_HYPERPARAMETERS = {"cnc": {"epochs": 3, "stage1.epochs": 5}}\n')
    settings = 'from despur.specs.settings import int_\nSETTINGS = {"epochs": int_(7, "made up", at_least=1)}\n'
    package.write("inference/toy.py", settings)
    find_source = hyperparameters.find_source
    assert find_source(resolve("methods", "cnc", "toy").points[0], "epochs", "toy") == "datasets/toy.py"
    assert find_source(resolve("methods", "cnc", "toy").points[0], "groups.stage1.epochs", "toy") == "datasets/toy.py"
    assert find_source(resolve("methods", "cnc+groups=toy", "toy").points[0], "groups.epochs", "toy") == "made up"


def test_with_sweep_every_printed_candidate_is_tried_on_the_papers_data():
    config = configuration.load_configuration(paper_folders.PAPERS.parents[2] / "config/published.yaml")

    def grids(sweep):
        runs = experiments.list_artifact_runs({**config, "sweep": sweep}, "cnc", "table_a7_a11")
        return [run for run in runs if run.artifact == "table_a7_a11"]

    assert not grids(False)
    tried = {}
    for run in grids(True):
        points = tried.setdefault((run.paper_dataset, run.paper_method), [])
        points += locate_result(run.folders[0]).sweep.points
    printed = pd.concat([pd.read_csv(PAPER / f"reported/table_a{i}.csv") for i in range(7, 12)])
    for row in printed.itertuples():
        key = row.setting.removeprefix("hyperparameter=")
        key = "factor" if key == "upweighting_factor" else hyperparameters.KEYS.get(key, key)
        points = tried[row.dataset, "cnc" if row.method == "shared" else row.method]
        if (key, row.mean) == ("factor", 1100):  # as frequent as the correct points
            assert any(point.value("upsampling") == "cells" for point in points)
        else:
            assert any(point.value(key) == row.mean for point in points), row


def test_what_was_tried_selected_and_taken(tmp_path):
    table, _ = make_table("table_a7_a11", [], tmp_path)
    temperature = row_of(table, dataset="cmnist", method="cnc", hyperparameter="temperature")
    assert (temperature["tried"], temperature["selected"], temperature["ours"]) == ("0.05; 0.1", "0.05", "0.05")
    assert temperature["source"] == "App. E.2.4: tau"
    epochs = row_of(table, dataset="cmnist", method="jtt", hyperparameter="stage1_epochs")
    assert (epochs["ours"], epochs["source"]) == ("5", "datasets/cmnist.py")
    assert row_of(table, dataset="cmnist", method="jtt", hyperparameter="upweighting_factor")["ours"] == "cells"
    stated = table[table["selected"].notna() & ~table["hyperparameter"].eq("upweighting_factor")]
    for row in stated[stated["dataset"] == "cmnist"].itertuples():
        assert float(row.ours) == float(row.selected), row  # on CMNIST* we take what the paper states


def test_times_are_those_of_the_runs(world, tmp_path):
    artifact_runs = [world("cmnist", "erm", "table_a12", stage="stage1"), world("cmnist", "cnc", "table_a12")]
    table, text = make_table("table_a12", artifact_runs, tmp_path)
    for method in ("erm", "cnc"):
        row = row_of(table, paper_dataset="cmnist", method=method)
        assert (row["seconds"], row["ours"], row["seeds"]) == pytest.approx((54.0, 0.015, 2))  # 36 and 72 seconds
        assert (row["peak_memory_mb"], row["device"]) == (512.0, "cpu (Linux x86_64)")
    assert "| 54 | 512 | cpu (Linux x86_64) |" in text
    claim = {"claim": "most_of_the_time_is_of_the_contrastive_stage", "dataset": "cmnist"}
    row = row_of(make_table("claims", artifact_runs, tmp_path)[0], **claim)
    assert row["verdict"] == "not run here" and "about a time" in row["reason"]  # on a substitute


@pytest.mark.parametrize(
    ("name", "verdict", "reason"),
    [("cnc", "holds", ""), ("cnc+epochs=1", "undecided", "not trained as long as in the paper (epochs=1 instead of ")],
)
def test_hours_of_shortened_training_decide_no_claim(tmp_path, name, verdict, reason):
    data, artifact_runs = "cmnist+colors=released", []
    for method, own, stage, seconds in (("erm", "erm", "stage1", 60.0), ("cnc", name, "runs", 600.0)):
        folder = tmp_path / "results" / stage / data / own / "s0-2"
        folder.mkdir(parents=True)
        runs = {f"{data}/{own}/s{seed}": {"seconds": seconds + seed} for seed in range(3)}
        (folder / "about.json").write_text(json.dumps({"device": "cpu", "runs": runs}))
        artifact_runs.append(ArtifactRun("cmnist", data, method, (str(folder),), "table_a12", "cnc"))
    claim = {"claim": "most_of_the_time_is_of_the_contrastive_stage", "dataset": "cmnist"}
    row = row_of(make_table("claims", artifact_runs, tmp_path)[0], **claim)
    assert row["verdict"] == verdict and row["estimate"] > 0
    assert str(row["reason"]).startswith(reason or "nan")


@pytest.mark.parametrize(("clusters", "verdict"), [(0.68, "holds"), (0.5, "fails")])
def test_clusters_are_comparable_with_predictions_by_validation_data(tmp_path, clusters, verdict):
    data, values = "cmnist+colors=released", []
    for name, groups, worst in (("cnc", "clusters", clusters), ("cnc+groups=predictions", "predictions", 0.7)):
        for seed, noise in enumerate((-0.001, 0.0, 0.001) if groups == "clusters" else (0.0, 0.0, 0.0)):
            by_seed = [row | {"method": name} for row in rows(worst + noise, seed, groups=groups)]
            # test data say the opposite
            values += [row | {"value": 1 - row["value"]} if row["split"] == "test" else row for row in by_seed]
    folder = tmp_path / "results/runs" / data / "cnc+groups=clusters~predictions/s0-2"
    write_run(folder, pd.DataFrame(values).assign(dataset=data), np.linspace(-0.01, 0.01, 9))
    artifact_run = ArtifactRun("cmnist", data, "cnc_pseudo_labels", (str(folder),), "table_a7_a11", "cnc")
    table, _ = make_table("claims", [artifact_run], tmp_path)
    row = row_of(table, claim="clusters_are_as_good", dataset="cmnist")
    assert row["verdict"] == verdict and row["estimate"] == pytest.approx(clusters - 0.7)


def test_pgi_of_shuffled_batches_is_not_that_of_table_1(world, tmp_path):
    runs = {"table_1": ("pgi", 0.7), "prose": ("pgi+batches=shuffled", 0.4)}
    artifact_runs = [
        world("waterbirds", "pgi", artifact, name=name, values=[row | {"method": name} for row in rows(worst, 0)])
        for artifact, (name, worst) in runs.items()
    ]
    number = row_of(make_table("prose", artifact_runs, tmp_path)[0], method="pgi", metric="worst_group_accuracy")
    assert (number["ours"], number["reported"]) == pytest.approx((40.0, 51.0))


def toxicity(name):
    """Training comments: 1 of 4 that mention men is toxic, and 2 of 2 that mention Black people, one of them both."""
    table = pd.DataFrame({"split": "train", "y": [0, 0, 0, 1, 1], "a": 1, "original": range(5)})
    about = {"classes": ["not toxic", "toxic"]}
    about["groups"] = [f"{label}, {identity}" for label in about["classes"] for identity in ("male", "black")]
    groups = np.array([[1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1]], bool)
    return {name: Dataset(np.zeros((5, 1), np.int32), table, about, groups)}


def test_toxic_comments_are_counted(tmp_path):
    save_dataset(tmp_path / "results/data/colored_digits", toxicity("colored_digits"))
    folder = str(tmp_path / "results/runs/colored_digits/erm/s0")
    artifact_run = ArtifactRun("civilcomments", "colored_digits", "erm", (folder,), "table_a6")
    table, _ = make_table("table_a6", [artifact_run], tmp_path)
    assert row_of(table, setting="split=train;identity=male")["ours"] == pytest.approx(25.0)
    assert row_of(table, setting="split=train;identity=black")["ours"] == pytest.approx(100.0)
    other = row_of(table, setting="split=train;identity=white")
    assert (other["verdict"], other["reason"]) == ("not compared", "it has no such groups")


def test_the_numbers_of_the_text(world, tmp_path):
    artifact_runs = [world("cmnist", method, "table_1") for method in VALUES]
    artifact_runs += [world("celeba", method, "table_1", dataset="colored_digits+draw=1") for method in ("jtt", "cnc")]
    artifact_runs += [
        world("cmnist", "erm", "table_a12", stage="stage1"),
        world("waterbirds", "erm_stage1", "prose", stage="groups", name="predictions"),
        world("waterbirds", "erm_stage1_clusters", "prose", stage="groups", name="clusters", values=[0.96, 0.98]),
    ]
    table, text = make_table("prose", artifact_runs, tmp_path)
    assert len(table) == len(pd.read_csv(PAPER / "reported/prose.csv")) + 2  # stage 1's agreement has two rows each

    def ours(metric, **keys):
        return row_of(table, metric=metric, **keys)

    assert ours("worst_group_accuracy", paper_dataset="celeba", method="cnc")["ours"] == pytest.approx(65.0)
    lift = ours("worst_group_accuracy_lift", paper_dataset="celeba")
    # 5 and 15 points
    assert (lift["ours"], lift["seeds"], lift["verdict"]) == (pytest.approx(10.0), 2, "substitute data")
    assert "on waterbirds" in ours("worst_group_accuracy_lift", paper_dataset="mean_of_4")["reason"]
    agreement = table[table["metric"] == "stage1_spurious_attribute_agreement"].dropna(subset="ours")
    assert set(agreement["method"]) == {"erm_stage1"} and set(agreement["paper_dataset"]) == {"waterbirds"}
    assert dict(zip(agreement["reason"], agreement["ours"], strict=True)) == {
        "the labels are predictions of stage 1": pytest.approx(92.0),
        "the labels are clusters of stage 1, as in the paper's Table 1 (App. E.2.4)": pytest.approx(97.0),
    }
    assert ours("upsampling_factor")["ours"] == pytest.approx(1000.0)
    assert ours("train_hours", paper_dataset="cmnist")["ours"] == pytest.approx(0.015)
    of_range = ours("lambda", setting="quantity=robust_lambda_range;bound=min")
    assert of_range["reason"] == "a range, judged as a claim: flat_in_lambda"
    assert "class_name=blond" in ours("male_fraction")["reason"]
    dataset = load_dataset(tmp_path / "results/data/colored_digits", "colored_digits")
    train = dataset.table[dataset.table["split"] == "train"]
    most = sum(part["a"].value_counts().max() for _, part in train.groupby("y"))
    assert ours("minority_fraction", paper_dataset="cmnist")["ours"] == pytest.approx(100 * (1 - most / len(train)))
    assert ours("n_examples", paper_dataset="waterbirds")["ours"] == len(train) == 60
    assert ours("per_class_gap_reduction_max")["ours"] == pytest.approx(0.0, abs=1e-9)  # every gap is .2
    assert all(str(row.reason) != "nan" for row in table.itertuples() if row.verdict == "not run here")
    assert "judged as a claim" in text


# of CNC over JTT on CelebA, where the paper states 7.7 points
LIFTS = {"within 2": [7.6, 7.7, 7.9], "beyond 5": [1.0, 1.1, 1.2], "not known": [-10.0, 8.0, 25.0]}


@pytest.mark.parametrize("verdict", LIFTS)
def test_a_lift_is_judged_by_how_it_varies_over_seeds(world, tmp_path, verdict):
    save_dataset(tmp_path / "results/data/celeba", {"celeba": tiny_dataset()})
    accuracies = {"jtt": [0.6] * len(LIFTS[verdict]), "cnc": [0.6 + lift / 100 for lift in LIFTS[verdict]]}
    artifact_runs = [
        world("celeba", name, "table_1", "celeba", values=[r for i, v in enumerate(worst) for r in rows(v, i)])
        for name, worst in accuracies.items()
    ]
    table, _ = make_table("prose", artifact_runs, tmp_path)
    lift = row_of(table, metric="worst_group_accuracy_lift", paper_dataset="celeba")
    assert (lift["verdict"], lift["seeds"]) == (verdict, len(LIFTS[verdict]))
    assert lift["difference"] == pytest.approx(np.mean(LIFTS[verdict]) - 7.7)
    half = stats.t.isf(0.025, 2) * np.std(LIFTS[verdict], ddof=1) / np.sqrt(3)  # the printed number is taken as fixed
    assert (lift["high"] - lift["low"]) / 2 == pytest.approx(half)


def test_test_samples_that_are_drawn_anew_make_a_lift_vary(world):
    """Two worst groups of 50 samples, with .6 and .8 right; the paper's samples are others."""
    printed = pd.read_csv(PAPER / "reported/prose.csv").query("metric == 'worst_group_accuracy_lift'")
    (number,) = printed[printed["dataset"] == "celeba"].itertuples()
    found = {}
    for dataset in ("cmnist", "celeba"):
        number = number._replace(dataset=dataset)
        own = [world(dataset, n, "table_1", dataset, values=rows(v, 0)) for n, v in (("jtt", 0.6), ("cnc", 0.8))]
        source = MeasuredValues(*measurements.load_sentence_metrics(own))
        sentence = read_sentence(number, {"seeds": 3}, 0.05)
        ((_, formula),) = sentence.list_formulas(source)
        found[dataset] = sum_noise(sentence, formula, source)
    assert found == {"cmnist": pytest.approx(2e4 * (0.6 * 0.4 + 0.8 * 0.2) / 50), "celeba": 0}
