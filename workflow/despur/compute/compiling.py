"""Compiled steps, by torch.compile, where the machine is asked for them (--compile, DESPUR_COMPILE).

Compiled are the networks that a method's steps spend their time in (``Method.costly``), in place: names of parameters
stay, so that a checkpoint goes on either way. What evaluates stays eager, and dropout draws what it draws there:
digits differ by rounding alone."""

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import torch

from despur.compute import distributed

if TYPE_CHECKING:
    from despur.methods.base import Method

# Options of torch's inductor. reduce-overhead captures CUDA graphs, but not of batches whose size varies (CNC's do):
# one for each size.
DRAWS: dict[str, Any] = {"fallback_random": True}
MODES: dict[str, dict[str, Any]] = {
    "default": DRAWS,
    "reduce-overhead": DRAWS | {"triton.cudagraphs": True, "triton.cudagraph_skip_dynamic_graphs": True},
}


def mode_of(method: "Method", asked: str) -> str:
    """How a method's steps are run where this is asked for: uncompiled if it names no network for that, or if several
    processes share its batches."""
    return asked if asked != "off" and distributed.processes() == 1 and method.compilable_modules() else "off"


def compile_steps(method: "Method", asked: str, key: str) -> str:
    """Compile a run's networks, from nothing, so that its digits do not depend on the runs before it; how its steps
    are run."""
    mode = mode_of(method, asked)
    if mode != "off":
        torch.compiler.reset()
        torch.compiler.set_stance("force_eager")  # outside of steps
        for network in method.compilable_modules():
            network.compile(options=MODES[mode])
    elif asked != "off":
        why = "several processes share it" if distributed.processes() > 1 else "it names no network to compile"
        print(f"{key}: steps of {method.spec.base_name} are not compiled: {why}", file=sys.stderr, flush=True)
    return mode


def step(mode: str) -> AbstractContextManager[Any]:
    """Around one step. What a captured network returns may be overwritten from the next step on, not by another call
    within this one."""
    if mode == "off":
        return nullcontext()
    torch.compiler.cudagraph_mark_step_begin()
    return torch.compiler.set_stance("default")


def eager() -> AbstractContextManager[Any]:
    """Around passes over all samples within a step: compiled, they would be graphs of their own, and captured outputs
    would pile up.

    Where torch's compiler was not imported, nothing is compiled; to be told so, it would be imported.
    """
    return torch.compiler.set_stance("force_eager") if "torch._dynamo" in sys.modules else nullcontext()
