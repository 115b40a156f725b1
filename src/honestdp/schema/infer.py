"""A schema read off the rows themselves. For simulations only: this is what leaks.

Bounds are the smallest and largest cells, categories and classes the words that occur: each tells
of single records. Whoever releases a model with such a schema has released those records.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from honestdp.errors import InputError
from honestdp.schema.cells import Cells, cells
from honestdp.schema.columns import Categorical, Numeric, Target
from honestdp.schema.declared import Schema
from honestdp.schema.tables import Table, column_of, open_table

NAME = "inferred from the rows"


def infer_schema(
    table: Any, target: Any, names: Sequence[str], target_name: str, classes: bool
) -> Schema:
    """The schema of a table, from its values. Sensitive, like them.

    names: of the columns to use, in the table's order; an array's columns get these names.
    target: the cells to predict; classes: whether they are words or numbers.
    """
    opened = open_table(table, [*names, target_name])
    answers = cells(column_of(target))
    if len(answers) != opened.rows:
        raise InputError(f"target: has {len(answers)} rows, the table {opened.rows}: give one each")
    goal = _classes(target_name, answers) if classes else _numbers(target_name, answers)
    columns = [_column(opened, name) for name in names]
    return Schema(name=NAME, columns=tuple(columns), target=goal)


def _column(table: Table, name: str) -> Numeric | Categorical:
    found = table.cells(name)
    bounds = _bounds(found)
    if bounds is not None:
        return Numeric(name=name, bounds=bounds)
    return Categorical(name=name, categories=tuple(found.words()), other=True)


def _bounds(found: Cells) -> tuple[float, float] | None:
    """The range of cells that are all numbers or missing; None where some are words."""
    values = found.numbers()
    known = values[~np.isnan(values)]
    if len(known) < found.filled():
        return None
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    low, high = max(low, -1e300), min(high, 1e300)
    return (low, high) if low < high else (low - 0.5 - abs(low) / 2, high + 0.5 + abs(high) / 2)


def _classes(name: str, answers: Cells) -> Target:
    _check_known(answers)
    if answers.fractions():
        raise InputError("target: is continuous, not of classes; take another model, or classes")
    words = answers.words()
    if len(words) < 2:
        raise InputError(f"target: holds {len(words)} class; there is nothing to tell apart")
    with suppress(ValueError):  # words, not numbers, are in their own order already
        words = sorted(words, key=float)
    return Target(column=name, classes=tuple(words))


def _numbers(name: str, answers: Cells) -> Target:
    _check_known(answers)
    bounds = _bounds(answers)
    if bounds is None:
        raise InputError("target: is not of numbers; take another model, or numbers")
    return Target(column=name, bounds=bounds)


def _check_known(answers: Cells) -> None:
    if answers.filled() < len(answers):
        raise InputError("target: has missing or infinite cells; give the target of every row")
