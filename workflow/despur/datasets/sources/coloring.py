"""Color as a spurious attribute: palettes, color assignment and coloring of gray digits."""

from typing import Any

import numpy as np

from despur.specs.settings import Settings
from despur.storage.store import Array

# "paper": App. E.1 of Zhang et al. 2022, the hsv color map at 0, .25, .5, .75, 1: first and last are both red.
# "released": what the authors' code uses, hsv at 0, .2, .4, .6, .8: five colors well apart.
PALETTES = {
    "paper": ("#ff0000", "#85ff00", "#00fff3", "#6e00ff", "#ff0018"),
    "released": ("#ff0000", "#d0ff00", "#00ff5c", "#0074ff", "#b800ff"),
}
PAIRS = [f"{d},{d + 1}" for d in range(0, 10, 2)]  # the five classes (0,1), (2,3), ...


def rgb(palette: str) -> Array:
    """Colors of a palette, uint8 (5,3)."""
    return np.array([tuple(bytes.fromhex(c[1:])) for c in PALETTES[palette]], dtype=np.uint8)


def correlated(rng: np.random.Generator, y: Array, p_corr: float, minority: str) -> Array:
    """A color per sample: with probability ``p_corr`` that of its class, else a random one.

    ``minority``: "other" draws from the other colors, so that minority groups hold exactly 1 - p_corr; "any" from all.
    """
    aligned = rng.random(len(y)) < p_corr
    shift = rng.integers(1 if minority == "other" else 0, len(PAIRS), len(y))
    return np.where(aligned, y, (y + shift) % len(PAIRS))


def colorize(gray: Array, colors: Array, threshold: int = 120) -> Array:
    """Replace pixels of at least ``threshold`` by a flat color; darker ones stay gray. uint8 (N,H,W), (N,3) ->
    (N,H,W,3)."""
    ink = (gray >= threshold)[..., None]
    return np.where(ink, colors[:, None, None, :], gray[..., None]).astype(np.uint8)


def resize(images: Array, size: int) -> Array:
    """Bilinear, anti-aliased. uint8 (N,H,W,C) -> (N,size,size,C)."""
    import torch
    from torch.nn.functional import interpolate

    pictures = torch.from_numpy(np.ascontiguousarray(images)).permute(0, 3, 1, 2)
    resized = [interpolate(part, [size, size], mode="bilinear", antialias=True) for part in pictures.split(4096)]
    return torch.cat(resized).permute(0, 2, 3, 1).contiguous().numpy()


def about_colored(settings: Settings) -> dict[str, Any]:
    """What the colored digit data sets have in common."""
    return {
        "size": 32,
        "train_crop": settings["crop"],
        "test_crop": settings["test_crop"],
        "classes": PAIRS,
        "attributes": [f"color {i}" for i in range(5)],
        "attribute": "color",
    }
