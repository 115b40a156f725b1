"""Counts of cells that a declaration does not expect."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from honestdp.schema import (
    Boolean,
    Categorical,
    CellProblems,
    Counts,
    Cross,
    Date,
    Hashed,
    Numeric,
    Ordinal,
    Target,
)
from honestdp.schema.cells import cells

AGE = Numeric(name="age", bounds=(0, 100))
LEARNT = Numeric(name="age", bounds="learn", outer=(0, 1e6))
WARD = Categorical(name="ward", categories=["a", "b"])
DAY = Date(name="day", first="2020-01-01", last="2020-12-31")
PAY = Target(column="pay", bounds=(0, 10))
KIND = Target(column="kind", classes=["no", "yes"])


@pytest.mark.parametrize(
    ("column", "values", "wanted"),
    [
        (AGE, [1, "2", "", None, "x", "3,5", -1, 101, "1e400"], CellProblems(9, 3, 2, 0, 2, 2)),
        (AGE, [5, 5, "5.0"], CellProblems(3, distinct_capped=1)),
        (AGE, [101, 200], CellProblems(2, outside=2, distinct_capped=1)),
        (AGE, [], CellProblems(0)),
        (LEARNT, [5, 6], CellProblems(2, distinct_capped=2)),
        (LEARNT, [5, 5.0], CellProblems(2, distinct_capped=1)),
        (WARD, ["a", "A", " b ", "", math.nan], CellProblems(5, 2, unknown=1, distinct_capped=2)),
        (WARD, ["x", "y"], CellProblems(2, unknown=2, distinct_capped=1)),
        (PAY, [1, "x", None, 11], CellProblems(4, 1, 1, 0, 1, 2)),
        (PAY, ["x", None], CellProblems(2, 1, 1, distinct_capped=1)),
        (KIND, ["NO", "YES", "no"], CellProblems(3, unknown=2, distinct_capped=2)),
        (KIND, ["NO", "YES"], CellProblems(2, unknown=2, distinct_capped=1)),
        (Boolean(name="x"), ["yes", "maybe", "", "no"], CellProblems(4, 1, 0, 1, 0, 2)),
        (Ordinal(name="x", categories=["S", "M"]), ["S", "s"], CellProblems(2, 0, 0, 1, 0, 2)),
        (Counts(name="x"), [1, -1, "x", 1], CellProblems(4, 0, 1, 0, 1, 2)),
        (DAY, ["2020-02-01", "1.2.2020", "2019-01-01", ""], CellProblems(4, 1, 1, 0, 1, 2)),
        (Hashed(name="x", buckets=4), ["a", "a", "a"], CellProblems(3, distinct_capped=1)),
        (Cross(name="a and b", columns=["a", "b"]), ["a", ""], CellProblems(2, 1, 0, 0, 0, 2)),
    ],
)
def test_counts(column: Any, values: list[Any], wanted: CellProblems) -> None:
    assert column.problems(cells(values)) == wanted


def test_rows_that_store_the_same_numbers_in_another_order_are_alike() -> None:
    from honestdp.schema import Column, Entries

    class Shuffled(Column):
        kind: str = "shuffled"

        @property
        def encoded_names(self) -> list[str]:
            return ["x", "y", "z"]

        @property
        def entries(self) -> int:
            return 2

        def encode(self, cells: Any) -> Entries:
            positions = np.array([[0, 1], [1, 0], [2, 0]])[: len(cells)]
            return Entries(positions, np.array([[1.0, 0], [0, 1.0], [0, 1.0]])[: len(cells)])

    assert Shuffled(name="x").problems(cells([1, 2, 3])).distinct_capped == 1


def test_sentences_are_counts_and_no_cell() -> None:
    found = CellProblems(20, missing=4, unreadable=2, unknown=1, outside=3).sentences()
    assert found == [
        "2 of 20 cells are not readable",
        "1 of 20 cells is not among the categories",
        "3 of 20 cells are outside the bounds",
    ]
