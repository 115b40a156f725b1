"""Searches played from a pool: all that a search does after its trainings, drawn again and again.

A played search draws K, settings and score noise as a run does, but takes each training from the
pool. So what it shows is the spread that choosing makes, over few trainings: draws of one setting
share the pool's repetitions, and the mean is no better known than these allow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from honestdp.procedures import Outcome, Procedure

Result = TypeVar("Result")

Counts = NDArray[np.int64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Played:
    """Of every search: the winner's setting, and the repetition its released model is from; -1
    where nothing was run."""

    setting: Integers
    repetition: Integers

    def of(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The winners' values, from a table [repetition, setting]; of those that were."""
        there = self.setting >= 0
        return values[self.repetition[there], self.setting[there]]


def play(
    procedure: Procedure, scores: Counts, noise: float, searches: int, source: np.random.Generator
) -> Played:
    """Searches by the procedure's own `draws` and `keep`, the ones that a run calls.

    Args:
        procedure: How to search.
        scores: Validation counts, [repetition, setting].
        noise: The standard deviation of the noise on them.
        searches: How many.
        source: Of coins and noise.
    """
    repetitions, count = scores.shape
    coin: Any = _Coin(source)
    found = Played(np.full(searches, -1), np.full(searches, -1))
    for search in range(searches):
        draws = procedure.draws(count, lambda index: coin)
        trained = source.integers(repetitions, size=len(draws))
        if procedure.tuning_share is not None:  # a search has one subset, which is a repetition's
            trained[:] = source.integers(repetitions)
        settings = [draw.setting for draw in draws]
        noisy = scores[trained, settings] + noise * source.standard_normal(len(draws))
        ties = source.random(len(draws))
        # The repetition stands for the parameters, at which no procedure looks.
        runs = map(Outcome, draws, trained.tolist(), noisy.tolist(), ties.tolist())
        kept = procedure.keep([], list(runs), float)
        if kept:
            found.setting[search] = kept[0].draw.setting
            found.repetition[search] = kept[0].parameters
    return found


class _Coin:
    """One coin after another, from NumPy's generator: a sealed run's own take too long for
    thousands of searches. Of `honestdp.randomness.exact.Uniform` it has what procedures ask for."""

    def __init__(self, source: np.random.Generator) -> None:
        self._source = source
        self._left: list[float] = []

    def settle(self, decide: Callable[[Fraction, Fraction, int], Result | None]) -> Result:
        word, count = 0, 0
        while True:
            word = word << 64 | int(self._source.integers(2**64, dtype=np.uint64))
            count += 64
            found = decide(Fraction(word, 1 << count), Fraction(word + 1, 1 << count), count + 64)
            if found is not None:
                return found

    def index(self, count: int) -> int:
        if not self._left:
            self._left = self._source.random(4096).tolist()
        return int(self._left.pop() * count)
