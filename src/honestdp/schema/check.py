"""`check`: count what of a table does not fit its schema, before a budget is spent on it.

Nothing here is private: see `table_check` for whom the result is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from honestdp.errors import InputError
from honestdp.schema.cell_problems import CellProblems
from honestdp.schema.cells import Cells
from honestdp.schema.encode import open_rows, target_cells
from honestdp.schema.files import TableFile
from honestdp.schema.kinds import Column
from honestdp.schema.rereadings import REREADINGS, Unfit
from honestdp.schema.schema import Schema
from honestdp.schema.sources.opening import is_place
from honestdp.schema.table_check import ColumnCheck, Finding, TableCheck
from honestdp.schema.target import Target
from honestdp.text import listed

SOME, MOST = 0.05, 0.5  # shares of the rows above which a finding is serious


def check(schema: Schema, table: Any, target: Any = None, *, public: bool = False) -> TableCheck:
    """Count what of a table does not fit its schema. Nothing is charged, and nothing is private.

    Serious are: more than a twentieth of the cells are no numbers where numbers are declared, or
    would fit if they were spelled otherwise; more than half are none of the categories, or outside
    the bounds; all are missing; more than a twentieth of the rows have no known target; a class
    does not occur, or a number to predict is the same everywhere. All else are notes, such as
    categories that are declared and in no row.

    Args:
        schema: What is declared about the table.
        table: A path to a CSV or Parquet file, or a table in memory.
        target: The cells of the target, if they are not a column of the table.
        public: Whether the rows are public. Otherwise the result is marked: it is for the keeper
            of the table, who sees the rows anyway, and for nobody else.

    Returns:
        The counts, column by column, and a verdict.

    Raises:
        InputError: If the table lacks a column or has no rows.

    Example:
        >>> from honestdp.schema import Numeric
        >>> pay = Target(column="pay", classes=["no", "yes"])
        >>> schema = Schema(name="x", columns=[Numeric(name="age", bounds=(0, 110))], target=pay)
        >>> check(schema, {"age": [31, "5,5"], "pay": ["no", "yes"]}, public=True).fits
        False
    """
    source = TableFile(table) if is_place(table) else table
    opened = open_rows(schema, source)
    answers = target_cells(schema, opened, target)
    if not opened.rows:
        raise InputError(f"{opened.source}: holds no rows; give a table with rows")
    names = source.names if isinstance(source, TableFile) else opened.names
    used = {*schema.input_names, schema.target.column}
    return TableCheck(
        source=opened.source,
        public=public,
        rows=opened.rows,
        width=schema.width,
        columns=tuple(
            _input(name, column, opened.cells(name)) for name, column in schema.readers.items()
        ),
        target=_target(schema.target, answers),
        unused=tuple(name for name in map(str.strip, names) if name not in used),
    )


def _input(name: str, column: Column, cells: Cells) -> ColumnCheck:
    """Count and judge a column of the table by the declaration that reads it. Sensitive."""
    found = column.problems(cells)
    findings = _findings(found, column.unfit, cells)
    known = found.missing + found.unknown < found.rows
    if known and (absent := column.absent(cells)):
        what = "category is" if len(absent) == 1 else "categories are"
        findings.append(
            Finding(f"{len(absent)} declared {what} in no row: {listed(absent)}", False)
        )
    if found.distinct_capped == 1:
        findings.append(Finding("every cell is encoded alike: a model learns nothing of it", False))
    return ColumnCheck(name, column.label or column.kind, found, tuple(findings))


def _target(goal: Target, cells: Cells) -> ColumnCheck:
    """Count and judge the target. Sensitive."""
    found, known = goal.problems(cells), goal.known(cells)
    findings = _findings(found, lambda some: ~goal.known(some), cells)
    lost = found.rows - int(known.sum())
    if lost:
        text = f"{lost} of {found.rows} rows have no known target, and count for nothing"
        findings.append(Finding(text, lost > SOME * found.rows))
    if goal.classes is None:
        if found.distinct_capped == 1:
            findings.append(Finding("every row has the same target", True))
        return ColumnCheck(goal.column, "number to predict", found, tuple(findings))
    rows = np.bincount(goal.encode(cells)[known], minlength=len(goal.classes)).tolist()
    absent = [name for name, count in zip(goal.classes, rows, strict=True) if not count]
    if absent:
        findings.append(Finding(f"no row is of class {listed(absent)}", True))
    classes = dict(zip(goal.classes, rows, strict=True))
    return ColumnCheck(goal.column, "class to predict", found, tuple(findings), classes)


def _findings(found: CellProblems, unfit: Unfit, cells: Cells) -> list[Finding]:
    """Judge the cells of one column. Sensitive."""
    limits = ((found.unreadable, SOME), (found.unknown, MOST), (found.outside, MOST))
    serious = [count > limit * found.rows for count, limit in limits if count]
    findings = [Finding(*each) for each in zip(found.sentences(), serious, strict=True)]
    if found.unreadable or found.unknown:
        for rereading in REREADINGS:
            gained = rereading.gained(unfit, cells)
            if gained > 0:
                text = f"{gained} of these cells {rereading.hint}"
                findings.append(Finding(text, gained > SOME * found.rows))
    if found.missing > MOST * found.rows:
        text = f"{found.missing} of {found.rows} cells are missing"
        findings.append(Finding(text, found.missing == found.rows))
    return findings
