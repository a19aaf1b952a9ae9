"""EIIL's second model: the IRM penalty, its annealing, its batches; Group DRO."""

import numpy as np
import pytest
import torch
from helpers import build, labels, task
from torch.nn.functional import cross_entropy

RNG = np.random.default_rng
SIZES = {(0, 0): 8, (0, 1): 3, (1, 0): 9, (1, 1): 4}
BIAS = torch.tensor([0.7, -1.1])


def eiil(**settings):
    overrides = "".join(f"+{key}={value}" for key, value in sorted(settings.items()))
    return build(f"eiil{overrides}", task(*labels(SIZES)))


def blind(method):
    """Logits equal BIAS whatever the image."""
    torch.nn.init.zeros_(method.networks["head"].weight)
    method.networks["head"].bias.data = BIAS.clone()
    return method


def slope(logits, y):
    """d/dw of the mean cross-entropy of w * logits at 1, by central differences."""
    above, below = (cross_entropy(factor * logits.double(), y).item() for factor in (1 + 1e-5, 1 - 1e-5))
    return (above - below) / 2e-5


@pytest.mark.parametrize(("weight", "divisor"), [(100, 100), (0.1, 1)])
def test_irm_averages_over_environments_and_divides_by_a_weight_above_1(weight, divisor):
    method = blind(eiil(annealing=0, penalty_weight=weight, weight_decay=0.01))
    squares = sum(parameter.double().square().sum().item() for parameter in method.networks.parameters())
    y, environment = labels(SIZES)
    parts = [torch.from_numpy(y[environment == e]) for e in (0, 1)]
    cross = np.mean([cross_entropy(BIAS.expand(len(p), 2), p).item() for p in parts])
    penalty = np.mean([slope(BIAS.expand(len(p), 2), p) ** 2 for p in parts])
    found = method.losses(np.arange(24), RNG(0))
    assert found["cross_entropy"].item() == pytest.approx(cross, rel=1e-5)
    assert found["penalty"].item() == pytest.approx(penalty, rel=1e-4)
    assert found["loss"].item() == pytest.approx((cross + weight * penalty + 0.01 * squares) / divisor, rel=1e-4)


def test_irm_takes_a_batch_of_one_environment():
    method = blind(eiil(annealing=0))
    found = method.losses(np.array([8, 9, 20]), RNG(0))  # environment 1: classes 0, 0, 1
    y = torch.tensor([0, 0, 1])
    assert found["cross_entropy"].item() == pytest.approx(cross_entropy(BIAS.expand(3, 2), y).item(), rel=1e-5)
    assert found["penalty"].item() == pytest.approx(slope(BIAS.expand(3, 2), y) ** 2, rel=1e-4)


@pytest.mark.parametrize(("epochs_done", "weight"), [(0, 1), (1, 1), (2, 100), (3, 100)])
def test_penalty_weighs_1_while_annealing(epochs_done, weight):
    method = blind(eiil(annealing=50, epochs=4, weight_decay=0))
    method.epochs_done = epochs_done
    found = method.losses(np.arange(24), RNG(0))
    assert found["loss"].item() == pytest.approx(
        (found["cross_entropy"] + weight * found["penalty"]).item() / weight, rel=1e-5
    )


def test_irm_takes_all_samples_at_once_where_asked():
    batches = list(eiil(batch_size=8, irm_batches="full").epoch_batches(RNG(0)))
    assert len(batches) == 1 and batches[0].tolist() == list(range(24))


def test_irm_draws_environments_equally_often():
    y, environment = labels({(0, 0): 190, (1, 1): 10})
    method = build("eiil+batch_size=16", task(y, environment))
    drawn = np.concatenate([np.concatenate(list(method.epoch_batches(RNG(seed)))) for seed in range(10)])
    assert abs(environment[drawn].mean() - 0.5) < 5 * 0.5 / np.sqrt(2000)
    assert method.metadata() == {"environment_sizes": [190, 10]}
    shuffled = build("eiil+batch_size=16+sampler=shuffled", task(y, environment))
    assert sorted(np.concatenate(list(shuffled.epoch_batches(RNG(0))))) == list(range(200))


def test_gdro_is_group_dro_on_class_and_environment():
    y, environment = labels(SIZES)
    second, plain = eiil(second="gdro"), build("gdro", task(y, environment))
    plain.networks.load_state_dict(second.networks.state_dict())
    rows = np.arange(0, 24, 2)
    assert second.losses(rows, RNG(0))["loss"].item() == plain.losses(rows, RNG(0))["loss"].item()
    assert [b.tolist() for b in second.epoch_batches(RNG(1))] == [b.tolist() for b in plain.epoch_batches(RNG(1))]


@pytest.mark.parametrize(("asked", "kind"), [("adam", torch.optim.Adam), ("sgd", torch.optim.SGD)])
def test_irm_optimizers_leave_weight_decay_to_the_loss(asked, kind):
    optimizer = eiil(optimizer=asked, weight_decay=0.5).optimizer
    assert type(optimizer) is kind
    assert [(group["lr"], group["weight_decay"]) for group in optimizer.param_groups] == [(0.01, 0)]
    second = eiil(second="gdro", weight_decay=0.5).optimizer
    assert type(second) is torch.optim.SGD and second.param_groups[0]["weight_decay"] == 0.5


def test_full_batch_training_lowers_loss_and_penalty():
    y, environment = labels(SIZES)
    of = task(y, environment)
    of.batcher.inputs[torch.from_numpy(y == 1)] //= 4  # dark images
    method = build("eiil+annealing=0+irm_batches=full+optimizer=adam", of)
    with torch.no_grad():
        method.networks["head"].bias += torch.tensor([2.0, -2.0])  # far from calibrated
    found = [method.step(batch, RNG(epoch)) for epoch in range(15) for batch in method.epoch_batches(RNG(epoch))]
    assert len(found) == 15
    assert found[-1]["loss"] < found[0]["loss"] / 2 and found[-1]["penalty"] < found[0]["penalty"] / 2
