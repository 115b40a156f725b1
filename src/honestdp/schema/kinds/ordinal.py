"""`Ordinal`: categories with an order, as a number and one-hot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from honestdp.schema.cell_problems import CellProblems, unknown
from honestdp.schema.cells import Cells
from honestdp.schema.fields import Categories, Flag, check_categories
from honestdp.schema.kinds.base import Column, Entries, Representative, column_kinds
from honestdp.schema.kinds.categorical import Categorical


@column_kinds.register
class Ordinal(Column):
    """A column of categories that have an order, such as school grades.

    Encoded as the category's place in the order, from 0 to 1, and as the category itself. A cell
    that is missing or not among them is all zeros.

    Args:
        name: The column of the table.
        categories: At least two, from the lowest to the highest, spelled as for `Categorical`.
        ignore_case: Whether upper and lower case count as the same.

    Example:
        >>> Ordinal(name="size", categories=["S", "M", "L"]).encoded_names
        ['size', 'size=S', 'size=M', 'size=L']
    """

    label: ClassVar[str] = "ordered category"
    form: ClassVar[tuple[str, ...]] = ('kind = "ordinal"', 'categories = ["low", "high"]')
    form_help: ClassVar[tuple[str, ...]] = ("categories from the lowest to the highest",)
    remedies: ClassVar[dict[str, str]] = {
        "categories": 'give a list of texts from the lowest to the highest, such as ["S", "M"]',
        "ignore_case": "must be true or false",
    }
    added_fields: ClassVar[frozenset[str]] = frozenset({"ignore_case"})

    kind: Literal["ordinal"] = "ordinal"
    categories: Categories
    ignore_case: Flag = False

    @model_validator(mode="after")
    def _check(self) -> Ordinal:
        check_categories("categories", self.categories, 2, self.ignore_case)
        return self

    @property
    def encoded_names(self) -> list[str]:
        return [self.name, *(f"{self.name}={category}" for category in self.categories)]

    @property
    def entries(self) -> int:
        return 2

    @property
    def squared_norm(self) -> float:
        return 1.25

    @property
    def known_norm(self) -> float:
        return 1.0

    def encode(self, cells: Cells) -> Entries:
        places = np.maximum(cells.places(self.categories, self.ignore_case), -1)
        known = (places >= 0).astype(np.float64)
        place = np.maximum(places, 0)
        positions = np.stack([np.zeros_like(place), 1 + place], axis=1)
        return Entries(positions, np.stack([known * place / (len(self.categories) - 1), known], 1))

    def representatives(self) -> Sequence[Representative]:
        return [Representative(category, None, category) for category in self.categories]

    def problems(self, cells: Cells) -> CellProblems:
        return CellProblems.of_categories(
            cells, self.categories, self.distinct(cells), self.ignore_case
        )

    def unfit(self, cells: Cells) -> NDArray[np.bool_]:
        return unknown(cells, self.categories, self.ignore_case)

    def as_one_hot(self) -> Categorical:
        return Categorical(name=self.name, categories=self.categories, ignore_case=self.ignore_case)

    def describe(self) -> str:
        return " < ".join(self.categories)
