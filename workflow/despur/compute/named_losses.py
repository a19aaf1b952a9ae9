"""The losses of a step: tensors by name, of which "loss" is minimized."""

from collections.abc import Collection
from typing import Any

from torch import Tensor

from despur.storage.store import InputError


def require_name(losses: Collection[str], who: str) -> None:
    """Raises InputError where no loss is called "loss"."""
    if "loss" not in losses:
        raise InputError(f'{who} gives the losses {", ".join(losses) or "none"}; one must be called "loss"')


def require_loss(losses: Any, who: str) -> None:
    """Raises InputError for anything but named tensors, of which "loss" is a scalar that gradients follow from."""
    if not isinstance(losses, dict):
        raise InputError(f'{who} gives {type(losses).__name__}, no named losses: return {{"loss": a scalar tensor}}')
    require_name(losses, who)
    for name, value in losses.items():
        if not isinstance(value, Tensor):
            raise InputError(f"{who} gives {name} as {type(value).__name__}: give a tensor")
    if (loss := losses["loss"]).ndim:
        raise InputError(f"{who} gives a loss of shape {tuple(loss.shape)}: take its mean, a scalar")
    if not loss.requires_grad:
        raise InputError(f"{who} gives a loss that no gradient follows from: compute it from networks, not detached")
