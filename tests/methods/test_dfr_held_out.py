"""DFR on the part of validation data that trains, from stage 1 to metrics."""

import json

import numpy as np
import pandas as pd
import pytest
from helpers import embedded, finish_run, save_tiny, spec

from despur.compute.held_out import divide_held_out
from despur.compute.randomness import derive_generator
from despur.methods.dfr_held_out import HeldOutDFR
from despur.metrics.groups import worst_group_accuracy
from despur.storage.containers import Container

NAME = "dfr_held_out+fits=2+held_out_share=0.6+stage1.epochs=1+strength=0.5"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A finished run, its data set as it was and as the run saw it."""
    root = tmp_path_factory.mktemp("results")
    dataset = save_tiny(root, held_out=300)
    at = finish_run(root, f"runs/colored_digits/{NAME}/s1")
    return at, dataset, divide_held_out(dataset, at.runs()[0])


def test_it_is_dfr_on_the_held_out_samples_alone(finished):
    at, _, divided = finished
    (run,), rows = at.runs(), divided.rows("held_out")
    z = Container(at.upstream("stage1")[0].folder / "outputs.safetensors")[f"{run.find_upstream_key('stage1')}/last/z"]
    task = embedded(divided.y[rows], divided.a[rows], z[rows].astype(np.float32))
    method = HeldOutDFR(task, spec(NAME))
    method.fit(derive_generator("colored_digits/dfr_held_out/1", 0, 0))
    kept = Container(at.folder / "models.safetensors").load_arrays(f"{run.key}/best")
    for name in ("head.weight", "head.bias"):
        np.testing.assert_allclose(kept[name], method.networks.state_dict()[name].numpy(), rtol=1e-5)
    about = json.loads((at.folder / "about.json").read_text())["runs"][run.key]
    assert about["samples_a_fit"] == 25 * np.bincount(5 * divided.y[rows] + divided.a[rows]).min()


def test_validation_metrics_are_of_the_part_that_selects(finished):
    at, dataset, divided = finished
    (run,) = at.runs()
    metrics = pd.read_csv(at.folder / "metrics.csv").query("selection == 'best'")
    logits = Container(at.folder / "outputs.safetensors")[f"{run.key}/best/logits"]
    worst = metrics[metrics["metric"] == "worst_group_accuracy"].set_index("split")["value"]
    assert set(worst.index) == {"train", "held_out", "val", "test"}
    for split, value in worst.items():
        rows = divided.rows(split)
        assert value == pytest.approx(
            worst_group_accuracy(logits[rows].argmax(axis=1) == dataset.y[rows], dataset.groups[rows])
        )
    assert len(divided.rows("val")) + len(divided.rows("held_out")) == len(dataset.rows("val"))
