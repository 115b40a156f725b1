"""`classes`: a target of three or more classes, evaluated by counts of class and answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from honestdp.evaluation.base import Evaluation, Evaluator, Figure
from honestdp.evaluation.binary import BINS, LOGITS, over_bins, right_of_hundred
from honestdp.evaluation.counts import Counted, Floats, Level, Refined, ratio

MOST_PAIRS = 30  # classes; beyond, the pairs of class and answer are not counted


def _known(found: Any, targets: Any, classes: int) -> Any:
    return found.where((targets >= 0) & (targets < classes), found * 0 - 1)


class Classes(Evaluator):
    """Counts of right and wrong answers, of these by class, of class by answer, and of the
    probability that a row's own class got.

    Args:
        classes: Number of classes.
    """

    kind = "classes"

    def __init__(self, classes: int) -> None:
        k = classes

        def right(loss: Any, outputs: Any, targets: Any) -> Any:
            return _known((loss.predicted(outputs) == targets).long(), targets, k)

        def by_class(loss: Any, outputs: Any, targets: Any) -> Any:
            return _known(2 * targets + (loss.predicted(outputs) == targets).long(), targets, k)

        def answers(loss: Any, outputs: Any, targets: Any) -> Any:
            return _known(k * targets + loss.predicted(outputs), targets, k)

        def own(loss: Any, outputs: Any, targets: Any) -> Any:
            p = loss.probabilities(outputs)
            index = targets.clamp(0, k - 1).expand(len(p), -1).unsqueeze(-1)
            odds = p.gather(-1, index).double().logit(eps=1e-12)
            return _known((odds > odds.new_tensor(LOGITS)).sum(-1), targets, k)

        self.grouped = Level("right", (2,), right)
        pairs = (Level("class by answer", (k, k), answers),) if k <= MOST_PAIRS else ()
        self.levels = (
            self.grouped,
            Level("right by class", (k, 2), by_class),
            Level("probability of the class", (BINS,), own),
            *pairs,
        )

    def figures(self, counts: Mapping[str, Floats], deviation: float) -> list[Figure]:
        right, by_class, chances, *_ = (counts[level.name] for level in self.levels)
        k = len(by_class)
        block = Refined(right, by_class, np.tile([0, 1], (k, 1)), deviation)
        sizes = block.counts.reshape(k, 2).sum(1)

        def accuracy(x: Floats) -> float:
            return ratio(x[1::2].sum(), x.sum())

        def balanced(x: Floats) -> float:
            return float(
                np.mean(
                    [
                        ratio(hits, size)
                        for hits, size in zip(x[1::2], x[::2] + x[1::2], strict=True)
                    ]
                )
            )

        def log_loss(x: Floats) -> float:
            return ratio(float(x @ _LOSSES), x.sum())

        return [
            self.figure("accuracy", accuracy, block, baseline=ratio(sizes.max(), sizes.sum())),
            self.figure("balanced accuracy", balanced, block, baseline=1 / k),
            self.figure(
                "log loss", log_loss, Counted(chances, deviation), most=np.inf,
                baseline=_entropy(sizes), larger_is_better=False, unit="number",
            ),
        ]  # fmt: skip

    def group_figures(self, counts: Floats, deviation: float) -> list[Figure]:
        return [self.figure("accuracy", lambda x: ratio(x[1], x.sum()), Counted(counts, deviation))]

    @staticmethod
    def sentence(evaluation: Evaluation) -> str:
        return right_of_hundred(evaluation["accuracy"])


def _entropy(sizes: Floats) -> float:
    p = np.maximum(sizes, 0.5)
    p = p / p.sum()
    return float(-(p * np.log(p)).sum())


_LOSSES = over_bins(lambda z: np.logaddexp(0, -z))
