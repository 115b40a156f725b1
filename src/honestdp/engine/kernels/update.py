"""A rule's formula over a block of parameters, compiled: one pass, nothing allocated."""

from __future__ import annotations

from typing import Any

from numba import njit

from honestdp.engine import formulas
from honestdp.engine.normal import FAST


def _compiled(formula: Any) -> Any:
    return njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")(formula)


_sgd = _compiled(formulas.sgd)
_momentum = _compiled(formulas.momentum)
_adam = _compiled(formulas.adam)
_adam_first_moment = _compiled(formulas.adam_first_moment)
_adam_corrected = _compiled(formulas.adam_corrected)
_half_step = _compiled(formulas.half_step)
_second_half_step = _compiled(formulas.second_half_step)

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


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def update(
    code: Any, g: Any, column: Any, params: Any, slot0: Any, slot1: Any, coefficients: Any
) -> None:
    """params[k, column + i] and the slots' like, from g[k, i]; whole rows, so that the compiler
    knows them to be contiguous. A rule with fewer slots is given anything in their place."""
    many = g.shape[1]
    for k in range(g.shape[0]):
        gk = g[k]
        p = params[k, column : column + many]
        a = slot0[k, column : column + many]
        b = slot1[k, column : column + many]
        c = coefficients[k]
        if code == 0:
            for i in range(many):
                (p[i],) = _sgd(gk[i], p[i], c[0])
        elif code == 1:
            for i in range(many):
                p[i], a[i] = _momentum(gk[i], p[i], a[i], c[0], c[1])
        elif code == 2:
            c0, c1, c2, c3, c4 = c[0], c[1], c[2], c[3], c[4]
            for i in range(many):
                p[i], a[i], b[i] = _adam(gk[i], p[i], a[i], b[i], c0, c1, c2, c3, c4)
        elif code == 3:
            for i in range(many):
                p[i], a[i] = _adam_first_moment(gk[i], p[i], a[i], c[0], c[1])
        elif code == 4:
            c0, c1, c2, c3, c4, c5 = c[0], c[1], c[2], c[3], c[4], c[5]
            for i in range(many):
                p[i], a[i], b[i] = _adam_corrected(gk[i], p[i], a[i], b[i], c0, c1, c2, c3, c4, c5)
        elif code == 5:
            for i in range(many):
                p[i], a[i], b[i] = _half_step(gk[i], p[i], a[i], b[i], c[0])
        else:
            for i in range(many):
                p[i], a[i], b[i] = _second_half_step(gk[i], p[i], a[i], b[i], c[0])
