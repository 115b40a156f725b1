"""The noise: its law, its scale, its independence, and that every maker makes the same."""

from __future__ import annotations

import numpy as np
import oracles
import pytest
import torch
from scipy import stats

from honestdp.engine import Linear, Randomness, Schedule, cohort_training, examples, noise, train
from honestdp.engine.clipping import ClippedSum
from honestdp.engine.kernels.update import BLOCK, noisy_update
from honestdp.engine.noise import NoiseMaker
from honestdp.optimizers.dpmomentum import momentum
from honestdp.randomness import Purpose
from honestdp.units import UNITS

ALPHA = 1e-6
HUGE = 2.0**16  # a multiplier whose noise is in doubt so often that every step has to settle some


def maker(candidates: int, multiplier=1.0, lot: float = 1.0, seed: int = 0) -> NoiseMaker:
    multipliers = np.full(candidates, multiplier, np.float64)
    numbers = np.arange(candidates, dtype=np.uint32)
    return NoiseMaker(numbers, multipliers, lot, Randomness.simulation(seed))


def sums(units: torch.Tensor, sensitivity=1.0) -> ClippedSum:
    bound = torch.as_tensor(sensitivity, dtype=torch.float64).expand(len(units)).contiguous()
    return ClippedSum(units, bound)


def draw(candidates: int, width: int, step: int = 1, *, multiplier=1.0, sensitivity=1.0, lot=1.0):
    total = sums(torch.zeros(candidates, width, dtype=torch.int32), sensitivity)
    made = maker(candidates, multiplier, lot)
    return made.noisy_mean(total, step, slice(0, candidates)).double().numpy()


def test_a_million_draws_are_standard_normal():
    z = draw(4, 250_000).ravel()
    n = z.size
    assert stats.kstest(z, "norm").pvalue > ALPHA
    limit = stats.norm.isf(ALPHA / 2)
    assert abs(z.mean()) * np.sqrt(n) < limit
    assert abs(z.var() - 1) / np.sqrt(2 / n) < limit
    assert abs((z**3).mean()) / np.sqrt(15 / n) < limit
    assert abs((z**4).mean() - 3) / np.sqrt(96 / n) < limit
    for reach in (3.0, 4.0):  # the tails are there
        expected = 2 * stats.norm.sf(reach)
        found = (np.abs(z) > reach).sum()
        assert stats.binomtest(int(found), n, expected).pvalue > ALPHA


@pytest.mark.parametrize(("sigma", "bound", "lot"), [(4.0, 1.0, 250.0), (0.5, 0.1, 7.5), (8, 3, 1)])
def test_scale_in_every_coordinate_is_sigma_c_over_l(sigma, bound, lot):
    x = draw(200, 5000, multiplier=sigma, sensitivity=bound, lot=lot)  # 10^6 draws
    scale = sigma * bound / lot
    total = (x**2).sum() / scale**2
    assert ALPHA < stats.chi2.cdf(total, x.size) < 1 - ALPHA
    # a one per cent error in the scale would have been caught:
    assert stats.chi2.cdf(total * 0.99**2, x.size) < ALPHA
    each = (x**2).sum(0) / scale**2
    tails = stats.chi2.cdf(each, x.shape[0])
    assert (tails > ALPHA / x.shape[1]).all()
    assert (tails < 1 - ALPHA / x.shape[1]).all()


def test_each_candidate_has_its_own_scale():
    x = draw(3, 100_000, multiplier=[1.0, 2.0, 0.0], sensitivity=[1.0, 0.5, 1.0], lot=2)
    assert x[0].std() == pytest.approx(0.5, rel=0.02)
    assert x[1].std() == pytest.approx(0.5, rel=0.02)
    assert (x[2] == 0).all()


def test_noise_is_independent_between_candidates_steps_and_coordinates():
    steps = np.stack([draw(4, 20_000, step) for step in (1, 2)]).reshape(8, -1)
    correlation = np.corrcoef(steps)[np.triu_indices(8, 1)] * np.sqrt(steps.shape[1])
    assert np.abs(correlation).max() < stats.norm.isf(ALPHA / 2 / len(correlation))
    z = steps.ravel()
    for lag in (1, 16, 128, 256, 512):
        together = (z[lag:] * z[:-lag]).sum() / np.sqrt(len(z) - lag)
        assert abs(together) < stats.norm.isf(ALPHA / 10)
    sizes = z**2 - 1  # a pair of normals has one radius: its two members must not show it
    for lag in (1, 16, 128, 256, 512):
        together = (sizes[lag:] * sizes[:-lag]).sum() / 2 / np.sqrt(len(z) - lag)
        assert abs(together) < stats.norm.isf(ALPHA / 10)


def by_update(made: NoiseMaker, total: ClippedSum, step: int) -> torch.Tensor:
    """DPMomentum from 0 at rate -1: the parameters are the noisy mean."""
    params, slot = np.zeros(total.units.shape, np.float32), np.zeros(total.units.shape, np.float32)
    rate, rows = np.float32([[-1, 0.9]] * len(params)), slice(0, len(params))
    made.until_settled(noisy_update(momentum, 1), total, step, rows, params, (slot,), rate)
    return torch.from_numpy(params)


PATHS = {
    "compiled": lambda made, total, step: made.noisy_mean(total, step, slice(0, len(total.units))),
    "update": by_update,
    "torch": lambda made, total, step: made._in_torch(total, step, slice(0, len(total.units))),
}


@pytest.mark.parametrize("kind", [torch.int32, torch.int64])
@pytest.mark.parametrize("multiplier", [1e-9, 0.7, 4.0, HUGE])
@pytest.mark.parametrize("path", PATHS)
def test_a_noisy_mean_is_the_sum_and_rounded_normals_in_units(path, multiplier, kind):
    """By every maker the same whole numbers, those of the stream: at a huge scale most are settled
    with many digits, in the middle of a step and of its blocks."""
    width = BLOCK + 700 if multiplier < HUGE else 600
    units = torch.randint(-(2**30), 2**30, (3, width)).to(kind)
    made, total = maker(3, multiplier, 8.0), sums(units, [1.0, 0.3, 1e-12])
    found = PATHS[path](made, total, 9)
    for k, bound in enumerate([1.0, 0.3, 1e-12]):
        scale = multiplier * UNITS
        added = Randomness.simulation(0).rounded_normals(Purpose.NOISE, k, 9, scale, width)
        expected = (units[k].double() + torch.from_numpy(added)) * (bound / UNITS / 8.0)
        assert torch.equal(found[k], expected.float())


@pytest.mark.parametrize("path", PATHS)
def test_without_noise_the_sum_is_as_it_was(path):
    """One candidate with noise beside one without."""
    total = sums(torch.randint(-(2**20), 2**20, (2, 3000), dtype=torch.int32))
    mean = PATHS[path](maker(2, [0.0, 1.0], 8.0), total, 1)
    assert torch.equal(mean[0] * 8.0, total.values[0])
    assert not torch.equal(mean[1] * 8.0, total.values[1])


def test_parts_of_a_cohort_make_the_same_noise():
    total = sums(torch.zeros(3, 1000, dtype=torch.int32))
    made = maker(3, 2.0)
    whole = made.noisy_mean(total, 5, slice(0, 3))
    assert torch.equal(made.noisy_mean(total, 5, slice(1, 2)), whole[1:2])


@pytest.mark.parametrize("device", ["compiled", "torch"])
def test_a_training_releases_whole_units(monkeypatch, device):
    """One step of DPSGD from 0 at rate 1: every parameter is a noisy mean, its sign changed."""
    if device == "torch":
        group = cohort_training._Group
        monkeypatch.setattr(group, "_compiled", group._in_torch)
        monkeypatch.setattr(noise.NoiseMaker, "noisy_mean", noise.NoiseMaker._in_torch)
    rows = examples(torch.randn(50, 9), torch.arange(50) % 3)
    grid = [
        oracles.candidate("dpsgd", learning_rate=1.0, noise_multiplier=sigma, clip_norm=0.25)
        for sigma in (0.5, 1.1, 4.0)
    ]
    made = train(
        Linear(9, 3), rows, grid, Schedule(steps=1, lot_size=8), Randomness.simulation(0),
        initial=torch.zeros(3, 30),
    )  # fmt: skip
    units = made.stacked.double() * 8 / 0.25 * UNITS
    assert torch.equal(units, units.round())
    assert (units.abs().max(1).values > 1000).all()
    odd = (units % 2 != 0).double().mean()
    assert 0.2 < odd < 0.8  # and of no coarser grid, as far as float32 holds them
