"""Small scenes: a handwritten digit, turned and shifted, pasted on a texture of land or of water. Each image has a
texture of its own."""

from collections.abc import Callable

import numpy as np
from scipy.ndimage import map_coordinates

from despur.storage.store import Array

# Two colors between which a texture varies, in [0, 1]: dark green to earth, deep to light blue. The light on it, a
# factor for each channel, makes them overlap: with colors that tell land from water at once, LeNet uses nothing
# else.
PALETTES = {"land": ((0.10, 0.18, 0.08), (0.34, 0.30, 0.20)), "water": ((0.08, 0.14, 0.22), (0.24, 0.34, 0.38))}
LIGHT = (0.5, 1.5)
TONES = (0.85, 1.0)  # of a digit, each channel: light, so that it can be read on either background
INK = 0.4  # of a digit, of at most 1: where there is less, the background is visible
HEIGHT, MOVE, TURN = 28, 1, 10  # of a digit: pixels, at most so many pixels, at most so many degrees


def assign_backgrounds(
    rng: np.random.Generator, labels: Array, home: Callable[[int], int], share: Callable[[int], float]
) -> Array:
    """Land (0) or water (1) for each scene (N,): of each label exactly ``share`` of the scenes, to the nearest one, on
    its ``home``; which ones is random."""
    a = np.empty_like(labels)
    for label in np.unique(labels).tolist():
        inside = rng.permutation(np.flatnonzero(labels == label))
        aligned = np.arange(len(inside)) < round(share(label) * len(inside))
        a[inside] = np.where(aligned, home(label), 1 - home(label))
    return a


def noise(rng: np.random.Generator, count: int, side: int, octaves: tuple[int, ...] = (2, 4, 8, 16)) -> Array:
    """Value noise: random grids of 2 to 16 knots, enlarged bilinearly, each octave half as strong. float
    (count,side,side), mean 0."""
    field = np.zeros((count, side, side), dtype=np.float32)
    for level, knots in enumerate(octaves):
        where = np.linspace(0, knots, side)
        weights = np.maximum(0, 1 - np.abs(where[:, None] - np.arange(knots + 1))).astype(np.float32)
        grid = rng.standard_normal((count, knots + 1, knots + 1), dtype=np.float32)
        field += 0.5**level * (weights @ grid @ weights.T)
    return field


def waves(rng: np.random.Generator, count: int, side: int) -> Array:
    """Crests across the image, bent by noise; 3 to 7 in an image, tilted by up to 20 degrees. float (count,side,side)
    in [-1, 1]."""
    tilt, crests, phase = (
        rng.uniform(low, high, (count, 1, 1)).astype(np.float32)
        for low, high in ((-0.35, 0.35), (3, 7), (0, 2 * np.pi))
    )
    y, x = np.mgrid[:side, :side].astype(np.float32) / side
    along = y * np.cos(tilt) + x * np.sin(tilt)
    return np.sin(2 * np.pi * crests * along + phase + 1.5 * noise(rng, count, side, (2, 4)))


def textures(rng: np.random.Generator, water: Array, side: int) -> Array:
    """Land where ``water`` (N,) is 0, water where it is 1; uint8 (N,side,side,3)."""
    wet = water.astype(bool)[:, None, None]
    rough = noise(rng, len(water), side)
    height = np.where(wet, 0.3 * waves(rng, len(water), side) + 0.25 * rough, 0.4 * rough)
    level = np.clip(0.5 + height, 0, 1)[..., None]
    low, high = (
        np.array([PALETTES["land"][end], PALETTES["water"][end]], dtype=np.float32)[water][:, None, None]
        for end in (0, 1)
    )
    light = rng.uniform(*LIGHT, (len(water), 1, 1, 3)).astype(np.float32)
    return (255 * np.clip((low + (high - low) * level) * light, 0, 1)).astype(np.uint8)


def render_digits(rng: np.random.Generator, digits: Array, side: int) -> tuple[Array, Array]:
    """Digits (N,8,8) of ink 0..16, enlarged bilinearly, shifted and turned at random. Returns ink float (N,side,side)
    in [0, 1] and the mask, bool: where ink is at least INK."""
    count, pixels, scale = len(digits), np.mgrid[:side, :side] - (side - 1) / 2, 8 / HEIGHT
    angle = np.deg2rad(rng.uniform(-TURN, TURN, count))
    shift = rng.uniform(-MOVE, MOVE, (2, count))
    cosine, sine = np.cos(angle), np.sin(angle)
    ink = np.empty((count, side, side), dtype=np.float32)
    for i, digit in enumerate(digits.astype(np.float32) / 16):
        y, x = pixels - shift[:, i, None, None]
        rows = scale * (y * cosine[i] - x * sine[i]) + 3.5
        columns = scale * (y * sine[i] + x * cosine[i]) + 3.5
        map_coordinates(digit, [rows, columns], ink[i], order=1, mode="constant")
    return ink, ink >= INK


def paste(rng: np.random.Generator, ink: Array, mask: Array, background: Array) -> Array:
    """Inside the mask a light tone of the image's own, darker where there is less ink; outside, the background. uint8
    (N,H,W,3)."""
    tone = rng.uniform(*TONES, (len(ink), 1, 1, 3)).astype(np.float32)
    digit = (255 * tone * (0.5 + 0.5 * ink)[..., None]).astype(np.uint8)
    return np.where(mask[..., None], digit, background)


def without_background(images: Array, mask: Array) -> Array:
    """Black outside the mask."""
    return np.where(mask[..., None], images, np.uint8(0))
