"""The recalibration of the winner: noisy counts of calibration rows, and what follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from honestdp.engine.answers import Answers
from honestdp.engine.models import Model
from honestdp.evaluation import Calibration
from honestdp.planning.calibration_part import threshold_of
from honestdp.planning.plan import Plan
from honestdp.procedures import Outcome
from honestdp.randomness import Purpose, Randomness
from honestdp.runner.evaluating import exact_counts
from honestdp.runner.private_data import PrivateData


@dataclass(frozen=True, eq=False, repr=False)
class Calibrated:
    """The outcomes that are released, the winner first and corrected.

    answers: What of the winner's correction is not in its parameters. calibration: What was counted
    and what followed; None without calibration rows.
    """

    kept: list[Outcome]
    answers: Answers
    calibration: Calibration | None


def calibrate(
    plan: Plan,
    models: Sequence[Model],
    kept: Sequence[Outcome],
    data: PrivateData,
    randomness: Randomness,
) -> Calibrated:
    """Correct the winner's probabilities, and set the threshold of its answers.

    Counts are whole numbers, and what is added is a Gaussian draw rounded to whole numbers, drawn
    exactly: the Gaussian mechanism of noise multiplier `plan.calibration_noise`
    (`evaluation.counts` has the theorem) for the rows counted, which have no other part in the run
    (`planning.role_costs`). The rest is post-processing. A run that is interrupted before its
    files are staged calibrates again with fresh noise; nobody has seen the first draw.

    Args:
        plan: The plan.
        models: The model of each setting.
        kept: The outcomes that are released, the winner first; maybe none.
        data: The rows. Sensitive.
        randomness: The run's.
    """
    if not kept:
        return Calibrated([], Answers(), None)
    winner, *others = kept
    found = _calibration(plan, models, winner, data, randomness)
    threshold = threshold_of(plan.spec.decision_threshold, None if found is None else found.share)
    if found is None:
        return Calibrated([winner, *others], Answers(threshold=threshold), None)
    model = models[winner.draw.setting]
    corrected = model.corrected(winner.parameters, found.slope, found.offset)
    if corrected is None:
        answers = Answers(found.slope, found.offset, threshold)
        return Calibrated([winner, *others], answers, found)
    winner = replace(winner, parameters=corrected)
    return Calibrated([winner, *others], Answers(threshold=threshold), found)


def _calibration(
    plan: Plan, models: Sequence[Model], winner: Outcome, data: PrivateData, randomness: Randomness
) -> Calibration | None:
    calibrator = plan.calibrator
    if calibrator is None:
        return None
    rows, model = data.of(winner.draw).calibration, models[winner.draw.setting]
    assert rows is not None
    deviation = plan.calibration_count_noise
    counts = {}
    for place, level in enumerate(calibrator.levels):
        exact = exact_counts(level, model, winner.parameters, rows)
        noise = randomness.rounded_normals(Purpose.CALIBRATION, place, 0, deviation, len(exact))
        noisy = exact + np.asarray(noise, dtype=np.int64)
        counts[level.name] = noisy.astype(np.float64).reshape(level.shape)
    return calibrator.calibration(plan.spec.calibration_rows, deviation, counts)
