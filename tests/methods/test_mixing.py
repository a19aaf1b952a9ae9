"""Mixup and LISA: which samples are mixed, and the loss against torch's cross-entropy of soft labels."""

import numpy as np
import pytest
import torch
from helpers import build, embedded
from torch import nn
from torch.nn.functional import cross_entropy, one_hot

from despur.methods.families.mixing import mixed_loss

RNG = np.random.default_rng
Y = np.repeat([0, 1, 2], [40, 30, 10])
A = np.concatenate([np.arange(70) % 2, np.zeros(10, int)])  # class 2 has one attribute value


def soft_loss(method, first, second, share):
    """Of rows, mixed with shares of the first."""
    x, labels = method.task.batcher.inputs, one_hot(torch.from_numpy(Y)).float()
    share = torch.as_tensor(share, dtype=torch.float32)
    share = share.view(-1, 1) if share.ndim else share
    mixed, soft = (share * values[first] + (1 - share) * values[second] for values in (x, labels))
    return cross_entropy(method.networks["head"](mixed), soft).item()


def test_mixup_is_the_cross_entropy_of_mixed_labels():
    method = build("mixup+alpha=0.7+encoder=identity", embedded(Y))
    rows, rng = np.arange(0, 80, 3), RNG(5)
    order, share = rng.permutation(len(rows)), rng.beta(0.7, 0.7)
    expected = soft_loss(method, rows, rows[order], share)
    assert 0.02 < share < 0.98
    assert method.losses(rows, RNG(5))["loss"].item() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(("same", "other", "flag"), [(Y, A, True), (A, Y, False)])
def test_lisa_mixes_what_shares_one_label_and_not_the_other(same, other, flag):
    method = build("lisa+encoder=identity", embedded(Y, A))
    batch = np.tile(np.arange(80), 30)
    partners = method.draw_partners(batch, flag, RNG(0))
    alone = (batch == partners).reshape(30, 80)
    assert alone[:, 70:].all() == flag and not alone[:, :70].any(), "class 2 has no other attribute value"
    mixed = partners != batch
    assert (same[batch] == same[partners])[mixed].all() and (other[batch] != other[partners])[mixed].all()
    drawn = partners.reshape(30, 80)[:, 0]
    assert len(set(drawn)) > 10, "partners are drawn from all training samples"


@pytest.mark.parametrize("share_of_classes", [0.0, 1.0])
def test_lisa_is_the_cross_entropy_of_mixed_labels(share_of_classes):
    method = build(f"lisa+alpha=0.5+encoder=identity+same_class={share_of_classes}", embedded(Y, A))
    rows, rng = np.arange(0, 80, 3), RNG(5)
    rng.random()
    partners = method.draw_partners(rows, share_of_classes == 1, rng)
    share = np.where(partners == rows, 1, rng.beta(0.5, 0.5, len(rows)))
    found = method.losses(rows, RNG(5))
    assert found["loss"].item() == pytest.approx(soft_loss(method, rows, partners, share), rel=1e-5)
    assert found["mixed_share"].item() == pytest.approx((share < 1).mean())


def test_of_tokens_representations_are_mixed():
    torch.manual_seed(0)
    networks = nn.ModuleDict({"encoder": nn.EmbeddingBag(9, 4), "head": nn.Linear(4, 2)})
    first, second = torch.randint(9, (6, 5)), torch.randint(9, (6, 5))
    labels = torch.tensor([0, 1, 0, 1, 1, 0])
    share = torch.linspace(0, 1, 6)
    z = share[:, None] * networks["encoder"](first) + (1 - share[:, None]) * networks["encoder"](second)
    soft = share[:, None] * one_hot(labels) + (1 - share[:, None]) * one_hot(1 - labels)
    found = mixed_loss(networks, (first, second), (labels, 1 - labels), share)
    assert found.item() == pytest.approx(cross_entropy(networks["head"](z), soft).item(), rel=1e-5)
