"""`rmse`: the root of the mean squared error of a number, clipped."""

from __future__ import annotations

import math
from typing import Any

from honestdp.metrics import metrics
from honestdp.metrics.base import Metric


class RootMeanSquare(Metric):
    """The squared error on targets in [-1, 1], clipped at 1 and summed; of its mean the root.

    Candidates are compared by the sum, whose order is that of the root. A noisy sum below zero has
    the root 0.
    """

    name = "rmse"
    summary = "The root of the mean squared error of a number scaled to [-1, 1], clipped at 1."
    of_classes = False
    bound = 1.0
    larger_is_better = False
    label = "root mean squared error"
    meaning = "smaller is better; 1 is half the target's range, and the most that counts"
    summed = "sums of clipped squared errors"
    is_mean = False

    def values(self, loss: Any, outputs: Any, targets: Any) -> Any:
        return (loss.predicted(outputs).double() - targets).square()

    def as_score(self, value: float, rows: float) -> float:
        return -(value**2) * rows

    def from_score(self, score: float, rows: float) -> float:
        return math.sqrt(max(-score / rows, 0.0))


metrics.register(RootMeanSquare())
