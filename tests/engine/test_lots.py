"""Lots are Poisson: each row in or out by its own coin, independent of all others."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from honestdp.engine import lots as lots_module
from honestdp.engine.lots import Lots, LotSampler
from honestdp.randomness import Randomness

ALPHA = 1e-6


def included(n: int, q: float, candidates: int, steps: int, seed: int = 0) -> np.ndarray:
    """[step, candidate, row]: is the row in the lot?"""
    numbers = np.arange(candidates, dtype=np.uint32)
    sampler = LotSampler(n, q, numbers, Randomness.simulation(seed))
    found = np.zeros((steps, candidates, n), bool)
    for step in range(steps):
        lots = sampler.draw(step)
        for k in range(candidates):
            rows = lots.rows[k, : lots.counts[k]]
            assert (np.diff(rows) > 0).all()
            found[step, k, rows] = True
    return found


def z_limit(tests: int = 1) -> float:
    return stats.norm.isf(ALPHA / 2 / tests)


@pytest.mark.parametrize("q", [0.02, 0.3, 0.9])
def test_every_row_is_a_coin_of_probability_q(q):
    n, draws = 50, 20_000  # 10^6 coins
    x = included(n, q, 10, draws // 10).reshape(draws, n)
    rows = (x.sum(0) - draws * q) / np.sqrt(draws * q * (1 - q))
    assert np.abs(rows).max() < z_limit(n)
    assert abs(x.sum() - x.size * q) / np.sqrt(x.size * q * (1 - q)) < z_limit()
    # The lot's size is binomial: its variance too.
    counts = x.sum(1)
    spread = (counts.var() / (n * q * (1 - q)) - 1) / np.sqrt(2 / draws)
    assert abs(spread) < z_limit()


def test_rows_are_independent_of_each_other():
    n, draws, q = 40, 25_000, 0.2
    x = included(n, q, 5, draws // 5).reshape(draws, n) - q
    covariance = x.T @ x / draws / (q * (1 - q)) * np.sqrt(draws)
    pairs = covariance[np.triu_indices(n, 1)]
    assert np.abs(pairs).max() < z_limit(len(pairs))
    assert np.abs(pairs).std() < 1  # and not all too small either


def test_lots_are_independent_between_candidates_and_steps():
    n, q, steps = 100, 0.1, 2000
    x = included(n, q, 5, steps) - q
    unit = q * (1 - q)
    for a in range(5):
        for b in range(a):
            together = (x[:, a] * x[:, b]).sum() / unit / np.sqrt(steps * n)
            assert abs(together) < z_limit(10)
    for lag in (1, 2, 7):
        together = (x[lag:] * x[:-lag]).sum() / unit / np.sqrt(x[lag:].size)
        assert abs(together) < z_limit(3)


def test_all_rows_and_almost_none():
    assert included(30, 1.0, 2, 3).all()
    few = included(1000, 1e-5, 1, 200)
    assert few.sum() < 20
    assert (few.sum(2) == 0).any()


def test_a_lot_larger_than_the_buffer_is_whole():
    numbers = np.arange(3, dtype=np.uint32)
    sampler = LotSampler(5000, 0.5, numbers, Randomness.simulation(1))
    expected = sampler.draw(4)
    rows, counts = expected.rows.copy(), expected.counts.copy()
    sampler._rows = np.empty((3, 7), np.int32)
    again = sampler.draw(4)
    assert again.counts.tolist() == counts.tolist()
    for k in range(3):
        assert (again.rows[k, : counts[k]] == rows[k, : counts[k]]).all()


@pytest.mark.parametrize("width", [1, 3, 100])
def test_chunks_hold_every_row_once(width):
    lots = Lots(np.arange(21, dtype=np.int32).reshape(3, 7), np.array([7, 0, 4], np.int32))
    seen: list[list[int]] = [[], [], []]
    for rows, mask in lots.chunks(width, torch.device("cpu")):
        assert rows.shape[1] <= width
        for k in range(3):
            seen[k] += rows[k][mask[k]].tolist()
    assert seen == [list(range(7)), [], [14, 15, 16, 17]]


def test_cost_is_of_the_lot_not_of_the_rows():
    """Numbers drawn per lot follow its size: the buffer does not grow with n."""
    numbers = np.arange(2, dtype=np.uint32)
    small = LotSampler(10_000, 0.01, numbers, Randomness.simulation(0))
    large = LotSampler(1_000_000, 0.0001, numbers, Randomness.simulation(0))
    assert small._rows.shape == large._rows.shape


def test_a_gap_in_doubt_is_settled_and_is_what_it_would_have_been(monkeypatch):
    """Every third draw is said to be in doubt: the lots are the same to the last row."""
    n, q = 400, 0.05
    sampler = LotSampler(n, q, np.arange(3, dtype=np.uint32), Randomness.simulation(4))
    sound = sampler.draw(7)
    rows, counts = sound.rows.copy(), sound.counts.copy()
    gap, asked = lots_module._gap, []

    def doubtful(bits, log_stay_out, most):
        asked.append(bits)
        return -1 if bits % 3 == 0 else gap(bits, log_stay_out, most)

    monkeypatch.setattr(lots_module, "_gap", doubtful)
    monkeypatch.setattr(lots_module, "_draw", lots_module._draw.py_func)
    again = sampler.draw(7)
    assert (again.counts == counts).all()
    for k in range(3):
        assert (again.rows[k, : counts[k]] == rows[k, : counts[k]]).all()
    assert len(asked) > 3 * n * q


@pytest.mark.parametrize("q", [1e-6, 0.004, 0.3, 0.99])
def test_a_gap_is_in_doubt_where_the_bits_do_not_tell(q):
    """The cells of 53 bits that hold a border between two gaps, and those beside them."""
    with mpmath.workprec(200):
        log_stay_out = mpmath.log1p(-mpmath.mpf(q))
        for k in (1, 2, 3, 10, 50):
            border = mpmath.exp(k * log_stay_out) * 2**53
            cell = int(mpmath.floor(border))
            if cell < 2**20:
                continue
            assert lots_module._gap(np.uint64(cell), float(log_stay_out), 10**9) == -1
            for away, expected in ((-(2**16), k), (2**16, k - 1)):
                if 0 < cell + away < 2**53:
                    gap = lots_module._gap(np.uint64(cell + away), float(log_stay_out), 10**9)
                    assert gap in (expected, -1)


@settings(max_examples=300, deadline=None)
@given(bits=st.integers(1, 2**53 - 1), q=st.floats(1e-9, 0.999))
def test_a_settled_gap_is_the_one_of_real_numbers(bits, q):
    with mpmath.workprec(200):
        log_stay_out = mpmath.log1p(-mpmath.mpf(q))
        gap = lots_module._gap(np.uint64(bits), float(log_stay_out), 2**31)
        ends = [
            mpmath.floor(mpmath.log((bits + e) / mpmath.mpf(2) ** 53) / log_stay_out)
            for e in (0, mpmath.mpf(1) - mpmath.mpf(2) ** -100)
        ]
    if gap >= 0:
        assert [min(int(end), 2**31) for end in ends] == [gap, gap]
