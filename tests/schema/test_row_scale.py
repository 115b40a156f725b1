"""The scale of rows: learnt from a noisy histogram of their norms, and from nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from honestdp.errors import InputError
from honestdp.schema import Counts, Numeric, Schema, Target, learn
from honestdp.schema.kinds.base import BLOCK_NORM
from honestdp.schema.learn import OCTAVES, ROW_NORM, learn_row_scale
from honestdp.units import UNITS

BINS = 8 * OCTAVES


def normals(seed: int):
    source = np.random.default_rng(seed)
    return lambda scale, count: np.rint(scale * source.standard_normal(count)).astype(np.int64)


def no_noise(scale: float, count: int) -> np.ndarray:
    return np.zeros(count, np.int64)


def counted(rows: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    """The exact counts that the scale is learnt from."""
    seen: list[np.ndarray] = []
    sound = learn._with_noise
    with monkeypatch.context() as patch:
        patch.setattr(learn, "_with_noise", lambda e, *how: seen.append(e) or sound(e, *how))
        learn_row_scale(rows, 1.0, 1.0, no_noise)
    return seen[0]


def made(law: str, seed: int) -> np.ndarray:
    """Rows of several laws, 3,000 of them."""
    source = np.random.default_rng(seed)
    rows = source.standard_normal((3000, 7))
    if law == "skewed":
        rows *= source.lognormal(0, 0.5, (3000, 1))
    if law == "a tenth are not zero":
        rows *= source.random((3000, 1)) < 0.1
    if law == "tiny":
        rows *= 1e-4
    return rows.astype(np.float32)


@pytest.mark.parametrize("law", ["normal", "skewed", "a tenth are not zero", "tiny"])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_typical_row_gets_the_norm_that_was_wanted(law: str, sparse: bool) -> None:
    """Within 20 %, with the noise of a small budget: 5 of a count.

    The few long rows of a heavier tail do not stand out from the noise; then rows come out longer.
    """
    for seed in range(20):
        rows = made(law, seed)
        squares = (rows.astype(float) ** 2).sum(axis=1)
        rms = np.sqrt(squares[squares > 0].mean())
        given = csr_matrix(rows) if sparse else rows
        found = learn_row_scale(given, 1.0, 5.0, normals(seed))
        assert 0.8 < found * rms / ROW_NORM < 1.25


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(-1e6, 1e6, width=32), min_size=2, max_size=12),
    st.floats(-1e6, 1e6, width=32),
)
def test_a_record_moves_one_count_by_one(values: list[float], one: float) -> None:
    with pytest.MonkeyPatch.context() as patch:
        rows = np.array([*values, one], np.float32)[:, None]
        null = np.array([*values, 0.0], np.float32)[:, None]
        counts, without = counted(rows, patch), counted(null, patch)
    assert counts.shape == (BINS,)
    assert np.abs(counts - without).sum() == (one != 0)
    assert counts.sum() == np.count_nonzero(rows)


def test_a_row_answers_once_however_many_cells_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(1).random((50, 9), dtype=np.float32)
    assert counted(rows, monkeypatch).sum() == 50
    assert counted(csr_matrix(rows), monkeypatch).sum() == 50
    rows[:20] = 0  # as null records are
    assert counted(rows, monkeypatch).sum() == counted(csr_matrix(rows), monkeypatch).sum() == 30


def test_every_count_is_noised_and_nothing_else_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws that undo the counts hide the rows: then the scale is that of public facts."""
    rows = np.full((500, 2), 30.0, np.float32)
    exact = counted(rows, monkeypatch)
    asked: list[tuple[float, int]] = []

    def undo(scale: float, count: int) -> np.ndarray:
        asked.append((scale, count))
        return -exact * UNITS

    assert learn_row_scale(rows, 1.5, 3.0, undo) == ROW_NORM / 1.5
    assert asked == [(3.0 * UNITS, BINS)]
    elsewhere = -exact * UNITS
    elsewhere[100] += 500 * UNITS  # which rows stand out, too, is what the noise says
    middle = 2.0 ** (100.5 / 4 - OCTAVES)
    found = learn_row_scale(rows, 1.5, 3.0, lambda *_: elsewhere)
    assert found == pytest.approx(ROW_NORM / middle)


def test_few_rows_and_much_noise_leave_the_guess() -> None:
    rows = made("normal", 1)[:10]
    found = [learn_row_scale(rows, 1.5, 100.0, normals(seed)) for seed in range(100)]
    assert np.mean(np.array(found) == ROW_NORM / 1.5) > 0.8


def test_noise_far_from_every_row_does_not_ruin_the_scale() -> None:
    """One count of noise at a norm of 2^20 would make the scale a millionth of what it should be,
    and did in one run of 40 as long as 3.4 deviations stood out."""
    rows = np.full((8000, 1), 1.2, np.float32)
    found = [learn_row_scale(rows, 9.0, 37.0, normals(seed)) for seed in range(500)]
    assert ROW_NORM / 1.5 < min(found) <= max(found) < ROW_NORM / 1.0


def test_wrong_noise_is_refused() -> None:
    for noise in (0.0, -1.0, 2e6):
        with pytest.raises(InputError, match="noise_multiplier"):
            learn_row_scale(np.ones((2, 2), np.float32), 1.0, noise, no_noise)


# What scales rows: each by itself


def words(**facts) -> Schema:
    columns = (*(Counts(name=f"w{i}") for i in range(6)), Numeric(name="n", bounds=(0, 9)))
    return Schema(name="w", target=Target(column="y", classes=["a", "b"]), columns=columns, **facts)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("facts", [{}, {"row_norm": 2.0}, {"row_scale": 0.5}], ids=str)
def test_rows_are_scaled_by_their_own_cells(facts, sparse: bool) -> None:
    schema = words(**facts)
    cells = np.random.default_rng(1).integers(0, 5, (30, 7)).astype(float)
    cells[3] = 0

    def encoded(rows: np.ndarray) -> np.ndarray:
        table = dict(zip(schema.input_names, rows.T, strict=True))
        found = schema.encode_inputs(table, sparse=sparse)
        return found.toarray() if sparse else found

    whole = encoded(cells)
    for i in range(30):
        assert np.array_equal(encoded(cells[[i]])[0], whole[i])
    own = np.linalg.norm(whole[:, :6], axis=1)[cells[:, :6].any(axis=1)]
    if not facts:
        assert own == pytest.approx(np.full(len(own), BLOCK_NORM), rel=1e-5)
    if "row_norm" in facts:
        filled = np.linalg.norm(whole, axis=1)[cells.any(axis=1)]
        assert filled == pytest.approx(np.full(len(filled), 2.0), rel=1e-5)
