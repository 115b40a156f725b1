"""A schema read off the rows, for simulations."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from honestdp.errors import InputError
from honestdp.schema import Categorical, Numeric
from honestdp.schema.infer import NAME, infer_schema

TABLE = pd.DataFrame(
    {
        "number": [1, 2.5, np.nan, np.inf],
        "constant": [7, 7, 7, 7],
        "nothing": [np.nan] * 4,
        "word": ["u ", "v", None, "u"],
        "text of numbers": ["3", "1.5", "nan", ""],
        "mixed": ["1", "2", "x", "nan"],
        "category": pd.Categorical(["q", "r", "q", None]),
        "truth": [True, False, True, True],
    }
)
WANTED = {
    "number": (1.0, 2.5),
    "constant": (3.0, 11.0),
    "nothing": (-0.5, 1.5),
    "word": ("u", "v"),
    "text of numbers": (1.5, 3.0),
    "mixed": ("1", "2", "x"),
    "category": ("q", "r"),
    "truth": (0.0, 1.0),
}


def infer(table, target, classes=True):
    return infer_schema(table, target, list(WANTED), "y", classes)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.from_pandas, pd.DataFrame.to_numpy])
def test_columns(kind) -> None:
    found = infer(kind(TABLE), [0, 1, 0, 1])
    assert found.name == NAME
    for column in found.columns:
        wanted = WANTED[column.name]
        if isinstance(column, Numeric):
            low, high = column.bounds
            assert low < high
            assert column.bounds == wanted or column.name in ("constant", "nothing")
        else:
            assert isinstance(column, Categorical)
            assert column.categories == wanted
            assert column.other


def test_classes_are_in_order() -> None:
    assert infer(TABLE, [10, 9, -1, 9]).target.classes == ("-1", "9", "10")
    assert infer(TABLE, np.array([1.0, 2.0, 1.0, 2.0])).target.classes == ("1", "2")
    assert infer(TABLE, ["no", "yes ", "no", "yes"]).target.classes == ("no", "yes")
    assert infer(TABLE, [True, False, True, True]).target.classes == ("false", "true")


def test_numbers_have_bounds() -> None:
    assert infer(TABLE, [1.5, 2, 3, 4], classes=False).target.bounds == (1.5, 4.0)
    low, high = infer(TABLE, [5, 5, 5, 5], classes=False).target.bounds
    assert low < 5 < high


@pytest.mark.parametrize(
    ("target", "classes", "said"),
    [
        ([1.0, 2, 3.5, 1], True, "continuous"),
        ([1, None, 2, 1], True, "missing or infinite"),
        ([np.nan] * 4, True, "missing or infinite"),
        ([1.0, np.inf, 2, 1], False, "missing or infinite"),
        ([1, 1, 1, 1], True, "1 class;"),
        (["a", "b", "a", "b"], False, "does not hold numbers"),
        ([1, 2, 3], True, "3 rows, the table 4"),
    ],
)
def test_targets_it_cannot_read(target, classes, said) -> None:
    with pytest.raises(InputError, match=said):
        infer(TABLE, target, classes)
