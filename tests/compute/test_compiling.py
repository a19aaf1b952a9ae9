"""Compiled steps train as eager ones do, in every method that says what to compile, and go on where the others were."""

import shutil

import numpy as np
import pytest
import torch
from helpers import CPU, build, embedded
from tests.training.test_state import HEADED, METHODS, SMALL, method, score

from despur.compute.compiling import compile_steps, mode_of
from despur.compute.machine import Machine
from despur.training.loop import Trainer

compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler")
# batches of one size; of every size; a target called first, dropout
ERM, CNC, BYOL = ("erm+batch_size=12", f"cnc{SMALL}", f"byol{HEADED}")

WHOLE = (  # those that encode all samples within a step
    "head_first+batch_size=12+encoder=lenet+head_epochs=2",
    "adv+batch_size=12+discriminator_epochs=2+encoder=lenet",
    "domain_weighted_pairs+batch_size=12+encoder.width=4",
)


@pytest.fixture(autouse=True)
def eager_afterwards():
    yield
    torch.compiler.set_stance("default")


def graphs():
    """How many this process has compiled."""
    return torch._dynamo.utils.counters["stats"]["unique_graphs"]


def losses(name, checkpoint, device=CPU, **facts):
    """Mean losses by step, and the last state, of a run; a run that is there already goes on."""
    one = method(name, device=device)
    progress = Trainer(one, "key", score, Machine(device, checkpoint_seconds=0, **facts), checkpoint).run()
    return [row["value"] for row in progress.history if row["name"] == "loss"], one.networks.state_dict()


@pytest.mark.long
@compiler
@pytest.mark.parametrize(
    ("name", "precision", "tolerance"), [(ERM, "fp32", 1e-3), (BYOL, "fp32", 1e-3), (CNC, "bf16", 0.02)]
)
def test_a_compiled_run_has_the_losses_of_an_eager_one(name, precision, tolerance, tmp_path):
    before, runs = (
        graphs(),
        (losses(name, tmp_path / f"{mode}.pt", compile=mode, precision=precision) for mode in ("off", "default")),
    )
    (eager, state), (compiled, other) = runs
    assert graphs() > before and compiled == pytest.approx(eager, rel=tolerance) and state.keys() == other.keys()


@pytest.mark.long
@compiler
@pytest.mark.parametrize("modes", [("off", "default"), ("default", "off")])
def test_an_interrupted_run_goes_on_either_way(modes, tmp_path):
    first, stopped = method(ERM), Machine(CPU, checkpoint_seconds=0, compile=modes[0])
    trainer = Trainer(first, "key", score, stopped, tmp_path / "pieces.pt")
    step = first.step

    def fragile(batch, rng):
        if trainer.progress.step == 4:  # in the second epoch
            raise KeyboardInterrupt
        return step(batch, rng)

    first.step = fragile
    with pytest.raises(KeyboardInterrupt):
        trainer.run()
    found, expected = (losses(ERM, tmp_path / f"{file}.pt", compile=modes[1])[0] for file in ("pieces", "whole"))
    assert len(found) == 2 and found == pytest.approx(expected, rel=1e-3)


@pytest.mark.long
@compiler
@pytest.mark.parametrize("name", [ERM, *WHOLE])
def test_only_steps_are_compiled(name, tmp_path):
    """Evaluations and passes over all samples have another size and mode: a graph of their own if they were."""
    one, before = method(name), graphs()
    Trainer(one, "key", score, Machine(CPU, compile="default"), tmp_path / "one.pt").run()
    score(one)
    assert graphs() == before + 1


@pytest.mark.parametrize("name", METHODS)
def test_what_is_compiled_is_what_a_step_calls(name):
    one, called = method(name), set()
    for network in one.compilable_modules():
        network.register_forward_pre_hook(lambda network, _: called.add(network))
    one.set_learning_rate(0.0)
    one.step(next(iter(one.epoch_batches(np.random.default_rng(0)))), np.random.default_rng(0))
    assert called == set(one.compilable_modules())
    assert (mode_of(one, "default") == "off") == ("_msr" in name)


def test_a_method_that_cannot_be_compiled_says_so_and_trains_as_it_does(tmp_path, capsys):
    name = f"simclr_msr{HEADED}"
    (eager, _), (asked, _) = (losses(name, tmp_path / f"{mode}.pt", compile=mode) for mode in ("off", "default"))
    assert (
        asked == eager
        and "key: steps of simclr_msr are not compiled: it names no network to compile" in capsys.readouterr().err
    )
    assert compile_steps(method(name), "off", "key") == "off" and not capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        ("inlp", "off"),
        ("leace", "off"),
        ("dfr+groups=oracle", "off"),
        ("logistic_classifier", "off"),
        ("prompting", "off"),
        ("zero_shot+classes=means+encoder=identity", "off"),
        ("linear_classifier", "off"),  # its encoder hands on what it is given
        ("erm+encoder=mlp", "default"),
    ],
)
def test_methods_that_train_no_network_are_left_alone(name, mode):
    y = np.arange(40) % 2
    assert mode_of(build(name, embedded(y, y)), "default") == mode


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("mode", ["default", "reduce-overhead"])
@pytest.mark.parametrize(
    "name", [ERM, CNC, f"{CNC}+at_once=1", "lff+batch_size=8", "cim+batch_size=8", BYOL, f"cmc{HEADED}", *WHOLE]
)
def test_a_gpu_trains_the_same_compiled_and_captured(name, mode, tmp_path):
    gpu = torch.device("cuda")
    eager, compiled = (losses(name, tmp_path / f"{each}.pt", gpu, compile=each)[0] for each in ("off", mode))
    assert compiled == pytest.approx(eager, rel=0.02)
