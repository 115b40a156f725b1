"""Theorem 2: the best learning rate of DPSGD for a clip norm; and what a grid of losses says of it.

The theorem bounds the loss of averaged iterates above the optimum's, for clipped gradients of norm
at most C and noise of standard deviation sigma C / L in each of d coordinates:

    R^2 / (2 a T)  +  a C^2 (1 + d sigma^2 / L^2) / 2

The paper writes it for L = d = 1, and prints a minimiser that does not follow from it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Losses = NDArray[np.float64]  # [rate, clip]

WITHIN = 1.05  # times the best loss: as good
JUMP = 10.0  # a change of rate * clip by so much, from a clip norm to the next, starts a new branch
# Of the rows or more, at the end: clipping counts as active. Half of them was tried first, which
# left out all of ENRON's best losses.
CLIPPED = 0.1


@dataclass(frozen=True)
class Setting:
    """What the formulas need: R, d, T, sigma and L."""

    distance: float
    parameters: int
    steps: int
    sigma: float
    lot_size: float

    def bound(self, rate: float, clip: float) -> float:
        spread = 1 + self.parameters * self.sigma**2 / self.lot_size**2
        return self.distance**2 / (2 * rate * self.steps) + rate * clip**2 * spread / 2

    def corrected(self, clip: float) -> float:
        """The rate at which the bound is least."""
        spread = 1 + self.parameters * self.sigma**2 / self.lot_size**2
        return self.distance / (clip * math.sqrt(self.steps * spread))

    def printed(self, clip: float) -> float:
        """As the paper has it: T is not under the root, and neither L nor d is in it."""
        return self.distance / (clip * self.steps * math.sqrt(1 + self.sigma**2))


def white(losses: Losses, threshold: float) -> NDArray[np.bool_]:
    """The cells the paper marks."""
    return losses < threshold


def first_percentile(losses: Losses) -> float:
    """Below it lie the best 9 of 900."""
    finite = np.where(np.isfinite(losses), losses, np.finfo(float).max)
    return float(np.percentile(finite, 1))


def best_rates(
    grid: Sequence[float], logs: Losses, clipped: NDArray[np.float64]
) -> list[dict[str, Any]]:
    """For each clip norm the rate of the least loss (given as log10), the rates as good as it, and
    the share of rows it still clips. edge: the best may lie beyond the grid."""
    found = []
    for k, clip in enumerate(grid):
        column = logs[:, k]
        best = int(np.argmin(column))
        good = [
            rate
            for rate, log in zip(grid, column, strict=True)
            if log <= column[best] + math.log10(WITHIN)
        ]
        found.append(
            {
                "clip": clip,
                "rate": grid[best],
                "low": min(good),
                "high": max(good),
                "log10_loss": float(column[best]),
                "clipped": float(clipped[best, k]),
                "edge": best in (0, len(grid) - 1),
            }
        )
    return found


def branches(best: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Stretches of clip norms over which the best rate is one power of C: clipping is active over
    all of them or over none, and rate * clip does not jump. Edges of the grid are left out."""
    found: list[list[Mapping[str, Any]]] = []
    last = None
    for row in best:
        if not row["edge"]:
            if last is not None and _alike(last, row):
                found[-1].append(row)
            else:
                found.append([row])
        last = None if row["edge"] else row
    return [_fitted(rows) for rows in found if len(rows) > 2]


def _alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    jump = one["rate"] * one["clip"] / (other["rate"] * other["clip"])
    same = (one["clipped"] >= CLIPPED) == (other["clipped"] >= CLIPPED)
    return same and 1 / JUMP < jump < JUMP


def _fitted(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    x, y = (np.log([row[name] for row in rows]) for name in ("clip", "rate"))
    return {
        "from": rows[0]["clip"],
        "to": rows[-1]["clip"],
        "points": len(rows),
        "clipped": bool(rows[0]["clipped"] >= CLIPPED),
        "slope": float(np.polyfit(x, y, 1)[0]),
        "product": float(np.exp(np.mean(x + y))),  # of rate and clip, their geometric mean
    }


def spread(grid: Sequence[float], marked: NDArray[np.bool_]) -> dict[str, Any]:
    """Where the marked cells [rate, clip] lie: on how many lines, and how wide at one rate."""
    values = np.asarray(grid)
    rates, clips = np.nonzero(marked)
    best = int(np.argmax(marked.sum(1)))
    return {
        "cells": len(rates),
        "rates": len(set(rates.tolist())),
        "clips": len(set(clips.tolist())),
        "clip_decades": _decades(values[clips]),
        "clips_without": [grid[k] for k in np.flatnonzero(~marked.any(0)).tolist()],
        "rates_without": [grid[k] for k in np.flatnonzero(~marked.any(1)).tolist()],
        "best_rate": grid[best],
        "clips_at_best_rate": int(marked[best].sum()),
        "clip_decades_at_best_rate": _decades(values[marked[best]]),
    }


def on_one_line(grid: Sequence[float], marked: NDArray[np.bool_]) -> dict[str, Any]:
    """How many marked cells lie within a factor of 2 of the best line rate * clip = constant, and
    how the logarithms of rate and clip go together."""
    values = np.log(np.asarray(grid))
    rates, clips = (values[k] for k in np.nonzero(marked))
    sums = rates + clips
    starts = [(sums >= s - 1e-9) & (sums <= s + math.log(4) + 1e-9) for s in sums]
    near = max(starts, key=lambda chosen: int(chosen.sum()), default=np.zeros(0, dtype=bool))
    varied = len(sums) > 2 and min(rates.std(), clips.std()) > 0
    return {
        "cells": int(near.sum()),
        "product": float(np.exp(sums[near].mean())) if len(sums) else None,
        "correlation": float(np.corrcoef(rates, clips)[0, 1]) if varied else None,
    }


def _decades(values: NDArray[np.float64]) -> float:
    return float(np.log10(values.max() / values.min())) if len(values) else 0.0
