"""Color as a domain: digits whose ink is drawn around their domain's color (Lewis et al. 2023, Sec. 3 and App. E)."""

from typing import Any

import numpy as np
from scipy.stats import truncnorm

from despur.specs.settings import Settings
from despur.storage.store import Array

DOMAINS = {"red": (255, 0, 0), "blue": (0, 0, 255), "purple": (255, 0, 255), "green": (0, 255, 0)}
OF_SPLIT = {"train": (0, 1), "val": (2,), "test_id": (0, 1), "test_ood": (3,)}  # numbers of domains


def balanced(rng: np.random.Generator, split: Array) -> Array:
    """A domain for each sample (N,): of those of its split, each equally often to within one."""
    a = np.empty(len(split), int)
    for name, numbers in OF_SPLIT.items():
        rows = np.flatnonzero(split == name)
        a[rows] = rng.permutation(np.resize(numbers, len(rows)))
    return a


def inks(rng: np.random.Generator, a: Array, sigma: float, outside: str) -> Array:
    """One color a sample, from N(mu_d, sigma^2) in each channel: floats (N,3) in 0..255.

    ``outside`` this range: values are cut to it ("clip") or drawn again ("redraw").
    """
    mu = np.array(list(DOMAINS.values()), float)[a]
    u = rng.random(mu.shape)  # the same draws for every sigma and rule: designs are paired
    if not sigma:
        return mu
    if outside == "redraw":
        return truncnorm.ppf(u, -mu / sigma, (255 - mu) / sigma, mu, sigma)
    return np.clip(truncnorm.ppf(u, -np.inf, np.inf, mu, sigma), 0, 255)


def paint(gray: Array, ink: Array, how: str, threshold: int = 128) -> Array:
    """Gray digits (N,H,W) 0..255 in their ink (N,3), on black: uint8 (N,H,W,3).

    "multiply": a pixel's gray is the share of the ink that it has; "replace": pixels from ``threshold`` on are ink,
    the others black."""
    share = (gray / 255 if how == "multiply" else gray >= threshold).astype(np.float32)
    return np.rint(share[..., None] * ink[:, None, None, :].astype(np.float32)).astype(np.uint8)


def about_domains(size: int, labels: dict[str, int], settings: Settings) -> dict[str, Any]:
    """What the data sets with such domains have in common."""
    return {
        "size": size,
        "train_crop": "centre",
        "test_crop": "centre",
        "classes": ["3", "5"],
        "attributes": list(DOMAINS),
        "attribute": "domain",
        "headline": "test_ood",
        "selection": "probe_accuracy",
        "label_fractions": labels,
        "sigma": settings["sigma"],
    }
