"""What a mechanism's own privacy profile means to an attacker who bets on one row.

An (epsilon, delta) is the worst case of all mechanisms that have it. The mechanism at hand is
known, and so is its profile: delta at every epsilon, in both directions of neighbours. From the
profile follow the largest share of right bets, the trade-off between the two kinds of wrong ones,
and a Gaussian that is at least as revealing.

Throughout, P and Q are the laws of what is released from two neighbours, in either order. A test
has the false-positive rate a = P(S) and the true-positive rate Q(S), S being what it takes for Q
(or a random mixture of such sets); its false-negative rate is 1 - Q(S). `TwoWayTail` proves
Q(S) <= G(a) for every test, G the smallest of the lines
    e^t a + delta(t)    and    1 - e^-t (1 - a - delta(t))    for t >= 0.
A minimum of fewer lines is larger, so each figure here, of whichever points of the profile, is on
the private side. No points but those of an upper bound on the profile are used, so that all hold
for every procedure whose profile is one. The proofs assume nothing of the attacker: he may know all
other rows, all code and all that is public.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from honestdp.errors import fail, not_negative, unit
from honestdp.privacy.points import profile_points
from honestdp.privacy.profile import Profile
from honestdp.privacy.two_way_tail import TwoWayTail

Floats = NDArray[np.float64]

RATES = (0.001, 0.01, 0.1)  # the false-positive rates that are reported
_ROUNDING = 1e-12  # more than the last operations of each figure can lose, relative or absolute
_BULK, _TAIL = 320, 64  # points of the profile, down to delta = 1e-6 and beyond
# Where the drawn curve touches the finer one, besides the same mirrored.
_TOUCHED = (0.0, 1e-6, 1e-5, 1e-4, 3e-4, *RATES, 0.003, 0.03, 0.06, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4)


@dataclass(frozen=True)
class AttackBounds:
    """What no attacker can exceed who bets on whether one row was real or left empty.

    Attributes:
        success: The largest share of right bets, if a fair coin decided.
        swapped: The same for which of two given rows was there.
        rates: The largest true-positive rate at each of `RATES`: pairs.
        mu: Up to a probability of `aside`, what is released is no more revealing than one number
            with Gaussian noise of standard deviation 1, which the row moves by mu; None if no such
            mu can be shown.
        aside: That probability.
        curve: Corners (false-positive rate, false-negative rate) of a line that no test is below;
            straight between them.
    """

    success: float
    swapped: float
    rates: tuple[tuple[float, float], ...]
    mu: float | None
    aside: float
    curve: tuple[tuple[float, float], ...]

    def to_dict(self) -> dict[str, Any]:
        """The figures as numbers and lists."""
        pairs = {name: [list(pair) for pair in getattr(self, name)] for name in ("rates", "curve")}
        return asdict(self) | pairs

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> AttackBounds:
        """The bounds from the result of `to_dict`.

        Args:
            facts: As `to_dict` returned them.
        """
        pairs = {name: tuple((a, b) for a, b in facts[name]) for name in ("rates", "curve")}
        return cls(**{**facts, **pairs})


def attack_bounds(profile: Profile, aside: float) -> AttackBounds:
    """Compute all figures from one profile.

    Args:
        profile: Of the whole mechanism, both directions of neighbours, the worst of the roles.
        aside: As for `gaussian_bound`; the delta of the plan. A part in 10^9 is added, so that a
            profile that never falls below it, but for rounding, has a mu.

    Raises:
        InputError: If `aside` is not a probability.

    Example:
        >>> from honestdp.privacy import guarantee
        >>> from honestdp.privacy.events import Gaussian
        >>> found = attack_bounds(guarantee.profile(Gaussian(4.0)), aside=1e-6)
        >>> round(found.success, 3), round(found.mu, 2)
        (0.55, 0.25)
    """
    losses, deltas = profile_points(profile, _BULK, _TAIL)
    tail = TwoWayTail.of_points(losses, deltas)
    aside = not_negative("aside", aside) * (1 + 1e-9)
    return AttackBounds(
        success=success(losses, deltas),
        swapped=success_swapped(losses, deltas),
        rates=tuple((rate, true_positive_rate(tail, rate)) for rate in RATES),
        mu=gaussian_bound(tail, aside),
        aside=aside,
        curve=trade_off_curve(tail),
    )


def success(losses: Floats, deltas: Floats) -> float:
    """The largest share of right bets on which of two neighbours a release came from, the two
    being equally likely.

    Theorem: for every t >= 0 it is at most (e^t + delta(t))/(1 + e^t); at t = 0 this is
    (1 + delta(0))/2. Proof: `guess.guess_chance`, whose proof is for one (t, delta(t)). For an
    exact profile t = 0 is the best, by definition of the total variation; for bounds on a
    selection, which are poor near 0, it is another.
    """
    if deltas[0] == 0:  # nothing is told
        return 0.5
    shrunk = np.exp(-losses)
    return min(1.0, float(np.min((1 + deltas * shrunk) / (1 + shrunk))) * (1 + _ROUNDING))


def success_swapped(losses: Floats, deltas: Floats) -> float:
    """The same for which of two given rows was there, the neighbours being a row and a null row.

    Theorem: at most 1 - a, a being the largest over t >= 0 of (1/2 - delta(t)) e^-t and
    1 - delta(t) - e^t/2. Proof: by way of the null row a test has a true-positive rate of at most
    G(G(a)). G is concave and is its own mirror image in the line a + b = 1 (the two kinds of lines
    are each other's), so that G(G(.)) is too, and the largest (1 + G(G(a)) - a)/2 is where
    G(G(a)) = 1 - a. Mirrored, G(a) = b implies G(1 - b) = 1 - a, so b = 1/2 solves this. Each line
    of G is an upper bound, and gives a smaller a where it reaches 1/2: the a above. QED
    """
    half = np.maximum((0.5 - deltas) * np.exp(-losses), 1 - deltas - 0.5 * np.exp(losses))
    return min(1.0, 1 - max(0.0, float(np.max(half))) + _ROUNDING)


def true_positive_rate(tail: TwoWayTail, rate: float) -> float:
    """The largest true-positive rate of a test of this false-positive rate: `TwoWayTail`'s
    theorem."""
    found = float(tail.at(np.array([unit("rate", rate)]))[0])
    return min(1.0, max(found * (1 + _ROUNDING), rate))


def gaussian_bound(tail: TwoWayTail, aside: float) -> float | None:
    """The least mu with which one Gaussian is at least as revealing, up to a probability.

    Statement: let s = `aside` and let T be the pair of N(0, 1) and N(mu, 1), where with probability
    s it is told besides which of the two was drawn. Then the true-positive rate of every test on
    P, Q is at most that of the best test of T of the same false-positive rate. With s = 0 this is
    mu-Gaussian differential privacy (Dong, Roth & Su 2022), with s > 0 its composition with
    (0, s)-DP. So (P, Q) is a post-processing of T (Blackwell; their Theorem 2), and what is true of
    T holds for it: several such T compose to one of mu = (sum mu_i^2)^(1/2) and s = 1 - prod
    (1 - s_i), also adaptively (their Theorem 4 and Corollary 2).

    Proof: the best test of T has the true-positive rate R(a) = s + (1-s) Phi(Phi^-1(a/(1-s)) + mu)
    for a <= 1-s, and 1 above: where the name is told it is right for certain and never falsely
    positive. R is concave, and G is a straight line between its corners: where R >= G at both ends
    of a line, it is in between. So mu is the largest Phi^-1((g-s)/(1-s)) - Phi^-1(a/(1-s)) over the
    corners (a, g) with g > s; there is none if G(0) > s. Both R and G are their own mirror images
    in a + b = 1, so the corners with a <= 1 - g are enough: the others mirror them, and are less
    exact in floating point. QED

    Args:
        tail: G.
        aside: A probability, at least 0 and below 1.

    Returns:
        mu, rounded up; None if there is none.
    """
    if not not_negative("aside", aside) < 1:
        raise fail("aside", aside, "must be below 1")
    corners, values = tail.polygon
    half = corners + values <= 1 + 1e-9  # one in the middle is its own mirror image
    a, g = corners[half] / (1 - aside), (values[half] - aside) / (1 - aside)
    if g[0] > 0:
        return None
    bent = (g > 0) & (a < 1)
    mu = float(np.max(ndtri(np.minimum(g[bent], 1.0)) - ndtri(a[bent]), initial=0.0))
    return mu * (1 + 1e-9) + 1e-9 if math.isfinite(mu) else None


def gaussian_rate(mu: float, aside: float, rate: float) -> float:
    """The true-positive rate of the best test of T in `gaussian_bound`."""
    if rate >= 1 - aside:
        return 1.0
    return float(aside + (1 - aside) * ndtr(ndtri(rate / (1 - aside)) + mu))


def trade_off_curve(tail: TwoWayTail) -> tuple[tuple[float, float], ...]:
    """Corners of a falling, convex line that no test is below: false-positive rate, false-negative
    rate. Straight lines between them are part of the statement.

    Proof: 1 - G is convex, so to join points of it would be above it between them, on the wrong
    side. Of the lines that G is the minimum of, some are kept instead, and the corners are theirs:
    a minimum of fewer lines is larger. Both rates of a corner are then rounded down to six digits.
    That is safe: a falling convex polygon whose corners move left and down has moved down. Each
    moved corner is not above the old polygon (to the left it is higher), and so neither is the
    line between two moved corners: it is not above the old corner between them, and from there on
    both are straight.
    """
    touched = np.array([*_TOUCHED, *(1 - float(tail.at(np.array([a]))[0]) for a in _TOUCHED)])
    touched = np.append(touched, 0.5 * (1 - _advantage(tail)))
    lines = tail.slopes[:, None] * touched + tail.offsets[:, None]
    kept = tail.among(np.unique(np.argmin(lines, axis=0)))
    corners, values = kept.polygon
    points = [
        (_down(a), _down(1 - g)) for a, g in zip(corners.tolist(), values.tolist(), strict=True)
    ]
    end = next(i for i, (_, missed) in enumerate(points) if missed <= 0 or i == len(points) - 1)
    found = tuple(dict.fromkeys(points[: end + 1]))
    return found if len(found) > 1 else (*found, (1.0, 0.0))  # all told apart


def _advantage(tail: TwoWayTail) -> float:
    corners, values = tail.polygon
    return float(np.max(values - corners))


def _down(value: float) -> float:
    """Six digits, never above."""
    less = max(0.0, value - _ROUNDING)
    if less == 0:
        return 0.0
    digit = 10.0 ** (math.floor(math.log10(less)) - 5)
    return max(0.0, float(f"{math.floor(less / digit) * digit:.6g}"))
