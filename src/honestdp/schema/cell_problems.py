"""`CellProblems`: how many cells of a column its declaration does not expect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from honestdp.schema.cells import MISSING, UNKNOWN, Cells


def unreadable(cells: Cells) -> NDArray[np.bool_]:
    """Whether each cell is there but is not a number. Sensitive."""
    return np.isnan(cells.numbers()) & ~cells.missing()


def unknown(
    cells: Cells, categories: Sequence[str], ignore_case: bool = False
) -> NDArray[np.bool_]:
    """Whether each cell is there but is none of the categories. Sensitive."""
    return cells.places(categories, ignore_case) == UNKNOWN


def absent(cells: Cells, categories: Sequence[str], ignore_case: bool = False) -> list[str]:
    """The categories that no cell is of. Sensitive."""
    places = cells.places(categories, ignore_case)
    rows = np.bincount(places[places >= 0], minlength=len(categories)).tolist()
    return [name for name, count in zip(categories, rows, strict=True) if not count]


@dataclass(frozen=True)
class CellProblems:
    """Counts of the rows of one column, without noise: sensitive, unless the rows are the caller's
    own, as they are when somebody asks for predictions.

    Attributes:
        rows: All rows.
        missing: Rows whose cell is missing.
        unreadable: Rows whose cell is there but is not a number (or date), where one is declared.
        unknown: Rows whose cell is there but is none of the declared categories or classes.
        outside: Rows whose cell is a number outside the declared bounds.
        distinct_capped: How many different values the encoded cells have: 0 (no rows), 1 (all
            rows are encoded alike) or 2 (two or more).

    Example:
        >>> CellProblems(rows=20, unknown=3).sentences()
        ['3 of 20 cells are not among the categories']
    """

    rows: int
    missing: int = 0
    unreadable: int = 0
    unknown: int = 0
    outside: int = 0
    distinct_capped: int = 0

    @classmethod
    def of_numbers(cls, cells: Cells, low: float, high: float, distinct: int) -> CellProblems:
        """Count in a column of numbers between bounds. Sensitive.

        Args:
            cells: The column.
            low: The lower bound.
            high: The upper bound.
            distinct: Its `distinct_capped`.
        """
        values = cells.numbers()
        return cls(
            rows=len(cells),
            missing=int(cells.missing().sum()),
            unreadable=int(unreadable(cells).sum()),
            outside=int(((values < low) | (values > high)).sum()),
            distinct_capped=distinct,
        )

    @classmethod
    def of_categories(
        cls, cells: Cells, categories: Sequence[str], distinct: int, ignore_case: bool = False
    ) -> CellProblems:
        """Count in a column of categories. Sensitive.

        Args:
            cells: The column.
            categories: The declared categories or classes.
            distinct: Its `distinct_capped`.
            ignore_case: Whether upper and lower case count as the same.
        """
        places = cells.places(categories, ignore_case)
        return cls(
            rows=len(cells),
            missing=int((places == MISSING).sum()),
            unknown=int((places == UNKNOWN).sum()),
            distinct_capped=distinct,
        )

    def sentences(self) -> list[str]:
        """What was not expected, a sentence for each kind of problem; none for missing cells, for
        which every declaration says what they mean."""
        found = {
            "not readable": self.unreadable,
            "not among the categories": self.unknown,
            "outside the bounds": self.outside,
        }
        return [
            f"{count} of {self.rows} cells {'is' if count == 1 else 'are'} {what}"
            for what, count in found.items()
            if count
        ]
