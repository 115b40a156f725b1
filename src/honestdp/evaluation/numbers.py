"""`numbers`: a numeric target, evaluated by counts of errors and of values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from honestdp.evaluation.base import Evaluation, Evaluator, Figure
from honestdp.evaluation.counts import Counted, Floats, Level, ratio
from honestdp.evaluation.words import off_on_average

# Sizes of errors on the scale on which targets are in [-1, 1]: edges grow by the root of 2.
ERRORS = tuple(2 * 2 ** (-k / 2) for k in range(20, 0, -1))
VALUES = 16  # bins of the target, of equal width
NAMES = ("mean absolute error", "root mean squared error")
LIMIT = "limit of errors"
PREDICTED = 8  # bins of predicted and of true values, of equal width, in their joint counts


def _bins(values: Any, count: int) -> Any:
    return ((values.clamp(-1, 1) + 1) / 2 * count).long().clamp(0, count - 1)


def _errors(loss: Any, outputs: Any, targets: Any) -> Any:
    error = (loss.predicted(outputs).clamp(-1, 1) - targets).abs()
    return (error.unsqueeze(-1) > error.new_tensor(ERRORS)).sum(-1)


def _values(loss: Any, outputs: Any, targets: Any) -> Any:
    return _bins(targets, VALUES)


def _joint(loss: Any, outputs: Any, targets: Any) -> Any:
    return PREDICTED * _bins(loss.predicted(outputs), PREDICTED) + _bins(targets, PREDICTED)


class Numbers(Evaluator):
    """Counts of sizes of errors, of true values, and of predicted by true values.

    Large errors are rare, and the noise of their counts would drown a mean of squares. So errors
    above a limit count as the limit, which is where the counts beyond cannot be told from noise;
    the figures name it.

    Args:
        low: The target's lower bound.
        high: Its upper bound.
    """

    kind = "numbers"
    grouped = Level("error", (len(ERRORS) + 1,), _errors)
    levels = (
        grouped,
        Level("value", (VALUES,), _values),
        Level("predicted by value", (PREDICTED, PREDICTED), _joint),
    )

    def __init__(self, low: float, high: float) -> None:
        self._unit = (high - low) / 2

    def figures(self, counts: Mapping[str, Floats], deviation: float) -> list[Figure]:
        errors, values, _ = (Counted(counts[level.name], deviation) for level in self.levels)
        limit = _limit(errors.counts, deviation)
        always = (self._absolute(values.counts), math.sqrt(_variance(values.counts)) * self._unit)
        largest = float(_edges()[limit]) * self._unit
        return [
            *self._error_figures(errors, limit, always),
            self.figure(
                "R2", lambda e, v: 1 - _mean(e, limit, 2) / _variance(v), errors, values,
                least=-math.inf, baseline=0.0, unit="number",
            ),
            Figure(
                name=LIMIT, value=largest, low=largest, high=largest, larger_is_better=None,
                unit="target",
            ),
        ]  # fmt: skip

    def _absolute(self, values: Floats) -> float:
        """The mean absolute error of always the mean."""
        middles = _middles(VALUES)
        mean = ratio(float(values @ middles), values.sum())
        return max(ratio(float(values @ np.abs(middles - mean)), values.sum()), 0.0) * self._unit

    def _error_figures(
        self, errors: Counted, limit: int, always: tuple[float | None, ...] = (None, None)
    ) -> list[Figure]:
        """always: The figures of always the mean."""
        return [
            self.figure(
                name, partial(self._error, limit, power), errors, most=math.inf, baseline=plain,
                larger_is_better=False, unit="target",
            )
            for name, power, plain in zip(NAMES, (1, 2), always, strict=True)
        ]  # fmt: skip

    def _error(self, limit: int, power: int, errors: Floats) -> float:
        return float(max(_mean(errors, limit, power), 0.0) ** (1 / power) * self._unit)

    def group_figures(self, counts: Floats, deviation: float) -> list[Figure]:
        block = Counted(counts, deviation)
        return self._error_figures(block, _limit(block.counts, deviation))

    @staticmethod
    def sentence(evaluation: Evaluation) -> str:
        return off_on_average(evaluation)


def _edges() -> Floats:
    return np.array([0.0, *ERRORS, 2.0])


def _limit(counts: Floats, deviation: float) -> int:
    """The number of the first edge beyond which counts cannot be told from noise; at least 1."""
    for place in range(1, len(counts)):
        beyond = counts[place:]
        if beyond.sum() <= 2 * deviation * math.sqrt(len(beyond)):
            return place
    return len(counts)


def _mean(counts: Floats, limit: int, power: int) -> float:
    """The mean of |error|^power, errors beyond the limit at it.

    Errors are taken to be spread evenly over the logarithms of a bin, and evenly over the first,
    which starts at 0."""
    edges = _edges()
    low, high = edges[1:-1], edges[2:]
    first = edges[1] ** power / (power + 1)
    others = (high**power - low**power) / (power * np.log(high / low))
    of_bins = np.concatenate([[first], others])
    of_bins[limit:] = edges[limit] ** power
    return ratio(float(counts @ of_bins), counts.sum())


def _middles(count: int) -> Floats:
    return (np.arange(count) + 0.5) * 2 / count - 1


def _variance(counts: Floats) -> float:
    """The variance of binned values, less that of the bin itself (Sheppard's correction)."""
    middles = _middles(len(counts))
    mean = ratio(float(counts @ middles), counts.sum())
    spread = ratio(float(counts @ (middles - mean) ** 2), counts.sum())
    return max(spread - (2 / len(counts)) ** 2 / 12, 1e-4)
