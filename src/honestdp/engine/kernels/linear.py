"""Clipped sums of a linear model, compiled: one pass over each lot, nothing stored per example.

Parameters of candidate k: weights [feature, output], then biases [output], in one row.
An example's gradient is the outer product of its input (with a 1 for the bias) and the
loss's gradient at the outputs, so its norm is the product of theirs. Every example's
contribution is rounded to whole units by itself and added as whole numbers (`engine.grid`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float32, uint32, uint64

from honestdp.compiled import compiled, compiled_fast
from honestdp.engine.kernels.loss import clip_factor, output_gradient
from honestdp.engine.kernels.prefetch import prefetch
from honestdp.engine.kernels.rounding import eight_rounded_products, rounded, rounded_product
from honestdp.engine.sparse import FACTS, LINE

_ROWS = 8  # examples whose inputs are added to the sum in one pass over it


@compiled_fast
def dense_sums(
    loss: Any, class_weights: Any, x: Any, facts: Any, real_facts: Any,
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
                lot[r] = rows[k, first + min(r, many - 1)]
            _outputs_of_rows(x, lot, weights, bias, z)
            for r in range(_ROWS):
                i = lot[r]
                size = real_facts[i, 3]
                here = size > 0 and r < many
                square = size * output_gradient(
                    loss, class_weights, facts[i, 1], real_facts[i, 2], here, z[r]
                )
                factor = clip_factor(square, scales[k], limit, automatic[k])
                for c in range(outputs):
                    z[r, c] = z[r, c] * factor if factor >= 0 else float32(0)
                    bias_sum[c] += rounded(z[r, c])
            _add_rows(x, lot, z, total)
        for c in range(outputs):
            for f in range(features):
                sums[k, f * outputs + c] = total[c, f]


@compiled_fast
def _outputs_of_rows(x: Any, lot: Any, weights: Any, bias: Any, z: Any) -> None:
    """z[r, c] = the outputs of eight rows: a weight is read once for all of them."""
    x0, x1, x2, x3 = x[lot[0]], x[lot[1]], x[lot[2]], x[lot[3]]
    x4, x5, x6, x7 = x[lot[4]], x[lot[5]], x[lot[6]], x[lot[7]]
    for c in range(weights.shape[0]):
        w, b = weights[c], bias[c]
        s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = float32(0)
        for f in range(w.size):
            v = w[f]
            s0 += v * x0[f]
            s1 += v * x1[f]
            s2 += v * x2[f]
            s3 += v * x3[f]
            s4 += v * x4[f]
            s5 += v * x5[f]
            s6 += v * x6[f]
            s7 += v * x7[f]
        z[0, c], z[1, c], z[2, c], z[3, c] = s0 + b, s1 + b, s2 + b, s3 + b
        z[4, c], z[5, c], z[6, c], z[7, c] = s4 + b, s5 + b, s6 + b, s7 + b


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
    loss: Any, class_weights: Any, words: Any, reals: Any, starts: Any, features: Any,
    rows: Any, counts: Any, params: Any, scales: Any, automatic: Any, limit: Any, sums: Any,
) -> None:  # fmt: skip
    """The same on packed sparse rows (`engine.sparse`); reals are the words as float32.

    Eight rows at a time take each of three steps: outputs, gradients, the sum. The processor then
    overlaps rows, which it cannot while the next row's outputs wait for this row's additions.
    Entries are counted in unsigned numbers, and neither sliced nor handed to functions: testing an
    index for being negative and counting references to slices are dearer than the products.
    """
    outputs = params.shape[1] // (features + 1)
    bias = features * outputs
    z = np.empty((_ROWS, outputs), np.float32)
    for k in range(params.shape[0]):
        p = params[k]
        total = sums[k]
        total[:] = 0
        for group in range(0, counts[k], _ROWS):
            many = min(_ROWS, counts[k] - group)
            for r in range(many):
                ask_ahead(words, starts, rows[k], group + r, counts[k])
                first = starts[rows[k, group + r]]
                begin, end = uint64(first + FACTS), uint64(first + FACTS + 2 * words[first])
                if outputs == 1:
                    s = float32(0)
                    for j in range(begin, end, 2):
                        s += reals[j + uint64(1)] * p[uint32(words[j])]
                    z[r, 0] = s + p[bias]
                else:
                    for c in range(outputs):
                        z[r, c] = p[bias + c]
                    for j in range(begin, end, 2):
                        v, w = reals[j + uint64(1)], uint64(words[j]) * uint64(outputs)
                        for c in range(uint64(outputs)):
                            z[r, c] += v * p[w + c]
            for r in range(many):
                first = starts[rows[k, group + r]]
                label, target, size = words[first + 1], reals[first + 2], reals[first + 3]
                square = size * output_gradient(loss, class_weights, label, target, size > 0, z[r])
                factor = clip_factor(square, scales[k], limit, automatic[k])
                for c in range(outputs):
                    z[r, c] = z[r, c] * factor if factor >= 0 else float32(0)
                    total[bias + c] += rounded(z[r, c])
            for r in range(many):
                first = starts[rows[k, group + r]]
                begin, end = uint64(first + FACTS), uint64(first + FACTS + 2 * words[first])
                if outputs == 1:
                    d = z[r, 0]
                    for j in range(begin, end, 2):
                        total[uint32(words[j])] += rounded_product(reals[j + uint64(1)], d)
                else:
                    for j in range(begin, end, 2):
                        v, w = reals[j + uint64(1)], uint64(words[j]) * uint64(outputs)
                        for c in range(uint64(outputs)):
                            total[w + c] += rounded_product(v, z[r, c])


@compiled
def ask_ahead(words: Any, starts: Any, lot: Any, place: Any, count: Any) -> None:
    """Prefetches what a row of the lot needs: its start 24 rows before, its words 12 before."""
    prefetch(starts, lot[min(place + 24, count - 1)])
    first = starts[lot[min(place + 12, count - 1)]]
    prefetch(words, first)
    prefetch(words, min(first + LINE, words.size - 1))
