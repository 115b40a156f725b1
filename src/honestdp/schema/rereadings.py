"""What may be wrong with cells that do not fit: they are read again, spelled otherwise.

A rereading respells texts (lower case, a decimal point for a comma) and names the way out. It is
suspected where more cells fit after it; which fit is said by the declaration itself, so nothing
here knows a kind of column. Sensitive: for the keeper of the rows, and for public rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from honestdp.schema.cells import Cells

Unfit: TypeAlias = Callable[[Cells], NDArray[np.bool_]]
_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+)?,\d+([eE][+-]?\d+)?")


def _decimal_point(text: str) -> str:
    """1,5 as 1.5 and 1.234,5 as 1234.5; any other text as it is."""
    return text.replace(".", "").replace(",", ".") if _COMMA.fullmatch(text) else text


@dataclass(frozen=True)
class Rereading:
    """spellings: ways to respell a text. hint: what the cells look like, and what to do."""

    spellings: tuple[Callable[[str], str], ...]
    hint: str

    def gained(self, unfit: Unfit, column: Cells) -> int:
        """How many cells that do not fit would fit if they were respelled, in the best of the ways.
        Sensitive.

        Args:
            unfit: That of the column's declaration.
            column: Its cells.
        """
        bad = column.take(np.flatnonzero(unfit(column)))
        return max(len(bad) - int(unfit(bad.respelled(spell)).sum()) for spell in self.spellings)


REREADINGS = (
    Rereading((_decimal_point,), "look like 1,5: if that is a decimal comma, give --decimal ,"),
    Rereading(
        (str.lower, str.upper, str.capitalize, str.title),
        "differ from the schema in upper and lower case alone: add ignore_case = true, or spell "
        "them alike",
    ),
)
