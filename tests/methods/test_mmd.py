"""MMD: the unbiased estimate against loops, its expectation, and the method."""

import numpy as np
import pytest
import torch
from lookup import gradient, random_case, tabled
from torch import nn

from despur.losses.discrepancy import mmd

RNG = np.random.default_rng


def slow_mmd(z, domain, kernels):
    """Gretton et al. 2012, Eq. 3, pair by pair."""
    n = len(z)
    squared = [[float(((z[i] - z[j]) ** 2).sum()) for j in range(n)] for i in range(n)]
    off = sorted(squared[i][j] for i in range(n) for j in range(n) if i != j)
    median = off[(len(off) - 1) // 2]  # torch's: the lower of two

    def k(i, j):
        return np.mean([np.exp(-squared[i][j] / (2.0 ** (e - kernels // 2) * median)) for e in range(kernels)])

    members = [rows for rows in (np.flatnonzero(domain == d) for d in np.unique(domain)) if len(rows) > 1]
    found = []
    for a in range(len(members)):
        for b in range(a + 1, len(members)):
            x, y = members[a], members[b]
            within = [np.mean([k(i, j) for i in rows for j in rows if i != j]) for rows in (x, y)]
            found.append(sum(within) - 2 * np.mean([k(i, j) for i in x for j in y]))
    return np.mean(found)


@pytest.mark.parametrize(("sizes", "kernels"), [((4, 6), 5), ((4, 5, 3), 5), ((7, 2), 1), ((4, 1, 5), 4)])
def test_mmd_is_that_of_the_slow_version(sizes, kernels):
    domain = np.repeat(np.arange(len(sizes)), sizes)
    z = RNG(0).normal(size=(len(domain), 3)) + domain[:, None]
    found = mmd(torch.tensor(z, dtype=torch.float32), torch.from_numpy(domain), len(sizes) + 1, kernels)
    assert found.item() == pytest.approx(slow_mmd(z, domain, kernels), rel=1e-4)
    assert abs(found.item()) > 1e-3


def test_the_median_makes_it_free_of_scale_and_takes_no_gradient():
    z = torch.tensor(RNG(1).normal(size=(12, 4)), dtype=torch.float32)
    domain = torch.arange(12) % 2
    assert mmd(1000 * z, domain, 2, 5).item() == pytest.approx(mmd(z, domain, 2, 5).item(), rel=1e-4)
    scale = torch.ones((), requires_grad=True)  # with the bandwidth as given, the value does depend on the scale
    z[6:] += 3
    assert torch.autograd.grad(mmd(scale * z, torch.arange(12) // 6, 2, 5), scale)[0].abs() > 1e-2


@pytest.mark.parametrize("domain", [[0] * 6, [0, 0, 0, 0, 0, 1], [0, 1, 2, 3, 4, 5]])
def test_without_two_domains_of_two_samples_there_is_none(domain):
    z = torch.randn(6, 3, requires_grad=True)
    assert mmd(z, torch.tensor(domain), 6, 5).item() == 0


def test_coinciding_representations_have_a_finite_gradient():
    z = torch.ones(8, 3, requires_grad=True)
    loss = mmd(z, torch.arange(8) % 2, 2, 5)
    loss.backward()
    assert loss.item() == pytest.approx(0, abs=1e-6) and torch.isfinite(z.grad).all()


def test_the_method_adds_it_to_cross_entropy():
    z, y = random_case(2, count=12, classes=5)
    method = tabled("mmd+kernels=3+weight=2.5", z, y % 3, np.arange(12) % 2, head=True)
    batch = np.array([0, 1, 4, 5, 9, 10])
    losses = method.losses(batch, RNG(0))
    table = method.networks["encoder"].values
    cross = nn.functional.cross_entropy(method.networks["head"](table[batch]), method.task.labels[batch])
    discrepancy = slow_mmd(z[batch], batch % 2, 3)
    assert losses["mmd"].item() == pytest.approx(discrepancy, rel=1e-4)
    assert losses["loss"].item() == pytest.approx(cross.item() + 2.5 * discrepancy, rel=1e-4)
    pull = gradient(method, losses["loss"]) - gradient(method, cross)
    assert pull.abs().max() > 1e-3
