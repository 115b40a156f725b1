"""Searches played from a pool: all that a search does after its trainings, drawn again and again.

A played search draws K, settings and score noise as a run does, but takes each training from the
pool. So what it shows is the spread that choosing makes, over few trainings: draws of one setting
share the pool's repetitions, and the mean is no better known than these allow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from honestdp.planning.procedures import ComposeAll, Procedure, SubsetTuning
from honestdp.privacy.runs import RunCount

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
    """scores: validation counts, [repetition, setting]. noise: the standard deviation on them."""
    played = [_one(procedure, scores, noise, source) for _ in range(searches)]
    settings, repetitions = np.array(played, dtype=np.int64).T
    return Played(settings, repetitions)


def _one(
    procedure: Procedure, scores: Counts, noise: float, source: np.random.Generator
) -> tuple[int, int]:
    repetitions, count = scores.shape
    if isinstance(procedure, ComposeAll):  # every setting once
        settings = np.arange(count)
    else:
        law: RunCount = procedure.runs  # type: ignore[attr-defined]
        settings = source.integers(count, size=law.draw(_open(source)))
    if len(settings) == 0:
        return -1, -1
    trained = source.integers(repetitions, size=len(settings))
    if isinstance(procedure, SubsetTuning):  # a search has one subset, which is a repetition's
        trained[:] = trained[0]
    noisy = scores[trained, settings] + noise * source.standard_normal(len(settings))
    winner = int(np.argmax(noisy))
    return int(settings[winner]), int(trained[winner])


def _open(source: np.random.Generator) -> float:
    """Uniform on the open interval."""
    return float(source.random()) or 0.5
