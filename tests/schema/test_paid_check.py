"""The paid check: what one record changes, how often it errs, what it finds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from schema_examples import small_schema
from scipy.sparse import csr_matrix
from scipy.stats import norm

from honestdp.errors import InputError
from honestdp.randomness import Purpose, Randomness
from honestdp.schema import Categorical, Numeric, Schema, Target
from honestdp.schema import paid_check as paid
from honestdp.schema.paid_check import Group, PaidCheck, counts, decide, noisy_counts, plan_check
from honestdp.units import LARGEST_NOISE, UNITS

RICH = 1e4  # a budget that affords any check
NAMES = ("age", "job", "town")
EACH = tuple(Group(repr(name), (name,)) for name in NAMES)
KINDS = EACH[0], Group("2 columns of kind 'categorical'", ("job", "town"))
CELLS = st.sampled_from(
    [None, "", "5", 7, "1,5", "clerk", "CLERK", "north", "low", "Low", math.nan]
)
RECORDS = st.tuples(CELLS, CELLS, CELLS, CELLS)


def no_noise(scale: float, count: int) -> np.ndarray:
    return np.zeros(count, np.int64)


def normals(seed: int) -> Callable[[float, int], Any]:
    """The library's own exact draws."""
    source = Randomness.simulation(seed)
    return lambda scale, count: source.rounded_normals(Purpose.BOUNDS, 0, 0, scale, count)


def table(records: list[tuple[Any, ...]]) -> dict[str, list[Any]]:
    return {
        name: [record[i] for record in records] for i, name in enumerate((*NAMES, "pay"))
    }  # fmt: skip


def planned(rows: int, schema: Schema | None = None, budget: float = RICH) -> PaidCheck:
    found = plan_check(schema or small_schema(), rows, budget)
    assert found is not None
    return found


# Privacy


@given(records=st.lists(RECORDS, min_size=1, max_size=12), other=RECORDS, place=st.integers(0, 11))
@settings(max_examples=40, deadline=None)
def test_a_record_moves_each_count_by_at_most_one(
    records: list[Any], other: tuple[Any, ...], place: int
) -> None:
    schema, place = small_schema(), place % len(records)
    for groups in (EACH, KINDS, ()):
        check_moves(PaidCheck(groups, "pay", len(records), 1.0), schema, records, other, place)


def check_moves(
    check: PaidCheck, schema: Schema, records: list[Any], other: tuple[Any, ...], place: int
) -> None:
    before = counts(check, schema, table(records))
    for record in (other, (None,) * 4):  # another record; the null record
        after = counts(check, schema, table([*records[:place], record, *records[place + 1 :]]))
        moved = np.abs(after - before)
        assert moved.max() <= 1
        assert np.sqrt((moved**2).sum()) <= math.sqrt(check.questions)
    fewer = records[:place] + records[place + 1 :]
    if fewer:  # removed
        less = counts(replace(check, rows=len(fewer)), schema, table(fewer))
        assert np.abs(before - less).max() <= 1


def test_every_count_is_noised_with_the_scale_that_is_priced() -> None:
    asked: list[tuple[float, int]] = []

    def undo(scale: float, count: int) -> np.ndarray:
        asked.append((scale, count))
        return -counts(check, small_schema(), rows) * UNITS

    rows = table([("x", "x", "x", "x")] * 200)
    check = planned(200)
    assert noisy_counts(check, small_schema(), rows, undo) == [0.0] * 5
    assert asked == [(check.noise * UNITS, 5)]
    assert check.noise_multiplier * math.sqrt(5) <= check.noise
    assert check.noise_multiplier == pytest.approx(check.noise / math.sqrt(5), rel=1e-12)
    assert check.mu * check.noise_multiplier == pytest.approx(1)


def test_a_kind_cannot_answer_more_than_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, check = table([("5", "clerk", "north", "low")] * 9), planned(9)
    monkeypatch.setattr(Numeric, "unfit", lambda self, cells: np.full(len(cells), 1000))
    assert counts(check, small_schema(), rows).tolist() == [9, 0, 0, 0, 0]
    monkeypatch.setattr(Numeric, "unfit", lambda self, cells: np.ones(len(cells) + 1, bool))
    with pytest.raises(InputError, match="age: unfit of its kind"):
        counts(check, small_schema(), rows)


# Errors


@given(rows=st.integers(1, 10**9), columns=st.integers(0, 10_000))
@settings(max_examples=200, deadline=None)
def test_it_errs_once_in_a_million(rows: int, columns: int) -> None:
    """A draw crosses the threshold from a sound or a broken count with probability 1e-6 in all."""
    questions = columns + 2
    noise = paid.largest_noise(rows, questions)
    margin = rows / 4 - 0.5 / UNITS  # a draw is rounded to a unit
    assert questions * norm.sf(margin / noise) <= paid.FAILURE
    if noise < LARGEST_NOISE:  # and no more accurate than it has to be
        assert questions * norm.sf(margin / noise) >= 0.99 * paid.FAILURE or rows < 10


@given(rows=st.integers(4, 10**7), seed=st.integers(0, 2**32), columns=st.integers(0, 5))
@settings(max_examples=100, deadline=None)
def test_draws_within_the_margin_decide_rightly(rows: int, seed: int, columns: int) -> None:
    source = np.random.default_rng(seed)
    names = tuple(f"c{i}" for i in range(columns))
    check = PaidCheck(tuple(Group(repr(name), (name,)) for name in names), "pay", rows, 1.0)
    broken = source.random(columns + 2) < 0.5
    exact = np.where(broken, -(-3 * rows // 4), rows // 4)
    noisy = exact + source.uniform(-1, 1, columns + 2) * rows * 0.2499
    reasons = decide(check, noisy.tolist())
    told = [name for name in names if any(repr(name) in reason for reason in reasons)]
    assert told == [name for name, bad in zip(names, broken, strict=False) if bad]
    assert bool(reasons) == broken.any()
    assert any("no known target 'pay'" in reason for reason in reasons) == broken[-2]


@pytest.mark.parametrize("rows", [40, 1000, 30_000])
def test_sound_and_broken_tables(rows: int) -> None:
    """The largest noise, the least sound and the least broken table, with exact draws."""
    check = planned(rows)
    good, bad = ("5", "clerk", "north", "low"), ("1,5", "clerk", "north", "LOW")
    sound = table([bad] * (rows // 4) + [good] * (rows - rows // 4))
    broken = table([good] * (rows // 4) + [bad] * (rows - rows // 4))
    for seed in range(12):
        assert decide(check, noisy_counts(check, small_schema(), sound, normals(seed))) == []
        found = decide(check, noisy_counts(check, small_schema(), broken, normals(seed)))
        assert found == ["most cells of 'age' are not as declared",
                         "most rows have no known target 'pay'"]  # fmt: skip


# What is found


@pytest.mark.parametrize(
    ("record", "wanted"),
    [
        (("5", "clerk", "north", "low"), [0, 0, 0, 0, 0]),
        (("1,5", "clerk", "north", "low"), [1, 0, 0, 0, 0]),
        (("5", "CLERK", "north", "low"), [0, 1, 0, 0, 0]),  # even if there is `other`
        (("5", "clerk", "", "low"), [0, 0, 0, 0, 0]),
        (("1,5", "", "", "low"), [1, 0, 0, 0, 1]),
        (("1,5", "CLERK", "north", "low"), [1, 1, 0, 0, 1]),
        (("", None, math.nan, "low"), [0, 0, 0, 0, 1]),
        (("5", "clerk", "north", "LOW"), [0, 0, 0, 1, 0]),
        (("5", "clerk", "north", ""), [0, 0, 0, 1, 0]),
        (("101", "clerk", "north", "low"), [0, 0, 0, 0, 0]),  # clipped is not unreadable
    ],
)
def test_what_a_row_answers(record: tuple[Any, ...], wanted: list[int]) -> None:
    assert (
        counts(PaidCheck(EACH, "pay", 1, 1.0), small_schema(), table([record])).tolist() == wanted
    )


def test_a_table_of_empty_columns_is_refused() -> None:
    rows = table([("", "", "", "low")] * 500)
    for budget, groups in ((RICH, EACH), (0.85, KINDS), (0.7, ())):
        check = planned(500, budget=budget)
        assert check.groups == groups
        (reason,) = decide(check, noisy_counts(check, small_schema(), rows, normals(1)))
        assert reason == "most rows hold few cells that are as declared, or none"
        assert "honestdp check" in paid.refusal([reason])


def test_a_number_to_predict_and_a_target_beside_the_table() -> None:
    schema = small_schema(target=Target(column="pay", bounds=(0, 10)))
    rows = table([("5", "clerk", "north", "1,5")] * 4)
    del rows["pay"]
    check = PaidCheck(EACH, "pay", 4, 1.0)
    assert counts(check, schema, rows, ["1,5", "x", "3", None]).tolist() == [0, 0, 0, 3, 0]


def test_a_sparse_matrix_of_numbers_fits() -> None:
    schema = small_schema(columns=[Numeric(name=f"w{i}", bounds=(0, 9)) for i in range(3)])
    matrix = csr_matrix(np.eye(3))
    check = planned(3, schema, 1e9)
    assert counts(check, schema, matrix, ["low", "x", "low"]).tolist() == [0, 0, 0, 1, 0]


# What it costs


def test_fewer_questions_where_rows_are_few() -> None:
    mu = 0.27  # about epsilon 1 at delta 1e-5
    wanted = {500: None, 1_100: (), 1_500: KINDS, 40_000: EACH}
    for rows, groups in wanted.items():
        check = plan_check(small_schema(), rows, mu)
        assert (check and check.groups) == groups
        if check is not None:
            assert check.mu**2 <= paid.SHARE * mu**2
            assert all(f"{group.label}, " in check.describe() for group in check.groups)


def test_columns_of_a_kind_together() -> None:
    """Most columns are sound, and the decimal commas of the numbers are found all the same."""
    words = [Categorical(name=f"w{i}", categories=["a"]) for i in range(8)]
    numbers = [Numeric(name=f"n{i}", bounds=(0, 9)) for i in range(3)]
    schema, check = small_schema(columns=[*words, *numbers]), None
    for budget in (0.03, 1.0):
        check = planned(20_000, schema, budget)
        rows = {c.name: ["a" if c in words else "1,5"] * 20_000 for c in schema.columns}
        (reason,) = decide(
            check, noisy_counts(check, schema, rows, normals(1), ["low", "high"] * 10_000)
        )
        who = "3 columns of kind 'numeric'" if budget == 0.03 else "'n0', 'n1', 'n2'"
        assert reason == f"most cells of {who} are not as declared"


def test_many_columns_are_told_in_one_line() -> None:
    schema = small_schema(columns=[Numeric(name=f"n{i}", bounds=(0, 9)) for i in range(300)])
    check = planned(10**6, schema)
    assert "300 columns one by one" in check.describe()
    (reason,) = decide(check, [1e6] * 300 + [0.0, 1e6])
    assert reason == (
        "most cells of 'n0', 'n1', 'n2', 'n3', 'n4' and 295 more columns are not as declared"
    )


@pytest.mark.parametrize(
    ("rows", "mu", "fault"), [(0, 1.0, "rows=0"), (1.5, 1.0, "rows=1.5"), (9, 0, "budget_mu=0")]
)
def test_what_planning_refuses(rows: Any, mu: Any, fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        plan_check(small_schema(), rows, mu)


def test_what_counting_refuses() -> None:
    check, rows = planned(2), table([("5", "clerk", "north", "low")])
    with pytest.raises(InputError, match="table: has 1 rows, the check is for 2"):
        noisy_counts(check, small_schema(), rows, no_noise)
    with pytest.raises(InputError, match="5 whole numbers"):
        noisy_counts(planned(1), small_schema(), rows, lambda scale, count: np.zeros(count))
    with pytest.raises(InputError, match="no column 'age'"):
        noisy_counts(planned(1), small_schema(), {"job": [1], "town": [1], "pay": [1]}, no_noise)
