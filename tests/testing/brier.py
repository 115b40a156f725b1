"""A metric from outside: half the squared distance of the predicted chances. All in this file."""

from __future__ import annotations

import torch

from honestdp.metrics import Metric, metrics


class Brier(Metric):
    """0 where the chances are right and sure, 1 where they are wrong and sure."""

    name = "own-brier"
    summary = "Half the squared distance between predicted chances and what is there; its mean."
    of_classes = True
    bound = 1.0
    larger_is_better = False
    label = "mean Brier score"
    meaning = "smaller is better"
    summed = "sums of Brier scores"

    def values(self, loss, outputs, targets):
        there = targets.unsqueeze(-1) == torch.arange(loss.classes)
        return (loss.probabilities(outputs) - there.double()).square().sum(-1) / 2


metrics.register(Brier())
