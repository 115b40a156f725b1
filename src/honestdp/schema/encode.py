"""Encode rows as numbers, by the declared facts alone.

The contract that privacy rests on: encoded row i is a function of row i of the table and of the
schema, of nothing else. No row is dropped, reordered or merged, nothing is inferred from values,
and no value raises. So one changed row changes one encoded row.

Each column is encoded by its kind (`honestdp.schema.kinds`), the target by `Target`. Rows are then
scaled (`scaling`).

Sparse rows hold a fixed number of stored entries, zeros included: their structure, and so the
time to read them, does not depend on how many cells happen to be zero or unknown. (A SciPy sparse
matrix whose columns keep zeros keeps its own structure, and a text has as many as its words.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack

from honestdp.errors import InputError
from honestdp.schema.blocks import Block, Entries, as_matrix
from honestdp.schema.cells import Cells, cells
from honestdp.schema.kinds import Column
from honestdp.schema.scaling import scale_dense, scale_sparse
from honestdp.schema.schema import Schema
from honestdp.schema.tables import Table, check_column, column_of, open_table

Inputs: TypeAlias = Any  # NDArray[np.float32] [n, width], or a csr_matrix of the same


@dataclass(frozen=True, eq=False, repr=False)
class Encoded:
    """Encoded rows. Sensitive, except `names` and the shapes.

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
    """Open a table once; `encode` and `learn_bounds` take the result like the table itself."""
    opened = open_table(table, _names(schema))
    opened.check(schema.input_names)
    return opened


def _names(schema: Schema) -> list[str]:
    return [*schema.input_names, schema.target.column]


def encode(
    schema: Schema, table: Any, target: Any = None, *, sparse: bool | None = None
) -> Encoded:
    """Encode inputs and targets; `target`: its cells, if they are not a column of the table."""
    opened = open_rows(schema, table)
    answers = target_cells(schema, opened, target)
    inputs = encode_inputs(schema, opened, sparse=sparse)
    return Encoded(inputs, schema.target.encode(answers), schema.encoded_names)


def encode_inputs(schema: Schema, table: Any, *, sparse: bool | None = None) -> Inputs:
    """Encode the inputs: float32 [n, width], CSR if `sparse` (by default as the schema)."""
    if schema.to_learn:
        raise InputError(
            f"columns.{schema.to_learn[0]}: is to be learnt, and was not learnt yet; learn it "
            "with learn_bounds, or declare it"
        )
    opened = open_rows(schema, table)
    zeros_stay = all(column.keeps_zeros for column in schema.columns)
    if opened.matrix is not None and sparse is not False and zeros_stay:
        return _stored_inputs(schema, opened.matrix)
    wide = schema.sparse if sparse is None else sparse
    make = _sparse_inputs if wide else _dense_inputs
    return make(schema, opened)


def target_cells(schema: Schema, opened: Table, target: Any = None) -> Cells:
    """The target's cells: a column of the table, or given beside it. Sensitive."""
    if target is None:
        # By itself: without a header a wildcard's names are cells, and only the target is absent.
        opened.check([schema.target.column])
        return opened.cells(schema.target.column)
    called = f"target {schema.target.column!r}"
    check_column(called, target)
    try:
        column = cells(column_of(target))
    except Exception:
        raise InputError(f"{called} is not a list of cells, one per row") from None
    if len(column) != opened.rows:
        raise InputError(f"{called} has {len(column)} rows, the table {opened.rows}: give one each")
    return column


def _block(column: Column, table: Table) -> Block:
    """A column's block; raises InputError unless it has the shape that its kind declares."""
    found = column.encode_from(table)
    if column.entries is None:
        fits = isinstance(found, csr_matrix) and found.shape == (table.rows, column.width)
    else:
        shape = (table.rows, column.entries)
        fits = isinstance(found, Entries) and found.values.shape == shape
        fits = fits and found.positions.shape in (shape, shape[1:])
    if not fits:
        raise InputError(
            f"columns.{column.name}: its kind {column.kind!r} encodes rows of another shape than "
            "its `entries`; check it with honestdp.testing.columns.check_column_kind"
        )
    return found


def _dense_inputs(schema: Schema, table: Table) -> NDArray[np.float32]:
    inputs = np.zeros((table.rows, schema.width), dtype=np.float32)
    rows, start = np.arange(table.rows), 0
    for column in schema.columns:
        block = _block(column, table)
        if isinstance(block, Entries):
            for i in range(block.values.shape[1]):
                at = start + block.positions[..., i]
                inputs[slice(None) if at.ndim == 0 else rows, at] = block.values[:, i]
        else:
            inputs[:, start : start + column.width] = block.toarray()
        start += column.width
    scale_dense(schema, inputs)
    return inputs


def _sparse_inputs(schema: Schema, table: Table) -> csr_matrix:
    if any(column.entries is None for column in schema.columns):
        return _varied_inputs(schema, table)
    shape = (table.rows, schema.entries)
    values, at = np.empty(shape, dtype=np.float32), np.empty(shape, dtype=np.int32)
    start, first = 0, 0
    for column in schema.columns:
        own = slice(first, first + (column.entries or 0))
        positions, values[:, own] = _block(column, table)
        at[:, own] = start + positions
        start, first = start + column.width, own.stop
    starts = np.arange(table.rows + 1) * schema.entries
    found = csr_matrix((values.ravel(), at.ravel(), starts), shape=(table.rows, schema.width))
    scale_sparse(schema, found)
    return found


def _varied_inputs(schema: Schema, table: Table) -> csr_matrix:
    """Rows of which some columns store as many entries as a row needs."""
    blocks = []
    for column in schema.columns:
        blocks.append(as_matrix(_block(column, table), column.width))
    encoded = csr_matrix(hstack(blocks, format="csr", dtype=np.float32))
    scale_sparse(schema, encoded)
    return encoded


def _stored_inputs(schema: Schema, matrix: Any) -> csr_matrix:
    """A sparse matrix whose columns all keep zeros, encoded entry by entry; the rest is 0."""
    found = csr_matrix(matrix[:, : len(schema.columns)], copy=True)
    stored, values = cells(found.data), np.empty(found.nnz)
    kinds = [type(column) for column in schema.columns]
    for kind in dict.fromkeys(kinds):
        columns = [column for column in schema.columns if type(column) is kind]
        number = np.cumsum([each is kind for each in kinds]) - 1  # among the columns of the kind
        at = np.flatnonzero(np.array([each is kind for each in kinds])[found.indices])
        whole = len(columns) == len(kinds)
        own = stored if whole else stored.take(at)
        values[at] = kind.encode_stored(columns, number[found.indices[at]], own)
    encoded = csr_matrix((values.astype(np.float32), found.indices, found.indptr), found.shape)
    scale_sparse(schema, encoded)
    return encoded
