"""Evaluation: how good the released model is, on rows that had no part in making it.

Noisy counts of test rows are released once, and every figure follows from them. `base` is the
contract, and there is one file for each kind of target. `words` says them in sentences, `curves`
has the points of plots (`drawn.curves_of`), `expected` what a plan can say beforehand.
"""

from __future__ import annotations

from honestdp.evaluation.base import Evaluation, Evaluator, Figure, GroupFigures
from honestdp.evaluation.binary import Binary
from honestdp.evaluation.calibration import Calibration, Calibrator
from honestdp.evaluation.classes import Classes
from honestdp.evaluation.numbers import Numbers
from honestdp.evaluation.platt import Platt
from honestdp.evaluation.temperature import Temperature

__all__ = [
    "Calibration", "Calibrator", "Evaluation", "Evaluator", "Figure", "GroupFigures", "calibrator",
    "evaluator", "evaluators",
]  # fmt: skip

evaluators: dict[str, type[Evaluator]] = {one.kind: one for one in (Binary, Classes, Numbers)}


def evaluator(
    classes: int | None, bounds: tuple[float, float] | None, own_threshold: bool = False
) -> Evaluator:
    """The evaluator of a target.

    Args:
        classes: Number of its classes; None for a number.
        bounds: Its bounds, for a number.
        own_threshold: Whether two classes are told apart at another probability than 0.5.
    """
    if classes is None:
        assert bounds is not None
        return Numbers(*bounds)
    return Binary(own_threshold) if classes == 2 else Classes(classes)


def calibrator(classes: int) -> Calibrator:
    """The calibrator of a target.

    Args:
        classes: Number of its classes.
    """
    return Platt() if classes == 2 else Temperature(classes)
