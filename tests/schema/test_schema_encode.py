"""Encoding: by the declarations alone, row by row, whatever the table is and holds."""

from __future__ import annotations

import datetime
import decimal
import math
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from schema_examples import rows_of, small_schema
from scipy.sparse import csr_matrix, random_array

from honestdp.errors import InputError
from honestdp.schema import Categorical, Numeric, Schema, Target, open_rows

NAMES = ["age", "job", "town", "pay"]
TEXT_ROWS = [
    ["12", "clerk", "north", "low"],
    [" 12 ", " smith", "south ", " high "],
    ["1e1", "1", "", "low"],
    ["abc", "1.0", "east", "LOW"],
    ["", "", "north", ""],
    ["-5", "baker", "south", "high"],
    ["1e400", "nan", "nan", "high"],
    ["true", "true", "north", "none"],
    ["2020-01-01", "?", "north", "low"],
]
EXPECTED = np.array(
    #  age  clerk smith 1 other north south pay
    [
        [0.12, 1, 0, 0, 0, 1, 0, 0],
        [0.12, 0, 1, 0, 0, 0, 1, 1],
        [0.10, 0, 0, 1, 0, 0, 1, 0],
        [0.40, 0, 0, 1, 0, 0, 0, -1],
        [0.40, 0, 0, 0, 1, 1, 0, -1],
        [0.00, 0, 0, 0, 1, 0, 1, 1],
        [0.40, 0, 0, 0, 1, 0, 1, 1],
        [0.01, 0, 0, 1, 0, 1, 0, -1],
        [0.40, 0, 0, 0, 1, 1, 0, 0],
    ],
    dtype=np.float32,
)


def tables(folder: Path) -> dict[str, Any]:
    """The same cells in every kind of table."""
    frame = pd.DataFrame(TEXT_ROWS, columns=NAMES)
    frame.assign(more="ignored")[["more", *reversed(NAMES)]].to_csv(folder / "t.csv", index=False)
    frame.to_csv(folder / "t.csv.gz", index=False)
    frame.to_csv(folder / "t.tsv", index=False, sep="\t")
    frame.to_csv(folder / "semicolons.csv", index=False, sep=";", encoding="utf-8-sig")
    arrow = pa.table({name: frame[name].to_list() for name in NAMES})
    parquet.write_table(arrow, folder / "t.parquet")
    objects = frame.astype(object).replace({"": None})
    objects.loc[0, "age"], objects.loc[4, "age"], objects.loc[6, "age"] = 12, math.nan, math.inf
    objects.loc[7, "age"], objects.loc[7, "job"] = True, np.True_
    objects.loc[2, "job"], objects.loc[3, "job"], objects.loc[6, "job"] = 1, np.float32(1), pd.NA
    objects.loc[0, "town"], objects.loc[8, "age"] = b"north", datetime.date(2020, 1, 1)
    assert objects["age"].dtype == object
    return {
        "csv": str(folder / "t.csv"),
        "gz": folder / "t.csv.gz",
        "tsv": folder / "t.tsv",
        "semicolons": folder / "semicolons.csv",
        "parquet": folder / "t.parquet",
        "pandas": frame,
        "pandas objects": objects,
        "pandas categories": frame.astype("category"),
        "pandas object categories": objects.astype("category"),
        "polars": pl.DataFrame(TEXT_ROWS, schema=NAMES, orient="row"),
        "polars lazy": pl.DataFrame(TEXT_ROWS, schema=NAMES, orient="row").lazy(),
        "polars categories": pl.DataFrame(TEXT_ROWS, schema=NAMES, orient="row").cast(
            pl.Categorical
        ),
        "polars objects": pl.DataFrame(
            {name: objects[name].to_list() for name in NAMES},
            schema=dict.fromkeys(NAMES, pl.Object),
        ),
        "arrow": arrow,
        "arrow batch": arrow.to_batches()[0],
        "arrow bytes": pa.table(
            {name: pa.array([row[i].encode() for row in TEXT_ROWS]) for i, name in enumerate(NAMES)}
        ),
        "numpy text": np.array(TEXT_ROWS),
        "numpy bytes": np.array(TEXT_ROWS).astype("S"),
        "numpy objects": objects.to_numpy(),
        "numpy records": frame.to_records(index=False),
        "rows": TEXT_ROWS,
        "lists": {name: [row[i] for row in TEXT_ROWS] for i, name in enumerate(NAMES)},
        "series": {name: pl.Series([row[i] for row in TEXT_ROWS]) for i, name in enumerate(NAMES)},
    }


@pytest.mark.parametrize("sparse", [None, False, True])
def test_every_kind_of_table_gives_the_same_rows(tmp_path: Path, sparse: bool | None) -> None:
    schema = small_schema()
    for kind, table in tables(tmp_path).items():
        encoded = schema.encode(table, sparse=sparse)
        assert isinstance(encoded.inputs, csr_matrix if sparse else np.ndarray), kind
        assert encoded.inputs.dtype == np.float32
        assert encoded.targets.dtype == np.int64
        np.testing.assert_array_equal(rows_of(encoded), EXPECTED, err_msg=kind)
        assert encoded.names == [
            *["age", "job=clerk", "job=smith", "job=1", "job (other)", "town=north", "town=south"]
        ]
        alone = schema.encode_inputs(table, sparse=False)
        np.testing.assert_array_equal(alone, EXPECTED[:, :-1], err_msg=kind)


TYPED: list[Any] = [
    pd.array([1, None, 3], dtype="Int64"),
    pd.array([1.0, None, 3.0], dtype="Float32"),
    pd.array(["1", None, "3"], dtype="string"),
    pd.Series(pd.Categorical([1, None, 3])),
    pl.Series([1, None, 3], dtype=pl.UInt8),
    pl.Series([decimal.Decimal(1), None, decimal.Decimal(3)]),
    pa.array([1, None, 3], pa.decimal256(40, 2)),
    pa.array([1.0, None, 3.0], pa.float16()),
    pa.array(["1", None, "3"]).dictionary_encode(),
    pa.chunked_array([[1], [None, 3]]),
    pa.chunked_array([[1, None, 3]], pa.int8()),
    np.array([1, np.nan, 3], dtype=np.float16),
    np.array([1, np.nan, 3], dtype=np.longdouble),
    np.array([1, np.nan, 3], dtype=">f8"),
    np.ma.masked_array([1, 2, 3], [False, True, False]),
    np.array(["1", "", "3"], dtype=np.dtypes.StringDType()),
    torch.tensor([1.0, math.nan, 3.0], requires_grad=True),
    (1, None, 3),
    [np.int8(1), pd.NaT, decimal.Decimal("3.00")],
    np.array([1, 1j, 3]),
    [np.array(1), None, torch.tensor(3.0)],
]


@pytest.mark.parametrize("column", TYPED, ids=lambda column: type(column).__name__)
def test_every_type_of_column_gives_the_same_cells(column: Any) -> None:
    schema = small_schema(
        columns=[
            Numeric(name="number", bounds=(0, 4)),
            Categorical(name="word", categories=["3", "1.0"], other=True),
        ],
        target=Target(column="y", classes=[3, 1]),
    )
    encoded = schema.encode({"number": column, "word": column}, column, sparse=False)
    expected = [[0.25, 0, 1, 0, 1], [0.5, 0, 0, 1, -1], [0.75, 1, 0, 0, 0]]
    np.testing.assert_array_equal(rows_of(encoded), expected)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([[1], None, []]),
        pa.array([{"a": 1}, None, {}], pa.struct({"a": pa.int8()})),
        pa.nulls(3),
        pa.array([1, 2**62, None], pa.timestamp("s")),
        pa.array([1, 2, 3], pa.duration("ns")),
        pd.Series(pd.period_range("2020", periods=3)),
        pd.Series(pd.interval_range(0, 3)),
        pl.Series([datetime.time(1), None, datetime.time(2)]),
        np.array([1j, 2 + 1j, 3 - 1j]),
        np.array(["2020-01-01", "NaT", "2021-01-01"], dtype="datetime64[D]"),
        [object(), [1], {"a": 2}],
    ],
    ids=lambda column: f"{type(column).__name__}-{getattr(column, 'dtype', '')}",
)
def test_types_that_are_no_numbers_are_missing_numbers(column: Any) -> None:
    schema = small_schema(
        columns=[
            Numeric(name="number", bounds=(0, 4)),
            Categorical(name="word", categories=["a"], other=True),
        ]
    )
    encoded = schema.encode_inputs({"number": column, "word": column})
    np.testing.assert_array_equal(encoded, [[0.5, 0, 1]] * 3)


def test_dates_are_words_in_every_table() -> None:
    day = datetime.datetime(2020, 1, 1)
    schema = small_schema(columns=[Categorical(name="day", categories=["2020-01-01"])])
    stored = pd.DataFrame({"day": [day]})
    for column in (["2020-01-01"], [day], [day.date()], stored["day"], stored["day"].to_numpy()):
        assert schema.encode_inputs({"day": column}).tolist() == [[1.0]]
    assert schema.encode_inputs(pl.from_pandas(stored)).tolist() == [[1.0]]


def test_what_a_missing_or_unknown_word_becomes() -> None:
    def encoded(**facts: Any) -> list[list[float]]:
        column = Categorical(name="w", categories=["a", "b"], **facts)
        schema = small_schema(columns=[column])
        return schema.encode_inputs({"w": [None, "c"]}, sparse=False).tolist()

    assert encoded() == [[0, 0], [0, 0]]
    assert encoded(missing="b") == [[0, 1], [0, 0]]
    assert encoded(other=True) == [[0, 0, 1], [0, 0, 1]]
    assert encoded(other=True, missing="a") == [[1, 0, 0], [0, 0, 1]]


def test_words_before_numbers() -> None:
    column = Categorical(name="w", categories=["01", "1", "yes", "1e0", "inf", "TRUE"])
    schema = small_schema(columns=[column])
    cells = ["01", "1", 1, 1.0, "1e0", "1.0", "001", True, "TRUE", "inf", math.inf, "Yes"]
    encoded = schema.encode_inputs({"w": cells}, sparse=False)
    places = [list(row).index(1) if row.any() else None for row in encoded]
    assert places == [0, 1, 1, 1, 3, 1, 1, 1, 5, 4, None, None]


def test_numbers_to_predict_and_back() -> None:
    schema = small_schema(target=Target(column="pay", bounds=(10, 30)))
    pay = ["10", 20, 30.0, "99", None, "x", math.nan, -math.inf]
    targets = schema.encode({name: [1] * 8 for name in NAMES[:-1]}, pay).targets
    assert targets.dtype == np.float32
    np.testing.assert_array_equal(targets, [-1, 0, 1, 1] + [math.nan] * 4)
    np.testing.assert_array_equal(schema.decode_targets([-1, 0, 1, 7]), [10, 20, 30, 30])
    assert small_schema().decode_targets([1, 0, -1]).tolist() == ["high", "low", ""]


def test_rows_of_a_declared_norm() -> None:
    columns = [
        Numeric(name="a", bounds=(0, 1)),
        Categorical(name="b", categories=list("xyzuvw")),
    ]
    schema = small_schema(columns=columns, row_norm=3.0)
    table = {"a": [0.5, 0, 1, 1e-30, 1e-42], "b": ["x", "?", "w", "?", "?"]}
    for sparse in (True, False):
        inputs = schema.encode_inputs(table, sparse=sparse)
        dense = inputs.toarray() if sparse else inputs
        norms = np.linalg.norm(dense.astype(float), axis=1)
        np.testing.assert_allclose(norms, [3, 0, 3, 3, 3], rtol=1e-6)
        assert np.isfinite(dense).all()


def test_sparse_by_the_schema_alone_with_one_entry_a_column() -> None:
    wide = small_schema(columns=[Categorical(name="w", categories=list("abcdef"))])
    assert wide.sparse
    assert not small_schema().sparse
    inputs = wide.encode_inputs({"w": ["a", "?", None, "f"]})
    assert inputs.indptr.tolist() == [0, 1, 2, 3, 4]
    assert inputs.data.tolist() == [1, 0, 0, 1]
    inputs.check_format()


def test_a_sparse_matrix_in() -> None:
    matrix = random_array((50, 20), density=0.2, rng=np.random.default_rng(1), format="csr")
    matrix.data[:3] = [math.nan, math.inf, -2]
    tiny = matrix.indptr[7], matrix.indptr[8]
    matrix.data[slice(*tiny)] = 1e-42
    columns = [Numeric(name=f"c{i}", bounds=(0, 0.5), missing=0.1) for i in range(20)]
    for norm in (None, 2.0):
        schema = small_schema(columns=columns, row_norm=norm)
        kept = schema.encode_inputs(matrix)
        assert kept.nnz == matrix.nnz
        written = schema.encode_inputs(matrix.toarray())
        np.testing.assert_allclose(kept.toarray(), written, rtol=1e-6)
        np.testing.assert_array_equal(schema.encode_inputs(matrix, sparse=False), written)
    mixed = small_schema(columns=[Numeric(name="shifted", bounds=(-1, 1)), *columns[1:]])
    np.testing.assert_array_equal(
        mixed.encode_inputs(matrix), mixed.encode_inputs(matrix.toarray())
    )


@pytest.mark.parametrize("odd", [1j, np.longdouble("1e4000"), math.inf, math.nan])
def test_a_sparse_matrix_of_any_numbers(odd: Any) -> None:
    """Without a word of NumPy's: that a complex or very long number is there is not told."""
    columns = [Numeric(name=f"c{i}", bounds=(0, 100), missing=50) for i in range(2)]
    matrix = csr_matrix(np.array([[20, odd], [0, 30]]))
    inputs = small_schema(columns=columns).encode_inputs(matrix)
    np.testing.assert_array_equal(inputs.toarray(), np.array([[0.2, 0.5], [0, 0.3]], np.float32))


class Hostile:
    """A cell that fights back."""

    def __str__(self) -> str:
        raise RuntimeError("SECRET")

    __eq__ = __repr__ = __hash__ = __float__ = __bool__ = __str__  # type: ignore[assignment]


CELLS = st.one_of(
    st.none(),
    st.text(max_size=6),
    st.text(st.characters(), max_size=3),  # lone surrogates too
    st.floats(),
    st.integers(-(10**400), 10**400),
    st.sampled_from(
        [10**5000, "9" * 9999, "1e9999", "-", ".", "e", "+.e1", "0x1", "1_0", "١٢", "\0"]
    ),
    st.booleans(),
    st.binary(max_size=4),
    st.decimals(),
    st.fractions(),
    st.dates(),
    st.datetimes(),
    st.complex_numbers(),
    st.lists(st.integers(), max_size=2),
    st.sampled_from(
        [pd.NA, pd.NaT, np.float32(0.1), np.datetime64("NaT"), np.str_("clerk"), object]
    ),
    st.sampled_from(["clerk", "1", "north", "low", "12.5", " high ", "nan", "True"]),
    st.builds(Hostile),
)


@given(rows=st.lists(st.tuples(CELLS, CELLS, CELLS, CELLS), min_size=1, max_size=8), data=st.data())
@settings(max_examples=80, deadline=None)
def test_any_cells_encode_and_a_changed_row_changes_one_row(rows: Any, data: Any) -> None:
    schema = small_schema()
    encoded = rows_of(schema.encode(_columns(rows)))
    assert encoded.shape == (len(rows), 8)
    assert np.isfinite(encoded).all()
    assert encoded[:, 0].min() >= 0
    assert encoded[:, :-1].max() <= 1
    alone = [rows_of(schema.encode(_columns([row])))[0] for row in rows]
    np.testing.assert_array_equal(encoded, alone)  # a row knows nothing of the others
    i = data.draw(st.integers(0, len(rows) - 1))
    changed = [*rows[:i], data.draw(st.tuples(CELLS, CELLS, CELLS, CELLS)), *rows[i + 1 :]]
    for table in (
        _columns(changed),
        _array(changed),
        pd.DataFrame(_columns(changed), dtype=object),
    ):
        again = rows_of(schema.encode(table))
        np.testing.assert_array_equal(np.delete(again, i, 0), np.delete(encoded, i, 0))


def _columns(rows: list[tuple[Any, ...]]) -> dict[str, list[Any]]:
    return {name: [row[i] for row in rows] for i, name in enumerate(NAMES)}


def _array(rows: list[tuple[Any, ...]]) -> np.ndarray:
    array = np.empty((len(rows), len(NAMES)), dtype=object)
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            array[i, j] = cell
    return array


BAD: dict[str, tuple[Any, str]] = {
    "absent": ({"age": ["SECRET"], "job": ["SECRET"], "pay": [1]}, "no column 'town'; it has"),
    "no target": ({name: ["SECRET"] for name in NAMES[:-1]}, "no column 'pay'"),
    "lengths": ({"age": ["SECRET"] * 2, "job": ["SECRET"]}, "differ in length ('age' 2, 'job' 1)"),
    "a scalar": ({"age": "SECRET"}, "column 'age' is not a list of cells"),
    "two dimensions": ({"age": np.full((2, 2), "SECRET")}, "'age' has 2 dimensions"),
    "twice": (pa.table([["SECRET"]] * 5, names=[*NAMES, "age"]), "several columns are called"),
    "pandas twice": (pd.DataFrame([["SECRET"] * 5], columns=[*NAMES, "age"]), "have one name"),
    "width": (np.full((2, 7), "SECRET"), "7 columns, the schema has 3 and the target"),
    "no rows and columns": (np.full(3, "SECRET"), "with 1 dimensions; give a path"),
    "ragged": ([["SECRET"], ["SECRET", 2]], "list"),
    "no table": (7, "int with 0 dimensions"),
}


@pytest.mark.parametrize("kind", BAD)
def test_wrong_structure_is_named_without_a_value(kind: str) -> None:
    table, said = BAD[kind]
    with pytest.raises(InputError) as caught:
        small_schema().encode(table)
    assert said in str(caught.value)
    assert "SECRET" not in "".join(traceback.format_exception(caught.value))
    assert "\n" not in str(caught.value)


def test_targets_of_another_length_or_kind() -> None:
    table = {name: ["SECRET"] * 2 for name in NAMES}
    for target in (["SECRET"], "SECRET!", 5, np.full((2, 2), "SECRET")):
        with pytest.raises(InputError, match="'pay'") as caught:
            small_schema().encode(table, target)
        assert "SECRET" not in "".join(traceback.format_exception(caught.value))


def test_nothing_shows_a_cell() -> None:
    schema = small_schema()
    table = open_rows(schema, {name: ["SECRET"] * 2 for name in NAMES})
    encoded = schema.encode(table)
    for shown in (table, encoded, table.cells("age")):
        assert "SECRET" not in f"{shown!r} {shown}"
    assert repr(encoded) == "Encoded(2 rows, dense, 7 columns)"
    assert rows_of(encoded).shape == (2, 8)


def test_no_rows_are_rows_too() -> None:
    for sparse in (True, False):
        encoded = small_schema().encode({name: [] for name in NAMES}, sparse=sparse)
        assert encoded.inputs.shape == (0, 7)
        assert encoded.targets.shape == (0,)


def test_bounds_to_learn_must_be_learnt_first() -> None:
    schema: Schema = small_schema(columns=[Numeric(name="a", bounds="learn", outer=(0, 1))])
    with pytest.raises(InputError, match="learn_bounds"):
        schema.encode_inputs({"a": ["SECRET"]})
