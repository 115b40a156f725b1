"""How rows are encoded where the schema leaves it open: decided by public facts alone.

The constants were chosen on public tables; `make bench-representation` shows what they gain and
lose, and how flat their optima are (docs/representation.md).

*Curves.* A number encoded as a linear spline lets a linear model draw a curve, for one more weight
a piece. Every weight carries the noise, which falls with n epsilon, so the number of pieces follows
from n epsilon over the number of such columns and of outputs.

*Rare categories.* A category that hardly any row has gets a weight of noise. So categories are
counted with noise, and those without a clear count have no weight of their own (`Categorical`).
That pays where the noise of a count is a small part of the rows.

*Scale.* The step size and the clip norm of a plan fit rows of one norm, and the bias has an input
of 1 beside them. So every encoded row is multiplied by a public number that gives a typical row the
norm ROW_NORM. Where at least half of a row's squared norm follows from the schema (each category
and each bin adds 1), so does that number; else it is learnt with noise.
"""

from __future__ import annotations

import math

from honestdp.errors import fail
from honestdp.models.base import outputs
from honestdp.planning.questions import AboutCategories, share_of
from honestdp.schema import Schema
from honestdp.schema.learn import ROW_NORM

# Pieces of a curve, by the n epsilon a column from which on they pay.
PIECES = ((8000.0, 32), (1000.0, 16), (100.0, 8), (0.0, 4))
ANY = 4.0  # n epsilon a column and output from which on curves pay at all
MOST_CURVES = 200  # columns; more are pixels, words or genes, each of which says little
LARGEST_EPSILON = 3.0  # beyond, it is the number of rows that limits
CATEGORY_SHARE = 0.02  # of the budget, for counting categories
MOST_COUNT_NOISE = 0.015  # of the rows: with more noise, counts say too little about categories
KNOWN = 0.5  # of the squared norm must follow from the schema, or it is learnt


ENCODINGS = ("linear", "bins", "both", "spline")  # of numbers, that a setting may ask for


def with_encoding(
    schema: Schema,
    rows: int,
    epsilon: float,
    delta: float,
    enrich: bool,
    scale: bool,
    encode: str | None = None,
) -> Schema:
    """Decide what a schema leaves open about its encoding.

    Args:
        schema: The declared schema.
        rows: Number of rows.
        epsilon: The budget.
        delta: The budget's delta.
        enrich: Whether numbers may be encoded as curves, and categories counted; a module reads
            them as they are.
        scale: Whether rows are to be scaled.
        encode: How to encode numbers that the schema leaves open; None: by the rule above.

    Returns:
        The schema, its `row_scale` None where that has to be learnt.

    Raises:
        InputError: If there is no such encoding, or no column it could be of.
    """
    if encode is not None:
        schema = _encoded_as(schema, encode)
    pieces = _pieces(schema, rows * min(epsilon, LARGEST_EPSILON)) if enrich else 0
    columns = tuple(column.with_default_encoding(pieces) for column in schema.columns)
    if enrich:
        counted = _counted(schema, rows, epsilon, delta)
        columns = tuple(c.with_default_rare() if c.name in counted else c for c in columns)
    chosen = schema.model_copy(update={"columns": columns})
    if not scale:
        return chosen
    if chosen.known_norm < KNOWN * chosen.squared_norm:
        return chosen
    return chosen.model_copy(update={"row_scale": ROW_NORM / math.sqrt(chosen.squared_norm)})


def _encoded_as(schema: Schema, encode: str) -> Schema:
    if encode not in ENCODINGS:
        raise fail("encode", encode, f"must be one of {', '.join(ENCODINGS)}")
    columns = tuple(column.encoded_as(encode) for column in schema.columns)
    if columns == schema.columns:
        remedy = "no column of the schema leaves its encoding open; leave encode out of the grid"
        raise fail("encode", encode, remedy)
    return schema.model_copy(update={"columns": columns})


def _counted(schema: Schema, rows: int, epsilon: float, delta: float) -> set[str]:
    """The columns whose categories are counted: all, if the noise of their counts is small enough;
    else those without an order, as a rare one is less at the mercy of noise where its place in an
    order is told too; else none."""
    every = [c for c in schema.columns if c.question == AboutCategories.name]
    for counted in (every, [c for c in every if not c.tells_order]):
        noise = share_of(CATEGORY_SHARE, len(counted), epsilon, delta)
        if counted and noise <= MOST_COUNT_NOISE * rows:
            return {column.name for column in counted}
    return set()


def _pieces(schema: Schema, strength: float) -> int:
    """Number of pieces of a curve. strength: rows times epsilon."""
    curves = [c.with_default_encoding(8) != c.with_default_encoding(0) for c in schema.columns]
    count, classes = sum(curves), len(schema.target.classes or ())
    if not count or count > MOST_CURVES or strength < ANY * count * outputs(classes or None):
        return 0
    return next(pieces for least, pieces in PIECES if strength >= least * count)


def is_wide(schema: Schema) -> bool:
    """Whether rows are mostly words, counts or images, or have hundreds of columns, each of which
    says little: models have a setting of their own for them."""
    return schema.has_blocks or len(schema.columns) > MOST_CURVES


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
