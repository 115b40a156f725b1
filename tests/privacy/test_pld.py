"""Losses on whole arrays beside dp-accounting's own, from which their formulas are."""

from __future__ import annotations

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution

from honestdp.privacy import pld
from honestdp.privacy.profile import Profile, _largest_loss, loss_distribution


@pytest.mark.parametrize("q", [1e-5, 0.007, 0.5, 0.999999, 1.0])
@pytest.mark.parametrize("sigma", [0.6, 4.0])
def test_one_step_and_many_are_dp_accountings(q, sigma) -> None:
    step = _largest_loss(q, sigma) / 1000
    mine = pld.one_step(q, sigma, step)
    theirs = privacy_loss_distribution.from_gaussian_mechanism(
        sigma, sampling_prob=q, value_discretization_interval=step
    )
    epsilons = np.array([0, 0.01, 0.3, 1.0, 5.0]) * min(1, 10 * q)
    for count in (1, 3, 100):
        a, b = pld.repeated(mine, count), theirs.self_compose(count)
        found, wanted = (np.array(x.get_delta_for_epsilon(epsilons)) for x in (a, b))
        slack = 4 * np.finfo(float).eps * count + 1e-15  # a profile's own, and one cut tail
        assert found == pytest.approx(wanted, rel=1e-9, abs=slack)


def test_the_reach_holds_all_but_the_tail() -> None:
    probs = np.array([0.7, 0.2, 0.06, 0.04])
    low, high = pld._reach(probs, 500)
    exact = np.array([1.0])
    for _ in range(500):
        exact = np.convolve(exact, probs)
    assert 0 < low < high < 1500
    assert exact[:low].sum() + exact[high + 1 :].sum() <= 1e-15


def test_a_grid_too_fine_for_its_numbers_is_refused_as_by_dp_accounting() -> None:
    """`loss_distribution` then takes a coarser one."""
    loss = pld._SampledGaussian(1.0, sampling_prob=1e-12, adjacency_type=pld.AdjacencyType.REMOVE)
    with pytest.raises(ValueError, match="finer than the numbers"):
        loss.get_delta_for_epsilon(np.nextafter(np.log1p(-1e-12), 0) * np.array([1 - 1e-6]))


@pytest.mark.parametrize(
    "sampled", [(0.02, 2.0, 1000), (1.0, 0.8, 1), (1e-4, 0.7, 50), (0.9, 30, 3)]
)
def test_an_epsilon_is_the_one_that_halving_finds_and_keeps_its_delta(sampled) -> None:
    profile = loss_distribution((sampled,))
    for delta in (1e-14, 1e-9, 1e-6, 1e-3, 0.05, 0.4, 0.999):
        found = profile.epsilon(delta)
        assert found == pytest.approx(Profile.epsilon(profile, delta), rel=2e-7, abs=1e-11)
        assert profile.delta(found) <= delta or found == np.inf
