"""Cells that a schema does not expect, in rows that somebody wants predictions for.

Only at prediction: the rows are the caller's own, so that counts of them cost nothing. Nothing here
may be called on rows that a run protects.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from honestdp.schema import CellProblems, Schema, Table
from honestdp.schema.cells import cells

MOST = 10  # columns that are told one by one


def unexpected(schema: Schema, table: Table) -> list[str]:
    """One line for each column with cells that its declaration does not expect: unknown categories,
    numbers outside the bounds, texts where numbers are declared. Counts, and no cell.

    Args:
        schema: The model's schema.
        table: The rows to predict.

    Example:
        >>> from honestdp.schema import Categorical, Target, open_rows
        >>> ward = Categorical(name="ward", categories=["a", "b"])
        >>> visits = Schema(
        ...     name="visits", columns=[ward], target=Target(column="back", classes=["no", "yes"])
        ... )
        >>> unexpected(visits, open_rows(visits, {"ward": ["a", "A", "c"]}))
        ['ward: 2 of 3 cells are not among the categories']
    """
    found = ((name, problems.sentences()) for name, problems in _problems(schema, table))
    lines = [f"{name}: {', '.join(sentences)}" for name, sentences in found if sentences]
    more = len(lines) - MOST
    return lines if more <= 0 else [*lines[:MOST], f"and {more} more columns"]


def _problems(schema: Schema, table: Table) -> Iterator[tuple[str, CellProblems]]:
    """The problems of each column of the table, by its name."""
    reads = schema.readers
    if table.matrix is None:
        for name, column in reads.items():
            yield name, column.problems(table.cells(name))
        return
    # Of a sparse matrix the stored cells alone: the others are zeros, and there may be billions.
    starts = table.matrix.indptr
    for place in np.flatnonzero(np.diff(starts)):
        name = table.names[place]
        if name in reads:
            stored = cells(table.matrix.data[starts[place] : starts[place + 1]])
            yield name, replace(reads[name].problems(stored), rows=table.rows)
