"""How a procedure runs: how many candidates it draws, how it scores them, whom it keeps.

Under best-of-K procedures K and the losers are secrets. K is drawn first, so that how long a run
takes depends on coins alone, never on the data; draws that lose are dropped as they come.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from honestdp.engine.examples import Examples
from honestdp.engine.models import Model
from honestdp.engine.score import clipped_loss_units, correct
from honestdp.planning.defaults import LOSS_BOUND
from honestdp.planning.plan import Plan
from honestdp.planning.procedures import Threshold
from honestdp.randomness import Purpose, Randomness
from honestdp.randomness.exact import Uniform
from honestdp.units import UNITS

Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class Draw:
    """One run: its number names its random streams, `setting` is its place in the grid."""

    number: int
    setting: int


@dataclass(frozen=True, eq=False, repr=False)
class Outcome:
    """A finished run: what it was, its parameters, its noisy score (higher is better)."""

    draw: Draw
    parameters: Tensor
    score: float
    coin: float  # breaks ties


def schedule(plan: Plan, randomness: Randomness, at_once: int) -> Iterator[list[Draw]]:
    """The draws of a search, some at a time. Their number is sealed, unless all are shown."""
    settings = len(plan.grid)
    procedure = plan.procedure
    if plan.shows_all:
        draws = [Draw(i, i) for i in range(settings)]
    else:
        runs = procedure.runs.draw_exactly(_coin(randomness, 0))  # type: ignore[attr-defined]
        draws = [Draw(i, _coin(randomness, 1 + i).index(settings)) for i in range(runs)]
    for first in range(0, len(draws), at_once):
        yield draws[first : first + at_once]


def noisy_scores(
    plan: Plan,
    models: Sequence[Model],
    parameters: Sequence[Tensor],
    draws: Sequence[Draw],
    rows: Examples | None,
    randomness: Randomness,
) -> Floats:
    """A score for every draw, each with noise of its own; higher is better.

    Counts of correct predictions, or the sum of clipped losses with its sign changed, in whole
    units: one record moves each by at most UNITS, and they are shown times `plan.sensitivity` /
    UNITS. The noise is whole units too, round(s X) for a normal X, drawn exactly: the Gaussian
    mechanism, rounded after the noise.

    Where scores are not shown ("pick"), floor(s G) for Gumbel's G is added and the largest is
    picked. *Theorem:* with s = UNITS / e that is e-DP for monotone scores, exactly. *Proof:* a null
    record moves all scores by 0 to UNITS the same way. Fix the noise of all draws but i, and the
    coins that break ties; i is picked where its noise is at least some t, and with the other table
    at least t', |t - t'| <= UNITS. P(floor(s G) >= t) = S(t / s) for whole t, with
    S(x) = 1 - exp(-exp(-x)), and S(x + e) >= exp(-e) S(x), since 1 - exp(-c y) >= c (1 - exp(-y))
    for 0 <= c <= 1. QED
    """
    scoring = plan.sides.scoring
    if scoring is None or rows is None:
        return np.zeros(len(draws))
    exact = _exact_units([models[draw.setting] for draw in draws], parameters, rows)
    scale = scoring.noise * UNITS
    if scoring.kind == "pick":
        noise = [randomness.uniform(Purpose.SCORES, draw.number, 0).gumbel(scale) for draw in draws]
    else:
        noise = [
            int(randomness.rounded_normals(Purpose.SCORES, draw.number, 0, scale, 1)[0])
            for draw in draws
        ]
    return (exact + np.array(noise, dtype=np.int64)).astype(np.float64) * plan.sensitivity / UNITS


def _exact_units(
    models: Sequence[Model], parameters: Sequence[Tensor], rows: Examples
) -> NDArray[np.int64]:
    """Sensitive: the scores without noise, in whole units. Equal models are scored together."""
    found = np.empty(len(models), dtype=np.int64)
    for model in dict.fromkeys(models):
        own = [i for i, other in enumerate(models) if other == model]
        stacked = torch.stack([parameters[i] for i in own])
        if model.loss.classes:
            found[own] = correct(model, stacked, rows).numpy() * UNITS
        else:
            found[own] = -clipped_loss_units(model, stacked, rows, LOSS_BOUND).numpy()
    return found


def keep(
    plan: Plan,
    kept: Sequence[Outcome],
    draws: Sequence[Draw],
    parameters: Sequence[Tensor],
    scores: Floats,
    randomness: Randomness,
) -> list[Outcome]:
    """What is kept after some draws more, the winner first.

    All of them where all may leave; else at most one: the best so far, or for `threshold` the
    first that reached it.
    """
    coins = [float(randomness.uniforms(Purpose.SCORES, draw.number, 1, 1)[0]) for draw in draws]
    found = zip(draws, parameters, scores.tolist(), coins, strict=True)
    new = [Outcome(*outcome) for outcome in found]
    if isinstance(plan.procedure, Threshold):
        first = [outcome for outcome in new if outcome.score >= _goal(plan)]
        return [*kept, *first][:1]
    ranked = sorted([*kept, *new], key=lambda outcome: (-outcome.score, outcome.coin))
    if not plan.shows_all:
        return ranked[:1]
    if plan.shows_scores:
        return ranked
    # One pick was paid for: the order of the others would tell of as many more.
    return [ranked[0], *sorted(ranked[1:], key=lambda outcome: outcome.draw.number)]


def _goal(plan: Plan) -> float:
    """The public threshold as a score: a share of correct predictions, or a mean loss."""
    assert plan.spec.threshold is not None
    rows = plan.validation_rows
    return plan.spec.threshold * rows * (1 if plan.spec.classes else -1)


def _coin(randomness: Randomness, index: int) -> Uniform:
    return randomness.uniform(Purpose.COINS, index, 0)
