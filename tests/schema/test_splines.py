"""Linear splines: the weights of a number are those of its two knots, whatever the knots are."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honestdp.schema import Numeric, Schema, Target
from honestdp.schema.cells import cells as cells_of

bounds = st.sampled_from([(0.0, 1.0), (0.0, 110.0), (-3.0, 110.0), (-9.0, -1.0), (5.0, 1e6)])
cells = st.lists(st.floats(width=64) | st.none(), max_size=20)
edges = st.sampled_from(["equal", "sqrt", "log", "listed"])


def splines(pair: tuple[float, float], spaced: str, pieces: int, missing: Any) -> Numeric:
    low, high = pair
    listed = [low + (high - low) * share**3 for share in np.linspace(0, 1, pieces + 1)[1:-1]]
    facts = {"edges": listed} if spaced == "listed" else {"edges": spaced, "bins": pieces}
    return Numeric(name="x", bounds=pair, encode="spline", missing=missing, **facts)


def weights(column: Numeric, values: list[Any]) -> np.ndarray:
    """[row, encoded column]"""
    schema = Schema(name="s", columns=[column], target=Target(column="y", classes=["a", "b"]))
    return schema.encode_inputs({"x": values}, sparse=False).astype(np.float64)


@settings(deadline=None)
@given(bounds, edges, st.integers(2, 40), st.sampled_from([None, "own"]), cells)
def test_weights_are_shares_of_the_two_knots_around_a_number(pair, spaced, pieces, missing, values):
    column = splines(pair, spaced, pieces, missing)
    found = weights(column, values)
    own = int(missing == "own")
    assert found.shape == (len(values), pieces + 1 + own)
    assert (found >= 0).all()
    assert found.sum(axis=1) == pytest.approx(np.ones(len(values)), abs=1e-6)
    for row in found:
        at = np.flatnonzero(row)
        assert len(at) <= 2
        assert len(at) < 2 or at[1] == at[0] + 1
    known = np.array([v is not None and bool(np.isfinite(v)) for v in values], dtype=bool)
    if own:
        assert np.array_equal(found[:, -1] == 1, ~known)
    knots = np.array(column.knots)
    clipped = np.clip(np.array(values, dtype=float)[known], *pair)
    drawn = found[known][:, : pieces + 1] @ knots  # a straight line is drawn as it is
    assert drawn == pytest.approx(clipped, abs=1e-6 * np.abs(pair).max())


@settings(deadline=None)
@given(bounds, edges, st.integers(2, 40), st.sampled_from([None, "own"]))
def test_a_knot_has_all_of_its_own_weight(pair, spaced, pieces, missing):
    """So any function that is straight between knots is drawn exactly."""
    column = splines(pair, spaced, pieces, missing)
    knots = column.knots
    assert len(knots) == pieces + 1
    assert (knots[0], knots[-1]) == pair
    assert all(a < b for a, b in pairwise(knots))
    found = weights(column, list(knots))
    assert np.array_equal(found[:, : pieces + 1], np.eye(pieces + 1))


@pytest.mark.parametrize("missing", [None, 0.25, "own"])
def test_a_missing_cell_is_its_declared_number_or_a_case_apart(missing):
    column = splines((0.0, 1.0), "equal", 4, missing)
    found = weights(column, [None, "abc", float("nan"), float("inf"), 0.9])[:4]
    wanted = np.zeros(column.width)
    wanted[{None: 2, 0.25: 1, "own": 5}[missing]] = 1
    assert np.array_equal(found, np.tile(wanted, (4, 1)))


def test_other_cells_move_no_knot():
    column = Numeric(name="x", bounds=(0, 10), encode="spline", bins=5)
    for cell in (0.5, 3.3, 9.5):  # in the first piece, within, in the last
        alone = column.encode(cells_of([cell]))
        for others in ([], [0.1, 9.9], [-1e9, 1e9, 4.0]):
            beside = column.encode(cells_of([cell, *others]))
            assert np.array_equal(alone.positions[0], beside.positions[0])
            assert np.array_equal(alone.values[0], beside.values[0])
