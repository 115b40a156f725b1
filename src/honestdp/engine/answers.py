"""`Answers`: how the outputs of a trained model become probabilities and answers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from torch import Tensor

from honestdp.engine.losses import Loss


@dataclass(frozen=True)
class Answers:
    """Corrections of a trained model's outputs, and where its answer changes.

    Args:
        slope: What outputs are multiplied by; positive.
        offset: What is added to them then.
        threshold: The probability of the second of two classes above which it is the answer; None:
            0.5, and for other targets.
    """

    slope: float = 1.0
    offset: float = 0.0
    threshold: float | None = None

    def outputs(self, outputs: Tensor) -> Tensor:
        """The corrected outputs."""
        if (self.slope, self.offset) == (1.0, 0.0):
            return outputs
        return outputs * self.slope + self.offset

    def loss(self, loss: Loss) -> Loss:
        """The model's loss, which says what corrected outputs mean, with the threshold."""
        if self.threshold is None:
            return loss
        return replace(loss, cut=math.log(self.threshold / (1 - self.threshold)))


PLAIN = Answers()
