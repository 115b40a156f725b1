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
from honestdp.engine.score import check_metric_values, measured_units
from honestdp.errors import InputError, fail, one_line
from honestdp.metrics import Metric
from honestdp.planning.plan import Plan
from honestdp.procedures import Draw, Outcome, procedures
from honestdp.randomness import Purpose, Randomness
from honestdp.units import UNITS

Floats = NDArray[np.float64]
FINAL = 2**32 - 2  # stream number of the training after the search; no draw uses it


def check_search(plan: Plan, models: Sequence[Model]) -> None:
    """Raise InputError, before anything is paid, unless the procedure draws and keeps, and the
    metric scores, as their contracts say; checked on made-up coins, outcomes and rows."""
    if not procedures.is_own(type(plan.procedure)):
        _check_procedure(plan)
    if plan.role_costs.scoring is not None:
        for model in {one.loss: one for one in models}.values():
            check_metric_values(plan.metric, model)


def _check_procedure(plan: Plan) -> None:
    try:
        draws = _drawn(plan, Randomness.simulation(0))[:2]
        made_up = [Outcome(draw, None, float(i), i / 2) for i, draw in enumerate(draws)]
        select(plan, [], made_up)
    except InputError:
        raise
    except Exception as error:  # raised by the code of the procedure; the outcomes are made up
        reason = one_line(error)
        remedy = f"draws or keep fails on made-up outcomes ({reason})"
        raise fail("procedure", plan.procedure.name, remedy) from error


def schedule(plan: Plan, randomness: Randomness, at_once: int) -> Iterator[list[Draw]]:
    """The draws of a search, in groups. Their number is secret unless all are released."""
    draws = _drawn(plan, randomness)
    for first in range(0, len(draws), at_once):
        yield draws[first : first + at_once]


def _drawn(plan: Plan, randomness: Randomness) -> list[Draw]:
    """The draws of a procedure. Two of one number would share their noise, so it is checked."""
    settings = len(plan.grid)
    draws: object = plan.procedure.draws(
        settings, lambda index: randomness.uniform(Purpose.COINS, index, 0)
    )
    if (
        not isinstance(draws, list)
        or not all(isinstance(draw, Draw) for draw in draws)
        or len({draw.number for draw in draws}) != len(draws)
        or not all(0 <= draw.number < FINAL and 0 <= draw.setting < settings for draw in draws)
    ):
        remedy = "draws must return a list of Draw, each with a number of its own and a setting"
        raise fail("procedure", plan.procedure.name, f"{remedy} of the grid")
    return draws


def select(plan: Plan, kept: Sequence[Outcome], new: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes that a procedure keeps: some of those given, one alone where no more may be
    released."""
    found: object = plan.procedure.keep(kept, new, plan.as_score)
    given = {id(outcome) for outcome in (*kept, *new)}
    if not isinstance(found, list) or not {id(one) for one in found} <= given:
        remedy = "keep must return a list of some of the outcomes that it is given"
        raise fail("procedure", plan.procedure.name, remedy)
    if len(found) > (len(given) if plan.shows_all else 1):
        remedy = "keep returned more outcomes than may be released; return the winner alone"
        raise fail("procedure", plan.procedure.name, remedy)
    return found


def noisy_scores(
    plan: Plan,
    models: Sequence[Model],
    parameters: Sequence[Tensor],
    draws: Sequence[Draw],
    rows: Sequence[Examples | None],
    randomness: Randomness,
) -> Floats:
    """A score for every draw, each with independent noise; higher is better. rows: What each is
    scored on: the same rows, as its model reads them.

    What is measured is a sum of the metric's values, negated if smaller is better, or counts of
    rows by cell, in whole units: one record changes it by at most UNITS in the l2 norm, and the
    result is scaled by `plan.sensitivity` / UNITS. The noise of each number is whole units too,
    round(s X) for a normal X, drawn exactly: the Gaussian mechanism, rounded after the noise. A
    noisy sum is the score; from noisy counts `metric.score` computes it, which is post-processing.

    If scores are not released ("pick"), floor(s G) for Gumbel's G is added to the number that
    `metric.pick_units` makes of what was measured, and the largest is picked. *Theorem:* with
    s = UNITS / e that is e-DP for monotone scores, exactly. *Proof:* a null record moves all scores
    by 0 to UNITS the same way. Fix the noise of all draws but i, and the coins that break ties; i
    is picked where its noise is at least some t, and with the other table at least t',
    |t - t'| <= UNITS. P(floor(s G) >= t) = S(t / s) for whole t, with S(x) = 1 - exp(-exp(-x)), and
    S(x + e) >= exp(-e) S(x), since 1 - exp(-c y) >= c (1 - exp(-y)) for 0 <= c <= 1. QED
    """
    scoring = plan.role_costs.scoring
    if scoring is None:
        return np.zeros(len(draws))
    scored = [models[draw.setting] for draw in draws]
    scale = scoring.noise * UNITS
    metric, classes = plan.metric, plan.spec.classes
    exact = exact_units(metric, scored, parameters, rows)

    def noisy(draw: Draw, units: NDArray[np.int64]) -> float:
        if scoring.kind == "pick":
            whole = metric.pick_units(units, plan.validation_rows, classes)
            whole += randomness.uniform(Purpose.SCORES, draw.number, 0).gumbel(scale)
            return float(whole) * plan.sensitivity / UNITS
        noise = randomness.rounded_normals(Purpose.SCORES, draw.number, 0, scale, len(units))
        released = (units + noise).astype(np.float64) * plan.sensitivity / UNITS
        return metric.score(released, scoring.noise * plan.sensitivity, classes)

    return np.array([noisy(*one) for one in zip(draws, exact, strict=True)], dtype=np.float64)


def exact_units(
    metric: Metric,
    models: Sequence[Model],
    parameters: Sequence[Tensor],
    rows: Sequence[Examples | None],
) -> NDArray[np.int64]:
    """What scores are made of without noise, [draw, number], in whole units
    (`engine.score.measured_units`). Sensitive. Equal models are measured together."""
    pairs = list(zip(models, rows, strict=True))
    found: dict[int, NDArray[np.int64]] = {}
    for model, part in dict.fromkeys(pairs):
        assert part is not None  # a plan with scores has validation rows
        own = [i for i, other in enumerate(pairs) if other == (model, part)]
        stacked = torch.stack([parameters[i] for i in own])
        measured = measured_units(metric, model, stacked, part).cpu().numpy()
        found |= dict(zip(own, measured, strict=True))
    return np.array([found[i] for i in range(len(pairs))], dtype=np.int64)


def outcomes(
    draws: Sequence[Draw], parameters: Sequence[Tensor], scores: Floats, randomness: Randomness
) -> list[Outcome]:
    """The outcomes of finished runs, each with a coin that breaks ties."""
    coins = [float(randomness.uniforms(Purpose.SCORES, draw.number, 1, 1)[0]) for draw in draws]
    found = zip(draws, parameters, scores.tolist(), coins, strict=True)
    return [Outcome(*outcome) for outcome in found]
