"""How exact an evaluation will be, by public facts alone: what a plan says before it is paid."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from honestdp.evaluation.base import Evaluator
from honestdp.evaluation.counts import Floats
from honestdp.evaluation.numbers import ERRORS

TYPICAL = 0.1  # the mean error of made-up numbers, as a share of their range
MANY = 1e12  # rows


@dataclass(frozen=True)
class Expected:
    """The half-width of the 95 % interval of an evaluation's main figure.

    Attributes:
        figure: The figure's name.
        unit: "share" or "target", as of the figure.
        at: Its value in the made-up counts that this is for; None: the largest over all values.
        half: The half-width; None if nothing can be said.
    """

    figure: str
    unit: str
    at: float | None
    half: float | None

    @property
    def subject(self) -> str:
        """What will be known."""
        return self.figure if self.at is None else f"a {self.figure} of {self.at:.3g}"

    @property
    def precision(self) -> str:
        """How exactly, in words."""
        if self.half is None:
            return "too roughly to say"
        if self.unit == "share":
            return f"to within {math.ceil(1000 * self.half - 1e-9) / 10:.1f} points"
        return f"to within {self.half:.2g}"


def expected(evaluator: Evaluator, rows: float, deviation: float) -> Expected:
    """How exactly the main figure of rows will be known: by its own estimate, of made-up counts.

    Of a share of right answers p the variance is p (1 - p) / rows for sampling, and for noise
    c (p^2 + (1 - p)^2) (deviation / rows)^2, with c cells of right answers and c of wrong ones: two
    of each for two classes, else one. It is a quadratic function of p, symmetric about 1/2, so the
    largest half-width is that at p = 1/2 or that at p = 1. Of numbers it depends on how errors are
    spread: made up are exponential errors with a mean of a tenth of the range.

    Args:
        evaluator: What is counted.
        rows: Number of rows.
        deviation: The standard deviation of the noise of every count.
    """
    halves = []
    for shares in _MADE_UP[evaluator.kind]():
        figure = evaluator.group_figures(rows * shares, deviation)[0]
        exact = evaluator.group_figures(MANY * shares, 1.0)[0]
        off = abs(figure.value - exact.value)  # where large errors are lost in the noise
        halves.append(max(figure.value - figure.low, figure.high - figure.value) + off)
    at = exact.value if figure.unit == "target" else None
    half = max(halves)
    return Expected(figure.name, figure.unit, at, None if half >= (at or 1.0) / 2 else half)


def _binary() -> list[Floats]:
    return [np.full((2, 2), 0.25), np.eye(2) / 2]


def _classes() -> list[Floats]:
    return [np.array([0.5, 0.5]), np.array([0.0, 1.0])]


def _numbers() -> list[Floats]:
    edges = np.array([0.0, *ERRORS, np.inf])  # where the range has the length 2
    beyond = np.exp(-edges / (2 * TYPICAL))
    return [beyond[:-1] - beyond[1:]]


_MADE_UP: dict[str, Callable[[], list[Floats]]] = {  # shares of the cells of `grouped`
    "binary": _binary,
    "classes": _classes,
    "numbers": _numbers,
}
