"""From a budget back: what comes out must fit, and just fit."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honestdp.errors import InputError
from honestdp.planning.costs import variants
from honestdp.privacy import calibrate, guarantee
from honestdp.privacy.events import Gaussian, Repeated
from honestdp.procedures import Training

JOB = Training(20_000, 200, 500)
OPTIONS = [(option, bound) for option in variants(12) for bound in option.bounds]


@pytest.mark.parametrize(
    ("option", "bound"), OPTIONS, ids=[f"{o.name}-{o.shape}-{b}" for o, b in OPTIONS]
)
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_the_noise_found_fits_every_procedure_and_is_not_wasteful(option, bound, epsilon) -> None:
    def cost(sigma: float) -> float:
        return option.epsilon(bound, JOB, sigma, 1e-6)

    sigma = calibrate.noise_multiplier(cost, epsilon)
    assert cost(sigma) <= epsilon
    assert cost(sigma) >= 0.995 * epsilon
    assert sigma == float(f"{sigma:.4g}")


@settings(max_examples=100, deadline=None)
@given(st.floats(0.02, 15), st.floats(0.5, 3), st.floats(0.05, 50))
def test_the_search_holds_for_any_falling_cost(epsilon, power, start) -> None:
    sigma = calibrate.noise_multiplier(lambda s: 2 * s**-power, epsilon, start)
    assert 0.997 * epsilon <= 2 * sigma**-power <= epsilon


def test_a_jump_ends_at_the_smallest_that_fits() -> None:
    assert calibrate.noise_multiplier(lambda s: 2.0 if s < 3.3333 else 0.1, 1.0) == 3.334
    assert calibrate.noise_multiplier(lambda s: math.inf if s < 3 else 0.0, 1.0) == 3.0


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 100.0])
def test_one_bit_above_the_budget_is_above_the_budget(epsilon) -> None:
    """Its logarithm may be the budget's."""
    over = math.nextafter(epsilon, math.inf)
    assert calibrate.noise_multiplier(lambda s: over if s < 3 else epsilon / 2, epsilon) == 3.0
    assert calibrate.candidates(lambda k: epsilon if k < 7 else over, epsilon) == 6


def test_few_costs_are_asked_for() -> None:
    """Each may take a second; a bent cost must not make the search creep along one side."""
    asked = []

    def cost(sigma: float) -> float:
        asked.append(sigma)
        return 34.0 * (0.45 / sigma) ** (5 + 4 * max(0.0, 0.45 / sigma - 1))

    assert 0.998 * 50 <= cost(calibrate.noise_multiplier(cost, 50.0, 0.45)) <= 50
    assert len(asked) <= 8


def test_targets_that_cannot_be_reached() -> None:
    with pytest.raises(InputError, match="no noise reaches it"):
        calibrate.noise_multiplier(lambda s: 0.5 + 1 / s, 0.4)
    with pytest.raises(InputError, match="almost no noise"):
        calibrate.noise_multiplier(lambda s: 1e-9 / s, 1.0)
    for bad in (0, -1, math.nan, math.inf):
        with pytest.raises(InputError, match="epsilon"):
            calibrate.noise_multiplier(lambda s: 1 / s, bad)


@settings(max_examples=15, deadline=None)
@given(st.floats(0.5, 20))
def test_candidates_that_can_be_afforded(epsilon) -> None:
    def cost(k: int) -> float:
        return guarantee.epsilon(Repeated(Gaussian(8.0), k), 1e-6, "rdp")

    most = calibrate.candidates(cost, epsilon)
    assert cost(most + 1) > epsilon
    if most:
        assert cost(most) <= epsilon


def test_no_candidate_at_all_and_no_limit() -> None:
    assert calibrate.candidates(lambda k: 2.0, 1.0) == 0
    assert calibrate.candidates(lambda k: 0.5, 1.0, most=1000) == 1000


@pytest.mark.parametrize("shape", [-0.1, 0.0, 0.5, 1.0, 3.0, "poisson"])
@pytest.mark.parametrize("wanted", [0.2, 0.5, 0.65])
def test_the_law_of_k_for_a_wanted_hit_probability(shape, wanted: float) -> None:
    law = calibrate.run_count(shape, 40, wanted)
    assert wanted <= law.hit_probability(40) <= wanted + 1e-6
    assert calibrate.run_count(shape, 40).mean == pytest.approx(40)


def test_a_hit_probability_out_of_reach() -> None:
    """A shape below 0 hits one of k at most with probability k^shape, however often it runs."""
    with pytest.raises(InputError, match="larger shape"):
        calibrate.run_count(-0.5, 40, 0.2)


def test_stopping_probability() -> None:
    from honestdp.privacy.runs import geometric

    assert calibrate.stopping_probability(40) == 1 / 40
    gamma = calibrate.stopping_probability(40, 0.9)
    assert geometric(gamma).hit_probability(40) == pytest.approx(0.9)
    assert calibrate.stopping_probability(1, 0.9) == 1.0
    assert calibrate.stopping_probability(40, 0.001) == 1.0


@pytest.mark.parametrize("bad", [0, -3, 2.5, math.nan, "many", None])
def test_bad_numbers_of_candidates(bad) -> None:
    with pytest.raises(InputError, match="candidates"):
        calibrate.run_count(1.0, bad)


@pytest.mark.parametrize("bad", [-1, -2, math.nan, math.inf, "gamma"])
def test_bad_shapes(bad) -> None:
    with pytest.raises(InputError, match="shape"):
        calibrate.run_count(bad, 40)
