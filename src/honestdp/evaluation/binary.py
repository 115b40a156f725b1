"""`binary`: a target of two classes, evaluated by counts of class and score."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.special import expit

from honestdp.evaluation.base import Evaluation, Evaluator, Figure
from honestdp.evaluation.counts import Block, Counted, Floats, Level, Refined, ratio, weights
from honestdp.evaluation.words import right_of_hundred

# Edges of the bins of scores, in log-odds: finer where most scores are; 0 is a probability of 0.5.
_POSITIVE = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 8.0)
LOGITS = (*(-z for z in reversed(_POSITIVE)), 0.0, *_POSITIVE)
BINS = len(LOGITS) + 1
WIDTHS = np.array([0.0, *np.diff(LOGITS), 0.0])
# The log-odds that stands for a bin: its middle; scores beyond the outer edges count as these.
MIDDLES = np.array([LOGITS[0], *(np.array(LOGITS[1:]) + np.array(LOGITS[:-1])) / 2, LOGITS[-1]])


def _scores(loss: Any, outputs: Any, targets: Any) -> Any:
    """Class times bin of the score."""
    score = outputs.squeeze(-1)
    bins = (score.unsqueeze(-1) > score.new_tensor(LOGITS)).sum(-1)
    known = (targets == 0) | (targets == 1)
    return (BINS * targets + bins).where(known, bins * 0 - 1)


def _answers(loss: Any, outputs: Any, targets: Any) -> Any:
    """Class times answer."""
    answer = loss.predicted(outputs)
    known = (targets == 0) | (targets == 1)
    return (2 * targets + answer).where(known, answer * 0 - 1)


class Binary(Evaluator):
    """Counts of class by answer, and of class by bin of the score.

    Args:
        own_threshold: Whether the answer changes at another score than 0. It is then no function of
            the bin, and the two counts are used each by itself.
    """

    def __init__(self, own_threshold: bool = False) -> None:
        self._own_threshold = own_threshold

    kind = "binary"
    grouped = Level("class by answer", (2, 2), _answers)
    levels = (grouped, Level("class by score", (2, BINS), _scores))

    def figures(self, counts: Mapping[str, Floats], deviation: float) -> list[Figure]:
        answer = np.arange(BINS) >= BINS // 2
        parent = 2 * np.arange(2)[:, None] + answer[None, :]
        coarse, fine = (counts[level.name] for level in self.levels)
        block: Block = Refined(coarse.ravel(), fine, parent, deviation)
        if self._own_threshold:
            block = Counted(fine, deviation)
            found = self.group_figures(coarse, deviation)
        else:
            found = self._answer_figures(block, lambda x: _by_answer(x.reshape(2, BINS)))
        share = _share(block.counts.reshape(2, BINS))
        of_scores: dict[str, tuple[Callable[[Floats], float], dict[str, Any]]] = {
            "AUC": (auc, {"baseline": 0.5}),
            "log loss": (
                _log_loss,
                {"baseline": _entropy(share), "most": np.inf, "larger_is_better": False},
            ),
            "Brier score": (_brier, {"baseline": share * (1 - share), "larger_is_better": False}),
            "mean probability minus share": (_gap, {"least": -1.0, "larger_is_better": None}),
        }
        for name, (function, facts) in of_scores.items():
            unit = "share" if name == "mean probability minus share" else "number"
            table = _reshaped(function)
            found.append(self.figure(name, table, block, unit=unit, **facts))
        return found

    def group_figures(self, counts: Floats, deviation: float) -> list[Figure]:
        return self._answer_figures(Counted(counts, deviation), lambda x: x.reshape(2, 2))

    def _answer_figures(self, block: Block, table: Callable[[Floats], Floats]) -> list[Figure]:
        """The figures that follow from class (row) by answer (column)."""
        now = table(block.counts)
        always = float(now[1].sum() > now[0].sum())  # what the most frequent class finds
        wanted: dict[str, tuple[Callable[[Floats], float], float | None]] = {
            "accuracy": (
                lambda c: ratio(c[0, 0] + c[1, 1], c.sum()),
                ratio(now.sum(1).max(), now.sum()),
            ),
            "balanced accuracy": (lambda c: (_recall(c, 0) + _recall(c, 1)) / 2, 0.5),
            "sensitivity": (lambda c: _recall(c, 1), always),
            "specificity": (lambda c: _recall(c, 0), 1.0 - always),
            "precision": (
                lambda c: ratio(c[1, 1], c[:, 1].sum()),
                ratio(now[1].sum(), now.sum()),
            ),
        }
        return [
            self.figure(name, lambda x, f=function: f(table(x)), block, baseline=plain)
            for name, (function, plain) in wanted.items()
        ]

    @staticmethod
    def sentence(evaluation: Evaluation) -> str:
        return right_of_hundred(evaluation)


def _recall(counts: Floats, k: int) -> float:
    return ratio(counts[k, k], counts[k].sum())


def _reshaped(function: Callable[[Floats], float]) -> Callable[[Floats], float]:
    return lambda flat: function(flat.reshape(2, BINS))


def _by_answer(counts: Floats) -> Floats:
    """Class by score as class by answer."""
    half = BINS // 2
    return np.stack([counts[:, :half].sum(1), counts[:, half:].sum(1)], axis=1)


def auc(counts: Floats) -> float:
    """The area under the ROC curve, from noisy counts of class by score.

    sum_ij P_i N_j (1 if i > j, 1/2 if i = j): the noise of the two classes is independent, so the
    estimate has no bias from it. Rows of one bin are ordered within it too: with log-odds of the
    classes that rise by b for each log-odds of the score, and rows spread evenly over its width w,
    a pair of one bin is in the right order with probability 1/2 + b w / 12 to first order, b from a
    weighted fit of the bins' log-odds.
    """
    negative, positive = counts
    below = np.cumsum(negative) - negative
    pairs = max(float(negative.sum()), 1.0) * max(float(positive.sum()), 1.0)
    order = np.minimum(0.5 + _slope(counts) * WIDTHS / 12, 1.0)
    return float(positive @ below + (positive * negative) @ order) / pairs


def _slope(counts: Floats) -> float:
    """How fast log-odds of the classes rise with those of the score; not below 0."""
    kept = np.maximum(counts, 0.0) + 0.5
    weight = kept[0] * kept[1] / kept.sum(0)
    odds = np.log(kept[1] / kept[0])
    x = MIDDLES - float(weight @ MIDDLES) / float(weight.sum())
    return max(float(weight * x @ odds) / float(weight * x @ x), 0.0)


def over_bins(function: Callable[[Floats], Floats]) -> Floats:
    """What stands for a function of the score in every bin: `weights`, and the value at the outer
    edge for the scores beyond.

    Args:
        function: Of log-odds.
    """
    ends = function(MIDDLES[[0, -1]])
    return np.concatenate([ends[:1], weights(np.array(LOGITS), function), ends[1:]])


def _share(counts: Floats) -> float:
    return min(max(ratio(counts[1].sum(), counts.sum()), 1e-6), 1 - 1e-6)


def _log_loss(counts: Floats) -> float:
    return ratio(float(counts[0] @ _LOSSES[0] + counts[1] @ _LOSSES[1]), counts.sum())


def _entropy(p: float) -> float:
    return float(-p * np.log(p) - (1 - p) * np.log(1 - p))


def _brier(counts: Floats) -> float:
    return ratio(float(counts[0] @ _SQUARES[0] + counts[1] @ _SQUARES[1]), counts.sum())


def _gap(counts: Floats) -> float:
    return ratio(float(counts.sum(0) @ _CHANCES - counts[1].sum()), counts.sum())


_CHANCES = over_bins(expit)
_LOSSES = over_bins(lambda z: np.logaddexp(0, z)), over_bins(lambda z: np.logaddexp(0, -z))
_SQUARES = over_bins(lambda z: expit(z) ** 2), over_bins(lambda z: expit(-z) ** 2)
