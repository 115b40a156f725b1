"""DPAdam: Adam on noisy gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from honestdp.errors import positive
from honestdp.optimizers import Hyperparameter, Knobs, Optimizer, fraction, optimizers
from honestdp.optimizers.base import Array, State

HALF = np.float32(0.5)

BETA1 = Hyperparameter("beta1", 0.9, fraction, "share of the first moment kept")
BETA2 = Hyperparameter("beta2", 0.999, fraction, "share of the second moment kept")
STABILITY = Hyperparameter("stability", 1e-8, positive, "added to the divisor")


def adam(
    g: Any,
    p: Any,
    first: Any,
    second: Any,
    rate: Any,
    beta1: Any,
    beta2: Any,
    unbias: Any,
    stability: Any,
) -> Any:
    """rate holds 1/(1-beta1^t) already, unbias is 1/sqrt(1-beta2^t)."""
    first = g + beta1 * (first - g)
    second = g * g + beta2 * (second - g * g)
    return p - rate * first / (unbias * second**HALF + stability), first, second


@optimizers.register
class DPAdam(Optimizer):
    """Steps of the first moment over the root of the second, both without bias."""

    name = "dpadam"
    summary = "Adam (Kingma and Ba 2015)"
    hyperparameters = (BETA1, BETA2, STABILITY)
    usual_rate = 1e-3
    formulas = (adam,)
    slots = ("first", "second")

    def coefficients(self, knobs: Knobs, state: State, t: int) -> tuple[Array, ...]:
        k = knobs
        rate, unbias = k.learning_rate / (1 - k.beta1**t), 1 / np.sqrt(1 - k.beta2**t)
        return rate, k.beta1, k.beta2, unbias, k.stability
