"""How many candidates a budget can afford, under each procedure. Public inputs only."""

from __future__ import annotations

from functools import partial

from honestdp.errors import open_unit
from honestdp.planning.costs import checked_delta
from honestdp.privacy import calibrate
from honestdp.privacy.events import checked_noise
from honestdp.procedures import Training, procedures
from honestdp.procedures.base import SUBSET

MOST = 10_000  # "as many as you like" beyond


def affordable(
    *,
    n: int,
    lot_size: int,
    steps: int,
    noise_multiplier: float,
    epsilon: float,
    delta: float,
    subset: float = SUBSET,
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
        option = procedures.get(name).make(candidates, {"subset": subset})  # E[K] = candidates
        return option.epsilon(option.usual_bound, job, noise_multiplier, delta)

    names = [kind.name for kind in procedures if kind.selects]
    return {name: calibrate.candidates(partial(cost, name), epsilon, MOST) for name in names}
