"""`log-loss`: minus the logarithm of the probability of a row's class, clipped."""

from __future__ import annotations

from typing import Any

from honestdp.metrics import metrics
from honestdp.metrics.base import Metric


class LogLoss(Metric):
    """-log p for the probability p that a row's class got, at most 5 (p below 0.7 %)."""

    name = "log-loss"
    summary = "Minus the logarithm of the probability of a row's class, clipped at 5; its mean."
    of_classes = True
    bound = 5.0
    larger_is_better = False
    label = "mean log loss"
    meaning = "smaller is better; clipped losses"
    summed = "sums of clipped log losses"

    def values(self, loss: Any, outputs: Any, targets: Any) -> Any:
        p = loss.probabilities(outputs.double())
        own = targets.clamp(0, loss.classes - 1).expand(p.shape[:2]).unsqueeze(-1)
        found = -p.gather(-1, own).squeeze(-1).log()
        return found.where((targets >= 0) & (targets < loss.classes), found * 0 + self.bound)


metrics.register(LogLoss())
