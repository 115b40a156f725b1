"""The plots of any evaluation: `curves_of`, by its kind."""

from __future__ import annotations

from honestdp.evaluation.base import Evaluation
from honestdp.evaluation.binary_curves import BinaryCurves
from honestdp.evaluation.classes_curves import ClassesCurves
from honestdp.evaluation.curves import Curves, Goal
from honestdp.evaluation.numbers_curves import NumbersCurves

_KINDS: dict[str, type[Curves]] = {
    one.kind: one for one in (BinaryCurves, ClassesCurves, NumbersCurves)
}


def curves_of(
    evaluation: Evaluation,
    classes: tuple[str, ...] | None = None,
    bounds: tuple[float, float] | None = None,
) -> Curves:
    """The plots of an evaluation, as numbers: `plots()` and `matrix()`.

    Args:
        evaluation: The evaluation, such as `release.evaluation`.
        classes: The classes of the target, in the schema's order.
        bounds: Its bounds, for a number.
    """
    return _KINDS[evaluation.kind](evaluation, Goal(classes, bounds))
