"""Default lot size, steps, grid and delta: functions of public facts alone.

Lot size and steps (benchmarks/README.md has the measurements). At a given (epsilon, delta), the
noise of a mean gradient is sigma/L, about sqrt(T)/(n mu) for sigma above 2, whatever the lot size:
larger lots only cost time. Below that, noise is wasted. With a step size that follows from the
noise (`balanced`) the whole path is as long whatever T is: more steps only make it smoother,
fewer make it jump over its goal. So T is as small as stays smooth, n epsilon / 40, three times
that for networks; at least 2500 where the step size is fixed beforehand, or the path would end
early. L is as small as brings sigma to 2-3: n epsilon / (2 sqrt(T)).
"""

from __future__ import annotations

import math

from honestdp.candidates import DEFAULT_RULE
from honestdp.optimizers import optimizers
from honestdp.planning.costs import default_delta
from honestdp.planning.grid import Grid
from honestdp.planning.spec import Spec

FEWEST_STEPS, FEWEST_FIXED, MOST_STEPS = 300, 2500, 6000


def grid(spec: Spec) -> Grid:
    """The spec's grid; by default the model's one setting that needs no tuning: balanced steps, or
    DPAdamWOSM for a module, the norm of whose inputs is unknown here."""
    if spec.grid is not None:
        assert isinstance(spec.grid, Grid)
        return spec.grid
    return Grid((spec.described.setting(spec.classes),))


def delta(spec: Spec) -> float:
    return default_delta(spec.rows) if spec.delta is None else spec.delta


def steps(spec: Spec, n: int) -> int:
    """Number of steps; even, so that rules which read two lots per step can use it."""
    if spec.steps is not None:
        return spec.steps
    smooth = n * spec.epsilon / 40 * spec.described.steps_factor
    rules = {setting.get("rule", DEFAULT_RULE) for setting in grid(spec).settings}
    follows = all(optimizers.get(rule).follows_noise for rule in rules)
    wanted = min(max(smooth, FEWEST_STEPS if follows else FEWEST_FIXED), MOST_STEPS)
    return 2 * round(wanted / 2)


def lot_size(spec: Spec, n: int, steps: int) -> int:
    if spec.lot_size is not None:
        return spec.lot_size
    wanted = n * spec.epsilon / (2 * math.sqrt(steps))
    return max(1, min(round(wanted), n // 2, 4096))


def row_norm(spec: Spec) -> tuple[float, str]:
    """The root-mean-square norm of the encoded rows, and where it is from.

    A declared one is exact. Otherwise it is a guess from the schema: the sum of the columns'
    `squared_norm`. It only affects the step size of `balanced`.
    """
    if spec.schema.row_norm is not None:
        return spec.schema.row_norm, "declared"
    squares = sum(column.squared_norm for column in spec.schema.columns)
    return math.sqrt(squares), "guessed from the schema"
