"""From a budget back to what it buys, always rounded to the private side.

noise_multiplier   (epsilon, delta) -> the least noise under which a cost fits
candidates         (epsilon, delta) -> the most candidates that fit
run_count          a mean or a wanted hit probability -> the law of K
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Literal

from honestdp.errors import InputError, above, fail, open_unit, positive, positive_integer
from honestdp.privacy.run_count import RunCount
from honestdp.privacy.runs import Poisson, TruncatedNegativeBinomial
from honestdp.privacy.subset_law import repeats_law

Shape = float | Literal["poisson", "optimal", "distinct"]

_DIGITS = 4
_LEAST, _MOST = 1e-2, 1e4


def noise_multiplier(cost: Callable[[float], float], epsilon: float, start: float = 2.0) -> float:
    """A noise multiplier of four significant digits with 0.999 epsilon <= cost(it) <= epsilon.

    `cost` must not grow with the noise; costs that cannot be bounded count as infinite. Where
    the cost jumps over that window, the smallest multiplier that fits. A secant search in
    logarithms, where costs are nearly straight lines; `start` is a first guess.
    """
    positive("epsilon", epsilon)
    low, high = 0.0, math.inf  # too little noise, enough noise
    y_low = y_high = math.nan
    seen: list[tuple[float, float]] = []
    sigma = round_up(start)
    while True:
        found = _cost(cost, sigma)
        gap = math.log(max(found, 1e-300)) - math.log(epsilon)
        seen.append((sigma, gap))
        if found > epsilon:  # not by the logarithms, which may round a cost down to the budget
            low, y_low = sigma, gap
        else:
            high, y_high = sigma, gap
            if gap >= -1e-3:
                return high
        if high == math.inf:
            sigma = round_up(low * min(8.0, math.exp(min(y_low, 3.0)) * 1.002))
            if low >= _MOST:
                raise fail("epsilon", epsilon, "no noise reaches it; raise epsilon or delta")
        elif low == 0:
            sigma = round_up(high * max(0.125, math.exp(max(y_high, -3.0)) * 0.998))
            if high <= _LEAST:
                raise fail("epsilon", epsilon, "needs almost no noise; lower epsilon")
        else:
            sigma = min(round_up(_secant(seen) or low), _next_below(high))
            if not low < sigma < high:
                sigma = round_up(_crossing(low, y_low, high, y_high))
            if not low < sigma < high:
                sigma = round_up(math.sqrt(low * high))
            if not low < sigma < high:
                return high  # neighbours: nothing lies between


def candidates(cost: Callable[[int], float], epsilon: float, most: int = 10**6) -> int:
    """The largest number of candidates k <= most with cost(k) <= epsilon; 0 if one is too many.

    `cost` must not fall with k.
    """
    positive("epsilon", epsilon)
    fits = cache(lambda k: _cost(cost, k) <= epsilon)
    if not fits(1):
        return 0
    low, high = 1, 2
    while high <= most and fits(high):
        low, high = high, 2 * high
    high = min(high, most + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def run_count(
    shape: Shape,
    candidates: int,
    hit_probability: float | None = None,
    mean: float | None = None,
) -> RunCount:
    """The law of K: the one that hits the best with this probability, or E[K] = mean (default:
    as many as there are candidates)."""
    k = positive_integer("candidates", candidates)
    mean = float(k) if mean is None else mean
    if shape == "poisson":
        if hit_probability is None:
            return Poisson(mean)
        return Poisson.from_hit_probability(k, hit_probability)
    if shape == "optimal":  # by default it hits the best as often as the geometric law
        return repeats_law(k, hit_probability or 1 / (1 + (k - 1) / mean))
    if isinstance(shape, str):
        raise fail("shape", shape, 'must be a number above -1, "poisson" or "optimal"')
    eta = above(-1, "shape", shape)
    if hit_probability is None:
        return TruncatedNegativeBinomial.from_mean(eta, mean)
    return TruncatedNegativeBinomial.from_hit_probability(eta, k, hit_probability)


def stopping_probability(
    candidates: int, hit_probability: float | None = None, mean: float | None = None
) -> float:
    """gamma of random stopping: the one that hits the best this often, or 1/mean (default:
    1/candidates).

    K ~ Geometric(gamma) hits one of k with probability 1/(1 + gamma (k-1)).
    """
    k = positive_integer("candidates", candidates)
    if hit_probability is None:
        return 1 / (k if mean is None else mean)
    open_unit("hit_probability", hit_probability)
    return min(1.0, (1 / hit_probability - 1) / (k - 1)) if k > 1 else 1.0


def _cost(cost: Callable[..., float], value: float) -> float:
    try:
        found = cost(value)
    except InputError:
        return math.inf
    return math.inf if math.isnan(found) else found


def _secant(seen: list[tuple[float, float]]) -> float | None:
    """Where the line through the two costs nearest to the budget meets it, at first.

    Both may lie on one side, along which the line through both ends would only creep.
    """
    (a, y_a), (b, y_b) = sorted(sorted(seen, key=lambda point: abs(point[1]))[:2])
    if len(seen) > 6 or not (math.isfinite(y_a) and y_a > y_b):
        return None
    exponent = math.log(b / a) * (y_a + 3e-4) / (y_a - y_b)
    return a * math.exp(exponent) if abs(exponent) < 3 else None


def _crossing(low: float, y_low: float, high: float, y_high: float) -> float:
    """Where the straight line through both ends, in logarithms, falls just under the budget."""
    y_low, y_high = y_low + 3e-4, y_high + 3e-4
    if not math.isfinite(y_low) or not -600 < y_high < 0:
        return math.sqrt(low * high)
    share = y_low / (y_low - y_high)
    # Regula falsi can creep along one side; never let it take less than 1 % of the interval.
    return low * (high / low) ** min(max(share, 0.01), 0.99)


def round_up(value: float) -> float:
    """To four significant digits."""
    unit = _unit(value)
    return float(f"{math.ceil(value / unit - 1e-9) * unit:.{_DIGITS}g}")


def _next_below(value: float) -> float:
    """The largest number of four digits below one of four digits."""
    below = value - _unit(value * (1 - 1e-9))
    return float(f"{below:.{_DIGITS}g}")


def _unit(value: float) -> float:
    return 10.0 ** (math.floor(math.log10(value)) - _DIGITS + 1)
