"""What the noise alone makes of a parameter: a training in which every gradient is zero.

Public facts in, a public number out: no row of anybody's is read.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import torch

from honestdp.candidates import Candidate
from honestdp.engine.examples import examples
from honestdp.engine.models.linear import Linear
from honestdp.engine.train import Schedule, train
from honestdp.errors import fail
from honestdp.optimizers import optimizer
from honestdp.randomness import Randomness

SAMPLES = 8192  # parameters of a simulation: a standard deviation within 1 % of the truth
MOST_STEPS = 1_000_000  # of a simulation: a card may come from a stranger, and say any number


def noise_sd(candidate: Candidate, schedule: Schedule, parameters: int) -> float:
    """The standard deviation that the noise of a training alone gives one of its parameters.

    By the formula of the candidate's rule where it has one, otherwise by a simulation.

    Args:
        candidate: The candidate.
        schedule: Its steps and lot size.
        parameters: How many parameters the model has; some rules look at all of them together.

    Raises:
        InputError: If it would have to be simulated, with more than MOST_STEPS steps.

    Example:
        >>> one = Candidate(noise_multiplier=2.0, rule="dpsgd", learning_rate=0.5)
        >>> noise_sd(one, Schedule(steps=100, lot_size=10), parameters=50)
        1.0
    """
    rule = optimizer(candidate.rule)
    knobs = rule.knobs([candidate], schedule.steps, schedule.lot_size)
    known = rule.noise_sd(knobs, candidate.average)
    if known is not None:
        return float(known[0])
    return simulated_noise_sd(candidate, schedule, parameters)


def simulated_noise_sd(candidate: Candidate, schedule: Schedule, parameters: int) -> float:
    """As `noise_sd`, always by a simulation: trainings on a null row, which has no gradient."""
    if schedule.steps > MOST_STEPS:
        raise fail("steps", schedule.steps, f"more than {MOST_STEPS} are not simulated")
    parameters = max(2, min(parameters, SAMPLES))
    count = math.ceil(SAMPLES / parameters)
    model = Linear(features=parameters - 1, classes=2)
    null = examples(np.zeros((1, parameters - 1), np.float32), np.array([-1]))
    found = train(
        model,
        null,
        [candidate] * count,
        replace(schedule, sampling_probability=1.0),
        Randomness.simulation(0),
        initial=torch.zeros(count, parameters),
        workers=1,
    )
    return float(found.stacked.double().square().mean().sqrt())
