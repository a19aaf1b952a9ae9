"""What users hand to losses, samplers and metrics beside arrays of the usual kind: right, or refused."""

import numpy as np
import pandas as pd
import pytest
import torch

from despur import losses, metrics, samplers


def test_areas_of_whole_numbers_are_those_of_floats():
    score, positive = np.array([0, 50, 200, 255], np.uint8), [0, 0, 1, 1]
    assert metrics.areas_under_curves(score, positive) == (1, 1)
    assert np.isnan(metrics.areas_under_curves(np.array([]), np.array([], bool))).all()
    assert np.isnan(metrics.areas_under_curves([0.1, np.nan], [0, 1])).all()


def test_fairness_takes_lists():
    assert metrics.demographic_parity_difference([0, 1, 1, 1], [0, 0, 1, 1], 2) == 0.5
    assert metrics.equalized_odds_difference([0, 1, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1], 2) == 1
    assert metrics.tpr_gap([0, 1, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1]) == pytest.approx(np.sqrt(0.5))


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        (lambda: metrics.areas_under_curves([0.1, 0.2], [-1, 1]), "positive: give bool"),
        (lambda: metrics.brier_score(np.array([[0.9, 0.1]]), np.array([-1])), "whole numbers from 0 to 1"),
        (lambda: metrics.brier_score(np.array([[9.0, 1.0]]), np.array([0])), "not logits"),
        (lambda: metrics.calibration_error(np.array([0.5]), np.array([0])), "not logits"),
        (lambda: metrics.clipped_cross_entropy(np.zeros((1, 2)), np.array([-1])), "whole numbers from 0 to 1"),
        (lambda: metrics.tpr_gap(np.array([0, 1]), np.array([0, 0]), np.array([-1, 1])), "not known"),
        (lambda: metrics.equalized_odds_difference(np.array([0]), np.array([0]), np.array([-1]), 2), "not known"),
        (lambda: metrics.alignment_loss(np.zeros((2, 1)), np.array([0, -1])), "not known"),
        (lambda: metrics.worst_group_accuracy([0.3, 0.7], np.ones((2, 1), bool)), "correct: give bool"),
        (lambda: metrics.share_inside(np.ones((1, 1, 2)), np.array([[[0, 255]]])), "masks: give bool"),
        (lambda: metrics.near_best_accuracy([0.5, np.nan], [0.1, 0.1], 0.1), "accuracy: NaN"),
        (lambda: metrics.distance_to_optimum(np.array([0.5, np.nan]), np.ones(2)), "accuracy or fairness: NaN"),
        (lambda: metrics.distance_to_optimum(np.ones(2), np.array([np.nan, 0.9])), "accuracy or fairness: NaN"),
        (lambda: samplers.upsampled(np.random.default_rng(0), np.array([1, 2])), "wrong: give bool"),
        (lambda: losses.cvar(torch.ones(2), 2.0), "alpha=2.0"),
        (lambda: losses.cvar(torch.ones(0), 0.5), "of 0 losses"),
        (lambda: losses.generalized_cross_entropy(torch.zeros(1, 2), torch.tensor([0]), 0.0), "q=0.0"),
        (lambda: losses.debiased_contrast(torch.zeros(1), torch.zeros(1, 2), 1.0, 0.5), "class_prior"),
        (lambda: losses.structural_distance(*torch.zeros(2, 1, 3, 16, 16), window=5, scales=6), "scales=6"),
        (lambda: losses.structural_distance(*torch.zeros(2, 1, 3, 4, 4), window=5, scales=1), "below the window"),
    ],
)
def test_what_would_be_counted_wrongly_is_refused(measure, message):
    with pytest.raises(ValueError, match=message):
        measure()


def test_fair_contrast_refuses_an_attribute_that_is_not_known():
    with pytest.raises(ValueError, match="not known"):
        losses.fair_contrast(torch.eye(2), torch.tensor([0, 1]), torch.tensor([0, -1]), 0.5, within="class")


def test_rows_and_masks_of_fitted_samples_are_the_same():
    rng = np.random.default_rng(0)
    z, labels, fitted = rng.normal(size=(40, 3)), rng.integers(2, size=40), rng.random(40) < 0.5
    by_rows = metrics.mutual_information(z, labels, np.flatnonzero(fitted))
    assert metrics.mutual_information(z, labels, fitted) == by_rows


def test_a_series_is_read_by_position():
    accuracy, gap = (pd.Series(values, index=[1, 2, 0]) for values in ([0.9, 0.89, 0.7], [0.3, 0.1, 0.05]))
    assert metrics.near_best_accuracy(accuracy, gap, 0.02) == 1


def test_masks_of_whole_numbers_are_masks():
    wrong, right = samplers.upsampled(np.random.default_rng(0), np.array([1, 0, 0], np.uint8))
    assert (set(wrong), set(right)) == ({0}, {1, 2})


def test_groups_without_samples_have_no_chance():
    (rows,) = samplers.balanced(np.random.default_rng(0), np.array([0] * 900 + [2] * 100), 1000)
    assert 400 < (rows < 900).sum() < 600


@pytest.mark.parametrize("seed", range(5))
def test_too_few_embeddings_are_not_whitened(seed):
    z = torch.randn(4, 4, generator=torch.Generator().manual_seed(seed))
    with pytest.raises(torch.linalg.LinAlgError):
        losses.whiten(z, 0.0)


def test_an_anchor_without_negatives_has_loss_and_gradient_zero():
    positive, negative = torch.ones(1, requires_grad=True), torch.full((1, 2), -torch.inf, requires_grad=True)
    loss = losses.debiased_contrast(positive, negative, 0.1, 0.5)
    loss.sum().backward()
    assert (loss, positive.grad, negative.grad.abs().sum()) == (0, 0, 0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_group_means_take_every_precision(dtype):
    means, weights = losses.group_means(torch.tensor([1.0, 3.0, 5.0], dtype=dtype), torch.tensor([0, 0, 2]), 3)
    assert (means.tolist(), weights.tolist()) == ([2, 0, 5], [0.5, 0, 0.5])
    assert means.dtype == torch.promote_types(dtype, torch.float32)


def test_a_class_without_samples_takes_no_margin_from_the_others():
    loss = losses.ldam(torch.zeros(1, 3), torch.tensor([1]), torch.tensor([16, 1, 0]), largest_margin=0.5, scale=2.0)
    assert loss.item() == pytest.approx(np.log(1 + 2 * np.e))


@pytest.mark.parametrize(
    "loss",
    [
        lambda unit: losses.fair_contrast(unit, torch.arange(16) % 2, torch.arange(16) % 3 % 2, 0.01)[0],
        lambda unit: losses.image_text_contrast(unit, unit.roll(1, dims=1), 0.01),
        lambda unit: losses.uniformity(unit[None], t=2.0),
    ],
)
def test_similarities_are_as_precise_where_networks_are_not(loss):
    unit = torch.nn.functional.normalize(torch.randn(16, 8, generator=torch.Generator().manual_seed(0)))
    with torch.autocast("cpu", torch.bfloat16):
        low = loss(unit)
    assert low == loss(unit)


def test_alignment_distances_keep_double_precision():
    first, second = torch.zeros(1, 1, 1, dtype=torch.float64), torch.full((1, 1, 1), 1 + 1e-12, dtype=torch.float64)
    assert losses.alignment_distance(first, second).item() == 1 + 1e-12


@pytest.mark.parametrize("discrepancy", [lambda z, d: losses.mmd(z, d, 2, 1), lambda z, d: losses.coral(z, d, 2)])
def test_a_batch_without_two_domains_has_a_gradient_of_zero(discrepancy):
    z = torch.ones(3, 2, requires_grad=True)
    discrepancy(z, torch.tensor([0, 0, 1])).backward()
    assert z.grad.abs().sum() == 0


def test_discrepancies_keep_double_precision_and_take_small_integers():
    z, domain = torch.tensor([[0.0], [1.0], [4.0], [5.0]], dtype=torch.float64), torch.tensor([0, 0, 1, 1])
    for value in (losses.mmd(z, domain.int(), 2, 1), losses.coral(z, domain.int(), 2)):
        assert value.dtype == torch.float64


def test_structural_distance_trains_after_an_evaluation():
    left = torch.rand(1, 3, 13, 13, generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        losses.structural_distance(left, -left, window=13, scales=1)
    losses.structural_distance(left.requires_grad_(), -left, window=13, scales=1).sum().backward()
    assert left.grad.isfinite().all()
