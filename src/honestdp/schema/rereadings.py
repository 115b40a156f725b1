"""What may be wrong with cells that do not fit: they are read again, spelled otherwise.

A rereading respells texts (lower case, a decimal point for a comma) and names the way out. It is
suspected where more cells fit after it; how many is counted by the column itself, so nothing here
knows a kind of column. Sensitive: for the keeper of the rows, and for public rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from honestdp.schema.cell_problems import CellProblems
from honestdp.schema.cells import Cells

_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+)?,\d+([eE][+-]?\d+)?")


def _decimal_point(text: str) -> str:
    """1,5 as 1.5 and 1.234,5 as 1234.5; any other text as it is."""
    return text.replace(".", "").replace(",", ".") if _COMMA.fullmatch(text) else text


@dataclass(frozen=True)
class Rereading:
    """spellings: ways to respell a text. hint: what the cells look like, and what to do."""

    spellings: tuple[Callable[[str], str], ...]
    hint: str

    def gained(self, problems: Callable[[Cells], CellProblems], column: Cells) -> int:
        """How many more cells fit if they are respelled, in the best of the ways. Sensitive.

        Args:
            problems: That of the column's declaration.
            column: Its cells.
        """
        before = _unfit(problems(column))
        return max(before - _unfit(problems(column.respelled(spell))) for spell in self.spellings)


def _unfit(found: CellProblems) -> int:
    return found.unreadable + found.unknown


REREADINGS = (
    Rereading((_decimal_point,), "look like 1,5: if that is a decimal comma, give --decimal ,"),
    Rereading(
        (str.lower, str.upper, str.capitalize, str.title),
        "differ from the schema in upper and lower case alone: add ignore_case = true, or spell "
        "them alike",
    ),
)
