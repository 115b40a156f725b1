"""`brier`: the squared error of probabilities."""

from __future__ import annotations

from typing import Any

from honestdp.metrics import metrics
from honestdp.metrics.base import Metric


class BrierScore(Metric):
    """Half the squared distance of the probabilities from a row's class; of two classes the squared
    error of either probability. 0 if right and sure, 1 if wrong and sure."""

    name = "brier"
    summary = "Half the squared distance between probabilities and the class; its mean."
    of_classes = True
    bound = 1.0
    larger_is_better = False
    label = "mean Brier score"
    meaning = "smaller is better"
    summed = "sums of Brier scores"

    def values(self, loss: Any, outputs: Any, targets: Any) -> Any:
        p = loss.probabilities(outputs.double())
        own = targets.clamp(0, loss.classes - 1).expand(p.shape[:2]).unsqueeze(-1)
        found = (p.square().sum(-1) - 2 * p.gather(-1, own).squeeze(-1) + 1) / 2
        return found.where((targets >= 0) & (targets < loss.classes), found * 0 + self.bound)


metrics.register(BrierScore())
