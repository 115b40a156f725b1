"""What a Gaussian question costs together with anything that follows it.

Bounds of columns, bin edges and row norms are learnt from noisy counts before the search. For a
search that is one event, such as a single training, the two are composed as loss distributions
(`guarantee`). A best-of-K search is known by its privacy profile only; this module composes a
Gaussian with any profile.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import ndtr

from honestdp.errors import InputError, open_unit, positive

LEVELS = 80  # deltas at which the profile of what follows is read
_SMALLEST, _LARGEST = 1e-3, 0.5  # times delta; of probability one


def epsilon_after_gaussian(
    epsilon_of: Callable[[float], float], noise_multiplier: float, delta: float
) -> float:
    """The epsilon of a Gaussian question and of what follows it, together.

    *Theorem.* Let M1 be a query of l2 sensitivity 1 answered with Gaussian noise of standard
    deviation s, and let M2, which may read M1's answer, be (e_j, d_j)-DP for j = 1..m whatever that
    answer was, with d_1 < ... < d_m and e_1 >= ... >= e_m. With L normal of mean 1/(2 s^2) and
    variance 1/s^2, (M1, M2) is (epsilon, delta)-DP for
        delta = d_1 P(L <= epsilon - e_1) + sum_{j>1} d_j P(epsilon - e_{j-1} < L <= epsilon - e_j)
                + P(L > epsilon - e_m).
    *Proof.* For neighbours with densities p1 p2, q1 q2 and any set S of outputs,
    P(S) - e^epsilon Q(S) = int p1(x) [P2(S_x | x) - e^(epsilon - L(x)) Q2(S_x | x)] dx, where L(x)
    = ln p1(x)/q1(x), which is at most E[h(epsilon - L)], h the profile of M2 in the worst case over
    x. M1's loss is dominated by that of N(0, 1) and N(1/s, 1), which is the L above in both
    directions (Zhu, Dong & Wang 2022, Theorem 10: dominating pairs compose adaptively), and
    h(y) <= d_j for y >= e_j, h <= 1. QED

    Args:
        epsilon_of: The epsilon of what follows at a delta, in both directions of neighbours. It may
            raise InputError where it has no answer.
        noise_multiplier: The noise of the question over its l2 sensitivity. Several questions of
            noise s_i are one of noise (sum 1/s_i^2)^(-1/2).
        delta: The delta of the result.

    Returns:
        Epsilon, rounded up; infinite if none can be shown.
    """
    mu = 1 / positive("noise_multiplier", noise_multiplier)
    levels, epsilons = _profile(epsilon_of, open_unit("delta", delta))
    if not len(levels):
        return math.inf

    rises = np.diff(levels, append=1.0)  # at the last, delta rises to 1

    def total(epsilon: float) -> float:
        # The theorem's sum in the order of P(L > epsilon - e_j): no term is below 0, so that none
        # cancels, however small delta is
        above = ndtr((mu**2 / 2 - (epsilon - epsilons)) / mu)
        return float(levels[0] + rises @ above) * (1 + 1e-9)

    low, high = 0.0, max(2 * float(epsilons[0]), mu)
    while total(high) > delta:
        low, high = high, 2 * high
        if high > 1e9:
            return math.inf
    while high - low > 1e-7 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if total(middle) > delta else (low, middle)
    return high


def _profile(
    epsilon_of: Callable[[float], float], delta: float
) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]], ...]:
    """Deltas in rising order and an epsilon for each that does not rise."""
    found: list[tuple[float, float]] = []
    for level in np.geomspace(_SMALLEST * delta, max(_LARGEST, delta), LEVELS).tolist():
        try:
            epsilon = epsilon_of(level)
        except InputError:
            continue
        if math.isfinite(epsilon) and (not found or epsilon < found[-1][1]):
            found.append((level, epsilon))
    levels, epsilons = zip(*found, strict=True) if found else ((), ())
    return np.array(levels), np.array(epsilons)
