"""`accuracy`: the share of rows whose class is predicted."""

from __future__ import annotations

from typing import Any

from honestdp.metrics import metrics
from honestdp.metrics.base import Metric


class Accuracy(Metric):
    """1 for a row whose class is predicted, 0 for any other."""

    name = "accuracy"
    summary = "The share of rows whose class is predicted."
    of_classes = True
    bound = 1.0
    larger_is_better = True
    label = "score"
    meaning = "share of right answers"
    summed = "counts of correct predictions"

    def values(self, loss: Any, outputs: Any, targets: Any) -> Any:
        return (loss.predicted(outputs) == targets).double()


metrics.register(Accuracy())
