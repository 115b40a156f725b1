"""Laws of the accounting, over all events and accountants."""

from __future__ import annotations

import math
from contextlib import suppress
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honestdp.errors import InputError
from honestdp.privacy import guarantee
from honestdp.privacy.events import (
    Composition,
    Disjoint,
    Gaussian,
    PoissonGaussian,
    Repeated,
    Selection,
    shared_lots,
    training,
)
from honestdp.privacy.runs import Binomial, Capped, Poisson, TruncatedNegativeBinomial, geometric

ACCOUNTANTS = ["rdp-classic", "rdp", "pld"]
DELTA = 1e-6

sigmas = st.floats(0.6, 20)
rates = st.sampled_from([1.0, 0.3, 0.02, 1e-3])
leaves = st.one_of(st.builds(Gaussian, sigmas), st.builds(PoissonGaussian, rates, sigmas))
laws = st.sampled_from(
    [geometric(0.1), TruncatedNegativeBinomial(0.0, 0.05), Poisson(5.0), Binomial(8, 0.5),
     Capped(geometric(0.2), 9)]
)  # fmt: skip
events = st.one_of(
    leaves,
    st.builds(Repeated, leaves, st.integers(1, 300)),
    st.builds(Composition, leaves, leaves),
    st.builds(Disjoint, leaves, leaves),
    st.builds(Selection, st.builds(Repeated, leaves, st.integers(1, 50)), laws),
)


@pytest.mark.parametrize("sigma", [0.8, 4.0])
def test_the_classic_conversion_is_mironovs(sigma) -> None:
    """Proposition 3 of 2017 on a Gaussian, whose divergences are a/(2 sigma^2)."""
    found = guarantee.epsilon(Gaussian(sigma), DELTA, "rdp-classic")
    orders = guarantee.rdp_curve(Gaussian(sigma)).orders.tolist()
    costs = [a / (2 * sigma**2) + math.log(1 / DELTA) / (a - 1) for a in orders]
    assert found == pytest.approx(min(costs), rel=1e-6)


@pytest.mark.parametrize("accountant", ACCOUNTANTS)
def test_an_event_that_happens_twice_is_paid_twice(accountant) -> None:
    """Two Gaussians are one of less noise."""
    twice = guarantee.epsilon(Composition(Gaussian(4.0), Gaussian(4.0)), DELTA, accountant)
    once = guarantee.epsilon(Gaussian(4.0 / math.sqrt(2)), DELTA, accountant)
    assert twice == pytest.approx(once, rel=1e-3)


@settings(max_examples=40, deadline=None)
@given(events, st.integers(1, 5), st.sampled_from(ACCOUNTANTS))
def test_k_times_an_event_costs_what_k_of_them_cost(event, k, accountant) -> None:
    together = guarantee.epsilon(Repeated(event, k), DELTA, accountant)
    apart = guarantee.epsilon(Composition(*[event] * k), DELTA, accountant)
    assert together == pytest.approx(apart, rel=1e-12)


@settings(max_examples=25, deadline=None)
@given(events, st.sampled_from(ACCOUNTANTS))
def test_once_is_once_and_twice_is_not_cheaper(event, accountant) -> None:
    once = guarantee.epsilon(event, DELTA, accountant)
    assert guarantee.epsilon(Composition(event), DELTA, accountant) == once
    assert guarantee.epsilon(Repeated(event, 2), DELTA, accountant) >= once * (1 - 1e-3) - 1e-6


@pytest.mark.parametrize("accountant", ACCOUNTANTS)
def test_an_integer_noise_multiplier_keeps_its_count(accountant) -> None:
    """dp-accounting 0.6 takes 40 Gaussians of multiplier 4 for one, but not of 4.0."""
    many = Repeated(PoissonGaussian(0.01, 4), 40)
    assert guarantee.epsilon(many, DELTA, accountant) == guarantee.epsilon(
        Repeated(PoissonGaussian(0.01, 4.0), 40), DELTA, accountant
    )
    assert guarantee.epsilon(Repeated(Gaussian(4), 40), DELTA, accountant) > 5


@settings(max_examples=30, deadline=None)
@given(
    st.floats(0.7, 10),
    st.floats(1e-4, 0.2),
    st.integers(1, 2000),
    st.sampled_from(ACCOUNTANTS),
    st.sampled_from([1e-9, 1e-6, 1e-3]),
)
def test_more_noise_fewer_steps_smaller_lots_larger_delta_never_cost_more(
    sigma, q, steps, accountant, delta
) -> None:
    def cost(q=q, sigma=sigma, steps=steps, delta=delta) -> float:
        return guarantee.epsilon(training(q, sigma, steps), delta, accountant)

    dearest = cost() * (1 + 2e-3) + 1e-6  # a coarser grid may move a figure a little
    assert cost(sigma=1.2 * sigma) <= dearest
    assert cost(steps=max(1, steps // 2)) <= dearest
    assert cost(q=q / 2) <= dearest
    assert cost(delta=2 * delta) <= dearest


@settings(max_examples=20, deadline=None)
@given(leaves, leaves, st.sampled_from(ACCOUNTANTS))
def test_disjoint_parts_cost_their_maximum(left, right, accountant) -> None:
    both = guarantee.epsilon(Disjoint(left, right), DELTA, accountant)
    sides = [guarantee.epsilon(side, DELTA, accountant) for side in (left, right)]
    # Under Renyi the maximum is taken at each order, which may cost a little more.
    assert both >= max(sides) * (1 - 1e-9)
    if accountant == "pld":
        assert both == max(sides)
    assert both <= guarantee.epsilon(Composition(left, right), DELTA, accountant) * (1 + 1e-3)


@settings(max_examples=15, deadline=None)
@given(st.floats(0.8, 10), st.floats(1e-4, 0.1), st.integers(10, 2000), st.integers(2, 50))
def test_shared_lots_cost_more_than_independent_ones(sigma, q, steps, k) -> None:
    apart = guarantee.epsilon(Repeated(training(q, sigma, steps), k), DELTA, "rdp")
    assert guarantee.epsilon(shared_lots(q, sigma, steps, k), DELTA, "rdp") >= apart * (1 - 1e-6)


@settings(max_examples=25, deadline=None)
@given(st.floats(0.5, 20), st.floats(1e-5, 1), st.integers(1, 3000))
def test_pld_is_not_above_rdp_nor_rdp_above_its_classic_conversion(sigma, q, steps) -> None:
    costs = {a: guarantee.epsilon(training(q, sigma, steps), DELTA, a) for a in ACCOUNTANTS}
    assert costs["pld"] <= costs["rdp"] * (1 + 3e-3) + 1e-7
    assert costs["rdp"] <= costs["rdp-classic"] + 1e-12


@settings(max_examples=40, deadline=None)
@given(st.floats(0.3, 50), st.floats(1e-10, 0.2), st.sampled_from(ACCOUNTANTS))
def test_one_gaussian_is_never_priced_below_the_truth(sigma, delta, accountant) -> None:
    """Balle & Wang 2018: delta = Phi(1/2s - es) - e^e Phi(-1/2s - es), exactly."""
    epsilon = guarantee.epsilon(Gaussian(sigma), delta, accountant)
    assert _gaussian_delta(sigma, epsilon) <= delta * (1 + 1e-9)
    if accountant == "pld" and epsilon > 1e-3:
        assert _gaussian_delta(sigma, epsilon * 0.99) >= delta * 0.999


def _gaussian_delta(sigma: float, epsilon: float) -> float:
    from scipy.special import log_ndtr, ndtr

    upper = ndtr(1 / (2 * sigma) - epsilon * sigma)
    return float(upper - math.exp(epsilon + log_ndtr(-1 / (2 * sigma) - epsilon * sigma)))


@settings(max_examples=40, deadline=None)
@given(st.floats(0.4, 10), st.floats(1e-4, 0.9), st.floats(0, 3))
def test_one_sampled_gaussian_is_never_priced_below_the_truth(sigma, q, epsilon) -> None:
    """One step has a closed form in each direction: integrate where the ratio exceeds e^eps."""
    exact = max(_sampled_delta(sigma, q, epsilon))
    found = guarantee.delta(PoissonGaussian(q, sigma), epsilon)
    assert found >= exact * (1 - 1e-9) - 1e-15
    assert found <= exact * 1.02 + 2e-4


def _sampled_delta(sigma: float, q: float, epsilon: float) -> tuple[float, float]:
    from scipy.special import ndtr

    e = math.exp(epsilon)
    # P = (1-q) N(0) + q N(1) against N(0): the ratio 1 - q + q exp((2x-1)/2s^2) rises in x.
    x = 0.5 + sigma**2 * math.log(1 + (e - 1) / q)
    remove = (1 - q - e) * ndtr(-x / sigma) + q * ndtr((1 - x) / sigma)
    if e * (1 - q) >= 1:
        return float(remove), 0.0
    x = 0.5 + sigma**2 * math.log((1 / e - 1 + q) / q)
    add = (1 - e * (1 - q)) * ndtr(x / sigma) - e * q * ndtr((x - 1) / sigma)
    return float(remove), float(add)


def test_profiles_fall_and_invert_on_the_private_side() -> None:
    profile = guarantee.profile(training(0.01, 1.0, 1000))
    grid = np.linspace(0, 8, 30)
    deltas = [profile.delta(float(t)) for t in grid]
    # Down to the rounding of the Fourier transform, which the profile adds on top anyway.
    assert all(a >= b - 1e-12 for a, b in pairwise(deltas))
    for delta in (1e-3, 1e-6, 1e-9):
        assert profile.delta(profile.epsilon(delta)) <= delta


@pytest.mark.parametrize("accountant", ACCOUNTANTS)
@pytest.mark.parametrize("q", [2.5e-7, 1e-9, 1e-12])
def test_tiny_sampling_rates_never_cost_nothing_for_certain(q, accountant) -> None:
    """Rounding must not turn into epsilon = 0, nor into a figure that is far too large."""
    run = training(q, 1.0, 10_000)
    assert guarantee.rdp_curve(run).values.min() > 0
    found = guarantee.epsilon(run, 1e-10, accountant)
    # Orders are of use up to about 2 ln(1/q) here, hence Renyi's floor.
    assert 0 <= found < 2
    if q == 2.5e-7:  # total variation about 1e-5: at delta = 1e-10 it cannot be free
        assert found > 0


def test_below_the_arithmetic_error_pld_answers_by_rdp() -> None:
    run = training(0.01, 2.0, 1000)
    tiny = 1e-18  # Liu-Talwar's delta_1 is of this size
    assert guarantee.epsilon(run, tiny, "pld") == guarantee.epsilon(run, tiny, "rdp")


@pytest.mark.parametrize("accountant", ACCOUNTANTS)
@pytest.mark.parametrize("sigma", [0.3, 0.1, 0.02, 1e-3])
def test_little_noise_is_a_large_number_or_an_error_never_infinite(sigma, accountant) -> None:
    with suppress(InputError):
        assert 10 < guarantee.epsilon(training(0.01, sigma, 100), DELTA, accountant) < math.inf


def test_a_selection_inside_a_composition_is_priced_by_its_curve() -> None:
    search = Selection(training(0.01, 2.0, 100), geometric(0.1))
    twice = Composition(search, Gaussian(5.0))
    assert guarantee.epsilon(twice, DELTA, "pld") == guarantee.epsilon(twice, DELTA, "rdp")
    assert guarantee.epsilon(twice, DELTA) > guarantee.epsilon(search, DELTA)


@pytest.mark.parametrize("bad", [0, 1, -1, math.nan, 2, "x", None, True])
def test_delta_must_be_a_probability(bad) -> None:
    with pytest.raises(InputError, match="delta"):
        guarantee.epsilon(Gaussian(1.0), bad)


@pytest.mark.parametrize("bad", ["x", None, 3, training, Gaussian])
def test_events_check_what_they_are_made_of(bad) -> None:
    for make in (
        lambda: Repeated(bad, 3),
        lambda: Selection(bad, geometric(0.1)),
        lambda: Selection(Gaussian(1.0), bad),
        lambda: Composition(Gaussian(1.0), bad),
        lambda: Disjoint(Gaussian(1.0), bad),
        lambda: Capped(bad, 3),
        lambda: guarantee.epsilon(bad, DELTA),
    ):
        with pytest.raises(InputError, match=r"^(event|runs|events|parts|law)="):
            make()


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, 1e-7, 1e10, 10**400, "x", None])
def test_events_check_their_numbers(bad) -> None:
    with pytest.raises(InputError, match="noise_multiplier"):
        Gaussian(bad)
    with pytest.raises(InputError, match="noise_multiplier"):
        PoissonGaussian(0.5, bad)
    if bad == 1e-7 or bad == 1e10:
        return  # a rate and a count, if no noise
    with pytest.raises(InputError, match="sampling_probability"):
        PoissonGaussian(bad, 1.0)
    with pytest.raises(InputError, match="count"):
        Repeated(Gaussian(1.0), bad)


def test_unknown_things_are_refused() -> None:
    with pytest.raises(InputError, match="accountant"):
        guarantee.epsilon(Gaussian(1.0), DELTA, "prv")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="parts"):
        Disjoint()
    with pytest.raises(InputError, match="event"):
        guarantee.rdp_curve(Composition())
    with pytest.raises(InputError, match="epsilon"):
        guarantee.delta(Gaussian(1.0), -0.1)
