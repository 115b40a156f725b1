"""Texts as hashed words: no vocabulary, so nothing is read from the rows to make one.

A text in lower case is cut into words (runs of letters, digits and underscores) and single other
signs; white space is dropped. A word's hash is `hashing.hash_of`. The hash of several words in a
row is made from theirs, one after the other: `mixed(hash * GOLDEN + next)`. A hash modulo the
number of buckets is its bucket. None of this hangs on the process or the machine, so that a
released model reads texts as they were read when it was trained.

How often a word occurs does not count: the frequent ones say the least. A run of two words weighs
RUN_WEIGHT of a single one, a run of three that of a run of two: there are as many runs as words,
each of them rarer, and in a row of a fixed norm they would push the words aside.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from honestdp.schema.hashing import hash_of

Hashes = NDArray[np.uint64]

WORD = re.compile(r"\w+|[^\w\s]")
GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # as in splitmix64, whose last steps `mixed` is
MULTIPLIERS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
RUN_WEIGHT = 0.3
ROWS = 2048  # texts read at once: their words are held in memory


def hashed_words(texts: Sequence[str | None], buckets: int, ngrams: int) -> csr_matrix:
    """The words of each text, and runs of up to `ngrams` words, as weights of hashed buckets.

    Args:
        texts: One per row; None is a text without words.
        buckets: Number of buckets. Words that share one cannot be told apart.
        ngrams: The longest run of words that is hashed; 1: single words only.

    Returns:
        Weights [rows, buckets], not scaled. Sensitive. Row i depends on text i alone.

    Example:
        >>> hashed_words(["Free money, free"], 1000, 1).nnz
        3
    """
    starts = range(0, len(texts), ROWS)
    parts = [_weights(texts[first : first + ROWS], buckets, ngrams) for first in starts]
    return csr_matrix(vstack(parts, format="csr")) if parts else csr_matrix((0, buckets))


def _weights(texts: Sequence[str | None], buckets: int, ngrams: int) -> csr_matrix:
    known: dict[str, int] = {}  # only saves time: a word's hash does not depend on other texts
    found = [[_known(word, known) for word in WORD.findall((t or "").lower())] for t in texts]
    row = np.repeat(np.arange(len(found)), [len(words) for words in found])
    hashes = np.array([one for words in found for one in words], dtype=np.uint64)
    total = csr_matrix((len(found), buckets))
    for longer, (of, runs) in enumerate(_runs(row, hashes, ngrams)):
        at = (runs % np.uint64(buckets)).astype(np.int64)
        present = csr_matrix((np.ones(len(at)), (of, at)), shape=total.shape)
        present.sum_duplicates()
        present.data[:] = RUN_WEIGHT**longer
        total = total + present
    return total


def _known(word: str, known: dict[str, int]) -> int:
    found = known.get(word)
    if found is None:
        found = known[word] = hash_of(word)
    return found


def _runs(
    row: NDArray[np.int64], hashes: Hashes, ngrams: int
) -> Iterator[tuple[NDArray[np.int64], Hashes]]:
    """The rows and hashes of all runs of 1, 2, ... words that lie within one text."""
    yield row, hashes
    run = hashes
    for longer in range(1, min(ngrams, len(hashes))):
        run = mixed(run[:-1] * GOLDEN + hashes[longer:])
        inside = row[longer:] == row[:-longer]
        yield row[longer:][inside], run[inside]


def mixed(hashes: Hashes) -> Hashes:
    """Spread the bits of a hash, so that its lowest depend on all."""
    found = (hashes ^ (hashes >> np.uint64(30))) * MULTIPLIERS[0]
    found = (found ^ (found >> np.uint64(27))) * MULTIPLIERS[1]
    return found ^ (found >> np.uint64(31))
