"""`mae`: the absolute error of a number, clipped."""

from __future__ import annotations

from typing import Any

from honestdp.metrics import metrics
from honestdp.metrics.base import Metric


class AbsoluteError(Metric):
    """The absolute error on targets in [-1, 1]: at 1 the error is half of their range."""

    name = "mae"
    summary = "The absolute error of a number scaled to [-1, 1], clipped at 1; its mean."
    of_classes = False
    bound = 1.0
    larger_is_better = False
    label = "mean absolute error"
    meaning = "smaller is better; 1 is half the target's range, and the most that counts"
    summed = "sums of clipped absolute errors"

    def values(self, loss: Any, outputs: Any, targets: Any) -> Any:
        return (loss.predicted(outputs).double() - targets).abs()


metrics.register(AbsoluteError())
