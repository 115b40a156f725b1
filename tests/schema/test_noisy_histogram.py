"""Noisy histograms: what stands out, how far a tail is followed, and outer ranges far too wide."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honestdp.schema import Numeric
from honestdp.schema.cells import cells
from honestdp.schema.noisy_histogram import BY_CHANCE, FAINT, Histogram, cell_edges, tail

OUTER = [(0.0, 1e4), (0.0, 1e6), (0.0, 1e8), (-1e6, 1e6), (-1e8, 0.5e8)]
NOISE = 33.0  # of four columns at epsilon 1 and a share of 0.05


@settings(deadline=None)
@given(st.lists(st.floats(-1e3, 1e3), max_size=40), st.floats(0.01, 100))
def test_a_tail_falls_ends_where_the_sum_is_largest_and_keeps_it(counts, noise):
    noisy = np.array(counts)
    found = tail(noisy, noise)
    assert found.shape == noisy.shape
    paths = [noisy[:k].sum() - FAINT * noise * k for k in range(len(noisy) + 1)]
    end = int(np.argmax(paths))
    assert (found[end:] == 0).all()
    assert (found[:end] > 0).all()
    assert (np.diff(found) <= 1e-9 * (1 + np.abs(noisy).max(initial=0))).all()
    assert found.sum() == pytest.approx(noisy[:end].sum(), abs=1e-6)


def test_a_tail_of_noise_alone_is_short():
    source = np.random.default_rng(1)
    ends = [np.count_nonzero(tail(NOISE * source.standard_normal(200), NOISE)) for _ in range(500)]
    bound = sum(k * np.exp(-(FAINT**2) * k / 2) for k in range(1, 201))  # of the docstring
    assert np.mean(ends) < min(bound, 10)


def test_noise_alone_hardly_ever_stands_out():
    source, edges = np.random.default_rng(2), cell_edges(0, 1, 512)
    noisy = NOISE * source.standard_normal((2000, 512))
    noisy[:, 100] += 1e4  # all rows are in one cell
    found = [Histogram.clear(edges, one, NOISE, 10_000) for one in noisy]
    far = [one.counts[:60].any() or one.counts[140:].any() for one in found]
    assert sum(far) <= 3 + 2000 * BY_CHANCE


@pytest.mark.parametrize("outer", OUTER)
def test_learnt_bounds_are_good_over_orders_of_magnitude(outer):
    """8,000 costs up to about 2,650, as in issue 16; the range is up to 40,000 times too wide."""
    source = np.random.default_rng(3)
    rows = np.minimum(np.exp(4.6 + 0.85 * source.standard_normal(8000)), 2650)
    rows *= -1 if sum(outer) < 0 else 1
    column = Numeric(name="cost", bounds="learn", outer=outer)
    exact = np.bincount(column.bin_of(cells(rows), 512), minlength=512)
    inside = []
    for _ in range(20):
        low, high = column.learnt_from(exact + NOISE * source.standard_normal(512), NOISE, 8000)
        width = np.abs([low, high]).max()
        assert 300 < width < 2500, (low, high)  # the 99th percentile is at 720
        inside.append(np.mean((rows >= low) & (rows <= high)))
    assert min(inside) > 0.88
    assert np.mean(inside) > 0.94
