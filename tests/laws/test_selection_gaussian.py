"""The best of K Gaussians, in closed form, against the bounds on the events honestdp prices.

Q = N(0, s^2), Q' = N(1, s^2) and the score is the output. The score "minus the output" is the
same with the neighbours' roles exchanged, so checking both directions covers it.
`test_runs` holds the laws' own functions, used here, to their definitions.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from checks import ABSOLUTE, RELATIVE
from scipy.optimize import brentq
from scipy.special import logsumexp, ndtr

from honestdp.privacy import guarantee
from honestdp.privacy.events import Gaussian
from honestdp.privacy.run_count import RunCount
from honestdp.privacy.runs import (
    Binomial,
    Capped,
    Poisson,
    TruncatedNegativeBinomial,
    geometric,
    logarithmic,
)
from honestdp.privacy.selection import (
    papernot_steinke,
    papernot_steinke_covers,
    profile_bound,
    profile_bound_rdp,
)

LAWS: tuple[RunCount, ...] = (
    *(TruncatedNegativeBinomial(shape, 0.02) for shape in (-0.9, -0.5, 0.5, 2.0)),
    *(logarithmic(0.005), geometric(0.025), geometric(0.5), TruncatedNegativeBinomial(50, 0.5)),
    *(Poisson(0.5), Poisson(10.0), Binomial(20, 0.5), Binomial(5, 0.95)),
    *(Capped(geometric(0.025), 20), Capped(geometric(0.001), 3), Capped(logarithmic(0.005), 40)),
    *(Capped(TruncatedNegativeBinomial(-0.5, 0.01), 10), Capped(Poisson(4.0), 6)),
    *(Capped(Binomial(8, 0.5), 4), Capped(TruncatedNegativeBinomial(2, 0.1), 15)),
)
NOISE = (0.5, 1.0, 4.0)


class Best:
    """The law of the largest of K draws from N(mean, s^2)."""

    def __init__(self, law: RunCount, mean: float, noise: float) -> None:
        self.law, self.mean, self.noise = law, mean, noise

    def log_density(self, y: np.ndarray) -> np.ndarray:
        z = (y - self.mean) / self.noise
        log_normal = -(z**2) / 2 - math.log(self.noise * math.sqrt(2 * math.pi))
        return log_normal + self.law.log_derivative_tail(ndtr(-z))

    def between(self, low: float, high: float) -> float:
        tails = ndtr((self.mean - np.array([low, high])) / self.noise)
        return float(np.diff(self.law.pgf_tail(tails))[0])


def delta(a: Best, b: Best, epsilon: float) -> float:
    """The set where a > e^epsilon b, by its ends; its probabilities are known exactly."""

    def excess(y: float | np.ndarray) -> np.ndarray:
        y = np.asarray(y, dtype=float)
        return a.log_density(y) - b.log_density(y) - epsilon

    reach = 40 * a.noise
    grid = np.linspace(-reach, 1 + reach, 2001)
    sign = excess(grid) > 0
    turns = np.flatnonzero(sign[1:] != sign[:-1])
    ends = [brentq(excess, grid[i], grid[i + 1], xtol=1e-13) for i in turns]
    ends = ([-reach] if sign[0] else []) + ends + ([1 + reach] if sign[-1] else [])
    pieces = zip(ends[::2], ends[1::2], strict=True)
    return sum(a.between(*piece) - math.exp(epsilon) * b.between(*piece) for piece in pieces)


def renyi(a: Best, b: Best, orders: np.ndarray) -> np.ndarray:
    """By the trapezoid rule, which is exact to rounding for such smooth integrands."""
    reach = orders.max() + 12 * a.noise
    y = np.linspace(-reach, 1 + reach, 8001)
    log_a, log_b = a.log_density(y), b.log_density(y)
    powers = orders[:, None] * log_a + (1 - orders)[:, None] * log_b
    none = a.law.probability_of_none()
    logs = logsumexp(powers, axis=1) + math.log(y[1] - y[0])
    if none > 0:
        logs = np.logaddexp(logs, math.log(none))
    return logs / (orders - 1)


def directions(law: RunCount, noise: float) -> tuple[tuple[Best, Best], ...]:
    here, there = Best(law, 0.0, noise), Best(law, 1.0, noise)
    return (here, there), (there, here)


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_profile(law: RunCount, noise: float) -> None:
    bound = profile_bound(guarantee.profile(Gaussian(noise)), law)
    for epsilon in (0.0, 0.1, 0.5, 1.0, bound.shift, 2.0, 4.0, 8.0):
        room = bound.delta(epsilon) * (1 + RELATIVE) + ABSOLUTE
        for a, b in directions(law, noise):
            assert delta(a, b, epsilon) <= room, epsilon


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_curves(law: RunCount, noise: float) -> None:
    event = Gaussian(noise)
    curve, profile = guarantee.rdp_curve(event), guarantee.profile(event)
    claims = [profile_bound_rdp(curve, profile, law)]
    if papernot_steinke_covers(law):
        claims += [papernot_steinke(curve, law), papernot_steinke(curve, law, profile)]
    kept = (curve.orders <= 32) & ((curve.orders * 10 % 5 == 0) | (curve.orders < 2))
    for a, b in directions(law, noise):
        true = renyi(a, b, curve.orders[kept])
        for claim in claims:
            assert np.all(true <= claim.values[kept] * (1 + RELATIVE) + ABSOLUTE)


def test_one_run_is_exact() -> None:
    """K = 1: the checker reproduces the Gaussian's own profile and curve."""
    for noise in NOISE:
        a, b = Best(geometric(1.0), 0.0, noise), Best(geometric(1.0), 1.0, noise)
        for epsilon in (0.0, 0.3, 1.0):
            half, tilt = 1 / (2 * noise), epsilon * noise
            known = ndtr(half - tilt) - math.exp(epsilon) * ndtr(-half - tilt)
            assert delta(a, b, epsilon) == pytest.approx(known, rel=1e-9)
        orders = np.array([1.1, 2.0, 10.0, 32.0])
        assert renyi(a, b, orders) == pytest.approx(orders / (2 * noise**2), rel=1e-9)
