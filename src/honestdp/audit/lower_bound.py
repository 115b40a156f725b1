"""A lower bound on the epsilon of a mechanism, estimated from its outputs.

Definition. M is (epsilon, delta)-DP for the neighbours D, D' if for every event S
`P(M(D) in S) <= exp(epsilon) P(M(D') in S) + delta`, and the same with D and D' exchanged.

Statement. Let `first` and `second` be independent draws of a number computed from M(D), and of
the same number from M(D'). If M is (epsilon, delta)-DP, `epsilon_lower_bound` exceeds epsilon with
probability at most 1 - confidence, whatever the number is and whatever the sizes are.

Proof. The event is fixed by a part of the draws that is not looked at again. On the rest, both
counts are binomial; with alpha = 1 - confidence, its probability under D lies above the lower
Clopper-Pearson limit p at level alpha/2, under D' below the upper one q at level alpha/2, both
at once with probability 1 - alpha. Then `p <= exp(epsilon) q + delta`, so that
`ln((p - delta)/q) <= epsilon`.

Conditions. The draws of one sample are independent and identically distributed, and their order
carries no information. delta is that of the claim. The two samples may depend on each other (the
union bound allows it). A bound below the claim proves nothing: a better number or event might
exceed it.

References: Clopper and Pearson 1934 (the limits); Ding, Wang, Wang, Zhang and Kifer 2018 (an event
chosen on other draws); Jagielski, Ullman and Oprea 2020 (the bound with delta).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import beta

from honestdp.errors import InputError, fail, not_negative, open_unit

Floats = NDArray[np.float64]

_ALPHA = 0.02  # level of the limits that choose the event: any is sound, this one works well


@dataclass(frozen=True)
class LowerBound:
    """A lower bound on epsilon, and the event that it was measured on.

    Attributes:
        epsilon: The bound, at least 0.
        threshold: The event is that the number lies above this, or at or below it.
        above: Whether the event lies above the threshold.
        likelier: The sample for which the event is more likely: "first" or "second".
    """

    epsilon: float
    threshold: float
    above: bool
    likelier: str


def epsilon_lower_bound(
    first: ArrayLike,
    second: ArrayLike,
    delta: float,
    confidence: float = 0.999,
    choosing: float = 0.25,
) -> LowerBound:
    """Compute a lower bound on the epsilon of the mechanism that made these draws.

    Args:
        first: One number per output on the first data set; infinities are allowed.
        second: The same number per output on the neighbouring data set.
        delta: The delta that the mechanism claims.
        confidence: Probability with which the bound holds.
        choosing: Share of the draws, from the beginning, that the event is chosen on; the bound is
            computed on the others.

    Returns:
        The bound and its event.

    Raises:
        InputError: If a sample has fewer than two draws or holds NaN, or a value is out of bounds.

    Example:
        >>> epsilon_lower_bound([0.0] * 1000, [1.0] * 1000, delta=1e-6).epsilon > 4
        True
    """
    if not not_negative("delta", delta) < 1:
        raise fail("delta", delta, "must be at least 0 and below 1")
    alpha = 1 - open_unit("confidence", confidence)
    open_unit("choosing", choosing)
    seen_first, rest_first = _parted("first", first, choosing)
    seen_second, rest_second = _parted("second", second, choosing)
    event = _best_event(seen_first, seen_second, delta)
    sized = [
        (_count(draws, event.threshold, event.above), len(draws))
        for draws in (rest_first, rest_second)
    ]
    one, other = sized if event.likelier == "first" else sized[::-1]
    return replace(event, epsilon=float(_epsilon(*one, *other, delta, alpha)))


def _parted(name: str, draws: ArrayLike, choosing: float) -> tuple[Floats, Floats]:
    """The draws to choose the event on, and those to compute the bound on."""
    found = np.asarray(draws, dtype=np.float64)
    if found.ndim != 1 or len(found) < 2:
        raise InputError(f"{name}: of shape {found.shape}; give a list of at least two draws")
    if np.isnan(found).any():
        raise InputError(f"{name}: holds NaN, which no event orders; give such draws a number")
    cut = min(max(1, round(choosing * len(found))), len(found) - 1)
    return found[:cut], found[cut:]


def _best_event(first: Floats, second: Floats, delta: float) -> LowerBound:
    """The event with the largest bound on these draws. Confidence limits are compared rather than
    raw counts, so that a rare event is not chosen by chance."""
    thresholds = np.unique(np.concatenate([first, second]))
    found = []
    for above in (True, False):
        sized = [(_count(draws, thresholds, above), len(draws)) for draws in (first, second)]
        for likelier, (one, other) in (("first", sized), ("second", sized[::-1])):
            bounds = _epsilon(*one, *other, delta, _ALPHA)
            best = int(np.argmax(bounds))
            found.append(LowerBound(float(bounds[best]), float(thresholds[best]), above, likelier))
    return max(found, key=lambda event: event.epsilon)


def _count(draws: Floats, threshold: Any, above: bool) -> Any:
    """How many draws lie above each threshold, or at or below it."""
    below = np.searchsorted(np.sort(draws), threshold, side="right")
    return len(draws) - below if above else below


def _epsilon(hits: Any, of: int, others: Any, of_others: int, delta: float, alpha: float) -> Any:
    """ln((p - delta)/q), at least 0: p from below by its hits, q from above by the others'."""
    hits, others = np.asarray(hits), np.asarray(others)
    p = np.where(hits == 0, 0.0, beta.ppf(alpha / 2, np.maximum(hits, 1), of - hits + 1))
    missed = of_others - others
    q = np.where(missed == 0, 1.0, beta.ppf(1 - alpha / 2, others + 1, np.maximum(missed, 1)))
    return np.log(np.maximum((p - delta) / q, 1.0))
