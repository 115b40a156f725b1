"""`Evaluator`: the contract of an evaluation on test rows; one file for every kind of target."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from honestdp.evaluation.counts import Block, Floats, Level, estimate
from honestdp.json_files import Part


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
    """The figures of the rows of one group."""

    group: str
    figures: tuple[Figure, ...]


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
    """

    kind: str
    rows: int = Field(gt=0)
    noise: float = Field(gt=0)
    levels: dict[str, LevelCounts]
    figures: tuple[Figure, ...]
    column: str = ""
    groups: tuple[GroupFigures, ...] = ()

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

    def __str__(self) -> str:
        return "\n".join([f"evaluation on {self.rows} test rows: {self.sentence}", *self.lines])

    @property
    def lines(self) -> list[str]:
        """A line for every figure."""
        width = max(len(figure.name) for figure in self.figures)
        return [f"  {figure.name:<{width}}  {shown(figure)}" for figure in self.figures]


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
    ) -> Evaluation:
        """What the card holds.

        Args:
            rows: Number of test rows.
            deviation: The standard deviation of the noise of every count.
            counts: The noisy counts by level.
            column: The column of the groups.
            groups: Each group's name and its noisy counts of `grouped`.
        """
        by_group = tuple(
            GroupFigures(group=name, figures=tuple(self.group_figures(found, deviation)))
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
        )


def shown(figure: Figure) -> str:
    """A figure with its interval and baseline as text."""
    text = f"{figure.value:.4g} ({figure.low:.4g} to {figure.high:.4g})"
    return (
        text
        if figure.baseline is None
        else f"{text}; always the same answer: {figure.baseline:.4g}"
    )
