"""Bounds, bin edges, mean and spread of a column, read off a noisy histogram.

The histogram's cells are fixed beforehand: half of their edges are spaced evenly over the outer
range, half by powers of a constant away from 0 (or from the end that is nearer to 0), so that
numbers of any size between a millionth of the range and all of it find cells of their own size.
All here is arithmetic on counts that already have noise, and on public facts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

Floats = NDArray[np.float64]

ENOUGH = 0.5  # share of rows that must exceed the noise; otherwise cells are merged in pairs
BY_CHANCE = 1e-4  # probability that a cell stands out from the others by noise alone
FAINT = 0.75  # deviations of the noise a cell, below which a tail is no longer followed
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
    """Counts without what could be noise alone, and the edges of their cells."""

    edges: Floats
    counts: Floats

    @classmethod
    def clear(cls, edges: Floats, noisy: Floats, noise: float, rows: int) -> Histogram | None:
        """Set counts that could be noise alone to 0, and keep the tails of the others.

        A cell stands out if noise alone would make any cell as large with a probability of at most
        BY_CHANCE. While less than half of the rows is in such cells, neighbouring cells are merged
        in pairs. The tails below the first and above the last of them reach as far as the counts
        do, taken together (`tail`).

        Args:
            edges: Of the cells.
            noisy: The counts with noise.
            noise: The standard deviation of the noise of one count.
            rows: The number of rows, which is public.

        Returns:
            The counts; None if no cell stands out.
        """
        while len(noisy) > 1:
            out = stands_out(noisy, noise)
            if noisy[out].sum() >= ENOUGH * rows and out.any():
                kept, places = np.where(out, noisy, 0.0), np.flatnonzero(out)
                below, above = slice(0, places[0]), slice(places[-1] + 1, None)
                kept[below] = tail(noisy[below][::-1], noise)[::-1]
                kept[above] = tail(noisy[above], noise)
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


def stands_out(noisy: Floats, noise: float) -> NDArray[np.bool_]:
    """Which counts are so large that noise alone would make any of them as large with a probability
    of at most BY_CHANCE. A count far out that noise made would ruin a mean and a range."""
    return noisy > noise * float(-ndtri(BY_CHANCE / len(noisy)))


def tail(noisy: Floats, noise: float) -> Floats:
    """The counts of a tail, from the cell next to the bulk of the rows outwards; 0 beyond its end.

    Its end is where the sum of the counts, less FAINT deviations of the noise for each cell, is
    largest: farther out, no run of cells holds more than that on average. Beyond the last row this
    sum falls by FAINT a cell, and noise alone leads it on by just k cells with a probability below
    exp(-FAINT^2 k / 2). Up to the end counts are averaged until they fall outwards, as those
    of a tail do: their sum stays the same, and each is above 0.
    """
    path = np.cumsum(noisy - FAINT * noise)
    if not len(path) or path.max() <= 0:
        return np.zeros(len(noisy))
    end = int(path.argmax()) + 1
    sums: list[float] = []
    cells: list[int] = []
    for count in noisy[:end]:
        sums.append(float(count))
        cells.append(1)
        while len(sums) > 1 and sums[-2] * cells[-1] <= sums[-1] * cells[-2]:
            sums[-2:], cells[-2:] = [sums[-2] + sums[-1]], [cells[-2] + cells[-1]]
    falling = np.repeat(np.array(sums) / np.array(cells), cells)
    return np.concatenate([falling, np.zeros(len(noisy) - end)])


def fill(cuts: list[float], count: int, low: float, high: float) -> list[float]:
    """Add cuts in the middle of the widest gaps between low and high until there are `count`."""
    found = np.array([low, *cuts, high])
    while len(found) < count + 2:
        at = int(np.argmax(np.diff(found)))
        found = np.insert(found, at + 1, found[at] + (found[at + 1] - found[at]) / 2)
    return [float(cut) for cut in found[1:-1]]
