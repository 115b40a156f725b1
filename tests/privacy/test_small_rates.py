"""Very small sampling rates, as large tables have: never dearer than larger ones, never too cheap.

Fine grids of losses drown in rounding there; coarser ones must take over before Renyi's curves,
whose floor is a hundred times too high.
"""

from __future__ import annotations

import math
from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution
from scipy.special import ndtr

from honestdp.privacy import guarantee
from honestdp.privacy.events import training
from honestdp.privacy.profile import FallbackProfile, LossDistributionProfile, _Losses


@pytest.mark.parametrize(
    ("q", "steps", "most"), [(1e-6, 10**4, 0.0006), (1e-5, 10**5, 0.02), (2.5e-5, 10**5, 0.05)]
)
def test_large_tables_are_cheap(q: float, steps: int, most: float) -> None:
    """Renyi's curves give 0.54, 0.68 and 0.74; dp-accounting's own grid 0.0034 for the first."""
    assert 0 < guarantee.epsilon(training(q, 1.0, steps), 1e-8) <= most


@pytest.mark.parametrize(
    ("sigma", "steps"), [pytest.param(1.0, 10**5, marks=pytest.mark.slow), (4.0, 10**5)]
)
def test_a_smaller_rate_never_costs_more(sigma: float, steps: int) -> None:
    rates = [1e-3, 2e-4, 1e-4, 2.5e-5, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-12, 1e-300]
    costs = [guarantee.epsilon(training(q, sigma, steps), 1e-8) for q in rates]
    assert all(dearer >= cheaper * (1 - 1e-2) - 1e-5 for dearer, cheaper in pairwise(costs))


@pytest.mark.parametrize(
    ("q", "sigma", "steps"),
    [(1e-6, 1.0, 10**4), (2.5e-5, 1.0, 10**5), (1e-6, 1.0, 10**6), (1e-8, 4.0, 10**5)],
)
def test_coarse_grids_with_too_much_mass_stay_above_the_truth(q, sigma, steps) -> None:
    profile = guarantee.profile(training(q, sigma, steps))
    spread = q * math.sqrt(math.expm1(1 / sigma**2)) * math.sqrt(steps)
    epsilons = spread * np.array([0.0, 0.5, 1.0, 2.0, 3.0, 4.0])
    for epsilon, true in zip(epsilons, _deltas(q, sigma, steps, epsilons), strict=True):
        assert profile.delta(float(epsilon)) >= true


def _deltas(q: float, sigma: float, steps: int, epsilons: np.ndarray) -> np.ndarray:
    """By another road: cells of outcomes, each loss split between two grid points so that its
    mean stays, which errs to either side by less than these grids add; remove direction."""
    size, y = 2**20, np.linspace(-9 * sigma, 9 * sigma + 1, 400_001)
    middle = (y[1:] + y[:-1]) / 2
    loss = np.log1p(q * np.expm1((2 * middle - 1) / (2 * sigma**2)))
    mass = _cells(y / sigma) * (1 - q) + _cells((y - 1) / sigma) * q
    deviation = q * math.sqrt(math.expm1(1 / sigma**2) * steps)
    step = (30 * deviation + 4 * loss[-1]) / size
    place = loss / step
    left = np.floor(place).astype(int)
    one = np.bincount(left % size, mass * (1 - place + left), size)
    one += np.bincount((left + 1) % size, mass * (place - left), size)
    total = np.fft.irfft(np.fft.rfft(one) ** steps, size)
    losses = np.fft.fftfreq(size, 1 / size) * step
    return np.array([np.sum(total * np.maximum(0, -np.expm1(e - losses))) for e in epsilons])


def _cells(y: np.ndarray) -> np.ndarray:
    """Normal probabilities of the cells between points, from the nearer tail."""
    return np.where(y[1:] > 0, ndtr(-y[:-1]) - ndtr(-y[1:]), ndtr(y[1:]) - ndtr(y[:-1]))


@pytest.mark.parametrize(("q", "sigma", "coarse"), [(1e-6, 1.0, 1), (1e-7, 1.0, 4), (1e-4, 4.0, 1)])
def test_one_step_of_too_much_mass_is_short_of_no_delta(q, sigma, coarse) -> None:
    """What makes mass above 1 safe: each delta falls short by less than the slack of a step."""
    spread = q * math.sqrt(math.expm1(1 / sigma**2))
    one = privacy_loss_distribution.from_gaussian_mechanism(
        sigma, sampling_prob=q, value_discretization_interval=coarse * spread
    )
    assert _Losses(one._pmf_add).total > 1
    for losses, is_remove in ((_Losses(one._pmf_remove), True), (_Losses(one._pmf_add), False)):
        middle = np.searchsorted(losses.grid, np.linspace(-6, 6, 40) * spread)
        spaced = np.linspace(0, len(losses.grid) - 1, 40).astype(int)
        points = losses.grid[np.clip(np.concatenate([middle, spaced]), 0, len(losses.grid) - 1)]
        for epsilon, found in zip(points.tolist(), losses.deltas(points).tolist(), strict=True):
            assert found >= _one_delta(q, sigma, epsilon, is_remove) - 4 * np.finfo(float).eps


def _one_delta(q: float, sigma: float, epsilon: float, is_remove: bool) -> float:
    """E_N[(M/N - e^epsilon)+] of N = N(0, sigma^2) and the mixture M, or the other way round."""
    with mp.workdps(40):
        q_, s, e = mp.mpf(q), mp.mpf(sigma), mp.exp(mp.mpf(epsilon))
        ratio = ((e if is_remove else 1 / e) - 1 + q_) / q_
        if ratio <= 0:
            return float(1 - e) if is_remove else 0.0
        x = mp.mpf(1) / 2 + s * s * mp.log(ratio)
        if is_remove:
            return float((1 - q_ - e) * mp.ncdf(-x / s) + q_ * mp.ncdf((1 - x) / s))
        return float((1 - e * (1 - q_)) * mp.ncdf(x / s) - e * q_ * mp.ncdf((x - 1) / s))


def test_where_both_bounds_hold_the_smaller_one_counts() -> None:
    run = training(2.5e-5, 1.0, 10**5)
    profile = guarantee.profile(run)
    assert isinstance(profile, FallbackProfile)
    curve, losses = guarantee.rdp_curve(run), profile._losses
    for epsilon in (0.0, 0.05, 0.7, 3.0):
        both = min(losses.delta(epsilon), curve.delta(epsilon))
        assert profile.delta(epsilon) == both
        assert profile.deltas(np.array([epsilon]))[0] == both
    for delta in (1e-3, 1e-8, 1e-18):
        assert profile.epsilon(delta) == min(losses.epsilon(delta), curve.epsilon(delta))


def test_a_mass_that_is_no_number_is_refused() -> None:
    broken = privacy_loss_distribution.from_gaussian_mechanism(1.0).self_compose(2)
    broken._pmf_remove._probs[:] = math.nan
    with pytest.raises(FloatingPointError):
        LossDistributionProfile(broken, 2)
