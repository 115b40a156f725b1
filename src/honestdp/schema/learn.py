"""Bounds learnt privately: quantiles of a noisy histogram over a declared outer range.

Mechanism, for each column with bounds = "learn": the cells are counted in equal bins of the
declared outer range (cells outside fall in the end bins; missing and unparsable cells in none) and
a normal draw of standard deviation `noise_multiplier` is added to every count, both in whole units
of a count / UNITS: exactly the Gaussian mechanism, rounded after the noise. A record is in at
most one bin, so replacing it by a null record (or adding or removing it) moves one count by one:
the l2 sensitivity is 1, and a column costs one `Gaussian(noise_multiplier)`. k columns cost k of
them. All else is post-processing of the noisy counts.

The draws come from the caller, so that they are fresh and secret outside simulation. Only the
bounds leave: exact counts never do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from honestdp.errors import InputError, between, fail, positive, positive_integer
from honestdp.schema.columns import Numeric
from honestdp.schema.declared import Schema
from honestdp.schema.encode import open_rows
from honestdp.units import LARGEST_NOISE, UNITS

BINS = 256
ENOUGH = 0.5  # of the rows must stand out of the noise, or the bins are joined two by two


@dataclass(frozen=True)
class Learnt:
    """What was asked of the data: one Gaussian query of sensitivity 1 for each column."""

    columns: tuple[str, ...]
    noise_multiplier: float


def learn_bounds(
    schema: Schema,
    table: Any,
    noise_multiplier: float,
    rounded_normals: Callable[[float, int], Any],
    bins: int = BINS,
) -> tuple[Schema, Learnt]:
    """The schema with learnt bounds declared, and what to account for.

    rounded_normals(scale, count) gives that many independent draws of round(scale * X), X standard
    normal, as whole numbers; it is asked once for each column. Nothing is read, and nothing to
    pay, where no bounds are to be learnt.
    """
    positive("noise_multiplier", noise_multiplier)
    noise = between(0, LARGEST_NOISE, "noise_multiplier", noise_multiplier)
    count = positive_integer("bins", bins)
    if count & (count - 1) or count > 2**20:
        raise fail("bins", bins, "must be a power of two up to 1048576")
    learnt = Learnt(tuple(schema.to_learn), noise)
    if not learnt.columns:
        return schema, learnt
    opened = open_rows(schema, table)
    found = {}
    for column in schema.columns:
        if isinstance(column, Numeric) and column.learn:
            cells = opened.cells(column.name).numbers()
            exact = histogram(cells, column.range, count) * UNITS
            noisy = (exact + _draws(rounded_normals, noise * UNITS, count)) / UNITS
            found[column.name] = quantiles(column, noisy, noise, opened.rows)
    return with_bounds(schema, found), learnt


def with_bounds(schema: Schema, bounds: Mapping[str, tuple[float, float]]) -> Schema:
    """The schema with bounds that were learnt before, by column."""
    columns = [
        _with_bounds(column, bounds[column.name])
        if isinstance(column, Numeric) and column.learn
        else column
        for column in schema.columns
    ]
    return schema.model_copy(update={"columns": tuple(columns)})


def histogram(
    values: NDArray[np.float64], outer: tuple[float, float], bins: int
) -> NDArray[np.int64]:
    """Exact counts in equal bins. Sensitive. Each value is in one bin, NaN in none."""
    low, high = outer
    known = values[~np.isnan(values)]
    share = (np.clip(known, low, high) - low) / (high - low)
    at = np.minimum((share * bins).astype(np.int64), bins - 1)
    return np.bincount(at, minlength=bins)


def quantiles(
    column: Numeric, noisy: NDArray[np.float64], noise: float, rows: int
) -> tuple[float, float]:
    """Bounds from noisy counts and public facts alone.

    Counts that noise alone could have made are dropped. While less than half of the rows stands
    out, neighbouring bins are joined; where nothing does, the outer range stays.
    """
    low, high = column.range
    while len(noisy) > 1:
        clear = np.where(noisy > noise * sqrt(2 * log(2 * len(noisy))), noisy, 0.0)
        if clear.sum() >= ENOUGH * rows and clear.any():
            break
        noisy, noise = noisy.reshape(-1, 2).sum(axis=1), noise * sqrt(2)
    else:
        return low, high
    cumulated = np.cumsum(clear) / clear.sum()
    first, last = column.learn_quantiles
    start = int(np.searchsorted(cumulated, first, side="right"))
    end = int(np.searchsorted(cumulated, min(last, cumulated[-1]), side="left"))
    edges = np.linspace(low, high, len(noisy) + 1)
    found = float(edges[min(start, len(noisy) - 1)]), float(edges[max(end, start) + 1])
    return found if found[0] < found[1] else (low, high)


def _draws(
    rounded_normals: Callable[[float, int], Any], scale: float, count: int
) -> NDArray[np.int64]:
    draws = np.asarray(rounded_normals(scale, count))
    if draws.shape != (count,) or draws.dtype != np.int64:
        raise InputError(f"rounded_normals: must give {count} whole numbers (int64), one a bin")
    return draws


def _with_bounds(column: Numeric, bounds: tuple[float, float]) -> Numeric:
    low, high = bounds
    missing = None if column.missing is None else min(max(column.missing, low), high)
    return Numeric(name=column.name, bounds=bounds, missing=missing)
