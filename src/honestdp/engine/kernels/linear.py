"""Clipped sums of a linear model, compiled: one pass over each lot, nothing stored per example.

Parameters of candidate k: weights [feature, output], then biases [output], in one row.
An example's gradient is the outer product of its input (with a 1 for the bias) and the
loss's gradient at the outputs, so its norm is the product of theirs. Every example's
contribution is rounded to whole units by itself and added as whole numbers (`engine.grid`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float32

from honestdp.compiled import compiled, compiled_fast
from honestdp.engine.kernels.loss import clip_factor, output_gradient
from honestdp.engine.kernels.prefetch import prefetch
from honestdp.engine.kernels.rounding import eight_rounded_products, rounded, rounded_product
from honestdp.engine.sparse import FACTS, LINE

_ROWS = 8  # examples whose inputs are added to the sum in one pass over it


@compiled_fast
def dense_sums(
    loss: Any, x: Any, facts: Any, real_facts: Any,
    rows: Any, counts: Any, params: Any, scales: Any, automatic: Any, limit: Any, sums: Any,
) -> None:  # fmt: skip
    """sums[k] = the clipped sum over candidate k's lot; facts as in `engine.sparse`, both ways."""
    features = x.shape[1]
    outputs = params.shape[1] // (features + 1)
    weights = np.empty((outputs, features), np.float32)
    total = np.empty((outputs, features), sums.dtype)
    z = np.empty((_ROWS, outputs), np.float32)
    lot = np.empty(_ROWS, np.int64)
    for k in range(params.shape[0]):
        bias = params[k, features * outputs :]
        bias_sum = sums[k, features * outputs :]
        for c in range(outputs):
            bias_sum[c] = 0
            for f in range(features):
                weights[c, f] = params[k, f * outputs + c]
                total[c, f] = 0
        for first in range(0, counts[k], _ROWS):
            many = min(_ROWS, counts[k] - first)
            for r in range(_ROWS):
                # A short last group repeats its last row with a gradient of zero.
                i = rows[k, first + min(r, many - 1)]
                lot[r] = i
                xi = x[i]
                for c in range(outputs):
                    w = weights[c]
                    s = float32(0)
                    for f in range(features):
                        s += w[f] * xi[f]
                    z[r, c] = s + bias[c]
                size = real_facts[i, 3]
                here = size > 0 and r < many
                square = output_gradient(loss, facts[i, 1], real_facts[i, 2], here, z[r]) * size
                factor = clip_factor(square, scales[k], limit, automatic[k])
                for c in range(outputs):
                    z[r, c] = z[r, c] * factor if factor >= 0 else float32(0)
                    bias_sum[c] += rounded(z[r, c])
            _add_rows(x, lot, z, total)
        for c in range(outputs):
            for f in range(features):
                sums[k, f * outputs + c] = total[c, f]


@compiled_fast
def _add_rows(x: Any, lot: Any, z: Any, total: Any) -> None:
    x0, x1, x2, x3 = x[lot[0]], x[lot[1]], x[lot[2]], x[lot[3]]
    x4, x5, x6, x7 = x[lot[4]], x[lot[5]], x[lot[6]], x[lot[7]]
    for c in range(total.shape[0]):
        t = total[c]
        each = (z[0, c], z[1, c], z[2, c], z[3, c], z[4, c], z[5, c], z[6, c], z[7, c])
        for f in range(t.size):
            here = (x0[f], x1[f], x2[f], x3[f], x4[f], x5[f], x6[f], x7[f])
            t[f] += eight_rounded_products(each, here)


@compiled_fast
def sparse_sums(
    loss: Any, words: Any, reals: Any, starts: Any, features: Any,
    rows: Any, counts: Any, params: Any, scales: Any, automatic: Any, limit: Any, sums: Any,
) -> None:  # fmt: skip
    """The same on packed sparse rows (`engine.sparse`); reals are the words as float32."""
    outputs = params.shape[1] // (features + 1)
    offset = features * outputs
    z = np.empty(outputs, np.float32)
    for k in range(params.shape[0]):
        p = params[k]
        total = sums[k]
        total[:] = 0
        for place in range(counts[k]):
            ask_ahead(words, starts, rows[k], place, counts[k])
            first = starts[rows[k, place]]
            many = words[first]
            entries = first + FACTS
            columns = words[entries : entries + 2 * many : 2]
            values = reals[entries + 1 : entries + 1 + 2 * many : 2]
            if outputs == 1:
                s = float32(0)
                for j in range(many):
                    s += values[j] * p[columns[j]]
                z[0] = s + p[offset]
            else:
                for c in range(outputs):
                    z[c] = p[offset + c]
                for j in range(many):
                    v = values[j]
                    w = p[columns[j] * outputs : columns[j] * outputs + outputs]
                    for c in range(outputs):
                        z[c] += v * w[c]
            size = reals[first + 3]
            square = output_gradient(loss, words[first + 1], reals[first + 2], size > 0, z) * size
            factor = clip_factor(square, scales[k], limit, automatic[k])
            for c in range(outputs):
                z[c] = z[c] * factor if factor >= 0 else float32(0)
                total[offset + c] += rounded(z[c])
            if outputs == 1:
                d = z[0]
                for j in range(many):
                    total[columns[j]] += rounded_product(values[j], d)
            else:
                for j in range(many):
                    v = values[j]
                    t = total[columns[j] * outputs : columns[j] * outputs + outputs]
                    for c in range(outputs):
                        t[c] += rounded_product(v, z[c])


@compiled
def ask_ahead(words: Any, starts: Any, lot: Any, place: Any, count: Any) -> None:
    """Prefetches what a row of the lot needs: its start 24 rows before, its words 12 before."""
    prefetch(starts, lot[min(place + 24, count - 1)])
    first = starts[lot[min(place + 12, count - 1)]]
    prefetch(words, first)
    prefetch(words, min(first + LINE, words.size - 1))
