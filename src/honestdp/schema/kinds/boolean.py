"""`Boolean`: yes or no, as 1 or -1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from honestdp.schema.blocks import Entries
from honestdp.schema.cell_problems import CellProblems, unknown
from honestdp.schema.cells import Cells
from honestdp.schema.fields import Categories, Flag, check_categories
from honestdp.schema.kinds.base import Column, Representative, column_kinds
from honestdp.schema.kinds.categorical import Categorical


@column_kinds.register
class Boolean(Column):
    """A column of two answers: 1 for yes, -1 for no, 0 for a cell that is neither.

    Args:
        name: The column of the table.
        true: The cells that mean yes, spelled as for `Categorical`.
        false: The cells that mean no.
        ignore_case: Whether upper and lower case count as the same.

    Example:
        >>> Boolean(name="smokes", true=["y"], false=["n"]).encoded_names
        ['smokes']
    """

    label: ClassVar[str] = "yes or no"
    form: ClassVar[tuple[str, ...]] = ('kind = "boolean"', 'true = ["yes"]', 'false = ["no"]')
    form_help: ClassVar[tuple[str, ...]] = (
        "true = [...], false = [...]: how yes and no are spelled, if in an unusual way",
    )
    remedies: ClassVar[dict[str, str]] = {
        "true": 'give the cells that mean yes, such as ["yes", "1"]',
        "false": 'give the cells that mean no, such as ["no", "0"]',
        "ignore_case": "must be true or false",
    }
    added_fields: ClassVar[frozenset[str]] = frozenset({"ignore_case"})

    kind: Literal["boolean"] = "boolean"
    true: Categories = ("true", "True", "TRUE", "yes", "Yes", "YES", "y", "Y", "t", "T", "1")
    false: Categories = ("false", "False", "FALSE", "no", "No", "NO", "n", "N", "f", "F", "0")
    ignore_case: Flag = False

    @model_validator(mode="after")
    def _check(self) -> Boolean:
        check_categories("true and false", self._answers, least=2)
        both = {one.lower() for one in self.true} & {one.lower() for one in self.false}
        if self.ignore_case and both:
            raise ValueError(
                f"{min(both)[:60]!r} is in true and in false, but for upper and lower case: keep "
                "one, or leave ignore_case out"
            )
        return self

    @property
    def _answers(self) -> tuple[str, ...]:
        return (*self.true, *self.false)

    @property
    def encoded_names(self) -> list[str]:
        return [self.name]

    @property
    def known_norm(self) -> float:
        return 1.0

    def encode(self, cells: Cells) -> Entries:
        places = cells.places(self._answers, self.ignore_case)
        signs = np.where(places < 0, 0.0, np.where(places < len(self.true), 1.0, -1.0))
        return Entries(np.zeros(1, dtype=np.int64), signs[:, None])

    def representatives(self) -> Sequence[Representative]:
        cells = {"yes": self.true[0], "no": self.false[0]}
        return [Representative(label, None, cell) for label, cell in cells.items()]

    def problems(self, cells: Cells) -> CellProblems:
        distinct = self.distinct(cells)
        return CellProblems.of_categories(cells, self._answers, distinct, self.ignore_case)

    def unfit(self, cells: Cells) -> NDArray[np.bool_]:
        return unknown(cells, self._answers, self.ignore_case)

    def as_one_hot(self) -> Categorical:
        answers = self._answers
        if self.ignore_case:
            answers = tuple(dict.fromkeys(one.lower() for one in answers))
        return Categorical(name=self.name, categories=answers, ignore_case=self.ignore_case)

    def describe(self) -> str:
        return "yes or no"
