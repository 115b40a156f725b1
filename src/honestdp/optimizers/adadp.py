"""ADADP: gradient descent whose learning rate is controlled by comparing steps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from honestdp.optimizers import Knobs, Optimizer, optimizers
from honestdp.optimizers.base import Array, State, Tensor

HALF = np.float32(0.5)


def half_step(g: Any, p: Any, anchor: Any, whole: Any, rate: Any) -> Any:
    """The first lot: keep where we stand and where a whole step leads; go half of it."""
    return p - HALF * rate * g, p, p - rate * g


def second_half_step(g: Any, p: Any, anchor: Any, whole: Any, rate: Any) -> Any:
    """The second lot: the other half, from where the first one led."""
    return p - HALF * rate * g, anchor, whole


@optimizers.register
class ADADP(Optimizer):
    """One whole step against two half steps, of a lot each: their distance decides whether the pair
    is taken, and sets the rate. A candidate's learning rate is where that starts."""

    name = "adadp"
    summary = "gradient descent with a controlled rate, two lots a step (Koskela and Honkela 2020)"
    usual_rate = 1e-3
    formulas = (half_step, second_half_step)
    slots = ("anchor", "whole")
    rates = ("rate",)
    between = "anchor"

    def coefficients(self, knobs: Knobs, state: State, t: int) -> tuple[Array, ...]:
        return (state["rate"].squeeze(1).cpu().double().numpy(),)

    def finish(self, params: Tensor, state: State, knobs: Knobs) -> tuple[Tensor, State]:
        whole = state["whole"]
        error = ((whole - params) / whole.abs().clamp_(min=1)).norm(dim=1, keepdim=True)
        tolerance = math.sqrt(params.shape[1] / (2 * knobs.steps))
        # A NaN passes no comparison: such a pair is refused, and the rate shrinks.
        factor = (tolerance / error).sqrt().nan_to_num(nan=0.9).clamp(0.9, 1.1)
        result = params.where(error <= tolerance, state["anchor"])
        return result, state | {"rate": state["rate"] * factor}
