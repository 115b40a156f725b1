"""Columns of Python objects, as workbooks and databases give them, as text.

Always text, whatever the cells are: the type of a column must not depend on one of its cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa

from honestdp.schema.cells import TEXT, as_text


def text_column(values: Sequence[Any], decimal: str) -> pa.Array:
    """Each object as text; a number with this decimal mark, in which text cells are written too."""
    try:
        return pa.array(values, TEXT)
    except Exception:  # not all of them text
        return pa.array([_written(value, decimal) for value in values], TEXT)


def text_table(names: Sequence[str], rows: Sequence[Sequence[Any]], decimal: str) -> pa.Table:
    """Rows of objects as a table of text; a cell that a short row does not have is missing."""
    columns = [
        text_column([row[i] if i < len(row) else None for row in rows], decimal)
        for i in range(len(names))
    ]
    return pa.Table.from_arrays(columns, names=list(names))


def _written(value: Any, decimal: str) -> str | None:
    text = as_text(value)
    if text is not None and isinstance(value, (float, Decimal)):
        return text.replace(".", decimal)
    return text
