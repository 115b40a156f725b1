"""`Metric`: the contract of a number that measures how well a model does on a row.

Candidates are compared by sums over validation rows. What makes such a sum private is the bound
of one row, so a metric is a value per row between 0 and `bound`: one record moves the sum by at
most `bound`. To add one: an object in a file of its own, registered by `metrics.register`, checked
by `honestdp.testing.check_metric`. What is no mean over rows (the area under a ROC curve, say)
follows from counts of rows: `honestdp.metrics.counted` has the contract.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from honestdp.evaluation.counts import Level

Floats = NDArray[np.float64]


class Metric(ABC):
    """A bounded value per row that candidates are compared by.

    Attributes:
        name: The name that users give in `Spec(metric=...)`.
        summary: What it measures, in a sentence.
        of_classes: Whether it is for targets with classes; otherwise for numbers in [-1, 1].
        bound: The largest value of a row. Values lie in [0, bound].
        larger_is_better: Its direction.
        label: The name of the mean value in texts: "score", "mean loss".
        meaning: What the value means, in a few words that follow a figure.
        summed: What is summed, in the plural: "counts of correct predictions".
        is_mean: Whether its value is a mean over rows, so that the noise of a sum, by the number of
            rows, is the noise of the value.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    of_classes: ClassVar[bool]
    bound: ClassVar[float]
    larger_is_better: ClassVar[bool]
    label: ClassVar[str]
    meaning: ClassVar[str]
    summed: ClassVar[str]
    is_mean: ClassVar[bool] = True

    @abstractmethod
    def values(self, loss: Any, outputs: Any, targets: Any) -> Any:
        """Compute the value of every row.

        Row i of the result may depend on row i of the arguments alone.

        Args:
            loss: What the outputs mean (`honestdp.engine.losses.Loss`): `loss.predicted(outputs)`,
                `loss.probabilities(outputs)`.
            outputs: Of the models, [candidate, row, output]; they may hold anything, NaN too.
            targets: [row]: class numbers, -1 where unknown, or numbers.

        Returns:
            [candidate, row]. What is outside [0, bound] is clipped; NaN, and a row whose outputs
            are not finite, count as the worst.
        """

    def suits(self, classes: int | None) -> bool:
        """Whether it is for targets with this number of classes.

        Args:
            classes: Number of classes; None: numbers.
        """
        return self.of_classes == (classes is not None)

    @property
    def suited(self) -> str:
        """The targets that it is for, in words."""
        return "classes" if self.of_classes else "numbers"

    def level(self, classes: int | None) -> Level | None:
        """What rows are counted by; None, for a metric whose values are summed.

        Args:
            classes: Number of classes; None: numbers.
        """
        return None

    def score(self, released: Floats, noise: float, classes: int | None) -> float:
        """Convert what was released of one candidate to its score, for which larger is better.

        Args:
            released: The noisy sum of values, negated if smaller is better; or the noisy counts.
            noise: The standard deviation of the noise in each of these.
            classes: Number of classes; None: numbers.
        """
        return float(released[0])

    def picks(self, classes: int | None) -> bool:
        """Whether one exponential mechanism can choose by it; see `pick_units`.

        Args:
            classes: Number of classes; None: numbers.
        """
        return True

    def pick_units(self, units: NDArray[np.int64], rows: int, classes: int | None) -> int:
        """Convert what was measured of one candidate to the whole number that it is picked by.

        A record that is replaced by a null record must move the numbers of all candidates the same
        way, each by at most `honestdp.units.UNITS`.

        Args:
            units: The sum of values in whole units, negated if smaller is better; or the counts, a
                row counting UNITS. Sensitive, as is the result.
            rows: Number of rows, a public number.
            classes: Number of classes; None: numbers.
        """
        return int(units[0])

    @property
    def picked(self) -> str:
        """What candidates are picked by if no scores are released, in the plural."""
        return self.summed

    @property
    def worst(self) -> float:
        """The worst value that a row can have."""
        return 0.0 if self.larger_is_better else self.bound

    def as_score(self, value: float, rows: float) -> float:
        """Convert a mean to a score: a sum over rows, for which larger is always better.

        Args:
            value: The mean.
            rows: Number of rows.

        Returns:
            The score.
        """
        return value * rows * (1 if self.larger_is_better else -1)

    def from_score(self, score: float, rows: float) -> float:
        """Convert a score back to a mean; the inverse of `as_score`.

        Args:
            score: The score.
            rows: Number of rows.

        Returns:
            The mean.
        """
        return score / rows if self.larger_is_better else -score / rows
