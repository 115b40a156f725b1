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
from honestdp.planning.encoding import CATEGORY_SHARE
from honestdp.planning.grid import Grid
from honestdp.planning.pipelines import open_columns
from honestdp.planning.questions import (
    CHECKS,
    AboutCategories,
    AboutColumns,
    AboutFit,
    AboutNorms,
    Question,
    Questions,
    gaussian_mu,
    share_of,
)
from honestdp.planning.spec import Spec
from honestdp.schema.paid_check import plan_check

FEWEST_STEPS, FEWEST_FIXED, MOST_STEPS = 300, 2500, 6000
MOST_LOT = 4096
USUAL_CANDIDATES = 4  # as named grids have
NORM_SHARE = 0.01  # of the budget, for learning the norm of a typical row


def grid(spec: Spec) -> Grid:
    """The spec's grid; by default the model's one setting that needs no tuning: balanced steps, or
    DPAdamWOSM for a module, the norm of whose inputs is unknown here."""
    if spec.grid is not None:
        assert isinstance(spec.grid, Grid)
        return spec.grid
    return Grid((spec.pipelines[0].setting,))


def delta(spec: Spec) -> float:
    return default_delta(spec.rows) if spec.delta is None else spec.delta


def steps(spec: Spec, n: int) -> int:
    """Number of steps; even, so that rules which read two lots per step can use it."""
    if spec.steps is not None:
        return spec.steps
    factor = max(one.described.steps_factor for one in spec.pipelines)
    factor *= 3 if spec.classes is None else 1  # the squared error is steeper than the logistic
    fewest = FEWEST_STEPS if grid(spec).follows_noise else FEWEST_FIXED
    return usual_steps(n, spec.epsilon, factor, fewest)


def usual_steps(n: int, epsilon: float, factor: float = 1.0, fewest: int = FEWEST_STEPS) -> int:
    """Number of steps of a model with balanced steps.

    Args:
        n: Number of rows to train on.
        epsilon: The budget.
        factor: How many times the steps of a logistic model.
        fewest: The fewest.
    """
    wanted = min(max(n * epsilon / 40 * factor, fewest), MOST_STEPS)
    return 2 * round(wanted / 2)


def lot_size(spec: Spec, n: int, steps: int) -> int:
    if spec.lot_size is not None:
        return spec.lot_size
    return usual_lot_size(n, spec.epsilon, steps)


def usual_lot_size(n: int, epsilon: float, steps: int) -> int:
    """The expected lot size at which the noise multiplier is between 2 and 3.

    Args:
        n: Number of rows to train on.
        epsilon: The budget.
        steps: Number of steps.
    """
    wanted = n * epsilon / (2 * math.sqrt(steps))
    return max(1, min(round(wanted), n // 2, MOST_LOT))


def usual_training(
    n: int, epsilon: float, lot_size: int | None = None, steps: int | None = None
) -> tuple[int, int]:
    """The lot size and the number of steps; what is not given, as the default model has it.

    Args:
        n: Number of rows to train on.
        epsilon: The budget.
        lot_size: If it is given.
        steps: If they are given.
    """
    steps = usual_steps(n, epsilon) if steps is None else steps
    return usual_lot_size(n, epsilon, steps) if lot_size is None else lot_size, steps


def questions(spec: Spec) -> Questions:
    """What is asked of every row before the search, and with how much noise."""
    budget = spec.epsilon, delta(spec)
    asked: list[Question] = []
    if spec.check:
        mu = gaussian_mu(*budget)
        check = plan_check(spec.schema, spec.rows, mu)
        if check is not None:
            asked.append(AboutFit(check, CHECKS * (check.mu / mu) ** 2))
    shares = ((AboutColumns, spec.learn_share), (AboutCategories, CATEGORY_SHARE))
    for kind, share in shares:
        columns = tuple(open_.column.name for open_ in open_columns(spec.encodings, kind.name))
        if columns:
            asked.append(kind(share_of(share, len(columns), *budget), columns))
    norms = sum(encoding.learns_scale for encoding in spec.encodings)
    if norms:
        asked.append(AboutNorms(share_of(NORM_SHARE, norms, *budget), norms))
    return Questions(asked)
