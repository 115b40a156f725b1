"""The laws of K that cost the least at a wanted hit probability, by linear programming.

For a given Lambda the conditions `H(1-u) <= e^Lambda H(1-G(u))` are linear in the law, and so is
the hit probability: maximise it, and bisect on Lambda. The conditions are put at the corners of G
with all coordinates equal, where they are nearly as strict as anywhere in the cube (measured:
Lambda is 0.2 % above). That is no proof and need not be: whatever law comes out of here is priced
by its certificate (`random_subset`, `selection.profile_bound`), never by these conditions.

The programme reads public facts alone, and not even the budget: G is that of Gaussian runs with
mu = 0.1. The best law hardly depends on it: up to mu = 1/3 this one costs 0.2 % more than the best,
at mu = 1 from 0 % (8 candidates) to 4 % (20).
"""

from __future__ import annotations

import math
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from honestdp.errors import fail, open_unit, positive_integer
from honestdp.privacy import guarantee
from honestdp.privacy.events import Gaussian
from honestdp.privacy.runs import LARGEST_TABLE, Tabulated
from honestdp.privacy.subset_shift import LARGEST
from honestdp.privacy.two_way_tail import TwoWayTail

Floats = NDArray[np.float64]

_RUN = Gaussian(10.0)
_ONE_OR_ALL = 4  # candidates up to which that is the best law
_DIGITS = 6
_LEAST_SINGLE = 1e-4  # P(K = 1): Lambda is infinite without


@lru_cache(maxsize=256)
def subset_law(candidates: int, hit_probability: float) -> Tabulated:
    """The law of K on 1 .. k for which the best of a random subset costs the least.

    Args:
        candidates: k.
        hit_probability: E[K]/k, the probability that the best candidate is trained.

    Returns:
        The law, with at least that hit probability. Up to 4 candidates it is "one or all": K = 1,
        or K = k.

    Raises:
        InputError: If there are more candidates than `random_subset` prices, or the hit probability
            leaves K = 1 less than one chance in 10,000.

    Example:
        >>> subset_law(2, 0.9)
        Tabulated(chances=(0.2, 0.8))
    """
    k = positive_integer("candidates", candidates)
    hit = open_unit("hit_probability", hit_probability)
    if k > LARGEST:
        raise fail("candidates", k, f"at most {LARGEST} can be priced; use random-repeats")
    if k == 1 or hit * k <= 1:
        return Tabulated((1.0,))
    one_or_all = np.zeros(k)
    one_or_all[0] = k * (1 - hit) / (k - 1)
    if one_or_all[0] < _LEAST_SINGLE:
        way_out = "leaves no room for a single run; lower it, or take composition"
        raise fail("hit_probability", hit, way_out)
    one_or_all[-1] = 1 - one_or_all[0]
    if k <= _ONE_OR_ALL:
        return _rounded(one_or_all)
    m = np.arange(1, k + 1)
    programme = _Programme(m, m / k, hit)
    found = programme.law(programme.least_shift())
    return _rounded(found)


@lru_cache(maxsize=256)
def repeats_law(candidates: int, hit_probability: float) -> Tabulated:
    """The law of K for which the best of K draws *with* replacement costs the least.

    With replacement H is f' (`selection.profile_bound`), and the hit probability 1 - f(1 - 1/k) is
    linear in the law, too. So is E[K], limited to 1.4 times that of the geometric law that hits as
    often. K is one of some 40 numbers, each a fifth above the last.

    Args:
        candidates: k.
        hit_probability: The probability that the best candidate is drawn at least once.

    Returns:
        The law, with at least that hit probability and K at most 50 k.

    Raises:
        InputError: If the programme finds no law.

    Example:
        >>> law = repeats_law(40, 0.9)
        >>> law.hit_probability(40) >= 0.9
        True
    """
    k = positive_integer("candidates", candidates)
    hit = open_unit("hit_probability", hit_probability)
    if k == 1 or hit * k <= 1:
        return Tabulated((1.0,))
    most = min(50 * k, LARGEST_TABLE)
    m = np.unique(np.rint(1.2 ** np.arange(math.floor(math.log(most, 1.2)) + 1)).astype(np.int64))
    hits = -np.expm1(m * math.log1p(-1 / k))
    programme = _Programme(m, hits, hit, most=1.4 * (k - 1) / (1 / hit - 1))
    p = np.zeros(m[-1])
    p[m - 1] = programme.law(programme.least_shift())
    return _rounded(p)


def _rounded(p: Floats) -> Tabulated:
    """To six digits: the largest K gets what is cut off the others, so that hits only grow."""
    p = p[: int(np.flatnonzero(p > 10.0**-_DIGITS)[-1]) + 1]
    unit = 10.0**-_DIGITS
    cut = np.floor(p[:-1] / unit + 1e-6) * unit
    cut[0] = max(cut[0], unit)
    head = [round(float(chance), _DIGITS) for chance in cut]
    return Tabulated((*head, round(1 - math.fsum(head), _DIGITS)))


class _Programme:
    """Laws on some numbers of runs, with at most so many on average, whose hit probability is
    linear in the law."""

    def __init__(
        self, runs: NDArray[np.int64], hits: Floats, hit: float, most: float = math.inf
    ) -> None:
        own, other = _nominal_tail().arguments(_nominal_tail().corners())
        self._own = runs * own[:, None] ** (runs - 1)
        self._other = runs * other[:, None] ** (runs - 1)
        self._runs, self._hits, self._hit, self._most = runs, hits, hit, most

    def least_shift(self) -> float:
        """The least Lambda with which a law has the wanted hit probability, to 1e-4."""
        low, high = 0.0, 0.25
        while self._best(high) < self._hit:
            low, high = high, 2 * high
            if high > 100:
                raise fail("hit_probability", self._hit, "no law has it; ask for less")
        while high - low > 1e-4:
            middle = (low + high) / 2
            low, high = (middle, high) if self._best(middle) < self._hit else (low, middle)
        return high

    def _best(self, shift: float) -> float:
        """The largest hit probability with this Lambda; 0 if there is no law at all."""
        found = self._solved(-self._hits, shift)
        return 0.0 if found is None else float(self._hits @ found)

    def law(self, shift: float) -> Floats:
        """Of the laws with this Lambda and the wanted hit probability, the one with the most
        single runs: it suffers the least where G is larger than thought."""
        single = (self._runs == 1).astype(float)
        found = self._solved(-single, shift + 1e-5, self._hit)
        if found is None:
            raise fail("hit_probability", self._hit, "the programme has no answer; change it")
        return found

    def _solved(self, cost: Floats, shift: float, hit: float | None = None) -> Floats | None:
        above = self._own - math.exp(shift) * self._other
        above /= np.abs(above).max(axis=1, keepdims=True)
        limits, most = [above], [np.zeros(len(above))]
        if self._most < math.inf:
            limits.append(self._runs[None, :] / self._most)
            most.append(np.ones(1))
        if hit is not None:
            limits.append(-self._hits[None, :])
            most.append(np.array([-hit]))
        found = linprog(
            cost,
            A_ub=np.concatenate(limits),
            b_ub=np.concatenate(most),
            A_eq=np.ones((1, len(cost))),
            b_eq=[1.0],
            bounds=[(_LEAST_SINGLE if runs == 1 else 0.0, 1.0) for runs in self._runs],
            method="highs",
        )
        if found.status != 0:
            return None
        p = np.maximum(found.x, 0.0)
        return np.asarray(p / p.sum())


@cache
def _nominal_tail() -> TwoWayTail:
    return TwoWayTail.of(guarantee.profile(_RUN))
