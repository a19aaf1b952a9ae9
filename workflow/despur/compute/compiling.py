"""Compiled steps, by torch.compile, with the option --compile or DESPUR_COMPILE.

The networks that a method names (``compilable_modules``) are compiled in place. Names of parameters stay, so a
checkpoint can be resumed compiled or not. Evaluations are not compiled. Dropout draws the same numbers, so results
differ by rounding alone."""

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

import torch
from torch import nn

from despur.compute import distributed
from despur.specs.spec import Spec

# Options of torch's inductor. reduce-overhead captures CUDA graphs, one for each size of a batch. A network whose
# batches vary in size, as CNC's do, is not captured.
DRAWS: dict[str, Any] = {"fallback_random": True}
MODES: dict[str, dict[str, Any]] = {
    "default": DRAWS,
    "reduce-overhead": DRAWS | {"triton.cudagraphs": True, "triton.cudagraph_skip_dynamic_graphs": True},
}


class Compilable(Protocol):
    """What compiling needs of a method."""

    spec: Spec

    def compilable_modules(self) -> list[nn.Module]:
        """The networks to compile, as steps call them."""


def mode_of(method: Compilable, option: str) -> str:
    """The mode in which a method's steps run under this option: "off" if the method names no network, or if several
    processes share its batches."""
    return option if option != "off" and distributed.processes() == 1 and method.compilable_modules() else "off"


def compile_steps(method: Compilable, option: str, key: str) -> str:
    """Compile a run's networks and return the mode. Nothing is reused from earlier runs, so that results do not
    depend on them."""
    mode = mode_of(method, option)
    if mode != "off":
        torch.compiler.reset()
        torch.compiler.set_stance("force_eager")  # outside of steps
        for network in method.compilable_modules():
            network.compile(options=MODES[mode])
    elif option != "off":
        why = "several processes share it" if distributed.processes() > 1 else "it names no network to compile"
        print(f"{key}: steps of {method.spec.base_name} are not compiled: {why}", file=sys.stderr, flush=True)
    return mode


def step(mode: str) -> AbstractContextManager[Any]:
    """Around one step. From the next step on, outputs of a captured network may be overwritten."""
    if mode == "off":
        return nullcontext()
    torch.compiler.cudagraph_mark_step_begin()
    return torch.compiler.set_stance("default")


def eager() -> AbstractContextManager[Any]:
    """Around passes over all samples within a step, which are not compiled: they would be further graphs, and captured
    outputs would pile up.

    Without torch's compiler nothing is compiled, so it is not imported for this.
    """
    return torch.compiler.set_stance("force_eager") if "torch._dynamo" in sys.modules else nullcontext()
