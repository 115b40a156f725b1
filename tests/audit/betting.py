"""Bets against a claim about what leaves a search: when they win, and how surely they do.

The claim gives the exact density `p` of a statistic of one release; a bug gives another one, `b`.
A bet on the bug multiplies its stake by `b(x) / p(x)` at every release, and an audit splits one
unit between its bets. Where the claim holds, the expected stake stays 1 whatever is released, so
(Ville's inequality) the stakes together ever reach `1 / ALARM` with probability at most `ALARM`,
no matter how many searches are made or when one stops to look. That is all there is to the
false alarms: nothing is approximated.

A bet that has lost all but `GIVE_UP` of its stake is given up, and the audit ends once all are:
sound code takes few searches. Where the bug is there, `p(x) / b(x)` has expectation 1, so its own
bet is given up with probability at most `GIVE_UP`; and if never, its share w of the stakes is below
`1 / ALARM` after n searches with probability at most `min_t (1 / (w ALARM))^t A(t)^n`,
`A(t) = integral b^(1-t) p^t` (Chernoff's inequality). `power` is 1 less both: a lower bound.

References: Ville 1939; Wald 1945 (giving up); Chernoff 1952; Shafer, "Testing by betting", 2021.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

Floats = NDArray[np.float64]
LogDensity = Callable[[Floats], Floats]  # of rows [draw, number]

ALARM = 1e-7  # the most that an audit of sound code fails with
GIVE_UP = 1e-3
_EXPONENTS = np.linspace(0.01, 0.99, 99)


@dataclass(frozen=True, eq=False)
class Space:
    """Where a statistic lies, to integrate over: points [point, number] and what each weighs."""

    points: Floats
    weights: Floats

    @classmethod
    def line(cls, low: float, high: float, cells: int = 2000) -> Space:
        """The middles of equal cells."""
        edges = np.linspace(low, high, cells + 1)
        return cls((edges[:-1, None] + edges[1:, None]) / 2, np.diff(edges))

    def labelled(self, *labels: float) -> Space:
        """A copy for each label, which comes first."""
        parts = [np.insert(self.points, 0, label, axis=1) for label in labels]
        return Space(np.concatenate(parts), np.tile(self.weights, len(labels)))

    def with_point(self, *point: float) -> Space:
        """And one point that has a probability of its own."""
        return Space(np.vstack([self.points, point]), np.append(self.weights, 1.0))

    def mass(self, density: LogDensity) -> float:
        return float(self.weights @ np.exp(density(self.points)))


@dataclass(frozen=True, eq=False)
class Bet:
    """Money on one bug.

    read: the rows of the statistic that one release shows: `draws` of them, alike and independent,
    or none at all with probability `nothing`.
    """

    bug: str
    read: Callable[[Any], Floats]
    claimed: LogDensity
    bugged: LogDensity
    space: Space
    draws: int = 1
    nothing: float = 0.0

    def log_growth(self, releases: Sequence[Any]) -> float:
        """By what these releases multiply the stake, as a logarithm; infinite if the claim rules
        one of them out."""
        rows = np.concatenate([self.read(release) for release in releases])
        if not len(rows):
            return 0.0
        claimed = self.claimed(rows)
        if not (claimed > -math.inf).all():  # NaN too
            return math.inf
        return float(np.sum(self.bugged(rows) - claimed))

    def power(self, searches: int, share: float, alarm: float = ALARM) -> float:
        """A lower bound on the probability that so many searches with the bug win the bet, which
        has this share of the stakes."""
        wanted = -math.log(alarm * share)
        missed = np.min(_EXPONENTS * wanted + searches * self._log_affinities)
        return max(0.0, -math.expm1(min(0.0, missed)) - GIVE_UP)

    @cached_property
    def _log_affinities(self) -> Floats:
        """ln A(t), for each t of `_EXPONENTS`."""
        claimed, bugged = (law(self.space.points) for law in (self.claimed, self.bugged))
        own = (claimed > -math.inf) & (bugged > -math.inf)
        log_weights = np.log(self.space.weights[own])
        mixed = np.outer(1 - _EXPONENTS, bugged[own]) + np.outer(_EXPONENTS, claimed[own])
        affinity = np.exp(self.draws * logsumexp(mixed + log_weights, axis=1))
        return np.log(self.nothing + (1 - self.nothing) * affinity)


@dataclass(frozen=True)
class Verdict:
    """log_stakes: of all bets together; bug: of the bet that has most; searches: until then."""

    log_stakes: float
    bug: str
    searches: int

    @property
    def alarm(self) -> bool:
        return self.log_stakes >= -math.log(ALARM)


def play(
    bets: Sequence[Bet],
    search: Callable[[int], Any],
    seeds: Sequence[int],
    look_every: int = 25,
) -> Verdict:
    """Search with one seed after another, until the bets have won, or all are given up."""
    gains = np.zeros(len(bets))
    verdict = Verdict(0.0, "", 0)
    for first in range(0, len(seeds), look_every):
        releases = [search(seed) for seed in seeds[first : first + look_every]]
        for i in np.flatnonzero(gains > math.log(GIVE_UP)):
            gains[i] += bets[i].log_growth(releases)
        together = float(logsumexp(gains) - math.log(len(bets)))
        verdict = Verdict(together, bets[int(np.argmax(gains))].bug, first + len(releases))
        if verdict.alarm or (gains <= math.log(GIVE_UP)).all():
            break
    return verdict
