"""Image files that a user has downloaded: decoded and prepared as they are read. Every error names the file and the
remedy."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from PIL import Image

from despur.storage.store import Array, InputError, Lazy


def as_clip(image: Image.Image, size: int) -> Image.Image:
    """The shorter side resized to ``size``, bicubically, then the center (size,size): CLIP's preprocessing, whose sizes
    and corners are rounded as torchvision's Resize and CenterCrop do."""
    width, height = (size * side // min(image.size) for side in image.size)
    left, top = (round((side - size) / 2) for side in (width, height))
    return image.resize((width, height), Image.Resampling.BICUBIC).crop((left, top, left + size, top + size))


def images(paths: Sequence[Path], size: int, prepare: Callable[[Image.Image], Image.Image], remedy: str) -> Lazy:
    """Image files as uint8 (N,size,size,3), decoded and prepared in parallel as they are sliced.

    Raises InputError: at once for a file that is not there, when sliced for one that cannot be used.
    """
    missing = [path for path in paths if not os.path.exists(path)]  # noqa: PTH110, which raises for long names
    if missing:
        raise InputError(f"{missing[0]} is not there ({len(missing)} of {len(paths)} images are not). {remedy}")

    def load(path: Path) -> Array:
        try:
            with Image.open(path) as image:
                return np.asarray(prepare(image.convert("RGB")))
        except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:  # Pillow raises all of them
            raise InputError(f"{path} cannot be used ({error}). {remedy}") from error

    def make(rows: slice) -> Array:
        with ThreadPoolExecutor() as pool:  # Pillow decodes and resizes outside of Python's lock
            return np.stack(list(pool.map(load, paths[rows])))

    return Lazy((len(paths), size, size, 3), np.uint8, make)
