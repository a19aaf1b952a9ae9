"""From the CPU to the device that trains."""

import numpy as np
import torch
from torch import Tensor

from despur.storage.store import Array


def to_device(values: Array | Tensor, device: torch.device) -> Tensor:
    """Values from the CPU, on a device. No step waits for it: ``Tensor.to`` would, until a GPU has done all that it
    was given."""
    given = values if isinstance(values, Tensor) else torch.from_numpy(np.asarray(values))
    return given.to(device, non_blocking=True)
