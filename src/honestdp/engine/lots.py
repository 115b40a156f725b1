"""Poisson lots: every row in or out by its own coin of probability q, at a cost of L draws.

The gaps between the rows that come in are geometric, so `floor(ln u / ln(1-q))` for uniform u
steps from one to the next: exactly the law of n coins. Lots are independent between
candidates and steps, because their streams are. The analysis needs that; a lot shared
between candidates would cost far more (see `privacy.events.shared_lots`).

The law is met to the last bit, as the noise's is (`randomness.normal`): u is a real number of which
53 bits are drawn, and x = ln u / ln(1-q) is computed with the error bound

    E = x 2^-46 + 2^-52 / (u |ln(1-q)|):

2^-47 of the logarithm (`randomness.logarithm`), two roundings, and the width of the cell that the
bits leave open, for u >= 2^-40. Where x - E and x + E lie between the same two whole numbers the
gap is certain; else more bits are drawn and it is settled with as many digits as it takes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
import torch
from numba import uint32

from honestdp.compiled import compiled_fused
from honestdp.precision import working_precision
from honestdp.randomness import Purpose, Randomness
from honestdp.randomness.chacha import BLOCKS, TILE, fill_tile, stream
from honestdp.randomness.exact import Uniform
from honestdp.randomness.logarithm import natural_log
from honestdp.randomness.streams import further_bits

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, eq=False)
class Lots:
    """One lot a candidate: row numbers rows[k, :counts[k]]; what lies beyond has no meaning."""

    rows: Array
    counts: Array

    def chunks(self, width: int, device: torch.device) -> Any:
        """The lots as (rows, mask) tensors [candidate, width], in chunks until all are read."""
        longest = max(1, int(self.counts.max()))
        width = math.ceil(longest / math.ceil(longest / width))  # none much shorter than the others
        for first in range(0, longest, width):
            rows = torch.from_numpy(self.rows[:, first : min(first + width, longest)])
            place = torch.arange(first, first + rows.shape[1])
            mask = place < torch.from_numpy(self.counts).unsqueeze(1)
            yield torch.where(mask, rows, 0).to(device), mask.to(device)

    def of(self, candidates: slice) -> Lots:
        """The lots of some of the candidates."""
        return Lots(self.rows[candidates], self.counts[candidates])

    @classmethod
    def everything(cls, n: int, candidates: int) -> Lots:
        """Every row in every candidate's lot."""
        rows = np.tile(np.arange(n, dtype=np.int32), (candidates, 1))
        return cls(rows, np.full(candidates, n, np.int32))


class LotSampler:
    """Draws the lots of a cohort, step by step, into one buffer."""

    def __init__(
        self, n: int, probability: float, candidates: Array, randomness: Randomness
    ) -> None:
        self.n, self.probability = n, probability
        self.candidates, self.key = candidates, randomness.key
        mean = n * probability
        self._counts = np.empty(len(candidates), np.int32)
        self._rows = self._buffer(min(n, math.ceil(mean + 6 * math.sqrt(mean) + 8)))
        with working_precision(120):  # correctly rounded
            self._log_stay_out = float(mpmath.log1p(-mpmath.mpf(probability)))

    def draw(self, step: int) -> Lots:
        doubt, known = np.zeros(2, np.int64), np.empty((0, 3), np.int64)
        while True:
            name = self.key, np.uint32(Purpose.LOTS), self.candidates, np.uint32(step)
            given = self.n, self._log_stay_out, self._rows, self._counts
            if not _draw(*name, *given, doubt, known):
                known = np.concatenate([known, self._settled(step, doubt)])
                continue
            longest = int(self._counts.max())
            if longest <= self._rows.shape[1]:
                return Lots(self._rows, self._counts)
            self._rows = self._buffer(longest)  # same streams, same lots, now with room for all

    def _buffer(self, width: int) -> Array:
        return np.empty((len(self.candidates), width), np.int32)

    def _settled(self, step: int, doubt: Array) -> Array:
        """The gap that was in doubt, as a row of what is known: candidate's place, draw, gap."""
        place, draw = int(doubt[0]), int(doubt[1])
        name = np.uint32(Purpose.LOTS), self.candidates[place], np.uint32(step)
        words = np.empty(2 * draw + 2, np.uint32)
        stream(self.key, *name, words)
        first = int(words[-2]) << 21 | int(words[-1]) >> 11

        def bits(count: int) -> int:
            return first << (count - 53) | further_bits(self.key, *name, draw, 0, count - 53)

        gap = Uniform(bits).geometric(self.probability)
        return np.array([[place, draw, min(gap, self.n)]])


@compiled_fused
def _draw(
    key: Any, purpose: Any, candidates: Any, step: Any, n: Any, log_stay_out: Any,
    rows: Any, counts: Any, doubt: Any, known: Any,
) -> Any:  # fmt: skip
    """Fills rows[k] as far as it has room; counts[k] is the whole lot's size.

    Returns whether it came to its end. Else `doubt` is the place and the number of a draw to be
    settled first: the next call has it among the `known`.
    """
    tile = np.empty((16, BLOCKS), np.uint32)
    words = tile.reshape(TILE)
    for k in range(candidates.size):
        count, used, row, draw = 0, TILE, -1, 0
        block = uint32(0)
        while True:
            if used == TILE:
                fill_tile(key, purpose, candidates[k], step, block, tile)
                block = uint32(block + uint32(BLOCKS))
                used = 0
            high, low = np.uint64(words[used]), np.uint64(words[used + 1])
            used += 2
            gap = _gap((high << np.uint64(21)) | (low >> np.uint64(11)), log_stay_out, n)
            if gap < 0:
                for i in range(known.shape[0]):
                    if known[i, 0] == k and known[i, 1] == draw:
                        gap = known[i, 2]
                if gap < 0:
                    doubt[0], doubt[1] = k, draw
                    return False
            draw += 1
            row += 1 + gap
            if row >= n:
                break
            if count < rows.shape[1]:
                rows[k, count] = row
            count += 1
        counts[k] = count
    return True


@compiled_fused
def _gap(bits: Any, log_stay_out: Any, n: Any) -> Any:
    """The gap of a uniform number whose first 53 bits these are, n for any of n or more; -1 where
    the bits do not settle it."""
    if log_stay_out == -math.inf:  # q = 1
        return 0
    u = (np.float64(bits) + 0.5) * 2.0**-53
    if u >= 1.0:  # the last cell's middle, rounded up
        return -1
    x = natural_log(u) / log_stay_out
    error = x * 2.0**-46 - 2.0**-52 / (u * log_stay_out)
    least, most = math.floor(x - error), math.floor(x + error)
    if least >= n:
        return n
    return int(least) if least == most and u >= 2.0**-40 else -1
