"""The theorems' functions: against dp-accounting's own, in their limits, and their conditions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from dp_accounting import dp_event
from dp_accounting.rdp import RdpAccountant
from hypothesis import given, settings
from hypothesis import strategies as st

from honestdp.errors import InputError
from honestdp.privacy import curve, guarantee, selection
from honestdp.privacy.curve import RdpCurve
from honestdp.privacy.events import Gaussian, training
from honestdp.privacy.runs import Binomial, Capped, Poisson, TruncatedNegativeBinomial, geometric

RUN = training(250 / 36177, 4.0, 2500)
DELTA = 1e-6


@pytest.mark.parametrize("shape", [0, 0.5, 1, 3, math.inf])
@pytest.mark.parametrize("mean", [1.5, 40, 1000])
def test_papernot_steinke_is_dp_accountings_where_that_has_it(shape: float, mean: float) -> None:
    orders = [1.5, 2, 3.5, 8, 16, 32, 64]
    step = dp_event.PoissonSampledDpEvent(0.01, dp_event.GaussianDpEvent(2.0))
    event = dp_event.RepeatAndSelectDpEvent(dp_event.SelfComposedDpEvent(step, 100), mean, shape)
    theirs = RdpAccountant(orders).compose(event)._rdp
    law = Poisson(mean) if shape == math.inf else TruncatedNegativeBinomial.from_mean(shape, mean)
    ours = selection.papernot_steinke(curve.at_orders(0.01, 2.0, 100, orders), law)
    if shape == math.inf:  # theirs lacks the step "a larger order's bound holds for a smaller"
        theirs = np.minimum.accumulate(theirs[::-1])[::-1]
    assert ours.values == pytest.approx(theirs, rel=1e-6)


@pytest.mark.parametrize(("n", "steps"), [(36177, 2500), (60000, 10_000), (5000, 10_000)])
@pytest.mark.parametrize("shape", [0.0, 1.0])
def test_the_profile_bound_is_below_papernot_steinke(n: int, steps: int, shape: float) -> None:
    run = training(250 / n, 4.0, steps)
    law = TruncatedNegativeBinomial.from_mean(shape, 40)
    ours = selection.profile_bound(guarantee.profile(run), law).epsilon(DELTA)
    theirs = selection.papernot_steinke(guarantee.rdp_curve(run), law).epsilon(DELTA)
    assert ours < theirs


@pytest.mark.parametrize("accountant", ["rdp", "rdp-classic"])
def test_one_candidate_under_composition_costs_one_run(accountant) -> None:
    run = guarantee.rdp_curve(RUN)
    conversion = "classic" if accountant == "rdp-classic" else "improved"
    assert selection.composition([run]).epsilon(DELTA, conversion) == guarantee.epsilon(
        RUN, DELTA, accountant
    )


def test_composition_adds() -> None:
    run, other = guarantee.rdp_curve(RUN), guarantee.rdp_curve(Gaussian(3.0))
    both = selection.composition([run, other, run])
    order = both.orders.tolist().index(4.0)
    expected = 2 * run.values[run.orders == 4.0][0] + 4 / (2 * 9.0)
    assert both.values[order] == pytest.approx(expected)


def test_one_run_is_one_run_under_every_law() -> None:
    profile, run = guarantee.profile(RUN), guarantee.rdp_curve(RUN)
    once = profile.epsilon(DELTA)
    for law in (geometric(1.0), TruncatedNegativeBinomial(0.0, 1.0), Capped(geometric(0.1), 1),
                Capped(TruncatedNegativeBinomial(0.5, 0.1), 1), Binomial(1, 1.0)):  # fmt: skip
        assert selection.profile_bound(profile, law).epsilon(DELTA) == pytest.approx(once, abs=2e-5)
        assert selection.profile_bound_rdp(run, profile, law).epsilon(DELTA) == pytest.approx(
            run.epsilon(DELTA), abs=2e-5
        )
    assert selection.threshold(profile, 1.0).epsilon(DELTA) == pytest.approx(once)
    assert selection.threshold(profile, 0.1, cap=1).epsilon(DELTA) == pytest.approx(once, abs=2e-5)


def test_bounds_grow_with_the_number_of_runs() -> None:
    profile, run = guarantee.profile(RUN), guarantee.rdp_curve(RUN)
    for shape in (-0.5, 0.0, 1.0, 2.0):
        laws = [TruncatedNegativeBinomial.from_mean(shape, m) for m in (1, 2, 5, 40, 400, 1e5)]
        for bound in (
            lambda law: selection.profile_bound(profile, law).epsilon(DELTA),
            lambda law: selection.papernot_steinke(run, law).epsilon(DELTA),
        ):
            costs = [bound(law) for law in laws]
            assert costs == sorted(costs)


def test_pure_runs_at_most_double_under_a_threshold_and_treble_under_stopping() -> None:
    """Known limits for a run of pure epsilon: 2 epsilon (threshold), 3 epsilon (geometric)."""
    from honestdp.privacy.profile import Profile

    class Pure(Profile):
        def delta(self, epsilon: float) -> float:  # randomised response of epsilon = 0.5
            p = math.exp(0.5) / (1 + math.exp(0.5))
            return max(0.0, p - math.exp(min(epsilon, 1)) * (1 - p))

    for gamma in (0.5, 0.01, 1e-6):
        assert selection.threshold(Pure(), gamma).shift <= 0.5 + 1e-6
        assert selection.profile_bound(Pure(), geometric(gamma)).shift <= 1.0 + 1e-6
    assert selection.profile_bound(Pure(), geometric(1e-6)).shift == pytest.approx(1.0, abs=1e-2)


@settings(max_examples=50, deadline=None)
@given(
    st.floats(0.01, 30),
    st.floats(1e-12, 1e-2),
    st.floats(1e-4, 1),
    st.sampled_from([1e-20, 1e-14]),
)
def test_liu_talwar_both_ways(epsilon, delta, gamma, slack) -> None:
    try:
        run = selection.liu_talwar_inverse(epsilon, delta, gamma, slack)
    except InputError:
        assert epsilon / 3 <= math.sqrt(2) * delta
        return
    total = selection.liu_talwar(*run, gamma, slack)
    assert total[0] == pytest.approx(epsilon)
    assert total[1] == pytest.approx(delta)
    assert total[1] <= delta
    assert selection.liu_talwar_rounds(gamma, slack) >= math.log(1 / slack) / gamma


def test_a_far_cap_is_free_and_a_near_one_is_not_ignored() -> None:
    profile, law = guarantee.profile(RUN), geometric(1 / 40)
    free = selection.profile_bound(profile, law).epsilon(DELTA)
    far = selection.profile_bound(profile, Capped(law, 1843)).epsilon(DELTA)
    # The same by branch and bound, without the closed form for far caps.
    slow = selection.selection_shift(profile, Capped(law, 1843).log_derivative_tail)
    assert far == pytest.approx(free, abs=1e-9)
    assert slow == pytest.approx(selection.profile_bound(profile, law).shift, abs=3e-4)
    near = selection.profile_bound(profile, Capped(geometric(1e-3), 40)).epsilon(DELTA)
    assert near > selection.profile_bound(profile, geometric(1e-3)).epsilon(DELTA)


def test_subset_tuning_lies_between_its_parts_and_their_sum() -> None:
    run = curve.sampled_gaussian_integers(250 / 36177, 4.0, 2500, DELTA)
    dear = run * 3
    for share in (0.01, 0.1, 0.5, 0.9, 0.99):
        found = selection.subset_tuning(dear, run, share)
        assert found.epsilon(DELTA) <= (dear + run).epsilon(DELTA)
    assert selection.subset_tuning(run, run, 0.5).epsilon(DELTA) <= run.epsilon(DELTA) * (1 + 1e-9)
    almost_all = selection.subset_tuning(dear, run, 1 - 1e-9).epsilon(DELTA)
    assert almost_all == pytest.approx(dear.epsilon(DELTA), rel=1e-2)


def test_conditions_that_fail_are_errors() -> None:
    profile, run = guarantee.profile(RUN), guarantee.rdp_curve(RUN)
    with pytest.raises(InputError, match="profile_bound"):
        selection.papernot_steinke(run, Capped(geometric(0.1), 5))
    with pytest.raises(InputError, match="profile_bound"):
        selection.papernot_steinke(run, Poisson(0.9))
    with pytest.raises(InputError, match="single run"):
        selection.profile_bound(profile, Binomial(5, 1.0))  # always five: Lambda is infinite
    for gamma in (0, -1, 1.1, math.nan):
        with pytest.raises(InputError, match="gamma"):
            selection.threshold(profile, gamma)
        with pytest.raises(InputError, match="gamma"):
            selection.liu_talwar(1.0, 1e-9, gamma)
    with pytest.raises(InputError, match="cap"):
        selection.threshold(profile, 0.1, cap=0)
    for share in (0, 1, -0.1, math.nan):
        with pytest.raises(InputError, match="share"):
            selection.subset_tuning(run, run, share)
    with pytest.raises(InputError, match="integer orders"):
        selection.subset_tuning(RdpCurve([1.5], [1.0]), run, 0.1)
    with pytest.raises(InputError, match="curves"):
        selection.composition([])
    with pytest.raises(InputError, match="delta"):
        selection.liu_talwar_inverse(1.0, 1e-21, 0.1)
    with pytest.raises(InputError, match="epsilon"):
        selection.liu_talwar(-1.0, 1e-9, 0.1)
    with pytest.raises(InputError, match="delta"):
        selection.liu_talwar(1.0, 1.0, 0.1)
    for tiny in (1e-308, 1e-320):
        with pytest.raises(InputError, match="gamma"):
            selection.liu_talwar_rounds(tiny)
    with pytest.raises(InputError, match="slack"):
        selection.liu_talwar_rounds(0.1, 1e-320)
    with pytest.raises(InputError, match="orders"):
        RdpCurve([0.5], [1.0])
    for bad in (-1.0, math.nan):
        with pytest.raises(InputError, match="values"):
            RdpCurve([2.0], [bad])
