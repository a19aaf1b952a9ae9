"""PGI: its divergence by hand, its batches."""

import numpy as np
import pytest
import torch
from helpers import build, labels, task
from torch.nn.functional import cross_entropy

from despur.methods.pgi import group_divergence
from despur.specs.settings import SettingError

RNG = np.random.default_rng
SIZES = {(0, 0): 40, (0, 1): 6, (1, 0): 30, (1, 1): 5, (2, 0): 20, (2, 1): 4}


def logarithms(rows):
    return torch.tensor(rows).log()


def test_divergence_by_hand():
    """Class 0: environment 0 predicts (.9, .1) on average, environment 1 (.5, .5); class 1 occurs in environment 0
    only."""
    logits = logarithms([[0.8, 0.2], [1 - 1e-9, 1e-9], [0.3, 0.7], [0.7, 0.3], [0.1, 0.9]])
    y, environment = torch.tensor([0, 0, 0, 0, 1]), torch.tensor([0, 0, 1, 1, 0])
    expected = 0.5 * np.log(0.5 / 0.9) + 0.5 * np.log(0.5 / 0.1)
    assert group_divergence(logits, y, environment).item() == pytest.approx(expected, rel=1e-5)
    other = 0.9 * np.log(0.9 / 0.5) + 0.1 * np.log(0.1 / 0.5)
    assert group_divergence(logits, y, 1 - environment).item() == pytest.approx(other, rel=1e-5)


def test_divergence_is_a_sum_over_classes_and_blind_to_sizes():
    a, b, c, d = [0.6, 0.4], [0.2, 0.8], [0.5, 0.5], [0.1, 0.9]
    y, environment = torch.tensor([0, 0, 1, 1]), torch.tensor([0, 1, 0, 1])
    both = group_divergence(logarithms([a, b, c, d]), y, environment).item()
    each = [group_divergence(logarithms(pair), y[:2], environment[:2]).item() for pair in ([a, b], [c, d])]
    assert both == pytest.approx(sum(each), rel=1e-5)
    thrice = group_divergence(
        logarithms([a, a, a, b, c, d]), torch.tensor([0, 0, 0, 0, 1, 1]), torch.tensor([0, 0, 0, 1, 0, 1])
    )
    assert thrice.item() == pytest.approx(both, rel=1e-5)


def test_divergence_vanishes_where_environments_agree_or_one_is_absent():
    logits = logarithms([[0.6, 0.4], [0.6, 0.4], [0.2, 0.8]])
    assert group_divergence(logits, torch.tensor([0, 0, 1]), torch.tensor([0, 1, 0])).item() == pytest.approx(
        0, abs=1e-7
    )
    assert group_divergence(logits, torch.tensor([0, 0, 1]), torch.tensor([1, 1, 1])).item() == 0


@pytest.mark.parametrize(
    "logits", [[[0.3, -0.2], [1.0, 2.0], [0.0, 0.5]], [[200.0, -200.0], [-200.0, 200.0], [0.0, 1.0]]]
)
def test_divergence_has_finite_gradients(logits):
    logits = torch.tensor(logits, requires_grad=True)
    loss = group_divergence(logits, torch.tensor([0, 0, 1]), torch.tensor([0, 1, 1]))
    assert loss.item() > 0
    (gradient,) = torch.autograd.grad(loss, logits)
    assert gradient.isfinite().all() and (gradient[2] == 0).all()


def test_loss_is_cross_entropy_and_lambda_times_divergence():
    y, environment = labels(SIZES)
    method = build("pgi+lambda=0.5", task(y, environment))
    method.networks["head"].weight.data *= 20
    rows = np.arange(0, len(y), 2)
    logits = method.networks["head"](method.networks["encoder"](method.task.batcher.batch(rows, RNG(0))))
    cross = cross_entropy(logits, torch.from_numpy(y[rows])).item()
    divergence = group_divergence(logits, torch.from_numpy(y[rows]), torch.from_numpy(environment[rows])).item()
    found = method.losses(rows, RNG(0))
    assert divergence > 1e-4
    assert found["loss"].item() == pytest.approx(cross + 0.5 * divergence, rel=1e-5)
    assert (found["cross_entropy"].item(), found["divergence"].item()) == pytest.approx((cross, divergence), rel=1e-5)


def test_the_divergence_may_train_the_encoder_alone():
    y, environment = labels(SIZES)
    rows, gradients = np.arange(0, len(y), 2), {}
    for trained in ("all", "encoder"):
        method = build(f"pgi+divergence_trains={trained}+lambda=0.5", task(y, environment))
        method.networks["head"].weight.data *= 20
        losses = method.losses(rows, RNG(0))
        (losses["loss"] - cross_entropy(method.forward(rows, RNG(0)), torch.from_numpy(y[rows]))).backward()
        gradients[trained] = {name: value.grad for name, value in method.networks.named_parameters()}
    of_all, alone = gradients["all"], gradients["encoder"]
    assert alone["head.weight"].abs().max() < 1e-6 < 1e-4 < of_all["head.weight"].abs().max()
    name = next(name for name in alone if name.startswith("encoder"))
    torch.testing.assert_close(alone[name], of_all[name])
    assert alone[name].abs().max() > 1e-6


def test_balanced_batches_contrast_environments_and_classes():
    y, environment = labels(SIZES)
    method = build("pgi+num_negatives=3+num_positives=4", task(y, environment))
    batches = list(method.epoch_batches(RNG(0)))
    assert len(batches) == -(-len(y) // 14) and all(len(batch) == 14 for batch in batches)
    assert method.count_images(batches[0]) == 14
    for batch in batches:
        anchors, positives, negatives, reverse = np.split(batch, [4, 8, 11])
        label, own = y[batch[0]], environment[batch[0]]
        assert (y[anchors] == label).all() and (environment[anchors] == own).all()
        assert (y[positives] == label).all() and (environment[positives] == 1 - own).all()
        assert (y[negatives] != label).all() and (environment[negatives] == own).all()
        assert (y[reverse] != label).all() and (environment[reverse] == 1 - own).all()
    assert len({int(environment[batch[0]]) for seed in range(5) for batch in method.epoch_batches(RNG(seed))}) == 2


def test_a_small_cell_does_not_shrink_the_batches():
    method = build("pgi", task(*labels(SIZES)))
    assert (method.sampler.num_positives, method.sampler.num_negatives) == (32, 32)
    assert method.metadata() == {"environment_sizes": [90, 15]}


def test_more_than_two_environments_are_refused():
    y, environment = labels({**SIZES, (2, 2): 3})
    with pytest.raises(SettingError, match="pgi compares two environments; groups=eiil gives 3"):
        build("pgi", task(y, environment))
