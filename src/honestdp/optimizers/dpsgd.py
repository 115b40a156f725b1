"""DPSGD: gradient descent."""

from __future__ import annotations

import math
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

    def noise_sd(self, knobs: Knobs, average: bool) -> Array:
        """After T steps of rate a the parameter is -a times the sum of T independent noises of
        standard deviation s: a s sqrt(T). The mean of the last m = T - floor(T/2) results holds the
        first T - m noises in full, and of the last m the j-th from the end by j/m: its variance is
        (a s)^2 (T - m + (m + 1)(2m + 1) / (6m)), for many steps 2/3 of that without averaging."""
        steps = knobs.steps
        last = steps - steps // 2
        averaged = steps - last + (last + 1) * (2 * last + 1) / (6 * last)
        return knobs.learning_rate * knobs.noise * math.sqrt(averaged if average else steps)
