"""A step after the clipped sum, compiled: noise and formula in one pass over the parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

import honestdp.engine.formulas as formulas
from honestdp.compiled import compiled, compiled_fast
from honestdp.randomness.chacha import TILE
from honestdp.randomness.normal import GROUP, PAIRS, TILES, fill_normals

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


BLOCK = 4 * GROUP  # parameters that stay in the first cache from noise to update


@compiled
def _add_noise(
    key: Any, purpose: Any, candidate: Any, step: Any, total: Any, scale: Any, unit: Any,
    first: Any, out: Any, words: Any, normals: Any, unsure: Any, place: Any, known: Any,
) -> Any:  # fmt: skip
    """out[j] = (total[first + j] + round(scale X)) * unit, X the stream's normals; `first` is a
    multiple of GROUP. Returns -1, or the number of a pair of normals that is in doubt and not
    among the `known` of the candidate at `place`."""
    if scale == 0:
        for j in range(out.size):
            out[j] = total[first + j] * unit
        return -1
    for start in range(0, out.size, GROUP):
        group = (first + start) // GROUP
        if fill_normals(key, purpose, candidate, step, group, scale, words, normals, unsure):
            for i in range(PAIRS):
                if unsure[i]:
                    pair = group * PAIRS + i
                    found = _known(known, place, pair)
                    if found < 0:
                        return pair
                    normals[i], normals[i + PAIRS] = known[found, 2], known[found, 3]
        end = min(GROUP, out.size - start)
        o = out[start : start + end]
        t = total[first + start : first + start + end]
        for i in range(end):
            o[i] = (t[i] + normals[i]) * unit
    return -1


@compiled
def _known(known: Any, place: Any, pair: Any) -> Any:
    for row in range(known.shape[0]):
        if known[row, 0] == place and known[row, 1] == pair:
            return row
    return -1


@compiled
def noisy_means(
    key: Any, purpose: Any, candidates: Any, step: Any, total: Any, scales: Any, units: Any,
    out: Any, begin: Any, doubt: Any, known: Any,
) -> Any:  # fmt: skip
    """out[k] = (total[k] + round(scales[k] X)) * units[k], X the normals of candidate k's stream.

    As every kernel that makes noise it returns whether it came to its end. Else `doubt` names the
    pair of normals (candidate's place, number) to settle, and it starts again at `begin`.
    """
    words, normals = np.empty(TILES * TILE, np.uint32), np.empty(GROUP)
    unsure = np.empty(PAIRS, np.bool_)
    at = begin[1]
    for k in range(begin[0], out.shape[0]):
        for first in range(at, out.shape[1], BLOCK):
            mean = out[k, first : min(first + BLOCK, out.shape[1])]
            pair = _add_noise(
                key, purpose, candidates[k], step, total[k], scales[k], units[k], first, mean,
                words, normals, unsure, k, known,
            )  # fmt: skip
            if pair >= 0:
                begin[0], begin[1], doubt[0], doubt[1] = k, first, k, pair
                return False
        at = 0
    return True


@compiled
def noisy_update(
    key: Any, purpose: Any, candidates: Any, step: Any, total: Any, scales: Any, units: Any,
    code: Any, params: Any, slot0: Any, slot1: Any, coefficients: Any,
    begin: Any, doubt: Any, known: Any,
) -> Any:  # fmt: skip
    """One step: the noisy mean of every candidate's sum, and what its rule makes of it.

    All of [candidate, parameter]. A rule with fewer slots is given anything in their place.
    Returns, and starts again, as `noisy_means` does: no block is updated twice.
    """
    g = np.empty(BLOCK, np.float32)
    words, normals = np.empty(TILES * TILE, np.uint32), np.empty(GROUP)
    unsure = np.empty(PAIRS, np.bool_)
    at = begin[1]
    for k in range(begin[0], params.shape[0]):
        for first in range(at, params.shape[1], BLOCK):
            last = min(first + BLOCK, params.shape[1])
            mean = g[: last - first]
            pair = _add_noise(
                key, purpose, candidates[k], step, total[k], scales[k], units[k], first, mean,
                words, normals, unsure, k, known,
            )  # fmt: skip
            if pair >= 0:
                begin[0], begin[1], doubt[0], doubt[1] = k, first, k, pair
                return False
            a, b = slot0[k, first:last], slot1[k, first:last]
            update(code, mean, params[k, first:last], a, b, coefficients[k])
        at = 0
    return True


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
