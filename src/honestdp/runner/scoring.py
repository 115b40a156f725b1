"""A search's draws, group by group, and their noisy scores.

The procedure (`honestdp.procedures`) decides which candidates are drawn and which are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from honestdp.engine.examples import Examples
from honestdp.engine.models import Model
from honestdp.engine.score import score_units
from honestdp.metrics import Metric
from honestdp.planning.plan import Plan
from honestdp.procedures import Draw, Outcome
from honestdp.randomness import Purpose, Randomness
from honestdp.units import UNITS

Floats = NDArray[np.float64]


def schedule(plan: Plan, randomness: Randomness, at_once: int) -> Iterator[list[Draw]]:
    """The draws of a search, in groups. Their number is secret unless all are released."""
    draws = plan.procedure.draws(
        len(plan.grid), lambda index: randomness.uniform(Purpose.COINS, index, 0)
    )
    for first in range(0, len(draws), at_once):
        yield draws[first : first + at_once]


def select(plan: Plan, kept: list[Outcome], new: list[Outcome]) -> list[Outcome]:
    """The outcomes that the procedure keeps of those kept so far and new ones.

    Raises:
        TypeError: If the procedure keeps more than it may, or what it was not given.
    """
    given = [*kept, *new]
    found = plan.procedure.keep(kept, new, plan.as_score)
    check_kept(plan, found)
    if not all(any(one is other for other in given) for one in found):
        raise TypeError(f"procedure {plan.procedure.name!r}: keeps an outcome it was not given")
    return found


def check_kept(plan: Plan, kept: Sequence[Outcome]) -> None:
    """Raise TypeError if these are more outcomes than the procedure says that it releases."""
    if not isinstance(kept, list) or not all(isinstance(one, Outcome) for one in kept):
        raise TypeError(f"procedure {plan.procedure.name!r}: keep must return a list of outcomes")
    if len(kept) > 1 and not plan.shows_all:
        raise TypeError(
            f"procedure {plan.procedure.name!r}: keeps {len(kept)} outcomes, but says that only "
            "the winner is released"
        )


def noisy_scores(
    plan: Plan,
    models: Sequence[Model],
    parameters: Sequence[Tensor],
    draws: Sequence[Draw],
    rows: Examples | None,
    randomness: Randomness,
) -> Floats:
    """A score for every draw, each with independent noise; higher is better.

    A score is a sum of the metric's values, negated if smaller is better, in whole units: one
    record changes it by at most UNITS, and the result is scaled by `plan.sensitivity` / UNITS. The
    noise is whole units too, round(s X) for a normal X, drawn exactly: the Gaussian mechanism,
    rounded after the noise.

    If scores are not released ("pick"), floor(s G) for Gumbel's G is added and the largest is
    picked. *Theorem:* with s = UNITS / e that is e-DP for monotone scores, exactly. *Proof:* a null
    record moves all scores by 0 to UNITS the same way. Fix the noise of all draws but i, and the
    coins that break ties; i is picked where its noise is at least some t, and with the other table
    at least t', |t - t'| <= UNITS. P(floor(s G) >= t) = S(t / s) for whole t, with
    S(x) = 1 - exp(-exp(-x)), and S(x + e) >= exp(-e) S(x), since 1 - exp(-c y) >= c (1 - exp(-y))
    for 0 <= c <= 1. QED
    """
    scoring = plan.role_costs.scoring
    if scoring is None or rows is None:
        return np.zeros(len(draws))
    scored = [models[draw.setting] for draw in draws]
    exact = _exact_units(plan.metric, scored, parameters, rows)
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
    metric: Metric, models: Sequence[Model], parameters: Sequence[Tensor], rows: Examples
) -> NDArray[np.int64]:
    """The scores without noise, in whole units. Sensitive. Equal models are scored together."""
    found = np.empty(len(models), dtype=np.int64)
    for model in dict.fromkeys(models):
        own = [i for i, other in enumerate(models) if other == model]
        stacked = torch.stack([parameters[i] for i in own])
        found[own] = score_units(metric, model, stacked, rows).numpy()
    return found if metric.larger_is_better else -found


def outcomes(
    draws: Sequence[Draw], parameters: Sequence[Tensor], scores: Floats, randomness: Randomness
) -> list[Outcome]:
    """The outcomes of finished runs, each with a coin that breaks ties."""
    coins = [float(randomness.uniforms(Purpose.SCORES, draw.number, 1, 1)[0]) for draw in draws]
    found = zip(draws, parameters, scores.tolist(), coins, strict=True)
    return [Outcome(*outcome) for outcome in found]
