"""Captioned digit scenes, such as "a photo of a seven on water": what the bundled image-text model learns from. No
torch here."""

import numpy as np
from sklearn.datasets import load_digits

from despur.compute.randomness import derive_generator
from despur.datasets.sources import scenes
from despur.datasets.sources.prompts import fill
from despur.storage.store import Array

DIGITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
PLACES = ["land", "water"]
VOCABULARY = ["a", "an", "photo", "of", "on", *PLACES, *DIGITS]
LONGEST = 7  # words of a caption
SIDE = 40  # pixels of a scene; crops have 32


def backgrounds(rng: np.random.Generator, digits: Array, skew: float) -> Array:
    """Digits below five mostly on land, the others mostly on water: of each digit exactly ``skew``, to the nearest
    scene."""
    return scenes.assign_backgrounds(rng, digits, lambda digit: int(digit >= 5), lambda _: skew)


def captions(rng: np.random.Generator, digits: Array, a: Array, named: float) -> list[str]:
    """One for each scene; a share ``named`` of them names the background."""
    names_background = rng.random(len(digits)) < named
    return [
        fill("a photo of a {digit}", digit=DIGITS[d]) + (f" on {PLACES[b]}" if name else "")
        for d, b, name in zip(digits, a, names_background, strict=True)
    ]


def captioned_scenes(originals: Array, count: int, skew: float, named: float) -> tuple[Array, list[str]]:
    """``count`` scenes of each digit among these originals of scikit-learn's digits, on textures of their own, and
    their captions.

    The same for every seed of a run. Returns uint8 (N,40,40,3) and N captions.
    """
    scans, rng = load_digits(), derive_generator("captions/scenes")
    distinct = np.unique(originals)
    digit = scans.target[distinct]
    drawn = np.concatenate([np.resize(rng.permutation(distinct[digit == d]), count) for d in np.unique(digit)])
    digits = scans.target[drawn]
    a = backgrounds(rng, digits, skew)
    ink, mask = scenes.render_digits(rng, scans.images[drawn], SIDE)
    return scenes.paste(rng, ink, mask, scenes.textures(rng, a, SIDE)), captions(rng, digits, a, named)
