"""`auc`: the area under the ROC curve."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from honestdp.evaluation.counts import Level
from honestdp.metrics import metrics
from honestdp.metrics.base import Floats
from honestdp.metrics.counted import CountedMetric, area, ordered_pairs

# Edges of bins of the log-odds of class 1. A class may be rare, so they reach further down.
EDGES = tuple(k / 2 for k in range(-12, 7))
BINS = len(EDGES) + 1


def _cells(loss: Any, outputs: Any, targets: Any) -> Any:
    score = outputs.squeeze(-1)
    bins = (score.unsqueeze(-1) > score.new_tensor(EDGES)).sum(-1)
    known = (targets == 0) | (targets == 1)
    return (BINS * targets + bins).where(known, bins * 0 - 1)


class AreaUnderCurve(CountedMetric):
    """How often a row of class 1 scores above one of class 0; from counts by class and score."""

    name = "auc"
    summary = "The area under the ROC curve: how often a row of class 1 scores above one of 0."
    of_classes = True
    larger_is_better = True
    label = "AUC"
    meaning = "0.5 is a guess, 1 is best"
    summed = f"counts of rows by class and {BINS} bins of the score"
    suited = "two classes"

    def suits(self, classes: int | None) -> bool:
        return classes == 2

    def level(self, classes: int | None) -> Level:
        return Level("class by score", (2, BINS), _cells)

    def estimate(self, counts: Floats, noise: float) -> float:
        return area(counts, noise)

    def picks(self, classes: int | None) -> bool:
        return True

    def pick_count(self, counts: NDArray[np.int64], rows: int) -> tuple[int, int]:
        return ordered_pairs(counts, rows)


metrics.register(AreaUnderCurve())
