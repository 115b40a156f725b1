"""Learn facts about columns, and the norm of a typical row, from noisy histograms.

Mechanism, for each column that learns something (a numeric column with bounds = "learn" learns its
bounds): the column's kind assigns each row's cell to at most one bin (`Column.bin_of`), the rows
are counted, and a normal draw of standard deviation `noise_multiplier` is added to every count,
both in whole units of a count / UNITS: exactly the Gaussian mechanism, rounded after the noise. A
record is in at most one bin, so replacing it by a null record (or adding or removing it) changes
one count by one: the l2 sensitivity is 1, and a column costs one `Gaussian(noise_multiplier)`. k
columns cost k of them. Everything else is post-processing of the noisy counts
(`Column.learnt_from`).

The draws come from the caller, so that they are fresh and secret outside simulation. Only the
learnt values may be released, never exact counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from honestdp.errors import InputError, between, fail, positive, positive_integer
from honestdp.schema.cells import Cells
from honestdp.schema.encode import open_rows
from honestdp.schema.kinds import Column
from honestdp.schema.noisy_histogram import stands_out
from honestdp.schema.scaling import squared_norms
from honestdp.schema.schema import Schema
from honestdp.units import LARGEST_NOISE, UNITS

BINS = 512
OCTAVES = 20  # of row norms, up and down from 1
ROW_NORM = 3.0  # the norm that a typical row is scaled to: the input of a bias is a third of it
ROWS = (
    " rows"  # the key of what is learnt about rows; no column is called so, as names are stripped
)


@dataclass(frozen=True)
class Learnt:
    """What to account for: one Gaussian query of sensitivity 1 per column."""

    columns: tuple[str, ...]
    noise_multiplier: float


Numbers: TypeAlias = tuple[float, ...]


def learn_bounds(
    schema: Schema,
    table: Any,
    noise_multiplier: float,
    rounded_normals: Callable[[float, int], Any],
    bins: int = BINS,
) -> tuple[Schema, Learnt]:
    """Learn the bounds of every column declared with "learn".

    Args:
        schema: The declared schema.
        table: Any table that `Schema.encode` takes. It is not read if nothing is to be learnt.
        noise_multiplier: The standard deviation of the noise of one count.
        rounded_normals: rounded_normals(scale, count) gives that many independent draws of
            round(scale * X), X standard normal, as int64; called once for each column.
        bins: The number of bins of each histogram: a power of two.

    Returns:
        The schema with the bounds declared, and what to account for.

    Raises:
        InputError: If a parameter is wrong or a column is not in the table.
    """
    learnt = Learnt(tuple(schema.to_learn), _checked_noise(noise_multiplier))
    numbers = learn_numbers(schema, table, noise_multiplier, rounded_normals, bins)
    return with_learnt(schema, numbers), learnt


def learn_numbers(
    schema: Schema,
    table: Any,
    noise_multiplier: float,
    rounded_normals: Callable[[float, int], Any],
    bins: int = BINS,
    only: Collection[str] | None = None,
) -> dict[str, Numbers]:
    """As `learn_bounds`, but returns the learnt values by column, for `with_learnt`. only: The
    columns to learn something about; by default all that learn."""
    noise = _checked_noise(noise_multiplier)
    count = positive_integer("bins", bins)
    if count & (count - 1) or count > 2**20:
        raise fail("bins", bins, "must be a power of two up to 1048576")
    asked = [c for c in schema.columns if c.learns and (only is None or c.name in only)]
    if not asked:
        return {}
    opened, found = open_rows(schema, table), {}
    for column in asked:
        exact = histogram(column, opened.cells(column.name), column.histogram_bins(count))
        noisy = _with_noise(exact, noise, rounded_normals)
        found[column.name] = column.learnt_from(noisy, noise, opened.rows)
    return found


def learn_row_scale(
    inputs: Any, typical: float, noise_multiplier: float, rounded_normals: Callable[..., Any]
) -> float:
    """Learn the number that gives a typical encoded row the norm ROW_NORM.

    Mechanism: every row is in at most one bin of a histogram of norms, by quarters of an octave; a
    row of zeros is in none. Noise is added to the counts as in `learn_bounds`: the l2 sensitivity
    is 1, and it costs one `Gaussian(noise_multiplier)`. The root mean square of the norms follows
    from the counts that stand out from the noise.

    Args:
        inputs: Encoded rows, unscaled. Sensitive.
        typical: The norm to assume if no count stands out.
        noise_multiplier: The standard deviation of the noise of one count.
        rounded_normals: As for `learn_bounds`.

    Returns:
        The scale, which may be released.
    """
    noise = _checked_noise(noise_multiplier)
    norms = np.sqrt(squared_norms(inputs))
    known = norms > 0
    octaves = np.log2(norms, out=np.zeros_like(norms), where=known)
    bins = np.clip(np.floor(4 * (octaves + OCTAVES)), 0, 8 * OCTAVES - 1).astype(np.int64)
    exact = np.bincount(bins[known], minlength=8 * OCTAVES)
    noisy = _with_noise(exact, noise, rounded_normals)
    clear = np.where(stands_out(noisy, noise), noisy, 0.0)
    middles = 2.0 ** ((np.arange(8 * OCTAVES) + 0.5) / 4 - OCTAVES)
    rms = math.sqrt(float(clear @ middles**2) / clear.sum()) if clear.any() else typical
    return ROW_NORM / rms


def with_learnt(schema: Schema, numbers: Mapping[str, Numbers]) -> Schema:
    """The schema with learnt values, by column, filled in; under `ROWS` the scale of rows.

    Values beyond the number that a column learns are ignored.
    """
    if ROWS in numbers:
        schema = schema.model_copy(update={"row_scale": float(numbers[ROWS][0])})
    if not schema.to_learn:
        return schema
    columns = [
        column.with_learnt(tuple(numbers[column.name][: column.learns]))
        if column.learns and column.name in numbers
        else column
        for column in schema.columns
    ]
    by_name = {column.name: column for column in columns}  # pairs look up what was learnt
    bound = tuple(column.bound_to(by_name) for column in columns)
    return schema.model_copy(update={"columns": bound})


def histogram(column: Column, cells: Cells, bins: int) -> NDArray[np.int64]:
    """Exact counts. Sensitive. A row is in at most one bin, whatever the kind returns."""
    found = column.bin_of(cells, bins)
    if found.shape != (len(cells),):
        raise InputError(f"columns.{column.name}: bin_of of its kind must return one bin per row")
    return np.bincount(np.minimum(found[found >= 0], bins - 1), minlength=bins)


def _with_noise(
    exact: NDArray[np.int64], noise: float, rounded_normals: Callable[[float, int], Any]
) -> NDArray[np.float64]:
    """Counts with noise, both in whole units."""
    draws = _draws(rounded_normals, noise * UNITS, len(exact))
    found: NDArray[np.float64] = (exact * UNITS + draws) / UNITS
    return found


def _checked_noise(noise_multiplier: float) -> float:
    positive("noise_multiplier", noise_multiplier)
    return between(0, LARGEST_NOISE, "noise_multiplier", noise_multiplier)


def _draws(
    rounded_normals: Callable[[float, int], Any], scale: float, count: int
) -> NDArray[np.int64]:
    draws = np.asarray(rounded_normals(scale, count))
    if draws.shape != (count,) or draws.dtype != np.int64:
        raise InputError(f"rounded_normals: must return {count} whole numbers (int64), one per bin")
    return draws
