"""`Categorical`: one of a list of categories, one-hot encoded.

A category that no row has gets a weight of pure noise: its input is never there while the model
trains, but it is when the model predicts. So a plan that can afford it counts the categories with
noise (`honestdp.schema.learn`), and a category without a clear count is encoded as if it were not
declared: as `other`, or as zeros. Training, scores and predictions read the same encoding. The
rule serves `Ordinal` and the years of `Date` too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from honestdp.schema.blocks import Entries
from honestdp.schema.cell_problems import CellProblems, absent, unknown
from honestdp.schema.cells import MISSING, UNKNOWN, Cells
from honestdp.schema.fields import Categories, Category, Flag, check_categories
from honestdp.schema.kinds.base import Column, Representative, column_kinds

LEAST = 0.02  # of the rows: what a category should have for a weight of its own
SURELY = (2.0, 3.0)  # deviations of the noise that its count must have at least, and need at most
FEW = "too few rows for a weight of its own"

Rare: TypeAlias = Categories | Literal["learn", "keep"] | None
RARE_REMEDY = 'must be "learn", "keep" or a list of some of the categories'


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
        rare: The categories that have too few rows for a weight of their own, and are encoded as if
            they were not declared. "learn": learnt with noise, and paid for, before anything can be
            encoded. "keep": none. By default a plan chooses by public facts.
        rare_other: Whether all that is encoded as `other` is too rare as well, and all zeros.

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
        "rare": RARE_REMEDY,
        "rare_other": "must be true or false",
    }
    infer_order: ClassVar[int] = 20  # it suits any cells
    added_fields: ClassVar[frozenset[str]] = frozenset({"ignore_case", "rare", "rare_other"})
    question: ClassVar[str] = "categories"

    kind: Literal["categorical"] = "categorical"
    categories: Categories
    other: Flag = False
    missing: Category | None = None
    ignore_case: Flag = False
    rare: Rare = None
    rare_other: Flag = False

    @model_validator(mode="after")
    def _check(self) -> Categorical:
        check_categories("categories", self.categories, 1, self.ignore_case)
        if self.missing is not None and self.missing not in self.categories:
            raise ValueError(f"missing = {self.missing!r} must be one of the categories")
        check_rare(self.rare, self.categories)
        if self.rare_other and not (self.other and isinstance(self.rare, tuple)):
            raise ValueError("rare_other is for other = true and a list of rare; remove it")
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
        # Pairs are not counted themselves, but a rare category is not declared for them either.
        return self if isinstance(self.rare, tuple) else self.model_copy(update={"rare": None})

    def with_default_rare(self) -> Categorical:
        return self if self.rare is not None else self.model_copy(update={"rare": "learn"})

    @property
    def _rare(self) -> tuple[str, ...]:
        return rare_ones(self.rare)

    def _positions(self) -> NDArray[np.int64]:
        """The position of each category, then, as the last two, of a missing and of an unknown
        cell; -1: none."""
        count, rare = len(self.categories), set(self._rare)
        other = count if self.other and not self.rare_other else -1
        positions = np.empty(count + 2, dtype=np.int64)
        positions[:count] = [other if c in rare else i for i, c in enumerate(self.categories)]
        positions[UNKNOWN] = positions[MISSING] = other
        if self.missing is not None:
            positions[MISSING] = positions[self.categories.index(self.missing)]
        return positions

    def representatives(self) -> Sequence[Representative]:
        rare = set(self._rare)
        found = [Representative(c, None, c, FEW if c in rare else "") for c in self.categories]
        if self.other:  # any text that is longer than all categories, and no number
            unknown = "x" + max(self.categories, key=len)
            found.append(Representative("(other)", None, unknown, FEW if self.rare_other else ""))
        return found

    # What is learnt from a noisy histogram: which encoded columns have rows enough, 1 or 0 each

    @property
    def learns(self) -> int:
        return self.width if self.rare == "learn" else 0

    def histogram_bins(self, bins: int) -> int:
        return self.width

    def bin_of(self, cells: Cells, bins: int) -> NDArray[np.int64]:
        """The encoded column of each cell; a cell that is encoded as zeros is in none."""
        return self._positions()[cells.places(self.categories, self.ignore_case)]

    def learnt_from(self, noisy: NDArray[np.float64], noise: float, rows: int) -> tuple[float, ...]:
        """1 for a category whose count is LEAST of the rows, but always above 2 deviations of its
        noise, and enough above 3. For `other` the rare categories' counts are added to its own."""
        clear = noisy >= least_count(noise, rows)
        if self.other:
            others = ~clear
            others[-1] = True
            clear[-1] = noisy[others].sum() >= least_count(noise * math.sqrt(others.sum()), rows)
        return tuple(clear.astype(float).tolist())

    def with_learnt(self, numbers: tuple[float, ...]) -> Categorical:
        rare = tuple(c for c, kept in zip(self.categories, numbers, strict=False) if not kept)
        without = self.other and not numbers[-1]
        return Categorical(**self.model_dump() | {"rare": rare, "rare_other": without})

    def learnt_words(self, made: Self) -> str:
        where = "other" if self.other and not made.rare_other else "zeros"
        named = [*made._rare, *(["(other)"] if made.rare_other else [])]
        return rare_words(named, f"encoded as {where}", "category")

    def problems(self, cells: Cells) -> CellProblems:
        return CellProblems.of_categories(
            cells, self.categories, self.distinct(cells), self.ignore_case
        )

    def absent(self, cells: Cells) -> list[str]:
        return absent(cells, self.categories, self.ignore_case)

    def unfit(self, cells: Cells) -> NDArray[np.bool_]:
        return unknown(cells, self.categories, self.ignore_case)

    def describe(self) -> str:
        return ", ".join(self.categories) + (", or another" if self.other else "")

    @classmethod
    def infer(cls, name: str, cells: Cells) -> Categorical:
        return cls(name=name, categories=tuple(cells.categories()), other=True)


def least_count(noise: float, rows: int) -> float:
    """The noisy count that a category needs for a weight of its own.

    Args:
        noise: The standard deviation of the noise of one count.
        rows: The number of rows of the table, which is public.
    """
    return min(max(LEAST * rows, SURELY[0] * noise), SURELY[1] * noise)


def rare_ones(rare: Rare) -> tuple[str, ...]:
    """The categories that a field `rare` lists."""
    return rare if isinstance(rare, tuple) else ()


def check_rare(rare: Rare, categories: Sequence[str]) -> None:
    """Raise ValueError unless a field `rare` lists categories only."""
    if not set(rare_ones(rare)) <= set(categories):
        raise ValueError("rare: holds a text that is none of the categories")


def rare_words(rare: Sequence[str], encoded: str, category: str) -> str:
    """What was learnt about rare categories, in words.

    Args:
        rare: Those that are.
        encoded: How they are encoded now.
        category: What a category is called.
    """
    if not rare:
        return f"every {category} has rows enough for a weight of its own"
    return f"too few rows for weights of their own, so {encoded}: {', '.join(rare)}"
