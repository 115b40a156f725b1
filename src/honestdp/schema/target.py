"""`Target`: the column that is predicted.

A target is a class or a number. The two forms are two fields of one declaration rather than two
registered kinds: models and metrics have to know which of the two it is anyway.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator
from pydantic_core import PydanticCustomError

from honestdp.schema.cell_problems import CellProblems
from honestdp.schema.cells import Cells
from honestdp.schema.fields import Categories, Flag, Name, Pair, check_categories, check_pair
from honestdp.schema.problems import CLASSES_MISSING, Declaration


class Target(Declaration):
    """The column to predict: one of several classes, or a number between public bounds.

    Args:
        column: Its name in the table.
        classes: The classes, at least two. Class k is the k-th; a cell that is none of them
            becomes -1.
        bounds: (low, high), for a number. Cells are clipped to the bounds and scaled to [-1, 1],
            so that an output of 0 is the middle; a cell that is not a finite number becomes NaN.
        ignore_case: Whether upper and lower case of classes count as the same.

    Rows with a target of -1 or NaN stay in place and do not count in training.

    Example:
        >>> Target(column="pay", classes=["low", "high"]).classes
        ('low', 'high')
    """

    remedies: ClassVar[dict[str, str]] = {
        "column": "give the name of the column to predict",
        "classes": 'give a list of at least two texts, such as ["no", "yes"]',
        "bounds": "give [low, high], two finite numbers with low < high",
        "ignore_case": "must be true or false",
    }

    column: Name
    classes: Categories | None = None
    bounds: Pair | None = None
    ignore_case: Flag = False

    @model_validator(mode="after")
    def _check(self) -> Target:
        either = "give either classes = [...] or bounds = [low, high]"
        if self.classes is None and self.bounds is None:
            raise PydanticCustomError(CLASSES_MISSING, either)
        if self.classes is not None and self.bounds is not None:
            raise ValueError(either)
        if self.classes is not None:
            check_categories("classes", self.classes, 2, self.ignore_case)
        if self.bounds is not None:
            check_pair("bounds", self.bounds)
        return self

    def encode(self, cells: Cells) -> NDArray[np.int64] | NDArray[np.float32]:
        """Encode cells as class numbers (int64, -1: no class) or numbers in [-1, 1] (NaN: none)."""
        if self.classes is not None:
            return np.maximum(cells.places(self.classes, self.ignore_case), -1)
        assert self.bounds is not None
        low, high = self.bounds
        share = (np.clip(cells.numbers(), low, high) - low) / (high - low)
        return (2 * share - 1).astype(np.float32)

    def known(self, cells: Cells) -> NDArray[np.bool_]:
        """Whether each row has a target that a model could predict: a number, or a declared class.
        Sensitive.

        Args:
            cells: The target's column.
        """
        encoded = self.encode(cells)
        return encoded >= 0 if self.classes is not None else ~np.isnan(encoded)

    def problems(self, cells: Cells) -> CellProblems:
        """Count the cells that are no declared class, or no number within the bounds, without
        noise: sensitive, unless the rows are the caller's own.

        Args:
            cells: The target's column.
        """
        distinct = min(2, len(np.unique(self.encode(cells))))
        if self.classes is not None:
            return CellProblems.of_categories(cells, self.classes, distinct, self.ignore_case)
        assert self.bounds is not None
        return CellProblems.of_numbers(cells, *self.bounds, distinct)

    def decode(self, outputs: Any) -> NDArray[Any]:
        """Convert a model's predictions to the values of the table.

        Args:
            outputs: Class numbers, or numbers in [-1, 1].

        Returns:
            Classes ("" for -1), or numbers within the bounds.
        """
        if self.classes is not None:
            return np.array([*self.classes, ""])[np.asarray(outputs, dtype=np.int64)]
        assert self.bounds is not None
        low, high = self.bounds
        share = (np.clip(np.asarray(outputs, dtype=np.float64), -1, 1) + 1) / 2
        return low * (1 - share) + high * share
