"""Noisy counts of test rows, and what follows from them with its uncertainty.

A level is a way to put rows into cells, each row into one cell at most. *Theorem.* Counts of L
levels, each with Gaussian noise of standard deviation s sqrt(L), are a Gaussian mechanism of noise
multiplier s for the rows counted. *Proof.* One record moves one count of each level by at most 1,
so the vector of all counts by at most sqrt(L) in the l2 norm. QED. What is computed from noisy
counts is post-processing and costs nothing.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Z = 1.959964  # two-sided, 95 %


@dataclass(frozen=True)
class Level:
    """A way to put rows into cells.

    Attributes:
        name: What rows are counted by.
        shape: Number of cells along each of its axes.
        cells: The cell of every row, [candidate, row], in the order of a C array of that shape;
            from the model's loss, its outputs [candidate, row, output] and the targets [row].
    """

    name: str
    shape: tuple[int, ...]
    cells: Callable[[Any, Any, Any], Any]

    @property
    def size(self) -> int:
        """Number of cells."""
        return math.prod(self.shape)


class Block(ABC):
    """Estimated counts of the cells of one partition, with the law of their noise."""

    counts: Floats  # flat

    @abstractmethod
    def noise_variance(self, gradient: Floats) -> float:
        """The variance that noise gives the linear form `gradient @ counts`."""

    def sampling_variance(self, gradient: Floats) -> float:
        """The variance of that form over samples of so many rows: that of a multinomial draw."""
        counts = nonnegative(self.counts)
        total = max(float(counts.sum()), 1e-300)
        spread = float(counts @ gradient**2) - float(counts @ gradient) ** 2 / total
        return max(spread, 0.0)


class Counted(Block):
    """The noisy counts of one level.

    Args:
        counts: The counts.
        deviation: The standard deviation of the noise of each.
    """

    def __init__(self, counts: Floats, deviation: float) -> None:
        self.counts = np.asarray(counts, dtype=float).ravel()
        self._deviation = deviation

    def noise_variance(self, gradient: Floats) -> float:
        return self._deviation**2 * float(gradient @ gradient)


class Refined(Block):
    """Fine cells that agree with the noisy counts of coarser ones, which they add up to.

    In each coarse cell with m fine ones, b_1 .. b_m of variance v, and its own count a of variance
    v: by least squares every b_i becomes b_i + (a - sum b) / (m + 1), the best linear unbiased
    estimate (Hay, Rastogi, Miklau & Suciu 2010).

    Args:
        coarse: Noisy counts.
        fine: Noisy counts of finer cells, in any shape.
        parent: The number of the coarse cell of each fine one, in the shape of `fine`.
        deviation: The standard deviation of the noise of every count.
    """

    def __init__(
        self, coarse: Floats, fine: Floats, parent: NDArray[np.int64], deviation: float
    ) -> None:
        self._parent = parent.ravel()
        self._weight = 1.0 / (np.bincount(self._parent, minlength=len(coarse)) + 1.0)
        self._deviation = deviation
        fine = np.asarray(fine, dtype=float).ravel()
        gap = np.asarray(coarse, dtype=float) - self._sums(fine)
        self.counts = fine + (self._weight * gap)[self._parent]

    def _sums(self, fine: Floats) -> Floats:
        found = np.bincount(self._parent, weights=fine, minlength=len(self._weight))
        return found.astype(np.float64)

    def noise_variance(self, gradient: Floats) -> float:
        of_coarse = self._weight * self._sums(gradient)
        of_fine = gradient - of_coarse[self._parent]
        return self._deviation**2 * float(of_fine @ of_fine + of_coarse @ of_coarse)


@dataclass(frozen=True)
class Estimate:
    """A value with the standard deviation that sampling and noise together give it."""

    value: float
    deviation: float

    def interval(self, least: float = -math.inf, most: float = math.inf) -> tuple[float, float]:
        """The 95 % interval, within the values that are possible.

        Args:
            least: The least value that is possible.
            most: The largest.
        """
        low, high = self.value - Z * self.deviation, self.value + Z * self.deviation
        return min(max(low, least), most), max(min(high, most), least)


def estimate(function: Callable[..., float], *blocks: Block) -> Estimate:
    """A smooth function of counts, with its standard deviation to first order.

    Blocks are partitions of the same rows, so their sampling errors depend on each other; in the
    worst case the deviations add up, which is what is taken.

    Args:
        function: Of the flat counts of every block.
        blocks: The blocks.
    """
    counts = [block.counts for block in blocks]
    value = function(*counts)
    noise, sampling = 0.0, 0.0
    for place, block in enumerate(blocks):
        gradient = _gradient(function, counts, place)
        noise += block.noise_variance(gradient)
        sampling += math.sqrt(block.sampling_variance(gradient))
    return Estimate(float(value), math.sqrt(noise + sampling**2))


def _gradient(function: Callable[..., float], counts: Sequence[Floats], place: int) -> Floats:
    found = np.empty(len(counts[place]))
    for i in range(len(found)):
        step = 1e-3 * max(1.0, abs(float(counts[place][i])))
        sides = []
        for way in (step, -step):
            moved = counts[place].copy()
            moved[i] += way
            sides.append(function(*counts[:place], moved, *counts[place + 1 :]))
        found[i] = (sides[0] - sides[1]) / (2 * step)
    return found


def nonnegative(counts: Floats) -> Floats:
    """The nearest counts that are not negative and have the same sum (at least 1)."""
    total = max(float(counts.sum()), 1.0)
    falling = np.sort(counts)[::-1]
    over = (np.cumsum(falling) - total) / np.arange(1, len(counts) + 1)
    last = int(np.flatnonzero(falling > over)[-1])
    return np.maximum(counts - over[last], 0.0)


def ratio(part: float, whole: float) -> float:
    """part / whole, where the whole is a noisy count of rows: less than one row counts as one."""
    return float(part / max(whole, 1.0))


def even(edges: Floats, function: Callable[[Floats], Floats]) -> Floats:
    """The mean of a function over every bin, rows spread evenly over it.

    Args:
        edges: Of the bins, rising.
        function: Of an array of places.
    """
    return _moments(edges, function)[0]


def weights(edges: Floats, function: Callable[[Floats], Floats]) -> Floats:
    """What stands for a function in every bin, so that the sum over bins of count times it is the
    sum over rows, to second order in the widths: `even`, and its change if the density of rows
    rises or falls over the bin as the counts of its neighbours say.

    Args:
        edges: Of the bins, rising.
        function: Of an array of places; smooth.
    """
    found, moments = _moments(edges, function)
    width, middle = np.diff(edges), (edges[1:] + edges[:-1]) / 2
    inner = np.arange(1, len(width) - 1)
    slopes = moments[inner] / (middle[inner + 1] - middle[inner - 1])
    found[inner + 1] += slopes / width[inner + 1]
    found[inner - 1] -= slopes / width[inner - 1]
    return found


def _moments(edges: Floats, function: Callable[[Floats], Floats]) -> tuple[Floats, Floats]:
    """The mean of a function over every bin, and the integral of it times the distance from the
    middle; by Gauss's rule of eight points."""
    places, parts = np.polynomial.legendre.leggauss(8)
    half, middle = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
    values = function(middle[:, None] + half[:, None] * places)
    return values @ parts / 2, values @ (places * parts) * half**2
