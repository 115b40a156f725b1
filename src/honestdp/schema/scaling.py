"""Scale encoded rows as the schema says: each by itself, in place.

First the columns that are scaled together (counts) to BLOCK_NORM, then whole rows to `row_norm`, if
it is declared, then every row by `row_scale`. A row, or its part, of zeros stays zero. In float64:
the factor of the smallest cells exceeds the range of float32, and no record may make NumPy warn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from honestdp.schema.kinds.base import BLOCK_NORM

if TYPE_CHECKING:
    from honestdp.schema.schema import Schema

Floats = NDArray[np.float64]


def scale_dense(schema: Schema, inputs: NDArray[np.float32]) -> None:
    """Scale rows [row, column]."""
    together = schema.scaled_together
    if together:
        parts = [inputs[:, first:end] for first, end in together]
        factors = _factors(BLOCK_NORM, sum(map(_squares, parts), np.zeros(len(inputs))))
        for part in parts:
            _multiply(part, factors[:, None])
    if schema.row_norm is not None:
        _multiply(inputs, _factors(schema.row_norm, _squares(inputs))[:, None])
    if schema.row_scale is not None:
        _multiply(inputs, schema.row_scale)


def scale_sparse(schema: Schema, encoded: csr_matrix) -> None:
    """Scale the stored entries of rows."""
    data = encoded.data
    if schema.scaled_together or schema.row_norm is not None:
        of_row = _rows_of(encoded)
        inside = np.zeros(encoded.shape[1], dtype=bool)
        for first, end in schema.scaled_together:
            inside[first:end] = True
        own = inside[encoded.indices]
        rows = encoded.shape[0]
        if own.any():
            factors = _factors(BLOCK_NORM, _row_squares(np.where(own, data, 0), of_row, rows))
            _multiply(data, np.where(own, factors[of_row], 1.0))
        if schema.row_norm is not None:
            _multiply(data, _factors(schema.row_norm, _row_squares(data, of_row, rows))[of_row])
    if schema.row_scale is not None:
        _multiply(data, schema.row_scale)


def scale_rows(inputs: Any, scale: float) -> None:
    """Multiply encoded rows by a number, as `Schema.encode` does with this `row_scale`."""
    _multiply(inputs if isinstance(inputs, np.ndarray) else inputs.data, scale)


def scale_to(norm: float, encoded: csr_matrix) -> None:
    """Scale every row to a norm; rows of zeros stay."""
    _multiply(encoded.data, _factors(norm, squared_norms(encoded))[_rows_of(encoded)])


def squared_norms(inputs: Any) -> Floats:
    """The squared norm of each encoded row. Sensitive."""
    if isinstance(inputs, np.ndarray):
        return _squares(inputs)
    return _row_squares(inputs.data, _rows_of(inputs), inputs.shape[0])


def _rows_of(encoded: csr_matrix) -> NDArray[np.int64]:
    """The row of each stored entry."""
    return np.repeat(np.arange(encoded.shape[0]), np.diff(encoded.indptr))


def _squares(values: NDArray[np.float32]) -> Floats:
    return np.einsum("ij,ij->i", values, values, dtype=np.float64)


def _row_squares(values: NDArray[np.float32], of_row: NDArray[np.int64], rows: int) -> Floats:
    wide = values.astype(np.float64)
    return np.bincount(of_row, wide * wide, minlength=rows).astype(np.float64)


def _factors(norm: float, squares: Floats) -> Floats:
    norms = np.sqrt(squares)
    return np.divide(norm, norms, out=np.zeros_like(norms), where=norms > 0)


def _multiply(values: NDArray[Any], factors: Floats | float) -> None:
    np.multiply(values, factors, out=values, dtype=np.float64, casting="same_kind")
