"""Ctrl-C, a real signal, while a command imports. While it works: training/test_resume.py."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

DESPUR = [str(Path(sys.executable).parent / "despur"), "list", "methods"]
EVALUATE = [sys.executable, "-m", "despur.evaluate", "results/runs/colored_digits/erm/s0"]
IMPORTS = "import time:"  # so begins a line about a module that has just been imported


def interrupt_imports(command, module, ignored=False):
    """Exit status of a command and its lines, where it is interrupted as soon as it has imported a module."""
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPROFILEIMPORTTIME": "1"},
        preexec_fn=(lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)) if ignored else None,
    )
    with process:
        next(line for line in process.stderr if line.startswith(IMPORTS) and line.split()[-1] == module)
        process.send_signal(signal.SIGINT)
        lines = [line for line in process.stderr if not line.startswith(IMPORTS)]
    return process.returncode, lines


@pytest.mark.parametrize(
    ("command", "module"),
    [(DESPUR, "despur.storage.interrupts"), (DESPUR, "numpy"), (EVALUATE, "despur"), (EVALUATE, "pandas._libs")],
)
def test_a_command_that_is_interrupted_while_it_imports_says_so_in_one_line(command, module):
    assert interrupt_imports(command, module) == (130, ["stopped\n"])


def test_a_command_in_the_background_goes_on():
    """A shell lets what it starts with & ignore Ctrl-C."""
    command = [sys.executable, "-m", "despur.orchestration.gpu_slots", "--help"]
    assert interrupt_imports(command, "despur", ignored=True) == (0, [])
