"""The evaluation of the released model: noisy counts of test rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from honestdp.engine.answers import PLAIN, Answers
from honestdp.engine.examples import Examples
from honestdp.engine.models import Model
from honestdp.engine.score import cell_counts
from honestdp.evaluation import Evaluation
from honestdp.evaluation.counts import Level
from honestdp.evaluation.words import plural
from honestdp.planning.plan import Plan
from honestdp.planning.test_part import group_values
from honestdp.procedures import Outcome
from honestdp.randomness import Purpose, Randomness
from honestdp.runner.private_data import PrivateData


def evaluate(
    plan: Plan,
    models: Sequence[Model],
    kept: Sequence[Outcome],
    data: PrivateData,
    randomness: Randomness,
    answers: Answers = PLAIN,
) -> Evaluation | None:
    """Evaluate the winner on the test rows; None if there are none, or no winner.

    Counts are whole numbers, and what is added is a Gaussian draw rounded to whole numbers, drawn
    exactly: the Gaussian mechanism of noise multiplier `plan.test_noise`, rounded after the noise
    (`evaluation.counts` has the theorem). A run that is interrupted before its files are staged
    evaluates again with fresh noise; nobody has seen the first draw.

    Args:
        plan: The plan.
        models: The model of each setting.
        kept: The outcomes that are released, the winner first.
        data: The rows. Sensitive.
        randomness: The run's.
        answers: How the winner's outputs become answers.
    """
    evaluator = plan.evaluator
    if evaluator is None or not kept:
        return None
    winner = kept[0]
    rows = data.of(winner.draw).test
    assert rows is not None
    model, parameters = models[winner.draw.setting], winner.parameters
    deviation = plan.count_noise

    def noisy(stream: int, level: Level, parts: Sequence[Examples]) -> NDArray[np.float64]:
        """The counts of a level on each of several parts of the rows."""
        exact = np.concatenate(
            [exact_counts(level, model, parameters, part, answers) for part in parts]
        )
        noise = randomness.rounded_normals(Purpose.TEST, stream, 0, deviation, len(exact))
        return (exact + np.asarray(noise, dtype=np.int64)).astype(np.float64)

    counts = {
        level.name: noisy(place, level, [rows.all]).reshape(level.shape)
        for place, level in enumerate(evaluator.levels)
    }
    groups: list[tuple[str, NDArray[np.float64]]] = []
    column = plan.spec.groups
    if column is not None:
        found = noisy(len(evaluator.levels), evaluator.grouped, rows.groups)
        names = group_values(plan.spec.schema, column)
        shape = (len(names), *evaluator.grouped.shape)
        groups = list(zip(names, found.reshape(shape), strict=True))
    unit = plural(plan.spec.schema.unit)
    return evaluator.evaluation(plan.spec.test_rows, deviation, counts, column or "", groups, unit)


def exact_counts(
    level: Level, model: Model, parameters: Tensor, rows: Examples, answers: Answers = PLAIN
) -> NDArray[np.int64]:
    """The counts without noise. Sensitive."""
    params = torch.atleast_2d(parameters)
    found = cell_counts(level.cells, level.size, model, params, rows, answers)
    return found[0].cpu().numpy()
