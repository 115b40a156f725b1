"""Privacy profiles: delta as a function of epsilon, in the worse direction of two neighbours.

A profile states: for every epsilon >= 0 the mechanism is (epsilon, delta(epsilon))-DP. Any
upper bound on the true profile is one.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property, lru_cache

import numpy as np
from dp_accounting.pld import privacy_loss_distribution
from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution
from numpy.typing import NDArray

from honestdp.errors import open_unit
from honestdp.privacy.curve import RdpCurve

Floats = NDArray[np.float64]

_POINTS = 128  # of the grid on which a profile is handed to the selection bounds


class Profile(ABC):
    """delta(epsilon), non-increasing; `epsilon` inverts it on the private side."""

    @abstractmethod
    def delta(self, epsilon: float) -> float:
        """An upper bound on the smallest delta at this epsilon >= 0."""

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
        while high - low > 1e-7 * high:
            middle = (low + high) / 2
            low, high = (middle, high) if self.delta(middle) > delta else (low, middle)
        return high

    @cached_property
    def table(self) -> tuple[Floats, Floats]:
        """Points (epsilon, delta) of the profile from 0 to where it stops falling usefully."""
        floor = max(1e-14, 4 * self.delta(1e9))
        end = 1e-9 if self.delta(1e-9) <= floor else self.epsilon(floor)
        if not math.isfinite(end):
            end = 50.0
        grid = np.linspace(0, end, _POINTS)
        return grid, np.array([self.delta(float(t)) for t in grid])


class CurveProfile(Profile):
    """The profile that a Renyi curve implies."""

    def __init__(self, curve: RdpCurve) -> None:
        self.curve = curve

    def delta(self, epsilon: float) -> float:
        return self.curve.delta(epsilon)

    def epsilon(self, delta: float) -> float:
        return self.curve.epsilon(delta)


class LossDistributionProfile(Profile):
    """A privacy loss distribution, with what its arithmetic may have lost put back.

    The composed distribution comes from a Fourier transform raised to the power of the number
    of steps: absolute errors up to about 5e-17 a step were measured against closed forms, and
    mass that went missing would make delta too small. Both are added to every delta.
    """

    def __init__(self, distribution: PrivacyLossDistribution, steps: int) -> None:
        self._distribution = distribution
        self.mass = float(distribution.get_delta_for_epsilon(-1e4))
        self.slack = 4 * float(np.finfo(float).eps) * steps + max(0.0, 1 - self.mass)

    def delta(self, epsilon: float) -> float:
        return min(1.0, float(self._distribution.get_delta_for_epsilon(epsilon)) + self.slack)

    def answers(self, delta: float) -> bool:
        """Whether delta is far enough above the arithmetic's own error."""
        return delta >= 4 * self.slack + 4e-15


class FallbackProfile(Profile):
    """A privacy loss distribution where it can answer, the Renyi curve where it cannot."""

    def __init__(self, losses: LossDistributionProfile, curve: Callable[[], RdpCurve]) -> None:
        self._losses = losses
        self._curve = curve

    def delta(self, epsilon: float) -> float:
        return self._losses.delta(epsilon)

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

    def epsilon(self, delta: float) -> float:
        return max(profile.epsilon(delta) for profile in self.profiles)


class TightestProfile(Profile):
    """Several bounds on one mechanism: at each point the smallest."""

    def __init__(self, *profiles: Profile) -> None:
        self.profiles = profiles

    def delta(self, epsilon: float) -> float:
        return min(profile.delta(epsilon) for profile in self.profiles)

    def epsilon(self, delta: float) -> float:
        return min(profile.epsilon(delta) for profile in self.profiles)


@lru_cache(maxsize=128)
def loss_distribution(
    sampled: tuple[tuple[float, float, int], ...],
) -> LossDistributionProfile | None:
    """The profile of Poisson-sampled Gaussians (q, sigma, count), composed; None if not to be had.

    dp-accounting's connect-the-dots discretisation (Doroshenko et al. 2022) is pessimistic on
    any grid; the grid decides only how tight it is. Its default step of 1e-4 is far too coarse
    once q/sigma is near 1e-4, so the step follows the spread of one loss.
    """
    spread = min(_spread(q, sigma) for q, sigma, _ in sampled)
    width = 2 * sum(c * _spread(q, s) ** 2 / 2 for q, s, c in sampled)
    width += 20 * math.sqrt(sum(c * _spread(q, s) ** 2 for q, s, c in sampled))
    step = max(min(spread / 16, 2e-3), width / 400_000)
    try:
        composed: PrivacyLossDistribution | None = None
        for q, sigma, count in sampled:
            if q == 1:  # Gaussians compose to a Gaussian exactly
                sigma, count = sigma / math.sqrt(count), 1
            part = privacy_loss_distribution.from_gaussian_mechanism(
                sigma, sampling_prob=q, value_discretization_interval=step
            )
            part = part.self_compose(count) if count > 1 else part
            composed = part if composed is None else composed.compose(part)
        assert composed is not None
        profile = LossDistributionProfile(composed, sum(count for _, _, count in sampled))
    except (ValueError, OverflowError, MemoryError, FloatingPointError):
        return None  # the caller falls back to Renyi curves
    return profile if abs(profile.mass - 1) < 0.01 else None


def _spread(q: float, sigma: float) -> float:
    """About the standard deviation of one step's privacy loss."""
    if q == 1 or sigma < 0.2:
        return 1 / sigma
    return min(1 / sigma, q * math.sqrt(math.expm1(1 / sigma**2)))
