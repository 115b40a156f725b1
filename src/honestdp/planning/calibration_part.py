"""The calibration part and the threshold of answers: what they may be, by public facts alone.

Calibration rows have no part in the training, the choice or the evaluation: noisy counts of them
correct the probabilities of the released model.
"""

from __future__ import annotations

from honestdp.errors import fail
from honestdp.planning.test_part import LEAST_PRECISION, LEAST_ROWS

SHARE = 0.05
BALANCED, COST = "balanced", "cost:"
_FORMS = f'must be a probability between 0 and 1, "{BALANCED}", or a cost ratio such as "{COST}5"'


def calibration_rows(
    rows: int, epsilon: float, share: float | str, classes: int | None, weighs: bool = False
) -> int:
    """Number of calibration rows.

    By default a twentieth, of tables with classes that have at least 1,000 rows and at least
    2,000 / epsilon: docs/calibration.md has the measurements. With fewer, noise leaves next to
    nothing to correct by. None by default where classes are weighed in the loss: weights are asked
    for to move the answers, and corrected probabilities would move them back.

    Args:
        rows: Number of rows of the table.
        epsilon: The budget.
        share: The share asked for; "auto": by the rule.
        classes: Number of classes of the target; None for a number.
        weighs: Whether a setting weighs classes in its loss.
    """
    if isinstance(share, str):
        enough = rows >= LEAST_ROWS and rows * epsilon >= LEAST_PRECISION
        share = SHARE if enough and classes is not None and not weighs else 0.0
    found = round(share * rows)
    if share and not 0 < found < rows:
        remedy = f"leaves no rows to calibrate or to train on, of {rows}; change it"
        raise fail("calibration_share", share, remedy)
    return found


def check_calibrating(share: object, classes: int | None) -> None:
    """Raise InputError unless there can be such a share of calibration rows.

    Args:
        share: The share; "auto": by the rule.
        classes: Number of classes of the target; None for a number.
    """
    if share == "auto":
        return
    number = isinstance(share, (int, float)) and not isinstance(share, bool)
    if not number or not 0 <= share < 1:  # type: ignore[operator]
        remedy = 'must be a share of the rows, from 0 (none) to below 1, or "auto"'
        raise fail("calibration_share", share, remedy)
    if share and classes is None:
        raise fail("calibration_share", share, "corrects probabilities, the target is a number")


def check_threshold(threshold: object, classes: int | None, calibrates: bool) -> None:
    """Raise InputError unless answers can be told apart by such a threshold.

    Args:
        threshold: A probability, "balanced" or a cost ratio; None: 0.5.
        classes: Number of classes of the target; None for a number.
        calibrates: Whether there are calibration rows.
    """
    if threshold is None:
        return
    public_threshold(threshold)
    if classes != 2:
        what = "a number" if classes is None else f"one of {classes} classes"
        raise fail("decision_threshold", threshold, f"is for two classes, the target is {what}")
    if threshold == BALANCED and not calibrates:
        remedy = "follows from counts of calibration rows; give a calibration_share, such as 0.1"
        raise fail("decision_threshold", threshold, remedy)


def public_threshold(threshold: object) -> float | None:
    """The probability of the second class above which it is the answer, where that is public; None
    if it follows from counts, or is the usual 0.5.

    If missing a row of the second class costs r times as much as a false alarm, the answer with the
    least expected cost is the second class where (1 - p) < r p, that is above 1 / (1 + r).

    Args:
        threshold: A probability, "balanced" or a cost ratio; None: 0.5.
    """
    if threshold is None or threshold == BALANCED:
        return None
    found: object = threshold
    if isinstance(threshold, str):
        try:
            ratio = float(threshold.removeprefix(COST)) if threshold.startswith(COST) else 0.0
        except ValueError:
            ratio = 0.0
        found = 1 / (1 + ratio) if ratio > 0 else None
    if isinstance(found, bool) or not isinstance(found, (int, float)) or not 0 < found < 1:
        raise fail("decision_threshold", threshold, _FORMS)
    return float(found)


def threshold_of(threshold: object, share: float | None) -> float | None:
    """The threshold of a released model; None: 0.5.

    "balanced" is the noisy share of the second class: where p is the chance of that class and q its
    share, (1/2)(sensitivity + specificity) is largest if the answer is that class where p/q exceeds
    (1 - p)/(1 - q), that is where p exceeds q.

    Args:
        threshold: A probability, "balanced" or a cost ratio; None: 0.5.
        share: The noisy share of the second class among calibration rows; None without them.
    """
    return share if threshold == BALANCED else public_threshold(threshold)


def threshold_words(threshold: object) -> str:
    """What a threshold is, in words.

    Args:
        threshold: A probability, "balanced" or a cost ratio.
    """
    if threshold == BALANCED:
        return "the noisy share of the second class among calibration rows"
    found = f"{public_threshold(threshold):.4g}"
    return f"{found} (for {threshold})" if isinstance(threshold, str) else found
