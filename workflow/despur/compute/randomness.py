"""Randomness without state: each generator is derived from its purpose."""

import hashlib

import numpy as np


def derive_seed(purpose: str, *counts: int) -> int:
    """A 63-bit number derived from a purpose and counts."""
    text = "/".join([purpose, *map(str, counts)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) >> 1


def derive_generator(purpose: str, *counts: int) -> np.random.Generator:
    """A fresh generator: the same purpose and counts give the same draws, whatever was drawn before."""
    return np.random.Generator(np.random.Philox(derive_seed(purpose, *counts)))


def seed_torch(seed: int) -> None:
    """Seed torch's generators on the CPU and, if a GPU is in use, on every GPU.

    torch.manual_seed does so for every kind of device and also formats the call stack, a sixth of a small step's
    time."""
    import torch

    torch.default_generator.manual_seed(seed)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(seed)
