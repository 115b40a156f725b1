"""The noisy sum's grid: nothing leaves that is not on it, however it was made."""

from __future__ import annotations

import math

import numpy as np
import oracles
import pytest
import torch

from honestdp.engine import Linear, Randomness, Schedule, examples, noise, train, work
from honestdp.engine.clipping import ClippedSum
from honestdp.engine.formulas import sgd
from honestdp.engine.kernels.update import CODES, noisy_update
from honestdp.engine.noise import NoiseMaker
from honestdp.engine.normal import _grid, normals, on_grid
from honestdp.randomness import Purpose

LOT = 8.0  # a power of two: a mean times the lot is the sum, to the last bit
SCALES = [1.0, 0.7, float(np.nextafter(np.float32(2), np.float32(0))), 37.5, 1e-6, 1e9]


def step_of(scale: float) -> float:
    return 2.0 ** math.floor(math.log2(scale / 1024))


def noise_maker(scales: list[float], lot: float = LOT) -> NoiseMaker:
    numbers = np.arange(len(scales), dtype=np.uint32)
    return NoiseMaker(numbers, torch.tensor(scales), lot, Randomness.simulation(0))


def by_update(made: NoiseMaker, total: ClippedSum) -> torch.Tensor:
    """DPSGD from 0 at rate -1: the parameters are the noisy mean."""
    params, slot = np.zeros_like(total.values.numpy()), np.zeros_like(total.values.numpy())
    rate, rows = -np.ones((len(params), 1), np.float32), slice(0, len(params))
    noisy_update(*made.stated(total, 1, rows), CODES[sgd], params, slot, slot, rate)
    return torch.from_numpy(params)


PATHS = {
    "compiled": lambda made, total: made.noisy_mean(total, 1, slice(0, len(total.values))),
    "update": by_update,
    "torch": lambda made, total: made._in_torch(total, 1, slice(0, len(total.values))),
}
every_path = pytest.mark.parametrize("path", PATHS)


def sums(scales: list[float], width: int = 5000) -> ClippedSum:
    """Sums as large as their noise, of all their float32 digits."""
    drawn = torch.randn(len(scales), width, generator=torch.Generator().manual_seed(0))
    return ClippedSum(drawn * torch.tensor(scales).unsqueeze(1), torch.ones(len(scales)))


@every_path
def test_every_noisy_sum_is_on_the_grid_next_to_it(path):
    made, total = noise_maker(SCALES), sums(SCALES)
    noisy = PATHS[path](made, total).double() * LOT
    steps = torch.tensor([[step_of(scale)] for scale in made.multipliers.tolist()]).double()
    points = noisy / steps
    assert torch.equal(points, points.round())
    odd = (points % 2 != 0).double().mean(1)
    assert ((odd > 0.45) & (odd < 0.55)).all()  # and on no coarser one
    key = torch.from_numpy(made.key.view(np.int32))
    z = normals(key, Purpose.NOISE, torch.arange(len(SCALES), dtype=torch.int32), 1, 5000)
    exact = total.values.double() + made.multipliers.double().unsqueeze(1) * z
    assert ((noisy - exact).abs() / steps).max() < 0.5 + 0.02  # z differs by a float32's rounding


@every_path
def test_without_noise_the_sum_is_as_it_was(path):
    """One candidate with noise beside one without."""
    total = sums([1.0, 1.0])
    mean = PATHS[path](noise_maker([0.0, 1.0]), total)
    assert torch.equal(mean[0] * LOT, total.values[0])
    assert not torch.equal(mean[1] * LOT, total.values[1])


@every_path
@pytest.mark.parametrize("scale", [1e-30, 1e-42])
def test_a_sum_beyond_the_grid_of_float32_is_the_float32_next_to_its_point(path, scale):
    total = ClippedSum(torch.tensor([[1e12, -3.1, 1e-20]]), torch.ones(1))
    assert torch.equal(PATHS[path](noise_maker([scale], 1.0), total), total.values)


@pytest.mark.parametrize("exponent", [-140, -40, -1, 0, 1, 10, 69])
def test_the_step_is_exact_around_powers_of_two(exponent):
    power = np.float32(2.0**exponent)
    around = [np.nextafter(power, np.float32(0)), power, np.nextafter(power, np.float32(np.inf))]
    assert [_grid(scale) for scale in around] == [
        2.0 ** (exponent - 11), 2.0 ** (exponent - 10), 2.0 ** (exponent - 10)
    ]  # fmt: skip
    for scale in around:
        scales = torch.full((3,), float(scale), dtype=torch.float64)
        near = torch.tensor([0.4, 0.6, 7.4], dtype=torch.float64)
        assert (on_grid(near * _grid(scale), scales) / _grid(scale)).tolist() == [0, 1, 7]


@pytest.mark.parametrize("device", ["compiled", "torch"])
def test_a_training_releases_points_of_the_grid(monkeypatch, device):
    """One step of DPSGD from 0 at rate 1: every parameter is a noisy mean, its sign changed."""
    if device == "torch":
        monkeypatch.setattr(work._Group, "_compiled", work._Group._in_torch)
        monkeypatch.setattr(noise.NoiseMaker, "noisy_mean", noise.NoiseMaker._in_torch)
    rows = examples(torch.randn(50, 9), torch.arange(50) % 3)
    grid = [
        oracles.candidate("dpsgd", learning_rate=1.0, noise_multiplier=sigma, clip_norm=0.3)
        for sigma in (0.5, 1.1, 4.0)
    ]
    start = torch.zeros(3, 30)
    one_step = Schedule(steps=1, lot_size=LOT)
    made = train(Linear(9, 3), rows, grid, one_step, Randomness.simulation(0), initial=start)
    for row, one in zip(made.stacked.double(), grid, strict=True):
        points = row * LOT / step_of(one.noise_multiplier * 0.3)
        assert torch.equal(points, points.round())
        assert points.abs().max() > 100
