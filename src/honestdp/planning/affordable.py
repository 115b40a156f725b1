"""How many candidates a budget can afford, under each procedure. Public inputs only."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from honestdp.errors import open_unit
from honestdp.planning.costs import checked_delta
from honestdp.planning.procedures import (
    ComposeAll,
    Procedure,
    RandomRepeats,
    RandomStopping,
    SubsetTuning,
    Threshold,
    Training,
)
from honestdp.privacy import calibrate
from honestdp.privacy.calibrate import run_count, stopping_probability
from honestdp.privacy.events import checked_noise

MOST = 10_000  # "as many as you like" beyond

# Each procedure at E[K] = k, with its usually smallest bound.
_WAYS: dict[str, Callable[[int, float], tuple[Procedure, str]]] = {
    "composition": lambda k, subset: (ComposeAll(k), "pld"),
    "random-stopping": lambda k, subset: (RandomStopping(k, stopping_probability(k)), "profile"),
    "random-repeats": lambda k, subset: (RandomRepeats(k, run_count(1.0, k)), "profile"),
    "threshold": lambda k, subset: (Threshold(k, stopping_probability(k)), "profile"),
    "subset-tuning": lambda k, subset: (
        SubsetTuning(k, run_count(1.0, k), subset),
        "papernot-steinke",
    ),
}


def affordable(
    *,
    n: int,
    lot_size: int,
    steps: int,
    noise_multiplier: float,
    epsilon: float,
    delta: float,
    subset: float = 0.1,
) -> dict[str, int]:
    """The most candidates each procedure can choose from within (epsilon, delta).

    0 where not even one run fits, 10000 where there is no limit to speak of. The number of runs
    is the candidates' number in expectation, as in `plan` without a hit probability.

    >>> affordable(n=36177, lot_size=250, steps=2500, noise_multiplier=4, epsilon=1, delta=1e-6)
    ... # doctest: +SKIP
    """
    job = Training(n, lot_size, steps)
    checked_noise(noise_multiplier)
    checked_delta(delta, job.n)
    open_unit("subset", subset)

    def cost(name: str, candidates: int) -> float:
        option, bound = _WAYS[name](candidates, subset)
        return option.epsilon(bound, job, noise_multiplier, delta)

    return {name: calibrate.candidates(partial(cost, name), epsilon, MOST) for name in _WAYS}
