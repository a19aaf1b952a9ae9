"""Every method: an epoch runs, runs of the same seed are bit-identical, an interrupted run ends as if nothing had
happened."""

import numpy as np
import pytest
import torch
from helpers import CPU, OPTIONS, build, labels, result, save_tiny, task

from despur.compute.machine import Machine
from despur.compute.task import encode
from despur.model import load
from despur.storage.containers import Container
from despur.training.loop import Trainer
from despur.training.runs import train_all

SMALL = "+accumulation=2+num_negatives=3+num_positives=3"
NARROW = "+batch_size=8+encoder.width=4"
HEADED = f"{NARROW}+drop_first=1+drop_second=0+projector_width=16+warmup=5"
QUICK = [  # also a second time for a method
    "erm+batch_size=8",
    "jtt+batch_size=8+evaluate_every=2",
    "gdro+batch_size=8+evaluate_every=3+step_size=0.1",
    f"cnc{SMALL}",
    f"cnc{SMALL}+head_gradient=accumulate",
]
METHODS = [
    *QUICK,
    "cvar_dro+batch_size=8",
    "spectral_decoupling+batch_size=8",
    "lff+batch_size=8",
    "irm+annealing=50+batch_size=8",
    "irm+annealing=0+batch_size=8+sampler=balanced",
    "dann+batch_size=8+ramp=2",
    "dann+batch_size=8+domain=majority+sampler=balanced",
    "mmd+batch_size=8",
    "mmd+batch_size=8+domain=majority+sampler=balanced",
    "eiil+annealing=50+batch_size=8",
    "eiil+annealing=50+batch_size=8+optimizer=adam+sampler=shuffled",
    "eiil+batch_size=8+second=gdro",
    "pgi+num_negatives=1+num_positives=1",
    "pgi+batch_size=8+batches=shuffled",
    "george+batch_size=8",
    "cim+batch_size=8+width=4",
    "con+batch_size=8+temperature=0.5",
    "con_ft+batch_size=8+temperature=0.5",
    "con+batch_size=8+decay=plateau+decay_every=1+decay_factor=0.1+evaluate_every=1+temperature=0.5",
    "adv+batch_size=8",
    # with the default orthogonality, 1000, the discriminators overshoot: after three epochs any rounding is 10 %
    "adv+batch_size=8+discriminator_epochs=3+encoder=lenet+orthogonality=10",
    "head_first+batch_size=8+encoder=lenet+head_epochs=2",
    f"supcon{SMALL}",
    f"supcon{SMALL}+head_gradient=accumulate",
    f"cnc{SMALL}+loss=alignment",
    f"cnc{SMALL}+schedule=train_finetune",
    f"cnc{SMALL}+head_gradient=accumulate+schedule=train_finetune",
    f"simclr{NARROW}+projector=mlp",
    f"same_domain_negatives{NARROW}+negatives=both_views",
    f"cl_mmd{NARROW}",
    f"cl_dann{NARROW}+ramp=10",
    f"domain_weighted_negatives{NARROW}+projector=linear+tau_alpha=0.5",
    f"domain_weighted_pairs{NARROW}",
    f"domain_weighted_pairs{NARROW}+discriminator=batch",
    f"byol{HEADED}",
    f"wmse{HEADED}+projector_dim=4+slicings=2",
    f"ressl{HEADED}+queue=20",
    f"lmcl{HEADED}",
    f"ssl_hsic{HEADED}",
    f"relic{HEADED}",
    f"barlow_twins{HEADED}",
    f"moco{HEADED}+ema=0.9+queue=20",
    f"cmc{HEADED}",
    f"swav{HEADED}+prototypes=5",
    f"dcl{HEADED}",
    f"simclr_msr{HEADED}",
    f"simclr_msr{HEADED}+mask_at=embedding+second_order=false",
    f"byol_msr{HEADED}",
    f"ressl_msr{HEADED}+queue=20",
    f"lmcl_msr{HEADED}+squash=none+unit=false",
    f"cmc_msr{HEADED}",
    f"swav_msr{HEADED}+prototypes=5",
    f"dcl_msr{HEADED}",
]


def spare(names):
    """Cases of a test: each method once, MSR on one loss. Their further settings belong to make test-long."""
    known = {"byol_msr", "ressl_msr", "lmcl_msr", "cmc_msr", "swav_msr", "dcl_msr"}  # simclr_msr stands for them
    cases = []
    for name in names:
        base = name.partition("+")[0]
        cases.append(pytest.param(name, marks=[pytest.mark.long] if base in known and name not in QUICK else []))
        if name not in QUICK:
            known.add(base)
    return cases


def method(name, seed=0, device=CPU, epochs=2):
    y, predicted = labels({(0, 0): 12, (0, 1): 6, (1, 1): 11, (1, 0): 7})
    return build(f"{name}+epochs={epochs}+learning_rate=0.005", task(y, predicted, crop="image", device=device), seed)


def score(method):
    """Something that depends on the weights; nothing without a head."""
    if "head" not in method.networks:
        return {}
    networks, rng = method.networks, np.random.default_rng(0)
    logits = encode(networks["encoder"], networks["head"], method.task.batcher, rng)["logits"]
    return {"worst": float(logits.std()), "average": float(logits.mean())}


def train(of, checkpoint, stop=None, device=CPU, checkpoint_seconds=0):
    """Train to the end, or to an interruption before step ``stop``; by default a checkpoint after every step."""
    trainer = Trainer(of, "key", score, Machine(device, checkpoint_seconds=checkpoint_seconds), checkpoint)
    step = of.step

    def fragile(batch, rng):
        if trainer.progress.step + 1 == stop:
            raise KeyboardInterrupt
        return step(batch, rng)

    of.step = fragile
    progress = trainer.run()
    arrays = {f"{name}/{i}": array for name, each in progress.diagnostics.items() for i, array in enumerate(each)}
    return (progress.step, progress.images, progress.best_step, progress.history), of.networks.state_dict() | arrays


def same(first, second):
    return (first[0], first[1].keys()) == (second[0], second[1].keys()) and all(
        torch.equal(value, second[1][name]) for name, value in first[1].items()
    )


@pytest.mark.parametrize("name", spare(METHODS))
def test_same_seed_same_digits_even_over_interruptions(name, tmp_path, capsys):
    whole = train(method(name), tmp_path / "whole.pt", checkpoint_seconds=1e9)
    steps = whole[0][0]
    assert steps >= 8 and all(np.isfinite(row["value"]) for row in whole[0][3])
    before, of_other_seed = (method(name, seed).networks["encoder"].state_dict() for seed in (0, 1))
    for other in (whole[1], {f"encoder.{key}": value for key, value in of_other_seed.items()}):
        assert any(not torch.equal(value, other[f"encoder.{key}"]) for key, value in before.items())
    middle = steps // 2
    for stop in (2, middle, middle + 1, middle + 3):  # within an epoch, at its end, at the start of the next, within
        with pytest.raises(KeyboardInterrupt):
            train(method(name, seed=stop if (tmp_path / "pieces.pt").exists() else 0), tmp_path / "pieces.pt", stop)
    assert same(train(method(name, seed=9), tmp_path / "pieces.pt"), whole)
    assert "no checkpoint holds" not in capsys.readouterr().err


@pytest.mark.parametrize("name", METHODS)
def test_a_batch_presents_the_images_that_are_counted_in_training_mode(name):
    """After an evaluation, too."""
    of = method(name)
    of.networks.eval()
    of.task.batcher.crop = "presentation"  # every occurrence is encoded
    encoded, encoder = [], of.networks["encoder"]

    def note(module, inputs, output):
        if output.requires_grad:  # not what only looks
            encoded.append(len(output))
            assert module.training != name.startswith(("cnc", "supcon"))  # batchnorm=eval

    getattr(encoder, "backbone", encoder).register_forward_hook(note)
    batches = list(of.epoch_batches(np.random.default_rng(0)))
    batch = batches[name.startswith("head_first")]  # whose first step trains no encoder
    of.step(batch, np.random.default_rng(0))
    assert encoded == [of.count_images(batch)]


@pytest.mark.parametrize("name", ["irm", "eiil"])
def test_the_penalty_of_irm_sets_in_after_its_share_of_the_epochs(name, tmp_path):
    of = method(f"{name}+annealing=50+batch_size=8+weight_decay=0")
    history = Trainer(of, "key", score, Machine(CPU), tmp_path / "it.pt").run().history
    for epoch, weight in ((1, 1), (2, 100)):
        found = {row["name"]: row["value"] for row in history if row["epoch"] == epoch}
        assert found["loss"] == pytest.approx((found["cross_entropy"] + weight * found["penalty"]) / weight, rel=1e-5)


@pytest.mark.parametrize("name", spare(METHODS))
def test_bf16_trains_in_lower_precision(name, tmp_path):
    first = []
    for precision in ("fp32", "bf16"):
        of = method(name, epochs=2 if "finetune" in name else 1)
        progress = Trainer(of, "key", score, Machine(CPU, precision), tmp_path / f"{precision}.pt").run()
        assert torch.bfloat16 not in {value.dtype for value in of.networks.state_dict().values()}
        first.append(next(row["value"] for row in progress.history if row["name"] == "loss"))
    assert first[0] != first[1] and first[0] == pytest.approx(first[1], rel=0.05)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("name", METHODS)
def test_a_gpu_trains_as_the_cpu_does(name, tmp_path):
    gpu = torch.device("cuda")
    here, there = (
        train(method(name, device=device), tmp_path / f"{device}.pt", device=device)[0] for device in (CPU, gpu)
    )
    assert here[:2] == there[:2]
    assert there[3][0]["value"] == pytest.approx(here[3][0]["value"], rel=0.02)


LOADED = [
    "lff+batch_size=8+epochs=1",
    "cim+batch_size=8+epochs=1",
    "supcon+accumulation=2+epochs=3+schedule=train_finetune",
]


@pytest.mark.parametrize("name", LOADED)
def test_a_finished_run_with_more_than_encoder_and_head_can_be_loaded(name, tmp_path):
    data = save_tiny(tmp_path)
    at = result(tmp_path, f"runs/colored_digits/{name}/s0")
    train_all(at, OPTIONS)
    kept = Container(at.folder / "outputs.safetensors")[f"colored_digits/{name}/s0/last/logits"]
    found = load(at.folder, selection="last").outputs(data.inputs)["logits"]
    np.testing.assert_allclose(found, kept, atol=1e-3)
