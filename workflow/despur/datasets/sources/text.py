"""Texts as numbers of words."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from despur.storage.store import Array

PADDING, UNKNOWN = 0, 1
FIRST = 2  # number of the most frequent word


def words(text: str) -> list[str]:
    """Lower-case words, numbers and single signs."""
    return re.findall(r"\w+|[^\w\s]", text.lower())


def vocabulary(texts: Iterable[str], size: int) -> list[str]:
    """The most frequent words, ties in alphabetical order."""
    counts = Counter(word for text in texts for word in words(text))
    return [word for word, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:size]]


def tokens(texts: Sequence[str], vocabulary: Sequence[str], length: int) -> Array:
    """int32 (N,length): numbers of the first words of each text, 1 where a word is not known, padded with 0."""
    number = {word: FIRST + i for i, word in enumerate(vocabulary)}
    numbers = np.full((len(texts), length), PADDING, np.int32)
    for row, text in zip(numbers, texts, strict=True):
        word_numbers = [number.get(word, UNKNOWN) for word in words(text)[:length]]
        row[: len(word_numbers)] = word_numbers
    return numbers
