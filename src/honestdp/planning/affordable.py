"""How many candidates a budget can afford, under each procedure. Public inputs only."""

from __future__ import annotations

import warnings

from honestdp.errors import InputError, open_unit
from honestdp.planning.costs import checked_delta
from honestdp.privacy import calibrate
from honestdp.privacy.events import checked_noise
from honestdp.procedures import Procedure, Training, procedures
from honestdp.procedures.base import SUBSET_SHARE
from honestdp.procedures.checks import made, priced

MOST = 10_000  # candidates: the count stops here


def affordable(
    *,
    n: int,
    lot_size: int,
    steps: int,
    noise_multiplier: float,
    epsilon: float,
    delta: float,
    subset: float = SUBSET_SHARE,
) -> dict[str, int]:
    """Compute how many candidates each procedure can choose from within (epsilon, delta).

    The expected number of runs is the number of candidates, as in `cost_table` without a
    `hit_probability`.

    A procedure that needs an option of its own cannot be made from these facts: it is left out with
    a warning.

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

    found: dict[str, int] = {}
    run = job.event(noise_multiplier)
    for kind in procedures:
        if kind.selects:
            try:
                made(kind, 1, {"subset": subset})
            except InputError as error:
                warnings.warn(f"{kind.name} is left out: {error}", stacklevel=2)
                continue

            def cost(candidates: int, kind: type[Procedure] = kind) -> float:
                option = made(kind, candidates, {"subset": subset, "mean_runs": candidates})
                return priced(option, option.usual_bound, run, run, delta)

            found[kind.name] = calibrate.candidates(cost, epsilon, MOST)
    return found
