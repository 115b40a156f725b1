"""`Categorical`: one of a list of categories, one-hot encoded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from honestdp.schema.cell_problems import CellProblems, unknown
from honestdp.schema.cells import MISSING, UNKNOWN, Cells
from honestdp.schema.fields import Categories, Category, Flag, check_categories
from honestdp.schema.kinds.base import Column, Entries, Representative, column_kinds


@column_kinds.register
class Categorical(Column):
    """A column of categories from a public list.

    Args:
        name: The column of the table.
        categories: The categories. Cells are compared with them without surrounding white space,
            then as numbers (1, 1.0, " 1 " and "1" are the same; true is 1, false is 0).
        other: Whether there is one more encoded column, for every value that is not declared.
            Without it such a cell is all zeros.
        missing: The category of a missing cell; by default `other`, or all zeros.
        ignore_case: Whether upper and lower case count as the same.

    Example:
        >>> Categorical(name="ward", categories=["a", "b"], other=True).encoded_names
        ['ward=a', 'ward=b', 'ward (other)']
    """

    label: ClassVar[str] = "category"
    form: ClassVar[tuple[str, ...]] = (
        'kind = "categorical"',
        'categories = ["a", "b"]',
        "other = true",
    )
    form_help: ClassVar[tuple[str, ...]] = ("other = true: one more bin for other texts",)
    remedies: ClassVar[dict[str, str]] = {
        "categories": 'give a list of texts, such as ["yes", "no"]',
        "other": "must be true or false",
        "ignore_case": "must be true or false",
        "missing": "give the category that stands for a missing cell",
    }
    infer_order: ClassVar[int] = 20  # it suits any cells
    added_fields: ClassVar[frozenset[str]] = frozenset({"ignore_case"})

    kind: Literal["categorical"] = "categorical"
    categories: Categories
    other: Flag = False
    missing: Category | None = None
    ignore_case: Flag = False

    @model_validator(mode="after")
    def _check(self) -> Categorical:
        check_categories("categories", self.categories, least=1)
        if self.missing is not None and self.missing not in self.categories:
            raise ValueError(f"missing = {self.missing!r} must be one of the categories")
        return self

    @property
    def encoded_names(self) -> list[str]:
        names = [f"{self.name}={category}" for category in self.categories]
        return [*names, f"{self.name} (other)"] if self.other else names

    @property
    def width(self) -> int:
        return len(self.categories) + self.other

    @property
    def squared_norm(self) -> float:
        return 1.0

    @property
    def known_norm(self) -> float:
        return 1.0  # but for cells without a place

    def encode(self, cells: Cells) -> Entries:
        # A cell without a place is a stored 0 at position 0: every row has one entry.
        places = self._positions()[cells.places(self.categories, self.ignore_case)]
        return Entries(np.maximum(places, 0)[:, None], (places >= 0).astype(np.float64)[:, None])

    def as_one_hot(self) -> Categorical:
        return self

    def _positions(self) -> NDArray[np.int64]:
        """The position of each category, then, as the last two, of a missing and of an unknown
        cell; -1: none."""
        count = len(self.categories)
        other = count if self.other else -1
        missing = other if self.missing is None else self.categories.index(self.missing)
        positions = np.empty(count + 2, dtype=np.int64)
        positions[:count] = np.arange(count)
        positions[MISSING], positions[UNKNOWN] = missing, other
        return positions

    def representatives(self) -> Sequence[Representative]:
        found = [Representative(category, None, category) for category in self.categories]
        if self.other:  # any text that is longer than all categories, and no number
            found.append(Representative("(other)", None, "x" + max(self.categories, key=len)))
        return found

    def problems(self, cells: Cells) -> CellProblems:
        return CellProblems.of_categories(
            cells, self.categories, self.distinct(cells), self.ignore_case
        )

    def unfit(self, cells: Cells) -> NDArray[np.bool_]:
        return unknown(cells, self.categories, self.ignore_case)

    def describe(self) -> str:
        return ", ".join(self.categories) + (", or another" if self.other else "")

    @classmethod
    def infer(cls, name: str, cells: Cells) -> Categorical:
        return cls(name=name, categories=tuple(cells.categories()), other=True)
