"""Image files that a user has downloaded: decoded and prepared as they are read. Every error names the files and the
remedy."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from PIL import Image

from despur.storage.store import Array, InputError, Lazy

FORMATS = "JPEG", "PNG", "WEBP", "BMP", "GIF", "TIFF", "PPM"  # none that Pillow leaves to another program
MOST_PIXELS = 89_478_485  # of an image; above it, Pillow fears an attack
DEEP = "I", "F"  # what Pillow's modes of more than 8 bits a channel begin with: it would cut values at 255
UNUSABLE = OSError, SyntaxError, ValueError, Image.DecompressionBombError  # Pillow raises all of them
LISTED = 10  # files that an error names
WHOLE_IMAGES = {"train_crop": "centre", "test_crop": "centre"}  # of about: they are made as large as they are shown


def as_clip(image: Image.Image, size: int) -> Image.Image:
    """The shorter side resized to ``size``, bicubically, then the center (size,size): CLIP's preprocessing."""
    return cut_center(image, size, size, Image.Resampling.BICUBIC)


def cut_center(image: Image.Image, shorter: int, size: int, resampling: Image.Resampling) -> Image.Image:
    """The shorter side resized to ``shorter``, then the center (size,size); sizes and corners are rounded as
    torchvision's Resize and CenterCrop do."""
    width, height = (shorter * side // min(image.size) for side in image.size)
    left, top = (round((side - size) / 2) for side in (width, height))
    return image.resize((width, height), resampling).crop((left, top, left + size, top + size))


def images(paths: Sequence[Path], size: int, prepare: Callable[[Image.Image, int], Image.Image], remedy: str) -> Lazy:
    """Image files as uint8 (N,size,size,3), decoded and prepared (``prepare(image, size)``) in parallel as they are
    sliced.

    Raises InputError that names all of them: at once for files that are not there, when sliced for those, from the
    first row of the slice on, that cannot be used.
    """
    missing = [str(path) for path in paths if not os.path.isfile(path)]  # noqa: PTH113, which raises for long names
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        counts = f"{len(missing)} of {len(paths)} images are not"
        raise InputError(f"{name_some(missing, ', ')} {verb} not there ({counts}). {remedy}")

    def load(path: Path) -> Array:
        with Image.open(path, formats=FORMATS) as image:
            if image.width * image.height > MOST_PIXELS:
                raise ValueError(f"{image.width}x{image.height} pixels; at most {MOST_PIXELS:,} are decoded")
            if image.mode.startswith(DEEP):
                raise ValueError(f"its mode is {image.mode}: save it with 8 bits a channel")
            return np.asarray(prepare(image.convert("RGB"), size))

    def find_fault(path: Path) -> str:
        try:
            load(path)
        except UNUSABLE as error:
            return f"{path} cannot be used ({error})"
        return ""

    def make(rows: slice) -> Array:
        with ThreadPoolExecutor() as pool:  # Pillow decodes and resizes outside of Python's lock
            try:
                return np.stack(list(pool.map(load, paths[rows])))
            except UNUSABLE as error:
                faults = [fault for fault in pool.map(find_fault, paths[rows.start :]) if fault]
                raise InputError(f"{name_some(faults, '; ')}. {remedy}") from error

    return Lazy((len(paths), size, size, 3), np.uint8, make)


def name_some(faults: Sequence[str], separator: str) -> str:
    """The first of them, and how many there are besides."""
    more = f" and {len(faults) - LISTED:,} more" if len(faults) > LISTED else ""
    return separator.join(faults[:LISTED]) + more
