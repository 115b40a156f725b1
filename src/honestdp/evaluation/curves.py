"""The points of an evaluation's plots, from its noisy counts: numbers only, which others draw.

All of it is post-processing of released counts and costs nothing. Every value has a 95 % interval
for sampling and noise together, each for itself: of twenty, one may be off.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression

from honestdp.errors import InputError
from honestdp.evaluation.base import Evaluation
from honestdp.evaluation.counts import Block, Estimate, Floats, Z, estimate

BOTH = 2.241403  # two-sided, 97.5 %: two such intervals hold together with 95 %
CLEAR = 3.0  # standard deviations of noise: a sum of counts below that is not drawn


class Interval(NamedTuple):
    """A value with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Point:
    """A point of a plot. x: Its place; an interval where the place is uncertain or is a bin."""

    x: Interval
    y: Interval
    label: str = ""


@dataclass(frozen=True)
class Plot:
    """Points with their intervals.

    Attributes:
        name: Its name, one word.
        title: What it shows.
        x_title: What its x axis is.
        y_title: What its y axis is.
        points: The points, from left to right.
        form: "line" (joined, the intervals a band) or "points" (each with its own bar).
        reference: Points of a dashed line to compare with.
        reference_name: What that line is.
        note: How to read it.
        x_kind: "linear", "log" or "category".
        names: The names of the categories; point i is at the place of one of them.
        shares: Whether the y axis, and a linear x axis, are shares.
    """

    name: str
    title: str
    x_title: str
    y_title: str
    points: tuple[Point, ...]
    form: Literal["line", "points"]
    reference: tuple[tuple[float, float], ...] = ()
    reference_name: str = ""
    note: str = ""
    x_kind: Literal["linear", "log", "category"] = "linear"
    names: tuple[str, ...] = ()
    shares: bool = True


@dataclass(frozen=True)
class Matrix:
    """The confusion matrix: of the rows of each class, the share with each answer.

    Attributes:
        classes: The names of the classes.
        shares: [class][answer], with intervals; None where too few rows are of the class.
        counts: [class][answer], the estimated counts.
    """

    classes: tuple[str, ...]
    shares: tuple[tuple[Interval, ...] | None, ...]
    counts: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Goal:
    """What is predicted: the names of its classes, or the bounds of a number."""

    classes: tuple[str, ...] | None
    bounds: tuple[float, float] | None


class Curves(ABC):
    """The plots of an evaluation; one kind for each kind of evaluator.

    Args:
        evaluation: The evaluation.
        goal: What is predicted.

    Attributes:
        kind: The name of the evaluator.
    """

    kind: ClassVar[str]

    def __init__(self, evaluation: Evaluation, goal: Goal) -> None:
        self.evaluation, self.goal, self.noise = evaluation, goal, evaluation.noise

    @abstractmethod
    def plots(self) -> list[Plot]:
        """The plots, the most important first."""

    def matrix(self) -> Matrix | None:
        """The confusion matrix; None if there is none."""
        return None

    def counts(self, level: str, *shape: int) -> Floats:
        """The counts of a level.

        Args:
            level: Its name.
            shape: The shape that it must have.

        Raises:
            InputError: If it has another.
        """
        found = self.evaluation.levels.get(level)
        if found is None or found.shape != shape or len(found.counts) != int(np.prod(shape)):
            raise InputError(f"evaluation: has no counts by {level} of the shape {shape}")
        return found.array()


def share(block: Block, part: Floats, whole: Floats, z: float = Z) -> Interval:
    """The share of the rows of some cells that are in some of these cells.

    *Theorem.* Let W rows be in the whole, a share p of them in the part, each by itself, and let A
    and B be the noisy counts of part and whole. Then A - pB has the mean 0 and the variance
    noise_variance(part - p whole) + p (1 - p) W. *Proof.* A - pB is the binomial part - pW plus the
    noise of the linear form part - p whole, which is independent of it. QED. The interval holds all
    p whose A - pB is within z standard deviations, with B for W. It is Wilson's (1927) without
    noise, and Fieller's (1954) of a ratio where noise is all; both stay sound where shares are
    near 0 or 1 and where wholes are small.

    Args:
        block: The counts.
        part: 1 for each cell of the part, else 0.
        whole: The same for the whole, which holds the part.
        z: Half the width, in standard deviations.
    """
    if not part.any() or bool((part == whole).all()):
        return Interval(*3 * (float(part.any()),))
    up, down = float(part @ block.counts), float(whole @ block.counts)
    of_part, of_whole = block.noise_variance(part), block.noise_variance(whole)
    both = (block.noise_variance(part + whole) - of_part - of_whole) / 2
    rows = max(down, 0.0)
    square = down**2 + z**2 * (rows - of_whole)
    middle = up * down + z**2 * (rows / 2 - both)
    rest = middle**2 - square * (up**2 - z**2 * of_part)
    value = min(max(up / max(down, 1.0), 0.0), 1.0)
    if square <= 0 or down <= 0:  # the whole cannot be told from nothing
        return Interval(value, 0.0, 1.0)
    half = math.sqrt(max(rest, 0.0))
    low, high = (min(max((middle + side) / square, 0.0), 1.0) for side in (-half, half))
    return Interval(value, min(low, value), max(high, value))


def mean(block: Block, values: Floats) -> Interval:
    """The mean of values that cells stand for, between the least and the largest of them.

    Args:
        block: The counts.
        values: The value of each cell.
    """
    found: Estimate = estimate(lambda x: float(values @ x) / max(float(x.sum()), 1.0), block)
    sides = found.value, *found.interval()
    value, low, high = np.clip(sides, values.min(), values.max()).tolist()
    return Interval(value, low, high)


def rising(found: Sequence[Interval]) -> list[Interval]:
    """Values of a curve that cannot fall, and its band, made to rise.

    Isotonic regression keeps order (where a <= b at all places, also after it) and leaves what
    rises as it is. So a band that holds the true curve at all places still does, and a value stays
    within its band.

    Args:
        found: The values in the order in which they rise.
    """
    return [
        Interval(*one)
        for one in zip(*(isotonic_regression(side).x.tolist() for side in zip(*found, strict=True)),
                       strict=True)
    ]  # fmt: skip


def clear(block: Block, chosen: Floats, by: float = CLEAR) -> bool:
    """Whether a sum of counts can be told from noise.

    Args:
        block: The counts.
        chosen: 1 for each that is summed, else 0.
        by: How many standard deviations of its noise it must be.
    """
    return float(chosen @ block.counts) >= by * block.noise_variance(chosen) ** 0.5


def percent(found: Interval) -> str:
    """A share with its interval as text."""
    value, low, high = (100 * one for one in found)
    return f"{value:.1f} % ({low:.1f} to {high:.1f})"


def matrix_of(counts: Floats, classes: Sequence[str], rows: Sequence[Block]) -> Matrix:
    """The confusion matrix.

    Args:
        counts: The estimated counts [class, answer].
        classes: The names of the classes.
        rows: The counts of each class by answer.
    """
    found: list[tuple[Interval, ...] | None] = []
    for row in rows:
        size = len(row.counts)
        if not clear(row, np.ones(size)):
            found.append(None)
            continue
        whole = np.ones(size)
        found.append(tuple(share(row, one, whole) for one in np.eye(size)))
    return Matrix(tuple(classes), tuple(found), tuple(map(tuple, counts.tolist())))
