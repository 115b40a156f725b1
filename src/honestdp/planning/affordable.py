"""How many candidates a budget can afford, under each procedure. Public inputs only."""

from __future__ import annotations

from functools import partial

from honestdp.errors import open_unit
from honestdp.planning.costs import checked_delta
from honestdp.privacy import calibrate
from honestdp.privacy.events import checked_noise
from honestdp.procedures import Training, procedures
from honestdp.procedures.base import SUBSET

MOST = 10_000  # candidates: the count stops here


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
    """Compute how many candidates each procedure can choose from within (epsilon, delta).

    The expected number of runs is the number of candidates, as in `cost_table` without a
    `hit_probability`.

    Args:
        n: Number of records in the training part.
        lot_size: Expected number of records in a lot.
        steps: Number of steps of every run.
        noise_multiplier: Noise of every run.
        epsilon: Total epsilon.
        delta: Total delta; must be below 1/n.
        subset: Share of the records that subset-tuning tunes on.

    Returns:
        The largest number of candidates by name of procedure: 0 if not even one run fits, 10000
        if that many or more fit.

    Raises:
        InputError: If a value is out of bounds.

    Example:
        >>> affordable(n=1000, lot_size=50, steps=100, noise_multiplier=4, epsilon=1, delta=1e-4)
        {'composition': ..., 'random-repeats': ..., ...}
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
