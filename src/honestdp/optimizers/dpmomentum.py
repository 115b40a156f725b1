"""DPMomentum: gradient descent with a velocity."""

from __future__ import annotations

from typing import Any

from honestdp.optimizers import Hyperparameter, Knobs, Optimizer, fraction, optimizers
from honestdp.optimizers.base import Array, State


def momentum(g: Any, p: Any, velocity: Any, rate: Any, keep: Any) -> Any:
    velocity = keep * velocity + g
    return p - rate * velocity, velocity


@optimizers.register
class DPMomentum(Optimizer):
    """Steps of the learning rate times a velocity, to which every gradient is added."""

    name = "dpmomentum"
    summary = "gradient descent with momentum (Abadi et al. 2016)"
    hyperparameters = (Hyperparameter("momentum", 0.9, fraction, "share of the velocity kept"),)
    formulas = (momentum,)
    slots = ("velocity",)
    scales_with_lot = True

    def coefficients(self, knobs: Knobs, state: State, t: int) -> tuple[Array, ...]:
        return knobs.learning_rate, knobs.momentum
