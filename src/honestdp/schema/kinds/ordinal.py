"""`Ordinal`: categories with an order, as a number and one-hot.

As in a `Categorical`, one with too few rows has no weight of its own; it keeps its place in the
order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from honestdp.schema.blocks import Entries
from honestdp.schema.cell_problems import CellProblems, absent, unknown
from honestdp.schema.cells import Cells
from honestdp.schema.fields import Categories, Flag, check_categories
from honestdp.schema.kinds.base import Column, Representative, column_kinds
from honestdp.schema.kinds.categorical import (
    FEW,
    RARE_REMEDY,
    Categorical,
    Rare,
    check_rare,
    least_count,
    rare_ones,
    rare_words,
)


@column_kinds.register
class Ordinal(Column):
    """A column of categories that have an order, such as school grades.

    Encoded as the category's place in the order, from 0 to 1, and as the category itself. A cell
    that is missing or not among them is all zeros.

    Args:
        name: The column of the table.
        categories: At least two, from the lowest to the highest, spelled as for `Categorical`.
        ignore_case: Whether upper and lower case count as the same.
        rare: As for `Categorical`; a rare category is told by its place alone.

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
        "rare": RARE_REMEDY,
    }
    added_fields: ClassVar[frozenset[str]] = frozenset({"ignore_case", "rare"})
    question: ClassVar[str] = "categories"
    tells_order: ClassVar[bool] = True

    kind: Literal["ordinal"] = "ordinal"
    categories: Categories
    ignore_case: Flag = False
    rare: Rare = None

    @model_validator(mode="after")
    def _check(self) -> Ordinal:
        check_categories("categories", self.categories, 2, self.ignore_case)
        check_rare(self.rare, self.categories)
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
        own = known * ~np.isin(place, [self.categories.index(c) for c in rare_ones(self.rare)])
        return Entries(positions, np.stack([known * place / (len(self.categories) - 1), own], 1))

    def representatives(self) -> Sequence[Representative]:
        rare = set(rare_ones(self.rare))
        return [Representative(c, None, c, FEW if c in rare else "") for c in self.categories]

    # What is learnt from a noisy histogram: which categories have rows enough, 1 or 0 each

    def with_default_rare(self) -> Ordinal:
        return self if self.rare is not None else self.model_copy(update={"rare": "learn"})

    @property
    def learns(self) -> int:
        return len(self.categories) if self.rare == "learn" else 0

    def histogram_bins(self, bins: int) -> int:
        return len(self.categories)

    def bin_of(self, cells: Cells, bins: int) -> NDArray[np.int64]:
        return np.maximum(cells.places(self.categories, self.ignore_case), -1)

    def learnt_from(self, noisy: NDArray[np.float64], noise: float, rows: int) -> tuple[float, ...]:
        return tuple((noisy >= least_count(noise, rows)).astype(float).tolist())

    def with_learnt(self, numbers: tuple[float, ...]) -> Ordinal:
        rare = tuple(c for c, kept in zip(self.categories, numbers, strict=True) if not kept)
        return self.model_copy(update={"rare": rare})

    def learnt_words(self, made: Self) -> str:
        return rare_words(rare_ones(made.rare), "told by their place in the order", "category")

    def problems(self, cells: Cells) -> CellProblems:
        return CellProblems.of_categories(
            cells, self.categories, self.distinct(cells), self.ignore_case
        )

    def absent(self, cells: Cells) -> list[str]:
        return absent(cells, self.categories, self.ignore_case)

    def unfit(self, cells: Cells) -> NDArray[np.bool_]:
        return unknown(cells, self.categories, self.ignore_case)

    def as_one_hot(self) -> Categorical:
        return Categorical(
            name=self.name,
            categories=self.categories,
            ignore_case=self.ignore_case,
            rare=rare_ones(self.rare) or None,
        )

    def describe(self) -> str:
        return " < ".join(self.categories)
