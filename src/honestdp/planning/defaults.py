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

from honestdp.planning.costs import default_delta
from honestdp.planning.encoding import is_wide
from honestdp.planning.grid import Grid
from honestdp.planning.questions import Question, Questions, share_of
from honestdp.planning.spec import Spec
from honestdp.schema.learn import ROW_NORM

FEWEST_STEPS, FEWEST_FIXED, MOST_STEPS = 300, 2500, 6000
NORM_SHARE = 0.01  # of the budget, for learning the norm of a typical row


def grid(spec: Spec) -> Grid:
    """The spec's grid; by default the model's one setting that needs no tuning: balanced steps, or
    DPAdamWOSM for a module, the norm of whose inputs is unknown here."""
    if spec.grid is not None:
        assert isinstance(spec.grid, Grid)
        return spec.grid
    return Grid((spec.described.setting(spec.classes, is_wide(spec.encoding)),))


def delta(spec: Spec) -> float:
    return default_delta(spec.rows) if spec.delta is None else spec.delta


def steps(spec: Spec, n: int) -> int:
    """Number of steps; even, so that rules which read two lots per step can use it."""
    if spec.steps is not None:
        return spec.steps
    smooth = n * spec.epsilon / 40 * spec.described.steps_factor
    smooth *= 3 if spec.classes is None else 1  # the squared error is steeper than the logistic
    fewest = FEWEST_STEPS if grid(spec).follows_noise else FEWEST_FIXED
    wanted = min(max(smooth, fewest), MOST_STEPS)
    return 2 * round(wanted / 2)


def lot_size(spec: Spec, n: int, steps: int) -> int:
    if spec.lot_size is not None:
        return spec.lot_size
    wanted = n * spec.epsilon / (2 * math.sqrt(steps))
    return max(1, min(round(wanted), n // 2, 4096))


def row_norm(spec: Spec) -> tuple[float, str]:
    """The root-mean-square norm of the encoded rows, and where it is from. Step sizes of `balanced`
    follow from it."""
    if spec.scales_rows:
        how = "learnt with noise" if spec.encoding.row_scale is None else "follows from the schema"
        return ROW_NORM, how
    if spec.schema.row_norm is not None:
        return spec.schema.row_norm, "declared"
    return math.sqrt(spec.encoding.squared_norm), "estimated from the schema"


def questions(spec: Spec) -> Questions:
    """What is asked of every row before the search, and with how much noise."""
    budget = spec.epsilon, delta(spec)
    columns = tuple(spec.encoding.to_learn)
    learning = norms = None
    if columns:
        noise = share_of(spec.learn_share, len(columns), *budget)
        learning = Question("what is learnt about columns", columns, noise)
    if spec.scales_rows and spec.encoding.row_scale is None:
        norms = Question("the norms of rows", (), share_of(NORM_SHARE, 1, *budget))
    return Questions(learning, norms)
