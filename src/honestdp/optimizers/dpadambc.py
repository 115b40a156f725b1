"""DP-AdamBC: Adam with the noise's variance taken out of the second moment."""

from __future__ import annotations

from typing import Any

import numpy as np

from honestdp.errors import positive
from honestdp.optimizers import Hyperparameter, Knobs, Optimizer, optimizers
from honestdp.optimizers.base import Array, State
from honestdp.optimizers.dpadam import BETA1, BETA2

HALF = np.float32(0.5)


def adam_corrected(
    g: Any,
    p: Any,
    first: Any,
    second: Any,
    rate: Any,
    beta1: Any,
    beta2: Any,
    unbias: Any,
    noise: Any,
    floor: Any,
) -> Any:
    """The second moment without the noise's variance; unbias is 1/(1-beta2^t)."""
    first = g + beta1 * (first - g)
    second = g * g + beta2 * (second - g * g)
    variance = unbias * second - noise
    larger = variance * (variance > floor) + floor * (variance <= floor)
    return p - rate * first / larger**HALF, first, second


@optimizers.register
class DPAdamBC(Optimizer):
    """Steps of the first moment over the root of the corrected second, or of its floor."""

    name = "dpadambc"
    summary = "Adam with a bias correction for the noise (Tang, Shpilevskiy and Lecuyer 2024)"
    hyperparameters = (
        BETA1,
        BETA2,
        Hyperparameter("variance_floor", 1e-8, positive, "least value of the corrected moment"),
    )
    usual_rate = 1e-3
    formulas = (adam_corrected,)
    slots = ("first", "second")

    def coefficients(self, knobs: Knobs, state: State, t: int) -> tuple[Array, ...]:
        k = knobs
        rate, unbias = k.learning_rate / (1 - k.beta1**t), 1 / (1 - k.beta2**t)
        return rate, k.beta1, k.beta2, unbias, k.noise**2, k.variance_floor
