"""`squared_error`: half the squared error of a number, clipped."""

from __future__ import annotations

from typing import Any

from honestdp.metrics import metrics
from honestdp.metrics.base import Metric


class SquaredError(Metric):
    """Half the squared error on targets in [-1, 1]: at 0.5 the error is half of their range."""

    name = "squared_error"
    summary = "Half the squared error of a number scaled to [-1, 1], clipped at 0.5; its mean."
    of_classes = False
    bound = 0.5
    larger_is_better = False
    label = "mean loss"
    meaning = "smaller is better; clipped losses"
    summed = "sums of clipped losses"

    def values(self, loss: Any, outputs: Any, targets: Any) -> Any:
        return (loss.predicted(outputs) - targets).double().square() / 2


metrics.register(SquaredError())
