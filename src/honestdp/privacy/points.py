"""Profiles that are known at some points only: stored ones, priced ones, pairs.

Every true profile falls and is convex in x = e^epsilon, being a largest P(S) - x Q(S) over sets S.
So between two points of an upper bound the straight line in x is one too, and beyond the last point
the last delta is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from honestdp.errors import InputError, fail
from honestdp.privacy.profile import Profile, PureProfile

Floats = NDArray[np.float64]

_BULK, _TAIL = 48, 16  # points that are stored, down to delta = 1e-6 and beyond
_LEVELS = 64  # deltas at which a price is asked
_SMALLEST = 1e-14
_FURTHEST = 600.0  # e^600 is still a number


def profile_points(profile: Profile, bulk: int, tail: int) -> tuple[Floats, Floats]:
    """Points (epsilon, delta) of a profile, from 0 to where it hardly falls any more.

    Args:
        profile: The profile.
        bulk: Number of points where delta is above 1e-6.
        tail: Number of points beyond.
    """
    last = float(profile.deltas(np.array([1e9]))[0])
    least = max(_SMALLEST, 1.001 * last)
    near, far = (_reach(profile, max(level, least)) for level in (1e-6, least))
    end = _reach(profile, max(_SMALLEST, (1 + 1e-9) * last))
    found = np.concatenate([np.linspace(0, near, bulk), np.linspace(near, far, tail), [end]])
    losses = np.unique([float(f"{loss:.8g}") for loss in found.tolist()])
    return losses, np.minimum(profile.deltas(losses), 1.0)


def _reach(profile: Profile, delta: float) -> float:
    end = 1e-9 if delta >= 1 or profile.delta(1e-9) <= delta else profile.epsilon(delta)
    return min(end, _FURTHEST)


class PointsProfile(Profile):
    """The profile through some points, see above.

    epsilons: Rising, from 0. table_deltas: Falling, at most 1.
    """

    def __init__(self, epsilons: Floats, deltas: Floats) -> None:
        known = np.array(epsilons, dtype=float), np.array(deltas, dtype=float)
        self.epsilons, self.known = known
        whole = len(known[0]) == len(known[1]) > 0 and known[0].ndim == known[1].ndim == 1
        if not (whole and known[0][0] == 0 and np.all(np.diff(known[0]) > 0)):
            raise fail("epsilons", known[0].tolist()[:5], "must rise from 0, one for each delta")
        if not (known[0][-1] <= _FURTHEST and np.all(known[1] >= 0) and np.all(known[1] <= 1)):
            raise fail("deltas", known[1].tolist()[:5], "must be probabilities")
        self.known = np.minimum.accumulate(self.known)
        for points in known:
            points.setflags(write=False)

    @classmethod
    def of(cls, profile: Profile) -> PointsProfile:
        """Few points of a profile, to be stored: epsilons as they are read, deltas rounded up."""
        losses, deltas = profile_points(profile, _BULK, _TAIL)
        return cls(losses, np.array([_up(delta) for delta in deltas.tolist()]))

    def delta(self, epsilon: float) -> float:
        return float(self.deltas(np.array([epsilon]))[0])

    def deltas(self, epsilons: Floats) -> Floats:
        place = np.searchsorted(self.epsilons, epsilons, side="right") - 1
        after = np.minimum(place + 1, len(self.epsilons) - 1)
        wide = np.maximum(self.epsilons[after] - self.epsilons[place], 1e-300)
        into = np.minimum(epsilons - self.epsilons[place], wide)
        share = np.expm1(into) / np.expm1(wide)  # of the way, in e^epsilon
        found = self.known[place] + share * (self.known[after] - self.known[place])
        return np.minimum(1.0, found * (1 + 1e-12))

    def to_dict(self) -> dict[str, list[float]]:
        """The points as lists."""
        return {"epsilons": self.epsilons.tolist(), "deltas": self.known.tolist()}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> PointsProfile:
        """The profile from the result of `to_dict`."""
        return cls(np.array(facts["epsilons"]), np.array(facts["deltas"]))


def _up(delta: float) -> float:
    """Six digits, not below."""
    if delta <= 0:
        return 0.0
    digit = 10.0 ** (math.floor(math.log10(delta)) - 5)
    rounded = float(f"{math.ceil(delta / digit) * digit:.6g}")
    return min(1.0, rounded if rounded >= delta else delta)


class PricedProfile(Profile):
    """What a price says at some deltas: the smallest of those whose epsilon is no larger, else 1.

    epsilon_of: The epsilon of the mechanism at a delta. It may raise InputError where it has no
    answer, or return infinity.
    """

    def __init__(self, epsilon_of: Callable[[float], float]) -> None:
        found: list[tuple[float, float]] = []
        for delta in np.geomspace(_SMALLEST, 1 - 1e-9, _LEVELS).tolist():
            try:
                epsilon = epsilon_of(delta)
            except InputError:
                continue
            if math.isfinite(epsilon):
                found.append((epsilon, delta))
        self._found = found

    def delta(self, epsilon: float) -> float:
        return min((delta for price, delta in self._found if price <= epsilon), default=1.0)


class MixedProfile(Profile):
    """A mechanism that has a profile up to a probability `aside`, of which nothing is known.

    delta(t) = aside + (1 - aside) delta_0(t). Proof: P = (1-s) P0 + s P1 and Q = (1-s) Q0 + s Q1,
    and P(S) - e^t Q(S) is at most (1-s) [P0(S) - e^t Q0(S)] + s P1(S). With a pure delta_0 this is
    any (epsilon, delta)-DP mechanism (the first statement of `spending`, with its proof).
    """

    def __init__(self, profile: Profile, aside: float) -> None:
        self._profile = profile
        self._aside = aside

    @classmethod
    def of_pair(cls, epsilon: float, delta: float) -> MixedProfile:
        """All that is (epsilon, delta)-DP."""
        return cls(PureProfile(epsilon), delta)

    def delta(self, epsilon: float) -> float:
        return float(self.deltas(np.array([epsilon]))[0])

    def deltas(self, epsilons: Floats) -> Floats:
        found = self._aside + (1 - self._aside) * self._profile.deltas(epsilons)
        return np.minimum(1.0, found * (1 + 1e-12))
