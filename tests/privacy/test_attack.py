"""Attack figures against exact enumeration: no test of a small mechanism does better, and none of
the figures is much larger than the best test."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri

from honestdp.errors import InputError
from honestdp.privacy import guarantee
from honestdp.privacy.attack import (
    RATES,
    AttackBounds,
    attack_bounds,
    gaussian_bound,
    gaussian_rate,
)
from honestdp.privacy.events import Gaussian, Pure, training
from honestdp.privacy.points import MixedProfile
from honestdp.privacy.profile import Profile, PureProfile
from honestdp.privacy.two_way_tail import TwoWayTail


class Exact(Profile):
    """The profile of two laws on a few outcomes, both ways; or one way, as a bug would have it."""

    def __init__(self, p: np.ndarray, q: np.ndarray, both: bool = True) -> None:
        self.pairs = [(p, q), (q, p)] if both else [(p, q)]

    def delta(self, epsilon: float) -> float:
        return max(
            float(np.maximum(p - math.exp(min(epsilon, 600.0)) * q, 0).sum()) for p, q in self.pairs
        )


def best_tests(p: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The false- and true-positive rates of the likelihood-ratio tests, between which the best
    test (Neyman & Pearson) is a random mixture: a straight line."""
    with np.errstate(divide="ignore"):
        order = np.argsort(-(q / np.maximum(p, 1e-300)), kind="stable")
    return np.append(0, np.cumsum(p[order])), np.append(0, np.cumsum(q[order]))


def laws(data) -> tuple[np.ndarray, np.ndarray]:
    size = data.draw(st.integers(2, 6))
    weights = st.lists(st.integers(0, 20), min_size=size, max_size=size).filter(any)
    p, q = (np.array(data.draw(weights), dtype=float) for _ in range(2))
    return p / p.sum(), q / q.sum()


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_no_test_does_better_and_the_best_nearly_as_well(data) -> None:
    p, q = laws(data)
    found = attack_bounds(Exact(p, q), aside=0.01)
    distance = float(np.abs(p - q).sum()) / 2
    assert (1 + distance) / 2 <= found.success <= (1 + distance) / 2 + 1e-6
    for null, other in ((p, q), (q, p)):
        a, g = best_tests(null, other)
        for rate, bound in found.rates:
            assert np.interp(rate, a, g) <= bound
        fpr, fnr = (np.array(one) for one in zip(*found.curve, strict=True))
        on = np.linspace(0, 1, 400)
        assert (np.interp(on, fpr, fnr, right=0.0) <= 1 - np.interp(on, a, g) + 1e-12).all()
        if found.mu is not None:
            held = np.array([gaussian_rate(found.mu, 0.01, x) for x in on])
            assert (np.interp(on, a, g) <= held + 1e-12).all()


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_one_of_two_rows_by_way_of_the_null_row(data) -> None:
    first, null = laws(data)
    second = np.roll(first, 1)
    worst = _Worst(Exact(first, null), Exact(second, null))
    found = attack_bounds(worst, aside=0.0)
    assert (1 + np.abs(first - second).sum() / 2) / 2 <= found.swapped <= 1


class _Worst(Profile):
    def __init__(self, *profiles: Profile) -> None:
        self.profiles = profiles

    def delta(self, epsilon: float) -> float:
        return max(profile.delta(epsilon) for profile in self.profiles)


def test_a_profile_of_one_direction_is_not_enough() -> None:
    """One row in a lot of ten, with little noise: to see it is sure, not to see it says little."""
    p, q = np.array([0.9, 0.1]), np.array([1.0, 0.0])
    one_way = attack_bounds(Exact(q, p, both=False), aside=0.0)
    a, g = best_tests(q, p)
    assert dict(one_way.rates)[0.01] < np.interp(0.01, a, g) == pytest.approx(0.109)
    assert dict(attack_bounds(Exact(p, q), aside=0.0).rates)[0.01] >= 0.109


@pytest.mark.parametrize("mu", [0.05, 0.2367, 1.0, 3.0])
def test_gaussians_have_closed_forms(mu: float) -> None:
    found = attack_bounds(guarantee.profile(Gaussian(1 / mu)), aside=1e-7)
    closed = [*(float(ndtr(ndtri(rate) + mu)) for rate in RATES), float(ndtr(mu / 2))]
    for bound, exact in zip([*(g for _, g in found.rates), found.success], closed, strict=True):
        assert exact <= bound <= exact * 1.003
    assert ndtr(mu) <= found.swapped <= ndtr(mu) * 1.003
    assert mu * (1 - 1e-4) <= found.mu <= mu * 1.003
    on = np.linspace(1e-4, 1 - 1e-4, 500)
    drawn = np.interp(on, *(np.array(one) for one in zip(*found.curve, strict=True)), right=0.0)
    exact = ndtr(-ndtri(on) - mu)
    assert (drawn <= exact + 1e-12).all()
    assert (drawn >= exact - 0.01).all()


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_randomised_response_and_the_worst_of_all(epsilon: float) -> None:
    told = math.exp(epsilon) / (1 + math.exp(epsilon))
    found = attack_bounds(guarantee.profile(Pure(epsilon)), aside=0.0)
    assert found.success == pytest.approx(told, rel=1e-9)
    assert found.mu == pytest.approx(2 * ndtri(told), rel=1e-6)
    worst = attack_bounds(MixedProfile.of_pair(epsilon, 0.01), aside=0.01)
    assert worst.success == pytest.approx((1 + 0.01 * (1 - told) / told) * told, rel=1e-9)
    assert worst.mu == pytest.approx(found.mu, rel=1e-6)


def test_of_two_profiles_the_larger_allows_more() -> None:
    small = attack_bounds(guarantee.profile(training(0.01, 2.0, 500)), aside=1e-6)
    large = attack_bounds(guarantee.profile(training(0.01, 1.0, 500)), aside=1e-6)
    assert small.success < large.success
    assert small.swapped < large.swapped
    assert small.mu < large.mu
    assert all(a < b for (_, a), (_, b) in zip(small.rates, large.rates, strict=True))


def test_a_training_is_no_gaussian_and_mu_covers_it() -> None:
    """mu holds at every rate; the mean of the losses alone would give a smaller one, and be wrong
    where false alarms are rare."""
    profile = guarantee.profile(training(0.02, 0.8, 200))
    found, tail = attack_bounds(profile, aside=1e-6), TwoWayTail.of(profile)
    of_success = float(2 * ndtri(found.success))
    assert found.mu > 1.05 * of_success
    low = np.geomspace(1e-5, 0.3, 300)
    held = np.array([gaussian_rate(found.mu, 1e-6, rate) for rate in low])
    assert (tail.at(low) <= held * (1 + 1e-3)).all()
    assert (np.array([gaussian_rate(of_success, 1e-6, rate) for rate in low]) < tail.at(low)).any()


def test_nothing_told_and_everything_told() -> None:
    nothing = attack_bounds(PureProfile(0.0), aside=0.0)
    assert nothing.success == pytest.approx(0.5)
    assert nothing.mu == pytest.approx(0.0, abs=1e-6)
    assert [bound for _, bound in nothing.rates] == pytest.approx(RATES)
    everything = attack_bounds(Exact(np.array([1.0, 0]), np.array([0, 1.0])), aside=0.01)
    assert (everything.success, everything.mu) == (1.0, None)
    assert everything.curve[0] == (0.0, 0.0)


def test_as_data_and_back() -> None:
    found = attack_bounds(guarantee.profile(Gaussian(3.0)), aside=1e-6)
    assert AttackBounds.from_dict(found.to_dict()) == found


@pytest.mark.parametrize("aside", [-0.1, 1.0, float("nan")])
def test_what_is_put_aside_is_a_probability(aside: float) -> None:
    with pytest.raises(InputError, match=r"^aside="):
        gaussian_bound(TwoWayTail.of(PureProfile(1.0)), aside)
