"""The machine that trains: device, threads, arithmetic. Stages 1 and 2 are told about it by their options or the
environment."""

import argparse
import ctypes
import os
import sys
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any

import torch

from despur.compute import compiling, distributed

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # malloc.h; both in bytes


@dataclass
class Machine:
    """Properties of the machine. Results do not depend on them, except by rounding: precision and compiled steps,
    which about.json records."""

    device: torch.device
    precision: str = "fp32"  # or tf32, bf16
    checkpoint_seconds: float = 30.0
    compile: str = "off"

    @property
    def autocast(self) -> AbstractContextManager[None]:
        """Around a step; nothing in single precision. Casts of weights to bf16 are not cached, because an optimizer may
        change them within a step."""
        if self.precision != "bf16":
            return nullcontext()
        return torch.autocast(self.device.type, torch.bfloat16, cache_enabled=False)


def read_compiling(text: str) -> str:
    """A reader of ``off`` or of a mode of compiling. Unlike argparse's choices it also checks the default, which comes
    from the environment."""
    *first, last = "off", *compiling.MODES
    if text not in (*first, last):
        given = f"{text!r} (--compile or DESPUR_COMPILE)"
        raise argparse.ArgumentTypeError(f"{given} must be {', '.join(first)} or {last}")
    return text


def count_threads(text: str) -> int:
    """A reader of a whole number from 1 on."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number from 1 on")
    return int(text)


def read_seconds(text: str) -> float:
    """A reader of seconds; it also checks the default, from the environment."""
    with suppress(ValueError):
        if (seconds := float(text)) >= 0:
            return seconds
    given = f"{text!r} (--checkpoint-seconds or DESPUR_CHECKPOINT_SECONDS)"
    raise argparse.ArgumentTypeError(f"{given} must be a number from 0 on")


def name_device(text: str) -> str:
    """A reader of ``auto`` or of a device that torch knows."""
    try:
        is_device = text == "auto" or torch.device(text).type in ("cpu", "cuda")
    except RuntimeError:
        is_device = False
    if not is_device:
        raise argparse.ArgumentTypeError(f"{text!r} must be cpu, cuda, cuda:NUMBER or auto")
    return text


PRECISIONS = ("tf32", "fp32", "bf16")
# Environment variables reach the jobs of every profile.
OPTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("--device", {"type": name_device, "default": "auto", "help": "cpu, cuda, or auto: a GPU if there is one"}),
    (
        "--threads",
        {"type": count_threads, "default": 1, "help": "CPU threads (default 1, so that results do not depend on it)"},
    ),
    (
        "--compile",
        {
            "type": read_compiling,
            "default": os.environ.get("DESPUR_COMPILE", "off"),
            "help": "steps: off, default or reduce-overhead",
        },
    ),
    (
        "--deterministic",
        {
            "action": "store_true",
            "default": os.environ.get("DESPUR_DETERMINISTIC", "0") not in ("", "0"),
            "help": "bit-identical results on a GPU",
        },
    ),
    (
        "--checkpoint-seconds",
        {
            "type": read_seconds,
            "default": os.environ.get("DESPUR_CHECKPOINT_SECONDS", "30"),
            "help": "how often a run's state is saved",
        },
    ),
)


def set_up_machine(arguments: argparse.Namespace) -> Machine:
    """Set up device, threads and arithmetic as the options say. Exits with a message if there is no such GPU."""
    torch.set_num_threads(arguments.threads)
    keep_freed_memory()
    if arguments.deterministic:
        os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"  # cuBLAS reads it when it starts
        torch.use_deterministic_algorithms(True)
    name = arguments.device
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if name.startswith("cuda") and (torch.device(name).index or 0) >= gpus:
        has = f"only cuda:0 to cuda:{gpus - 1}" if gpus else "no usable GPU"
        sys.exit(f"error: --device {name}: this machine has {has}; use --device cpu or auto")
    asked = read_precision()
    set_arithmetic(asked)
    precision = "fp32" if name == "cpu" and asked == "tf32" else asked
    return Machine(torch.device(distributed.join(name)), precision, arguments.checkpoint_seconds, arguments.compile)


def read_precision() -> str:
    """The precision that the environment asks for, not an option: the cache key has it from there, too. Exits with a
    message if there is no such precision."""
    precision = os.environ.get("DESPUR_PRECISION", "tf32")
    if precision not in PRECISIONS:
        sys.exit(f"error: DESPUR_PRECISION={precision}: must be tf32, fp32 or bf16")
    return precision


def keep_freed_memory() -> None:
    """Keep the memory of freed tensors for the next ones. By default the C library returns it to the kernel, which
    clears the same pages again in every step."""
    library = ctypes.CDLL(None)
    if hasattr(library, "mallopt"):  # of glibc
        if not library.mallopt(M_MMAP_THRESHOLD, 2**27):
            library.mallopt(M_MMAP_THRESHOLD, 2**25)  # the most that it takes before version 2.35
        library.mallopt(M_TRIM_THRESHOLD, 2**31 - 1)


def set_arithmetic(precision: str) -> None:
    """How a GPU multiplies in single precision: convolutions in TF32 unless the precision is fp32, all else in full."""
    torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = False, precision != "fp32"


def device_name(machine: Machine) -> str:
    return torch.cuda.get_device_name(machine.device) if machine.device.type == "cuda" else "cpu"
