"""What a plan says of its evaluation before it is paid: how exact it will be, and for whom."""

from __future__ import annotations

import math

from honestdp.errors import InputError
from honestdp.evaluation import Evaluator
from honestdp.evaluation.binary import Binary
from honestdp.evaluation.expected import expected
from honestdp.planning.test_part import SHARE
from honestdp.privacy import guarantee
from honestdp.privacy.calibrate import noise_multiplier as least_noise
from honestdp.privacy.events import Gaussian
from honestdp.text import up

SHARES = {0.5: "for a group with half of the rows", 0.1: "with a tenth", 0.01: "with a hundredth"}


def evaluation_lines(
    evaluator: Evaluator, rows: int, deviation: float, groups: str | None
) -> list[str]:
    """The lines of a plan.

    Args:
        evaluator: What is counted.
        rows: Number of test rows.
        deviation: The standard deviation of the noise of every count.
        groups: The column of the groups; None without.
    """
    by = f", and by {groups}" if groups else ""
    known = expected(evaluator, rows, deviation)
    lines = [
        f"evaluation: counts of {rows} further rows{by}, each with noise of standard deviation "
        f"{deviation:.3g}: {known.subject} will be known {known.precision} (95 %)"
    ]
    if groups:
        of = [
            f"{expected(evaluator, rows * share, deviation).precision} {name}"
            for share, name in SHARES.items()
        ]
        levels = len(evaluator.levels)
        factor = f"{math.sqrt((levels + 1) / levels):.3g}"
        lines.append(
            f"by {groups}: {', '.join(of)}; groups make the noise of every count {factor} times "
            "as large"
        )
    return lines


def evaluation_note(training_rows: int, epsilon: float, delta: float) -> str | None:
    """What an evaluation would add to a search, of a target with two classes; None where no noise
    that can be drawn fits.

    Args:
        training_rows: Number of rows to train on.
        epsilon: What the search costs them.
        delta: At this delta.
    """
    rows, found = round(training_rows * SHARE / (1 - SHARE)), Binary()
    if not rows or not 0 < epsilon < math.inf:
        return None
    try:
        noise = least_noise(lambda s: guarantee.epsilon(Gaussian(s), delta), epsilon)
    except InputError:
        return None
    known = expected(found, rows, noise * math.sqrt(len(found.levels)))
    return (
        f"Evaluation: the model that comes out, evaluated on a further tenth of the rows ({rows}) "
        f"at epsilon {up(epsilon)}, costs nothing more. Of two classes, {known.subject} would be "
        f"known {known.precision} (95 %)."
    )
