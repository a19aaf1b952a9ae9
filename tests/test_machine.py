"""What a job is told of its machine: by its options, or by the environment that reaches the jobs of every profile."""

import json
import os
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


@pytest.mark.parametrize(
    ("options", "environment"),
    [(("--precision", "bf16", "--deterministic"), {}), ((), {"DESPUR_PRECISION": "bf16", "DESPUR_DETERMINISTIC": "1"})],
)
def test_precision_and_determinism_are_asked_for_and_recorded(trained, options, environment):
    _, about = trained(*options, **environment)
    assert (about["precision"], about["deterministic"]) == ("bf16", True)


def test_without_being_asked_arithmetic_is_single_precision(trained):
    _, about = trained()
    assert (about["precision"], about["deterministic"]) == ("fp32", False)


def test_an_unknown_precision_is_refused(trained):
    said, about = trained(DESPUR_PRECISION="bf17")
    assert "'bf17' (--precision or DESPUR_PRECISION) must be fp32 or bf16" in said and not about


def test_cublas_is_told_before_it_starts_and_torch_refuses_what_it_cannot_repeat():
    code = (
        "import os, torch; from argparse import Namespace; from despur.machine import machine;"
        "machine(Namespace(device='cpu', threads=1, precision='fp32', deterministic=True, checkpoint_seconds=1));"
        "assert os.environ['CUBLAS_WORKSPACE_CONFIG'] == ':4096:8' and torch.are_deterministic_algorithms_enabled()"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
