"""`Counts`: how often something occurs in a row: words, clicks, purchases; most are 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from honestdp.schema.blocks import Entries
from honestdp.schema.cell_problems import CellProblems, unreadable
from honestdp.schema.cells import Cells
from honestdp.schema.kinds.base import CellLists, Column, column_kinds

MOST = 1e12


@column_kinds.register
class Counts(Column):
    """A column of counts, one of many such columns of which most are 0 in a row.

    A count becomes log(1 + count), or 1 where there is any; a cell that is missing, negative or no
    number becomes 0. All columns of counts of a row together are then scaled to one public norm, so
    that long rows weigh no more than short ones and no bound has to be known.

    Args:
        name: The column of the table.
        count: "log" or "presence".

    Example:
        >>> Counts(name="word free").encoded_names
        ['word free']
    """

    label: ClassVar[str] = "count"
    form: ClassVar[tuple[str, ...]] = ('kind = "counts"',)
    form_help: ClassVar[tuple[str, ...]] = (
        "one of many counts, most of them 0 (words, clicks); scaled together, no bounds needed",
    )
    remedies: ClassVar[dict[str, str]] = {"count": 'must be "log" or "presence"'}
    scaled_together: ClassVar[bool] = True

    kind: Literal["counts"] = "counts"
    count: Literal["log", "presence"] = "log"

    @property
    def encoded_names(self) -> list[str]:
        return [self.name]

    @property
    def squared_norm(self) -> float:
        return 0.0  # of its own; see `Schema.squared_norm`

    @property
    def keeps_zeros(self) -> bool:
        return True

    def encode(self, cells: Cells) -> Entries:
        return Entries(np.zeros(1, dtype=np.int64), self._values(cells.numbers())[:, None])

    @classmethod
    def encode_stored(
        cls, columns: Sequence[Self], of: NDArray[np.int64], cells: Cells
    ) -> NDArray[Any]:
        presence = np.array([column.count == "presence" for column in columns])[of]
        numbers = _clean(cells.numbers())
        return np.where(presence, numbers > 0, np.log1p(numbers))

    def _values(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        clean = _clean(numbers)
        return (clean > 0).astype(np.float64) if self.count == "presence" else np.log1p(clean)

    def made_up(self, rows: int, source: np.random.RandomState) -> CellLists:
        """Counts of which seven in ten are 0."""
        return {self.name: source.geometric(0.7, size=rows) - 1}

    def problems(self, cells: Cells) -> CellProblems:
        return CellProblems.of_numbers(cells, 0.0, MOST, self.distinct(cells))

    def unfit(self, cells: Cells) -> NDArray[np.bool_]:
        return unreadable(cells)

    @property
    def encoding_words(self) -> str:
        return "as counts (" + ("any or none" if self.count == "presence" else "logarithms") + ")"


def _clean(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.clip(np.where(np.isnan(numbers), 0.0, numbers), 0.0, MOST)
