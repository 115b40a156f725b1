"""A Gaussian question and what follows it: never below the truth, and close to it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr
from scipy.stats import norm

from honestdp.errors import InputError
from honestdp.privacy.after_gaussian import epsilon_after_gaussian

DELTAS = (1e-4, 1e-6, 1e-9)


def gaussian_delta(epsilon: float, mu: float) -> float:
    """Balle & Wang 2018, Theorem 8."""
    return float(ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu))


def gaussian_epsilon(mu: float, delta: float) -> float:
    low, high = 0.0, 100.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(middle, mu) > delta else (low, middle)
    return high


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("first", [0.01, 0.05, 0.2, 1.0])
@pytest.mark.parametrize("second", [0.1, 0.24, 1.0, 3.0])
def test_two_gaussians_cost_what_one_gaussian_does(first, second, delta):
    found = epsilon_after_gaussian(lambda d: gaussian_epsilon(second, d), 1 / first, delta)
    exact = gaussian_epsilon(math.hypot(first, second), delta)
    assert exact <= found
    if first <= second / 2:  # as a question is: a small part of the budget
        assert found <= 1.04 * exact


def test_the_smallest_deltas_do_not_cancel():
    """Below 1e-16 of what it would be subtracted from, a probability must not be lost."""

    def epsilon(mu: float, delta: float) -> float:
        def log_delta(epsilon: float) -> float:
            first, second = (log_ndtr(sign * mu / 2 - epsilon / mu) for sign in (1, -1))
            return float(first + np.log1p(-np.exp(epsilon + second - first)))

        if log_delta(1e-9) <= math.log(delta):
            return 1e-9
        return float(brentq(lambda e: log_delta(e) - math.log(delta), 1e-9, 100.0))

    found = epsilon_after_gaussian(lambda d: epsilon(1.0, d), 0.5, 1e-25)
    assert epsilon(math.hypot(1.0, 2.0), 1e-25) <= found


@pytest.mark.parametrize("first", [0.05, 0.5])
@pytest.mark.parametrize("pure", [0.1, 1.0])
def test_a_gaussian_and_randomised_response_by_quadrature(first, pure):
    """The exact delta of the pair, an integral over the Gaussian's loss, is within the claim."""
    epsilon = epsilon_after_gaussian(lambda d: pure, 1 / first, 1e-6)
    x = np.linspace(-12, 12, 200_001)
    loss = first * x + first**2 / 2  # under the law whose mean is shifted
    left = math.exp(pure) / (1 + math.exp(pure))
    inner = sum(
        np.maximum(p - np.exp(epsilon - loss) * q, 0)
        for p, q in ((left, 1 - left), (1 - left, left))
    )
    exact = float(np.trapezoid(inner * norm.pdf(x), x))
    assert exact <= 1e-6


def test_levels_without_an_answer_are_left_out():
    def few(delta: float) -> float:
        if delta < 1e-7:
            raise InputError("delta: too small")
        return gaussian_epsilon(0.3, delta)

    found = epsilon_after_gaussian(few, 20.0, 1e-6)
    assert found >= epsilon_after_gaussian(lambda d: gaussian_epsilon(0.3, d), 20.0, 1e-6)
    assert math.isfinite(found)


def test_nothing_known_costs_everything():
    def none(delta: float) -> float:
        raise InputError("delta: too small")

    assert epsilon_after_gaussian(none, 20.0, 1e-6) == math.inf


@pytest.mark.parametrize("first", [0.05, 0.5, 1.0])
@pytest.mark.parametrize("leak", [1e-7, 5e-7])
@pytest.mark.parametrize("pure", [0.1, 2.0])
def test_what_follows_may_fail_with_some_probability(first, leak, pure):
    """Randomised response that tells the truth once in a while: its profile h is known exactly, so
    the exact delta of the pair is an integral, and the claim is neither below it nor far above."""
    grown = math.exp(pure)

    def epsilon_of(delta: float) -> float:
        if delta <= leak:
            raise InputError("delta: too small")
        inner = (delta - leak) / (1 - leak)
        return math.log(max(1.0, grown - inner * (1 + grown)))

    def exact(epsilon: float) -> float:
        x = np.linspace(-12, 12, 200_001)
        rest = epsilon - (first * x + first**2 / 2)
        ratio = np.exp(np.minimum(rest, 700))
        profile = np.maximum(np.maximum((grown - ratio) / (1 + grown), 1 - ratio), 0)
        profile = leak + (1 - leak) * profile
        return float(np.trapezoid(profile * norm.pdf(x), x))

    epsilon = epsilon_after_gaussian(epsilon_of, 1 / first, 1e-6)
    assert exact(epsilon) <= 1e-6
    assert exact(0.9 * epsilon) > 1e-6
