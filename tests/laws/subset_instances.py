"""Sets of different candidates, and what the best of a random subset of them does, exactly.

Nothing here uses the theorem under test: subsets are enumerated one by one, and the coins that
break ties are integrated.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, combinations_with_replacement

import exact
import instances
import numpy as np
from exact import ExactProfile, Pair

from honestdp.privacy.curve import RdpCurve
from honestdp.privacy.profile import Profile
from honestdp.privacy.runs import Tabulated

Rng = np.random.Generator

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(4)  # exact for the coins of up to 8 candidates
COINS, COIN_WEIGHTS = (_NODES + 1) / 2, _WEIGHTS / 2


class LargestExact(Profile):
    """The largest true profile of several pairs, both directions, with all of their corners."""

    def __init__(self, pairs: list[Pair]) -> None:
        self._parts: list[ExactProfile] = [exact.profile(pair) for pair in pairs]

    def delta(self, epsilon: float) -> float:
        return max(part.delta(epsilon) for part in self._parts)

    @property
    def table(self) -> tuple[np.ndarray, np.ndarray]:
        t = np.unique(np.concatenate([part.table[0] for part in self._parts]))
        return t, np.array([self.delta(float(x)) for x in t])


@dataclass(frozen=True)
class Candidates:
    """Pairs of output laws; `rank` of all of them is on one scale."""

    pairs: list[Pair]

    @property
    def profile(self) -> LargestExact:
        return LargestExact(self.pairs)

    @property
    def curve(self) -> RdpCurve:
        values = np.max([exact.curve(pair).values for pair in self.pairs], axis=0)
        return RdpCurve(exact.ORDERS, values)

    def winners(self, law: Tabulated) -> tuple[np.ndarray, np.ndarray]:
        """The law of (winner, its output) on both neighbours."""
        return tuple(  # type: ignore[return-value]
            _winner([side(pair) for pair in self.pairs], [p.rank for p in self.pairs], law)
            for side in (lambda pair: pair.q, lambda pair: pair.r)
        )


def _winner(outcomes: list[np.ndarray], ranks: list[np.ndarray], law: Tabulated) -> np.ndarray:
    k = len(outcomes)
    found = [np.zeros(len(q)) for q in outcomes]
    for i in range(k):
        # Of each other candidate: the probability to lose against outcome y with coin v.
        loses = {
            j: np.array([
                [outcomes[j][ranks[j] < rank].sum() + v * outcomes[j][ranks[j] == rank].sum()
                 for v in COINS]
                for rank in ranks[i]
            ])
            for j in range(k) if j != i
        }  # fmt: skip
        for size, chance in enumerate(law.chances, start=1):
            for others in combinations(loses, size - 1):
                each = np.prod([loses[j] for j in others], axis=0) * np.ones((len(ranks[i]), 4))
                found[i] += chance / math.comb(k, size) * outcomes[i] * (each @ COIN_WEIGHTS)
    return np.concatenate(found)


def candidates(rng: Rng, k: int) -> Candidates:
    """Either very different ones, or variations of one, which share its profile."""
    if rng.random() < 0.4:
        pairs = [instances.pair(rng) for _ in range(k)]
    else:
        one = instances.pair(rng)
        pairs = [_varied(rng, one) for _ in range(k)]
    # Scores on one scale: in each pair from worst to best, between pairs at random, with ties.
    steps = rng.integers(1, 4)
    return Candidates(
        [replace(p, rank=np.cumsum(rng.integers(0, steps + 1, len(p.q)))) for p in pairs]
    )


def _varied(rng: Rng, pair: Pair) -> Pair:
    order = rng.permutation(len(pair.q)) if rng.random() < 0.5 else np.arange(len(pair.q))
    q, r = pair.q[order], pair.r[order]
    return Pair(*((r, q) if rng.random() < 0.3 else (q, r)), rank=pair.rank)


def law(rng: Rng, k: int) -> Tabulated:
    """Laws of all kinds, many with few single runs."""
    p = rng.dirichlet(np.full(k, 10.0 ** rng.uniform(-1.3, 0.7)))
    if rng.random() < 0.4:  # one or all
        p = np.zeros(k)
        p[0], p[-1] = (single := rng.uniform(0.01, 0.9)), 1 - single
    p[0] = max(p[0], 10.0 ** rng.uniform(-4, -1))
    return Tabulated(tuple((p / p.sum()).tolist()))


def drawn(name: str, count: int) -> Iterator[tuple[Rng, int]]:
    """A source of randomness, and a number of candidates from 2 to 6."""
    for i, (rng, _) in enumerate(instances.drawn(name, count)):
        yield rng, 2 + i % 5


def weight(law: Tabulated, k: int, s: tuple[float, ...]) -> float:
    """H, by subsets: the mean over subsets of the others of the product of their arguments."""
    return sum(
        size * chance * sum(math.prod(some) for some in combinations(s, size - 1))
        / math.comb(k - 1, size - 1)
        for size, chance in enumerate(law.chances, start=1)
    )  # fmt: skip


def planted(law: Tabulated, k: int, epsilon: float) -> tuple[Candidates, float]:
    """The worst case of the proof, for pure runs; and its Lambda.

    The other candidates score above the spike with probability u_j on one neighbour and G(u_j) on
    the other; the spike is a rare outcome of the first candidate, with the largest loss.
    """
    grown = math.exp(epsilon)
    corners = [(0.0, 0.0), (1 / (1 + grown), grown / (1 + grown)), (1.0, 1.0)]
    best, chosen = -math.inf, None
    for some in combinations_with_replacement(corners, k - 1):
        ratio = weight(law, k, tuple(1 - u for u, _ in some)) / weight(
            law, k, tuple(1 - g for _, g in some)
        )
        if ratio > best:
            best, chosen = ratio, some
    assert chosen is not None
    rare = 1e-3
    first = Pair(
        np.array([1 - rare, rare]), np.array([1 - rare / grown, rare / grown]), np.array([0, 2])
    )
    others = [Pair(np.array([1 - u, u]), np.array([1 - g, g]), np.array([1, 3])) for u, g in chosen]
    return Candidates([first, *others]), math.log(best)
