"""Eq. 2-4 and App. B of Lewis et al. 2023, against loops."""

import math

import numpy as np
import pytest
import torch

from despur.losses.infonce import candidates, info_nce, positives, similarities, two_view_contrast
from despur.methods.domain_weighted_negatives import DomainWeightedNegatives
from despur.methods.domain_weighted_pairs import DomainWeightedPairs
from despur.methods.families.domain_weighted import temperatures

CPU = torch.device("cpu")
N = 5


def embeddings(count=N, dim=4, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(2 * count, dim)) * 3).float()


def cosine(a, b):
    return float(a @ b / a.norm() / b.norm())


def slow_loss(z, negatives, tau):
    """Eq. 4, term by term; ``tau`` (2N,2N)."""
    total, n = 0.0, len(z) // 2
    for i in range(2 * n):
        other = (i + n) % (2 * n)
        compared = [j for j in range(2 * n) if j != i and (negatives == "both_views" or (i < n) != (j < n))]
        terms = {j: math.exp(cosine(z[i], z[j]) / float(tau[i, j])) for j in compared}
        total -= math.log(terms[other] / sum(terms.values()))
    return total / (2 * n)


@pytest.mark.parametrize("negatives", ["other_view", "both_views"])
def test_one_temperature_is_eq_2(negatives):
    z = embeddings()
    found = two_view_contrast(z, candidates(N, negatives, CPU), 0.3)
    assert found.item() == pytest.approx(slow_loss(z, negatives, torch.full((2 * N, 2 * N), 0.3)), rel=1e-5)


@pytest.mark.parametrize("negatives", ["other_view", "both_views"])
def test_a_temperature_for_each_pair_is_eq_4(negatives):
    z, tau = embeddings(), 0.1 + torch.rand(2 * N, 2 * N, generator=torch.Generator().manual_seed(0))
    found = two_view_contrast(z, candidates(N, negatives, CPU), tau)
    assert found.item() == pytest.approx(slow_loss(z, negatives, tau), rel=1e-5)


def test_who_is_compared_with_whom():
    other, both = (candidates(N, kind, CPU) for kind in ("other_view", "both_views"))
    assert (other.sum(dim=1) == N).all() and (both.sum(dim=1) == 2 * N - 1).all()
    assert not both.diagonal().any() and (both | other).equal(both)
    assert other[torch.arange(2 * N), positives(N, CPU)].all()
    assert positives(N, CPU).tolist() == [5, 6, 7, 8, 9, 0, 1, 2, 3, 4]


def test_orthogonal_samples_with_equal_views_have_the_closed_form():
    z = torch.eye(N).repeat(2, 1)
    found = two_view_contrast(z, candidates(N, "other_view", CPU), 0.5)
    assert found.item() == pytest.approx(-math.log(math.exp(2) / (math.exp(2) + N - 1)), rel=1e-6)


def test_a_cold_temperature_overflows_nothing():
    assert torch.isfinite(two_view_contrast(embeddings(), candidates(N, "both_views", CPU), 1e-3))


def test_similarities_are_of_full_precision_under_autocast():
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(similarities(embeddings()), similarities(embeddings()).float())
        found = similarities(embeddings())
    torch.testing.assert_close(found, similarities(embeddings()), rtol=0, atol=0)


def test_eq_4_is_eq_2_where_every_pair_is_as_likely_of_one_domain_as_not():
    z, domains = embeddings(), 3
    allowed = candidates(N, "other_view", CPU)
    tau = temperatures(torch.full((2 * N, 2 * N), 1 / domains), domains, 0.2, 0.7, 0.01)
    assert torch.equal(two_view_contrast(z, allowed, tau), two_view_contrast(z, allowed, torch.tensor(0.2)))


def test_eq_3_by_hand():
    w = torch.tensor([0.5, 1.0, 0.0, 0.75])
    torch.testing.assert_close(temperatures(w, 2, 0.1, 0.1, 0.01), torch.tensor([0.1, 0.05, 0.15, 0.075]))
    torch.testing.assert_close(temperatures(w, 2, 0.1, 1.0, 0.02), torch.tensor([0.1, 0.02, 0.6, 0.02]))
    torch.testing.assert_close(temperatures(w, 4, 0.1, 0.1, 0.01), torch.tensor([0.075, 0.025, 0.125, 0.05]))


def test_negatives_pull_as_exp_s_over_tau_over_tau():
    """App. B: the weights of an anchor's negatives, up to a factor of its own."""
    generator = torch.Generator().manual_seed(1)
    s = (2 * torch.rand(3, 6, generator=generator) - 1).requires_grad_()
    tau = 0.05 + torch.rand(3, 6, generator=generator)
    positive = torch.tensor([2, 0, 5])
    (pull,) = torch.autograd.grad(info_nce(s, positive, torch.ones(3, 6, dtype=torch.bool), tau), s)
    expected = (s / tau).exp() / tau
    negative = torch.ones(3, 6, dtype=torch.bool).scatter_(1, positive[:, None], False)
    ratio = (pull / expected)[negative].reshape(3, 5)
    torch.testing.assert_close(ratio, ratio[:, :1].expand(3, 5))
    assert (ratio > 0).all()
    torch.testing.assert_close(ratio[:, 0] * 3, 1 / (s / tau).exp().sum(dim=1))


P = torch.tensor([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])


def test_weights_of_negatives_by_hand():
    """w_ij = P(D_j = d_i | z_j)."""
    found = DomainWeightedNegatives.weights(P, torch.tensor([0, 1, 1]))
    torch.testing.assert_close(found, torch.tensor([[0.9, 0.2, 0.5], [0.1, 0.8, 0.5], [0.1, 0.8, 0.5]]))


def test_weights_of_pairs_by_hand():
    """w_ij = sum_d P(D_i = d | z_i) P(D_j = d | z_j): symmetric, blind to the true domains."""
    expected = torch.tensor([[0.82, 0.26, 0.5], [0.26, 0.68, 0.5], [0.5, 0.5, 0.5]])
    for domain in ([0, 1, 1], [1, 0, 0]):
        torch.testing.assert_close(DomainWeightedPairs.weights(P, torch.tensor(domain)), expected)
