"""Several mechanisms of which only profiles are known, composed: their losses added up.

`guarantee` composes events, whose losses it knows. Selections, charges of a ledger and prices are
known by profiles alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce

import numpy as np
from dp_accounting.pld import pld_pmf
from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution
from numpy.typing import NDArray

from honestdp.privacy import pld
from honestdp.privacy.points import MixedProfile, profile_points
from honestdp.privacy.profile import LossDistributionProfile, Profile, PureProfile

Floats = NDArray[np.float64]

_FINE = 160  # grid points to the reach of a profile down to delta = 1e-6
_LARGEST = 200_000  # points of the composed grid, about
_FURTHEST = 300.0  # a loss beyond counts as infinite: e^600 is still a number


def composed(profiles: Sequence[Profile]) -> Profile:
    """The profile of several mechanisms together.

    Theorem. Let mechanism i have a profile of at most h_i in both directions, whatever the ones
    before it released. Let g_i >= h_i be convex in e^t with g_i(-t) = 1 - e^-t (1 - g_i(t)). Then
    all of them together have, in both directions, at most the profile of independent losses whose
    profiles are g_i.
    Proof. The true profile of a pair (P, Q) at -t is 1 - e^-t (1 - that of (Q, P) at t), so g_i
    bounds it at all t. A function of this kind that is convex in e^t, falling, at most 1 and at
    least max(0, 1 - e^t) is the profile of a pair of laws (Zhu, Dong & Wang 2022, Proposition 8),
    and pairs that dominate compose, adaptively (their Theorem 10). QED
    Here g_i is the lower convex hull, in e^t, of points of h_i on a grid: the true profile is
    convex and below the points, so it is below their hull. The losses of g_i lie on the grid
    (dp-accounting's connected dots of such a function are the function), up to its end, beyond
    which they count as infinite. Rounding and what transforms lose: see `LossDistributionProfile`.
    Conditions: what each mechanism costs does not depend on what others released, or the profile
    is not one of the whole (a filter, such as `spending.Budget`, is for that).

    Args:
        profiles: One each, at least one; equal objects are composed faster.

    Example:
        >>> from honestdp.privacy import guarantee
        >>> from honestdp.privacy.events import Gaussian
        >>> one, both = (guarantee.profile(Gaussian(s)) for s in (8.0, 8.0 / 2**0.5))
        >>> round(composed([one, one]).epsilon(1e-6) / both.epsilon(1e-6), 2)
        1.0
    """
    if len(profiles) == 1:
        return profiles[0]
    counts: dict[Profile, int] = {}
    for profile in profiles:
        counts[profile] = counts.get(profile, 0) + 1
    ends = {profile: _ends(profile) for profile in counts}
    told = [1 - profile.delta(ends[profile][1]) for profile in profiles]  # not for certain
    if math.prod(told) < 1e-9:
        return MixedProfile(PureProfile(0.0), 1.0)  # any mechanism
    whole = sum(2 * count * ends[profile][1] for profile, count in counts.items())
    step = max(min(near for near, _ in ends.values()) / _FINE, whole / _LARGEST, 1e-9)
    parts = [
        pld.repeated(_losses(profile, ends[profile][1], step), count)
        for profile, count in counts.items()
    ]
    return LossDistributionProfile(reduce(PrivacyLossDistribution.compose, parts), len(profiles))


def _ends(profile: Profile) -> tuple[float, float]:
    """How far a profile reaches: down to delta = 1e-6, and all of it."""
    losses, _ = profile_points(profile, 2, 2)
    near, far = (min(float(loss), _FURTHEST) for loss in (losses[1], losses[-1]))
    return max(near, 1e-9), max(far, 1e-9)


def _losses(profile: Profile, end: float, step: float) -> PrivacyLossDistribution:
    """The losses of the hull of a profile, on a grid."""
    number = max(1, int(np.ceil(end / step)))
    above: Floats = step * np.arange(number + 1.0)
    deltas = np.minimum.accumulate(np.minimum(profile.deltas(above), 1.0))
    below = -np.expm1(-above[:0:-1]) + np.exp(-above[:0:-1]) * deltas[:0:-1]
    points = np.concatenate([-above[:0:-1], above])
    hull = _hull(points, np.minimum.accumulate(np.concatenate([below, deltas])))
    places = np.arange(-number, number + 1)
    return PrivacyLossDistribution(pld_pmf.create_pmf_pessimistic_connect_dots(step, places, hull))


def _hull(losses: Floats, deltas: Floats) -> Floats:
    """The lower convex hull in e^loss, at the same points. Each value lies on the straight line
    between two points, so that rounding may leave it too high, and never too low."""
    kept: list[int] = []
    slopes: list[float] = []

    def slope(i: int, j: int) -> float:  # times e^loss_i, in which neighbours are compared
        return float((deltas[j] - deltas[i]) / np.expm1(losses[j] - losses[i]))

    for j in range(len(losses)):
        while slopes:
            i = kept[-1]
            before = slopes[-1] * float(np.exp(losses[i] - losses[kept[-2]]))
            if slope(i, j) >= before:
                break
            kept.pop()
            slopes.pop()
        if kept:
            slopes.append(slope(kept[-1], j))
        kept.append(j)
    corners = np.array(kept)
    first = np.minimum(np.searchsorted(corners, np.arange(len(losses)), "right") - 1, len(kept) - 2)
    a, b = corners[first], corners[first + 1]
    share = np.expm1(losses - losses[a]) / np.expm1(losses[b] - losses[a])
    found: Floats = np.clip(deltas[a] + share * (deltas[b] - deltas[a]), 0.0, 1.0)
    return found
