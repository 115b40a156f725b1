"""The encoded cells of one column, as its kind returns them: entries, or a sparse matrix."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

Block: TypeAlias = "Entries | csr_matrix"


class Entries(NamedTuple):
    """The encoded cells of one column: per row a fixed number of entries.

    positions: Which of the column's encoded columns an entry is in: integers of shape [entries],
        the same for every row, or of shape [rows, entries]. The positions of one row differ.
    values: Finite numbers of shape [rows, entries]. Encoded columns without an entry are 0.
    """

    positions: NDArray[Any]
    values: NDArray[Any]


def as_matrix(block: Block, width: int) -> csr_matrix:
    """The encoded cells of a column as a matrix [row, encoded column], zeros that are stored
    included."""
    if not isinstance(block, Entries):
        return block
    rows, entries = block.values.shape
    at = np.broadcast_to(block.positions, block.values.shape).ravel()
    starts = np.arange(rows + 1) * entries
    return csr_matrix((block.values.ravel(), at, starts), shape=(rows, width))
