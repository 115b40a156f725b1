"""Bounds learnt from noisy counts: sensitivity, noise, and what comes out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from schema_examples import small_schema

from honestdp.errors import InputError
from honestdp.schema import Categorical, Learnt, Numeric, Schema, learn_bounds
from honestdp.schema.cells import cells as cells_of
from honestdp.schema.learn import histogram
from honestdp.schema.numeric_learning import has_room
from honestdp.units import UNITS


def no_noise(scale: float, count: int) -> np.ndarray:
    return np.zeros(count, np.int64)


def normals(seed: int) -> Callable[[float, int], np.ndarray]:
    """Rounded normals of NumPy's, whole units each."""
    source = np.random.default_rng(seed)
    return lambda scale, count: np.rint(scale * source.standard_normal(count)).astype(np.int64)


def wages(**facts: object) -> Schema:
    learn = {"bounds": "learn", "outer": (0, 1000)} | facts
    return small_schema(
        columns=[
            Numeric(name="wage", **learn),
            Categorical(name="job", categories=["a"]),
            Numeric(name="age", bounds=(0, 100)),
            Numeric(name="debt", **learn),
        ]
    )


def table(wage: object) -> dict[str, object]:
    rows = len(wage)  # type: ignore[arg-type]
    return {"wage": wage, "debt": wage, "job": ["a"] * rows, "age": [1] * rows}


def test_learnt_bounds_are_near_the_quantiles() -> None:
    rng = np.random.default_rng(5)
    cells = rng.normal(300, 40, 20_000)
    schema, learnt = learn_bounds(wages(), table(cells), 20.0, normals(6))
    assert learnt == Learnt(("wage", "debt"), 20.0)
    assert schema.to_learn == []
    low, high = np.quantile(cells, [0.01, 0.99])
    for column in (schema.columns[0], schema.columns[3]):
        assert isinstance(column, Numeric)
        found = column.range
        assert abs(found[0] - low) < 25
        assert abs(found[1] - high) < 25
    assert schema.columns[1:3] == wages().columns[1:3]
    assert schema.encode_inputs(table(cells)).shape == (20_000, 4)
    assert Schema.from_toml(schema.to_toml()) == schema


def test_without_noise_the_quantiles_are_those_of_the_bins() -> None:
    cells = np.arange(1000) + 0.5
    declared = wages(quantiles=(0.25, 0.75))
    schema, _ = learn_bounds(declared, table(cells), 1e-9, no_noise)
    assert schema.columns[0].bounds == pytest.approx((250, 750), abs=4)
    schema, _ = learn_bounds(wages(quantiles=(0, 1)), table(cells), 1e-9, no_noise)
    assert schema.columns[0].bounds == pytest.approx((0.5, 1000), abs=0.1)
    schema, _ = learn_bounds(wages(missing=0), table([500.5] * 99), 1e-9, no_noise)
    low, high = schema.columns[0].bounds
    assert schema.columns[0].missing == low == pytest.approx(500)
    assert high == pytest.approx(500, abs=4)


@given(
    rows=st.lists(st.one_of(st.floats(), st.none(), st.text(max_size=3)), min_size=1, max_size=20),
    draws=st.integers(0, 2**32),
    noise=st.sampled_from([0.01, 1.0, 30.0, 1e6]),
)
@settings(max_examples=150, deadline=None)
def test_any_cells_give_bounds_within_the_outer_range(
    rows: list[object], draws: int, noise: float
) -> None:
    schema, _ = learn_bounds(wages(), table(rows), noise, normals(draws))
    for column in (schema.columns[0], schema.columns[3]):
        assert isinstance(column, Numeric)
        assert 0 <= column.range[0] < column.range[1] <= 1000


@given(
    values=st.lists(st.floats(-1e300, 1e300) | st.just(np.nan), min_size=1, max_size=30),
    outer=st.tuples(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300)).filter(
        lambda pair: pair[0] < pair[1] and has_room(*pair)
    ),
    bins=st.sampled_from([1, 2, 256]),
)
@settings(max_examples=200, deadline=None)
def test_a_record_moves_one_count_by_one(
    values: list[float], outer: tuple[float, float], bins: int
) -> None:
    column = Numeric(name="wage", bounds="learn", outer=outer)
    counts = histogram(column, cells_of(np.array(values)), bins)
    null = histogram(column, cells_of(np.array([*values[:-1], np.nan])), bins)
    changes = np.abs(counts - null)
    assert changes.sum() == (0 if np.isnan(values[-1]) else 1)
    assert counts.sum() == np.isfinite(values).sum()
    assert len(counts) == bins


def test_every_count_is_noised_and_nothing_else_is_read() -> None:
    """The bounds are a function of counts + noise * draws: draws that undo the counts hide them."""
    asked: list[tuple[float, int]] = []

    def undo(scale: float, count: int) -> np.ndarray:
        asked.append((scale, count))
        return -histogram(wages().columns[0], cells_of(cells), count) * UNITS

    cells = np.full(500, 10.0)
    schema, _ = learn_bounds(wages(), table(cells), 3.0, undo)
    assert schema.columns[0] == Numeric(name="wage", bounds=(0, 1000))
    assert asked == [(3.0 * UNITS, 512)] * 2  # whatever the cells are


def test_few_rows_and_much_noise_leave_the_outer_range() -> None:
    rng = np.random.default_rng(1)
    column = wages().columns[0]
    wide = [
        column.learnt_from(50.0 * rng.standard_normal(256), 50.0, rows=100) == (0, 1000)
        for _ in range(100)
    ]
    assert sum(wide) > 60


def test_nothing_to_learn_reads_nothing_and_costs_nothing() -> None:
    schema = small_schema()
    again, learnt = learn_bounds(schema, "no such file", 1.0, no_noise)
    assert again is schema
    assert learnt.columns == ()


def test_what_learning_refuses() -> None:
    good = table([1.0, 2.0])
    with pytest.raises(InputError, match="noise_multiplier=0"):
        learn_bounds(wages(), good, 0, no_noise)
    with pytest.raises(InputError, match="bins=3: must be a power of two"):
        learn_bounds(wages(), good, 1.0, no_noise, bins=3)
    with pytest.raises(InputError, match="512 whole numbers"):
        learn_bounds(wages(), good, 1.0, lambda scale, count: np.zeros(count + 1, np.int64))
    with pytest.raises(InputError, match="512 whole numbers"):
        learn_bounds(wages(), good, 1.0, lambda scale, count: np.full(count, np.nan))
    with pytest.raises(InputError, match="no column 'wage'"):
        learn_bounds(wages(), {"debt": [1]}, 1.0, no_noise)


@pytest.mark.parametrize("outer", [(1e6, 1e6 + 1e-4), (-1e300, 1e300)])
def test_no_noisy_count_makes_learnt_facts_impossible(outer):
    """What is learnt is a schema, whichever counts stand out: the run was paid for."""
    column = Numeric(
        name="x", bounds="learn", outer=outer, encode="both", bins=64, edges="learn", scale="learn"
    )
    with np.errstate(all="raise", under="ignore"):
        for cell in range(512):
            noisy = np.zeros(512)
            noisy[cell] = 1000.0
            assert not column.with_learnt(column.learnt_from(noisy, 1.0, 1000)).learns


def test_a_range_without_room_is_refused_before_it_is_paid_for():
    with pytest.raises(InputError, match="too narrow"):
        Numeric(name="x", bounds="learn", outer=(1e15, 1e15 + 1))
