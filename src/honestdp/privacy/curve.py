"""Renyi curves, and their conversions to (epsilon, delta).

A curve states: for every order a in `orders`, the Renyi divergence of order a between the
outputs on any two neighbours is at most `values[a]` (Mironov 2017). Curves of independent or
adaptively chosen mechanisms add. Leaving an order out never makes a statement false.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from dp_accounting.rdp.rdp_privacy_accountant import compute_epsilon
from numpy.typing import NDArray
from scipy.special import gammaln, log_ndtr, logsumexp

from honestdp.errors import fail, open_unit, positive_integer

Floats = NDArray[np.float64]
Conversion = Literal["classic", "improved"]

# Blocks of orders, computed in turn until larger ones can no longer be the best (see
# `sampled_gaussian`). Dense below 2, where expensive plans have their optimum; up to 2048 for
# cheap ones: one run at n = 950,000 costs 0.141 with orders to 63 and 0.034 with these.
_ORDER_BLOCKS: tuple[tuple[float, ...], ...] = (
    (
        1.02,
        *(round(1 + x / 20, 2) for x in range(1, 20)),
        *(x / 10 for x in range(20, 40)),
        *(x / 4 for x in range(16, 44)),
    ),
    *(
        tuple(sorted({round(low * 2 ** (i / 16)) for i in range(16)}))
        for low in (11, 22, 44, 88, 176, 352)
    ),
    (704, 900, 1200, 1600, 2048),
)
_INTEGER_BLOCKS = tuple(
    tuple(float(a) for a in range(low, high))
    for low, high in ((2, 64), *((low, low + 32) for low in range(64, 512, 32)))
)


@dataclass(frozen=True, eq=False)
class RdpCurve:
    """Upper bounds `values` on the Renyi divergence at `orders` (all above 1)."""

    orders: Floats
    values: Floats

    def __post_init__(self) -> None:
        for name in ("orders", "values"):  # own copies, locked: curves are kept and shared
            own = np.array(getattr(self, name), dtype=float)
            own.setflags(write=False)
            object.__setattr__(self, name, own)
        if self.orders.shape != self.values.shape or self.orders.ndim != 1:
            raise fail("values", self.values.shape, "one value for each order")
        if not np.all(np.diff(self.orders, prepend=1.0) > 0):
            raise fail("orders", self.orders.tolist()[:5], "must be above 1, in rising order")
        if not np.all(self.values >= 0):  # false for NaN too
            raise fail(
                "values", float(np.min(self.values)), "must be at least 0, as divergences are"
            )

    def __add__(self, other: RdpCurve) -> RdpCurve:
        orders, mine, theirs = np.intersect1d(
            self.orders, other.orders, assume_unique=True, return_indices=True
        )
        return RdpCurve(orders, self.values[mine] + other.values[theirs])

    def __mul__(self, count: int) -> RdpCurve:
        return RdpCurve(self.orders, self.values * float(positive_integer("count", count)))

    def maximum(self, other: RdpCurve) -> RdpCurve:
        """The curve that holds whichever of the two mechanisms a record went through."""
        orders, mine, theirs = np.intersect1d(
            self.orders, other.orders, assume_unique=True, return_indices=True
        )
        return RdpCurve(orders, np.maximum(self.values[mine], other.values[theirs]))

    def minimum(self, other: RdpCurve) -> RdpCurve:
        """Two bounds on the same mechanism: at each order the smaller one that is known."""
        orders = np.union1d(self.orders, other.orders)
        values = np.minimum(self.at(orders), other.at(orders))
        return RdpCurve(orders, values)

    def at(self, orders: Floats) -> Floats:
        """The values at these orders; infinite where an order is not known."""
        known = dict(zip(self.orders.tolist(), self.values.tolist(), strict=True))
        return np.array([known.get(order, math.inf) for order in orders.tolist()])

    def epsilon(self, delta: float, conversion: Conversion = "improved") -> float:
        """The smallest epsilon at this delta.

        classic: min_a values(a) + ln(1/delta)/(a-1) (Mironov 2017, Prop. 3; the paper's).
        improved: min_a values(a) + ln(1-1/a) - ln(delta a)/(a-1), and 0 where the total
        variation is below delta (Canonne, Kamath & Steinke 2020, Prop. 12).
        """
        open_unit("delta", delta)
        known = np.isfinite(self.values)
        orders, values = self.orders[known], self.values[known]
        if not len(orders):
            return math.inf
        if conversion == "classic":
            return float(np.min(values - math.log(delta) / (orders - 1)))
        if conversion == "improved":
            return float(compute_epsilon(orders.tolist(), values.tolist(), delta)[0])
        raise fail("conversion", conversion, 'choose "classic" or "improved"')

    def delta(self, epsilon: float) -> float:
        """The smallest delta at this epsilon >= 0, by the same two bounds as `improved`.

        Written out because dp-accounting's rounds 1 - e^-r, a bound on the squared total
        variation, towards 0 for divergences r below 1e-9.
        """
        known = np.isfinite(self.values) & (self.orders > 1.01)
        if not known.any():
            return 1.0
        a, r = self.orders[known], self.values[known]
        by_order = (a - 1) * (r - epsilon + np.log1p(-1 / a)) - np.log(a)
        by_variation = 0.5 * math.log(-math.expm1(-max(float(np.min(r)), 1e-300)))
        return math.exp(min(0.0, by_variation, float(np.min(by_order))))


def gaussian(noise_multiplier: float) -> RdpCurve:
    """The Gaussian mechanism: a / (2 sigma^2) at every order a (Mironov 2017)."""
    orders = np.array([order for block in _ORDER_BLOCKS for order in block])
    return RdpCurve(orders, orders / (2 * noise_multiplier**2))


def pure(epsilon: float) -> RdpCurve:
    """Any (epsilon, 0)-DP mechanism: min(epsilon, a epsilon^2 / 2) at every order a > 1.

    The first is that a divergence grows with its order, to epsilon at infinity; the second Bun &
    Steinke 2016, Prop. 1.4: epsilon-DP is epsilon^2/2-zCDP.
    """
    orders = np.array([order for block in _ORDER_BLOCKS for order in block])
    slope = epsilon * min(epsilon, 2.0) / 2  # above 2 the first is the smaller anyway
    with np.errstate(over="ignore"):
        return RdpCurve(orders, np.minimum(epsilon, orders * slope))


@lru_cache(maxsize=512)
def sampled_gaussian(sampling_probability: float, noise_multiplier: float, steps: int) -> RdpCurve:
    """`steps` Gaussians on Poisson lots (Mironov, Talwar & Zhang 2019).

    In the remove direction, the larger of the two. Orders are
    tried upwards in blocks and the rest left out once they cannot be the best for any delta above
    e^-60: the divergence alone is then above what a smaller order already gives.
    """
    if sampling_probability == 1:
        return gaussian(noise_multiplier) * steps
    return _in_blocks(sampling_probability, noise_multiplier, steps, _ORDER_BLOCKS, reach=60)


@lru_cache(maxsize=512)
def sampled_gaussian_integers(
    sampling_probability: float, noise_multiplier: float, steps: int, delta: float
) -> RdpCurve:
    """The same at the integer orders 2, 3, ... without a gap, as far as useful at this delta."""
    reach = 10 - math.log(delta)
    return _in_blocks(sampling_probability, noise_multiplier, steps, _INTEGER_BLOCKS, reach)


def at_orders(
    sampling_probability: float, noise_multiplier: float, steps: int, orders: Sequence[float]
) -> RdpCurve:
    """The same at given orders, all of them."""
    a = np.array(orders, dtype=float)
    return RdpCurve(
        a, _fill_gaps(a, steps * _one_step(sampling_probability, noise_multiplier, orders))
    )


def _in_blocks(
    q: float, sigma: float, steps: int, blocks: Sequence[Sequence[float]], reach: float
) -> RdpCurve:
    orders: list[float] = []
    values: list[float] = []
    best = math.inf
    for block in blocks:
        found = steps * _one_step(q, sigma, block)
        orders.extend(block)
        values.extend(found)
        best = min(best, float(np.min(found + reach / (np.array(block) - 1))))
        if found[-1] > best:
            break
    return RdpCurve(np.array(orders), _fill_gaps(np.array(orders), np.array(values)))


def _one_step(q: float, sigma: float, orders: Sequence[float]) -> Floats:
    a = np.asarray(orders, dtype=float)
    if q == 1:
        return a / (2 * sigma**2)
    values = np.empty(len(a))
    whole = a == np.round(a)
    if whole.any():
        values[whole] = _integer_orders(q, sigma, a[whole])
    if not whole.all():
        values[~whole] = _fractional_orders(q, sigma, a[~whole])
    return values


def _integer_orders(q: float, sigma: float, a: Floats) -> Floats:
    """Mironov, Talwar & Zhang 2019, eq. 4, without the 1 that the binomial weights sum to:

      (a-1) e(a) = ln(1 + sum_{i=2..a} C(a,i) q^i (1-q)^(a-i) (exp((i^2-i)/(2 sigma^2)) - 1)).

    No term is negative, so nothing cancels however small q is, and all orders are summed at
    once. The logarithms are good to 1e-9 (tests compare with long arithmetic); the factor and
    the last summand, for what underflows, keep the rounding on the private side.
    """
    i = np.arange(2.0, a.max() + 1)
    exponent = (i * i - i) / (2 * sigma**2)
    per_term = i * math.log(q) - gammaln(i + 1) + exponent + np.log(-np.expm1(-exponent))
    left = np.maximum(a[:, None] - i, 0)
    terms = per_term + left * math.log1p(-q) - gammaln(left + 1)
    log_excess = logsumexp(np.where(i <= a[:, None], terms, -math.inf), axis=1) + gammaln(a + 1)
    return np.logaddexp(0, log_excess) * (1 + 1e-8) / (a - 1) + 1e-300


def _fractional_orders(q: float, sigma: float, a: Floats) -> Floats:
    """Mironov, Talwar & Zhang 2019, section 3.3: two series of the binomial theorem, one each
    side of z where the mixture's parts weigh the same. As dp-accounting sums them: absolute
    values, up to where terms fall and are below e^-30 of the sum, and infinite (left to
    `_fill_gaps`) where that takes more than 1000; but all orders and terms at once.
    """
    values = np.full(len(a), math.inf)
    for terms in (64, 1000):
        open_ = np.flatnonzero(np.isinf(values))
        if len(open_):
            values[open_] = _series(q, sigma, a[open_], terms)
    # Rounding, kept on the private side: the term of one sampled record, order * q, is off by
    # some ulps of ln(order!) and of ln q, the rest by 1e-8 of the value at most (tests compare
    # with long arithmetic). Without this a tiny q could come out negative: epsilon = 0.
    ulps = 4e-15 + 1e-15 * (gammaln(a + 1) + abs(math.log(q)))
    cut = 3e-13  # the series is cut off at e^-30 = 9e-14 of its sum
    return np.maximum(values, 0) * (1 + 1e-8) + (ulps * q * a + cut) / (a - 1)


def _series(q: float, sigma: float, a: Floats, terms: int) -> Floats:
    i = np.arange(float(terms))
    j = a[:, None] - i
    z = sigma**2 * (math.log1p(-q) - math.log(q)) + 0.5
    log_choose = gammaln(a + 1)[:, None] - gammaln(i + 1) - gammaln(j + 1)
    log_q, log_rest = math.log(q), math.log1p(-q)
    below = i * log_q + j * log_rest + (i * i - i) / (2 * sigma**2) + log_ndtr((z - i) / sigma)
    above = j * log_q + i * log_rest + (j * j - j) / (2 * sigma**2) + log_ndtr((j - z) / sigma)
    both = log_choose + np.stack([below, above])
    log_sum = logsumexp(both, axis=(0, 2))
    falling = np.all(np.diff(both, axis=2) < 0, axis=0)
    small = np.max(both, axis=0)[:, 1:] < log_sum[:, None] - 30
    return np.where(np.any(falling & small, axis=1), log_sum / (a - 1), math.inf)


def _fill_gaps(orders: Floats, values: Floats) -> Floats:
    """Fractional orders whose series did not converge, from the integer orders around them.

    (a-1) * value(a) is convex in a and 0 at a = 1 (Wang, Balle & Kasiviswanathan 2019,
    Cor. 10), so a straight line between known orders lies above it.
    """
    missing = ~np.isfinite(values)
    if not missing.any() or missing.all():
        return values
    xs = np.concatenate([[1.0], orders[~missing]])
    ys = np.concatenate([[0.0], (orders[~missing] - 1) * values[~missing]])
    inside = missing & (orders < xs[-1])
    filled = values.copy()
    filled[inside] = np.interp(orders[inside], xs, ys) / (orders[inside] - 1)
    return filled
