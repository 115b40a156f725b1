"""Sums over per-example gradients that were written out, compiled: read twice, never copied."""

from __future__ import annotations

from typing import Any

from numba import float32, njit

from honestdp.engine.normal import FAST


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def add_squares(gradients: Any, squares: Any) -> None:
    """squares[k, i] += ||gradients[k, i]||^2"""
    for k in range(gradients.shape[0]):
        for i in range(gradients.shape[1]):
            g = gradients[k, i]
            total = float32(0)
            for j in range(g.size):
                total += g[j] * g[j]
            squares[k, i] += total


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
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
