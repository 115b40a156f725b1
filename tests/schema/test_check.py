"""`check`: what it counts, what it calls serious, and that it shows no cell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from schema_examples import small_schema

import honestdp
from honestdp import TableCheck
from honestdp.errors import InputError
from honestdp.schema import (
    Boolean,
    Categorical,
    Counts,
    Cross,
    Date,
    Hashed,
    Numeric,
    Ordinal,
    Target,
)
from honestdp.schema import check as check_module
from honestdp.schema.cell_problems import CellProblems
from honestdp.schema.kinds import Column
from honestdp.schema.paid_check import counts, plan_check
from honestdp.schema.table_check import KEEPER

GOOD = {"age": ["30", "40", ""], "job": ["clerk", "x", "1"], "town": ["north", "south", "north"],
        "pay": ["low", "high", "low"]}  # fmt: skip


def checked(changes: dict[str, Any], times: int = 40, **how: Any) -> TableCheck:
    """A table like GOOD, repeated."""
    columns = {name: cells * times for name, cells in (GOOD | changes).items()}
    return honestdp.check(how.pop("schema", small_schema()), columns, **how)


def texts(found: TableCheck, name: str) -> str:
    (column,) = [each for each in (*found.columns, found.target) if each.name == name]
    return "; ".join(finding.text for finding in column.findings)


def test_a_sound_table() -> None:
    found = checked({})
    assert found.fits
    assert found.rows == 120
    assert found.width == 7
    assert [c.problems for c in found.columns] == [
        CellProblems(120, missing=40, distinct_capped=2),
        CellProblems(120, unknown=40, distinct_capped=2),
        CellProblems(120, distinct_capped=2),
    ]
    assert found.target.classes == {"low": 80, "high": 40}
    assert found.verdict == "fits the schema, with 2 notes"  # an unknown job, and one in no row
    assert checked({"job": ["clerk", "smith", "1"]}).verdict == "fits the schema"


@pytest.mark.parametrize(
    ("column", "cells", "said"),
    [
        ("age", ["1,5", "20,25", "1.234,5"], "120 of 120 cells are not readable; 120 of "
         "these cells look like 1,5: if that is a decimal comma, give --decimal ,"),
        ("age", ["x", "30", "40"], "40 of 120 cells are not readable"),
        ("age", ["", None, "nan"], "120 of 120 cells are missing; every cell is encoded alike"),
        ("age", ["300", "-5", "30"], "80 of 120 cells are outside the bounds"),
        ("job", ["CLERK", "Smith", "clerk"], "80 of 120 cells are not among the categories; 80 of "
         "these cells differ from the schema in upper and lower case alone: add ignore_case"),
        ("town", ["a", "b", "c"], "120 of 120 cells are not among the categories"),
        ("pay", ["LOW", "HIGH", "LOW"], "120 of 120 cells are not among the categories; 120 of "
         "these cells differ from the schema in upper and lower case alone: add ignore_case"),
        ("pay", ["LOW", "HIGH", "LOW"], "120 of 120 rows have no known target"),
        ("pay", ["low", "low", "low"], "no row is of class 'high'"),
        ("pay", ["low", "high", ""], "40 of 120 rows have no known target, and count for nothing"),
    ],
)  # fmt: skip
def test_what_is_serious(column: str, cells: list[Any], said: str) -> None:
    found = checked({column: cells})
    assert said in texts(found, column)
    assert not found.fits
    assert found.verdict.startswith(f"does not fit the schema: '{column}'; mend")


@pytest.mark.parametrize(
    "job",
    [
        Categorical(name="job", categories=["clerk", "smith", "1"]),
        Ordinal(name="job", categories=["clerk", "smith", "1"]),
        Boolean(name="job", true=["clerk"], false=["smith", "1"]),
    ],
)
def test_ignore_case_is_a_way_out_wherever_it_is_offered(job: Column) -> None:
    age, _, town = small_schema().columns
    cells = {"job": ["CLERK", "Smith", "1"]}
    found = checked(cells, schema=small_schema(columns=[age, job, town]))
    assert "add ignore_case" in texts(found, "job")
    mended = type(job)(**job.model_dump() | {"ignore_case": True})
    found = checked(cells, schema=small_schema(columns=[age, mended, town]))
    assert texts(found, "job") == ""
    assert found.fits


@pytest.mark.parametrize(
    ("column", "cells", "said"),
    [
        ("age", ["30", "30", "30"], "every cell is encoded alike: a model learns nothing of it"),
        ("age", ["30", "", None], "80 of 120 cells are missing"),
        ("age", ["300", "40", "30"], "40 of 120 cells are outside the bounds"),
        ("job", ["nurse", "clerk", "1"], "40 of 120 cells are not among the categories"),
        ("job", ["clerk", "x", "1"], "1 declared category is in no row: 'smith'"),
        ("job", ["x", "1", "1"], "2 declared categories are in no row: 'clerk', 'smith'"),
    ],
)
def test_what_is_a_note(column: str, cells: list[Any], said: str) -> None:
    found = checked({column: cells})
    assert said in texts(found, column)
    assert found.fits


def test_categories_in_no_row_are_no_news_where_nothing_is_known() -> None:
    assert "in no row" not in texts(checked({"job": ["", None, "x"]}), "job")
    stage = Ordinal(name="job", categories=["clerk", "smith", "boss"])
    schema = small_schema(columns=[small_schema().columns[0], stage])
    assert "in no row: 'boss'" in texts(
        checked({"job": ["clerk", "smith", "x"]}, schema=schema), "job"
    )


def test_one_odd_cell_among_many_is_a_note() -> None:
    ages = ["30", "40", "50"] * 33 + ["1,5"]
    columns = {
        name: (cells * 34)[:100] for name, cells in (GOOD | {"job": ["1", "clerk", "1"]}).items()
    }
    found = honestdp.check(small_schema(), columns | {"age": ages})
    assert found.fits
    assert texts(found, "age").startswith("1 of 100 cells is not readable; 1 of these")


def test_a_number_to_predict() -> None:
    schema = small_schema(target=Target(column="pay", bounds=(0, 100)))
    assert checked({"pay": [1, 2, 3]}, schema=schema).target.classes is None
    assert checked({"pay": [1, 2, 3]}, schema=schema).fits
    assert (
        texts(checked({"pay": [5, 5, 5]}, schema=schema), "pay") == "every row has the same target"
    )
    assert not checked({"pay": ["1,5", "2,5", "3"]}, schema=schema).fits


def test_bounds_that_are_to_be_learnt() -> None:
    age = Numeric(name="age", bounds="learn", outer=(0, 1000))
    schema = small_schema(columns=[age, *small_schema().columns[1:]])
    assert checked({}, schema=schema).fits
    assert not checked({"age": ["1,5", "2,5", "3,5"]}, schema=schema).fits


def test_columns_that_the_schema_does_not_use(tmp_path: Path) -> None:
    frame = pd.DataFrame(GOOD | {"doctor": ["x"] * 3, " id ": [1, 2, 3]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    for table in (frame, tmp_path / "t.csv", tmp_path / "t.parquet"):
        found = honestdp.check(small_schema(), table)
        assert found.unused == ("doctor", "id")
        assert "not used by the schema: 'doctor', 'id'" in str(found)


def test_a_target_beside_the_table() -> None:
    inputs = {name: cells for name, cells in GOOD.items() if name != "pay"}
    found = honestdp.check(small_schema(), inputs, ["low", "LOW", "high"])
    assert found.target.classes == {"low": 1, "high": 1}


def test_for_whom_it_is() -> None:
    found = checked({})
    assert str(found).splitlines()[0] == found.to_dict()["mark"] == found.mark == KEEPER
    assert next(iter(found.to_dict())) == "mark"
    assert found.headline.splitlines()[0] == KEEPER
    assert repr(found) == "TableCheck(table, for the keeper of the table only)"
    public = checked({}, public=True)
    assert "KEEPER" not in str(public) + json.dumps(public.to_dict()) + public.headline
    assert public.mark is None


def test_a_wide_table_is_told_in_few_lines() -> None:
    columns = [Numeric(name=f"c{i}", bounds=(0, 9)) for i in range(200)]
    rows: dict[str, Any] = {f"c{i}": [1, 2] for i in range(200)} | {"pay": ["low", "high"]}
    rows["c7"] = ["1,5", "2"]
    said = str(honestdp.check(small_schema(columns=columns), rows))
    assert len(said.splitlines()) < 15
    assert "and 200 columns with nothing to tell" in said
    assert "PROBLEM: c7: 1 of 2 cells is not readable" in said


@pytest.mark.parametrize(
    ("table", "fault"),
    [
        ({name: [] for name in GOOD}, "holds no rows"),
        ({name: cells for name, cells in GOOD.items() if name != "age"}, "no column 'age'"),
        ({name: cells for name, cells in GOOD.items() if name != "pay"}, "no column 'pay'"),
        ("none.csv", "none.csv: cannot be read"),
    ],
)
def test_what_is_refused(table: Any, fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        honestdp.check(small_schema(), table)


WORDS = st.from_regex(r"[QqZz]uokka[a-z]{3}(,\d)?", fullmatch=True)


@given(cells=st.lists(WORDS | st.integers(10**6, 10**7).map(str), min_size=3, max_size=3))
@settings(max_examples=20, deadline=None)
def test_no_cell_is_shown(cells: list[str]) -> None:
    for name in GOOD:
        found = checked({name: cells}, times=2)
        said = "\n".join(
            [str(found), json.dumps(found.to_dict()), repr(found), repr(found.columns)]
        )
        assert not any(cell.casefold() in said.casefold() for cell in cells)


def test_no_cell_is_in_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError) as caught:
        honestdp.check(small_schema(), {**GOOD, "age": "Quokkazyx"})
    assert "Quokkazyx" not in str(caught.value)


def test_kinds_need_not_be_known() -> None:
    """A categorical column without `label` of its own is judged by its counts alone."""
    ward = Categorical(name="town", categories=["North", "South"])
    schema = small_schema(columns=[small_schema().columns[0], ward])
    found = checked({}, schema=schema)
    assert "differ from the schema in upper and lower case" in texts(found, "town")
    assert check_module.check is honestdp.check


def test_every_kind_of_column() -> None:
    columns = [
        Numeric(name="age", bounds=(0, 100)),
        Categorical(name="ward", categories=["a", "b"]),
        Boolean(name="smokes"),
        Ordinal(name="stage", categories=["one", "two"]),
        Date(name="seen", first="2020-01-01", last="2030-12-31"),
        Counts(name="visits"),
        Hashed(name="zip", buckets=8),
        Cross(name="both", columns=["age", "ward"]),
    ]
    schema = small_schema(columns=columns)
    good = {"age": ["30", "40"], "ward": ["a", "b"], "smokes": ["yes", "no"], "zip": ["1", "x"],
            "stage": ["one", "two"], "seen": ["2024-02-29", "2025-01-01"], "visits": ["0", "5"],
            "pay": ["low", "high"]}  # fmt: skip
    assert honestdp.check(schema, good).verdict == "fits the schema"
    assert [c.name for c in honestdp.check(schema, good).columns] == schema.input_names
    bad = {name: ["1,5?", "2,5?"] for name in good} | {"pay": good["pay"]}
    found = honestdp.check(schema, bad)
    assert [c.name for c in found.columns if c.fits] == ["zip"]
    check = plan_check(schema, 2, 1e9)
    assert check is not None
    asked = counts(check, schema, bad).tolist()
    assert dict(zip(schema.input_names, asked, strict=False)) == {
        name: 0 if name == "zip" else 2 for name in schema.input_names
    }
    assert asked[-2:] == [0, 2]  # every target is known; most cells of each row are unreadable
