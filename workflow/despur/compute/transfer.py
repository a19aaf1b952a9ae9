"""Copies from the CPU to the device that trains."""

import numpy as np
import torch
from torch import Tensor

from despur.storage.store import Array


def to_device(values: Array | Tensor, device: torch.device) -> Tensor:
    """Copy values from the CPU to a device, without waiting: ``Tensor.to`` would wait until a GPU has done all its
    work."""
    given = values if isinstance(values, Tensor) else torch.from_numpy(np.asarray(values))
    return given.to(device, non_blocking=True)
