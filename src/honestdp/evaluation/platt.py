"""`platt`: two classes; slope and offset of the log-odds (Platt 1999), from noisy counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import expit

from honestdp.evaluation.calibration import PRIOR, Calibrator
from honestdp.evaluation.counts import Floats, Level, ratio

# Few and wide bins: each has noise of its own.
EDGES = (-6.0, -3.0, -1.0, 1.0, 3.0, 6.0)
BINS = len(EDGES) + 1
LOG_ODDS = np.array([-7.0, -4.5, -2.0, 0.0, 2.0, 4.5, 7.0])  # those that stand for each bin
LEAST_SLOPE, LEAST_SHARE = 0.05, 1e-3
COUNTED = "class by log-odds"
_STEPS = 100
_X = np.stack([LOG_ODDS, np.ones(BINS)], axis=1)
_START = np.array([1.0, 0.0])


def _cells(loss: Any, outputs: Any, targets: Any) -> Any:
    """Class times bin of the log-odds."""
    bins = (outputs.squeeze(-1).unsqueeze(-1) > outputs.new_tensor(EDGES)).sum(-1)
    known = (targets == 0) | (targets == 1)
    return (BINS * targets + bins).where(known, bins * 0 - 1)


class Platt(Calibrator):
    """Counts of class by log-odds; both slope and offset are corrected."""

    kind = "platt"
    levels = (Level(COUNTED, (2, BINS), _cells),)
    counted = "class and bin of the log-odds"

    def fit(self, counts: Mapping[str, Floats], deviation: float) -> tuple[float, float]:
        return platt(counts[COUNTED], deviation)

    def share(self, counts: Mapping[str, Floats]) -> float | None:
        found = counts[COUNTED]
        share = ratio(found[1].sum(), found.sum())
        return min(max(share, LEAST_SHARE), 1 - LEAST_SHARE)


def platt(counts: Floats, deviation: float) -> tuple[float, float]:
    """Slope a and offset b such that expit(a x + b) is the chance of the second class in the bin
    of log-odds x.

    With P the noisy counts of that class and N those of the rows of a bin, no less than 0, it is
    the maximum of

        w sum(P (a x + b) - N log(1 + e^(a x + b))) - ((a - 1)^2 + b^2) / (2 PRIOR^2),

    which is concave for any P. So P need not be clipped, which would make a rare class too
    frequent. The weight w, from 0 to 1, is the mean share of sampling in the variance of the
    score's two directions; the rest is noise. Where there is little but noise, slope and offset
    stay near 1 and 0.

    Args:
        counts: [class, bin].
        deviation: The standard deviation of the noise of each.
    """
    rows, second = np.maximum(counts.sum(0), 0.0), counts[1]
    weight, ridge = _weight(rows, deviation), np.eye(2) / PRIOR**2

    def goal(at: Floats) -> float:
        z, away = _X @ at, at - _START
        likely = float(second @ z - rows @ np.logaddexp(0, z))
        return weight * likely - float(away @ ridge @ away) / 2

    at = _START
    for _ in range(_STEPS):
        p = expit(_X @ at)
        gradient = weight * (_X.T @ (second - rows * p)) - ridge @ (at - _START)
        step = np.linalg.solve(weight * _information(rows * p * (1 - p)) + ridge, gradient)
        while goal(at + step) < goal(at) and np.abs(step).max() > 1e-9:
            step = step / 2
        at = at + step
        if np.abs(step).max() < 1e-9:
            break
    return max(float(at[0]), LEAST_SLOPE), float(at[1])


def _information(of_bins: Floats) -> Floats:
    return (_X * of_bins[:, None]).T @ _X


def _weight(rows: Floats, deviation: float) -> float:
    """The mean over directions of sampling / (sampling + noise), variances of the score."""
    p = expit(_X @ _START)
    sampling = _information(rows * p * (1 - p))
    noise = deviation**2 * _information(p**2 + (1 - p) ** 2)
    return float(np.trace(np.linalg.solve(sampling + noise, sampling))) / 2
