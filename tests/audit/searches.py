"""Tiny searches on two neighbouring tables, and the number that tells the tables apart.

The neighbours differ in one record, there in one table and null in the other (its class is not
declared), in the training or in the validation part. All else is chosen to let it show: one step,
every row in every lot, no input but the bias's 1, and

- train: the record's clipped gradient moves the bias by all that one record may, against two rows
  of the other class. Validation rows are right where the bias is above 0, and are many beside
  their noise, so a run with a bias above 0 wins over one without: for that event, which tells
  the tables apart about best, no score that grows with the bias does more.
- validation: sixteen training rows make every run predict the record's class, so the record moves
  every score by all that it may. The other row is null.
- order: no score is shown; training rows are null, so about half of the runs predict the record's
  class, and whoever has their parameters knows which. What is left to read is the order in which
  the candidates are shown.

The numbers are what a likelihood ratio orders by: a sum over the candidates shown, or the winner's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from honestdp.audit import LowerBound, epsilon_lower_bound
from honestdp.planning.grid import Grid
from honestdp.planning.make import make_plan
from honestdp.planning.plan import Plan
from honestdp.planning.spec import Spec
from honestdp.private_data import split
from honestdp.release.predictor import Predictor
from honestdp.release.publish import Release
from honestdp.run import run
from honestdp.schema import Numeric, Schema, Target

# Large, so that thousands of searches come near them; few runs, where the bounds are tight.
EPSILON, DELTA, CONFIDENCE = 1.5, 0.05, 0.999
PROCEDURES: dict[str, dict[str, Any]] = {
    "composition": {},
    "random-stopping": {"mean_runs": 1.5},
    "random-repeats": {"mean_runs": 1.5, "shape": 0.0},
}
PLACES = ("train", "validation")

SCHEMA = Schema(
    name="audit",
    target=Target(column="y", classes=("0", "1")),
    columns=(Numeric(name="x", bounds=(0.0, 1.0)),),
)
# Four runs at half the noise cost what one costs, counted alone, at the whole of it: half the
# noise under composition is just what reporting the winner's run alone comes to.
GRID = Grid.product(rule="dpsgd", learning_rate=[1.0, 2.0], clip_norm=[0.25, 0.5])
_NO, _YES, _NULL = 0.0, 1.0, 2.0  # the classes, and one that is not declared
_WITHOUT = 10**6  # the seeds of searches without the record begin here


@dataclass(frozen=True, eq=False)
class Neighbours:
    """A plan, two neighbouring tables for it, and the number to read from a release."""

    plan: Plan
    place: str
    with_record: dict[str, Any]
    without: dict[str, Any]
    read: Callable[[Release], float]


def neighbours(procedure: str, place: str, **options: Any) -> Neighbours:
    """The record in the training or in the validation part; options: of the spec, in place of
    those in `PROCEDURES`."""
    options = options or PROCEDURES[procedure]
    if place == "train":
        plan = _plan(3, 20, procedure=procedure, grid=GRID, **options)
        return _neighbours(plan, place, trains=_NO, scores=_YES, read=_bias)
    plan = _plan(16, 2, procedure=procedure, grid=GRID, **options)
    return _neighbours(plan, place, trains=_YES, scores=_NULL, read=_score)


def neighbours_in_order(settings: int) -> Neighbours:
    """Composition that shows no scores, among so many settings."""
    grid = Grid.product(rule="dpsgd", learning_rate=[1.0 + i for i in range(settings)])
    plan = _plan(2, 2, procedure="composition", grid=grid, scores=False)

    def order(release: Release) -> float:
        """ln of how much likelier the order is with the record than without: draws one by one,
        each in proportion to exp(score / noise) among those left (Gumbel noise)."""
        right = np.array([_bias_of(one) > 0 for one in release.candidates])
        assert plan.sides.scoring is not None
        weights = np.exp(right / plan.sides.scoring.noise)
        left = np.cumsum(weights[::-1])[::-1]
        return float(np.log(weights / left * np.arange(settings, 0, -1)).sum())

    return _neighbours(plan, "validation", trains=_NULL, scores=_NULL, read=order)


def _plan(training: int, validation: int, **options: Any) -> Plan:
    rows = training + validation
    public = Spec(
        schema=SCHEMA,
        rows=rows,
        epsilon=EPSILON,
        delta=DELTA,
        lot_size=training,
        steps=1,
        validation=validation / rows,
        **options,
    )
    return make_plan(public)


def _neighbours(
    plan: Plan, place: str, trains: float, scores: float, read: Callable[[Release], float]
) -> Neighbours:
    """All training rows of one class and all validation rows of one, but for the record."""
    parts = dict(zip(PLACES, split(plan), strict=True))

    def table(record: float) -> dict[str, Any]:
        y = np.empty(plan.spec.rows)
        y[parts["train"]], y[parts["validation"]] = trains, scores
        y[parts[place][0]] = record
        return {"x": np.zeros(plan.spec.rows), "y": y}

    return Neighbours(plan, place, table(_YES), table(_NULL), read)


def _bias_of(fitted: Predictor) -> float:
    return fitted.tensors["bias"].item()


def _bias(release: Release) -> float:
    """The noisy sums that one step made the biases of, in units of the clip norm."""
    lot_size = release.plan.training.lot_size

    def noisy_sum(one: Predictor) -> float:
        return _bias_of(one) * lot_size / (one.setting["learning_rate"] * one.setting["clip_norm"])

    return _over_shown(release, noisy_sum)


def _score(release: Release) -> float:
    """The noisy counts."""
    return _over_shown(release, lambda one: one.noisy_score * release.plan.validation_rows)


def _over_shown(release: Release, read: Callable[[Any], float]) -> float:
    """The sum over all candidates shown, or the winner's; least where nothing came out."""
    shown = release.candidates or [release.winner]
    return math.fsum(-math.inf if one is None else read(one) for one in shown)


def audited(found: Neighbours, searches: int) -> LowerBound:
    """What so many searches on each neighbour show; printed, for who wants the figures."""

    def numbers(table: dict[str, Any], first: int) -> list[float]:
        seeds = range(first, first + searches)
        return [found.read(run(found.plan, table, seed=seed, workers=1)) for seed in seeds]

    drawn = numbers(found.with_record, 0), numbers(found.without, _WITHOUT)
    bound = epsilon_lower_bound(*drawn, found.plan.delta, CONFIDENCE)
    print(
        f"{found.plan.procedure.name}, record in {found.place}, {searches} searches each: "
        f"at {CONFIDENCE:.1%} epsilon is above {bound.epsilon:.3f}, "
        f"claimed {found.plan.epsilon:.3f}, delta {found.plan.delta:g}"
    )
    return bound
