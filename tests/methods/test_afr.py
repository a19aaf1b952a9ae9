"""AFR: weights, gradient descent and its minimum, on made-up embeddings and from stage 1 to metrics."""

import numpy as np
import pandas as pd
import pytest
from helpers import CPU, build, embedded, finish_run, save_tiny
from scipy.special import softmax

from despur.compute.held_out import divide_held_out
from despur.compute.machine import Machine
from despur.compute.task import Stage1Outputs
from despur.methods.afr import weigh_samples
from despur.storage.containers import Container
from despur.storage.store import load_dataset
from despur.training.loop import Trainer

Y = np.repeat([0, 1, 2], [20, 12, 8])


def task():
    """Embeddings, and a head that is right more often than not."""
    of, rng = embedded(Y, dim=4), np.random.default_rng(3)
    head, bias = rng.normal(size=(3, 4)).astype(np.float32), rng.normal(size=3).astype(np.float32)
    of.stage1_outputs = Stage1Outputs(of.batcher.inputs.numpy() @ head.T + bias, head, bias=bias)
    return of


def descend(of, gamma, strength, steps, rate):
    """Gradient descent in float64 with the gradient by hand: weight (C,D), bias (C,), and the last gradients."""
    z, before, one_hot = of.batcher.inputs.numpy().astype(float), of.stage1_outputs, np.eye(of.num_classes)[of.y]
    share = np.exp(-gamma * (softmax(before.logits.astype(float), axis=1) * one_hot).sum(1)) / one_hot.sum(0)[of.y]
    share /= share.sum()
    weight, bias = before.head.astype(float), before.bias.astype(float)
    for _ in range(steps):
        slope = share[:, None] * (softmax(z @ weight.T + bias, axis=1) - one_hot)
        gradients = (
            slope.T @ z + 2 * strength * (weight - before.head),
            slope.sum(0) + 2 * strength * (bias - before.bias),
        )
        weight, bias = weight - rate * gradients[0], bias - rate * gradients[1]
    return weight, bias, gradients


def fitted(name, tmp_path):
    method = build(name, task())
    Trainer(method, "key", lambda method: {}, Machine(CPU), tmp_path / "it.pt").run()
    return [method.networks["head"].get_parameter(part).detach().numpy() for part in ("weight", "bias")]


def test_weights_by_hand():
    """Two samples of class 0 with p = 1/2 and 3/4, one of class 1 with p = 1/4."""
    logits = np.log(np.array([[1.0, 1], [3, 1], [3, 1]]))
    expected = np.array([np.exp(-1) / 2, np.exp(-1.5) / 2, np.exp(-0.5)])
    np.testing.assert_allclose(weigh_samples(logits, np.array([0, 0, 1]), 2.0), expected / expected.sum())
    np.testing.assert_allclose(weigh_samples(logits, np.array([0, 0, 1]), 0.0), [0.25, 0.25, 0.5])


@pytest.mark.parametrize(("gamma", "strength"), [(10, 0.2), (1.44, 0)])
def test_steps_are_those_of_gradient_descent_by_hand(gamma, strength, tmp_path):
    weight, bias, _ = descend(task(), gamma, strength, 30, 0.05)
    found = fitted(f"afr+clip=0+epochs=30+gamma={gamma}+lambda={strength}+learning_rate=0.05", tmp_path)
    np.testing.assert_allclose(found[0], weight, atol=1e-5)
    np.testing.assert_allclose(found[1], bias, atol=1e-5)
    assert np.abs(found[0] - task().stage1_outputs.head).max() > 1e-2


def test_in_the_end_the_gradient_is_zero_and_a_strong_penalty_keeps_the_head_of_erm(tmp_path):
    *_, gradients = descend(task(), 3, 0.5, 400, 0.05)
    assert max(np.abs(gradient).max() for gradient in gradients) < 1e-6
    weight, bias, _ = descend(task(), 3, 0.5, 400, 0.05)
    found = fitted("afr+clip=0+epochs=400+gamma=3+lambda=0.5+learning_rate=0.05", tmp_path)
    np.testing.assert_allclose(found[0], weight, atol=1e-5)
    np.testing.assert_allclose(found[1], bias, atol=1e-5)
    kept = fitted("afr+clip=0+epochs=20+lambda=1000+learning_rate=0.0001", tmp_path / "strong")
    np.testing.assert_allclose(kept[0], task().stage1_outputs.head, atol=5e-3)


def test_it_starts_from_the_head_of_stage_1_and_trains_on_held_out_samples_alone(tmp_path):
    save_tiny(tmp_path, held_out=300)
    at = finish_run(tmp_path, "runs/colored_digits/afr+clip=0+epochs=2+learning_rate=0.1+stage1.epochs=1/s0")
    (run,), folder = at.runs(), at.upstream("stage1")[0].folder
    assert {"held_out", "val", "test"} <= set(pd.read_csv(at.folder / "metrics.csv")["split"])
    own = Container(at.folder / "models.safetensors").load_arrays(f"{run.key}/last")
    outputs, weights = (
        Container(folder / f"{name}.safetensors").load_arrays(f"{run.find_upstream_key('stage1')}/last")
        for name in ("outputs", "models")
    )
    dataset = divide_held_out(load_dataset(at.data.folder, run.data.name), run)
    rows = dataset.rows("held_out")
    of = embedded(dataset.y[rows], z=outputs["z"][rows].astype(np.float32))
    of.stage1_outputs = Stage1Outputs(outputs["logits"][rows], weights["head.weight"], bias=weights["head.bias"])
    weight, bias, _ = descend(of, 10, 0, 2, 0.1)
    np.testing.assert_allclose(own["head.weight"], weight, atol=1e-5)
    np.testing.assert_allclose(own["head.bias"], bias, atol=1e-5)
    assert np.abs(weight - weights["head.weight"]).max() > 1e-3
