"""`Metric`: the contract of a number that measures how well a model does on a row.

Candidates are compared by sums over validation rows. What makes such a sum private is the bound
of one row, so a metric is a value per row between 0 and `bound`: one record moves the sum by at
most `bound`. To add one: an object in a file of its own, registered by `metrics.register`, checked
by `honestdp.testing.check_metric`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar


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
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    of_classes: ClassVar[bool]
    bound: ClassVar[float]
    larger_is_better: ClassVar[bool]
    label: ClassVar[str]
    meaning: ClassVar[str]
    summed: ClassVar[str]

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
