"""An optimizer from outside: Nesterov's momentum, all in this file."""

from __future__ import annotations

from honestdp.optimizers import Hyperparameter, Knobs, Optimizer, fraction, optimizers


def nesterov(g, p, velocity, rate, keep):
    velocity = keep * velocity + g
    return p - rate * (g + keep * velocity), velocity


@optimizers.register
class Nesterov(Optimizer):
    """Steps from where the velocity leads."""

    name = "nesterov"
    summary = "gradient descent with Nesterov's momentum"
    hyperparameters = (Hyperparameter("nesterov", 0.9, fraction, "share of the velocity kept"),)
    formulas = (nesterov,)
    slots = ("velocity",)
    scales_with_lot = True

    def coefficients(self, knobs: Knobs, state, t: int):
        return knobs.learning_rate, knobs.nesterov
