"""The contrastive adapter of Zhang & Re 2022: Eq. 6, its sampling, its neighbors, its two kinds of epochs."""

import itertools
import math

import numpy as np
import pytest
import torch
from helpers import build
from helpers import embedded_by_a_foundation_model as embedded

from despur.losses.contrastive_adapter import one_positive_contrast
from despur.methods.families.embeddings import Bottleneck
from despur.numerics.neighbors import nearest
from despur.samplers import hard

RNG = np.random.default_rng
SMALL = "num_positives=6+num_negatives=5+num_neighbors=9+anchors_per_step=4+batch_size=8+hidden=8"


# Eq. 6


def literal_contrast(positive, negative, temperature):
    """Eq. 6 as it is printed, of one anchor: a scalar. Its cosines with positives (P,) and with negatives (M,)."""
    pairs = (positive / temperature).exp()
    return -(pairs / (pairs + (negative / temperature).exp().sum())).log().mean()


@pytest.mark.parametrize("batch_norm", [True, False])
def test_values_and_gradients_are_those_of_eq_6_as_printed(batch_norm):
    torch.manual_seed(0)
    encoder, embeddings = Bottleneck(6, 4, batch_norm).double(), torch.randn(12, 6, dtype=torch.float64)
    positive, negative = encoder.cosines(encoder.down(embeddings), encoder.gram())[None].split([5, 6], dim=1)
    everything = torch.ones(1, 5, dtype=bool), torch.ones(1, 6, dtype=bool)
    found = one_positive_contrast(positive, negative, *everything, 0.1).sum()
    outputs = encoder(embeddings)
    expected = literal_contrast(outputs[1:6] @ outputs[0], outputs[6:] @ outputs[0], 0.1)
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=0)
    gradients = [torch.autograd.grad(loss, list(encoder.parameters())) for loss in (found, expected)]
    torch.testing.assert_close(*gradients, rtol=1e-8, atol=1e-10)


def test_eq_6_does_not_see_what_is_masked():
    rng = RNG(1)
    positive, negative = torch.from_numpy(rng.uniform(-1, 1, (1, 6))), torch.from_numpy(rng.uniform(-1, 1, (1, 6)))
    real, different = torch.tensor([[1, 1, 1, 0, 0, 0]]).bool(), torch.tensor([[1, 0, 1, 0, 1, 0]]).bool()
    expected = literal_contrast(positive[0, :3], negative[0, ::2], 0.2).item()
    assert one_positive_contrast(positive, negative, real, different, 0.2).item() == pytest.approx(expected)


def test_an_anchor_without_negatives_loses_nothing_and_has_finite_gradients():
    positive = torch.full((1, 3), 0.3, requires_grad=True)
    negative = torch.full((1, 2), 0.9, requires_grad=True)
    loss = one_positive_contrast(positive, negative, torch.ones(1, 3).bool(), torch.zeros(1, 2).bool(), 0.1)
    loss.sum().backward()
    assert loss.item() == 0 and positive.grad.abs().max() == 0 and negative.grad.abs().max() == 0


# neighbors


@pytest.mark.parametrize("block", [1, 7, 1000])
@pytest.mark.parametrize("apart", [False, True])
def test_neighbors_are_those_of_brute_force(block, apart):
    rng = RNG(0)
    z = rng.normal(size=(60, 5))
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    y = rng.integers(0, 3, 60)
    rows = rng.permutation(60)[:20]
    unit, labels = torch.from_numpy(z), torch.from_numpy(y) if apart else None
    found = nearest(unit, torch.from_numpy(rows), 12, labels, block).numpy()
    for row, near in zip(rows, found, strict=True):
        others = [j for j in range(60) if j != row and not (apart and y[j] == y[row])]
        assert near.tolist() == sorted(others, key=lambda j: -z[j] @ z[row])[:12]


def test_all_others_are_neighbors_of_all():
    unit = torch.nn.functional.normalize(torch.randn(9, 4, generator=torch.Generator().manual_seed(0)))
    found = nearest(unit, torch.arange(9), 8)
    assert all(sorted([row, *near]) == list(range(9)) for row, near in enumerate(found.tolist()))


# sampling


def test_anchors_are_exactly_what_zero_shot_gets_wrong():
    task = embedded()
    method = build(f"contrastive_adapter+{SMALL}", task)
    anchors = np.concatenate([anchors for anchors, _ in method.epoch_batches(RNG(0))])
    assert sorted(anchors) == np.flatnonzero(task.inferred_attribute != task.y).tolist()
    assert method.metadata()["anchors"] == method.metadata()["zero_shot_wrong"] == len(anchors)


def test_positives_are_right_and_of_the_class_and_padding_does_not_count():
    y = np.repeat([0, 1], [12, 20])
    predicted = y.copy()
    predicted[[0, 1, 12]] = 1 - y[[0, 1, 12]]
    sampler = hard.HardSampler(y, predicted, 15, 6)
    anchors = sampler.draw_anchors(RNG(0))
    drawn = sampler.draw(RNG(1), anchors, sampler.list_other_classes(anchors))
    assert sorted(anchors) == [0, 1, 12]
    for anchor, rows, real, negatives, counts in zip(
        anchors, drawn.positives, drawn.is_positive, drawn.negatives, drawn.is_negative, strict=True
    ):
        right = np.flatnonzero((y == y[anchor]) & (predicted == y))
        assert set(rows) <= set(right) and real.sum() == min(15, len(right)) == len(set(rows[real]))
        assert counts.all() and (y[negatives] != y[anchor]).all() and len(set(negatives)) == 6


def test_each_of_a_larger_pool_may_be_drawn():
    drawn = [hard.draw_padded(RNG(seed), np.arange(10, 16), 2) for seed in range(40)]
    assert {row for rows, counts in drawn for row in rows[counts]} == set(range(10, 16))


def test_neighbors_of_the_class_do_not_count():
    y = np.array([0, 0, 0, 0, 1, 1])
    sampler = hard.HardSampler(y, np.array([1, 0, 0, 0, 1, 1]), 3, 4)
    drawn = sampler.draw(RNG(0), np.array([0]), [np.array([1, 2, 4, 5])])
    assert sorted(drawn.negatives[0]) == [1, 2, 4, 5]
    assert sorted(drawn.negatives[0][drawn.is_negative[0]]) == [4, 5]
    few = sampler.draw(RNG(0), np.array([0]), [np.array([4])])
    assert few.negatives.tolist() == [[4] * 4] and few.is_negative.sum() == 1


def test_random_sampling_has_as_many_anchors_from_all_samples():
    task = embedded(300)
    method = build(f"contrastive_adapter+{SMALL}+sampling=random", task)
    anchors = np.concatenate([anchors for anchors, _ in method.epoch_batches(RNG(0))])
    right = task.inferred_attribute[anchors] == task.y[anchors]
    assert len(anchors) == len(set(anchors)) == (task.inferred_attribute != task.y).sum() and 0.3 < right.mean() < 1
    drawn = method.sampler.draw(RNG(0), anchors, method.neighbors(anchors))
    assert drawn.is_negative.all() and (task.inferred_attribute != task.y)[drawn.positives].any()


def test_random_sampling_never_takes_a_sample_for_its_own_positive():
    y = np.repeat([0, 1, 2], [3, 4, 1])
    sampler = hard.HardSampler(y, (y + 1) % 3 * (np.arange(8) % 2), 5, 2, "random")
    anchors = np.flatnonzero(y < 2)
    drawn = sampler.draw(RNG(0), anchors, sampler.list_other_classes(anchors))
    assert all(
        set(rows) == set(np.flatnonzero(y == y[anchor])) - {anchor}
        for anchor, rows in zip(anchors, drawn.positives, strict=True)
    )
    assert drawn.is_positive.sum(axis=1).tolist() == [2, 2, 2, 3, 3, 3, 3]
    assert sampler.anchors.tolist() == anchors.tolist()  # the only sample of its class has no positive


def test_a_class_that_zero_shot_always_gets_wrong_has_no_anchors():
    y = np.array([0, 0, 1, 1, 2, 2])
    sampler = hard.HardSampler(y, np.array([0, 1, 1, 0, 0, 1]), 2, 2)
    assert sampler.hard.tolist() == [1, 3] and sampler.skipped == 2


def test_balanced_anchors_are_as_many_in_each_class():
    y = np.repeat([0, 1], [40, 10])
    predicted = np.concatenate([np.repeat([1, 0], 20), np.repeat([0, 1], 5)])
    sampler = hard.HardSampler(y, predicted, 2, 2)
    assert np.bincount(y[sampler.draw_anchors(RNG(0))]).tolist() == [20, 5]
    assert np.bincount(y[sampler.draw_anchors(RNG(0), balance=True)]).tolist() == [5, 5]
    assert len(sampler.draw_anchors(RNG(0), fraction=0.1)) == 3
    y = np.repeat([0, 1, 2], [4, 6, 10])
    sampler = hard.HardSampler(y, (y + np.arange(20) % 2) % 3, 1, 1)
    assert np.bincount(y[sampler.draw_anchors(RNG(0), balance=True)]).tolist() == [2, 2, 2]


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_upsampling_makes_wrong_and_right_equal_in_an_epoch_and_each_minibatch(share):
    task = embedded(200, right=1 - share)
    method = build(f"contrastive_adapter+{SMALL}+contrastive=false", task)
    batches = [samples for _, samples in method.epoch_batches(RNG(0))]
    wrong = task.inferred_attribute != task.y
    for rows in batches:
        assert abs(wrong[rows].sum() - (~wrong[rows]).sum()) <= 1
    shown = np.bincount(np.concatenate(batches), minlength=200)
    assert shown[wrong].sum() == shown[~wrong].sum() == max(wrong.sum(), (~wrong).sum())
    assert all(np.ptp(shown[part]) <= 1 and shown[part].min() >= 1 for part in (wrong, ~wrong))


def test_without_wrong_samples_each_is_shown_once():
    wrong, right = hard.upsampled(RNG(0), np.zeros(7, bool))
    assert len(wrong) == 0 and sorted(right) == list(range(7))


def test_cells_of_the_released_code():
    y, predicted = np.repeat([0, 1], [30, 12]), np.concatenate([np.repeat([0, 1], [27, 3]), np.repeat([1, 0], [10, 2])])
    cell = 2 * y + predicted
    rows = hard.draw_each_class_and_prediction(RNG(0), y, predicted, 8)
    assert np.bincount(cell[rows]).tolist() == [8] * 4 and len(set(rows[cell[rows] == 0])) == 8
    rows = hard.draw_each_class_and_prediction(RNG(0), y, predicted, 10)
    assert len(set(rows[cell[rows] == 3])) == 10, "as many as there are, each once"


def test_classes_are_enlarged_first_then_the_predictions_of_each():
    """100 samples of class 0, 90 predicted right; 20 of class 1, half predicted right, enlarged to 100 by chance."""
    y, predicted = np.repeat([0, 0, 1, 1], [90, 10, 10, 10]), np.repeat([0, 1, 1, 0], [90, 10, 10, 10])
    rows = hard.upsample_classes_then_predictions(RNG(0), y, predicted)
    right, wrong, of_1, also_1 = np.bincount(2 * y[rows] + predicted[rows])
    assert right == wrong == 90 and set(rows) >= set(range(90))
    assert of_1 == also_1 and 50 <= of_1 < 80
    three = np.repeat([0, 1, 2], [5, 2, 1])  # predictions of one class
    assert np.bincount(three[hard.upsample_classes_then_predictions(RNG(0), 0 * three, three)]).tolist() == [5] * 3


def test_the_settings_of_the_released_code_reach_the_samplers():
    task = embedded(240, right=0.6)
    y, predicted = task.y, task.inferred_attribute

    def draw(settings, epochs_done):
        method = build(f"contrastive_adapter+{SMALL}+{settings}", task)
        method.epochs_done = epochs_done
        return np.concatenate([batch[epochs_done] for batch in method.epoch_batches(RNG(0))])

    wrong = np.bincount(y[predicted != y])
    assert len(set(wrong)) > 1
    assert np.bincount(y[draw("balance_anchors=true", 0)]).tolist() == [wrong.min()] * 3
    assert len(draw("anchor_fraction=0.3", 0)) == math.ceil(0.3 * wrong.sum())
    rows = draw("cell_size=4+resample=cells", 1)
    cells = np.bincount(3 * y[rows] + predicted[rows])
    assert set(cells[cells > 0]) == {4}
    rows = draw("resample=classes_then_cells", 1)
    for label in range(3):
        sizes = np.bincount(predicted[rows[y[rows] == label]])
        assert len(set(sizes[sizes > 0])) == 1


# training


def reference_gradient(method, anchors, rng):
    """Gradients of Eq. 6 without any sharing: each anchor's whole mini-batch through the encoder, by itself; and the
    mean loss."""
    s, encoder = method.settings, method.networks["encoder"]
    drawn = method.sampler.draw(rng, anchors, method.neighbors(anchors))
    encoder.zero_grad()
    losses = []
    for i, rows in enumerate(drawn.rows):
        f = encoder(method.task.batcher.batch(rows, rng))
        positive, negative = (f[1:] @ f[0]).split([s["num_positives"], s["num_negatives"]])
        real, different = torch.from_numpy(drawn.is_positive[i]), torch.from_numpy(drawn.is_negative[i])
        loss = literal_contrast(positive[real], negative[different], s["contrast_temperature"])
        loss.backward()
        losses.append(loss.item())
    return {name: p.grad.clone() for name, p in encoder.named_parameters()}, np.mean(losses)


@pytest.mark.parametrize("gradient", ["sum", "mean"])
@pytest.mark.parametrize("neighbors", ["other_classes", "all", "misplaced"])
def test_a_step_follows_the_gradient_of_eq_6(gradient, neighbors):
    task = embedded()
    settings = f"{SMALL}+contrast_temperature=0.3+gradient={gradient}+neighbors={neighbors}"
    method = build(f"contrastive_adapter+{settings}", task)
    anchors, _ = next(iter(method.epoch_batches(RNG(0))))
    expected, loss = reference_gradient(method, anchors, RNG(3))
    method.networks.zero_grad()
    assert method.contrast(anchors, RNG(3)).item() == pytest.approx(loss, rel=1e-4)
    scale = 1 if gradient == "sum" else 1 / len(anchors)
    for name, parameter in method.networks["encoder"].named_parameters():
        np.testing.assert_allclose(parameter.grad, scale * expected[name], rtol=2e-3, atol=2e-5)
    assert method.networks["head"].weight.grad is None


def test_negatives_are_the_nearest_of_other_classes_unless_released():
    task = embedded()
    unit = task.batcher.inputs.numpy()
    predicted = task.inferred_attribute
    anchors = np.flatnonzero(predicted != task.y)[-5:]
    for neighbors in ("other_classes", "all", "misplaced"):
        found = build(f"contrastive_adapter+{SMALL}+neighbors={neighbors}", task).neighbors(anchors)
        for anchor, near in zip(anchors, found, strict=True):
            of_class = np.flatnonzero((predicted != task.y) & (task.y == task.y[anchor]))
            listed = sorted(of_class, key=lambda row: (predicted[row], row))  # as the released code lists anchors
            asked = listed.index(anchor) if neighbors == "misplaced" else anchor
            allowed = [
                j
                for j in range(len(unit))
                if j != asked and (neighbors != "other_classes" or task.y[j] != task.y[anchor])
            ]
            assert near.tolist() == sorted(allowed, key=lambda j: -float(unit[j] @ unit[asked]))[:9]


def test_where_other_classes_have_fewer_samples_than_neighbors_are_asked_for_all_of_theirs_are_taken():
    task = embedded()
    method = build(f"contrastive_adapter+{SMALL.replace('neighbors=9', 'neighbors=80')}", task)
    (near,) = method.neighbors(np.array([0]))
    assert sorted(near) == np.flatnonzero(task.y != task.y[0]).tolist()


def test_positions_are_within_a_class_by_prediction():
    y, predicted = np.array([0, 0, 0, 0, 1, 1]), np.array([2, 1, 0, 1, 1, 0])
    assert hard.HardSampler(y, predicted, 1, 1).positions().tolist() == [2, 0, 0, 1, 0, 0]


def test_epochs_alternate_or_both_losses_share_a_step():
    task = embedded()
    method = build(f"contrastive_adapter+{SMALL}", task)
    for done in range(4):
        method.epochs_done = done
        sizes = [(len(anchors) > 0, len(samples) > 0) for anchors, samples in method.epoch_batches(RNG(0))]
        assert set(sizes) == {(done % 2 == 0, done % 2 == 1)}
    joint = list(build(f"contrastive_adapter+{SMALL}+schedule=joint", task).epoch_batches(RNG(0)))
    assert sum(len(anchors) for anchors, _ in joint) == (task.inferred_attribute != task.y).sum()
    found = method.step(max(joint, key=lambda batch: len(batch[0])), RNG(0))
    assert found["loss"].item() == pytest.approx(found["contrastive_loss"].item() + found["cross_entropy"].item())


def test_without_anything_wrong_all_epochs_are_of_cross_entropy():
    task = embedded(right=1.0)
    method = build(f"contrastive_adapter+{SMALL}", task)
    assert method.metadata()["anchors"] == 0
    assert all(len(anchors) == 0 and len(samples) > 1 for anchors, samples in method.epoch_batches(RNG(0)))


def test_without_both_parts_it_is_the_adapter():
    task = embedded()
    ours, adapter = (
        build(name, task)
        for name in (f"contrastive_adapter+contrastive=false+sampling=random+{SMALL}", "adapter+hidden=8+batch_size=8")
    )
    for (_, samples), rows in itertools.islice(
        zip(ours.epoch_batches(RNG(0)), adapter.epoch_batches(RNG(0)), strict=True), 3
    ):
        np.testing.assert_array_equal(samples, rows)
        ours.step((np.empty(0, int), samples), RNG(0))
        adapter.step(rows, RNG(0))
    for first, second in zip(ours.networks.parameters(), adapter.networks.parameters(), strict=True):
        np.testing.assert_array_equal(first.detach(), second.detach())
