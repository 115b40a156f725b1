"""A step after the clipped sum, compiled: noise and formula in one pass over the parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from honestdp.compiled import compiled, compiled_fast
from honestdp.engine import formulas
from honestdp.engine.normal import add_normals

_sgd = compiled_fast(formulas.sgd)
_momentum = compiled_fast(formulas.momentum)
_adam = compiled_fast(formulas.adam)
_adam_first_moment = compiled_fast(formulas.adam_first_moment)
_adam_corrected = compiled_fast(formulas.adam_corrected)
_half_step = compiled_fast(formulas.half_step)
_second_half_step = compiled_fast(formulas.second_half_step)

# Which loop runs a formula.
CODES = {
    formulas.sgd: 0,
    formulas.momentum: 1,
    formulas.adam: 2,
    formulas.adam_first_moment: 3,
    formulas.adam_corrected: 4,
    formulas.half_step: 5,
    formulas.second_half_step: 6,
}


BLOCK = 2048  # parameters that stay in the first cache from noise to update


@compiled
def noisy_update(
    key: Any, purpose: Any, candidates: Any, step: Any, total: Any, scales: Any, divisor: Any,
    code: Any, params: Any, slot0: Any, slot1: Any, coefficients: Any,
) -> None:  # fmt: skip
    """One step: the noisy mean of every candidate's sum, and what its rule makes of it.

    All of [candidate, parameter]. A rule with fewer slots is given anything in their place.
    """
    g = np.empty(BLOCK, np.float32)
    for k in range(params.shape[0]):
        for first in range(0, params.shape[1], BLOCK):
            last = min(first + BLOCK, params.shape[1])
            mean = g[: last - first]
            add_normals(
                key, purpose, candidates[k], step, total[k], scales[k], divisor, first, mean
            )
            a, b = slot0[k, first:last], slot1[k, first:last]
            update(code, mean, params[k, first:last], a, b, coefficients[k])


@compiled_fast
def update(code: Any, g: Any, p: Any, a: Any, b: Any, c: Any) -> None:
    """One candidate's parameters p and slots a, b by the rule with this code."""
    many = g.size
    if code == 0:
        for i in range(many):
            (p[i],) = _sgd(g[i], p[i], c[0])
    elif code == 1:
        for i in range(many):
            p[i], a[i] = _momentum(g[i], p[i], a[i], c[0], c[1])
    elif code == 2:
        c0, c1, c2, c3, c4 = c[0], c[1], c[2], c[3], c[4]
        for i in range(many):
            p[i], a[i], b[i] = _adam(g[i], p[i], a[i], b[i], c0, c1, c2, c3, c4)
    elif code == 3:
        for i in range(many):
            p[i], a[i] = _adam_first_moment(g[i], p[i], a[i], c[0], c[1])
    elif code == 4:
        c0, c1, c2, c3, c4, c5 = c[0], c[1], c[2], c[3], c[4], c[5]
        for i in range(many):
            p[i], a[i], b[i] = _adam_corrected(g[i], p[i], a[i], b[i], c0, c1, c2, c3, c4, c5)
    elif code == 5:
        for i in range(many):
            p[i], a[i], b[i] = _half_step(g[i], p[i], a[i], b[i], c[0])
    else:
        for i in range(many):
            p[i], a[i], b[i] = _second_half_step(g[i], p[i], a[i], b[i], c[0])
