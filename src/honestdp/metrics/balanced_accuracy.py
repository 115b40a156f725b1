"""`balanced-accuracy`: the mean over the classes of the share of right answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from honestdp.evaluation.counts import Level
from honestdp.metrics import metrics
from honestdp.metrics.base import Floats
from honestdp.metrics.counted import NOISE_OF_NONE, CountedMetric, ordered_pairs


class BalancedAccuracy(CountedMetric):
    """The share of right answers among the rows of a class, its mean over the classes; from counts
    by class and whether the answer is right.

    A class that cannot be told from noise counts as NOISE_OF_NONE deviations of its own noise,
    which draws its share to that of a guess.
    """

    name = "balanced-accuracy"
    summary = "The share of right answers in each class, and of these the mean."
    of_classes = True
    larger_is_better = True
    label = "balanced accuracy"
    meaning = "mean over the classes of the share of right answers"
    summed = "counts of right and wrong answers by class"

    def level(self, classes: int | None) -> Level:
        assert classes is not None

        def cells(loss: Any, outputs: Any, targets: Any) -> Any:
            found = 2 * targets + (loss.predicted(outputs) == targets).long()
            return found.where((targets >= 0) & (targets < classes), found * 0 - 1)

        return Level("class by right answer", (classes, 2), cells)

    def estimate(self, counts: Floats, noise: float) -> float:
        guess, sizes = 1 / len(counts), counts.sum(1)
        least = max(1.0, NOISE_OF_NONE * noise * 2**0.5)
        better = (counts[:, 1] - guess * sizes) / np.maximum(sizes, least)
        return guess + float(better.mean())

    def picks(self, classes: int | None) -> bool:
        return classes == 2

    def pick_count(self, counts: NDArray[np.int64], rows: int) -> tuple[int, int]:
        """Of two classes the balanced accuracy is the area under the curve of the answers."""
        (wrong, right), of_second = counts
        return ordered_pairs(np.array([(right, wrong), of_second]), rows)


metrics.register(BalancedAccuracy())
