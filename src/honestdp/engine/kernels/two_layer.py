"""Clipped sums of the two-layer network on compressed sparse rows, compiled.

Parameters of candidate k in one row: first weights [feature, width], first biases [width],
second weights [width, output], second biases [output]. With hidden h, output gradient d2 and
hidden gradient d1 the example's squared norm is |d2|^2 (|h|^2 + 1) + |d1|^2 (|x|^2 + 1).
Every example's contribution is rounded to whole units by itself (`engine.grid`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float32, float64

from honestdp.compiled import compiled_fast
from honestdp.engine.clipping import LARGEST_SQUARE
from honestdp.engine.kernels.linear import ask_ahead
from honestdp.engine.kernels.loss import clip_factor, output_gradient
from honestdp.engine.kernels.rounding import eight_rounded_products, rounded, rounded_product
from honestdp.engine.sparse import FACTS

_CHUNK = 512  # examples whose hidden layers are held at once


@compiled_fast
def sparse_sums(
    loss: Any, class_weights: Any, relu: Any, width: Any, outputs: Any,
    words: Any, reals: Any, starts: Any, features: Any,
    rows: Any, counts: Any, params: Any, scales: Any, automatic: Any, limit: Any, sums: Any,
) -> None:  # fmt: skip
    """sums[k] = the clipped sum over candidate k's lot of packed rows (`engine.sparse`)."""
    hidden = np.empty((_CHUNK, width), np.float32)
    z = np.empty(outputs, np.float32)
    d1 = np.empty((_CHUNK, width), np.float32)
    second = np.empty((outputs, width), np.float32)
    second_sum = np.empty((outputs, width), sums.dtype)
    a, b = features * width, features * width + width
    c2 = b + width * outputs
    for k in range(params.shape[0]):
        first = params[k, :a].reshape(features, width)
        first_bias = params[k, a:b]
        second_bias = params[k, c2:]
        first_sum = sums[k, :a].reshape(features, width)
        sums[k, a:] = 0
        for o in range(outputs):
            for h in range(width):
                second[o, h] = params[k, b + h * outputs + o]
        second_sum[:] = 0
        for begin in range(0, max(1, counts[k]), _CHUNK):
            lot = rows[k, begin : min(begin + _CHUNK, counts[k])]
            _first_layer(words, reals, starts, lot, first, first_bias, hidden)
            for r in range(lot.size):
                at = starts[lot[r]]
                _backward(
                    loss, class_weights, relu, words[at + 1], reals[at + 2], reals[at + 3],
                    scales[k], automatic[k], limit, second, second_bias, hidden[r], z, d1[r],
                    second_sum, sums[k, a:b], sums[k, c2:],
                )  # fmt: skip
            _add_outer(words, reals, starts, lot, d1, first_sum, begin > 0)
        for o in range(outputs):
            for h in range(width):
                sums[k, b + h * outputs + o] = second_sum[o, h]


@compiled_fast
def _backward(
    loss: Any, class_weights: Any, relu: Any, label: Any, target: Any, square: Any, scale: Any,
    automatic: Any,
    limit: Any, second: Any, second_bias: Any, h: Any, z: Any, d1: Any, second_sum: Any,
    bias_sum: Any, second_bias_sum: Any,
) -> None:  # fmt: skip
    """One example from its hidden layer h: its clipped hidden gradient into d1, the rest summed."""
    hidden_square = 1.0
    for i in range(h.size):
        h[i] = max(h[i], float32(0)) if relu else h[i]
        hidden_square += float64(h[i]) * float64(h[i])
    for o in range(z.size):
        w = second[o]
        s = float32(0)
        for i in range(h.size):
            s += w[i] * h[i]
        z[o] = s + second_bias[o]
    output_square = output_gradient(loss, class_weights, label, target, square > 0, z)
    for i in range(h.size):
        d1[i] = 0
    for o in range(z.size):
        w = second[o]
        d = z[o]
        for i in range(h.size):
            d1[i] += d * w[i]
    d1_square = 0.0
    for i in range(h.size):
        d1[i] = d1[i] if (h[i] > 0 or not relu) else float32(0)
        d1_square += float64(d1[i]) * float64(d1[i])
    whole = output_square * hidden_square + d1_square * square
    factor = clip_factor(whole, scale, limit, automatic)
    finite = factor >= 0 and hidden_square < LARGEST_SQUARE
    for i in range(h.size):  # where, not times zero: zero times NaN is NaN
        d1[i] = d1[i] * factor if finite else float32(0)
        h[i] = h[i] if finite else float32(0)
        bias_sum[i] += rounded(d1[i])
    for o in range(z.size):
        d = z[o] * factor if finite else float32(0)
        second_bias_sum[o] += rounded(d)
        t = second_sum[o]
        for i in range(h.size):
            t[i] += rounded_product(d, h[i])


@compiled_fast
def _first_layer(
    words: Any, reals: Any, starts: Any, lot: Any, weights: Any, bias: Any, out: Any
) -> None:
    for r in range(lot.size):
        ask_ahead(words, starts, lot, r, lot.size)
        at = starts[lot[r]]
        many = words[at]
        out[r, :] = bias
        entries = at + FACTS
        columns = words[entries : entries + 2 * many : 2]
        values = reals[entries + 1 : entries + 1 + 2 * many : 2]
        combine(columns, values, weights, out[r])


@compiled_fast
def combine(places: Any, factors: Any, table: Any, out: Any) -> None:
    """out += sum_j factors[j] * table[places[j]], eight rows of the table in one pass over out."""
    j = 0
    while j + 8 <= places.size:
        t0, t1 = table[places[j]], table[places[j + 1]]
        t2, t3 = table[places[j + 2]], table[places[j + 3]]
        t4, t5 = table[places[j + 4]], table[places[j + 5]]
        t6, t7 = table[places[j + 6]], table[places[j + 7]]
        a0, a1, a2, a3 = factors[j], factors[j + 1], factors[j + 2], factors[j + 3]
        a4, a5, a6, a7 = factors[j + 4], factors[j + 5], factors[j + 6], factors[j + 7]
        for h in range(out.size):
            left = a0 * t0[h] + a1 * t1[h] + a2 * t2[h] + a3 * t3[h]
            out[h] += left + (a4 * t4[h] + a5 * t5[h] + a6 * t6[h] + a7 * t7[h])
        j += 8
    while j < places.size:
        t0 = table[places[j]]
        a0 = factors[j]
        for h in range(out.size):
            out[h] += a0 * t0[h]
        j += 1


@compiled_fast
def _combine_rounded(places: Any, factors: Any, table: Any, out: Any) -> None:
    """The same with every term rounded to a whole number: out is int32 or int64."""
    j = 0
    while j + 8 <= places.size:
        t0, t1 = table[places[j]], table[places[j + 1]]
        t2, t3 = table[places[j + 2]], table[places[j + 3]]
        t4, t5 = table[places[j + 4]], table[places[j + 5]]
        t6, t7 = table[places[j + 6]], table[places[j + 7]]
        each = (
            factors[j], factors[j + 1], factors[j + 2], factors[j + 3],
            factors[j + 4], factors[j + 5], factors[j + 6], factors[j + 7],
        )  # fmt: skip
        for h in range(out.size):
            here = (t0[h], t1[h], t2[h], t3[h], t4[h], t5[h], t6[h], t7[h])
            out[h] += eight_rounded_products(each, here)
        j += 8
    while j < places.size:
        t0 = table[places[j]]
        a0 = factors[j]
        for h in range(out.size):
            out[h] += rounded_product(a0, t0[h])
        j += 1


@compiled_fast
def _add_outer(
    words: Any, reals: Any, starts: Any, lot: Any, d1: Any, total: Any, more: Any
) -> None:
    """total[f] (+)= sum_r round(x[r, f] d1[r]): the lot's entries are sorted by column first, so
    that each row of the sum is written once, from the small d1 that stays in the cache."""
    features = total.shape[0]
    ends = np.zeros(features + 1, np.int64)
    for r in range(lot.size):
        at = starts[lot[r]]
        for j in range(at + FACTS, at + FACTS + 2 * words[at], 2):
            ends[words[j] + 1] += 1
    for f in range(features):
        ends[f + 1] += ends[f]
    entries = ends[features]
    owner = np.empty(entries, np.int32)
    factor = np.empty(entries, np.float32)
    for r in range(lot.size):
        at = starts[lot[r]]
        for j in range(at + FACTS, at + FACTS + 2 * words[at], 2):
            place = ends[words[j]]
            owner[place] = r
            factor[place] = reals[j + 1]
            ends[words[j]] = place + 1
    begin = 0
    for f in range(features):
        t = total[f]
        if not more:
            t[:] = 0
        _combine_rounded(owner[begin : ends[f]], factor[begin : ends[f]], d1, t)
        begin = ends[f]
