"""Extreme parameters, and the arithmetic of Lambda itself."""

from __future__ import annotations

import math

import exact
import instances
import mpmath
import numpy as np
import pytest
from checks import best_of_ratio, holds, renyi_ratio
from exact import SixtyDigits
from instances import drawn

from honestdp.errors import InputError
from honestdp.privacy import guarantee
from honestdp.privacy.curve import RdpCurve
from honestdp.privacy.events import Gaussian, Selection
from honestdp.privacy.profile import Profile
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
    profile_bound,
    profile_bound_rdp,
    subset_tuning,
    threshold,
    worst_tail,
)

STRANGE: tuple[RunCount, ...] = (
    *(geometric(g) for g in (1e-12, 1e-6, 1 - 1e-9, 1.0)),
    *(TruncatedNegativeBinomial(shape, 1e-6) for shape in (-0.999999, -1e-9, 1e-9, 10.0)),
    *(logarithmic(1e-6), logarithmic(1 - 1e-6), TruncatedNegativeBinomial(50, 0.01)),
    *(Poisson(1e-6), Poisson(1e4), Binomial(1, 0.5), Binomial(2, 1 - 1e-9), Binomial(10, 1e-6)),
    *(Capped(geometric(1e-6), cap) for cap in (1, 2, 10, 10**7)),
    *(Capped(geometric(0.025), cap) for cap in (900, 2000)),  # either side of "a far cap is free"
    *(Capped(Poisson(1.0), cap) for cap in (1, 2)),
    *(Capped(logarithmic(1e-6), 2), Capped(TruncatedNegativeBinomial(-0.999999, 1e-6), 5)),
    *(Capped(TruncatedNegativeBinomial(50, 0.5), 3), Capped(Binomial(3, 0.999), 2)),
)


def tail(profile: Profile, u: np.ndarray) -> np.ndarray:
    """G by brute force."""
    t, delta = profile.table
    lines = np.exp(t)[:, None] * u + np.minimum(delta, 1)[:, None]
    return np.minimum(1, lines.min(axis=0))


def tails(rng: np.random.Generator) -> np.ndarray:
    some = rng.random(200)
    return np.concatenate([[0, 1], some, 1 - some**8, 10.0 ** rng.uniform(-16, 0, 200)])


def test_worst_tail_has_every_corner() -> None:
    for rng, pair in drawn("worst tail", 1500):
        profile = exact.profile(pair)
        u = tails(rng)
        found = np.interp(u, *worst_tail(profile))
        assert np.allclose(found, np.maximum(tail(profile, u), u), rtol=1e-12, atol=0)


def test_worst_tail_of_lines_that_never_matter() -> None:
    """An upper bound on a profile need not be convex; such lines must not hide a corner."""

    class Bent(exact.ExactProfile):
        table = (np.array([0.0, 0.5, 1.0, 2.0]), np.array([0.9, 0.89, 0.1, 0.1]))

    u = np.linspace(0, 1, 1001)
    found = np.interp(u, *worst_tail(Bent()))
    assert np.allclose(found, tail(Bent(), u), rtol=1e-12, atol=0)


def test_worst_tail_of_equal_lines() -> None:
    class Twice(exact.ExactProfile):
        table = (np.array([0.0, 1e-17, 1.0]), np.array([0.9, 0.9, 0.0]))

    u = np.linspace(0, 1, 1001)
    with np.errstate(invalid="ignore"):
        found = np.interp(u, *worst_tail(Twice()))
    assert np.allclose(found, tail(Twice(), u), rtol=1e-12, atol=0)


@pytest.mark.parametrize("law", STRANGE, ids=str)
def test_shift_is_a_supremum(law: RunCount) -> None:
    """No u beats Lambda: exact corners for smooth laws, branch and bound for capped ones."""
    for rng, pair in drawn(f"supremum {law}", 30):
        profile = exact.profile(pair)
        if isinstance(law, Capped) and not instances.is_quick(law, profile):
            continue
        bound = profile_bound(profile, law)
        u = tails(rng)
        weight = law.log_derivative_tail
        gaps = weight(u) - weight(np.maximum(u, tail(profile, u)))
        assert math.isfinite(bound.shift)
        assert np.max(gaps) <= bound.shift * (1 + 1e-9) + 1e-9
        assert 0 < bound.multiplier == law.mean


@pytest.mark.parametrize("shape", [-0.999999, -0.5, -1e-9, 0.0, 1e-9, 1.0, 10.0])
@pytest.mark.parametrize("gamma", [1e-9, 1e-6, 1e-3, 0.5])
def test_best_of_with_sixty_digits(shape: float, gamma: float) -> None:
    law, true = TruncatedNegativeBinomial(shape, gamma), SixtyDigits(shape, gamma)
    for _, pair in drawn(f"sixty {shape} {gamma}", 25):
        a, b = (_winner(true, x, pair.rank) for x in (pair.q, pair.r))
        profile, curve = exact.profile(pair), exact.curve(pair)
        assert holds(best_of_ratio(a, b, profile_bound(profile, law), profile.table[0]))
        assert holds(renyi_ratio(a, b, profile_bound_rdp(curve, profile, law)))
        assert holds(renyi_ratio(a, b, papernot_steinke(curve, law)))


def _winner(law: SixtyDigits, outcomes: np.ndarray, rank: np.ndarray) -> np.ndarray:
    """`exact.best_of` where K is too large to sum over."""
    result = np.zeros(len(outcomes))
    with mpmath.workdps(60):
        exactly = [mpmath.mpf(x) for x in outcomes.tolist()]
        whole = mpmath.fsum(exactly)
        below = mpmath.mpf(0)
        for level in np.unique(rank):
            members = np.flatnonzero(rank == level)
            mass = mpmath.fsum(exactly[i] for i in members) / whole
            if mass == 0:
                continue
            share = law.pgf_tail(1 - below - mass) - law.pgf_tail(1 - below)
            for i in members:
                result[i] = float(share * exactly[i] / whole / mass)
            below += mass
    return result


@pytest.mark.parametrize("noise", [0.03, 0.001])
@pytest.mark.parametrize("law", [geometric(0.025), Poisson(4.0), Capped(geometric(0.1), 5)])
def test_hardly_any_noise(law: RunCount, noise: float) -> None:
    """e^t is no number any more at the losses of such a run; Lambda must not become 0."""
    least = profile_bound(guarantee.profile(Gaussian(0.3)), law).shift
    most = float(law.log_derivative_tail(0.0) - law.log_derivative_tail(1.0))
    found = profile_bound(guarantee.profile(Gaussian(noise)), law).shift
    assert least * (1 - 1e-3) - 1e-4 <= found <= most * (1 + 1e-3) + 1e-4


def test_more_noise_costs_less() -> None:
    costs = [
        guarantee.epsilon(Selection(Gaussian(noise), geometric(0.025)), 1e-6)
        for noise in (0.02, 0.03, 0.04, 1.0, 4.0, 30.0)
    ]
    assert costs == sorted(costs, reverse=True)


def test_a_single_run_must_be_possible() -> None:
    with pytest.raises(InputError):
        profile_bound(guarantee.profile(Gaussian(1.0)), Binomial(3, 1.0))


def test_a_single_run_must_be_possible_under_a_cap() -> None:
    with pytest.raises(InputError):
        profile_bound(guarantee.profile(Gaussian(1.0)), Capped(Binomial(3, 1.0), 2))


def test_mean_near_one_run() -> None:
    for shape in (-0.5, 0.0, 1e-9, 0.5, 1.0, 50.0):
        for k in (20, 24, 27, 30, 34, 40, 45, 50, 53):
            gamma = 1 - 2.0**-k
            true = float(SixtyDigits(shape, gamma).derivative(0))
            assert TruncatedNegativeBinomial(shape, gamma).mean == pytest.approx(true, rel=1e-12)


def test_best_of_near_one_run_with_sixty_digits() -> None:
    shape, gamma = -0.999999, 1 - 1e-6
    law, true = TruncatedNegativeBinomial(shape, gamma), SixtyDigits(shape, gamma)
    for _, pair in drawn("sixty near one", 100):
        a, b = (_winner(true, x, pair.rank) for x in (pair.q, pair.r))
        found = profile_bound_rdp(exact.curve(pair), exact.profile(pair), law)
        assert holds(renyi_ratio(a, b, found))


def test_delta_of_a_tiny_divergence() -> None:
    """sqrt(1 - e^-value) bounds the total variation; it may not be rounded down."""
    for value in (0.0, 1e-300, 1e-18, 1e-16, 3e-16, 1e-14, 1e-9):
        found = RdpCurve([1.5, 2.0], [value, value]).delta(0.0)
        assert found >= math.sqrt(-math.expm1(-value)) * (1 - 1e-9)


def test_curves_are_in_order() -> None:
    """`papernot_steinke` carries bounds from larger orders to smaller ones by position."""
    orders, values = np.array([2.0, 30.0]), np.array([0.1, 10.0])
    right = papernot_steinke(RdpCurve(orders, values), geometric(0.1))
    try:
        turned = papernot_steinke(RdpCurve(orders[::-1], values[::-1]), geometric(0.1))
    except InputError:
        return
    assert dict(zip(turned.orders, turned.values, strict=True)) == dict(
        zip(right.orders, right.values, strict=True)
    )


def test_subset_tuning_of_a_tiny_divergence() -> None:
    """At order 2 the first sum is q^2 e^value + (1-q)^2 e^value + 2q(1-q), a curve does not fall
    with the order, and a divergence rounded down to 0 would claim epsilon = 0."""
    orders = np.arange(2.0, 300.0)
    for value in (1e-12, 1e-14, 1e-16):
        both = RdpCurve(orders, np.full(len(orders), value))
        found = subset_tuning(both, both, 0.3)
        least = (0.3**2 + 0.7**2) * math.expm1(value)
        assert np.all(found.values >= least * (1 - 1e-9))


@pytest.mark.parametrize("gamma", [1e-12, 1e-6, 0.5, 1 - 1e-9, 1.0])
@pytest.mark.parametrize("cap", [None, 1, 2, 1000])
def test_threshold_at_its_ends(gamma: float, cap: int | None) -> None:
    for _, pair in drawn(f"threshold ends {gamma} {cap}", 10):
        bound = threshold(exact.profile(pair), gamma, cap)
        assert math.isfinite(bound.shift)
        assert bound.multiplier >= 1 - 1e-12
        assert bound.multiplier <= min(1 / gamma, cap or math.inf) * (1 + 1e-12)


@pytest.mark.parametrize("cap", [None, 7])
def test_pure_threshold_costs_twice(cap: int | None) -> None:
    """A pure epsilon run: 2 epsilon without a cap; never below that with one."""
    epsilon = 0.3
    share = 1 / (1 + math.exp(epsilon))
    pair = exact.Pair(np.array([1 - share, share]), np.array([share, 1 - share]), np.arange(2))
    bound = threshold(exact.profile(pair), 1e-9, cap)
    if cap is None:
        assert bound.shift == pytest.approx(epsilon, rel=1e-6)
        assert bound.epsilon(1e-12) == pytest.approx(2 * epsilon, rel=1e-3)
    else:
        assert bound.shift >= epsilon
