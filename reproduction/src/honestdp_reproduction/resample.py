"""Searches played from a pool: all that a search does after its trainings, drawn again and again.

A played search draws K, settings and score noise as a run does, but takes each training from the
pool. So what it shows is the spread that choosing makes, over few trainings: draws of one setting
share the pool's repetitions, and the mean is no better known than these allow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from honestdp.privacy.runs import RunCount
from honestdp.procedures import Procedure
from honestdp.procedures.composition import Composition
from honestdp.procedures.subset_tuning import SubsetTuning

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
    repetitions, count = scores.shape
    if isinstance(procedure, Composition):  # every setting once
        runs = np.full(searches, count)
        settings = np.tile(np.arange(count), searches)
    else:
        runs = _draws(procedure.runs, searches, source)  # type: ignore[attr-defined]
        settings = source.integers(count, size=runs.sum())
    search = np.repeat(np.arange(searches), runs)
    trained = source.integers(repetitions, size=len(settings))
    if isinstance(procedure, SubsetTuning):  # a search has one subset, which is a repetition's
        trained = source.integers(repetitions, size=searches)[search]
    noisy = scores[trained, settings] + noise * source.standard_normal(len(settings))
    ranked = np.lexsort((noisy, search))  # search by search, its winner last
    winners = ranked[np.cumsum(runs)[runs > 0] - 1]
    found = Played(np.full(searches, -1), np.full(searches, -1))
    found.setting[runs > 0] = settings[winners]
    found.repetition[runs > 0] = trained[winners]
    return found


def _draws(law: RunCount, count: int, source: np.random.Generator) -> Integers:
    """K of every search, each where the distribution function passes a uniform draw."""
    uniforms = np.clip(source.random(count), 1e-16, None)
    most = law.draw(float(uniforms.max()))
    below = np.cumsum(law.probabilities(most))
    return np.minimum(np.searchsorted(below, uniforms, side="right"), most)
