"""`simulate`: rows made up from a schema alone, to try a plan on before any real row is read.

Every kind of column makes its own cells (`Column.made_up`), within what is declared. No file is
read, so such rows say nothing about anyone, and nothing about how good a model of the real ones
would be either.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from honestdp.errors import fail, instance, positive_integer, random_seed
from honestdp.schema.blocks import as_matrix
from honestdp.schema.kinds.base import Column
from honestdp.schema.schema import Schema
from honestdp.schema.tables import Table, open_table

STAMP = "MADE UP from the schema alone: no row is real, no data was read"
MOST_CELLS = 10**8
MOST_SIGNALS = 50  # columns that a made-up target depends on
_BINS = 16  # of an empty histogram, where something would have to be learnt
_STEEPNESS = 4.0  # of classes: the best guess is right nine times in ten, of two classes
_SLOPE, _ERROR = 0.15, 0.02  # of a number, as shares of its bounds


class MadeUp(NamedTuple):
    """Rows that were made up. table: The inputs, then the target. depends_on: The names of the
    declared columns that the target depends on; empty: it was drawn on its own."""

    table: pa.Table
    depends_on: tuple[str, ...]


def simulate(schema: Schema, rows: int, seed: int = 0, *, signal: bool = False) -> pa.Table:
    """Make up rows from a schema alone, to try a plan on.

    A run on them is a run like any other; give it a seed, so that it is a simulation and no budget
    is charged.

    Args:
        schema: What is public about the table. Nothing else is read.
        rows: Number of rows to make up.
        seed: The same seed makes up the same rows.
        signal: Whether the target depends on some of the columns, by a linear rule that is made up
            too, so that a model has something to learn. Otherwise it is drawn on its own.

    Returns:
        An Arrow table with the columns that the schema reads, the target last. Its metadata say
        that it is made up.

    Raises:
        InputError: If `rows` or `seed` is out of bounds.

    Example:
        >>> from honestdp.datasets import adult
        >>> simulate(adult().schema, 3).num_rows
        3
    """
    return make_up(schema, rows, seed, signal).table


def make_up(schema: Schema, rows: int, seed: int, signal: bool) -> MadeUp:
    """As `simulate`; it also returns what the target depends on."""
    instance(Schema, "schema", schema, 'Schema.load("table.toml")')
    source, own = (np.random.RandomState([random_seed("seed", seed), k]) for k in (0, 1))
    names = schema.input_names
    if positive_integer("rows", rows) * (len(names) + 1) > MOST_CELLS:
        most = MOST_CELLS // (len(names) + 1)
        raise fail("rows", rows, f"of {len(names) + 1} columns are too many cells; at most {most}")
    cells: dict[str, pa.Array] = {}
    for column in schema.columns:
        for name, made in column.made_up(rows, source).items():
            cells.setdefault(name, pa.array(made))
    inputs = pa.table({name: cells[name] for name in names})
    depends_on, scores = _signal(schema, inputs, own) if signal else ((), None)
    target = pa.array(_target(schema, rows, own, scores))
    table = inputs.append_column(schema.target.column, target)
    return MadeUp(table.replace_schema_metadata({"honestdp": STAMP}), depends_on)


def _signal(
    schema: Schema, inputs: pa.Table, source: np.random.RandomState
) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """Some columns, and a score per row and class (or one, for a number): the sum of what each of
    them adds by weights of its own."""
    count = min(max(2, -(-len(schema.columns) // 2)), len(schema.columns), MOST_SIGNALS)
    chosen = sorted(source.choice(len(schema.columns), count, replace=False))
    columns = [schema.columns[i] for i in chosen]
    table, outputs = open_table(inputs, []), len(schema.target.classes or (0,))
    parts = [_standardised(_added(column, table, outputs, source)) for column in columns]
    return tuple(column.name for column in columns), sum(parts) / np.sqrt(count)


def _added(
    column: Column, table: Table, outputs: int, source: np.random.RandomState
) -> NDArray[np.float64]:
    if column.learns:  # as if the noise had hidden everything: nothing is learnt from made-up rows
        column = column.with_learnt(column.learnt_from(np.zeros(_BINS), 1.0, table.rows))
    encoded = as_matrix(column.encode_from(table), column.width)
    found: NDArray[np.float64] = encoded @ source.standard_normal((column.width, outputs))
    return found


def _standardised(values: NDArray[np.float64]) -> NDArray[np.float64]:
    spread = values.std(axis=0)
    return (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def _target(
    schema: Schema,
    rows: int,
    source: np.random.RandomState,
    scores: NDArray[np.float64] | None,
) -> NDArray[np.object_] | NDArray[np.float64]:
    goal = schema.target
    if goal.classes is not None:
        known = 0.0 if scores is None else _STEEPNESS / np.sqrt(2) * scores
        which = np.argmax(known + source.gumbel(size=(rows, len(goal.classes))), axis=1)
        return np.array(goal.classes, dtype=object)[which]
    if scores is None:
        return goal.decode(source.uniform(-1, 1, rows))
    return goal.decode(2 * (_SLOPE * scores[:, 0] + _ERROR * source.standard_normal(rows)))
