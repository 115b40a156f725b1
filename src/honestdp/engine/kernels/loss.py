"""The losses' gradients and the clip, example by example, as the compiled kernels share them.

The same rules in torch: `engine.losses` and `engine.clipping`; tests hold them equal.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import float32, float64

from honestdp.compiled import compiled_fast
from honestdp.engine.clipping import AUTOMATIC_OFFSET, SMALLEST

SQUARED, LOGISTIC, SOFTMAX = 0, 1, 2


@compiled_fast
def output_gradient(loss: Any, weights: Any, label: Any, target: Any, present: Any, z: Any) -> Any:
    """Overwrites the outputs z by the loss's gradient; returns its squared norm.

    A class outside the declared ones gives zero, as does an absent example. weights: Of the
    classes; None if there are none. The norm, by which an example is clipped, is that of the
    weighted gradient.
    """
    counts = present
    if loss == SQUARED:
        z[0] = z[0] - target
    elif loss == LOGISTIC:
        counts = present and label >= 0 and label < 2
        z[0] = float32(1) / (float32(1) + math.exp(-z[0])) - float32(label)
    else:
        counts = present and label >= 0 and label < z.size
        top = z[0]
        for c in range(1, z.size):
            top = max(top, z[c])
        total = float32(0)
        for c in range(z.size):
            z[c] = math.exp(z[c] - top)
            total += z[c]
        for c in range(z.size):
            z[c] = z[c] / total - (float32(1) if c == label else float32(0))
    square = 0.0  # norms in float64: the square of a small float32 is 0, and 0 is not clipped
    if weights is not None:  # decided when it is compiled, and so free without weights
        for c in range(z.size):
            z[c] = z[c] * weights[label] if counts else float32(0)
    for c in range(z.size):
        z[c] = z[c] if counts else float32(0)
        square += float64(z[c]) * float64(z[c])
    return square


@compiled_fast
def clip_factor(square: Any, scale: Any, limit: Any, automatic: Any) -> Any:
    """What brings a gradient of this squared norm to units, clipped at `limit` of them: at most
    scale = UNITS / C times it (`clipping.Clip`). Below 0 where it counts as zero."""
    norm = np.sqrt(square)
    factor = limit / (norm + AUTOMATIC_OFFSET) if automatic else min(scale, limit / norm)
    return float32(factor) if math.isfinite(norm) and factor >= SMALLEST else float32(-1)
