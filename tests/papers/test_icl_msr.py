"""The paper icl_msr: which run is called what, and that every number it shows is one of the runs'."""

import json
from functools import partial
from pathlib import Path
from zlib import crc32

import numpy as np
import pandas as pd
import pytest
from making import make_table, row_of, write_run

from despur.evidence.claims.claim_format import read_claims
from despur.evidence.sentences.judging import judge_sentences
from despur.orchestration import configuration, experiments, paper_folders
from despur.orchestration.experiments import ArtifactRun
from despur.papers.icl_msr import figures, tables
from despur.papers.icl_msr.method_names import read_settings
from despur.specs.paths import identify_run, locate_result
from despur.specs.resolution import resolve

PAPER = paper_folders.PAPERS / "icl_msr"
DATA = "scene_digits+classes=0-1-2-3-4-5-6-7-8-9+copies=1+foreground=true+test=skewed"
METRICS = {"average_accuracy": "linear_top1", "top5_accuracy": "linear_top5", "knn5_accuracy": "knn5_top1"}
ALL = "linear_classifier+stage1=byol~byol_msr~lmcl~lmcl_msr~ressl~ressl_msr~simclr~simclr_msr"


def accuracy(run, split, metric):
    """A made-up accuracy: better with MSR, with more epochs, on what was trained on; another for each seed, metric and
    base."""
    base = run.spec.components["stage1"]
    trained = run.data.settings.get("train", "full")
    same = (trained == "foreground") == (split == "test_foreground")
    rise = 0.05 * base.base_name.endswith("_msr") + 0.01 * np.log2(base.settings["epochs"])
    rise = rise + 0.2 * same + 0.01 * run.seed
    if "lambda" in base.settings:
        rise -= 0.01 * abs(np.log10(base.settings["lambda"])) + 0.005 * abs(np.log10(base.settings["gamma"]))
    of_metric = {"average_accuracy": 0, "top5_accuracy": 0.1, "knn5_accuracy": -0.02}[metric]
    noise = 1e-5 * (crc32(f"{run.key} {split}".encode()) % 97)  # no two differ by the same from seed to seed
    return 0.3 + rise + noise + 0.001 * len(base.base_name) + of_metric


@pytest.fixture
def artifact_run(tmp_path, monkeypatch):
    """Makes made-up runs of a method, with what lies below them; ``world.table`` holds all accuracies."""
    monkeypatch.chdir(tmp_path)

    def make(name, artifact="table_1", paper_dataset="cifar10", dataset=DATA, printed="all", seeds="s0-1"):
        folder = tmp_path / "results/runs" / dataset / name / seeds
        result = locate_result(folder)
        rows, looks = [], []
        for run in result.runs():
            named = identify_run(result, run)
            for split in ("test", "test_foreground"):
                own = named | {"split": split, "group": ""}
                rows += [own | {"metric": m, "value": accuracy(run, split, m)} for m in METRICS]
                rows.append(own | {"metric": "samples", "group": "0, land", "value": 40.0})
            for group, samples in (("0, land", 30), ("1, water", 10)):
                inside = 0.2 + 0.1 * run.spec.components["stage1"].base_name.endswith("_msr") + 0.1 * (samples == 10)
                of_group = {"group": group, "samples": samples, "inside": inside}
                looks.append(named | of_group | {"correct": 1.0, "empty": 0.0, "uniform": 0.1})
        write_run(folder, rows, np.linspace(-0.001, 0.001, 5))
        pd.DataFrame(looks).to_csv(folder / "saliency.csv", index=False)
        for base in result.upstream("stage1"):
            slow = {run.key: 4.0 if "lambda" in run.spec.settings else 1.0 for run in base.runs()}
            runs = {run.key: {"seconds": run.spec.settings["epochs"] * slow[run.key]} for run in base.runs()}
            base.folder.mkdir(parents=True, exist_ok=True)
            (base.folder / "about.json").write_text(json.dumps({"device": "cpu", "runs": runs}))
        return ArtifactRun(paper_dataset, dataset, printed, (str(folder),), artifact)

    return make


made = partial(make_table, tables)


def expected(name, split="test", metric="average_accuracy", data=DATA, seeds="s0-1"):
    """The mean over the seeds of what was made up for a run, percent."""
    result = locate_result(f"results/runs/{data}/{resolve('methods', name, 'scene_digits').name}/{seeds}")
    return 100 * np.mean([accuracy(run, split, metric) for run in result.runs()])


def test_every_printed_method_is_called_by_the_model_that_it_judges():
    for name, text in experiments.load_experiments("icl_msr")["methods"].items():
        assert read_settings("cifar10", text)["paper_method"] == name
    known = {name for i in range(1, 5) for name in pd.read_csv(PAPER / f"reported/table_{i}.csv")["method"]}
    assert known - set(experiments.load_experiments("icl_msr")["methods"]) == {"cpc", "infomin"}


def test_one_job_s_runs_are_told_apart_by_their_stage_1_models(artifact_run, tmp_path):
    table, text = made("table_1", [artifact_run(ALL), artifact_run("linear_classifier+stage1=barlow_twins")], tmp_path)
    assert len(table) == 88 + 2 * 4 and (table["seeds"] > 0).sum() == 9 * 2
    for method in ("simclr", "byol_msr", "lmcl", "ressl_msr"):
        for ours, printed in METRICS.items():
            if printed != "linear_top5":
                row = row_of(table, paper_dataset="cifar10", method=method, metric=printed)
                assert row["ours"] == pytest.approx(expected(f"linear_classifier+stage1={method}", metric=ours))
                assert row["verdict"] == "substitute data" and row["seeds"] == 2
    assert row_of(table, paper_dataset="cifar10", method="simclr", metric="linear_top1")["reported"] == 91.80
    barlow_twins = row_of(table, paper_dataset="cifar10", method="barlow_twins", metric="knn5_top1")
    assert barlow_twins["reason"] == "nothing printed"
    assert f"{expected('linear_classifier+stage1=byol_msr'):.2f}" in text


def test_copied_baselines_are_marked(artifact_run, tmp_path):
    table, _ = made("table_3", [artifact_run(ALL, "table_3", "imagenet")], tmp_path)
    copied = table[table["method"].isin(["cpc", "infomin"])]
    assert len(copied) == 4 and copied["ours"].isna().all()
    assert set(copied["reason"]) == {"reported only: a copied baseline"}
    ours = row_of(table, method="byol_msr", metric="linear_top5")["ours"]
    assert ours == pytest.approx(expected("linear_classifier+stage1=byol_msr", metric="top5_accuracy"))


def test_few_labels_stand_beside_their_shares(artifact_run, tmp_path):
    name = "fine_tuning+label_fraction=0.01~0.1+stage1=byol~byol_msr~simclr~simclr_msr"
    table, _ = made("table_4", [artifact_run(name, "table_4", "imagenet")], tmp_path)
    assert len(table) == 16 and set(table["seeds"]) == {2}
    for method in ("simclr", "byol_msr"):
        for share in (0.01, 0.1):
            of_share = table[table["setting"].str.contains(f"label_fraction={share}(?:$|;)")]
            run = f"fine_tuning+label_fraction={share}+stage1={method}"
            ours = row_of(of_share, method=method, metric="linear_top5")["ours"]
            assert ours == pytest.approx(expected(run, metric="top5_accuracy"))


def test_a_tenth_of_the_labels_is_seen_half_as_often():
    """SimCLR's protocol: 60 epochs at 1 %, 30 at 10 %."""
    config = {"seeds": 1, "datasets": {"imagenet": "imagenet"}}
    artifact_runs = experiments.list_artifact_runs(config, "icl_msr", "table_4")
    folders = [folder for artifact_run in artifact_runs for folder in artifact_run.folders]
    runs = [run.spec for folder in folders for run in locate_result(folder).runs()]
    keys = ("label_fraction", "epochs")
    asked = [(run.components["stage1"].base_name, *(run.settings[key] for key in keys)) for run in runs]
    bases = ("byol", "byol_msr", "simclr", "simclr_msr")
    assert sorted(asked) == [(base, *pair) for base in bases for pair in ((0.01, 60), (0.1, 30))]
    assert {run.components["stage1"].settings.get("n", 14) for run in runs} == {14}


def test_saliency_is_weighted_by_samples(artifact_run, tmp_path):
    table, _ = made("table_saliency", [artifact_run(ALL, "figure_4", "coco30")], tmp_path)
    assert row_of(table, paper_method="simclr")["inside"] == pytest.approx((30 * 0.2 + 10 * 0.3) / 40)
    assert row_of(table, paper_method="simclr_msr")["inside"] == pytest.approx((30 * 0.3 + 10 * 0.4) / 40)
    assert set(table["seeds"]) == {2} and table["foreground"].to_numpy() == pytest.approx(0.1)


def test_equal_time_is_interpolated_between_numbers_of_epochs(artifact_run, tmp_path):
    artifact_runs = [
        artifact_run("linear_classifier+stage1.epochs=4~16", "table_time"),
        artifact_run("linear_classifier+stage1=simclr_msr", "table_time"),
    ]
    msr = resolve("methods", "simclr_msr", "scene_digits").points[0].settings["epochs"]
    table, text = made("table_time", artifact_runs, tmp_path)
    row = row_of(table, paper_method="simclr_equal_time", metric="linear_top1")
    low, high = (expected(f"linear_classifier+stage1.epochs={epochs}") for epochs in (4, 16))
    assert row["seconds"] == 4 * msr and 4 < 4 * msr < 16
    assert row["ours"] == pytest.approx(low + (4 * msr - 4) / 12 * (high - low))
    assert "as long as SimCLR + MSR" in text
    outside = [artifact_run("linear_classifier+stage1.epochs=4~5", "table_time"), artifact_runs[1]]
    table, _ = made("table_time", outside, tmp_path)
    assert np.isnan(row_of(table, paper_method="simclr_equal_time", metric="linear_top1")["ours"])


def test_where_each_seed_has_a_draw_of_its_own_all_are_timed_and_looked_into(artifact_run, tmp_path):
    each = partial(artifact_run, dataset=DATA.replace("+foreground", "+draw=seed+foreground"))
    names = ("linear_classifier+stage1.epochs=4~16", "linear_classifier+stage1=simclr_msr")
    table, _ = made("table_time", [each(name, "table_time") for name in names], tmp_path)
    timed = table[table["metric"] == "linear_top1"]
    assert set(timed["paper_method"]) == {"simclr", "simclr_msr", "simclr_equal_time"} and set(timed["seeds"]) == {2}
    table, _ = made("table_saliency", [each(ALL, "figure_4", "coco30")], tmp_path)
    assert set(table["seeds"]) == {2}


def test_times_of_two_machines_are_not_mixed(artifact_run, tmp_path):
    artifact_runs = [
        artifact_run("linear_classifier+stage1.epochs=4~16", "table_time"),
        artifact_run("linear_classifier+stage1=simclr_msr", "table_time"),
    ]
    for file in tmp_path.glob("results/stage1/*/simclr_msr/*/about.json"):
        file.write_text(json.dumps(json.loads(file.read_text()) | {"device": "cuda"}))
    table, _ = made("table_time", artifact_runs, tmp_path)
    assert set(table["machine"]) == {"None, None, cpu", "None, None, cuda"}
    assert set(table["paper_method"]) == {"simclr", "simclr_msr"}  # no SimCLR at equal time


def test_the_numbers_of_the_text(artifact_run, tmp_path):
    levels = "linear_classifier+stage1=simclr_msr+stage1.gamma=0.01~1~1000+stage1.lambda=0.001~1~1000"
    table, _ = made("prose", [artifact_run(ALL), artifact_run(levels, "figure_5")], tmp_path)
    own = table.set_index("metric")
    assert own.loc["best_lambda", "ours"] == own.loc["best_gamma", "ours"] == 1
    assert own.loc["worst_gamma", "ours"] == 1000  # three powers of ten away from the best, 0.01 is two
    assert "judged as a claim" in own.loc["improvement_upper_bound_in_most_cases", "reason"]
    assert own.loc["n_classes", ["ours", "reason"]].tolist() == [30, "of the loader alone"]


def on_own_data(rows):
    """Runs on CIFAR-10 itself: (columns, accuracies by seed)."""
    fixed = {
        **{"paper_dataset": "cifar10", "data": "cifar10", "substitute": False, "metric": "linear_top1"},
        **{"split": "test", "selection": "best", "group": ""},
    }
    return pd.DataFrame(
        [fixed | own | {"seed": seed, "value": value} for own, values in rows for seed, value in enumerate(values)]
    )


def judged(runs, metric):
    return row_of(judge_sentences("icl_msr", runs.assign(used_dataset=runs["data"])), metric=metric)


@pytest.mark.parametrize(
    ("other", "verdict"),
    [
        ((0.80, 0.81, 0.8203), "as printed"),  # worse in all seeds, by about as much
        ((0.82, 0.83, 0.8403), "not as printed"),
        ((0.70, 0.90, 0.80), "not known"),  # worse on average, but not in all seeds
        ((0.80, 0.81), "not known"),
    ],
)
def test_the_best_level_is_judged_with_the_noise_of_seeds(other, verdict):
    rest = {"artifact": "figure_5", "paper_method": "simclr_msr", "uniformity": 1.0, "vectors": 6}
    low = [({**rest, "weight": weight}, (0.1, 0.11, 0.12)) for weight in (0.001, 0.01, 0.1, 100.0, 1000.0)]
    runs = on_own_data([({**rest, "weight": 1.0}, (0.81, 0.82, 0.8302)), ({**rest, "weight": 10.0}, other), *low])
    found = judged(runs, "best_lambda")
    assert found["verdict"] == verdict and found["seeds"] == len(other) and found["data"] == "cifar10"
    assert found["ours"] == (10 if verdict == "not as printed" else 1)


def test_a_printed_level_is_not_compared_with_runs_at_other_settings():
    rest = {"artifact": "figure_5", "paper_method": "simclr_msr", "uniformity": 1.0, "vectors": 6}
    levels = [
        ({**rest, "weight": weight, "changed": changed}, (0.8 - weight / 100,) * 3)
        for weight, changed in ((1.0, ""), (10.0, "stage1.epochs=2"))
    ]
    found = judged(on_own_data(levels), "best_lambda")
    assert (found["verdict"], found["reason"]) == ("other settings", "stage1.epochs=2")
    assert np.isnan(found["difference"])


# claims

CLAIMS, _ = read_claims(PAPER / "claims.yaml")


def test_claims_are_judged_on_what_was_made_up(artifact_run, tmp_path):
    bare = "scene_digits+classes=0-1-2-3-4-5-6-7-8-9+copies=1+foreground=true+test=skewed+train=foreground"
    levels = "linear_classifier+stage1=simclr_msr+stage1.gamma=0.001~1~1000+stage1.lambda=0.001~1~1000"
    three = partial(artifact_run, seeds="s0-2")
    artifact_runs = [
        three(ALL),
        three(ALL, "figure_4", "coco30"),
        three("linear_classifier+stage1=byol~simclr", "figure_1", "coco30", bare),
        three("fine_tuning+label_fraction=0.01~0.1+stage1=byol~byol_msr~simclr~simclr_msr", "table_4", "imagenet"),
        three(levels, "figure_5"),
        three("linear_classifier+stage1.epochs=4~16", "table_time"),
        three("linear_classifier+stage1=simclr_msr", "table_time"),
    ]
    table, _ = made("claims", artifact_runs, tmp_path)
    found = table[table["verdict"] != "not run here"].set_index("claim")
    verdicts = found["verdict"].to_dict()
    for name in (
        *("full_models_need_the_background", "foreground_models_need_foregrounds", "full_models_win_on_full_images"),
        *("msr_gains_on_full_images", "msr_improves_linear_classifiers", "msr_improves_nearest_neighbours"),
        *("msr_improves_fine_tuning", "lambda_1_is_best", "gamma_1_is_best"),
    ):
        assert verdicts[name] == "seen here", name
    assert found.loc["foregrounds_alone_are_best", "estimate"] == pytest.approx(0, abs=2e-3)
    msr = resolve("methods", "simclr_msr", "scene_digits").points[0].settings["epochs"]
    low, high = (expected(f"linear_classifier+stage1.epochs={epochs}", seeds="s0-2") for epochs in (4, 16))
    gain = expected("linear_classifier+stage1=simclr_msr", seeds="s0-2") - (low + (4 * msr - 4) / 12 * (high - low))
    assert found.loc["msr_gains_at_equal_time", "estimate"] == pytest.approx(gain / 100)
    assert set(table[table["dataset"].isin(["stl10", "imagenet100"])]["verdict"]) == {"not run here"}


# the bundled run

BUNDLED = configuration.load_configuration(Path("config/reference.yaml"))


def bundled(artifact_run, artifact):
    """Made-up runs of config/reference.yaml."""
    asked = experiments.list_artifact_runs(BUNDLED, "icl_msr", artifact)
    results = [(each, locate_result(folder)) for each in asked for folder in each.folders]
    return [
        artifact_run(result.name, each.artifact, each.paper_dataset, each.dataset, each.paper_method, result.seeds)
        for each, result in results
    ]


def test_the_bundled_run_has_what_every_claim_asks_for(artifact_run, tmp_path):
    """Levels on either side of the best, ten seeds and more where MSR is compared with its base, SimCLR before and
    after the time of MSR."""
    table, _ = made("claims", bundled(artifact_run, "claims"), tmp_path)
    here = {"cifar10", "imagenet100", "imagenet", "coco30"}
    found = table[table["dataset"].isin(here)].set_index("claim")
    asked = {claim.name for claim in CLAIMS if not claim.together and here & set(claim.datasets)}
    magnitudes = {claim.name for claim in CLAIMS if not claim.is_order and not claim.not_executed}
    assert set(found.index) == asked and {*found.index[found["verdict"] == "not run here"]} <= magnitudes
    assert (found.loc[["lambda_1_is_best", "gamma_1_is_best"], "estimate"] > 0).all()
    compared = ("figure_1", "figure_4", "table_4", "table_time")
    own = {c.name for c in CLAIMS if c.artifact in compared and c.is_order and not c.not_executed}
    assert found.loc[[*own, "msr_improves_linear_classifiers", "msr_improves_nearest_neighbours"], "seeds"].ge(10).all()


def test_the_bundled_table_of_times_has_both_orders(artifact_run, tmp_path):
    table, _ = made("table_time", bundled(artifact_run, "table_time"), tmp_path)
    assert set(table[table["paper_method"] == "simclr_msr"]["second_order"]) == {"first", "second"}


# figures


def test_the_name_of_a_data_set_is_folded_and_stays_as_it_is_typed():
    ((name, _),) = figures.split_by_dataset(pd.DataFrame({"paper_dataset": ["coco30"], "used_dataset": [DATA]}))
    assert "\n" in name and name.replace("\n", "").endswith(f"substitute: {DATA}")


def test_figures_plot_what_was_measured(artifact_run, tmp_path):
    bare = f"{DATA}+train=foreground"
    artifact_runs = [
        artifact_run(ALL, "figure_4", "coco30"),
        artifact_run("linear_classifier+stage1=byol~simclr", "figure_1", "coco30", bare),
    ]
    figures.draw_figure_1(artifact_runs, tmp_path / "figure_1")
    figures.draw_figure_4(artifact_runs[:1], tmp_path / "figure_4")
    first, fourth = (pd.read_csv(tmp_path / f"figure_{i}.csv") for i in (1, 4))
    assert len(first) == 2 * 4 * 2 * 2 and len(fourth) == 4 * 2 * 2 * 2
    mean = first.groupby(["paper_method", "train", "split", "metric"])["accuracy"].mean()
    byol = expected("linear_classifier+stage1=byol", metric="knn5_accuracy", data=bare)
    assert mean["byol", "foreground", "test", "knn5_top1"] == pytest.approx(byol)
    levels = "linear_classifier+stage1=simclr_msr+stage1.gamma=1~1000+stage1.lambda=0.1~1"
    figures.draw_figure_5([artifact_run(levels, "figure_5", seeds="s0")], tmp_path / "figure_5")
    fifth = pd.read_csv(tmp_path / "figure_5.csv")
    points = {(weight, uniformity) for weight in (0.1, 1.0) for uniformity in (1.0, 1000.0)}
    assert set(zip(fifth["weight"], fifth["uniformity"], strict=True)) == points
    files = {f"figure_{i}.{kind}" for i in (1, 4, 5) for kind in ("png", "pdf")}
    assert {p.name for p in tmp_path.glob("figure_*.p*")} == files
