"""Tests of the tests: bounds that are wrong in a known way, each caught by the same checkers.

Every mutant is the right bound with one thing left out; on the same instances the right bound
passes.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import exact
import instances
import numpy as np
import pytest
from checks import best_of_ratio, holds, one_direction_ratio, renyi_ratio
from exact import Pair, winners
from instances import drawn

from honestdp.privacy.curve import RdpCurve
from honestdp.privacy.profile import Profile
from honestdp.privacy.run_count import RunCount
from honestdp.privacy.runs import Capped, Poisson, TruncatedNegativeBinomial, geometric
from honestdp.privacy.selection import (
    BestOf,
    papernot_steinke,
    profile_bound,
    selection_shift,
    subset_tuning,
    threshold,
    worst_tail,
)

SHARP = ("shape below 0", "logarithmic", "geometric", "shape above 1")
# Poisson and binomial laws have their supremum where G reaches 1, a place that a coarse grid
# hits too and that depends on the total variation alone, the same in both directions.
ALL = (*SHARP, "poisson", "binomial")


def no_shift(profile: Profile, law: RunCount) -> BestOf:
    return BestOf(profile, law.mean, 0.0)


def no_mean(profile: Profile, law: RunCount) -> BestOf:
    return BestOf(profile, 1.0, profile_bound(profile, law).shift)


def shift_on_a_grid(profile: Profile, law: RunCount) -> BestOf:
    corners, tails = worst_tail(profile)
    u = np.linspace(0, 1, 20)
    weight = law.log_derivative_tail
    return BestOf(profile, law.mean, np.max(weight(u) - weight(np.interp(u, corners, tails))))


@pytest.mark.parametrize(
    ("mutant", "family"),
    [
        *((mutant, family) for mutant in (no_shift, no_mean) for family in ALL),
        *((shift_on_a_grid, family) for family in SHARP),
    ],
)
def test_profile_bound(mutant: Callable[[Profile, RunCount], BestOf], family: str) -> None:
    caught = 0
    for rng, pair in drawn(f"mutant {family}", 100):
        profile = exact.profile(pair)
        law = instances.law(rng, family, profile, capped=False)
        a, b = winners(pair, law)
        right, wrong = profile_bound(profile, law), mutant(profile, law)
        assert holds(best_of_ratio(a, b, right, profile.table[0]))
        caught += not holds(best_of_ratio(a, b, wrong, profile.table[0]))
    assert caught >= 3


@pytest.mark.parametrize("shape", [-0.5, 0.0, 1.0])
def test_profile_bound_without_its_cap(shape: float) -> None:
    caught = 0
    for rng, pair in drawn(f"cap left out {shape}", 200):
        profile = exact.profile(pair)
        long = TruncatedNegativeBinomial(shape, float(rng.uniform(0.005, 0.03)))
        law = Capped(long, int(rng.integers(4, 12)))
        a, b = winners(pair, law)
        shift = selection_shift(profile, long.log_derivative_tail, at_corners=True)
        wrong = BestOf(profile, law.mean, shift)
        if holds(best_of_ratio(a, b, wrong, profile.table[0])):
            continue
        caught += 1
        assert holds(best_of_ratio(a, b, profile_bound(profile, law), profile.table[0]))
    assert caught >= 3


@pytest.mark.parametrize("family", SHARP)
def test_g_from_the_forward_direction(family: str) -> None:
    caught = 0
    for rng, pair in drawn(f"forward {family}", 150):
        law = instances.law(rng, family, exact.profile(pair), capped=False)
        a, b = winners(pair, law)
        assert holds(one_direction_ratio(pair, law, a, b, reverse=True))
        caught += not holds(one_direction_ratio(pair, law, a, b, reverse=False))
    assert caught >= 3


def ps_without_one_plus_shape(pair: Pair, law: TruncatedNegativeBinomial) -> RdpCurve:
    curve = exact.curve(pair)
    return _ps(curve, law.mean, _ps_constant(curve.orders, curve.values, law.gamma))


def ps_without_log_mean(pair: Pair, law: TruncatedNegativeBinomial) -> RdpCurve:
    curve = exact.curve(pair)
    constant = (1 + law.shape) * _ps_constant(curve.orders, curve.values, law.gamma)
    return _ps(curve, 1.0, constant)


def ps_with_orders_below_one(pair: Pair, law: TruncatedNegativeBinomial) -> RdpCurve:
    below = np.linspace(0.1, 0.95, 18)
    values = np.max([exact.renyi(a, b, below) for a, b in pair.directions], axis=0)
    constant = (1 + law.shape) * _ps_constant(below, values, law.gamma)
    return _ps(exact.curve(pair), law.mean, constant)


def _ps_constant(orders: np.ndarray, values: np.ndarray, gamma: float) -> float:
    known = np.isfinite(values)
    found = (1 - 1 / orders[known]) * values[known] - math.log(gamma) / orders[known]
    return float(np.min(found, initial=math.inf))


def _ps(curve: RdpCurve, mean: float, constant: float) -> RdpCurve:
    values = curve.values + constant + math.log(mean) / (curve.orders - 1)
    return RdpCurve(curve.orders, np.maximum(values, 0))


@pytest.mark.parametrize(
    ("mutant", "families"),
    [
        (ps_without_one_plus_shape, ("shape above 1", "geometric")),
        (ps_without_log_mean, ("shape below 0", "logarithmic", "geometric")),
        (ps_with_orders_below_one, ("shape below 0", "logarithmic", "geometric")),
    ],
)
def test_papernot_steinke(
    mutant: Callable[[Pair, RunCount], RdpCurve], families: tuple[str, ...]
) -> None:
    for family in families:
        caught = 0
        for rng, pair in drawn(f"papernot steinke {family}", 250):
            law = instances.law(rng, family, exact.profile(pair), capped=False)
            a, b = winners(pair, law)
            assert holds(renyi_ratio(a, b, papernot_steinke(exact.curve(pair), law)))
            caught += not holds(renyi_ratio(a, b, mutant(pair, law)))
        assert caught >= 3, family


def test_papernot_steinke_with_a_mean_below_one() -> None:
    """Theorem 6 without its condition: why `papernot_steinke` refuses such a law."""
    caught = 0
    for rng, pair in drawn("rare runs", 100):
        rate = float(rng.uniform(0.05, 0.9))
        curve, profile = exact.curve(pair), exact.profile(pair)
        deltas = np.array([profile.delta(math.log1p(1 / (x - 1))) for x in curve.orders])
        values = curve.values + rate * deltas + math.log(rate) / (curve.orders - 1)
        wrong = RdpCurve(curve.orders, np.maximum(values, 0))
        caught += not holds(renyi_ratio(*winners(pair, Poisson(rate)), wrong))
    assert caught >= 3


def test_threshold_with_half_the_shift_of_best_of() -> None:
    """Right without a cap, where it *is* the theorem; wrong with one."""
    caught = 0
    for rng, pair in drawn("half a threshold", 150):
        gamma, cap = float(rng.choice([1e-3, 1e-2])), int(rng.integers(3, 12))
        above = pair.rank >= rng.choice(pair.rank)
        profile = exact.profile(pair)
        for stop in (None, cap):
            law = geometric(gamma) if stop is None else Capped(geometric(gamma), stop)
            a, b = (exact.first_above(x, above, gamma, stop) for x in (pair.q, pair.r))
            right = threshold(profile, gamma, stop)
            halved = BestOf(profile, right.multiplier, profile_bound(profile, law).shift / 2)
            assert holds(best_of_ratio(a, b, right, profile.table[0]))
            fine = holds(best_of_ratio(a, b, halved, profile.table[0]))
            assert fine or stop is not None
            caught += not fine
    assert caught >= 3


def test_subset_tuning_without_its_second_expression() -> None:
    orders = np.arange(2.0, 9.0)
    caught = 0
    for rng, _ in drawn("half a subset", 150):
        tuned, share = instances.tuned(rng), float(rng.uniform(0.1, 0.9))
        a, b = tuned.outputs(share)
        tuning, final = exact.curve(tuned.tuning, orders), tuned.final_curve(orders)
        if not np.isfinite([tuning.values[0], final.values[0]]).all():
            continue
        assert holds(renyi_ratio(a, b, subset_tuning(tuning, final, share)))
        wrong = RdpCurve(orders, [_first_only(tuning, final, share, int(x)) for x in orders])
        caught += not holds(renyi_ratio(a, b, wrong))
    assert caught >= 3


def _first_only(tuning: RdpCurve, final: RdpCurve, share: float, order: int) -> float:
    p, q = ([0.0, 0.0, *curve.values.tolist()] for curve in (tuning, final))
    total = sum(
        math.comb(order, j)
        * share ** (order - j)
        * (1 - share) ** j
        * math.exp(min(700.0, max(order - j - 1, 0) * p[order - j] + max(j - 1, 0) * q[j]))
        for j in range(order + 1)
    )
    return math.log(total) / (order - 1)
