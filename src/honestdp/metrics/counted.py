"""`CountedMetric`: the contract of a metric that follows from counts of rows.

Each row is counted in one cell: by its class and the answer, say. What is released of a candidate
are noisy counts, and the metric is computed from these.

*Theorem.* The counts of one candidate, each with independent Gaussian noise of standard deviation
s, are a Gaussian mechanism of noise multiplier s for the rows counted. *Proof.* A record is in one
cell at most, a null record in none, so replacing one by the other changes one count by at most 1,
and the vector of all counts by at most 1 in the l2 norm, however many cells there are. QED. So a
counted metric costs what a sum of values in [0, 1] costs, and what follows from noisy counts is
post-processing and costs nothing.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from honestdp.errors import fail
from honestdp.evaluation.counts import Level
from honestdp.metrics.base import Floats, Metric
from honestdp.units import UNITS

NOISE_OF_NONE = 3.0  # a class of fewer rows than so many deviations cannot be told from noise
NOISE_OF_EMPTY = 2.0  # nor can a bin, of both classes


class CountedMetric(Metric):
    """A metric that is computed from noisy counts of rows by cell.

    A subclass defines `level` and `estimate`, and the texts of `Metric`; `summed` says what is
    counted: "counts of rows by class and answer". It is checked by
    `honestdp.testing.check_metric`, too.
    """

    bound: ClassVar[float] = 1.0  # of one row in the counts
    is_mean: ClassVar[bool] = False

    @abstractmethod
    def level(self, classes: int | None) -> Level:
        """What rows are counted by. The cell of a row may depend on that row alone; a row with a
        number outside the cells, such as -1 for an unknown class, is not counted.

        Args:
            classes: Number of classes; None: numbers.
        """

    @abstractmethod
    def estimate(self, counts: Floats, noise: float) -> float:
        """Estimate the value from noisy counts, which may be negative.

        Args:
            counts: In the level's shape.
            noise: The standard deviation of the noise of each.
        """

    def pick_count(self, counts: NDArray[np.int64], rows: int) -> tuple[int, int]:
        """A fraction, as two whole numbers, that candidates are picked by if no scores are
        released: larger is better. Replacing a record by a null record must never raise it, and
        never lower it by more than 1. Only called if `picks`.

        Args:
            counts: In the level's shape, without noise. Sensitive, as is the result.
            rows: Number of rows, a public number: the denominator may depend on it, on no count.
        """
        raise NotImplementedError

    def values(self, loss: Any, outputs: Any, targets: Any) -> Any:
        """1 for every row: it counts once, in its cell."""
        return (outputs[..., 0] * 0 + 1).double()

    def score(self, released: Floats, noise: float, classes: int | None) -> float:
        value = self.estimate(released.reshape(self.level(classes).shape), noise)
        return value if self.larger_is_better else -value

    def picks(self, classes: int | None) -> bool:
        return False

    @property
    def picked(self) -> str:
        return "numbers of pairs of rows of both classes in the right order, by the number of rows"

    def pick_units(self, units: NDArray[np.int64], rows: int, classes: int | None) -> int:
        """*Theorem.* It moves as `Metric.pick_units` says. *Proof.* `pick_count` falls by a d in
        [0, 1]; and floor(a) - floor(a - UNITS d) lies between 0 and UNITS, as a whole number below
        UNITS d + 1. QED"""
        shape = self.level(classes).shape
        part, whole = self.pick_count((units // UNITS).reshape(shape), rows)
        return part * UNITS // whole

    def as_score(self, value: float, rows: float) -> float:
        return value if self.larger_is_better else -value

    def from_score(self, score: float, rows: float) -> float:
        return score if self.larger_is_better else -score


def area(counts: Floats, noise: float) -> float:
    """The area under the ROC curve from noisy counts, [class, bin], bins by rising score.

    The pairs of a row of either class that are in the right order, sum_ij P_i N_j (1 if i > j, 1/2
    if i = j): the noise of the classes is independent, so its mean is right. It is divided by the
    number of pairs as the noisy counts have it; but a class that cannot be told from noise counts
    as NOISE_OF_NONE deviations of its own noise, which draws the estimate to the 0.5 of a guess,
    where the bare ratio would be any number. Bins that cannot be told from empty ones are left out:
    they hold few rows, and as much noise as any other.

    Args:
        counts: The noisy counts.
        noise: The standard deviation of the noise of each.
    """
    kept = counts.sum(0) > NOISE_OF_EMPTY * 2**0.5 * noise
    negative, positive = counts[:, kept]
    below = np.cumsum(negative) - negative / 2
    sizes = float(negative.sum()), float(positive.sum())
    least = max(1.0, NOISE_OF_NONE * noise * len(negative) ** 0.5)
    better = float(positive @ below) - sizes[0] * sizes[1] / 2
    return 0.5 + better / (max(sizes[0], least) * max(sizes[1], least))


def ordered_pairs(counts: NDArray[np.int64], rows: int) -> tuple[int, int]:
    """The pairs of a row of either class that are in the right order, ties for half, by the number
    of rows: a `pick_count`. Its order is that of the area under the ROC curve, since all candidates
    have the same number of pairs.

    *Theorem.* Replacing a record by a null record lowers it by a number in [0, 1]. *Proof.* The
    record's own pairs go, of which there are at most rows - 1, each worth between 0 and 1; all
    others stay. QED

    Args:
        counts: [class, bin], bins by rising score. Sensitive.
        rows: Number of rows, a public number.
    """
    negative, positive = (list(map(int, of_class)) for of_class in counts)
    twice, below = 0, 0
    for lower, higher in zip(negative, positive, strict=True):
        twice += higher * (2 * below + lower)
        below += lower
    return twice, 2 * rows


def refuse_pick(metric: Metric, classes: int | None) -> None:
    """Raise InputError unless one exponential mechanism can choose by a metric.

    Args:
        metric: The metric.
        classes: Number of classes; None: numbers.
    """
    if not metric.picks(classes):
        remedy = "cannot pick without scores; leave out scores=False, or take another metric"
        raise fail("metric", metric.name, remedy)
