"""Slope and offset from noisy counts: right where counts are exact, cautious where they are not."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.special import expit

from honestdp.engine.losses import Loss
from honestdp.evaluation import calibrator
from honestdp.evaluation.platt import BINS, COUNTED, EDGES, LOG_ODDS, Platt, platt
from honestdp.evaluation.temperature import Temperature

MANY = 1e5


def counts(slope: float, offset: float, rows: float = MANY) -> np.ndarray:
    """The expected counts of rows that lie on the middles of the bins."""
    p = expit(slope * LOG_ODDS + offset)
    return rows / BINS * np.stack([1 - p, p])


@pytest.mark.parametrize(("slope", "offset"), [(0.5, 0.0), (1.0, 0.8), (0.7, -1.2), (1.4, 0.3)])
def test_it_finds_what_bent_the_log_odds(slope: float, offset: float) -> None:
    assert platt(counts(slope, offset), 4.0) == pytest.approx((slope, offset), abs=0.02)


def test_a_rare_class_is_not_made_frequent_by_noise() -> None:
    """Counts below 0 stand for none: taken as 0, noise would add rows of the rare class."""
    rng, exact = np.random.default_rng(0), np.zeros((2, BINS))
    exact[:, 1:4] = [[1500, 300, 100], [20, 20, 60]]
    found = [platt(exact + rng.normal(0, 10, exact.shape).round(), 10.0) for _ in range(40)]
    means = [float(exact.sum(0) @ expit(a * LOG_ODDS + b)) for a, b in found]
    assert np.mean(means) == pytest.approx(100, rel=0.2)


@pytest.mark.parametrize("scale", [1.0, 1e3])
def test_noise_alone_changes_little(scale: float) -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        slope, offset = platt(rng.normal(0, scale, (2, BINS)).round(), scale)
        assert 0.6 < slope < 1.4
        assert abs(offset) < 0.4


def test_rows_keep_their_order_whatever_was_counted() -> None:
    rng = np.random.default_rng(2)
    given = [counts(-3.0, 0.0), -counts(1.0, 0.0), *rng.normal(0, 1e4, (20, 2, BINS))]
    for found in given:
        slope, offset = platt(found, 1.0)
        assert slope > 0
        assert np.isfinite(offset)


def test_the_share_is_of_the_second_class_and_a_probability() -> None:
    one = Platt()
    assert one.share({COUNTED: counts(1.0, -2.0)}) == pytest.approx(
        float(expit(LOG_ODDS - 2).mean())
    )
    for noisy in (np.full((2, BINS), -3.0), np.array([np.full(BINS, 9.0), np.full(BINS, -9.0)])):
        assert 0 < one.share({COUNTED: noisy}) < 1


def test_a_row_is_counted_by_its_class_and_its_log_odds() -> None:
    outputs = torch.tensor([[[-9.0], [0.5], [4.0], [6.0], [7.0]]])
    targets = torch.tensor([0, 1, 1, 0, -1])  # the last is of no class
    found = Platt().levels[0].cells(Loss.of(2), outputs, targets)
    assert found.tolist() == [[0, BINS + 3, BINS + 5, 5, -1]]
    assert len(EDGES) + 1 == BINS == len(LOG_ODDS)


def softmax_rows(slope: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Outputs, and targets drawn from the softmax of slope times them."""
    source = torch.Generator().manual_seed(3)
    outputs = 2 * torch.randn(20_000, 5, generator=source)
    chances = torch.softmax(slope * outputs, 1)
    return outputs.unsqueeze(0), torch.multinomial(chances, 1, generator=source).squeeze(1)


@pytest.mark.parametrize("slope", [0.5, 0.8, 1.0])
def test_it_finds_the_temperature_of_many_classes(slope: float) -> None:
    outputs, targets = softmax_rows(slope)
    one, loss = Temperature(5), Loss.of(5)
    found = {}
    for level in one.levels:
        cells = level.cells(loss, outputs, targets)[0]
        assert ((cells >= -1) & (cells < level.size)).all()
        found[level.name] = torch.bincount(cells[cells >= 0], minlength=level.size).double().numpy()
    assert found["right"][0] == float((outputs[0].argmax(1) == targets).sum())
    assert one.fit(found, 4.0) == (pytest.approx(slope, abs=0.1), 0.0)
    assert all((level.cells(loss, outputs, targets * 0 + 7) == -1).all() for level in one.levels)


def test_many_classes_and_noise_alone() -> None:
    rng, one = np.random.default_rng(4), Temperature(5)
    for _ in range(20):
        noisy = {level.name: rng.normal(0, 30, level.shape) for level in one.levels}
        slope, offset = one.fit(noisy, 30.0)
        assert 0.5 < slope < 1.5
        assert offset == 0.0


def test_which_is_for_which_target() -> None:
    assert calibrator(2).kind == "platt"
    assert calibrator(3).kind == "temperature"
