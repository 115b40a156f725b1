"""DPAdamWOSM: Adam without second moments, the paper's own rule."""

from __future__ import annotations

from typing import Any

from honestdp.optimizers import Knobs, Optimizer, optimizers
from honestdp.optimizers.base import Array, State
from honestdp.optimizers.dpadam import BETA1, STABILITY


def adam_first_moment(g: Any, p: Any, first: Any, rate: Any, beta1: Any) -> Any:
    """rate holds the effective step size and 1/(1-beta1^t)."""
    first = g + beta1 * (first - g)
    return p - rate * first, first


@optimizers.register
class DPAdamWOSM(Optimizer):
    """Steps of the first moment times the step size to which DPAdam's converges when noise
    dominates: the paper's Theorem 3."""

    name = "dpadamwosm"
    summary = "Adam without second moments (Mohapatra et al. 2022)"
    hyperparameters = (BETA1, STABILITY)
    usual_rate = 1e-3
    formulas = (adam_first_moment,)
    slots = ("first",)

    def coefficients(self, knobs: Knobs, state: State, t: int) -> tuple[Array, ...]:
        k = knobs
        effective = k.learning_rate / (k.noise + k.stability)
        return effective / (1 - k.beta1**t), k.beta1
