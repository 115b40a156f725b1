"""Sums over per-example gradients that were written out, compiled: read twice, never copied."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float64, int32

from honestdp.compiled import compiled_fast
from honestdp.engine.kernels.rounding import rounded_product


@compiled_fast
def add_squares(gradients: Any, squares: Any) -> None:
    """squares[k, i] += ||gradients[k, i]||^2; a float32 sum of millions would be too small."""
    for k in range(gradients.shape[0]):
        for i in range(gradients.shape[1]):
            g = gradients[k, i]
            total = 0.0
            for j in range(g.size):
                total += float64(g[j]) * float64(g[j])
            squares[k, i] += total


@compiled_fast
def add_scaled(gradients: Any, factors: Any, units: Any, first: Any) -> None:
    """units[k, first + j] += sum_i round(factors[k, i] gradients[k, i, j]): every example rounded
    by itself. An example of factor 0 may hold anything."""
    for k in range(gradients.shape[0]):
        total = units[k, first : first + gradients.shape[2]]
        for i in range(gradients.shape[1]):
            g = gradients[k, i]
            factor = factors[k, i]
            if factor > 0:  # not times zero: zero times NaN is NaN
                for j in range(g.size):
                    total[j] += rounded_product(factor, g[j])


@compiled_fast
def add_rounded(rows: Any, units: Any, first: Any) -> None:
    """units[k, first + j] += sum_i round(rows[k, i, j]), for entries below 2^31."""
    for k in range(rows.shape[0]):
        total = units[k, first : first + rows.shape[2]]
        for i in range(rows.shape[1]):
            row = rows[k, i]
            for j in range(row.size):
                total[j] += int32(np.rint(row[j]))
