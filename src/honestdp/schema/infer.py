"""Infer a schema from the rows themselves. For simulations only: it is not private.

Bounds are the smallest and largest cells, categories and classes the texts that occur: each reveals
single records. Whoever releases a model with such a schema has released those records.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from honestdp.errors import InputError
from honestdp.schema.cells import Cells, cells
from honestdp.schema.kinds import Column, column_kinds
from honestdp.schema.kinds.numeric import inferred_bounds
from honestdp.schema.schema import Schema
from honestdp.schema.tables import Table, column_of, open_table
from honestdp.schema.target import Target

NAME = "inferred from the rows"


def infer_schema(
    table: Any, target: Any, names: Sequence[str], target_name: str, classes: bool
) -> Schema:
    """Infer the schema of a table from its values. Sensitive.

    names: The columns to use, in the table's order; an array's columns get these names.
    target: The cells to predict. classes: Whether they are classes; otherwise numbers.
    """
    opened = open_table(table, [*names, target_name])
    answers = cells(column_of(target))
    if len(answers) != opened.rows:
        raise InputError(f"target: has {len(answers)} rows, the table {opened.rows}: give one each")
    goal = _classes(target_name, answers) if classes else _numbers(target_name, answers)
    columns = [_column(opened, name) for name in names]
    return Schema(name=NAME, columns=tuple(columns), target=goal)


def _column(table: Table, name: str) -> Column:
    found = table.cells(name)
    kinds = sorted(column_kinds, key=lambda kind: kind.infer_order)
    made = (kind.infer(name, found) for kind in kinds)
    return next(column for column in made if column is not None)  # a category suits any cells


def _classes(name: str, answers: Cells) -> Target:
    _check_known(answers)
    if answers.fractions():
        raise InputError("target: is continuous, not classes; use another model, or give classes")
    found = answers.categories()
    if len(found) < 2:
        raise InputError(f"target: holds {len(found)} class; give at least two")
    with suppress(ValueError):  # text is sorted already
        found = sorted(found, key=float)
    return Target(column=name, classes=tuple(found))


def _numbers(name: str, answers: Cells) -> Target:
    _check_known(answers)
    bounds = inferred_bounds(answers)
    if bounds is None:
        raise InputError("target: does not hold numbers; use another model, or give numbers")
    return Target(column=name, bounds=bounds)


def _check_known(answers: Cells) -> None:
    if answers.filled() < len(answers):
        raise InputError("target: has missing or infinite cells; give the target of every row")
