"""Privacy profiles: delta as a function of epsilon, in the worse direction of two neighbours.

A profile states: for every epsilon >= 0 the mechanism is (epsilon, delta(epsilon))-DP. Any
upper bound on the true profile is one.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property, lru_cache, reduce
from typing import Any

import numpy as np
from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution
from numpy.typing import NDArray
from scipy.signal import lfilter

from honestdp.errors import open_unit
from honestdp.privacy import pld
from honestdp.privacy.curve import RdpCurve

Floats = NDArray[np.float64]

_POINTS = 128  # of the grid on which a profile is handed to the selection bounds
_GROUP = 4096  # steps composed at once at most; beyond, groups of them are

_GRIDS = (12, 4, 1, 1 / 4, 1 / 16, 1 / 64)  # steps to the spread of one loss, finest first


class Profile(ABC):
    """delta(epsilon), non-increasing; `epsilon` inverts it on the private side."""

    @abstractmethod
    def delta(self, epsilon: float) -> float:
        """An upper bound on the smallest delta at this epsilon >= 0."""

    def deltas(self, epsilons: Floats) -> Floats:
        """delta at many epsilons, in rising order."""
        return np.array([self.delta(epsilon) for epsilon in epsilons.tolist()])

    def epsilon(self, delta: float) -> float:
        """The smallest epsilon with delta(epsilon) <= delta, from above; inf if there is none."""
        open_unit("delta", delta)
        if self.delta(0.0) <= delta:
            return 0.0
        low, high = 0.0, 1.0
        while self.delta(high) > delta:
            low, high = high, 2 * high
            if high > 1e9:
                return math.inf
        while high - low > 1e-7 * high + 1e-12:
            middle = (low + high) / 2
            low, high = (middle, high) if self.delta(middle) > delta else (low, middle)
        return high

    @cached_property
    def table(self) -> tuple[Floats, Floats]:
        """Points (epsilon, delta) of the profile, from 0 to where it hardly falls any more."""
        floor = max(1e-14, 4 * float(self.deltas(np.array([1e9]))[0]))
        end = 1e-9 if self.delta(1e-9) <= floor else self.epsilon(floor)
        grid = np.linspace(0, min(end, 600.0), _POINTS)  # e^600 is still a number
        deltas = self.deltas(grid)
        for points in (grid, deltas):  # kept and shared
            points.setflags(write=False)
        return grid, deltas


class CurveProfile(Profile):
    """The profile that a Renyi curve implies."""

    def __init__(self, curve: RdpCurve) -> None:
        self.curve = curve

    def delta(self, epsilon: float) -> float:
        return self.curve.delta(epsilon)

    def epsilon(self, delta: float) -> float:
        return self.curve.epsilon(delta)


class PureProfile(Profile):
    """Any (epsilon, 0)-DP mechanism: delta(t) = (e^epsilon - e^t)/(e^epsilon + 1) below epsilon.

    Randomised response has the largest delta of all such mechanisms at every t (Kairouz, Oh &
    Viswanath 2015, Theorem 2: every other one is a post-processing of it).
    """

    def __init__(self, epsilon: float) -> None:
        self._epsilon = epsilon

    def delta(self, epsilon: float) -> float:
        less = -math.expm1(epsilon - self._epsilon) if epsilon < self._epsilon else 0.0
        return less / (1 + math.exp(-self._epsilon))


class _Losses:
    """delta(epsilon) of one direction, from dp-accounting's grid of losses, for many epsilons.

    delta(e) = P(loss = inf) + sum_{loss > e} p (1 - e^(e - loss)). dp-accounting evaluates this
    one point at a time, or many by a loop in Python; here the two tail sums are kept.
    """

    def __init__(self, pmf: Any) -> None:
        # dp-accounting has no public way to read the grid out.
        dense = pmf.to_dense_pmf()
        step = dense._discretization
        self.grid = (dense._lower_loss + np.arange(dense.size)) * step
        self._infinite = float(dense._infinity_mass)
        reversed_ = np.asarray(dense._probs, dtype=float)[::-1]
        self._mass = np.append(np.cumsum(reversed_)[::-1], 0.0)
        # sum_{j >= i} p_j e^(loss_i - loss_j), by the recursion V_i = p_i + e^-step V_(i+1)
        self._faded = np.append(lfilter([1.0], [1.0, -math.exp(-step)], reversed_)[::-1], 0.0)
        self.total = float(self._mass[0] + self._infinite)

    def deltas(self, epsilons: Floats) -> Floats:
        first = np.searchsorted(self.grid, epsilons, side="right")
        gap = epsilons - self.grid[np.minimum(first, len(self.grid) - 1)]
        inside = self._mass[first] - np.exp(np.minimum(gap, 0.0)) * self._faded[first]
        return self._infinite + np.maximum(inside, 0.0)

    @cached_property
    def _falling(self) -> Floats:
        """Minus delta at the points of the grid, which rises."""
        falling: Floats = np.maximum.accumulate(-self.deltas(self.grid))
        return falling

    def epsilon(self, delta: float) -> float:
        """Where delta(epsilon) = delta, to rounding; inf if that is beyond the grid.

        Between two points of the grid delta(e) = a - b e^e, which is solved for e.
        """
        point = int(np.searchsorted(self._falling, -delta))
        if point == len(self.grid):
            return math.inf
        above = self._infinite + self._mass[point] - delta
        return float(self.grid[point] + math.log(max(above, 1e-300) / self._faded[point]))


class LossDistributionProfile(Profile):
    """A privacy loss distribution, with what its arithmetic may have lost put back.

    The composed distribution comes from a Fourier transform raised to the power of the number
    of steps: absolute errors up to about 5e-17 a step were measured against closed forms, and
    mass that went missing would make delta too small. Both are added to every delta.
    """

    def __init__(
        self, distribution: PrivacyLossDistribution, steps: int, is_tight: bool = True
    ) -> None:
        self._directions = [_Losses(distribution._pmf_remove)]
        if not distribution._symmetric:
            self._directions.append(_Losses(distribution._pmf_add))
        masses = [losses.total for losses in self._directions]
        self.mass = max(masses)
        if not math.isfinite(sum(masses)):  # a NaN must never pass for 1
            raise FloatingPointError("the composed losses are not numbers")
        self.slack = 4 * float(np.finfo(float).eps) * steps + max(0.0, 1 - min(masses))
        self.is_tight = is_tight

    def delta(self, epsilon: float) -> float:
        return float(self.deltas(np.array([epsilon]))[0])

    def deltas(self, epsilons: Floats) -> Floats:
        found = np.max([losses.deltas(epsilons) for losses in self._directions], axis=0)
        return np.minimum(1.0, found * (1 + 1e-9) + self.slack)

    def epsilon(self, delta: float) -> float:
        wanted = (open_unit("delta", delta) - self.slack) / (1 + 1e-9)
        found = max(losses.epsilon(wanted) for losses in self._directions)
        found += 1e-9 * abs(found) + 1e-12  # above all rounding
        if 0 < found < math.inf and self.delta(found) <= delta < self.delta(found * (1 - 1e-6)):
            return found
        return super().epsilon(delta)

    def answers(self, delta: float) -> bool:
        """Whether the grid is fine, and delta far enough above the arithmetic's own error."""
        return self.is_tight and delta >= 4 * self.slack + 4e-15


class FallbackProfile(Profile):
    """A privacy loss distribution if it has an answer; else the smaller of it and the curve."""

    def __init__(self, losses: LossDistributionProfile, curve: Callable[[], RdpCurve]) -> None:
        self._losses = losses
        self._curve = curve

    def delta(self, epsilon: float) -> float:
        found = self._losses.delta(epsilon)
        return found if self._losses.answers(found) else min(found, self._curve().delta(epsilon))

    def deltas(self, epsilons: Floats) -> Floats:
        found = self._losses.deltas(epsilons)
        if self._losses.is_tight:  # down to the arithmetic's error, which is all a table needs
            return found
        return np.minimum(found, CurveProfile(self._curve()).deltas(epsilons))

    def epsilon(self, delta: float) -> float:
        if self._losses.answers(delta):
            return self._losses.epsilon(delta)
        return min(self._losses.epsilon(delta), self._curve().epsilon(delta))


class LargestProfile(Profile):
    """The worst of several: the profile of a mechanism that is one of them."""

    def __init__(self, *profiles: Profile) -> None:
        self.profiles = profiles

    def delta(self, epsilon: float) -> float:
        return max(profile.delta(epsilon) for profile in self.profiles)

    def deltas(self, epsilons: Floats) -> Floats:
        found: Floats = np.max([profile.deltas(epsilons) for profile in self.profiles], axis=0)
        return found

    def epsilon(self, delta: float) -> float:
        return max(profile.epsilon(delta) for profile in self.profiles)


class TightestProfile(Profile):
    """Several bounds on one mechanism: at each point the smallest."""

    def __init__(self, *profiles: Profile) -> None:
        self.profiles = profiles

    def delta(self, epsilon: float) -> float:
        return min(profile.delta(epsilon) for profile in self.profiles)

    def deltas(self, epsilons: Floats) -> Floats:
        found: Floats = np.min([profile.deltas(epsilons) for profile in self.profiles], axis=0)
        return found

    def epsilon(self, delta: float) -> float:
        return min(profile.epsilon(delta) for profile in self.profiles)


@lru_cache(maxsize=128)
def loss_distribution(
    sampled: tuple[tuple[float, float, int], ...],
) -> LossDistributionProfile | None:
    """The profile of Poisson-sampled Gaussians (q, sigma, count), composed; None if not to be had.

    dp-accounting's connect-the-dots discretisation (Doroshenko et al. 2022) is pessimistic on
    any grid; the grid decides only how tight it is. Its default step of 1e-4 is far too coarse
    once q/sigma is near 1e-4, so the step follows the spread of one loss. Very fine grids gain
    mass by rounding (differences of deltas are divided by the step, and probabilities that come
    out negative are taken for 0): then a coarser one is taken. Mass so gained is safe. Before
    negative ones are raised to 0, one step's delta is right to some 1e-16 at every grid point,
    which `slack` puts back for each step; raising them only adds to it.
    """
    variance = sum(count * _spread(q, sigma) ** 2 for q, sigma, count in sampled)
    width = variance + 20 * math.sqrt(variance)
    spread = min(_spread(q, sigma) for q, sigma, _ in sampled)
    coarsest = max(width / 150_000, max(_largest_loss(q, s) for q, s, _ in sampled) / 30_000)
    steps = [max(min(spread / part, 2e-3), coarsest, 2e-9) for part in _GRIDS]
    for step in dict.fromkeys(steps):
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # judged by the mass below
                profile = _composed(sampled, step, is_tight=step <= spread / 4)
        except (ValueError, OverflowError, MemoryError, FloatingPointError):
            continue
        # A tenth more mass costs some 0.4 % of epsilon, far less than the next coarser grid.
        if profile.slack < 1e-3 and (profile.mass - 1) * spread < min(0.5 * spread, 0.4 * step):
            return profile
    if min(q for q, _, _ in sampled) < 1e-9:  # a larger rate costs more, and has a grid
        return loss_distribution(tuple((max(q, 1e-9), s, count) for q, s, count in sampled))
    return None  # the caller falls back to Renyi curves


def _composed(
    sampled: tuple[tuple[float, float, int], ...], step: float, is_tight: bool
) -> LossDistributionProfile:
    parts = []
    for q, sigma, count in sampled:
        if q == 1:  # Gaussians compose to a Gaussian exactly
            sigma, count = sigma / math.sqrt(count), 1
        one = pld.one_step(q, sigma, step)
        group = _group(count)  # in two stages, as high powers lose digits
        groups, rest = divmod(count, group)
        parts.append(pld.repeated(pld.repeated(one, group), groups))
        if rest:
            parts.append(pld.repeated(one, rest))
    composed = reduce(PrivacyLossDistribution.compose, parts)
    return LossDistributionProfile(composed, sum(count for _, _, count in sampled), is_tight)


def _group(count: int) -> int:
    """All steps at once, or in groups of equal size if possible: each stage costs time."""
    if count <= _GROUP:
        return count
    return next((g for g in range(_GROUP, _GROUP // 8, -1) if count % g == 0), _GROUP)


def _largest_loss(q: float, sigma: float) -> float:
    """The loss of an outcome ten standard deviations out: how far one step's grid must reach."""
    exponent = (1 + 20 * sigma) / (2 * sigma**2)
    return exponent + math.log(q) if exponent > 500 else math.log1p(q * math.expm1(exponent))


def _spread(q: float, sigma: float) -> float:
    """About the standard deviation of one step's privacy loss."""
    if q == 1 or sigma < 0.2:
        return 1 / sigma
    return min(1 / sigma, q * math.sqrt(math.expm1(1 / sigma**2)))
