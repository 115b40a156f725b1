"""The structured fields of a card of a plan that was carried out."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from honestdp.evaluation import Evaluation, Figure
from honestdp.planning.plan import Plan
from honestdp.release.card_fields import CONFIDENCE, ReleaseType, Timing, Utility
from honestdp.release.code import code

# The figures that say the most, where an evaluation has them.
_MAIN = ("accuracy", "balanced accuracy", "AUC", "mean absolute error", "R2")


def card_facts(
    plan: Plan, released: int, evaluation: Evaluation | None, day: date | None
) -> dict[str, Any]:
    """The fields by name.

    Args:
        plan: What was carried out.
        released: Number of candidates that leave.
        evaluation: How good the winner is.
        day: The day on which the run began, before anything was drawn (`publication_date`).
    """
    by_group = [] if evaluation is None else evaluation.groups
    column = "" if evaluation is None else evaluation.column
    return {
        "variant": "approximate-dp",
        "neighbour_relation": "replace-by-null",
        "rows_per_unit": 1,
        "release_type": _release_type(released),
        "about": plan.spec.about,
        "publication_date": day,
        "utility": evaluation
        and tuple(_utility(one, rows=evaluation.rows) for one in _main(evaluation.figures)),
        "utility_by_group": tuple(
            _utility(one, column=column, group=group.group)
            for group in by_group
            for one in _main(group.figures)
        )
        or None,
        "timing": _timing(plan),
        "code": code(),
    }


def _release_type(released: int) -> ReleaseType:
    if not released:
        return "no-model"
    return "model" if released == 1 else "model-with-all-candidates"


def _main(figures: Sequence[Figure]) -> Sequence[Figure]:
    return [one for one in figures if one.name in _MAIN] or figures[:1]


def _utility(figure: Figure, **about: Any) -> Utility:
    return Utility(
        figure=figure.name,
        value=figure.value,
        low=figure.low,
        high=figure.high,
        confidence=CONFIDENCE,
        baseline=figure.baseline,
        unit=figure.unit,
        **about,
    )


def _timing(plan: Plan) -> Timing:
    """The number of rows in a lot is secret in every plan; that of trainings where only the winner
    may leave."""
    trainings = () if plan.shows_all else ("how many candidates were trained",)
    return Timing(
        covered=False,
        shows=(*trainings, "how many rows the lots had"),
        remedy="Do not tell when the run began and ended, and publish on a day fixed beforehand.",
    )
