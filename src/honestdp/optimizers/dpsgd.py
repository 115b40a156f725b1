"""DPSGD: gradient descent."""

from __future__ import annotations

from typing import Any

from honestdp.optimizers import Knobs, Optimizer, optimizers
from honestdp.optimizers.base import Array, State


def sgd(g: Any, p: Any, rate: Any) -> Any:
    return (p - rate * g,)


@optimizers.register
class DPSGD(Optimizer):
    """Steps of the learning rate times the noisy mean gradient."""

    name = "dpsgd"
    summary = "gradient descent (Abadi et al. 2016)"
    formulas = (sgd,)
    scales_with_lot = True

    def coefficients(self, knobs: Knobs, state: State, t: int) -> tuple[Array, ...]:
        return (knobs.learning_rate,)
