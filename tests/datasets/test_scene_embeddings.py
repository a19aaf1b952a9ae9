"""Scenes as vectors of a frozen encoder: what they keep of scene_digits, what the encoder knows, and methods that read
stage 1 on them."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers import OPTIONS, result

from despur import groups
from despur.datasets import scene_digits, scene_embeddings
from despur.evaluate import evaluate
from despur.specs.resolution import resolve
from despur.storage.dataset_checks import name_form
from despur.storage.store import save_dataset
from despur.training.runs import train_all

PAIR = "scene_embeddings+classes=8-3+copies=1+dims=4"


def build(name):
    (point,) = resolve("datasets", name).points
    return scene_embeddings.build(point.settings, Path("no raw data needed"))


@pytest.fixture(scope="module")
def pair():
    return build(PAIR)


def shares(dataset, split):
    table = dataset.table.iloc[dataset.rows(split)]
    return {
        group: round(count / len(table), 2)
        for group, count in Counter(zip(table["y"], table["a"], strict=True)).items()
    }


def test_groups_have_the_shares_of_moji(pair):
    assert shares(pair, "train") == pytest.approx({(0, 0): 0.4, (0, 1): 0.1, (1, 0): 0.1, (1, 1): 0.4}, abs=0.011)
    test = pair.table.iloc[pair.rows("test")]
    assert test.groupby("original")["a"].nunique().eq(2).all()


def test_as_hate_speech_test_data_are_as_skewed_as_training(pair):
    skewed = shares(build(f"{PAIR}+test=skewed"), "test")
    assert skewed[0, 0] + skewed[1, 1] == pytest.approx(0.8, abs=0.03)


def test_vectors_are_of_the_scenes_with_unit_variance_in_training(pair):
    assert pair.inputs.shape == (len(pair.table), 4) and pair.inputs.dtype == np.float32
    assert pair.inputs[pair.rows("train")].std(axis=0) == pytest.approx(np.ones(4), abs=0.01)
    assert name_form(pair.inputs) == "embedding" and pair.masks is None
    (point,) = resolve("datasets", "scene_digits+class_share=0.5+classes=8-3+copies=1+p_corr=0.8").points
    pd.testing.assert_frame_equal(pair.table, scene_digits.build(point.settings, Path()).table)


def test_the_encoder_sees_training_images_only_and_no_label(pair, monkeypatch):
    honest = scene_digits.build

    def other(settings, root):
        scenes = honest(settings, root)
        images, table = scenes.inputs.copy(), scenes.table.copy()
        images[scenes.rows("test")] = 255 - images[scenes.rows("test")]
        table["y"], table["a"] = 1 - table["y"], 1 - table["a"]
        return replace(scenes, inputs=images, table=table)

    monkeypatch.setattr(scene_digits, "build", other)
    changed, train = build(PAIR), pair.rows("train")
    assert np.array_equal(changed.inputs[train], pair.inputs[train])
    assert not np.array_equal(changed.inputs[pair.rows("test")], pair.inputs[pair.rows("test")])


@pytest.mark.parametrize("method", ["inlp+iterations=2", "leace"])
def test_a_method_on_stage_1_is_trained_and_evaluated(pair, method, tmp_path):
    save_dataset(tmp_path / "data" / PAIR, {PAIR: pair})
    at = result(tmp_path, f"runs/{PAIR}/{method}/s0-1")
    for part in at.upstream("stage1"):
        train_all(part, OPTIONS)
    for part in at.upstream("groups"):
        groups.infer(part, OPTIONS)
    train_all(at, OPTIONS)
    evaluate(at, OPTIONS)
    metrics = pd.read_csv(at.folder / "metrics.csv").query(
        "split == 'test' and selection == 'best' and metric == 'leakage_representations'"
    )
    assert len(metrics) == 2 and metrics["value"].between(0, 1).all()
    assert all(run["steps"] == 1 for run in json.loads((at.folder / "about.json").read_text())["runs"].values())
