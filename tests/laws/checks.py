"""The checkers: how far an exact output law goes towards a claimed bound.

Each returns the largest ratio exact / claimed: at most 1 where the claim is true, near 1
where it is tight. The same functions judge the real bounds and the mutilated ones.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from exact import ExactProfile, Pair, hockey_stick, renyi

from honestdp.privacy.curve import RdpCurve
from honestdp.privacy.run_count import RunCount
from honestdp.privacy.runs import Capped
from honestdp.privacy.selection import BestOf, selection_shift

RELATIVE, ABSOLUTE = 1e-9, 1e-12  # numeric room given to a claim

Law = np.ndarray


def holds(ratio: float) -> bool:
    return ratio <= 1 + RELATIVE


def delta_ratio(a: Law, b: Law, claim: Callable[[float], float], epsilons: np.ndarray) -> float:
    """One direction: the privacy profile of (a, b) against a claimed one."""
    claimed = np.array([claim(e) for e in epsilons.tolist()])
    return _largest(hockey_stick(a, b, epsilons), claimed)


def renyi_ratio(a: Law, b: Law, claim: RdpCurve) -> float:
    """Both directions: the Renyi divergence against a claimed curve."""
    known = np.isfinite(claim.values)
    if not known.any():
        return 0.0
    orders, claimed = claim.orders[known], claim.values[known]
    return max(_largest(renyi(x, y, orders), claimed) for x, y in ((a, b), (b, a)))


def epsilons(a: Law, b: Law, bound: BestOf, corners: np.ndarray) -> np.ndarray:
    """Where a violation would show: corners of the claim and of the truth, and between."""
    both = (a > 0) & (b > 0)
    truth = np.abs(np.log(a[both] / b[both]))
    claim = bound.shift + corners
    top = max(1e-3, truth.max(initial=0.0), claim.max(initial=0.0)) * 1.02
    found = np.concatenate(
        [np.linspace(0, top, 12), truth * (1 - 1e-4), claim * (1 - 1e-6), claim * (1 + 1e-9)]
    )
    return found[found < 600]


def best_of_ratio(a: Law, b: Law, bound: BestOf, corners: np.ndarray) -> float:
    """Both directions of a selection's output against `multiplier * delta(epsilon - shift)`."""
    points = epsilons(a, b, bound, corners)
    return max(delta_ratio(x, y, bound.delta, points) for x, y in ((a, b), (b, a)))


def one_direction_ratio(pair: Pair, law: RunCount, a: Law, b: Law, *, reverse: bool) -> float:
    ahead = ExactProfile((pair.q, pair.r))
    back = ExactProfile((pair.r, pair.q))
    at_corners = not isinstance(law, Capped)
    shift = selection_shift(back if reverse else ahead, law.log_derivative_tail, at_corners)
    bound = BestOf(ahead, law.mean, shift)
    return delta_ratio(a, b, bound.delta, epsilons(a, b, bound, ahead.table[0]))


def _largest(exact: np.ndarray, claimed: np.ndarray) -> float:
    over = np.maximum(exact - ABSOLUTE, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(over == 0, 0.0, over / np.maximum(claimed, 0))
    assert not np.isnan(claimed).any()
    return float(np.max(ratio, initial=0.0))
