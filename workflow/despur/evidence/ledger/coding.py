"""Arrays as text, for files that git keeps: ``"u1 2310 eNpj..."`` is kind, shape, and base64 of zlib of the values.

``np.frombuffer(zlib.decompress(base64.b64decode(text.split()[2])), text.split()[0])`` reads it.
"""

import base64
import binascii
import math
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from despur.storage.store import Array, InputError

WHOLE = ("u1", "i1", "<u2", "<i2", "<u4", "<i4", "<i8")  # the fewest bytes first; little-endian on every machine
NUMBER_TYPES = (*WHOLE, "b1", "<f2")
LARGEST = 2**28  # bytes: what a short text may unfold to


def encode(values: Array) -> str:
    """The text of an array; whole numbers take the fewest bytes that hold them all. Raises ValueError for other
    kinds."""
    kind = values.dtype.newbyteorder("<").str.removeprefix("|")
    if values.dtype.kind in "iu":
        low, high = values.min(initial=0), values.max(initial=0)
        kind = next((whole for whole in WHOLE if np.iinfo(whole).min <= low and high <= np.iinfo(whole).max), kind)
    if kind not in NUMBER_TYPES:
        raise ValueError(f"arrays of {values.dtype} are not kept")
    data = zlib.compress(np.ascontiguousarray(values, kind).tobytes(), 9)
    return f"{kind} {'x'.join(map(str, values.shape))} {base64.b64encode(data).decode()}"


def decode(text: Any) -> Array:
    """The array behind a text. Raises InputError for what is no such text."""
    try:
        kind, shape, data = text.split(" ")
        sizes = tuple(map(int, shape.split("x")))
        length = math.prod(sizes) * np.dtype(kind).itemsize
        if kind not in NUMBER_TYPES or min(sizes) < 0 or length > LARGEST:
            raise ValueError(f"{kind} {shape}: no kind or shape that is kept")
        stream = zlib.decompressobj()
        decoded = stream.decompress(base64.b64decode(data, validate=True), length + 1)
        if len(decoded) != length or not stream.eof:
            raise ValueError(f"{kind} {shape}: not so many values")
        return np.frombuffer(decoded, kind).reshape(sizes)
    except (ValueError, AttributeError, TypeError, binascii.Error, zlib.error) as error:
        raise InputError(f"not an array as text ({error})") from None


def encode_ids(ids: Array) -> str | list[str]:
    """Names of originals: whole numbers as differences, which are small where they rise; texts as they are."""
    return encode(np.diff(ids, prepend=0)) if ids.dtype.kind in "iu" else [str(name) for name in ids]


def decode_ids(coded: str | Sequence[str]) -> Array:
    """What :func:`encode_ids` was given."""
    return decode(coded).astype(np.int64).cumsum() if isinstance(coded, str) else np.array(coded)
