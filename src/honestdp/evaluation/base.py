"""`Evaluator`: the contract of an evaluation on test rows; one file for every kind of target."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from honestdp.evaluation.counts import Block, Floats, Level, estimate
from honestdp.evaluation.words import (
    ROWS,
    UNKNOWN,
    UNKNOWN_MEANS,
    baseline,
    estimate_of,
    interval,
)
from honestdp.json_files import Part
from honestdp.text import columns


class Figure(Part):
    """One figure of quality.

    Attributes:
        name: Its name, such as "accuracy".
        value: Its estimate.
        low, high: Its 95 % interval, which covers both the sampling of the test rows and the noise.
        baseline: The same figure of a model that always gives the same answer; None if it has none.
        larger_is_better: Its direction; None if it has none.
        unit: "share", "number" (without a unit) or "target" (in the target's own unit).
    """

    name: str
    value: float
    low: float
    high: float
    baseline: float | None = None
    larger_is_better: bool | None = True
    unit: str = "share"


class LevelCounts(Part):
    """The noisy counts of one level, in the order of a C array of its shape."""

    shape: tuple[int, ...]
    counts: tuple[float, ...]

    def array(self) -> Floats:
        """The counts in their shape."""
        return np.array(self.counts, dtype=float).reshape(self.shape)


class GroupFigures(Part):
    """The figures of the rows of one group.

    Attributes:
        group: The value of the column.
        figures: What follows from the noisy counts of its rows.
        rows: The noisy count of its rows.
    """

    group: str
    figures: tuple[Figure, ...]
    rows: float | None = None


class Evaluation(Part):
    """How good the released model is, by noisy counts of rows that had no part in making it.

    Attributes:
        kind: Name of the evaluator.
        rows: Number of test rows, which is public.
        noise: The standard deviation of the noise of every count.
        levels: The noisy counts that were released, by level.
        figures: What follows from them.
        column: The column that groups are the values of; empty without groups.
        groups: The figures by group.
        unit: What several rows stand for, such as "patients".
    """

    kind: str
    rows: int = Field(gt=0)
    noise: float = Field(gt=0)
    levels: dict[str, LevelCounts]
    figures: tuple[Figure, ...]
    column: str = ""
    groups: tuple[GroupFigures, ...] = ()
    unit: str = ROWS

    def __getitem__(self, name: str) -> Figure:
        """A figure by its name."""
        for figure in self.figures:
            if figure.name == name:
                return figure
        raise KeyError(name)

    @property
    def sentence(self) -> str:
        """The main figure in plain words."""
        from honestdp.evaluation import evaluators

        return evaluators[self.kind].sentence(self)

    def tells(self, group: GroupFigures) -> bool:
        """Whether a group's noisy count of rows can be told from noise; else its figures mean
        nothing.

        Args:
            group: One of `groups`.
        """
        cells = math.prod(next(iter(self.levels.values())).shape)
        return group.rows is None or group.rows >= 3 * self.noise * math.sqrt(cells)

    def __str__(self) -> str:
        return "\n".join([f"evaluation on {self.rows} test rows: {self.sentence}", *self.lines])

    @property
    def lines(self) -> list[str]:
        """The figures as a table, and the main one by group."""
        found = [f"  {line}" for line in _table("figure", [(f.name, f) for f in self.figures])]
        if self.groups:
            main = self.groups[0].figures[0].name
            of = [(one.group, one.figures[0] if self.tells(one) else None) for one in self.groups]
            found += ["", *(f"  {line}" for line in _table(f"{main} by {self.column}", of))]
        return [*found, UNKNOWN_MEANS] if any(f" {UNKNOWN}" in line for line in found) else found


def _table(head: str, figures: Sequence[tuple[str, Figure | None]]) -> list[str]:
    rows = [
        (name, UNKNOWN, "", "")
        if one is None
        else (name, estimate_of(one), interval(one), baseline(one))
        for name, one in figures
    ]
    return columns((head, "value", "95 % interval", "always the same answer"), rows, left=1)


class Evaluator(ABC):
    """What is counted on test rows, and which figures follow.

    Attributes:
        kind: Its name on cards.
        levels: What is counted, for all test rows.
        grouped: What is counted for the rows of each group.
    """

    kind: ClassVar[str]
    levels: tuple[Level, ...]
    grouped: Level

    @abstractmethod
    def figures(self, counts: Mapping[str, Floats], deviation: float) -> list[Figure]:
        """The figures of all test rows.

        Args:
            counts: The noisy counts, by the name of their level, in its shape.
            deviation: The standard deviation of the noise of each.
        """

    @abstractmethod
    def group_figures(self, counts: Floats, deviation: float) -> list[Figure]:
        """The figures of one group, from noisy counts of `grouped`."""

    @staticmethod
    def figure(
        name: str,
        function: Callable[..., float],
        *blocks: Block,
        least: float = 0.0,
        most: float = 1.0,
        **facts: Any,
    ) -> Figure:
        """A figure that follows from counts.

        Args:
            name: Its name.
            function: Of the flat counts of every block.
            blocks: The counts.
            least: The least value that it can have.
            most: The largest.
            facts: Further fields of `Figure`.
        """
        found = estimate(function, *blocks)
        low, high = found.interval(least, most)
        value = min(max(found.value, least), most)
        return Figure(name=name, value=value, low=low, high=high, **facts)

    @staticmethod
    @abstractmethod
    def sentence(evaluation: Evaluation) -> str:
        """The main figure in words that a reader without statistics understands."""

    def evaluation(
        self,
        rows: int,
        deviation: float,
        counts: Mapping[str, Floats],
        column: str = "",
        groups: Sequence[tuple[str, Floats]] = (),
        unit: str = ROWS,
    ) -> Evaluation:
        """What the card holds.

        Args:
            rows: Number of test rows.
            deviation: The standard deviation of the noise of every count.
            counts: The noisy counts by level.
            column: The column of the groups.
            groups: Each group's name and its noisy counts of `grouped`.
            unit: What several rows stand for.
        """
        by_group = tuple(
            GroupFigures(
                group=name,
                figures=tuple(self.group_figures(found, deviation)),
                rows=float(found.sum()),
            )
            for name, found in groups
        )
        levels = {
            name: LevelCounts(shape=found.shape, counts=tuple(found.ravel().tolist()))
            for name, found in counts.items()
        }
        return Evaluation(
            kind=self.kind,
            rows=rows,
            noise=deviation,
            levels=levels,
            figures=tuple(self.figures(counts, deviation)),
            column=column,
            groups=by_group,
            unit=unit,
        )
