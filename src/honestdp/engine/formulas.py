"""The optimizers' formulas, for one parameter: plain arithmetic, so that each is written once.

Called with numbers they are compiled (`kernels.update`); called with tensors they run on any
device. Each takes the noisy mean gradient g, the parameter p, the rule's state and
coefficients (one number a candidate), and returns the new parameter and the new state.
References: Abadi et al. 2016 (sgd, momentum); Kingma and Ba 2015 (adam); Mohapatra et al.
2022 (adam without second moments); Tang, Shpilevskiy and Lecuyer 2024 (adam_corrected);
Koskela and Honkela 2020 (ADADP's whole and half steps).
"""

from __future__ import annotations

from typing import Any

import numpy as np

HALF = np.float32(0.5)


def sgd(g: Any, p: Any, rate: Any) -> Any:
    return (p - rate * g,)


def momentum(g: Any, p: Any, velocity: Any, rate: Any, keep: Any) -> Any:
    velocity = keep * velocity + g
    return p - rate * velocity, velocity


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


def adam_first_moment(g: Any, p: Any, first: Any, rate: Any, beta1: Any) -> Any:
    """DPAdamWOSM; rate holds the effective step size and 1/(1-beta1^t)."""
    first = g + beta1 * (first - g)
    return p - rate * first, first


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
    """DP-AdamBC: the second moment without the noise's variance; unbias is 1/(1-beta2^t)."""
    first = g + beta1 * (first - g)
    second = g * g + beta2 * (second - g * g)
    variance = unbias * second - noise
    larger = variance * (variance > floor) + floor * (variance <= floor)
    return p - rate * first / larger**HALF, first, second


def half_step(g: Any, p: Any, anchor: Any, whole: Any, rate: Any) -> Any:
    """ADADP's first lot: keep where we stand and where a whole step leads; go half of it."""
    return p - HALF * rate * g, p, p - rate * g


def second_half_step(g: Any, p: Any, anchor: Any, whole: Any, rate: Any) -> Any:
    """ADADP's second lot: the other half, from where the first one led."""
    return p - HALF * rate * g, anchor, whole
