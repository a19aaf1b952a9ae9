"""Losses of self-supervised methods against closed forms and slow versions; against lightly: tests/oracles."""

import math

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from despur.augment.base import lab
from despur.losses.correlation import cross_correlation, redundancy
from despur.losses.debiased import debiased_contrast
from despur.losses.hsic import dependence_on_identity, hsic, inverse_multiquadric
from despur.losses.infonce import candidates, cosine, negatives, tell_apart, two_view_contrast
from despur.losses.polarization import distance_polarization
from despur.losses.relations import cross_entropies, divergence
from despur.losses.sinkhorn import sinkhorn_codes
from despur.losses.whitening import whiten

N, TAU = 6, 0.4
CPU = torch.device("cpu")


def embeddings(count=2 * N, dim=4, seed=0):
    return torch.randn(count, dim, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def other(z):
    return z.roll(len(z) // 2, 0)


# InfoNCE as anchors against negatives


@pytest.mark.parametrize("kind", ["other_view", "both_views"])
def test_telling_apart_is_info_nce(kind):
    z = embeddings()
    found = tell_apart(cosine(z, other(z)) / TAU, negatives(z, kind, TAU)).mean()
    torch.testing.assert_close(found, two_view_contrast(z, candidates(N, kind, CPU), TAU))


def test_several_positives_of_an_anchor_are_told_apart_one_by_one():
    z, p = embeddings(), torch.stack([embeddings(seed=s) for s in range(3)])
    found = tell_apart(cosine(z, p) / TAU, negatives(z, "both_views", TAU))
    assert found.shape == (3, 2 * N)
    for t in range(3):
        torch.testing.assert_close(found[t], tell_apart(cosine(z, p[t]) / TAU, negatives(z, "both_views", TAU)))


def test_cosines_are_of_full_precision_under_autocast():
    z = embeddings().float()
    with torch.autocast("cpu", torch.bfloat16):
        found = cosine(z.bfloat16(), other(z).bfloat16()).dtype
    assert found == torch.float32


# DCL


def slow_debiased(z, prior, tau):
    """Eq. 8 of Chuang et al., term by term."""
    total, count = [], len(z) // 2
    unit = normalize(z)
    for i in range(2 * count):
        j = (i + count) % (2 * count)
        positive = math.exp(float(unit[i] @ unit[j]) / tau)
        rest = [math.exp(float(unit[i] @ unit[k]) / tau) for k in range(2 * count) if k % count != i % count]
        g = max((sum(rest) / len(rest) - prior * positive) / (1 - prior), math.exp(-1 / tau))
        total.append(-math.log(positive / (positive + len(rest) * g)))
    return torch.tensor(total, dtype=z.dtype)


@pytest.mark.parametrize("prior", [0.0, 0.1, 0.5])
def test_debiased_contrast_term_by_term(prior):
    z = embeddings()
    found = debiased_contrast(cosine(z, other(z)) / TAU, negatives(z, "both_views", TAU), prior, TAU)
    torch.testing.assert_close(found, slow_debiased(z, prior, TAU))
    with pytest.raises(ValueError, match=r"temperature=0.011.*take .0125 or more"):
        debiased_contrast(cosine(z, other(z)) / 0.011, negatives(z, "both_views", 0.011), prior, 0.011)


def test_the_floor_of_debiased_contrast_is_as_precise_as_its_inputs():
    similarities = torch.full((2, 3), -5.0, dtype=torch.float64)  # so low that the floor counts: 3 exp(-1 / 0.3)
    found = debiased_contrast(torch.zeros(2, dtype=torch.float64), similarities, 0.1, 0.3)
    expected = torch.full((2,), math.log1p(3 * math.exp(-1 / 0.3)), dtype=torch.float64)
    torch.testing.assert_close(found, expected, rtol=1e-14, atol=0)


# W-MSE


def test_whitening_gives_identity_covariance():
    z = embeddings(40, 5) @ embeddings(5, 5, seed=1) + 3
    white = whiten(z, 0.0)
    torch.testing.assert_close(white.mean(dim=0), torch.zeros(5, dtype=torch.float64))
    torch.testing.assert_close(white.T.cov(), torch.eye(5, dtype=torch.float64))


def test_whitening_by_hand():
    z = torch.tensor([[2.0, 0.0], [-2.0, 0.0], [0.0, 3.0], [0.0, -3.0]], dtype=torch.float64)
    variance = torch.tensor([8 / 3, 6.0], dtype=torch.float64)
    torch.testing.assert_close(whiten(z, 0.0), z / variance.sqrt())
    torch.testing.assert_close(whiten(z, 0.5), z / (0.5 * variance + 0.5).sqrt())


# Barlow Twins


def test_cross_correlation_is_numpys():
    first, second = 1e-4 * embeddings(20, 3), embeddings(20, 3, seed=1)  # whatever their scale
    expected = np.corrcoef(first.T, second.T)[:3, 3:]
    np.testing.assert_allclose(cross_correlation(first, second), expected, rtol=1e-10)


def test_decorrelated_equal_views_lose_nothing_and_opposite_ones_four_each():
    z = whiten(embeddings(20, 3), 0.0)
    assert redundancy(z, z, 1.0).item() == pytest.approx(0, abs=1e-12)
    assert redundancy(z, -z, 1.0).item() == pytest.approx(12, rel=1e-9)
    repeated = z[:, :1].expand(-1, 3)
    # six pairs of numbers that repeat each other
    assert redundancy(repeated, repeated, 0.5).item() == pytest.approx(3, rel=1e-9)


# SSL-HSIC


def test_hsic_is_its_definition():
    k, l = (inverse_multiquadric(embeddings(seed=s), embeddings(seed=s), 0.7) for s in (0, 1))  # noqa: E741
    b = len(k)
    centring = torch.eye(b, dtype=torch.float64) - 1 / b
    torch.testing.assert_close(hsic(k, l), torch.trace(k @ centring @ l @ centring) / (b - 1) ** 2)


def test_dependence_on_identity_is_hsic_with_the_kernel_of_equal_samples():
    """tr(K H L H) / B^2 is (2 / B) times the mean of K within samples, the diagonal too, less that of all pairs."""
    z = embeddings()
    k, sample, b = inverse_multiquadric(z, z, 1.0), torch.arange(2 * N) % N, 2 * N
    same = (sample[:, None] == sample).double()
    within = (dependence_on_identity(k) + k.mean() + 1) / 2  # a kernel of a sample with itself is 1
    torch.testing.assert_close(hsic(k, same) * (b - 1) ** 2 / b**2, 2 / b * (within - k.mean()))


def test_inverse_multiquadric_by_hand():
    x, y = torch.tensor([[3.0, 0.0]]), torch.tensor([[0.0, 2.0], [5.0, 0.0], [-1.0, 0.0]])
    torch.testing.assert_close(
        inverse_multiquadric(x, y, 2.0), torch.tensor([[2 / math.sqrt(6), 1.0, 2 / math.sqrt(8)]])
    )


# LMCL


def test_polarization_is_of_distances_inside_the_margin():
    z = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]], dtype=torch.float64)  # distances 0, 1/2 or 1
    expected = 4 * (0.4 * 0.4) / 9
    assert distance_polarization(z, 0.1, 0.9).item() == pytest.approx(expected, rel=1e-12)
    assert distance_polarization(z[[0, 2]], 0.1, 0.9).item() == 0
    z = embeddings()
    slow = 0.0
    for a in z:
        for b in z:
            d = (1 - a @ b / a.norm() / b.norm()) / 2
            slow = slow + abs(min(float((d - 0.3) * (d - 0.6)), 0.0))
    assert distance_polarization(z, 0.3, 0.6).item() == pytest.approx(slow / len(z) ** 2, rel=1e-9)


# SwAV


def test_sinkhorn_shares_samples_out_evenly():
    scores = embeddings(12, 3)
    codes = sinkhorn_codes(scores, 0.5, 500)
    torch.testing.assert_close(codes.sum(dim=1), torch.ones(12, dtype=torch.float64))
    torch.testing.assert_close(codes.sum(dim=0), torch.full((3,), 4.0, dtype=torch.float64))


def test_sinkhorn_of_large_scores_overflows_nothing():
    codes = sinkhorn_codes(1000 * embeddings(12, 3).float(), 0.5, 3)
    assert codes.isfinite().all()


# ReSSL and RELIC


def test_cross_entropy_of_relations_by_hand():
    label = torch.tensor([[0.25, 0.75]])
    scores = torch.tensor([[[math.log(0.5), math.log(0.5)]], [[math.log(0.1), math.log(0.9)]]])
    expected = [[math.log(2)], [-0.25 * math.log(0.1) - 0.75 * math.log(0.9)]]
    torch.testing.assert_close(cross_entropies(label, scores), torch.tensor(expected))


def test_divergence_by_hand():
    first, second = torch.tensor([[0.5, 0.5]]).log(), torch.tensor([[0.1, 0.9]]).log()
    assert divergence(first + 5, second - 1).item() == pytest.approx(
        0.5 * math.log(5) + 0.5 * math.log(5 / 9), rel=1e-5
    )


# CMC


def test_lab_of_known_colors():
    """CIE values of sRGB white, black, red, green and blue under D65; of grays on each branch of the two curves."""
    grays = [[0.5] * 3, [0.15] * 3, [0.02] * 3]
    rgb = torch.tensor([[1, 1, 1], [0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], *grays], dtype=torch.float64)
    expected = [[100, 0, 0], [0, 0, 0], [53.24, 80.09, 67.20], [87.73, -86.18, 83.18], [32.30, 79.19, -107.86]]
    expected += [[53.39, 0, 0], [15.28, 0, 0], [1.40, 0, 0]]
    np.testing.assert_allclose(100 * lab(rgb[:, :, None, None])[:, :, 0, 0], expected, atol=0.02)
