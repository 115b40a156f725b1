"""The test part: rows held out to evaluate the released model on, by public facts alone."""

from __future__ import annotations

from honestdp.errors import fail
from honestdp.schema import Schema

SHARE = 0.1
LEAST_ROWS, LEAST_PRECISION = 1000, 2000.0  # rows; rows times epsilon


def test_rows(rows: int, epsilon: float, share: float | str) -> int:
    """Number of test rows.

    By default a tenth, of tables with at least 1,000 rows and at least 2,000 / epsilon: then the
    share of right answers is known to about 10 in 100 or better. The noise of a count is some
    5 / epsilon, and the share has twice that, so its 95 % interval has half a width of about
    20 / (epsilon rows / 10).

    Args:
        rows: Number of rows of the table.
        epsilon: The budget.
        share: The share asked for; "auto": by the rule.
    """
    if isinstance(share, str):
        share = SHARE if rows >= LEAST_ROWS and rows * epsilon >= LEAST_PRECISION else 0.0
    found = round(share * rows)
    if share and not 0 < found < rows:
        raise fail(
            "test_share", share, f"leaves no rows to test or to train on, of {rows}; change it"
        )
    return found


def check_testing(schema: Schema, share: object, groups: object) -> None:
    """Raise InputError unless share and groups can be had.

    Args:
        schema: The table's.
        share: The share of test rows; "auto": by the rule.
        groups: The column that the evaluation is split by; None: none.
    """
    if share != "auto":
        number = isinstance(share, (int, float)) and not isinstance(share, bool)
        if not number or not 0 <= share < 1:  # type: ignore[operator]
            remedy = 'must be a share of the rows, from 0 (none) to below 1, or "auto"'
            raise fail("test_share", share, remedy)
    if groups is None:
        return
    if share == 0:
        raise fail("groups", groups, "are of test rows; give a test_share, such as 0.1")
    group_values(schema, groups)


def group_values(schema: Schema, groups: object) -> tuple[str, ...]:
    """The values of the column that groups are of.

    Args:
        schema: The table's.
        groups: The column's name.
    """
    for column in schema.columns:
        if column.name == groups:
            found = getattr(column, "categories", None)
            if not found:
                raise fail("groups", groups, "has no declared categories; name a column that has")
            return tuple(found)
    names = ", ".join(one.name for one in schema.columns if getattr(one, "categories", None))
    raise fail("groups", groups, f"is no column of the schema; those with categories are {names}")
