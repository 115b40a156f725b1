"""Profiles that are stored, priced or composed: never below the exact ones."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honestdp.errors import InputError, fail
from honestdp.privacy import guarantee
from honestdp.privacy.composed import composed
from honestdp.privacy.events import Composition, Gaussian, Pure, Repeated, Selection, training
from honestdp.privacy.points import MixedProfile, PointsProfile, PricedProfile
from honestdp.privacy.profile import LargestProfile, PureProfile, TightestProfile
from honestdp.privacy.runs import geometric
from honestdp.privacy.spending import Spending, composed_profile

LOSSES = np.linspace(0, 6, 61)


class Loose(PureProfile):
    """A bound that is not convex in e^epsilon: a step above the true profile."""

    def delta(self, epsilon: float) -> float:
        return max(super().delta(epsilon), super().delta(math.floor(2 * epsilon) / 2))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(0.05, 2), min_size=2, max_size=4), st.booleans())
def test_randomised_responses_by_enumeration(epsilons: list[float], loose: bool) -> None:
    kind = Loose if loose else PureProfile
    p, q = np.ones(1), np.ones(1)
    for epsilon in epsilons:
        told = math.exp(epsilon) / (1 + math.exp(epsilon))
        p, q = (np.outer(a, b).ravel() for a, b in
                ((p, [told, 1 - told]), (q, [1 - told, told])))  # fmt: skip
    exact = np.array([np.maximum(p - math.exp(t) * q, 0).sum() for t in LOSSES])
    found = composed([kind(epsilon) for epsilon in epsilons]).deltas(LOSSES)
    assert (found >= exact).all()
    assert loose or (found <= exact + 0.01).all()


@pytest.mark.parametrize("stored", [False, True])
def test_gaussians_and_trainings(stored: bool) -> None:
    parts = [Gaussian(4.0), Gaussian(9.0), *[training(0.02, 1.5, 100)] * 3]
    own = {part: guarantee.profile(part) for part in parts}
    if stored:
        own = {part: PointsProfile.of(profile) for part, profile in own.items()}
    whole = guarantee.profile(Composition(*parts))
    found = composed([own[part] for part in parts])
    on = np.linspace(0, 2.2, 50)
    assert (found.deltas(on) >= whole.deltas(on) * (1 - 1e-9) - 1e-11).all()
    # Here the worse direction counts at each step, in the whole only once, at the end
    assert found.delta(0.0) == pytest.approx(whole.delta(0.0), rel=2e-2)
    assert found.epsilon(1e-6) == pytest.approx(whole.epsilon(1e-6), rel=2e-2)


@pytest.mark.parametrize(
    "profile",
    [
        guarantee.profile(Gaussian(2.0)),
        guarantee.profile(Pure(1.0)),
        guarantee.profile(training(0.01, 0.7, 300)),
        guarantee.profile(Selection(training(0.01, 2.0, 100), geometric(0.1))),
        MixedProfile.of_pair(0.5, 1e-4),
        Loose(1.0),
    ],
)
def test_stored_points_are_never_below(profile) -> None:
    found = PointsProfile.of(profile)
    # A bound that is not convex is above the true profile, which is; it may lie above the points
    convex = not isinstance(profile, (Loose, TightestProfile))
    end = float(found.epsilons[-1])
    on = np.linspace(0, 1.5 * end, 300) if convex else found.epsilons
    assert (found.deltas(on) >= profile.deltas(on) * (1 - 1e-9) - 1e-13).all()
    assert found.delta(0.0) == pytest.approx(profile.delta(0.0), rel=2e-5)
    again = PointsProfile.from_dict(json.loads(json.dumps(found.to_dict())))
    assert again.deltas(on).tolist() == found.deltas(on).tolist()


@pytest.mark.parametrize(
    ("epsilons", "deltas"),
    [
        ([0.1, 1.0], [0.5, 0.1]),
        ([0.0, 0.0], [0.5, 0.1]),
        ([0.0, 1.0], [0.5]),
        ([], []),
        ([0.0, 1.0], [0.5, -0.1]),
        ([0.0, 1.0], [1.5, 0.1]),
        ([0.0, math.nan], [0.5, 0.1]),
        ([0.0, 1.0], [math.nan, 0.1]),
        ([0.0, 1e9], [0.5, 0.1]),
    ],
)
def test_points_that_are_no_profile(epsilons, deltas) -> None:
    with pytest.raises(InputError):
        PointsProfile(np.array(epsilons), np.array(deltas))


def test_a_price_as_a_profile() -> None:
    exact = guarantee.profile(Gaussian(3.0))

    def price(delta: float) -> float:
        if delta < 1e-9:
            raise fail("delta", delta, "too small")
        return math.inf if delta > 0.9 else exact.epsilon(delta)

    found = PricedProfile(price)
    on = np.linspace(0, 2, 40)
    assert (found.deltas(on) >= exact.deltas(on) * (1 - 1e-6)).all()
    assert found.epsilon(1e-6) == pytest.approx(exact.epsilon(1e-6), rel=0.1)
    assert found.delta(50.0) >= 1e-9


def test_many_points_at_once_are_those_one_by_one() -> None:
    run = guarantee.profile(training(0.01, 2.0, 100))
    search = guarantee.profile(Selection(training(0.01, 2.0, 100), geometric(0.1)))
    for one in (LargestProfile(run, PureProfile(0.5)), TightestProfile(run, PureProfile(0.5)),
                search, MixedProfile(run, 0.1), PointsProfile.of(run)):  # fmt: skip
        by_one = [one.delta(x) for x in LOSSES.tolist()]
        assert one.deltas(LOSSES).tolist() == pytest.approx(by_one, rel=1e-12, abs=1e-11)


def test_spendings_with_and_without_a_profile() -> None:
    """A charge from before profiles were stored has its pair and its curve."""
    run = training(0.02, 1.5, 200)
    exact = guarantee.profile(Repeated(run, 2))
    cost = Spending.of_curve(guarantee.rdp_curve(run), 1e-6, epsilon=guarantee.epsilon(run, 1e-6))
    stored = Spending(cost.epsilon, cost.delta, cost.slack, cost.curve, cost.largest_loss,
                      PointsProfile.of(guarantee.profile(run)))  # fmt: skip
    pair = Spending.of_pair(cost.epsilon, 1e-6)
    new, mixed, old, pairs = (
        composed_profile(both)
        for both in ((stored, stored), (stored, cost), (cost, cost), (pair, pair))
    )
    for found in (new, mixed, old, pairs):
        assert (found.deltas(LOSSES) >= exact.deltas(LOSSES) * (1 - 1e-9) - 1e-11).all()
    for loss in (0.0, 0.5, 1.0):
        assert new.delta(loss) <= mixed.delta(loss) <= pairs.delta(loss) * (1 + 1e-9)
        assert old.delta(loss) <= pairs.delta(loss) * (1 + 1e-9)
    assert new.delta(0.0) == pytest.approx(exact.delta(0.0), rel=2e-2)
    assert stored.at([2.0, 8.0]).profile is stored.profile


def test_losses_without_end_and_none_at_all() -> None:
    everything, nothing = MixedProfile.of_pair(0.0, 0.999999), PureProfile(0.0)
    assert composed([everything, everything]).delta(0.0) > 1 - 1e-11
    assert composed([nothing, nothing]).delta(0.0) < 1e-6
    huge = composed([PureProfile(700.0), PureProfile(700.0)])
    assert huge.delta(0.0) == pytest.approx(1.0)
    assert huge.delta(1e9) >= 0
