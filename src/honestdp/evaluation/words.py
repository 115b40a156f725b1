"""An evaluation in words: its sentence, its figures, and what each of them means."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from honestdp.evaluation.base import Evaluation, Figure

ROWS: Final = "rows"  # where nothing better is known
WIDE: Final = 0.3  # a share whose interval is wider is hardly known
UNKNOWN: Final = "?"
UNKNOWN_MEANS: Final = f"  {UNKNOWN}: too few test rows to say; see the interval"
NOT_QUALITY: Final = "the best of several flatters itself, so it is no measure of quality"
UNMEASURED: Final = "how good the model is, nobody measured: no rows were held out for it"
MEANINGS: Final = {
    "accuracy": "share of right answers",
    "balanced accuracy": "the mean, over the classes, of the share of right answers",
    "sensitivity": "share of right answers among rows of the second class",
    "specificity": "share of right answers among rows of the first class",
    "precision": "share of rows answered with the second class that are of it",
    "AUC": "how often a row of the second class scores higher than one of the first class",
    "log loss": "mean of -ln of the probability that a row's own class got; smaller is better",
    "Brier score": "mean squared error of the probability; smaller is better",
    "mean probability minus share": "above 0: probabilities of the second class are too high",
    "mean absolute error": "in the unit of the target; smaller is better",
    "root mean squared error": "as before, but large errors count more; smaller is better",
    "R2": "share of the variance explained; 1 is best",
}

_ODD = {"person": "people", "child": "children", "man": "men", "woman": "women"}
_AFTER = {"of", "in", "at", "by", "to", "from", "for", "on", "per", "with", "who", "that", "and"}
_LONGEST = 60


def plural(unit: str) -> str:
    """What several rows stand for: "one patient" gives "patients"; "rows" where that is unclear.

    Args:
        unit: What one row stands for, as the schema says it.

    Example:
        >>> plural("one visit of a patient")
        'visits of a patient'
    """
    article, *words = unit.split() or [""]
    plain = all(word.replace("-", "").isalpha() for word in words)
    if article not in ("one", "a", "an") or not words or not plain or len(unit) > _LONGEST:
        return ROWS
    after = [place for place, word in enumerate(words) if word in _AFTER]
    head = (after[0] if after else len(words)) - 1
    if head < 0:
        return ROWS
    return " ".join([*words[:head], _plural(words[head]), *words[head + 1 :]])


def _plural(word: str) -> str:
    if word in _ODD:
        return _ODD[word]
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "ch", "sh")) else f"{word}s"


def within(figure: Figure) -> float:
    """The estimate, moved into its interval: noise may take it to where nothing can be."""
    return min(max(figure.value, figure.low), figure.high)


def hardly_known(figure: Figure) -> bool:
    """Whether the interval is so wide that the figure says little.

    Args:
        figure: A share, or another figure of which more is better, within 0.3; errors and losses
            within their own size.
    """
    width = figure.high - figure.low
    if figure.unit == "share" or figure.larger_is_better:
        return width > WIDE
    return width > within(figure)


def shown(value: float, unit: str) -> str:
    """A value of a figure.

    Args:
        value: The value.
        unit: The figure's: a share is shown in percent.
    """
    return f"{100 * value:.1f} %" if unit == "share" else f"{value:.3g}"


def estimate_of(figure: Figure) -> str:
    """The estimate; a question mark where the interval is too wide for one."""
    return UNKNOWN if hardly_known(figure) else shown(within(figure), figure.unit)


def baseline(figure: Figure) -> str:
    """The figure of always the same answer; empty if it has none."""
    value = figure.baseline
    if value is None:
        return ""
    if figure.unit == "share" and not 0 <= value <= 1:  # of noise alone
        return UNKNOWN
    return shown(value, figure.unit)


def interval(figure: Figure) -> str:
    """The 95 % interval of a figure; empty where there is no doubt about it."""
    if figure.low == figure.high:
        return ""
    if figure.unit == "share":
        return f"{100 * figure.low:.1f} to {100 * figure.high:.1f} %"
    return f"{figure.low:.3g} to {figure.high:.3g}"


def around(value: float, low: float, high: float, least: int = -9) -> tuple[str, str]:
    """A value and a half-width, rounded so that they still cover the interval.

    Args:
        value: The estimate, inside the interval.
        low, high: The interval.
        least: The least number of digits after the point; below 0, tens or hundreds.
    """
    half = max(high - value, value - low, 1e-9)
    digits = max(-math.floor(math.log10(half)), least)
    middle = round(value, digits)
    wider = max(high - middle, middle - low)
    give = math.ceil(wider * 10.0**digits - 1e-9) / 10.0**digits
    places = max(digits, 0)
    return f"{middle:.{places}f}", f"{give:.{places}f}"


def right_of_hundred(evaluation: Evaluation) -> str:
    """The accuracy of an evaluation in words.

    Args:
        evaluation: One with an "accuracy".
    """
    accuracy, who = evaluation["accuracy"], f"of 100 {evaluation.unit} like these"
    low, high = 100 * accuracy.low, 100 * accuracy.high
    if hardly_known(accuracy):
        between = f"right for between {_whole(low, high)} {who}"
        return f"{between}: too few test rows to say more"
    middle, give = around(100 * within(accuracy), low, high, least=0)
    found = f"right for {middle} {who}, give or take {give}"
    if accuracy.baseline is None:
        return found
    plain = f"{100 * accuracy.baseline:.0f}"
    if accuracy.low <= accuracy.baseline:
        if _tells_classes_apart(evaluation):
            recall, others = evaluation["sensitivity"].value, evaluation["specificity"].value
            return (
                f"{found}; it finds {100 * recall:.0f} of 100 of the second class, and is right "
                f"for {100 * others:.0f} of 100 others (always the same answer is right for "
                f"{plain} of 100, and finds none)"
            )
        return f"{found}; not shown to be better than always the same answer, right for {plain}"
    return f"{found}; always the same answer is right for {plain}"


def _tells_classes_apart(evaluation: Evaluation) -> bool:
    """Whether both of two classes are shown to be found more often than by a guess."""
    found = {one.name: one for one in evaluation.figures}
    balanced = found.get("balanced accuracy")
    known = {"sensitivity", "specificity"} <= found.keys()
    return known and balanced is not None and balanced.low > (balanced.baseline or 0.5)


def _whole(low: float, high: float) -> str:
    """An interval in whole numbers that hold it."""
    return f"{math.floor(low + 1e-6)} and {math.ceil(high - 1e-6)}"


def plain_number(value: float) -> str:
    """A number with two digits, without an exponent."""
    return f"{float(f'{value:.2g}'):,.10g}"


def off_on_average(evaluation: Evaluation) -> str:
    """The mean error of an evaluation of numbers in words.

    Args:
        evaluation: One with a "mean absolute error" and an "R2".
    """
    error, r2 = evaluation["mean absolute error"], evaluation["R2"]
    like = f"for {evaluation.unit} like these"
    if hardly_known(error):
        ends = f"{plain_number(error.low)} and {plain_number(error.high)}"
        between = f"off by between {ends} on average {like}"
        return f"{between}: too few test rows to say more"
    ends = f"between {error.low:.3g} and {error.high:.3g}"
    found = f"off by {within(error):.3g} on average {like} ({ends})"
    if error.baseline is not None:
        plain = f"{error.baseline:.3g}"
        if error.high >= error.baseline:
            return f"{found}; not shown to be better than always the mean, off by {plain}"
        found += f"; always the mean is off by {plain}"
    if r2.low <= 0:
        return found
    low, high = (100 * min(one, 1.0) for one in (r2.low, r2.high))
    return f"{found}; it explains between {_whole(low, high)} % of the variance"
