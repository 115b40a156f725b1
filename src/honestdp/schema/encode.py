"""Rows as numbers, by the declared facts alone.

The contract that privacy rests on: encoded row i is a function of row i of the table and of the
schema, of nothing else. No row is dropped, reordered or merged, nothing is inferred from values,
and no value raises. So one changed row changes one encoded row.

- A numeric cell: clipped to the bounds, scaled from them to [0, 1]. Missing, not a number, or
  not finite: the declared missing value.
- A categorical cell: a 1 in its category's column; an undeclared word: in `other`, or nowhere. A
  missing cell: in the declared missing category, else in `other`, else nowhere.
- A class: its number, -1 where it is none of the declared. A number to predict: clipped and scaled
  to [-1, 1], NaN where it is none. Such rows keep their place and count for nothing.
- With `row_norm`, each row is then scaled to that norm; a row of zeros stays zero.

Sparse rows hold one stored entry per declared column, zeros included: their structure, and so
the time to read them, does not depend on how many cells happen to be zero or unknown. (A SciPy
sparse matrix of numbers with lower bounds 0 keeps its own structure.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from honestdp.errors import InputError
from honestdp.schema.cells import MISSING, UNKNOWN, Cells, cells
from honestdp.schema.columns import Categorical, Numeric, Target
from honestdp.schema.declared import Schema
from honestdp.schema.tables import Table, check_column, column_of, open_table

Inputs: TypeAlias = Any  # NDArray[np.float32] [n, width], or a csr_matrix of the same


@dataclass(frozen=True, eq=False, repr=False)
class Encoded:
    """Encoded rows. Sensitive, but for `names` and the shapes.

    inputs: float32 array or CSR matrix [n, width]; targets: int64 classes or float32 [n].
    """

    inputs: Inputs
    targets: NDArray[np.int64] | NDArray[np.float32]
    names: list[str]

    def __len__(self) -> int:
        return len(self.targets)

    def __repr__(self) -> str:
        kind = "dense" if isinstance(self.inputs, np.ndarray) else "sparse"
        return f"Encoded({len(self)} rows, {kind}, {len(self.names)} columns)"


def open_rows(schema: Schema, table: Any) -> Table:
    """A table opened once; `encode` and `learn_bounds` take it like the table itself."""
    opened = open_table(table, _names(schema))
    opened.check([column.name for column in schema.columns])
    return opened


def _names(schema: Schema) -> list[str]:
    return [*(column.name for column in schema.columns), schema.target.column]


def encode(
    schema: Schema, table: Any, target: Any = None, *, sparse: bool | None = None
) -> Encoded:
    """Inputs and targets; `target`: its cells, where they are not a column of the table."""
    opened = open_rows(schema, table)
    if target is None:
        opened.check(_names(schema))
        answers = opened.cells(schema.target.column)
    else:
        answers = _target_cells(schema, target, opened.rows)
    inputs = encode_inputs(schema, opened, sparse=sparse)
    return Encoded(inputs, encode_target(schema.target, answers), schema.encoded_names)


def encode_inputs(schema: Schema, table: Any, *, sparse: bool | None = None) -> Inputs:
    """The inputs of every row: float32 [n, width], CSR where `sparse` (by default the schema's)."""
    if schema.to_learn:
        raise InputError(
            f"columns.{schema.to_learn[0]}.bounds='learn': the bounds are not known yet; "
            "learn them with learn_bounds, or declare them"
        )
    opened = open_rows(schema, table)
    if opened.matrix is not None and sparse is not False and _keeps_zeros(schema):
        return _scaled_matrix(schema, opened.matrix)
    wide = schema.sparse if sparse is None else sparse
    make = _sparse_inputs if wide else _dense_inputs
    return make(schema, opened)


def encode_target(target: Target, column: Cells) -> NDArray[np.int64] | NDArray[np.float32]:
    if target.classes is not None:
        return np.maximum(column.places(target.classes), -1)
    assert target.bounds is not None
    return (2 * _scaled(column.numbers(), target.bounds) - 1).astype(np.float32)


def _target_cells(schema: Schema, target: Any, rows: int) -> Cells:
    called = f"target {schema.target.column!r}"
    check_column(called, target)
    try:
        column = cells(column_of(target))
    except Exception:
        raise InputError(f"{called} is not a list of cells, one a row") from None
    if len(column) != rows:
        raise InputError(f"{called} has {len(column)} rows, the table {rows}: give one each")
    return column


def _entries(column: Numeric | Categorical, found: Cells) -> tuple[NDArray[Any], NDArray[Any]]:
    """A row's one entry in this column's block: where it stands, and its value."""
    if isinstance(column, Numeric):
        values = found.numbers()
        values = np.where(np.isnan(values), column.missing_value, values)
        return np.zeros(len(values), dtype=np.int64), _scaled(values, column.range)
    bins = _bins(column)
    places = bins[found.places(column.categories)]  # the last two stand for unknown and missing
    return np.maximum(places, 0), (places >= 0).astype(np.float64)


def _bins(column: Categorical) -> NDArray[np.int64]:
    """The bin of each category, then of a missing and of an unknown cell; -1: nowhere."""
    count = len(column.categories)
    other = count if column.other else -1
    missing = other if column.missing is None else column.categories.index(column.missing)
    bins = np.empty(count + 2, dtype=np.int64)
    bins[:count] = np.arange(count)
    bins[MISSING], bins[UNKNOWN] = missing, other
    return bins


def _scaled(values: NDArray[np.float64], bounds: Sequence[float]) -> NDArray[np.float64]:
    low, high = bounds
    return (np.clip(values, low, high) - low) / (high - low)


def _dense_inputs(schema: Schema, table: Table) -> NDArray[np.float32]:
    inputs = np.zeros((table.rows, schema.width), dtype=np.float32)
    rows, start = np.arange(table.rows), 0
    for column in schema.columns:
        at, values = _entries(column, table.cells(column.name))
        if isinstance(column, Numeric):
            inputs[:, start] = values
        else:
            inputs[rows, start + at] = values
        start += len(column.encoded)
    squares = np.einsum("ij,ij->i", inputs, inputs, dtype=np.float64)
    _scale_to_norm(schema, squares, inputs)
    return inputs


def _sparse_inputs(schema: Schema, table: Table) -> csr_matrix:
    shape = (table.rows, len(schema.columns))
    values, at = np.empty(shape, dtype=np.float32), np.empty(shape, dtype=np.int32)
    start = 0
    for i, column in enumerate(schema.columns):
        place, value = _entries(column, table.cells(column.name))
        at[:, i], values[:, i] = start + place, value
        start += len(column.encoded)
    squares = np.einsum("ij,ij->i", values, values, dtype=np.float64)
    _scale_to_norm(schema, squares, values)
    starts = np.arange(table.rows + 1) * len(schema.columns)
    return csr_matrix((values.ravel(), at.ravel(), starts), shape=(table.rows, schema.width))


def _keeps_zeros(schema: Schema) -> bool:
    """Whether a cell of 0 is encoded as 0 throughout, so that a sparse matrix stays one."""
    return all(isinstance(column, Numeric) and column.range[0] == 0 for column in schema.columns)


def _scaled_matrix(schema: Schema, matrix: Any) -> csr_matrix:
    """A sparse matrix of numbers, scaled entry by entry; what is not stored is 0."""
    numeric = [column for column in schema.columns if isinstance(column, Numeric)]
    high = np.array([column.range[1] for column in numeric])
    missing = np.array([column.missing_value for column in numeric])
    found = csr_matrix(matrix[:, : len(numeric)], copy=True)
    values = cells(found.data).numbers()
    values = np.where(np.isnan(values), missing[found.indices], values)
    values = np.clip(values, 0, high[found.indices]) / high[found.indices]
    scaled = csr_matrix((values.astype(np.float32), found.indices, found.indptr), found.shape)
    if schema.row_norm is None:
        return scaled
    entries = np.diff(scaled.indptr)
    of_row = np.repeat(np.arange(len(entries)), entries)
    wide: NDArray[np.float64] = scaled.data.astype(np.float64)
    squares = np.bincount(of_row, wide * wide, minlength=len(entries)).astype(np.float64)
    _scale_to_norm(schema, squares, scaled.data, of_row)
    return scaled


def _scale_to_norm(
    schema: Schema,
    squares: NDArray[np.float64],
    values: NDArray[np.float32],
    of_row: NDArray[np.int64] | None = None,
) -> None:
    """Scale each row, in place, to the declared norm, if there is one.

    squares: each row's squared norm. values: [row, column], or single entries and their rows.
    In float64: what the smallest cells are multiplied with is beyond the range of float32, and a
    record must not make NumPy warn.
    """
    if schema.row_norm is None:
        return
    norms = np.sqrt(squares)
    factors = np.divide(schema.row_norm, norms, out=np.zeros_like(norms), where=norms > 0)
    each = factors[:, None] if of_row is None else factors[of_row]
    np.multiply(values, each, out=values, dtype=np.float64, casting="same_kind")
