"""`temperature`: three or more classes; one slope for all outputs (Guo et al. 2017)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from honestdp.evaluation.calibration import PRIOR, Calibrator
from honestdp.evaluation.counts import Floats, Level

SLOPES = np.array([0.4, 0.7, 1.0])
LARGEST_SLOPE = 2.0
# Bins of the probability of the answer, and those that stand for each.
_EDGES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97)
_MIDDLES = np.array([0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.935, 0.99])
_BINS = len(_MIDDLES)


def _known(found: Any, targets: Any, classes: int) -> Any:
    return found.where((targets >= 0) & (targets < classes), found * 0 - 1)


class Temperature(Calibrator):
    """Counts of right answers, and of the answer's probability at each of three public slopes.

    The slope is such that the answer's mean probability is the share of right answers. Rows keep
    their answers.

    Args:
        classes: Number of classes.
    """

    kind = "temperature"
    counted = "right answer, and probability of the answer at three slopes"

    def __init__(self, classes: int) -> None:
        def right(loss: Any, outputs: Any, targets: Any) -> Any:
            wrong = loss.predicted(outputs) != targets
            return _known(-wrong.long(), targets, classes)

        def sure(slope: float) -> Callable[[Any, Any, Any], Any]:
            def cells(loss: Any, outputs: Any, targets: Any) -> Any:
                most = loss.probabilities(slope * outputs).amax(-1)
                found = (most.unsqueeze(-1) > most.new_tensor(_EDGES)).sum(-1)
                return _known(found, targets, classes)

            return cells

        own = (Level(_name(slope), (_BINS,), sure(float(slope))) for slope in SLOPES)
        self.levels = (Level("right", (1,), right), *own)

    def fit(self, counts: Mapping[str, Floats], deviation: float) -> tuple[float, float]:
        """Slope and offset, which is 0.

        How far the sum of probabilities is above the number of right answers, at each slope u, is
        about alpha + beta u by least squares, with a variance v of sampling and noise: the slope
        is the minimum of (alpha + beta u)^2 / v + (u - 1)^2 / PRIOR^2.
        """
        right = float(counts["right"].sum())
        sure = np.array([counts[_name(slope)] for slope in SLOPES])
        rows = max(float(sure.sum()) / len(SLOPES), 1.0)
        share = min(max(right / rows, 0.0), 1.0)
        noise = deviation**2 * (1 + float(_MIDDLES @ _MIDDLES))
        variance = noise + rows * share * (1 - share)
        beta, alpha = np.polyfit(SLOPES, sure @ _MIDDLES - right, 1)
        pull = PRIOR**2 / variance
        slope = (1 - pull * alpha * beta) / (1 + pull * beta**2)
        return min(max(float(slope), float(SLOPES[0]) / 2), LARGEST_SLOPE), 0.0


def _name(slope: float) -> str:
    return f"probability at slope {slope:g}"
