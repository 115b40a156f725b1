"""Texts to buckets, by a hash that is the same on every machine and in every version."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray


def bucket(text: str, buckets: int) -> int:
    """The bucket of a text: its BLAKE2b digest of 8 bytes, modulo the number of buckets.

    Example:
        >>> bucket("surgery", 1000) == bucket("surgery", 1000)
        True
    """
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") % buckets


def bucket_of_each(texts: Iterable[str | None], buckets: int) -> NDArray[np.int64]:
    """The bucket of each text; -1 for None."""
    known: dict[str, int] = {}
    found = []
    for text in texts:
        if text is None:
            found.append(-1)
            continue
        place = known.get(text)
        if place is None:
            place = known[text] = bucket(text, buckets)
        found.append(place)
    return np.array(found, dtype=np.int64)
