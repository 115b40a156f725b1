"""Poisson lots: every row in or out by its own coin of probability q, at a cost of L draws.

The gaps between the rows that come in are geometric, so `floor(ln u / ln(1-q))` for uniform u
steps from one to the next: exactly the law of n coins. Lots are independent between
candidates and steps, because their streams are. The analysis needs that; a lot shared
between candidates would cost far more (see `privacy.events.shared_lots`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numba import uint32

from honestdp.compiled import compiled
from honestdp.randomness import Purpose, Randomness
from honestdp.randomness.chacha import BLOCKS, TILE, fill_tile

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

    def draw(self, step: int) -> Lots:
        while True:
            _draw(
                self.key,
                np.uint32(Purpose.LOTS),
                self.candidates,
                np.uint32(step),
                self.n,
                self.probability,
                self._rows,
                self._counts,
            )
            longest = int(self._counts.max())
            if longest <= self._rows.shape[1]:
                return Lots(self._rows, self._counts)
            self._rows = self._buffer(longest)  # same streams, same lots, now with room for all

    def _buffer(self, width: int) -> Array:
        return np.empty((len(self.candidates), width), np.int32)


@compiled
def _draw(
    key: Any, purpose: Any, candidates: Any, step: Any, n: Any, q: Any, rows: Any, counts: Any
) -> None:
    """Fills rows[k] as far as it has room; counts[k] is the whole lot's size."""
    tile = np.empty((16, BLOCKS), np.uint32)
    words = tile.reshape(TILE)
    stay_out = math.log1p(-q) if q < 1 else -math.inf
    for k in range(candidates.size):
        count = 0
        block = uint32(0)
        used = TILE
        row = -1
        while True:
            if used == TILE:
                fill_tile(key, purpose, candidates[k], step, block, tile)
                block = uint32(block + uint32(BLOCKS))
                used = 0
            high, low = np.uint64(words[used]), np.uint64(words[used + 1])
            used += 2
            bits = (high << np.uint64(21)) | (low >> np.uint64(11))
            u = (np.float64(bits) + 0.5) * 2.0**-53
            gap = math.floor(min(math.log(u) / stay_out, float(n)))
            row += 1 + int(gap)
            if row >= n:
                break
            if count < rows.shape[1]:
                rows[k, count] = row
            count += 1
        counts[k] = count
