"""Deep CORAL: the discrepancy against NumPy, and the method."""

import numpy as np
import pytest
import torch
from helpers import build, embedded

from despur.losses.discrepancy import coral

RNG = np.random.default_rng


@pytest.mark.parametrize("sizes", [(4, 6), (4, 5, 3), (4, 1, 5)])
def test_the_discrepancy_is_that_of_means_and_covariances(sizes):
    domain = np.repeat(np.arange(len(sizes)), sizes)
    z = RNG(0).normal(size=(len(domain), 3)) * (1 + domain[:, None]) + domain[:, None]
    parts = [z[domain == value] for value in range(len(sizes)) if sizes[value] > 1]
    expected = [
        np.square(x.mean(0) - y.mean(0)).mean() + np.square(np.cov(x.T) - np.cov(y.T)).mean()
        for i, x in enumerate(parts)
        for y in parts[i + 1 :]
    ]
    found = coral(torch.tensor(z, dtype=torch.float32), torch.from_numpy(domain), len(sizes) + 1)
    assert found.item() == pytest.approx(np.mean(expected), rel=1e-4)


def test_without_two_domains_there_is_no_discrepancy_and_shifts_of_all_change_nothing():
    z, domain = torch.randn(8, 3, generator=torch.manual_seed(0)), torch.tensor([0, 0, 0, 0, 1, 1, 1, 1])
    assert coral(z, torch.zeros(8, dtype=torch.long), 2) == 0 and coral(z[:2], domain[[0, 4]], 2) == 0
    assert coral(z + 5, domain, 2).item() == pytest.approx(coral(z, domain, 2).item(), rel=1e-4)
    assert coral(torch.cat([z[:4], z[:4]]), domain, 2).item() == pytest.approx(0, abs=1e-9)


def test_the_method_adds_it_to_cross_entropy_with_its_weight():
    y, a = np.arange(40) % 2, np.arange(40) // 20
    method = build("coral+encoder=identity+weight=0.5", embedded(y, a))
    rows = np.arange(0, 40, 2)
    z = method.encode(rows, RNG(0))
    cross = torch.nn.functional.cross_entropy(method.forward(rows, RNG(0)), torch.from_numpy(y[rows]))
    expected = cross + 0.5 * coral(z, torch.from_numpy(a[rows]), 2)
    assert method.losses(rows, RNG(0))["loss"].item() == pytest.approx(expected.item(), rel=1e-6)
