"""Pure mechanisms as events: against randomised response, which is the worst of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from honestdp import InputError
from honestdp.privacy import guarantee
from honestdp.privacy.events import Composition, Gaussian, Pure, Repeated

EPSILONS = (1e-6, 0.01, 0.3, 1.0, 2.0, 5.0, 40.0)


def randomised_response(epsilon: float) -> tuple[np.ndarray, np.ndarray]:
    p, rest = 1 / (1 + math.exp(-epsilon)), 1 / (1 + math.exp(epsilon))
    return np.array([p, rest]), np.array([rest, p])


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_curve_is_above_randomised_response_and_below_epsilon(epsilon):
    a, b = randomised_response(epsilon)
    curve = guarantee.rdp_curve(Pure(epsilon))
    for order, value in zip(curve.orders, curve.values, strict=True):
        log_moment = np.logaddexp(
            order * math.log(a[0]) + (1 - order) * math.log(b[0]),
            order * math.log(a[1]) + (1 - order) * math.log(b[1]),
        )
        assert log_moment / (order - 1) <= value * (1 + 1e-9) + 1e-13
        assert value <= epsilon


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_profile_is_that_of_randomised_response(epsilon):
    a, b = randomised_response(epsilon)
    profile = guarantee.profile(Pure(epsilon))
    for t in (0.0, epsilon / 3, 0.9 * epsilon, epsilon, 2 * epsilon):
        exact = float(np.maximum(a - math.exp(t) * b, 0).sum())
        assert profile.delta(t) == pytest.approx(exact, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("accountant", ["rdp-classic", "rdp", "pld"])
def test_never_more_than_epsilon_where_it_is_tight_never_less_than_the_truth(accountant):
    """Golden: at delta = 0.1, (e - e^t)/(1 + e) = 0.1 gives t = ln(e - 0.1 (1 + e))."""
    truth = math.log(math.e - 0.1 * (1 + math.e))
    found = guarantee.epsilon(Pure(1.0), 0.1, accountant)
    assert found >= truth * (1 - 1e-9)
    if accountant == "pld":
        assert found == pytest.approx(truth, rel=1e-5)
        assert found <= 1.0


def test_counts_are_kept():
    one, three = Pure(0.5), Composition(Pure(0.5), Pure(0.5), Pure(0.5))
    assert guarantee.epsilon(Repeated(one, 3), 1e-6) == guarantee.epsilon(three, 1e-6)
    assert guarantee.epsilon(Repeated(one, 3), 1e-6) > guarantee.epsilon(one, 1e-6)
    mixed = guarantee.epsilon(Composition(Pure(0.5), Gaussian(4.0)), 1e-6)
    assert mixed > guarantee.epsilon(Gaussian(4.0), 1e-6)


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf, True, "1"])
def test_epsilon_is_a_positive_number(bad):
    with pytest.raises(InputError, match="epsilon"):
        Pure(bad)
