"""CNC: its batches and its variants: the alignment loss (App. A.1), SupCon* (A.3), training the encoder first (A.4)."""

import numpy as np
import pytest
import torch
from helpers import build, labels, task, walk
from torch import nn

from despur.losses.alignment import alignment_distance
from despur.metrics.alignment import alignment_loss
from despur.samplers.contrastive import ContrastiveBatch

RNG = np.random.default_rng
SIZES = {(0, 0): 14, (0, 1): 6, (1, 1): 10, (1, 0): 6}
SMALL = "+accumulation=3+num_negatives=4+num_positives=5"


def cnc(overrides="", sizes=SIZES, base="cnc"):
    y, predicted = labels(sizes)
    return build(f"{base}{SMALL}{overrides}", task(y, predicted))


def encoded(method, rows):
    return method.networks["encoder"](method.task.batcher.batch(rows.ravel(), RNG(0))).reshape(*rows.shape, -1)


def state(method):
    return {name: value.clone() for name, value in method.networks.state_dict().items()}


def moved(method, before):
    return {
        name.split(".")[0]
        for name, value in method.networks.state_dict().items()
        if not torch.equal(value, before[name])
    }


@pytest.mark.parametrize(
    ("overrides", "anchors", "positives"),
    [("", 20, 6), ("+truncate=false", 24, 6), ("+anchor_fraction=0.5", 10, 6), ("+shrink=false", 20, 9)],
)
def test_settings_reach_the_sampler(overrides, anchors, positives):
    method = build(f"cnc+num_positives=9{overrides}", task(*labels(SIZES)))
    assert len(np.concatenate(list(method.epoch_batches(RNG(0))))) == anchors
    assert method.sampler.num_positives == positives


def test_conditions_of_positives_and_negatives_are_settings():
    sampler = cnc("+anchors=all+negatives_by=class+positives_by=class").sampler
    pools = sampler.positive_pool(0, 0), sampler.negative_pool(0, 0)  # all of the class; all of the other
    assert len(sampler.slices) == 4 and tuple(map(len, pools)) == (20, 16)


@pytest.mark.parametrize(("accumulation", "steps"), [(1, 20), (8, 3), (20, 1), (64, 1)])
def test_a_step_takes_accumulation_contrastive_batches(accumulation, steps):
    batches = list(build(f"cnc+accumulation={accumulation}", task(*labels(SIZES))).epoch_batches(RNG(0)))
    assert len(batches) == steps and sum(map(len, batches)) == 20  # two slices, ten anchors each
    assert all(0 < len(batch) <= accumulation for batch in batches)


def test_sizes_and_fallbacks_are_reported():
    facts = build("cnc", task(*labels({(0, 0): 14, (0, 1): 6, (1, 1): 10}))).metadata()
    assert facts["num_positives"] == 6 and facts["num_negatives"] == 6
    assert sorted(text[:24] for text in facts["fallbacks"]) == ["no negatives for class 0", "no positives for class 1"]


# the alignment loss


def test_alignment_is_equation_4_and_that_of_the_metric():
    first, second = (RNG(seed).normal(size=(2, count, 3)) for seed, count in ((0, 4), (1, 30)))
    found = alignment_distance(torch.from_numpy(first), torch.from_numpy(second))
    for a, b, value in zip(first, second, found, strict=True):
        slow = np.mean([np.sqrt(((x - other) ** 2).sum()) for x in a for other in b])
        assert value.item() == pytest.approx(slow, rel=1e-6)
        metric = alignment_loss(np.concatenate([a, b]), np.repeat([0, 1], [len(a), len(b)]))
        assert value.item() == pytest.approx(metric, rel=1e-6)


def test_alignment_keeps_small_distances_and_has_a_finite_gradient_at_zero():
    base = 1000 * torch.ones(1, 40, 3)
    near = (base + torch.tensor([0.01, 0, 0])).requires_grad_()
    assert alignment_distance(base, near).item() == pytest.approx(0.01, rel=0.01)
    same = torch.ones(1, 3, 2, requires_grad=True)
    alignment_distance(same, same).sum().backward()
    assert torch.isfinite(same.grad).all()


def test_the_alignment_loss_takes_the_place_of_the_contrastive_one():
    method = cnc("+loss=alignment")
    anchors = method.sampler.draw_anchors(RNG(1))[:3]
    drawn = method.sampler.draw(RNG(0), anchors)
    losses = method.losses(anchors, RNG(0))
    a, b = encoded(method, drawn.anchors), encoded(method, drawn.positives)
    slow = torch.stack([(x - y).norm() for i in range(3) for x in a[i] for y in b[i]]).mean()
    logits = method.networks["head"](encoded(method, drawn.rows).flatten(0, 1))
    cross = nn.functional.cross_entropy(logits, method.task.labels[drawn.rows.ravel()])
    assert losses["alignment"].item() == pytest.approx(slow.item(), rel=1e-4)
    assert losses["cross_entropy"].item() == pytest.approx(cross.item(), rel=1e-5)
    assert losses["loss"].item() == pytest.approx(0.75 * slow.item() + 0.25 * cross.item(), rel=1e-4)
    assert set(losses) == {"loss", "alignment", "cross_entropy"}
    slow_gradient = torch.autograd.grad(0.75 * slow + 0.25 * cross, list(method.networks.parameters()))
    losses["loss"].backward()
    for parameter, expected in zip(method.networks.parameters(), slow_gradient, strict=True):
        torch.testing.assert_close(parameter.grad, expected, rtol=1e-3, atol=1e-4 * float(expected.abs().max()))


def test_the_alignment_loss_has_one_side_and_no_negatives():
    first, second = cnc("+lambda=1+loss=alignment"), cnc("+lambda=1+loss=alignment+two_sided=false")
    anchors = first.sampler.draw_anchors(RNG(1))[:3]
    assert first.losses(anchors, RNG(0))["loss"].item() == second.losses(anchors, RNG(0))["loss"].item()
    drawn = first.sampler.draw(RNG(0), anchors)
    only = set(drawn.rows.ravel()) - set(drawn.anchors.ravel()) - set(drawn.positives.ravel())
    before = first.losses(anchors, RNG(0))["loss"].item()
    first.task.batcher.inputs[torch.tensor(sorted(only))] = 0
    assert only and first.losses(anchors, RNG(0))["loss"].item() == before


def test_alignment_after_a_projection_is_that_of_the_projections():
    method = cnc("+loss=alignment+projection=8")
    anchors = method.sampler.draw_anchors(RNG(1))[:2]
    drawn = method.sampler.draw(RNG(0), anchors)
    a, b = (method.networks["projection"](encoded(method, part)) for part in (drawn.anchors, drawn.positives))
    assert method.losses(anchors, RNG(0))["alignment"].item() == pytest.approx(
        alignment_distance(a, b).mean().item(), rel=1e-4
    )


# train, then finetune


FIRST_THEN = "+epochs=3+learning_rate=0.05+schedule=train_finetune"


@pytest.mark.parametrize("extra", ["", "+head_gradient=accumulate", "+loss=alignment", "+projection=8"])
def test_the_encoder_learns_first_then_only_the_head(extra):
    method = cnc(FIRST_THEN + extra)
    kind = method.settings["loss"]
    for epoch, batch in walk(method, 3):
        before = state(method)
        losses = method.step(batch, RNG(0))
        if epoch < 2:
            assert moved(method, before) == {"encoder"} | ({"projection"} if "projection" in extra else set())
            assert losses["loss"].item() == losses[kind].item()
        else:  # momentum and weight decay move nothing either
            assert moved(method, before) == {"head"}
            assert losses["loss"].item() == losses["cross_entropy"].item()


def test_finetuning_may_train_the_encoder_too():
    method = cnc(FIRST_THEN + "+finetune=all")
    for epoch, batch in walk(method, 3):
        before = state(method)
        losses = method.step(batch, RNG(0))
        assert moved(method, before) == ({"encoder"} if epoch < 2 else {"encoder", "head"})
        assert losses["loss"].item() == losses["cross_entropy" if epoch == 2 else "contrastive"].item()


def test_how_many_epochs_are_for_the_head():
    method = cnc("+epochs=5+finetune_epochs=3+schedule=train_finetune")
    assert method.encoder_steps == 2 * len(list(method.epoch_batches(RNG(7))))
    with pytest.raises(ValueError, match="finetune_epochs=3 leaves none of 3 epochs"):
        cnc("+epochs=3+finetune_epochs=3+schedule=train_finetune")


def test_a_frozen_encoder_is_in_evaluation_mode():
    method = cnc("+batchnorm=train+epochs=2+schedule=train_finetune")
    seen = []
    method.networks["encoder"].register_forward_pre_hook(lambda module, inputs: seen.append(module.training))
    for _, batch in walk(method, 2):
        method.step(batch, RNG(0))
    assert seen == [True] * (len(seen) // 2) + [False] * (len(seen) // 2)


@pytest.mark.parametrize(("batchnorm", "training"), [("eval", False), ("train", True)])
def test_the_mode_of_the_encoder_is_the_one_asked_for(batchnorm, training):
    method, seen = cnc(f"+batchnorm={batchnorm}"), []
    method.networks["encoder"].register_forward_pre_hook(lambda module, inputs: seen.append(module.training))
    method.step(method.sampler.draw_anchors(RNG(0))[:2], RNG(0))
    assert set(seen) == {training} == {method.networks["encoder"].training}


# SupCon*


def supcon(overrides="", groups=None):
    y, _ = labels(SIZES)
    return build(f"supcon{SMALL}{overrides}", task(y, groups))


def test_supcon_is_cnc_whose_stage_1_knows_the_class_and_is_not_asked():
    y, _ = labels(SIZES)
    asked = build(f"cnc{SMALL}+negatives_by=class+positives_by=class", task(y, y))
    method = supcon()
    batches = list(method.epoch_batches(RNG(0)))
    assert [list(batch) for batch in batches] == [list(batch) for batch in asked.epoch_batches(RNG(0))]
    for batch in batches[:3]:
        assert method.step(batch, RNG(1))["loss"].item() == asked.step(batch, RNG(1))["loss"].item()


def test_supcon_does_not_look_at_groups():
    losses = []
    for groups in (None, np.zeros(36, int), RNG(0).integers(0, 2, 36)):
        method = supcon(groups=groups)
        losses.append([method.step(batch, RNG(1))["loss"].item() for batch in method.epoch_batches(RNG(0))])
    assert losses[0] == losses[1] == losses[2]


@pytest.mark.parametrize("loss", ["contrastive", "alignment"])
@pytest.mark.parametrize("max_batch", [1, 2, 4, 9])
def test_parts_of_a_step_add_up_to_the_step(loss, max_batch):
    whole, parted = (cnc(f"+at_once={size}+loss={loss}") for size in (0, max_batch))
    drawn = whole.sampler.draw(RNG(0), np.arange(5))
    logged = []
    for method in (whole, parted):
        method.sampler.draw = lambda rng, anchors: ContrastiveBatch(
            drawn.anchors[anchors], drawn.positives[anchors], drawn.negatives[anchors], drawn.reverse_negatives[anchors]
        )
        logged.append(method.step(np.arange(5), RNG(0)))
    for name, value in logged[0].items():
        assert logged[1][name].item() == pytest.approx(value.item(), rel=1e-5)
    for one, other in zip(whole.networks.parameters(), parted.networks.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad, rtol=1e-4, atol=1e-6)
