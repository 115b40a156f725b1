"""`Numeric`: numbers between public bounds, scaled to [0, 1].

Bounds that are not public can be learnt: the cells are counted in equal bins of a declared outer
range, noise is added to the counts (`honestdp.schema.learn`), and the bounds are put at quantiles
of the noisy counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log, sqrt
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from honestdp.schema.cells import Cells
from honestdp.schema.fields import Number, Pair, check_pair
from honestdp.schema.kinds.base import Column, Entries, column_kinds

ENOUGH = 0.5  # share of rows that must exceed the noise; otherwise bins are merged in pairs


@column_kinds.register
class Numeric(Column):
    """A column of numbers between public bounds.

    Args:
        name: The column of the table.
        bounds: (low, high): scaled to [0, 1], cells outside clipped to the nearer bound. Or
            "learn": learnt with noise, and paid for, before anything can be encoded.
        outer: For "learn" only: the range the bounds surely lie in.
        quantiles: For "learn" only: the quantiles of the cells at which the bounds are put, by
            default (0.01, 0.99).
        missing: The value of a cell that is missing, not a number, or not finite; by default the
            middle of the bounds.

    Example:
        >>> Numeric(name="age", bounds=(0, 110)).encoded_names
        ['age']
    """

    label: ClassVar[str] = "number"
    form: ClassVar[tuple[str, ...]] = ('kind = "numeric"', "bounds = [0, 100]")
    form_help: ClassVar[tuple[str, ...]] = (
        "cells outside are clipped: give the range where nearly all lie; far too wide costs "
        "accuracy",
        'or bounds = "learn", outer = [low, high]: paid for from the privacy budget',
    )
    remedies: ClassVar[dict[str, str]] = {
        "bounds": 'give [low, high], two finite numbers with low < high, or "learn" with outer',
        "outer": "give [low, high], two finite numbers with low < high",
        "quantiles": "give [low, high] with 0 <= low < high <= 1, such as [0.01, 0.99]",
        "missing": "give the number that stands for a missing cell",
    }
    infer_order: ClassVar[int] = 10

    kind: Literal["numeric"] = "numeric"
    bounds: Pair | Literal["learn"]
    outer: Pair | None = None
    quantiles: Pair | None = None
    missing: Number | None = None

    @model_validator(mode="after")
    def _check(self) -> Numeric:
        if self.learns and self.outer is None:
            raise ValueError('bounds = "learn" needs outer = [low, high], declared without looking')
        if not self.learns and (self.outer or self.quantiles):
            raise ValueError('outer and quantiles are for bounds = "learn"; remove them')
        check_pair("outer" if self.learns else "bounds", self.range)
        low, high = self.learn_quantiles
        if not 0 <= low < high <= 1:
            raise ValueError(f"quantiles = [{low:g}, {high:g}]: needs 0 <= low < high <= 1")
        low, high = self.range
        if self.missing is not None and not low <= self.missing <= high:
            raise ValueError(f"missing = {self.missing:g} must lie in [{low:g}, {high:g}]")
        return self

    @property
    def range(self) -> tuple[float, float]:
        """The bounds; the outer range as long as they are not learnt."""
        chosen = self.outer if isinstance(self.bounds, str) else self.bounds
        assert chosen is not None  # checked above
        return chosen

    @property
    def missing_value(self) -> float:
        """The value of a cell that is missing."""
        low, high = self.range
        return low + (high - low) / 2 if self.missing is None else self.missing

    @property
    def learn_quantiles(self) -> tuple[float, float]:
        """The quantiles at which learnt bounds are put."""
        return self.quantiles or (0.01, 0.99)

    # The encoding

    @property
    def encoded_names(self) -> list[str]:
        return [self.name]

    @property
    def squared_norm(self) -> float:
        return 0.25  # of a number in the middle of [0, 1]

    @property
    def keeps_zeros(self) -> bool:
        return self.range[0] == 0

    def encode(self, cells: Cells) -> Entries:
        low, high = self.range
        values = cells.numbers()
        values = np.where(np.isnan(values), self.missing_value, values)
        scaled = (np.clip(values, low, high) - low) / (high - low)
        return Entries(np.zeros(1, dtype=np.int64), scaled[:, None])

    @classmethod
    def encode_stored(
        cls, columns: Sequence[Self], of: NDArray[np.int64], cells: Cells
    ) -> NDArray[Any]:
        high = np.array([column.range[1] for column in columns])
        missing = np.array([column.missing_value for column in columns])
        values = cells.numbers()
        values = np.where(np.isnan(values), missing[of], values)
        return np.clip(values, 0, high[of]) / high[of]

    # Bounds learnt from a noisy histogram

    @property
    def learns(self) -> int:
        return 2 if self.bounds == "learn" else 0

    def bin_of(self, cells: Cells, bins: int) -> NDArray[np.int64]:
        """Equal bins of the outer range; cells outside are in the end bins, NaN in none."""
        low, high = self.range
        values = cells.numbers()
        known = ~np.isnan(values)
        share = (np.clip(values[known], low, high) - low) / (high - low)
        found = np.full(len(values), -1, dtype=np.int64)
        found[known] = np.minimum((share * bins).astype(np.int64), bins - 1)
        return found

    def learnt_from(self, noisy: NDArray[np.float64], noise: float, rows: int) -> tuple[float, ...]:
        """Bounds at the declared quantiles of the noisy counts.

        Counts that could be noise alone are dropped. While less than half of the rows is left,
        neighbouring bins are merged; if none is left, the bounds are the outer range.
        """
        low, high = self.range
        while len(noisy) > 1:
            clear = np.where(noisy > noise * sqrt(2 * log(2 * len(noisy))), noisy, 0.0)
            if clear.sum() >= ENOUGH * rows and clear.any():
                break
            noisy, noise = noisy.reshape(-1, 2).sum(axis=1), noise * sqrt(2)
        else:
            return low, high
        cumulated = np.cumsum(clear) / clear.sum()
        first, last = self.learn_quantiles
        start = int(np.searchsorted(cumulated, first, side="right"))
        end = int(np.searchsorted(cumulated, min(last, cumulated[-1]), side="left"))
        edges = np.linspace(low, high, len(noisy) + 1)
        found = float(edges[min(start, len(noisy) - 1)]), float(edges[max(end, start) + 1])
        return found if found[0] < found[1] else (low, high)

    def with_learnt(self, numbers: tuple[float, ...]) -> Numeric:
        low, high = numbers
        missing = None if self.missing is None else min(max(self.missing, low), high)
        return Numeric(name=self.name, bounds=(low, high), missing=missing)

    # Texts

    def describe(self) -> str:
        low, high = self.range
        return f"{'learnt within ' if self.learns else ''}{low:g} to {high:g}"

    @classmethod
    def infer(cls, name: str, cells: Cells) -> Numeric | None:
        """Suits cells that are all numbers or missing."""
        bounds = inferred_bounds(cells)
        return None if bounds is None else cls(name=name, bounds=bounds)


def inferred_bounds(cells: Cells) -> tuple[float, float] | None:
    """The range of cells that are all numbers or missing; None if some are text. Sensitive."""
    values = cells.numbers()
    known = values[~np.isnan(values)]
    if len(known) < cells.filled():
        return None
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    low, high = max(low, -1e300), min(high, 1e300)
    return (low, high) if low < high else (low - 0.5 - abs(low) / 2, high + 0.5 + abs(high) / 2)
