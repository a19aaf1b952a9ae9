"""Embeddings that users bring (npz, parquet) through every method on a foundation model's embeddings, without a
foundation model."""

import numpy as np
import pandas as pd
import pytest
from helpers import OPTIONS, result

from despur import groups
from despur.datasets import bring_your_own
from despur.evaluate import evaluate
from despur.specs.resolution import resolve
from despur.storage.containers import Container
from despur.storage.store import InputError, save_dataset
from despur.training.runs import train_all

DATA = "bring_your_own+name=mine"
METHODS = {
    "prompting": "prompting",
    "linear_probe": "linear_probe+epochs=30+learning_rate=1",
    "adapter": "adapter+epochs=30+learning_rate=0.01",
    "wise_ft": "wise_ft+alpha=0.5+epochs=30+learning_rate=1",
    "dfr_inferred": "dfr_inferred+resample=upsample",
    "contrastive_adapter": "contrastive_adapter+epochs=30+learning_rate=0.01+num_negatives=8"
    "+num_neighbors=16+num_positives=8",
}


def write(folder, kind, **arrays):
    """Classes that embeddings tell linearly, in four groups, as a file of this kind; returns the classes."""
    rng = np.random.default_rng(0)
    y, a = np.arange(240) % 2, np.arange(240) // 2 % 2
    z = rng.normal(size=(240, 6)) + 2 * np.eye(6)[y]
    columns = {"y": np.array(["no", "yes"])[y], "a": a, "split": np.repeat(["train", "val", "test"], 80)}
    folder.mkdir(parents=True, exist_ok=True)
    if kind == "npz":
        np.savez(folder / "mine.npz", features=z, **columns, **arrays)
    else:
        pd.DataFrame({"features": list(z), **columns, **arrays}).to_parquet(folder / "mine.parquet")
    return y


def read(root):
    return bring_your_own.build(resolve("datasets", DATA).points[0].settings, root)


@pytest.fixture(scope="module", params=["npz", "parquet"])
def brought(request, tmp_path_factory):
    """The results folder, and what to add to a method's name: a parquet has no class embeddings."""
    results, raw = tmp_path_factory.mktemp("results"), tmp_path_factory.mktemp("raw")
    with_classes = {"class_embeddings": np.eye(2, 6)} if request.param == "npz" else {}
    write(raw / "bring_your_own", request.param, **with_classes)
    save_dataset(results / "data" / DATA, {DATA: read(raw)})
    return results, "" if with_classes else "+stage1.classes=means"


@pytest.mark.parametrize("name", METHODS.values(), ids=METHODS)
def test_embeddings_reach_every_adapter_method(brought, name):
    results, classes = brought
    at = result(results, f"runs/{DATA}/{resolve('methods', name + classes, 'bring_your_own').name}/s0")
    for part, stage in (("stage1", train_all), ("groups", groups.infer)):
        for above in at.upstream(part):
            stage(above, OPTIONS)
    train_all(at, OPTIONS)
    evaluate(at, OPTIONS)
    measured = pd.read_csv(at.folder / "metrics.csv").query("split == 'test' and selection == 'best' and group.isna()")
    assert measured.set_index("metric")["value"]["worst_group_accuracy"] > 0.6
    (run,) = at.runs()
    assert Container(at.folder / "outputs.safetensors")[f"{run.key}/best/logits"].shape == (240, 2)


def test_a_parquet_cannot_bring_class_embeddings(tmp_path):
    write(tmp_path / "bring_your_own", "parquet", class_embeddings=list(np.zeros((240, 6))))
    with pytest.raises(InputError, match=r"mine.parquet: class_embeddings .*a row for each class.* mine.npz"):
        read(tmp_path)
