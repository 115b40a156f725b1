"""What a tiny search costs, exactly: the divergence between its release's laws on two neighbours.

A release is the bias, the label and the score (the weights say nothing of any record). Given the
label the bias has nothing to do with the score, so a density is a product on either side of 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from betting import Floats, LogDensity, Space
from exact_searches import SAMPLED, STEPS, Case
from release_laws import NOTHING, Bias, Run, in_lots

Selection = Callable[[Run], LogDensity]  # how the law of a run becomes that of what is released


class Released:
    """The law of a release, on a grid: for each label the densities of bias and score."""

    def __init__(
        self, bias: Bias, run: Run, selection: Selection, biases: Space, scores: Space
    ) -> None:
        law = selection(run)
        self.nothing = float(np.exp(law(np.array([[NOTHING, 0.0]]))[0]))
        self.parts = [
            self._part(bias, law, label, chance, biases, scores)
            for label, chance in ((0.0, 1 - bias.above), (1.0, bias.above))
        ]

    def _part(
        self, bias: Bias, law: LogDensity, label: float, chance: float, biases: Space, scores: Space
    ) -> Floats:
        """[bias, score], each cell with its weight."""
        side = (biases.points[:, 0] > 0) == bool(label)
        own = np.exp(bias.log_density(biases.points)) * biases.weights * side / chance
        return np.outer(own, np.exp(law(scores.labelled(label).points)) * scores.weights)

    def delta(self, epsilon: float, other: Released) -> float:
        """The most that an event is likelier here than e^epsilon times there."""
        more = [self.nothing - math.exp(epsilon) * other.nothing]
        parts = zip(self.parts, other.parts, strict=True)
        more += [np.maximum(one - math.exp(epsilon) * two, 0).sum() for one, two in parts]
        return float(sum(max(part, 0.0) for part in more))


def exact_delta_of_biases(case: Case, epsilon: float) -> float:
    """The same for a training record where every candidate is shown, one or two of them: all that
    tells of the record are their biases."""
    far = 9 * case.noise + 2 * (case.up + case.down)
    space = Space.line(-far, far)

    def released(up: int) -> Floats:
        bias = Bias.of(up, case.down, in_lots(SAMPLED, STEPS), case.noise)
        one = np.exp(bias.log_density(space.points)) * space.weights
        return one if case.settings == 1 else np.outer(one, one)

    pair = released(case.up), released(case.up - 1)
    return max(
        float(np.maximum(one - math.exp(epsilon) * two, 0).sum()) for one, two in (pair, pair[::-1])
    )


def exact_deltas(case: Case, selection: Selection, epsilon: float) -> dict[str, float]:
    """The delta at this epsilon, in the worse direction, between a table and the one where a record
    of class 1 is null: of the training part, of the validation part."""
    far = 9 * case.noise + 2 * (case.up + case.down)
    high = case.right + 9 * case.score_noise
    low = case.goal if case.procedure == "threshold" else -9 * case.score_noise
    biases, scores = Space.line(-far, far, 1000), Space.line(low, high, 1000)

    def released(up: int, right: int) -> Released:
        bias = Bias.of(up, case.down, in_lots(SAMPLED, STEPS), case.noise)
        return Released(bias, Run(bias.above, right, case.score_noise), selection, biases, scores)

    whole = released(case.up, case.right)
    others = {
        "training": released(case.up - 1, case.right),
        "validation": released(case.up, case.right - 1),
    }
    return {
        side: max(whole.delta(epsilon, other), other.delta(epsilon, whole))
        for side, other in others.items()
    }
