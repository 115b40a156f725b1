"""What selections do to small discrete mechanisms, computed exactly and apart from honestdp.

Nothing here uses the theorems under test, nor honestdp's own generating functions: laws of K
are summed term by term from their definitions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import mpmath
import numpy as np
from scipy.special import logsumexp
from scipy.stats import binom, poisson

from honestdp.privacy.curve import RdpCurve
from honestdp.privacy.profile import Profile
from honestdp.privacy.run_count import RunCount
from honestdp.privacy.runs import Binomial, Capped, Poisson, Tabulated, TruncatedNegativeBinomial

ORDERS = np.array(
    [1.02, 1.05, 1.1, 1.2, 1.3, 1.5, 1.75, 2, 2.5, 3, 4, 5, 6, 8, 12, 16, 24, 32, 64, 128]
)


@dataclass(frozen=True)
class Pair:
    """Output laws `q`, `r` of two neighbours, from the worst-scored outcome to the best.

    Outcomes with equal `rank` (not falling) have the same score; coins break the tie.
    """

    q: np.ndarray
    r: np.ndarray
    rank: np.ndarray

    @property
    def directions(self) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
        return (self.q, self.r), (self.r, self.q)


class ExactProfile(Profile):
    """The true profile of a pair: the larger of the given directions at every epsilon."""

    def __init__(self, *directions: tuple[np.ndarray, np.ndarray]) -> None:
        self._directions = [list(zip(a.tolist(), b.tolist(), strict=True)) for a, b in directions]

    def delta(self, epsilon: float) -> float:
        return self._at(math.exp(epsilon) if epsilon < 700 else math.inf)

    def _at(self, ratio: float) -> float:
        return max(_over(direction, ratio) for direction in self._directions)

    @property
    def table(self) -> tuple[np.ndarray, np.ndarray]:
        """Every corner of delta as a function of e^t, where it is a polygon."""
        found = {a / b for pairs in self._directions for a, b in pairs if b > 0 and a > b}
        corners = _apart([1.0, *sorted(x for x in found if x < 1e300)])
        if len(self._directions) > 1:  # the larger of two polygons bends where they cross, too
            corners = _apart(sorted([*corners, *self._crossings(corners)]))
        deltas = np.array([self._at(x) for x in corners])
        return np.log(corners), deltas

    def _crossings(self, corners: list[float]) -> list[float]:
        one, other = self._directions
        gaps = [_over(one, x) - _over(other, x) for x in corners]
        return [
            x + (y - x) * g / (g - h)
            for x, y, g, h in zip(corners, corners[1:], gaps, gaps[1:], strict=False)
            if g * h < 0
        ]


def _over(pairs: list[tuple[float, float]], ratio: float) -> float:
    # An outcome impossible on the other side stays whole however large the ratio.
    return sum(max(0.0, a - ratio * b) if b > 0 else a for a, b in pairs)


def _apart(values: list[float]) -> list[float]:
    """Values closer than rounding are one; leaving a corner out only loosens the bound."""
    kept = values[:1]
    for value in values[1:]:
        if value > kept[-1] * (1 + 1e-12):
            kept.append(value)
    return kept


def profile(pair: Pair) -> ExactProfile:
    return ExactProfile(*pair.directions)


def hockey_stick(a: np.ndarray, b: np.ndarray, epsilons: np.ndarray) -> np.ndarray:
    """sum (a - e^epsilon b)_+ for each epsilon."""
    return np.maximum(a - np.exp(epsilons)[:, None] * b, 0).sum(axis=1)


def renyi(a: np.ndarray, b: np.ndarray, orders: np.ndarray) -> np.ndarray:
    """The Renyi divergence of a from b, for orders other than 1."""
    seen = a > 0
    a, b = a[seen], b[seen]
    if np.any(b == 0) and np.all(orders > 1):
        return np.full(len(orders), np.inf)
    a, b = a[b > 0], b[b > 0]
    if not len(a):
        return np.full(len(orders), np.inf)
    powers = orders[:, None] * np.log(a) + (1 - orders)[:, None] * np.log(b)
    return logsumexp(powers, axis=1) / (orders - 1)


def curve(pair: Pair, orders: np.ndarray = ORDERS) -> RdpCurve:
    values = np.max([renyi(a, b, orders) for a, b in pair.directions], axis=0)
    return RdpCurve(orders, np.maximum(values, 0))


def run_probabilities(law: RunCount) -> np.ndarray:
    """P(K = k), k = 0, 1, ..., from the law's definition, until nothing is left."""
    match law:
        case Capped(inner, cap):
            p = run_probabilities(inner)
            head = p[:cap]
            return p if len(p) <= cap else np.append(head, p[cap:].sum())
        case TruncatedNegativeBinomial(shape, gamma):
            if gamma == 1:
                return np.array([0.0, 1.0])
            steps = np.arange(1, 60 + math.ceil((45 + 5 * abs(shape)) / -math.log1p(-gamma)))
            ratios = (1 - gamma) * (steps + shape) / (steps + 1)
            weights = np.concatenate([[0.0, 1.0], np.cumprod(ratios)])
            return weights / math.fsum(weights)
        case Poisson(rate):
            return poisson.pmf(np.arange(math.ceil(rate + 12 * math.sqrt(rate) + 40)), rate)
        case Tabulated(chances):
            return np.array([0.0, *chances])
        case Binomial(trials, probability):
            return binom.pmf(np.arange(trials + 1), trials, probability)
    raise TypeError(law)


def best_of(p: np.ndarray, outcomes: np.ndarray, rank: np.ndarray) -> np.ndarray:
    """The law of the best of K runs; "nothing" (K = 0) comes first.

    P(best <= y) = f(F(y)). Draws that tie are exchangeable, so a tied group's share is split
    as one run would split it.
    """
    result = np.zeros(len(outcomes) + 1)
    result[0] = p[0]
    k = np.arange(1, len(p))
    tops = np.cumsum(outcomes)
    tops = np.minimum(tops / tops[-1], 1.0)
    for level in np.unique(rank):
        members = np.flatnonzero(rank == level)
        mass, top = outcomes[members].sum(), tops[members[-1]]
        if mass == 0:
            continue
        # top^k - (top - mass)^k without cancellation
        with np.errstate(divide="ignore"):
            gain = -np.expm1(k * np.log1p(-min(1.0, mass / top)))
        share = np.sum(p[1:] * top**k * gain)
        result[1 + members] = share * outcomes[members] / mass
    return result


def winners(pair: Pair, law: RunCount) -> tuple[np.ndarray, np.ndarray]:
    p = run_probabilities(law)
    return best_of(p, pair.q, pair.rank), best_of(p, pair.r, pair.rank)


def first_above(
    outcomes: np.ndarray, above: np.ndarray, gamma: float, cap: int | None
) -> np.ndarray:
    """The threshold algorithm, round by round; "nothing" comes first."""
    miss = float(outcomes[~above].sum())
    rounds = cap if cap is not None else math.ceil(45 / gamma)
    reached = ((1 - gamma) * miss) ** np.arange(rounds)
    released = np.where(above, outcomes * math.fsum(reached), 0.0)
    nothing = gamma * miss * math.fsum(reached)
    if cap is not None:  # the last round ends in nothing whatever the coin says
        nothing += (1 - gamma) * miss * reached[-1]
    return np.concatenate([[nothing], released])


@dataclass(frozen=True)
class Tuned:
    """A tuning whose outcome i picks the final run `finals[i]`."""

    tuning: Pair
    finals: tuple[Pair, ...]

    def outputs(self, share: float) -> tuple[np.ndarray, np.ndarray]:
        """(tuned, final) jointly, with the record (in either part) and without."""
        with_record = [
            share * t * final.r + (1 - share) * n * final.q
            for t, n, final in zip(self.tuning.q, self.tuning.r, self.finals, strict=True)
        ]
        without = [n * final.r for n, final in zip(self.tuning.r, self.finals, strict=True)]
        return np.concatenate(with_record), np.concatenate(without)

    def final_curve(self, orders: np.ndarray) -> RdpCurve:
        return RdpCurve(orders, np.max([curve(f, orders).values for f in self.finals], axis=0))


class SixtyDigits:
    """The truncated negative binomial, from
    sum_{k >= 0} C(k + shape - 1, k) z^k = (1 - z)^-shape, z = (1 - gamma) x, less its k = 0.
    """

    def __init__(self, shape: float, gamma: float) -> None:
        self.shape, self.gamma = mpmath.mpf(shape), mpmath.mpf(gamma)

    def pgf_tail(self, u: float | mpmath.mpf) -> mpmath.mpf:
        with mpmath.workdps(60):
            return self._total(mpmath.mpf(u)) / self._total(0)

    def derivative(self, u: float) -> mpmath.mpf:
        with mpmath.workdps(60):
            base = self._base(mpmath.mpf(u))
            return (1 - self.gamma) * base ** (-self.shape - 1) / self._total(0)

    def _base(self, u: mpmath.mpf) -> mpmath.mpf:
        return 1 - (1 - self.gamma) * (1 - u)

    def _total(self, u: mpmath.mpf) -> mpmath.mpf:
        """The sum over k >= 1, divided by the shape (its limit at shape 0)."""
        if self.shape == 0:
            return -mpmath.log(self._base(u))
        return mpmath.expm1(-self.shape * mpmath.log(self._base(u))) / self.shape
