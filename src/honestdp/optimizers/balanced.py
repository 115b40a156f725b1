"""Balanced: DPSGD with a step size that follows from public facts, so that none is tuned."""

from __future__ import annotations

import math

from honestdp.errors import fail, positive
from honestdp.optimizers import Hyperparameter, optimizers
from honestdp.optimizers.base import Candidate
from honestdp.optimizers.dpsgd import DPSGD


def balanced_rate(
    kappa: float,
    lot_size: float,
    noise_multiplier: float,
    sensitivity: float,
    steps: int,
    row_norm: float,
) -> float:
    """DPSGD's step size from public facts: `kappa L / (sigma C sqrt(T) B)`.

    With it the noise of the whole training moves a typical logit by kappa: T noises of size
    sigma C/L, each times the rate, add up to rate * sigma C/L * sqrt(T) in each coordinate,
    and a row of norm B turns that into rate * sigma C/L * sqrt(T) * B. Measured, not proved:
    kappa = 3 with averaging, the library's default, is within 1.2 points of the best tuned rate on
    the paper's data, B being measured (`honestdp paper balanced`).
    """
    return kappa * lot_size / (noise_multiplier * sensitivity * math.sqrt(steps) * row_norm)


@optimizers.register
class Balanced(DPSGD):
    """DPSGD at `balanced_rate`: by kappa the noise of the whole training moves a typical logit."""

    name = "balanced"
    summary = "gradient descent whose step size follows from the noise, the steps and the rows"
    hyperparameters = (
        Hyperparameter("kappa", 2.0, positive, "by how much noise may move a typical logit"),
        Hyperparameter("largest_rate", 1e12, positive, "limit on the step size"),
    )
    scales_with_lot = False  # its rate is worked out for every lot size anew
    follows_noise = True

    def check(self, candidate: Candidate) -> None:
        if candidate.learning_rate is not None:
            raise fail(
                "learning_rate", candidate.learning_rate, "balanced sets its own; leave it out"
            )
        if candidate.noise_multiplier == 0:
            raise fail("noise_multiplier", 0, "balanced needs noise above 0; take dpsgd without")
        if candidate.row_norm is None:
            raise fail("row_norm", None, "balanced needs the public norm of the input rows")
        positive("row_norm", candidate.row_norm)

    def rate(self, candidate: Candidate, steps: int, lot_size: float) -> float:
        assert candidate.row_norm is not None
        found = balanced_rate(
            candidate.hyperparameters["kappa"],
            lot_size,
            candidate.noise_multiplier,
            candidate.sensitivity,
            steps,
            candidate.row_norm,
        )
        return min(found, candidate.hyperparameters["largest_rate"])
