"""What a job is told of its machine: by its options, or by the environment that reaches the jobs of every profile."""

import json
import os
import platform
import shutil
from argparse import Namespace

import forked
import pytest
import torch
from helpers import OPTIONS, save_tiny

from despur.compute.machine import set_up_machine

PATH = "runs/colored_digits/erm+epochs=1/s0"


@pytest.fixture
def trained(tmp_path):
    """Train a tiny run in a process of its own; what it says, and about.json."""
    save_tiny(tmp_path)

    def work(*options, context=forked.HERE, **environment):
        command = ["-m", "despur.stage2", str(tmp_path / PATH), "--device", "cpu", *options]
        _, said = forked.run(command, tmp_path, os.environ | environment, 300, context)
        about = tmp_path / PATH / "about.json"
        return said, json.loads(about.read_text()) if about.exists() else {}

    return work


def facts(about):
    return about["precision"], about["deterministic"], about["runs"]["colored_digits/erm+epochs=1/s0"]["compiled"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "environment"),
    [
        (("--deterministic", "--compile", "default"), {"DESPUR_PRECISION": "bf16"}),
        ((), {"DESPUR_PRECISION": "bf16", "DESPUR_DETERMINISTIC": "1", "DESPUR_COMPILE": "default"}),
    ],
)
@pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler")
def test_precision_determinism_and_compiled_steps_are_asked_for_and_recorded(trained, options, environment):
    # In a fork of a process that has compiled, torch's compiler waits for threads that the fork does not have.
    said, about = trained(*options, context=forked.CONTEXT, **environment)
    assert facts(about) == ("bf16", True, "default"), said


def test_without_being_asked_arithmetic_is_single_precision_and_nothing_is_compiled(trained):
    _, about = trained(DESPUR_DETERMINISTIC="0")
    assert facts(about) == ("fp32", False, "off")


@pytest.mark.parametrize(
    ("options", "environment", "message"),
    [
        (["--threads", "0"], {}, "argument --threads: '0' must be a whole number from 1 on"),
        (["--device", "gpu"], {}, "argument --device: 'gpu' must be cpu, cuda, cuda:NUMBER or auto"),
        (["--checkpoint-seconds", "nan"], {}, "argument --checkpoint-seconds: 'nan' (--checkpoint-seconds or DESPUR_"),
        ([], {"DESPUR_CHECKPOINT_SECONDS": "1m"}, "'1m' (--checkpoint-seconds or DESPUR_CHECKPOINT_SECONDS) must be a"),
        ([], {"DESPUR_PRECISION": "bf17"}, "DESPUR_PRECISION=bf17: must be tf32, fp32 or bf16"),
        ([], {"DESPUR_COMPILE": "on"}, "'on' (--compile or DESPUR_COMPILE) must be off, default or reduce-overhead"),
    ],
)
def test_what_does_not_exist_is_refused(trained, options, environment, message):
    said, about = trained(*options, **environment)
    assert message in " ".join(said.split()) and not about


@pytest.mark.parametrize(("gpus", "told"), [(0, "no usable GPU"), (2, "only cuda:0 to cuda:1")])
def test_a_gpu_that_is_not_there_is_refused(monkeypatch, gpus, told):
    monkeypatch.setattr("torch.cuda.device_count", lambda: gpus)
    monkeypatch.setattr("torch.cuda.is_available", lambda: gpus > 0)
    with pytest.raises(SystemExit, match=f"error: --device cuda:2: this machine has {told}"):
        set_up_machine(Namespace(**vars(OPTIONS) | {"device": "cuda:2"}))
    if not gpus:
        assert set_up_machine(Namespace(**vars(OPTIONS) | {"device": "auto"})).device.type == "cpu"


def test_cublas_is_told_before_it_starts_and_torch_refuses_what_it_cannot_repeat(monkeypatch):
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", "")
    try:
        set_up_machine(Namespace(**vars(OPTIONS) | {"deterministic": True}))
        assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8" and torch.are_deterministic_algorithms_enabled()
    finally:
        torch.use_deterministic_algorithms(False)


@pytest.mark.parametrize(("asked", "recorded"), [("tf32", "fp32"), ("fp32", "fp32"), ("bf16", "bf16")])
def test_a_gpus_products_are_as_exact_as_asked_and_a_cpus_in_full(asked, recorded, monkeypatch):
    monkeypatch.setenv("DESPUR_PRECISION", asked)
    convolutions, products = torch.backends.cudnn, torch.backends.cuda.matmul
    convolutions.allow_tf32, products.allow_tf32 = asked == "fp32", True
    made = set_up_machine(OPTIONS)
    assert (convolutions.allow_tf32, products.allow_tf32, made.precision) == (asked != "fp32", False, recorded)


ALLOCATE = """
import resource, torch
from despur.compute.machine import keep_freed_memory
keep_freed_memory()
torch.set_num_threads(1)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    torch.zeros(5_000_000).add_(1)  # 20 MB
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="no glibc")
def test_the_memory_of_freed_tensors_is_not_cleared_by_the_kernel_again(tmp_path):
    (tmp_path / "allocate.py").write_text(ALLOCATE)
    _, text = forked.run(["allocate.py"], tmp_path, dict(os.environ), 100, forked.HERE)
    assert int(text.split()[-1]) < 5 * 20e6 / 4096  # pages of some tensors, not of 20
