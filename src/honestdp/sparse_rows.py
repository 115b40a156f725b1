"""Canonical sparse matrices, in which rows do not depend on each other.

A cell may be stored as several parts, which add up, in any order. SciPy and torch merge them with
an unstable sort of the whole matrix: the storage of one row then affects the order in which the
parts of *another* row are added, and so its low digits. Here every row is sorted and merged by
itself, in the order in which it is stored.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix


def canonical(matrix: Any) -> csr_matrix:
    """Convert a SciPy matrix, or a sparse torch tensor, to CSR with sorted columns and no cell
    stored twice. A row of the result is a function of that row alone."""
    made = _coordinates(matrix)
    row, col, data = made.row, made.col, made.data
    if (row[1:] < row[:-1]).any():
        order = np.argsort(row, kind="stable")
        row, col, data = row[order], col[order], data[order]
    same_row = row[1:] == row[:-1]
    unsorted = np.zeros(made.shape[0], np.bool_)
    unsorted[row[1:][same_row & (col[1:] <= col[:-1])]] = True
    if unsorted.any():
        parts = unsorted[row]
        merged = _merged(row[parts], col[parts], data[parts])
        both = [
            np.concatenate([a[~parts], b]) for a, b in zip((row, col, data), merged, strict=True)
        ]
        order = np.argsort(both[0], kind="stable")
        row, col, data = (part[order] for part in both)
    starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=made.shape[0]))])
    return csr_matrix((data, col, starts), shape=made.shape)


def _coordinates(matrix: Any) -> coo_matrix:
    """The entries as they are stored, none merged."""
    if hasattr(matrix, "tocoo"):
        if hasattr(matrix, "check_format"):
            matrix.check_format()
        return matrix.tocoo(copy=False)
    held = matrix.detach().cpu()
    if held.is_sparse:  # coordinates; else compressed rows
        row, col = held._indices().numpy()
        values = held._values()
    else:
        starts, col = held.crow_indices().numpy(), held.col_indices().numpy()
        row, values = np.repeat(np.arange(len(starts) - 1), np.diff(starts)), held.values()
    return coo_matrix((values.numpy(), (row, col)), shape=tuple(matrix.shape))


def _merged(row: Any, col: Any, data: Any) -> tuple[Any, Any, Any]:
    """Entries sorted by row and column, those of one cell added in the order they were stored."""
    order = np.lexsort((col, row))  # stable
    row, col, data = row[order], col[order], data[order]
    first = np.concatenate([[True], (row[1:] != row[:-1]) | (col[1:] != col[:-1])])
    return row[first], col[first], np.add.reduceat(data, np.flatnonzero(first))
