"""What a job is told of its machine: by its options, or by the environment that reaches the jobs of every profile."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from helpers import save_tiny

PATH = "runs/colored_digits/erm+epochs=1/s0"


@pytest.fixture
def trained(tmp_path):
    """Train a tiny run in a process of its own; what it says, and about.json."""
    save_tiny(tmp_path)

    def work(*options, **environment):
        command = [sys.executable, "-m", "despur.stage2", str(tmp_path / PATH), "--device", "cpu", *options]
        ended = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment)
        about = tmp_path / PATH / "about.json"
        return ended.stderr, json.loads(about.read_text()) if about.exists() else {}

    return work


def facts(about):
    return about["precision"], about["deterministic"], about["runs"]["colored_digits/erm+epochs=1/s0"]["compiled"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "environment"),
    [
        (("--precision", "bf16", "--deterministic", "--compile", "default"), {}),
        ((), {"DESPUR_PRECISION": "bf16", "DESPUR_DETERMINISTIC": "1", "DESPUR_COMPILE": "default"}),
    ],
)
@pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler")
def test_precision_determinism_and_compiled_steps_are_asked_for_and_recorded(trained, options, environment):
    said, about = trained(*options, **environment)
    assert facts(about) == ("bf16", True, "default"), said


def test_without_being_asked_arithmetic_is_single_precision_and_nothing_is_compiled(trained):
    _, about = trained()
    assert facts(about) == ("fp32", False, "off")


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"DESPUR_PRECISION": "bf17"}, "'bf17' (--precision or DESPUR_PRECISION) must be tf32, fp32 or bf16"),
        ({"DESPUR_COMPILE": "on"}, "'on' (--compile or DESPUR_COMPILE) must be off, default or reduce-overhead"),
    ],
)
def test_what_does_not_exist_is_refused(trained, environment, message):
    said, about = trained(**environment)
    assert message in " ".join(said.split()) and not about


def test_cublas_is_told_before_it_starts_and_torch_refuses_what_it_cannot_repeat():
    code = (
        "import os, torch; from argparse import Namespace; from despur.compute.machine import set_up_machine;"
        "set_up_machine(Namespace(device='cpu', threads=1, precision='fp32', deterministic=True, "
        "checkpoint_seconds=1, compile='off'));"
        "assert os.environ['CUBLAS_WORKSPACE_CONFIG'] == ':4096:8' and torch.are_deterministic_algorithms_enabled()"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.parametrize(("asked", "recorded"), [("tf32", "fp32"), ("fp32", "fp32"), ("bf16", "bf16")])
def test_a_gpus_products_are_as_exact_as_asked_and_a_cpus_in_full(asked, recorded):
    code = (
        "import torch; from argparse import Namespace; from despur.compute.machine import set_up_machine;"
        f"asked = Namespace(device='cpu', threads=1, precision={asked!r}, deterministic=False, "
        "checkpoint_seconds=1, compile='off');"
        "made = set_up_machine(asked);"
        "print(torch.backends.cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32, made.precision)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.split()
    assert found == [str(asked != "fp32"), "False", recorded]
