"""That floating point stays on the private side: against long arithmetic and closed forms."""

from __future__ import annotations

import math
from itertools import pairwise

import mpmath as mp
import pytest
from dp_accounting import dp_event
from dp_accounting.pld import privacy_loss_distribution
from dp_accounting.rdp import RdpAccountant
from scipy.integrate import quad
from scipy.special import log_ndtr, ndtr

from honestdp.privacy import curve, guarantee
from honestdp.privacy.events import training
from honestdp.privacy.profile import LossDistributionProfile

GRID = [
    (250 / 36177, 4.0),
    (250 / 950_000, 4.0),
    (2.5e-7, 4.0),
    (1e-10, 1.0),
    (0.05, 4.0),
    (0.5, 1.0),
    (0.01, 0.7),
    (1e-3, 50.0),
    (1e-3, 1e4),
    # Where ulps of ln q once weighed more than the value.
    (3.167e-11, 28.77),
    (3.826e-09, 25.16),
    (1e-14, 100.0),
    (1 - 1e-9, 2.0),
]


def _exact(q: float, sigma: float, order: int) -> mp.mpf:
    """The divergence at an integer order, by 80-digit arithmetic (Mironov et al. 2019, eq. 4)."""
    with mp.workdps(80):
        q_, s_ = mp.mpf(q), mp.mpf(sigma)
        terms = (
            mp.binomial(order, i)
            * q_**i
            * (1 - q_) ** (order - i)
            * mp.exp(mp.mpf(i * i - i) / (2 * s_ * s_))
            for i in range(order + 1)
        )
        return mp.log(mp.fsum(terms)) / (order - 1)


@pytest.mark.parametrize(("q", "sigma"), GRID)
def test_curves_are_not_below_long_arithmetic(q: float, sigma: float) -> None:
    orders = [2, 3, 10, 64, 200]
    found = curve.at_orders(q, sigma, 1, orders).values
    for order, value in zip(orders, found.tolist(), strict=True):
        exact = _exact(q, sigma, order)
        assert value >= exact
        assert value <= exact * (1 + 1e-6) + mp.mpf(1e-11) * q


def test_orders_are_dp_accountings() -> None:
    orders = [1.05, 1.5, 1.95, 2, 2.3, 3, 7.75, 10, 64, 200]
    for q, sigma in ((250 / 36177, 4.0), (250 / 36177, 0.38), (0.1, 2.0), (1e-3, 20.0)):
        step = dp_event.PoissonSampledDpEvent(q, dp_event.GaussianDpEvent(sigma))
        theirs = RdpAccountant(orders).compose(step)._rdp
        found = curve.at_orders(q, sigma, 1, orders).values
        assert found == pytest.approx(theirs, rel=1e-6, abs=1e-11)


def test_an_order_of_two_thousand() -> None:
    for q, sigma in ((1e-3, 2.0), (0.3, 5.0)):
        found, exact = curve.at_orders(q, sigma, 1, [2048]).values[0], _exact(q, sigma, 2048)
        assert exact <= found <= exact * (1 + 1e-7)


@pytest.mark.parametrize(
    ("q", "sigma", "order", "exact"),
    [
        # By quadrature in 32-digit arithmetic; without its margin the curve lies below these.
        (2.916000066317625e-09, 0.5456882205075272, 9.827, 1.1589104032500585e-15),
        (1.2093671808933856e-09, 0.4905026799816383, 2.39, 1.098320580884311e-16),
        (1.8249645126785934e-07, 0.4377496613380648, 5.941, 3.434159070908528e-08),
        (5.6683486723721684e-06, 0.7445051341186257, 9.769, 7.968875262631356e-10),
    ],
)
def test_fractional_orders_are_not_below_quadrature(q, sigma, order, exact) -> None:
    assert curve.at_orders(q, sigma, 1, [order]).values[0] >= exact


@pytest.mark.parametrize(("q", "sigma"), GRID)
def test_fractional_orders_lie_between_their_neighbours(q: float, sigma: float) -> None:
    below, at, above = curve.at_orders(q, sigma, 1, [3, 3.5, 4]).values
    if math.isfinite(at):
        assert below * (1 - 1e-7) <= at <= above * (1 + 1e-7) + 3e-13  # the margin of a cut series


def test_gaps_are_filled_from_above() -> None:
    """At these parameters dp-accounting gives up on fractional orders below 1.5."""
    q, sigma = 0.05, 4 / math.sqrt(40)
    filled = curve.sampled_gaussian(q, sigma, 1)
    small = filled.orders < 2
    for order, value in zip(filled.orders[small], filled.values[small], strict=True):
        assert value >= _by_integration(q, sigma, float(order))
    rising = filled.values[filled.orders < 2.5]
    assert all(a <= b * (1 + 1e-7) for a, b in pairwise(rising))


def _by_integration(q: float, sigma: float, order: float) -> float:
    """The divergence of (1-q) N(0, s^2) + q N(1, s^2) from N(0, s^2), by quadrature."""

    def integrand(x: float) -> float:
        ratio = 1 - q + q * math.exp((2 * x - 1) / (2 * sigma**2))
        return math.exp(-(x**2) / (2 * sigma**2)) / math.sqrt(2 * math.pi) / sigma * ratio**order

    mass, _ = quad(integrand, -10 * sigma, 2 + 10 * sigma, epsabs=1e-14, epsrel=1e-11, limit=400)
    return math.log(mass) / (order - 1) * (1 - 1e-7)


def test_leaving_orders_out_costs_nothing() -> None:
    """The blocks stop early; orders beyond must not have been the best ones."""
    for n, steps in ((36177, 2500), (5000, 10_000)):
        q = 250 / n
        kept = curve.sampled_gaussian(q, 4.0, steps)
        beyond = curve.at_orders(q, 4.0, steps, [kept.orders[-1] * 1.1, kept.orders[-1] * 1.5])
        for delta in (1e-5, 1e-10, 1e-25):
            assert kept.epsilon(delta) <= beyond.epsilon(delta)


@pytest.mark.parametrize(
    "steps", [10, 1000, 100_000, pytest.param(1_000_000, marks=pytest.mark.slow)]
)
def test_the_fourier_error_is_covered(steps: int) -> None:
    """Many Gaussian steps composed the hard way, against the closed form of their sum."""
    sigma = 0.8 * math.sqrt(steps)  # the sum is one Gaussian of multiplier 0.8
    spread = 1 / sigma
    one = privacy_loss_distribution.from_gaussian_mechanism(
        sigma, value_discretization_interval=max(spread / 16, 1e-4)
    )
    composed = one.self_compose(min(256, steps)).self_compose(max(1, steps // 256))
    count = min(256, steps) * max(1, steps // 256)
    profile = LossDistributionProfile(composed, count)
    true_sigma = sigma / math.sqrt(count)
    for epsilon in [x / 4 for x in range(48)]:
        upper = ndtr(1 / (2 * true_sigma) - epsilon * true_sigma)
        lower = math.exp(epsilon + log_ndtr(-1 / (2 * true_sigma) - epsilon * true_sigma))
        assert profile.delta(epsilon) >= upper - lower


@pytest.mark.parametrize(
    ("n", "steps", "sigma"),
    [(36177, 2500, 4.0), (950_000, 10_000, 4.0), (36177, 2500, 0.7), (5000, 1000, 2.0)],
)
def test_the_grid_is_pessimistic_and_fine_enough(n: int, steps: int, sigma: float) -> None:
    """Above an optimistic discretisation, and within 0.5 % of a three times finer one."""
    q = 250 / n
    found = guarantee.epsilon(training(q, sigma, steps), 1e-6, "pld")
    step = q * math.sqrt(math.expm1(1 / sigma**2)) / 50
    optimistic, pessimistic = (
        privacy_loss_distribution.from_gaussian_mechanism(
            sigma,
            sampling_prob=q,
            pessimistic_estimate=dots,
            use_connect_dots=dots,
            value_discretization_interval=step,
        ).self_compose(steps)
        for dots in (False, True)
    )
    assert optimistic.get_epsilon_for_delta(1e-6) <= found
    assert found <= 1.005 * pessimistic.get_epsilon_for_delta(1e-6)
