"""The noise: its law, its scale, its independence, and that both makers make the same."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import stats

from honestdp.engine.clipping import ClippedSum
from honestdp.engine.formulas import sgd
from honestdp.engine.kernels.update import CODES, noisy_update
from honestdp.engine.noise import NoiseMaker
from honestdp.engine.normal import _normals, add_normals, normals
from honestdp.randomness import Purpose, Randomness
from honestdp.randomness.chacha import BLOCKS, TILE, fill_tile

ALPHA = 1e-6


def maker(candidates: int, multiplier=1.0, lot: float = 1.0, seed: int = 0) -> NoiseMaker:
    multipliers = torch.as_tensor(multiplier, dtype=torch.float32).expand(candidates).contiguous()
    numbers = np.arange(candidates, dtype=np.uint32)
    return NoiseMaker(numbers, multipliers, lot, Randomness.simulation(seed))


def draw(candidates: int, width: int, step: int = 1, *, multiplier=1.0, sensitivity=1.0, lot=1.0):
    bound = torch.as_tensor(sensitivity, dtype=torch.float32).expand(candidates)
    total = ClippedSum(torch.zeros(candidates, width), bound)
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
    for lag in (1, 16, 128, 256):
        together = (z[lag:] * z[:-lag]).sum() / np.sqrt(len(z) - lag)
        assert abs(together) < stats.norm.isf(ALPHA / 8)


def test_blocks_are_parts_of_one_stream():
    """An update makes the noise block by block, and gets what the whole is made of."""
    total = ClippedSum(torch.arange(5000.0).repeat(2, 1), torch.ones(2))
    made, rows = maker(2, lot=10.0), slice(0, 2)
    whole = made.noisy_mean(total, 5, rows)
    assert torch.equal(made.noisy_mean(total, 5, slice(1, 2)), whole[1:2])
    part = np.empty(300, np.float32)
    key, purpose, numbers, step, sums, scales, divisor = made.stated(total, 5, rows)
    add_normals(key, purpose, numbers[1], step, sums[1], scales[1], divisor, 2048, part)
    assert (part == whole[1, 2048:2348].numpy()).all()
    params, slot = np.zeros((2, 5000), np.float32), np.zeros((2, 5000), np.float32)
    rate = -np.ones((2, 1), np.float32)  # DPSGD from zero: the parameters are the noisy mean
    noisy_update(*made.stated(total, 5, rows), CODES[sgd], params, slot, slot, rate)
    assert (params == whole.numpy()).all()


def test_torch_makes_the_same_noise():
    made = maker(3, 2.0, 5.0)
    total = ClippedSum(torch.randn(3, 1000), torch.tensor([1.0, 2.0, 3.0]))
    compiled = made.noisy_mean(total, 9, slice(1, 3))
    in_torch = made._in_torch(total, 9, slice(1, 3))
    apart = (compiled - in_torch).abs()
    # A sum in the middle between two points of the grid may be rounded to either.
    assert (apart > 2e-5).float().mean() < 0.01
    assert apart.max() < 2**-8 / 5.0 + 2e-5


def test_far_draws_agree_too():
    """The radius is largest where a word is near zero: all bits of it must count. The normals
    themselves, before a sum is rounded."""
    key = Randomness.simulation(3).key
    numbers = torch.arange(40, dtype=torch.int32)
    z = normals(torch.from_numpy(key.view(np.int32)), Purpose.NOISE, numbers, 1, 25_600)
    x = np.empty((40, 25_600), np.float32)
    tile = np.empty((16, BLOCKS), np.uint32)
    for k in range(40):
        for start in range(0, 25_600, TILE):
            stream = np.uint32(Purpose.NOISE), np.uint32(k), np.uint32(1), np.uint32(start // 16)
            fill_tile(key, *stream, tile)
            _normals(tile.reshape(TILE), x[k, start : start + TILE])
    assert z.abs().max() > 4.5
    assert torch.allclose(z, torch.from_numpy(x), atol=2e-5)
