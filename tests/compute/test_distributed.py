"""A run that two processes share (gloo, on the CPU): the loss, gradients and state of one process, to rounding."""

import json
import os
import socket

import numpy as np
import pytest
import torch
from helpers import OPTIONS, build, result, save_tiny, task

from despur.compute import distributed
from despur.specs.declarations import read_declarations
from despur.specs.settings import SettingError
from despur.storage.containers import Container
from despur.training import runs

METHODS = [
    "simclr",
    "byol",
    "moco",
    "swav",
    "cmc",
    "dcl",
    "relic",
    "ssl_hsic",
    "lmcl",
    "ressl",
    "simclr_msr",
    "byol_msr+mask_at=embedding",
]
BATCH = np.arange(8)
SETTINGS = {
    "encoder.dropout": "0",
    "encoder.width": "4",
    "learning_rate": "0.01",
    "negatives": "both_views",
    "projector": "mlp_bn_bn",
    "projector_dim": "6",
    "projector_width": "10",
    "queue": "20",
    "prototypes": "5",
    "frozen_epochs": "0",
    "warmup": "0",
    "n": "2",
    "msr_width": "4",
    "alpha": "0.5",
}
STAGE1 = "stage1/colored_digits/simclr+batch_size=16+encoder=convnet+encoder.width=4+epochs=2/s0"


def method(name):
    """In double precision, without dropout, on fixed views: the second ones are mirrored."""
    known = {*read_declarations("methods", name.split("+")[0])["SETTINGS"], "encoder.dropout", "encoder.width"}
    settings = "".join(f"+{key}={value}" for key, value in SETTINGS.items() if key in known)
    made = build(name + settings, task(np.arange(8) % 2))
    made.networks.double()
    shown = made.task.batcher
    shown.batch, stored = lambda rows, rng: stored(rows, rng).double(), shown.batch
    if "_msr" in name:  # Adam's first step would hide how long a gradient is
        made.msr_optimizer = torch.optim.SGD(made.networks["msr"].parameters(), 100.0)

    def views(images, rng):
        half = 0 if name.startswith("cmc") else len(images) // 2
        return torch.cat([images[:half], images[half:].flip(3) * 0.8])

    made.augment = made.weak = views
    return made


def stepped(made, batch):
    """Loss, gradients and state after two steps, and what the second one saw."""
    for made.steps_done in range(2):
        losses = made.step(batch, np.random.default_rng(0))
    gradients = {f"gradient {name}": p.grad for name, p in made.networks.named_parameters() if p.grad is not None}
    return {"loss": losses["loss"].detach(), **gradients, **made.networks.state_dict()}


def work(rank, port, root):
    """What each of the two processes does."""
    os.environ |= {
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "RANK": str(rank),
        "WORLD_SIZE": "2",
        "LOCAL_RANK": str(rank),
    }
    torch.set_num_threads(1)
    assert distributed.join("cpu") == "cpu" and (distributed.rank(), distributed.processes()) == (rank, 2)
    found = {name: stepped(method(name), distributed.shard(BATCH)) for name in METHODS}
    z = torch.arange(8.0).view(4, 2) + 100 * rank
    found["gathered"] = {"one": distributed.gather(z), "several": distributed.gather(torch.stack([z, -z]))}
    with pytest.raises(SettingError, match="batch_size=7"):
        distributed.shard(BATCH[:7])
    with pytest.raises(SettingError, match="wmse compares"):
        runs.train_all(result(root, STAGE1.replace("simclr", "wmse")), OPTIONS)
    found["patient"] = (
        torch.distributed.group.WORLD._get_backend(torch.device("cpu")).options._timeout == distributed.PATIENCE
    )
    runs.train_all(result(root, STAGE1), OPTIONS)
    found["written"] = (result(root, STAGE1).folder / "about.json").exists() and not torch.distributed.is_initialized()
    torch.save(found, root / f"{rank}.pt")


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """What both processes found, and where their run lies."""
    root = tmp_path_factory.mktemp("shared")
    save_tiny(root)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    torch.multiprocessing.spawn(work, (port, root), nprocs=2)
    return [torch.load(root / f"{rank}.pt") for rank in range(2)], root


@pytest.mark.long
@pytest.mark.parametrize("name", METHODS)
def test_two_processes_do_what_one_does(shared, name):
    expected = stepped(method(name), BATCH)
    moved = [value for key, value in expected.items() if key.startswith("gradient encoder")]
    assert moved and max(value.abs().max() for value in moved) > 1e-6
    for found in shared[0]:
        assert found[name].keys() == expected.keys()
        for key, value in expected.items():
            torch.testing.assert_close(
                found[name][key], value, rtol=1e-6, atol=1e-9, msg=lambda text, key=key: f"{key}: {text}"
            )


@pytest.mark.long
def test_views_are_gathered_first_ones_first(shared):
    for found in shared[0]:
        first, second = torch.arange(4.0).view(2, 2), torch.arange(4.0, 8).view(2, 2)
        expected = torch.cat([first, first + 100, second, second + 100])
        assert torch.equal(found["gathered"]["one"], expected)
        assert found["gathered"]["several"].shape == (2, 8, 2) and torch.equal(
            found["gathered"]["several"][1], -expected
        )


@pytest.mark.long
def test_a_shared_run_is_written_once_and_says_that_it_was_shared(shared):
    where = result(shared[1], STAGE1)
    (run,) = where.runs()
    about = json.loads((where.folder / "about.json").read_text())
    assert about["processes"] == 2 and about["runs"][run.key]["training_images"] == 2 * 2 * 48
    outputs = Container(where.folder / "outputs.safetensors")
    assert outputs[f"{run.key}/last/z"].shape[0] == 120


@pytest.mark.long
def test_processes_wait_for_the_one_that_writes_and_part_when_it_has(shared):
    for found in shared[0]:
        assert found["patient"] and found["written"]


def test_alone_a_process_shares_nothing():
    z = torch.zeros(4, 2)
    assert distributed.gather(z) is z and distributed.shard(BATCH) is BATCH and distributed.join("cpu") == "cpu"
    made = build("byol+encoder.width=4", task(np.arange(8) % 2))
    assert not any(isinstance(module, distributed.BatchNorm) for module in made.networks.modules())


def test_a_batch_norm_that_does_more_is_not_exchanged(monkeypatch):
    class WithActivation(torch.nn.BatchNorm2d):
        def forward(self, images):
            return super().forward(images).relu()

    distributed.synchronize(WithActivation(3))
    monkeypatch.setattr(distributed, "processes", lambda: 2)
    distributed.synchronize(plain := torch.nn.Sequential(torch.nn.BatchNorm2d(3)))
    assert type(plain[0]) is distributed.BatchNorm
    with pytest.raises(SettingError, match="WithActivation is no plain batch norm: start without torchrun"):
        distributed.synchronize(torch.nn.Sequential(WithActivation(3)))


def test_batch_norm_is_torch_s_where_there_is_one_process():
    torch.manual_seed(0)
    plain, own = (torch.nn.BatchNorm2d(3).double() for _ in range(2))
    own.__class__ = distributed.BatchNorm
    x = torch.randn(4, 3, 5, 5, dtype=torch.float64, requires_grad=True)
    slopes = []
    for layer in (plain, own):
        y = layer(x)
        slopes.append(torch.autograd.grad((y**3).sum(), x)[0])
    torch.testing.assert_close(*slopes)
    torch.testing.assert_close(plain(x), own(x))
    torch.testing.assert_close(plain.state_dict(), own.state_dict())
    torch.testing.assert_close(plain.eval()(x), own.eval()(x))
    assert torch.autograd.gradgradcheck(own.train(), (x[:2, :, :2, :2].detach().requires_grad_(),))
