"""`numbers`: a numeric target, evaluated by counts of errors and of values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from honestdp.evaluation.base import Evaluation, Evaluator, Figure
from honestdp.evaluation.counts import (
    Counted,
    Estimate,
    Floats,
    Level,
    Z,
    estimate,
    even,
    ratio,
    weights,
)

# Sizes of errors on the scale on which targets are in [-1, 1]: edges grow by the cube root of 2.
ERRORS = tuple(2 * 2 ** (-k / 3) for k in range(30, 0, -1))
VALUES = 32  # bins of the target, of equal width
PREDICTED = 8  # bins of predicted and of true values, of equal width, in their joint counts
ERROR_EDGES = np.array([0.0, *ERRORS, 2.0])
VALUE_EDGES = np.linspace(-1, 1, VALUES + 1)
NAMES = ("mean absolute error", "root mean squared error")
WORST_R2 = -1.0  # what is worse is shown as this


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

    Large errors are rare, and the noise of their counts would drown a mean of squares. So the
    estimate takes errors beyond a limit, where counts cannot be told from noise, as the limit. A
    mean of limited errors is never above that of the errors, so the lower end of its interval holds
    for both; the upper end is that of the mean without a limit, as the noise may hide large errors.

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
        errors, values = (counts[level.name] for level in self.levels[:2])
        spreads = _spreads(Counted(values, deviation), deviation)
        always: list[float | None] = [_absolute(values), math.sqrt(max(spreads[0].value, 0.0))]
        found = self._error_figures(errors, deviation, always)
        square = _mean_error(errors, deviation, 2)
        return [*found, _explained(square, spreads)]

    def group_figures(self, counts: Floats, deviation: float) -> list[Figure]:
        return self._error_figures(counts, deviation, [None, None])

    def _error_figures(
        self, counts: Floats, deviation: float, always: list[float | None]
    ) -> list[Figure]:
        """always: The figures of always the mean, in half widths of the range."""
        found = []
        for name, power, plain in zip(NAMES, (1, 2), always, strict=True):
            ends = (max(x, 0.0) ** (1 / power) for x in _mean_error(counts, deviation, power))
            value, low, high = (self._unit * x for x in ends)
            baseline = None if plain is None else self._unit * plain
            found.append(
                Figure(
                    name=name, value=value, low=low, high=high, baseline=baseline,
                    larger_is_better=False, unit="target",
                )
            )  # fmt: skip
        return found

    @staticmethod
    def sentence(evaluation: Evaluation) -> str:
        error, r2 = evaluation["mean absolute error"], evaluation["R2"]
        found = f"off by {error.value:.3g} on average ({error.low:.3g} to {error.high:.3g})"
        worse = " (not shown to be better than always the mean)" if r2.low <= 0 else ""
        return f"{found}; it explains {100 * max(r2.value, 0.0):.0f} % of the variance{worse}"


def _power(power: int) -> Callable[[Floats], Floats]:
    return lambda x: x**power


def visible(counts: Floats, deviation: float) -> int:
    """Number of the first bins, from which on counts cannot be told from noise; at least 1.

    Args:
        counts: Noisy counts.
        deviation: The standard deviation of their noise.
    """
    for place in range(1, len(counts)):
        beyond = counts[place:]
        if beyond.sum() <= 2 * deviation * math.sqrt(len(beyond)):
            return place
    return len(counts)


def _limited(found: Floats, edges: Floats, first: int, last: int, power: int) -> Floats:
    """Weights of x^power with x limited to the bins from first to last."""
    limited = found.copy()
    limited[last:] = edges[last] ** power
    limited[:first] = edges[first] ** power
    return limited


def _mean_error(counts: Floats, deviation: float, power: int) -> tuple[float, float, float]:
    """The mean of |error|^power with its interval, which is wider by what the spread of rows within
    bins may change: the difference between `weights` and `even`."""
    block, limit = Counted(counts, deviation), visible(counts, deviation)
    exact, plain = (rule(ERROR_EDGES, _power(power)) for rule in (weights, even))
    below, rough, above = (
        estimate(lambda c, w=one: ratio(float(c @ w), c.sum()), block)
        for one in (
            _limited(exact, ERROR_EDGES, 0, limit, power),
            _limited(plain, ERROR_EDGES, 0, limit, power),
            exact,
        )
    )
    gap = abs(below.value - rough.value)
    low, high = below.interval()[0] - gap, above.interval()[1] + gap
    return below.value, max(min(low, below.value), 0.0), max(high, below.value)


def _absolute(values: Floats) -> float:
    """The mean absolute error of always the mean."""
    middles = (VALUE_EDGES[1:] + VALUE_EDGES[:-1]) / 2
    mean = ratio(float(values @ middles), values.sum())
    return max(ratio(float(values @ np.abs(middles - mean)), values.sum()), 0.0)


def _spreads(values: Counted, deviation: float) -> tuple[Estimate, Estimate]:
    """The variance of the target: with values limited to where counts can be told from noise, which
    makes it no larger, and without a limit."""
    counts = values.counts
    first, last = VALUES - visible(counts[::-1], deviation), visible(counts, deviation)

    def variance(first: int, last: int) -> Estimate:
        plain, square = (
            _limited(weights(VALUE_EDGES, _power(n)), VALUE_EDGES, first, last, n) for n in (1, 2)
        )

        def function(c: Floats) -> float:
            return ratio(float(c @ square), c.sum()) - ratio(float(c @ plain), c.sum()) ** 2

        return estimate(function, values)

    return variance(min(first, last - 1), last), variance(0, VALUES)


def _explained(square: tuple[float, float, float], spreads: tuple[Estimate, Estimate]) -> Figure:
    """R2, by the interval of the logarithm of the ratio; all that is possible where the variance of
    the target cannot be told from noise."""
    value, low, high = (max(x, 1e-12) for x in square)
    spread, most_spread = spreads[0], max(spreads[1].interval()[1], spreads[0].value)
    least, most = WORST_R2, 1.0
    found = 1 - value / max(spread.value, 1e-12)
    if spread.value > 2 * spread.deviation:
        lower = Z * spread.deviation / spread.value
        worse = math.hypot(math.log(high / value), lower)
        better = math.hypot(math.log(value / low), math.log(most_spread / spread.value))
        least = max(1 - (1 - found) * math.exp(worse), WORST_R2)
        most = max(1 - (1 - found) * math.exp(-better), WORST_R2)
    found = min(max(found, WORST_R2), 1.0)
    return Figure(name="R2", value=found, low=least, high=most, baseline=0.0, unit="number")
