"""The built-in losses: what a model's outputs mean, and the loss's gradient at them.

squared   one output, half the squared error           (regression)
logistic  one output, the log-odds of class 1          (two classes)
softmax   one output a class                           (more classes)
A target outside the declared classes has a gradient of zero, whatever the outputs.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from honestdp.engine.kernels import loss as codes
from honestdp.errors import fail, positive_integer


@dataclass(frozen=True)
class Loss:
    """`classes` = 0: real targets. cut: The output above which the second of two classes is the
    answer."""

    classes: int
    cut: float = 0.0

    @classmethod
    def of(cls, classes: int | None) -> Loss:
        if classes is None:
            return cls(0)
        if positive_integer("classes", classes) < 2:
            raise fail("classes", classes, "must be at least 2, or None for real targets")
        return cls(classes)

    @property
    def code(self) -> int:
        return codes.SQUARED if not self.classes else self._classification

    @property
    def _classification(self) -> int:
        return codes.LOGISTIC if self.classes == 2 else codes.SOFTMAX

    @property
    def outputs(self) -> int:
        return self.classes if self.classes > 2 else 1

    def known(self, targets: Tensor) -> Tensor:
        """Which targets mean something: those among the classes, or all where there are none."""
        if not self.classes:
            return torch.ones_like(targets, dtype=torch.bool)
        return (targets >= 0) & (targets < self.classes)

    def gradient(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """The gradient at outputs [..., output] for targets [...]."""
        if not self.classes:
            return outputs - targets.unsqueeze(-1).to(outputs.dtype)
        known = self.known(targets).unsqueeze(-1)
        if self.classes == 2:
            gradient = torch.sigmoid(outputs) - targets.unsqueeze(-1).to(outputs.dtype)
        else:
            named = targets.clamp(0, self.classes - 1).long()
            hot = functional.one_hot(named, self.classes).to(outputs.dtype)
            gradient = torch.softmax(outputs, -1) - hot
        return torch.where(known, gradient, 0.0)

    def value(self, output: Tensor, target: Tensor) -> Tensor:
        """The loss of one example, outputs [output]; for a target outside the classes any."""
        if not self.classes:
            return (output.squeeze(-1) - target.float()).square().sum() / 2
        known = target.clamp(0, self.classes - 1)
        if self.classes == 2 and output.shape[-1] == 1:
            return functional.binary_cross_entropy_with_logits(output.squeeze(-1), known.float())
        return functional.cross_entropy(output, known)

    def predicted(self, outputs: Tensor) -> Tensor:
        """The predicted class (integer), or the predicted value."""
        if not self.classes:
            return outputs.squeeze(-1)
        return (outputs.squeeze(-1) > self.cut).long() if self.classes == 2 else outputs.argmax(-1)

    def probabilities(self, outputs: Tensor) -> Tensor:
        """[..., class]"""
        if self.classes > 2:
            return torch.softmax(outputs, -1)
        p = torch.sigmoid(outputs)
        return torch.cat([1 - p, p], -1)
