"""Whether a method changes, from step to step, what no checkpoint holds: a run that is stopped would go on without
it."""

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from despur.methods.base import GradientMethod


def fingerprint(value: Any) -> Any:
    """What tells values of a method apart: tensors, arrays, numbers and texts, also in lists; None for anything
    else."""
    if isinstance(value, torch.Tensor):
        return value.detach().cpu().float().numpy().tobytes()
    if isinstance(value, np.ndarray):
        return value.tobytes()
    if isinstance(value, list | tuple):
        return tuple(map(fingerprint, value))
    return value if isinstance(value, int | float | str) else None


def record_values(method: GradientMethod) -> dict[str, Any]:
    """The attributes of a method that a step may change, but for networks."""
    transient = {name for of in type(method).__mro__ for name in vars(of).get("TRANSIENT", ())}
    return {name: fingerprint(value) for name, value in vars(method).items() if name not in transient}


def list_unsaved(method: GradientMethod, before: Mapping[str, Any]) -> list[str]:
    """The attributes that a step has changed since ``before`` and that are no part of the method's state."""
    saved = [fingerprint(value) for value in method.state().values()]
    after = record_values(method)
    return [name for name, value in after.items() if value != before.get(name) and value not in saved]


def warn_of_unsaved(method: GradientMethod, before: Mapping[str, Any], key: str) -> None:
    """Say so where there are any, with the remedy."""
    if names := list_unsaved(method, before):
        print(
            f"warning: {key}: a step changes {', '.join(names)} of the method, which no checkpoint holds: if it is "
            "stopped, it goes on without. Keep it in self.networks or override state and load; what each step sets "
            "anew is named in TRANSIENT",
            file=sys.stderr,
            flush=True,
        )
