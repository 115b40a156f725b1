"""How rows are encoded where the schema leaves it open: decided by public facts alone.

RICH_ROWS and ROW_NORM were chosen on public tables; `make bench-representation` shows what they
gain and lose, and how flat their optima are (docs/representation.md).

*Bins.* A number in bins lets a linear model draw a curve, for 16 more weights that each carry the
noise. The noise of a weight falls with n epsilon, and a weight's share of the rows with the number
of weights, so bins pay where n epsilon is large beside the number of binned columns.

*Scale.* The step size and the clip norm of a plan fit rows of one norm, and the bias has an input
of 1 beside them. So every encoded row is multiplied by a public number that gives a typical row the
norm ROW_NORM. Where at least half of a row's squared norm follows from the schema (each category
and each bin adds 1), so does that number; else it is learnt with noise.
"""

from __future__ import annotations

import math

from honestdp.schema import Schema
from honestdp.schema.learn import ROW_NORM

RICH_ROWS = 300.0  # n epsilon a binned column, from which on bins pay
KNOWN = 0.5  # of the squared norm must follow from the schema, or it is learnt


def with_encoding(schema: Schema, rows: int, epsilon: float, enrich: bool, scale: bool) -> Schema:
    """Decide what a schema leaves open about its encoding.

    Args:
        schema: The declared schema.
        rows: Number of rows.
        epsilon: The budget.
        enrich: Whether numbers may be encoded in bins; a module reads them as they are.
        scale: Whether rows are to be scaled.

    Returns:
        The schema, its `row_scale` None where that has to be learnt.
    """
    several = [column.with_default_encoding(True) for column in schema.columns]
    binned = sum(a != b for a, b in zip(several, schema.columns, strict=True))
    rich = enrich and rows * epsilon >= RICH_ROWS * binned
    columns = tuple(column.with_default_encoding(rich) for column in schema.columns)
    chosen = schema.model_copy(update={"columns": columns})
    if not scale:
        return chosen
    if chosen.known_norm < KNOWN * chosen.squared_norm:
        return chosen
    return chosen.model_copy(update={"row_scale": ROW_NORM / math.sqrt(chosen.squared_norm)})


def encoding_words(schema: Schema) -> str:
    """How the columns are encoded, in words for a plan."""
    named: dict[str, list[str]] = {}
    for column in schema.columns:
        if column.encoding_words:
            named.setdefault(column.encoding_words, []).append(column.name)
    parts = []
    for words, names in named.items():
        few = names if len(names) <= 8 else [*names[:6], f"{len(names) - 6} more"]
        parts.append(f"{', '.join(few)} {words}")
    return "; ".join(parts)
