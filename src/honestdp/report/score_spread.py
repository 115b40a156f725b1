"""How far a released score may be off: the noise that was added, and the sampling of its rows."""

from __future__ import annotations

import math

from honestdp.errors import InputError
from honestdp.metrics import metrics
from honestdp.release.card import METRIC_IS_MEAN, Card
from honestdp.report.inputs import Declared


def tuning_share(declared: Declared) -> float | None:
    """The share of rows in the tuning subset; None without one."""
    return declared.search.request.among(len(declared.grid)).tuning_share


def scored_rows(declared: Declared) -> float:
    """Number of rows that a score sums over; the expected number if it is secret."""
    return declared.validation_rows * (tuning_share(declared) or 1.0)


def score_noise(card: Card, declared: Declared) -> float | None:
    """The standard deviation of a score's noise, in the unit of the score; None where it follows
    from more than the card has."""
    if card.declared_public.get(METRIC_IS_MEAN) is False:
        return None
    noise = [access.noise for access in card.covered if access.what.startswith("validation")]
    if not noise or not declared.validation_rows:
        raise InputError("card.json: has scores, but no access that made them private")
    return noise[0] / scored_rows(declared)


def bound_of(card: Card) -> float | None:
    """The largest value of the metric for a row; None if the metric is not installed."""
    name = card.metric.name
    return metrics.get(name).bound if name in metrics else None


def score_spread(card: Card, declared: Declared, score: float) -> float | None:
    """The standard deviation of a score: of its noise, and of the draw of the rows that it is a
    mean over; that of the noise alone if the metric is not installed. None where the card does not
    say how large the noise is.

    The mean of values in [0, b] around m has at most the variance m (b - m) / rows (Bhatia & Davis
    2000), with equality where values are 0 or b, as right and wrong answers are.

    Args:
        card: The card.
        declared: Its public facts.
        score: The score, a noisy mean.
    """
    noise, bound = score_noise(card, declared), bound_of(card)
    if noise is None:
        return None
    if bound is None:
        return noise
    mean = min(max(score, 0.0), bound)
    return math.sqrt(noise**2 + mean * (bound - mean) / scored_rows(declared))


def spread_words(card: Card) -> str:
    """What the standard deviation of a score holds."""
    if bound_of(card) is None:
        return "the noise that was added (what sampling adds is not known of this metric)"
    return "the noise that was added and the sampling of these rows"
