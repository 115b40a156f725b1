"""Bounds, bin edges, mean and spread of a column, read off a noisy histogram.

The histogram's cells are fixed beforehand: half of their edges are spaced evenly over the outer
range, half by powers of a constant away from 0 (or from the end that is nearer to 0), so that
numbers of any size between a millionth of the range and all of it find cells of their own size.
All here is arithmetic on counts that already have noise, and on public facts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ENOUGH = 0.5  # share of rows that must exceed the noise; otherwise cells are merged in pairs
FINEST = 1e-8  # of the range: the smallest cell of those spaced by powers


@lru_cache(maxsize=256)
def cell_edges(low: float, high: float, cells: int) -> Floats:
    """The edges of the cells of a histogram over [low, high]: cells + 1 numbers that never fall."""
    half = cells // 2
    even = np.linspace(low, high, cells - half + 1)
    reach = max(abs(low), abs(high)) if low < 0 < high else high - low
    sizes = reach * np.geomspace(FINEST, 1, half + 2)
    if low < 0 < high:
        powers = np.concatenate([-sizes[::2], sizes[1::2]])
    else:
        powers = low + sizes if low >= 0 else high - sizes
    inside = np.unique(powers[(powers > low) & (powers < high)])
    inside = np.setdiff1d(inside, even)
    wanted = cells - (len(even) - 1)
    if len(inside) > wanted:
        inside = inside[np.linspace(0, len(inside) - 1, wanted).round().astype(int)]
    edges = np.sort(np.concatenate([even, inside]))
    while len(edges) < cells + 1:  # cut the widest in two
        at = int(np.argmax(np.diff(edges)))
        edges = np.insert(edges, at + 1, edges[at] + (edges[at + 1] - edges[at]) / 2)
    edges.setflags(write=False)
    return edges


@dataclass(frozen=True, eq=False)
class Histogram:
    """Counts that stand out from their noise, and the edges of their cells."""

    edges: Floats
    counts: Floats

    @classmethod
    def clear(cls, edges: Floats, noisy: Floats, noise: float, rows: int) -> Histogram | None:
        """Set counts that could be noise alone to 0.

        While less than half of the rows is left, neighbouring cells are merged in pairs. None if
        none stands out.

        Args:
            edges: Of the cells.
            noisy: The counts with noise.
            noise: The standard deviation of the noise of one count.
            rows: The number of rows, which is public.
        """
        while len(noisy) > 1:
            kept = np.where(noisy > noise * sqrt(2 * log(2 * len(noisy))), noisy, 0.0)
            if kept.sum() >= ENOUGH * rows and kept.any():
                return cls(edges, kept)
            if len(noisy) % 2:
                return None
            noisy, noise = noisy.reshape(-1, 2).sum(axis=1), noise * sqrt(2)
            edges = edges[::2]
        return None

    @property
    def shares(self) -> Floats:
        return self.counts / self.counts.sum()

    def quantiles(self, first: float, last: float) -> tuple[float, float]:
        """Edges between which all but `first` of the smallest and 1 - `last` of the largest lie."""
        cumulated = np.cumsum(self.shares)
        top = len(cumulated) - 1
        start = min(int(np.searchsorted(cumulated, first, side="right")), top)
        end = int(np.searchsorted(cumulated, min(last, cumulated[-1]), side="left"))
        return float(self.edges[start]), float(self.edges[max(end, start) + 1])

    def bin_edges(self, bins: int, low: float, high: float) -> list[float]:
        """bins - 1 rising numbers strictly between low and high that cut the rows into about equal
        shares; a cell that holds a bin's share by itself becomes a bin."""
        cuts: list[float] = []
        share, held = 1 / bins, 0.0
        for i, mass in enumerate(self.shares):
            if mass >= share and held > 0:
                cuts.append(float(self.edges[i]))
                held = 0.0
            held += mass
            if held >= share:
                cuts.append(float(self.edges[i + 1]))
                held = 0.0
        inside = sorted({cut for cut in cuts if low < cut < high})[: bins - 1]
        return fill(inside, bins - 1, low, high)

    def mean_and_deviation(self) -> tuple[float, float]:
        """The mean and the standard deviation, each row taken to be in the middle of its cell."""
        middles = (self.edges[:-1] + self.edges[1:]) / 2
        mean = float(self.shares @ middles)
        reach = float(self.edges[-1] - self.edges[0])  # whose square may be out of range
        return mean, reach * sqrt(float(self.shares @ ((middles - mean) / reach) ** 2))


def fill(cuts: list[float], count: int, low: float, high: float) -> list[float]:
    """Add cuts in the middle of the widest gaps between low and high until there are `count`."""
    found = np.array([low, *cuts, high])
    while len(found) < count + 2:
        at = int(np.argmax(np.diff(found)))
        found = np.insert(found, at + 1, found[at] + (found[at + 1] - found[at]) / 2)
    return [float(cut) for cut in found[1:-1]]
