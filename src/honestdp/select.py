"""How a procedure runs: how many candidates it draws, how it scores them, whom it keeps.

Under best-of-K procedures K and the losers are secrets. K is drawn first, so that how long a run
takes depends on coins alone, never on the data; draws that lose are dropped as they come.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import ndtri
from torch import Tensor

from honestdp.engine.examples import Examples
from honestdp.engine.models import Model
from honestdp.engine.score import clipped_loss, correct
from honestdp.planning.defaults import LOSS_BOUND
from honestdp.planning.plan import Plan
from honestdp.planning.procedures import Threshold
from honestdp.randomness import Purpose, Randomness

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
        runs = procedure.runs.draw(_coin(randomness, 0))  # type: ignore[attr-defined]
        chosen = (_coin(randomness, 1 + i) for i in range(runs))
        draws = [Draw(i, math.floor(coin * settings)) for i, coin in enumerate(chosen)]
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

    Counts of correct predictions, or the sum of clipped losses with its sign changed. One record
    moves each by at most `plan.sensitivity`. Scores to be shown are rounded to about a thousandth
    of the noise, which leaves no trace of the count in the low digits.
    """
    scoring = plan.sides.scoring
    if scoring is None or rows is None:
        return np.zeros(len(draws))
    exact = _exact([models[draw.setting] for draw in draws], parameters, rows)
    uniforms = np.array(
        [randomness.uniforms(Purpose.SCORES, draw.number, 0, 1)[0] for draw in draws]
    )
    scale = scoring.noise * plan.sensitivity
    if scoring.kind == "pick":  # the largest is the exponential mechanism's; never shown
        return exact - scale * np.log(-np.log1p(-uniforms))
    step = 2.0 ** math.floor(math.log2(scale / 1024))
    return np.round((exact + scale * ndtri(uniforms)) / step) * step


def _exact(models: Sequence[Model], parameters: Sequence[Tensor], rows: Examples) -> Floats:
    """Sensitive: the scores without noise. Equal models are scored together."""
    found = np.empty(len(models))
    for model in dict.fromkeys(models):
        own = [i for i, other in enumerate(models) if other == model]
        stacked = torch.stack([parameters[i] for i in own])
        if model.loss.classes:
            found[own] = correct(model, stacked, rows).numpy()
        else:
            found[own] = -clipped_loss(model, stacked, rows, LOSS_BOUND).numpy()
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


def _coin(randomness: Randomness, index: int) -> Any:
    return randomness.uniforms(Purpose.COINS, index, 0, 1)[0]
