"""Losses, the optimizer and the schedule of self-supervised learning are lightly's."""

import numpy as np
import pytest
import torch
from benchmarks.anchors import compare_lightly
from helpers import build, task
from torch import nn
from torch.nn.functional import normalize

from despur.compute.optimizers import build_optimizer
from despur.losses.contrastive import contrast
from despur.losses.correlation import redundancy
from despur.losses.debiased import debiased_contrast
from despur.losses.fair_contrastive import fair_contrast
from despur.losses.infonce import candidates, cosine, negatives, positives, tell_apart, two_view_contrast
from despur.losses.relations import cross_entropies
from despur.losses.sinkhorn import sinkhorn_codes
from despur.losses.whitening import whiten

loss = pytest.importorskip("lightly.loss", reason="lightly is not installed (make test-oracles)")
N, TAU = 6, 0.4
CPU = torch.device("cpu")
SMALL = "+encoder.width=2+projector_width=5"


def embeddings(count=2 * N, dim=4, seed=0):
    return torch.randn(count, dim, generator=torch.Generator().manual_seed(seed))


def other(z):
    return z.roll(len(z) // 2, 0)


def supervised(z):
    """Eq. 17 of Zhang et al. 2022 with the other view as the one positive, all other samples' views as negatives."""
    allowed = candidates(N, "both_views", CPU).scatter(1, positives(N, CPU)[:, None], False)
    rows = torch.arange(2 * N).expand(2 * N, -1)[allowed].view(2 * N, -1)
    return contrast(normalize(z), torch.arange(2 * N), positives(N, CPU)[:, None], rows, TAU)


NT_XENT = {
    "two_view_contrast": lambda z: two_view_contrast(z, candidates(N, "both_views", CPU), TAU),
    "tell_apart": lambda z: tell_apart(cosine(z, other(z)) / TAU, negatives(z, "both_views", TAU)).mean(),
    "debiased without a prior": lambda z: debiased_contrast(
        cosine(z, other(z)) / TAU, negatives(z, "both_views", TAU), 0.0, TAU
    ).mean(),
    "supervised with one positive": supervised,
    "fair_contrast with samples as classes": lambda z: fair_contrast(
        normalize(z), torch.arange(N).repeat(2), torch.zeros(2 * N, dtype=torch.long), TAU, parts="scl"
    )[0],
}


@pytest.mark.parametrize("ours", NT_XENT.values(), ids=NT_XENT)
def test_nt_xent_and_its_gradients(ours):
    z = embeddings().requires_grad_()
    found, expected = ours(z), loss.NTXentLoss(temperature=TAU)(*z.chunk(2))
    torch.testing.assert_close(found, expected)
    slopes = [torch.autograd.grad(value, z)[0] for value in (found, expected)]
    torch.testing.assert_close(*slopes)


def test_whitened_distance_of_a_slice():
    first, second = embeddings(12, 4), embeddings(12, 4, seed=1)
    found = (2 - 2 * cosine(whiten(first, 0.0), whiten(second, 0.0))).mean()
    theirs = loss.WMSELoss(embedding_dim=4, w_size=12, track_running_stats=False)(torch.cat([first, second]))
    torch.testing.assert_close(found, theirs, rtol=1e-4, atol=1e-5)


def test_redundancy_of_barlow_twins():
    first, second = embeddings(20, 3), embeddings(20, 3, seed=1)
    expected = loss.BarlowTwinsLoss(0.02)(first, second)
    torch.testing.assert_close(redundancy(first, second, 0.02), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("iterations", [1, 3])
def test_codes_and_loss_of_swav(iterations):
    from lightly.loss.swav_loss import sinkhorn as lightlys

    first, second = (normalize(embeddings(12, 5, seed=s)) for s in (0, 1))
    codes = [sinkhorn_codes(scores, 0.05, iterations) for scores in (first, second)]
    torch.testing.assert_close(codes[0], lightlys(first, iterations, 0.05), rtol=1e-4, atol=1e-6)
    found = (cross_entropies(codes[0], second / 0.1).mean() + cross_entropies(codes[1], first / 0.1).mean()) / 2
    theirs = loss.SwaVLoss(0.1, iterations, 0.05)([first, second], [])
    torch.testing.assert_close(found, theirs[0], rtol=1e-4, atol=1e-5)


def test_byol_is_two_more_than_both_negative_cosines():
    method = build(f"byol{SMALL}", task(np.arange(N) % 2))
    z, p = embeddings(), embeddings(seed=1)
    theirs = sum(loss.NegativeCosineSimilarity()(a, b) for a, b in zip(p.chunk(2), other(z).chunk(2), strict=True))
    torch.testing.assert_close(method.contrast(z, method.opposite(p)), 2 + theirs)


def test_moco_is_nt_xent_with_a_memory_bank():
    method = build(f"moco+queue=9+temperature=0.3{SMALL}", task(np.arange(N) % 2))
    theirs = loss.NTXentLoss(0.3, memory_bank_size=(9, 64))
    method.queue.copy_(theirs.memory_bank.bank)
    k, q = normalize(embeddings(dim=64)), embeddings(dim=64, seed=1)
    torch.testing.assert_close(method.contrast(k, q), theirs(q, k))


def test_lars():
    """lightly scales the step of what it decays, and of nothing else."""
    from lightly.utils.lars import LARS

    networks = [nn.Linear(4, 2) for _ in range(2)]
    networks[1].load_state_dict(networks[0].state_dict())
    settings = {"optimizer": "lars", "learning_rate": 2.0, "momentum": 0.9, "weight_decay": 0.01}
    rest = [{"params": [networks[1].weight], "weight_decay": 0.01}, {"params": [networks[1].bias]}]
    optimizers = [build_optimizer(settings, list(networks[0].parameters())), LARS(rest, lr=2.0, momentum=0.9)]
    for step in range(4):
        for network, optimizer in zip(networks, optimizers, strict=True):
            optimizer.zero_grad()
            network(torch.full((3, 4), step + 1.0)).square().sum().backward()
            optimizer.step()
    torch.testing.assert_close(networks[0].state_dict(), networks[1].state_dict())


def test_cosine_after_a_warmup():
    """lightly's last step has the rate 0; ours is the last before it."""
    from lightly.utils.scheduler import cosine_warmup_schedule

    method = build("simclr+batch_size=2+decay=cosine+epochs=10+encoder.width=2+warmup=6", task(np.arange(6) % 2))
    total = 10 * method.steps_per_epoch
    found = [method.lr_factor(step / method.steps_per_epoch) for step in range(total)]
    expected = [
        cosine_warmup_schedule(step, total + 1, start_value=1, end_value=0, warmup_steps=6, warmup_start_value=0)
        for step in range(total)
    ]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_our_step_is_timed_against_lightlys():
    rate, ratio = compare_lightly(torch.device("cpu"), batch_size=4, count=8, steps=1)
    assert rate > 0 and ratio > 0
