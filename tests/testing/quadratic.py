"""A model from outside: linear in the features and their squares, all in this file."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from honestdp.engine.models.gradients import GradientModel
from honestdp.errors import unit
from honestdp.models import Architecture, Option, architectures


@architectures.register
class QuadraticArchitecture(Architecture):
    """What is public about it."""

    name = "quadratic"
    summary = "regression on features and their squares"
    options = (Option("reach", 1.0, unit, "what squares are multiplied by"),)
    steps_factor = 1

    def engine(self):
        return Quadratic


@dataclass(frozen=True)
class Quadratic(GradientModel):
    """What trains."""

    kind = "quadratic"

    reach: float = 1.0

    @property
    def layout(self):
        outputs = self.loss.outputs
        return (("weight", (2 * self.features, outputs)), ("bias", (outputs,)))

    def initial(self, uniforms: Tensor, scale: float | None) -> Tensor:
        return (2 * uniforms - 1) * (scale or 0.0)

    def outputs(self, params: Tensor, inputs: Tensor) -> Tensor:
        from honestdp.engine import named

        part = named(self, params)
        both = torch.cat([inputs, self.reach * inputs.square()], -1)
        return both @ part["weight"] + part["bias"].unsqueeze(1)
