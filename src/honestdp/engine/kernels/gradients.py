"""Sums over per-example gradients that were written out, compiled: read twice, never copied."""

from __future__ import annotations

from typing import Any

from numba import float32, float64

from honestdp.compiled import compiled_fast


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
def add_scaled(gradients: Any, factors: Any, sums: Any) -> None:
    """sums[k] += sum_i factors[k, i] gradients[k, i]; an example of factor 0 may hold anything."""
    for k in range(gradients.shape[0]):
        total = sums[k]
        for i in range(gradients.shape[1]):
            g = gradients[k, i]
            factor = factors[k, i]
            counts = factor > 0
            for j in range(g.size):  # where, not times zero: zero times NaN is NaN
                total[j] += factor * g[j] if counts else float32(0)
