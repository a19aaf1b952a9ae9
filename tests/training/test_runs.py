"""From a path to trained models, outputs and history."""

import json
import sys
from dataclasses import replace
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
import torch
from helpers import OPTIONS, result, save_tiny, task
from safetensors.numpy import save_file

from despur import evaluate, groups
from despur.compute import machine
from despur.compute.input_batcher import present
from despur.compute.machine import Machine
from despur.compute.randomness import derive_generator
from despur.compute.task import encode
from despur.methods import con_ft
from despur.methods.cnc import CNC
from despur.methods.erm import ERM
from despur.methods.jtt import JTT
from despur.metrics.groups import worst_group_accuracy
from despur.model import load
from despur.specs.hyperparameters import RULES
from despur.specs.settings import SettingError
from despur.storage.containers import Container, save_arrays
from despur.storage.finished_runs import read_metrics
from despur.storage.provenance import run_from_command_line
from despur.storage.store import InputError, load_dataset
from despur.training import runs
from despur.training.inputs import RunInputs, load_method_class
from despur.training.validation import Evaluator

ERM_NAME = "erm+batch_size=8+epochs=4"
SWEEP = "erm+epochs=1+learning_rate=0.02~0.05"
DIM = 84  # of LeNet's representations


def make(root, path):
    """The runs of a path, trained if they are not yet."""
    where = result(root, path)
    if not (where.folder / "about.json").exists():
        runs.train_all(where, OPTIONS)
    return where


def save_groups(root, name, arrays):
    """Made-up groups where those of ``name`` are looked for."""
    folder = root / "groups/colored_digits" / name / "s0-1"
    folder.mkdir(parents=True)
    save_file(
        {f"colored_digits/{key}": value.astype(np.int16) for key, value in arrays.items()},
        folder / "groups.safetensors",
    )


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Results with tiny made-up data and groups."""
    results = tmp_path_factory.mktemp("results")
    dataset = save_tiny(results)
    train = dataset.rows("train")
    truth = dataset.table["a"].to_numpy()[train]
    save_groups(results, "oracle", {f"oracle/s{seed}": truth for seed in (0, 1)})
    shifted = {
        f"predictions{'+stage1.epochs=1' * one}/s{seed}": (truth + seed + 2 * one) % 5
        for seed in (0, 1)
        for one in (0, 1)
    }
    for one in (0, 1):
        name = f"predictions{'+stage1.epochs=1' * one}"
        save_groups(results, name, {key: value for key, value in shifted.items() if key.startswith(f"{name}/")})
    return results


@pytest.fixture(scope="module")
def dataset(root):
    return load_dataset(root / "data/colored_digits", "colored_digits")


@pytest.fixture(scope="module")
def erm(root):
    """A finished run of two seeds that overfits, so that its best step is not its last."""
    return make(root, f"runs/colored_digits/{ERM_NAME}/s0-1")


def test_everything_asked_for_is_written(erm):
    assert {file.name for file in erm.folder.iterdir()} == {
        "models.safetensors",
        "outputs.safetensors",
        "history.csv",
        "about.json",
    }
    keys = [f"colored_digits/{ERM_NAME}/s{seed}/{selection}" for seed in (0, 1) for selection in ("best", "last")]
    outputs, models = (Container(erm.folder / f"{name}.safetensors") for name in ("outputs", "models"))
    assert outputs.keys == {f"{key}/{name}" for key in keys for name in ("z", "logits")}
    for key in keys:
        assert {f"encoder.layers.{i}.{kind}" for i in (0, 3, 7, 9) for kind in ("weight", "bias")} | {
            "head.weight",
            "head.bias",
        } == set(models.load_arrays(key))


def test_outputs_hold_every_sample_of_the_data_set(erm, dataset):
    for key in Container(erm.folder / "outputs.safetensors").keys:
        array = Container(erm.folder / "outputs.safetensors")[key]
        assert array.dtype == (np.float16 if key.endswith("/z") else np.float32) and np.isfinite(array).all()
        assert array.shape == (len(dataset.y), DIM if key.endswith("/z") else 5)


def test_outputs_are_those_of_the_kept_weights(erm, dataset):
    models, outputs = (Container(erm.folder / f"{name}.safetensors") for name in ("models", "outputs"))
    run = erm.runs()[1]
    encoder = load_method_class("erm")(RunInputs(erm, torch.device("cpu")).build_task(run, dataset), run.spec).networks[
        "encoder"
    ]
    pixels = torch.from_numpy(dataset.inputs[:, 2:34, 2:34].copy()).permute(0, 3, 1, 2) / 127.5 - 1
    for selection in ("best", "last"):
        weights = {
            name: torch.from_numpy(value) for name, value in models.load_arrays(f"{run.key}/{selection}").items()
        }
        encoder.load_state_dict(
            {name.removeprefix("encoder."): value for name, value in weights.items() if name.startswith("encoder.")}
        )
        z = encoder(pixels).detach()
        np.testing.assert_allclose(outputs[f"{run.key}/{selection}/z"], z, rtol=2e-3, atol=2e-3)
        logits = z @ weights["head.weight"].T + weights["head.bias"]
        np.testing.assert_allclose(outputs[f"{run.key}/{selection}/logits"], logits, rtol=1e-4, atol=1e-5)


def test_what_is_best_and_last_is_encoded_once(root, monkeypatch):
    encoded, outputs = [], runs.compute_outputs
    monkeypatch.setattr(runs, "compute_outputs", lambda method, *rest: encoded.append(method) or outputs(method, *rest))
    where = make(root, "runs/colored_digits/erm+criterion=last+epochs=1/s0-1")
    kept = Container(where.folder / "outputs.safetensors")
    assert len(encoded) == 2
    for run in where.runs():
        for name in ("z", "logits"):
            assert (kept[f"{run.key}/best/{name}"] == kept[f"{run.key}/last/{name}"]).all()


FT = "con_ft+batch_size=20+epochs=3+snapshots=2"


def test_con_ft_fits_its_classifier_once_for_each_model_that_is_kept(root, monkeypatch):
    fits, fit = [], con_ft.logistic
    monkeypatch.setattr(con_ft, "logistic", lambda z, *rest, **rules: fits.append(len(z)) or fit(z, *rest, **rules))
    where = make(root, f"runs/colored_digits/{FT}/s0-1")
    kept = json.loads((where.folder / "about.json").read_text())["runs"].values()
    # last, the second epoch, and the best
    assert fits == [60] * sum(2 + (run["best_step"] < run["steps"]) for run in kept)
    history = pd.read_csv(where.folder / "history.csv")
    assert (history["name"] == "val_objective").sum() == 6 and "val_average_accuracy" not in set(history["name"])
    models, outputs = (Container(where.folder / f"{name}.safetensors") for name in ("models", "outputs"))
    for run in where.runs():
        for selection in ("best", "last", "epoch=2"):
            logits = outputs[f"{run.key}/{selection}/z"] @ models[f"{run.key}/{selection}/head.weight"].T
            np.testing.assert_allclose(outputs[f"{run.key}/{selection}/logits"], logits, atol=0.05)
    evaluate.evaluate(where, OPTIONS)
    metrics = pd.read_csv(where.folder / "metrics.csv")
    attacked = metrics.loc[metrics["metric"] == "leakage_logits", "selection"]
    assert set(attacked) == {"best", "last"} < set(metrics["selection"]) == {"best", "last", "epoch=2"}


def test_without_a_criterion_the_loss_of_validation_data_decides(root, dataset):
    torch.manual_seed(0)
    run = result(root, f"runs/colored_digits/{FT}/s0-1").runs()[0]
    inputs = RunInputs(result(root, f"runs/colored_digits/{FT}/s0-1"), torch.device("cpu"))
    method = con_ft.ConFT(inputs.build_task(run, dataset), run.spec)
    val = dataset.rows("val")
    method.settings = {**method.settings, "batch_size": len(val)}
    shown = present(dataset, val, "centre", torch.device("cpu"))
    z = torch.from_numpy(encode(method.networks["encoder"], None, shown, np.random.default_rng(0))["z"]).float()
    y, a = (torch.from_numpy(dataset.table[name].to_numpy()[val]) for name in ("y", "a"))
    evaluate = Evaluator(dataset, Machine(torch.device("cpu")), "key", "objective")
    assert evaluate(method) == {"val_objective": pytest.approx(-method.contrast(z, y, a)["loss"].item(), rel=1e-4)}
    method.settings["batch_size"] = 8  # mini-batches of 8, 8, 7 and 7, each time the same
    batches = np.array_split(derive_generator("key", -3).permutation(30), 4)
    losses = [method.contrast(z[rows], y[rows], a[rows])["loss"].item() for rows in batches]
    expected = -np.average(losses, weights=[8, 8, 7, 7])
    assert evaluate(method) == evaluate(method) == {"val_objective": pytest.approx(expected, rel=1e-4)}


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("selection", ["best", "last"])
def test_kept_outputs_score_what_the_history_says(erm, dataset, seed, selection):
    run, rows = erm.runs()[seed], dataset.rows("val")
    history = (
        pd.read_csv(erm.folder / "history.csv")
        .query("seed == @seed")
        .pivot(index="step", columns="name", values="value")
    )
    scores = history[["val_worst_group_accuracy", "val_average_accuracy"]]
    expected = (
        scores.iloc[-1]
        if selection == "last"
        else scores.sort_values(list(scores), ascending=False, kind="stable").iloc[0]
    )
    logits = Container(erm.folder / "outputs.safetensors")[f"{run.key}/{selection}/logits"][rows]
    correct = logits.argmax(1) == dataset.y[rows]
    assert worst_group_accuracy(correct, dataset.groups[rows]) == pytest.approx(expected["val_worst_group_accuracy"])
    assert correct.mean() == pytest.approx(expected["val_average_accuracy"])


def test_last_weights_are_not_the_best_ones_where_training_went_on(erm):
    about = json.loads((erm.folder / "about.json").read_text())["runs"]
    models = Container(erm.folder / "models.safetensors")
    early = [key for key, facts in about.items() if facts["best_step"] < facts["steps"]]
    assert early  # else this test shows nothing: change the data
    for key in early:
        assert (models[f"{key}/best/head.weight"] != models[f"{key}/last/head.weight"]).any()


def test_history_and_about_tell_of_every_run(erm):
    history = pd.read_csv(erm.folder / "history.csv")
    assert list(history) == ["epoch", "step", "name", "value", "dataset", "method", "seed"]
    assert set(history["name"]) == {"loss", "val_worst_group_accuracy", "val_average_accuracy"}
    assert (
        set(history["seed"]) == {0, 1}
        and set(history["method"]) == {ERM_NAME}
        and set(history["dataset"]) == {"colored_digits"}
    )
    assert sorted(set(history["step"])) == [8, 16, 24, 32] and sorted(set(history["epoch"])) == [1, 2, 3, 4]
    about = json.loads((erm.folder / "about.json").read_text())
    assert about["device"] == "cpu" and about["precision"] == "fp32" and about["threads"] == 1
    for run in erm.runs():
        facts = about["runs"][run.key]
        assert facts["steps"] == 32 and facts["training_images"] == 240 and 0 < facts["best_step"] <= 32


def test_checkpoints_are_gone_once_results_are_written(erm, root):
    assert not list((root / ".resume").rglob("*.pt"))


def test_stage_1_keeps_the_last_step_for_groups_and_the_best_for_what_is_fitted_on_it(root):
    where = result(root, "stage1/colored_digits/erm+epochs=2/s0")
    runs.train_all(where, OPTIONS)
    key = where.runs()[0].key
    names = {f"{key}/{selection}/{name}" for selection in ("best", "last") for name in ("z", "logits")}
    assert Container(where.folder / "outputs.safetensors").keys == names


@pytest.mark.parametrize("criterion", ["average_accuracy", "log_likelihood"])
def test_the_criterion_decides_which_step_is_best(criterion, root, dataset):
    where = make(root, f"runs/colored_digits/erm+batch_size=8+criterion={criterion}+epochs=4/s0-1")
    history = pd.read_csv(where.folder / "history.csv")
    for run in where.runs():
        of = history[history["seed"] == run.seed].pivot(index="step", columns="name", values="value")
        best = json.loads((where.folder / "about.json").read_text())["runs"][run.key]["best_step"]
        assert of[f"val_{criterion}"][best] == of[f"val_{criterion}"].max()
        assert ("val_log_likelihood" in of) == (criterion == "log_likelihood")
        if criterion == "log_likelihood":
            rows = dataset.rows("val")
            logits = Container(where.folder / "outputs.safetensors")[f"{run.key}/best/logits"][rows].astype(float)
            odds = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
            assert of.loc[best, "val_log_likelihood"] == pytest.approx(
                np.log(odds[np.arange(len(rows)), dataset.y[rows]]).mean()
            )


@pytest.mark.parametrize(
    ("name", "state", "told"),
    [
        ("gdro+epochs=1", {"q"}, set()),
        ("jtt+epochs=1", set(), {"wrong_in_stage_1", "largest_factor"}),
        (
            "cnc+epochs=1+groups=predictions+num_negatives=3+num_positives=3+projection=6",
            {"projection.0.weight", "projection.2.bias"},
            {"num_positives", "num_negatives", "anchors_per_epoch", "fallbacks"},
        ),
    ],
    ids=["gdro", "jtt", "cnc"],
)
def test_every_method_is_kept_with_all_its_state(name, state, told, root):
    where = make(root, f"runs/colored_digits/{name}/s0-1")
    models, outputs = (Container(where.folder / f"{kind}.safetensors") for kind in ("models", "outputs"))
    about = json.loads((where.folder / "about.json").read_text())["runs"]
    for run in where.runs():
        for selection in ("best", "last"):
            assert state | {"head.weight"} <= set(models.load_arrays(f"{run.key}/{selection}"))
            assert outputs.load_arrays(f"{run.key}/{selection}").keys() == {"z", "logits"}
        assert (
            set(about[run.key]) - {"seconds", "steps", "best_step", "compiled", "training_images", "trained_parameters"}
            == told
        )


def assert_same_arrays(first, second, prefix_of_first, prefix_of_second):
    one, other = first.load_arrays(prefix_of_first), second.load_arrays(prefix_of_second)
    assert one and one.keys() == other.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def test_a_point_in_a_sweep_has_the_digits_it_has_alone(root):
    together = make(root, f"runs/colored_digits/{SWEEP}/s0-1")
    assert len(together.runs()) == 4
    alone = make(root, "runs/colored_digits/erm+epochs=1+learning_rate=0.05/s1")
    (run,) = alone.runs()
    assert run.key in {other.key for other in together.runs()}
    for kind in ("models", "outputs"):
        first, second = (Container(where.folder / f"{kind}.safetensors") for where in (together, alone))
        assert_same_arrays(first, second, run.key, run.key)
    history = (
        pd.read_csv(together.folder / "history.csv")
        .query("seed == 1 and method == @run.spec.name")
        .reset_index(drop=True)
    )
    pd.testing.assert_frame_equal(history, pd.read_csv(alone.folder / "history.csv"))
    other = Container(together.folder / "models.safetensors")
    keys = [f"{run.key}/last/head.weight" for run in together.runs()]
    assert len({other[key].tobytes() for key in keys}) == 4  # four different runs


def test_points_of_a_sweep_start_from_the_same_weights(root):
    still = make(root, "runs/colored_digits/erm+epochs=1~2+learning_rate=1e-30/s0-1")  # weights stay where they were
    models = Container(still.folder / "models.safetensors")
    by_run = {
        (run.spec.settings["epochs"], run.seed): models[f"{run.key}/last/encoder.layers.0.weight"]
        for run in still.runs()
    }
    assert (by_run[1, 0] == by_run[2, 0]).all() and (by_run[1, 1] == by_run[2, 1]).all()
    assert (by_run[1, 0] != by_run[1, 1]).any()


FAULTS = {
    "stopped": (KeyboardInterrupt(), "stopped; the same command goes on where it was"),
    "no GPU": (
        torch.AcceleratorError("CUDA error: unspecified launch failure\nFor debugging consider ..."),
        "error: {}: CUDA error: unspecified launch failure. Run it again: it goes on where it was",
    ),
    "memory": (
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has 1.50 GiB free. If ..."),
        "error: {}: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has 1.50 GiB free. Run it again with fewer "
        "jobs for each GPU (jobs_per_gpu) or on a larger one: it goes on where it was",
    ),
}


@pytest.mark.parametrize(("fault", "says"), FAULTS.values(), ids=FAULTS)
def test_a_job_that_ended_early_says_why_and_goes_on_where_it_was(root, monkeypatch, fault, says):
    path = "runs/colored_digits/erm+batch_size=16+epochs=2/s0-1"
    whole = make(root, path)
    expected = {kind: (whole.folder / f"{kind}.safetensors").read_bytes() for kind in ("models", "outputs")}
    history = (whole.folder / "history.csv").read_bytes()
    for file in whole.folder.iterdir():
        file.unlink()
    steps, step = [], ERM.step

    def fragile(self, batch, rng):
        steps.append(batch)
        if len(steps) == 11:  # in the first epoch of the second seed
            raise fault
        return step(self, batch, rng)

    monkeypatch.setattr(ERM, "step", fragile)
    monkeypatch.setattr("sys.argv", ["stage2", str(whole.folder), "--device", "cpu", "--checkpoint-seconds", "0"])
    with pytest.raises(SystemExit) as end:
        run_from_command_line("", runs.train_all, *machine.OPTIONS)
    assert end.value.code == says.format(whole.folder)
    assert not list(whole.folder.iterdir()) and list((root / ".resume").rglob("*.pt"))
    run_from_command_line("", runs.train_all, *machine.OPTIONS)
    assert len(steps) == 11 + 6  # two epochs of four steps for each seed, the interrupted one once more
    assert expected == {kind: (whole.folder / f"{kind}.safetensors").read_bytes() for kind in expected}
    assert (whole.folder / "history.csv").read_bytes() == history
    assert not list((root / ".resume").rglob("*.pt"))


def test_a_method_is_given_the_groups_inferred_for_its_run(root, dataset):
    truth = dataset.table["a"].to_numpy()[dataset.rows("train")]
    for name, one in (("jtt", 0), ("jtt+stage1.epochs=1", 1)):
        at = result(root, f"runs/colored_digits/{name}/s0-1")
        for run in at.runs():
            task = RunInputs(at, torch.device("cpu")).build_task(run, dataset)
            assert (task.inferred_attribute == (truth + run.seed + 2 * one) % 5).all()
            assert (task.y == dataset.y[dataset.rows("train")]).all() and task.num_classes == 5
            assert task.batcher.crop == "image" and task.batcher.shape == (3, 32, 32)
    erm = result(root, "runs/colored_digits/erm/s0")
    assert RunInputs(erm, torch.device("cpu")).build_task(erm.runs()[0], dataset).inferred_attribute is None


def test_a_method_file_gives_its_method():
    assert load_method_class("erm") is ERM and load_method_class("cnc") is CNC
    with pytest.raises(SettingError, match=r"families/__init__\.py defines no method: let its class"):
        load_method_class("families")


@pytest.mark.parametrize(
    ("classes", "chosen"),
    [
        ("class Helper(ERM): ...\nclass Mine(Helper): ...", "Mine"),
        ("class Mine(ERM): ...\nAlias = Mine", "Mine"),
        ("class Mine(ERM):\n    def __new__(cls): ...\nclass A(Mine): ...\nclass B(Mine): ...", "Mine"),
        ("class A(ERM): ...\nclass B(ERM): ...", ""),
    ],
)
def test_of_several_classes_the_one_that_no_other_extends_is_the_method(classes, chosen, monkeypatch):
    module = ModuleType("despur.methods.mine")
    module.__file__ = "mine.py"
    exec(f"from despur.methods.erm import ERM\n{classes}", module.__dict__)
    monkeypatch.setitem(sys.modules, "despur.methods.mine", module)
    if chosen:
        assert load_method_class("mine").__name__ == chosen
    else:
        with pytest.raises(SettingError, match=r"mine\.py defines several methods, A, B: each needs a file"):
            load_method_class("mine")


def test_metrics_are_those_of_the_kept_outputs(erm, dataset):
    evaluate.evaluate(erm, OPTIONS)
    table = pd.read_csv(erm.folder / "metrics.csv", keep_default_na=False, na_values={"value": [""]})
    assert (
        set(table["split"]) == {"train", "val", "test"}
        and set(table["selection"]) == {"best", "last"}
        and set(table["seed"]) == {0, 1}
    )
    value = table.set_index(["seed", "selection", "split", "metric", "group"])["value"]
    assert value.index.is_unique
    outputs, train = Container(erm.folder / "outputs.safetensors"), dataset.rows("train")
    for run in erm.runs():
        for selection in ("best", "last"):
            logits = outputs[f"{run.key}/{selection}/logits"]
            for split in ("train", "val", "test"):
                rows = dataset.rows(split)
                correct, at = logits[rows].argmax(1) == dataset.y[rows], (run.seed, selection, split)
                assert value[(*at, "average_accuracy", "")] == pytest.approx(correct.mean())
                assert value[(*at, "worst_group_accuracy", "")] == pytest.approx(
                    worst_group_accuracy(correct, dataset.groups[rows])
                )
                cells = [value[(*at, "accuracy", name)] for name in dataset.about["groups"]]
                weights = dataset.groups[train].sum(0) * ~np.isnan(cells)
                weighted = (np.nan_to_num(cells) * weights).sum() / weights.sum()
                assert value[(*at, "weighted_average_accuracy", "")] == pytest.approx(weighted)
                assert sum(value[(*at, "samples", name)] for name in dataset.about["groups"]) == len(rows)
            for metric in (
                "leakage_representations",
                "leakage_representations_standardized",
                "mutual_information_class",
                "mutual_information_class_standardized_half",
                "alignment_loss",
                "cosine_similarity",
            ):
                assert np.isfinite(value[run.seed, selection, "test", metric, ""])
                assert (run.seed, selection, "val", metric, "") not in value.index


def test_a_method_that_trains_on_held_out_samples_is_given_their_attributes(tmp_path):
    dataset = save_tiny(tmp_path)
    groups.infer(result(tmp_path, "groups/colored_digits/oracle/s0-1"), OPTIONS)
    run = result(tmp_path, "runs/colored_digits/gdro/s0-1").runs()[1]
    run = replace(run, spec=replace(run.spec, settings={**run.spec.settings, "held_out_share": 0.4}))
    inputs = RunInputs(result(tmp_path, "runs/colored_digits/gdro/s0-1"), torch.device("cpu"))
    divided = inputs.load_dataset(run)
    divided.table["label_rank"] = divided.table["original"] + 1000
    task, rows = inputs.build_task(run, divided), divided.rows("held_out")
    assert (task.originals == rows).all() and (task.label_rank == rows + 1000).all()
    assert 0 < len(rows) < len(dataset.rows("val")) and len(rows) == len(task)
    assert (task.y == dataset.y[rows]).all() and (task.inferred_attribute == dataset.a[rows]).all()


def test_a_method_starts_from_the_step_of_stage_1_that_it_names(root):
    name = "fine_tuning+stage1.epochs=3+stage1_weights=best~last"
    at = result(root, f"runs/colored_digits/{name}/s0")
    (above,), runs_of = at.upstream("stage1"), at.runs()
    key = runs_of[0].find_upstream_key("stage1")
    weights = {
        f"{key}/{step}/{part}.weight": np.full(2, value, np.float32)
        for part in ("encoder", "projector")
        for step, value in (("best", 1), ("last", 2))
    }
    save_arrays(above.folder / "models.safetensors", weights)
    inputs = RunInputs(at, torch.device("cpu"))
    found = {run.spec.value("stage1_weights"): inputs.load_stage1_encoder(run) for run in runs_of}
    assert {step: {key: value.tolist() for key, value in each.items()} for step, each in found.items()} == {
        "best": {"weight": [1, 1]},
        "last": {"weight": [2, 2]},
    }


def test_what_selects_is_not_trained_on(tmp_path, monkeypatch):
    dataset = save_tiny(tmp_path)
    where = result(tmp_path, "runs/colored_digits/erm/s0")
    for splits, words in {
        ("train", "val"): "erm trains on val, which selects",
        ("test",): "erm trains on test, which selects or tests",
        ("unlabelled",): "no sample of the split",
    }.items():
        monkeypatch.setattr(ERM, "TRAINED_ON", splits)
        with pytest.raises(SettingError, match=words):
            RunInputs(where, torch.device("cpu")).build_task(where.runs()[0], dataset)


def test_a_method_cannot_train_on_samples_to_which_its_inference_gives_no_attribute(root, dataset, monkeypatch):
    monkeypatch.setattr(JTT, "TRAINED_ON", ("train", "held_out"))
    where = result(root, "runs/colored_digits/jtt/s0-1")
    given = replace(dataset, table=dataset.table.assign(split=dataset.table["split"].replace("val", "held_out")))
    with pytest.raises(SettingError, match=r"jtt .* the split val, but to 30 of \d+ predictions gives no"):
        RunInputs(where, torch.device("cpu")).build_task(where.runs()[0], given)


def test_groups_of_another_number_of_samples_are_refused(tmp_path):
    dataset = save_tiny(tmp_path)
    folder = tmp_path / "groups/colored_digits/oracle/s0-1"
    save_arrays(folder / "groups.safetensors", {"colored_digits/oracle/s0": np.zeros(59, np.int16)})
    where = result(tmp_path, "runs/colored_digits/gdro/s0-1")
    with pytest.raises(InputError, match="is of 59 samples, but the split train has 60: delete"):
        RunInputs(where, torch.device("cpu")).build_task(where.runs()[0], dataset)


def test_a_task_refuses_values_of_other_samples():
    with pytest.raises(ValueError, match="inferred_attribute of 3 samples, but 4 train"):
        task(np.array([0, 1, 0, 1]), np.array([0, 1, 0]))


RULED = f"{ERM_NAME}+selections=rules"


@pytest.fixture(scope="module")
def ruled(root):
    """The run of ``erm``, which also keeps what each rule selects, evaluated."""
    where = make(root, f"runs/colored_digits/{RULED}/s0-1")
    evaluate.evaluate(where, OPTIONS)
    return where


def test_rules_change_neither_training_nor_what_was_kept_without_them(erm, ruled):
    for name in ("models", "outputs"):
        plain, more = (Container(where.folder / f"{name}.safetensors") for where in (erm, ruled))
        for key in plain.keys:
            assert (plain[key] == more[key.replace(ERM_NAME, RULED)]).all()
    plain, more = (pd.read_csv(where.folder / "history.csv").drop(columns="method") for where in (erm, ruled))
    pd.testing.assert_frame_equal(more[more["name"].isin(plain["name"])].reset_index(drop=True), plain)


def test_each_rule_keeps_the_step_that_its_scores_in_the_history_say_each_step_once(ruled):
    """By pandas, from history.csv; the criterion's own rule is the best."""
    history, models = pd.read_csv(ruled.folder / "history.csv"), Container(ruled.folder / "models.safetensors")
    about = json.loads((ruled.folder / "about.json").read_text())["runs"]
    ties = ["val_worst_group_accuracy", "val_average_accuracy"]
    for run in ruled.runs():
        own = history[history["seed"] == run.seed].pivot(index="step", columns="name", values="value")
        ordered = {rule: own.sort_values([f"val_{rule}", *ties], ascending=False, kind="stable") for rule in RULES}
        expected = {"best": about[run.key]["best_step"], "last": 32}
        expected |= {rule: table.index[0] for rule, table in ordered.items()}
        names = {"best": "best", "last": "last"} | about[run.key]["selections"]
        assert names["worst_group_accuracy"] == "best" and set(names) == set(expected)
        assert all(expected[name] == expected[selection] for selection, name in names.items())
        kept = {key.removeprefix(f"{run.key}/").split("/")[0] for key in models.keys if key.startswith(run.key)}
        assert kept == {"best", "last"} | set(names.values())
        assert len(kept - {"best", "last"}) == len({*expected.values()} - {expected["best"], 32})


def test_a_rule_is_digit_for_digit_the_best_step_of_a_run_with_that_criterion(root, ruled):
    where = make(root, "runs/colored_digits/erm+batch_size=8+criterion=log_likelihood+epochs=4/s0-1")
    evaluate.evaluate(where, OPTIONS)
    own, ruled_rows = (read_metrics(each.folder / "metrics.csv") for each in (where, ruled))
    shown = [
        rows[rows["selection"] == name].drop(columns=["method", "selection"]).reset_index(drop=True)
        for rows, name in ((own, "best"), (ruled_rows, "log_likelihood"))
    ]
    pd.testing.assert_frame_equal(*shown, check_exact=True)
    weights = load(ruled.folder, selection="log_likelihood").networks.state_dict()
    expected = load(where.folder).networks.state_dict()
    assert all(torch.equal(value, expected[name]) for name, value in weights.items())


def test_rules_whose_step_is_a_snapshot_lose_no_metric(root):
    name = "erm+batch_size=8+criterion=log_likelihood+epochs=4+selections=rules"
    plain, more = (make(root, f"runs/colored_digits/{each}/s1") for each in (name, f"{name}+snapshots=1"))
    (run,) = json.loads((more.folder / "about.json").read_text())["runs"].values()
    assert run["selections"]["average_accuracy"].startswith("epoch=")
    for each in (plain, more):
        evaluate.evaluate(each, OPTIONS)
    plain, more = (read_metrics(each.folder / "metrics.csv").drop(columns="method") for each in (plain, more))
    more = more[~more["selection"].str.startswith("epoch=")].reset_index(drop=True)
    pd.testing.assert_frame_equal(more, plain, check_exact=True)


def test_validation_scores_of_groups_and_classes_are_in_the_history(ruled):
    """Those of the last step are the metrics of the last model."""
    history, metrics = pd.read_csv(ruled.folder / "history.csv"), read_metrics(ruled.folder / "metrics.csv")
    last = history[(history["step"] == 32) & (history["seed"] == 1)].set_index("name")["value"]
    rows = metrics[(metrics["selection"] == "last") & (metrics["split"] == "val") & (metrics["seed"] == 1)]
    for metric in ("accuracy", "class_average_accuracy"):
        own = rows[(rows["metric"] == metric) & rows["value"].notna()]
        assert len(own) > 1
        for group, value in zip(own["group"], own["value"], strict=True):
            assert last[f"val_{metric} {group}"] == pytest.approx(value)
    for metric in ("worst_class_accuracy", "balanced_accuracy"):
        assert last[f"val_{metric}"] == pytest.approx(rows[rows["metric"] == metric]["value"].item())


def test_rules_need_scores(root):
    for name in ("erm+criterion=last+epochs=1", "simclr+epochs=1"):
        with pytest.raises(SettingError, match="selections=rules needs"):
            make(root, f"runs/colored_digits/{name}+selections=rules/s0")
