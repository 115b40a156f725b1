"""The built-in losses: what a model's outputs mean, and the loss's gradient at them.

squared   one output, half the squared error           (regression)
logistic  one output, the log-odds of class 1          (two classes)
softmax   one output a class                           (more classes)
A target outside the declared classes has a gradient of zero, whatever the outputs.

Classes may have weights, public numbers above 0: an example's loss, and so its gradient, is
multiplied by the weight of its class *before* it is clipped. *Theorem.* The sensitivity of a
clipped sum does not depend on the weights. *Proof.* The weighted gradient w g is a function of the
example and of public numbers, and what enters the sum is w g clipped by its own norm, |w g|: a
vector of norm at most C (1 if clipping is automatic), and 0 for a null record, whatever w is. In
the arithmetic of `grid`, the product of w and the gradient at the outputs is rounded to float32
once, and everything after, the norm included, is computed from the rounded one. QED
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from honestdp.engine.kernels import loss as codes
from honestdp.errors import between, fail, positive_integer
from honestdp.units import WEIGHTS


@dataclass(frozen=True)
class Loss:
    """`classes` = 0: real targets. weights: One a class, public; None: all are 1. cut: The output
    above which the second of two classes is the answer."""

    classes: int
    weights: tuple[float, ...] | None = None
    cut: float = 0.0

    @classmethod
    def of(cls, classes: int | None, weights: tuple[float, ...] | None = None) -> Loss:
        if classes is None:
            return cls(0)
        if positive_integer("classes", classes) < 2:
            raise fail("classes", classes, "must be at least 2, or None for real targets")
        if weights is None:
            return cls(classes)
        if len(weights) != classes:
            raise fail("weights", len(weights), f"for {classes} classes; give one a class")
        return cls(classes, tuple(between(*WEIGHTS, "weights", weight) for weight in weights))

    @property
    def kernel_weights(self) -> NDArray[np.float32] | None:
        """The weights as the compiled kernels read them; None if there are none."""
        return None if self.weights is None else np.array(self.weights, dtype=np.float32)

    def weight(self, targets: Tensor) -> Tensor | float:
        """The weight of each target, [...]; any where the class is unknown."""
        if self.weights is None:
            return 1.0
        # No indexing, which `torch.func` refuses: one class matches, and zeros add nothing.
        weights = torch.tensor(self.weights, dtype=torch.float32, device=targets.device)
        classes = torch.arange(self.classes, device=targets.device)
        own = targets.clamp(0, self.classes - 1).unsqueeze(-1) == classes
        return torch.where(own, weights, 0.0).sum(-1)

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
        if self.weights is not None:
            gradient = gradient * self.weight(targets).unsqueeze(-1)  # type: ignore[union-attr]
        return torch.where(known, gradient, 0.0)

    def value(self, output: Tensor, target: Tensor) -> Tensor:
        """The loss of one example, outputs [output]; for a target outside the classes any."""
        if not self.classes:
            return (output.squeeze(-1) - target.float()).square().sum() / 2
        known = target.clamp(0, self.classes - 1)
        if self.classes == 2 and output.shape[-1] == 1:
            single = output.squeeze(-1)
            found = functional.binary_cross_entropy_with_logits(single, known.float())
        else:
            found = functional.cross_entropy(output, known)
        return found * self.weight(target)

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
