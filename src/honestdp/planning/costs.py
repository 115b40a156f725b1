"""`honestdp.cost_table`: what an honest search costs, under every procedure, side by side.

Public inputs only. Given the noise it answers epsilon; given epsilon it answers the noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache

from honestdp.errors import InputError, fail, open_unit, positive, positive_integer
from honestdp.planning.table import CostTable, Inputs, Row
from honestdp.privacy.calibrate import Shape
from honestdp.privacy.calibrate import noise_multiplier as least_noise
from honestdp.privacy.events import checked_noise
from honestdp.procedures import Procedure, Training, procedures
from honestdp.procedures.base import SUBSET_SHARE
from honestdp.procedures.checks import checked_variants, priced
from honestdp.procedures.options import shape
from honestdp.procedures.untuned import Untuned

NEIGHBOURS = (
    "Neighbours: one record replaced by a null record; n is public. Lots are Poisson samples, "
    "independent for every run and step.",
    "Scores: taken on a disjoint validation part with noise that costs no more than the training "
    "side; a record is in one part only, so the larger side counts, and it is the one shown.",
)


SHAPES: tuple[Shape, ...] = (0.0, 1.0, "poisson")  # of the laws of K that a table shows


def default_delta(n: int) -> float:
    """10^(floor(log10(1/n)) - 1): the paper's rule, at most a tenth of 1/n."""
    digits = len(str(positive_integer("n", n) - 1)) if n > 1 else 0
    return float(f"1e-{digits + 1}")


def checked_delta(delta: object, rows: int) -> float:
    """A delta that means something for so many rows.

    At 1/rows or above, to release one row drawn at random, as it is, would count as private.
    """
    found = open_unit("delta", delta)
    if found >= 1 / rows:
        raise fail(
            "delta",
            delta,
            f"must be below 1 in {rows} rows: at that, showing one whole row would count as "
            f"private; leave it out for {default_delta(rows):g}",
        )
    return found


def cost_table(
    *,
    n: int,
    lot_size: int,
    steps: int,
    candidates: int,
    delta: float | None = None,
    noise_multiplier: float | None = None,
    epsilon: float | None = None,
    hit_probability: float | None = None,
    subset: float = SUBSET_SHARE,
    shapes: Sequence[Shape] = SHAPES,
) -> CostTable:
    """Compute what an honest search costs under every known procedure.

    Give `noise_multiplier` to get the epsilon of each procedure, or `epsilon` to get the noise
    multiplier that each needs.

    Args:
        n: Number of records in the training part.
        lot_size: Expected number of records in a lot.
        steps: Number of steps of every run.
        candidates: Number of candidates to choose from.
        delta: Total delta, below 1/n; by default 10^(floor(log10(1/n)) - 1).
        noise_multiplier: Noise of every run.
        epsilon: Total epsilon.
        hit_probability: Search long enough to draw the best candidate with at least this
            probability; by default the expected number of runs is `candidates`.
        subset: Share of the records that subset-tuning tunes on.
        shapes: Shapes of the law of K to show: numbers above -1, "poisson" or "optimal".

    Returns:
        The table, cheapest procedure first.

    Raises:
        InputError: If a value is out of bounds, both or neither of `noise_multiplier` and
            `epsilon` are given, or no procedure has an answer.

    Example:
        >>> table = cost_table(n=1000, lot_size=50, steps=100, candidates=4, noise_multiplier=4)
        >>> table.inputs.delta
        0.0001
    """
    if (noise_multiplier is None) == (epsilon is None):
        raise InputError(
            "give exactly one of noise_multiplier (answers epsilon) and epsilon (answers the "
            f"noise multiplier); got noise_multiplier={noise_multiplier!r}, epsilon={epsilon!r}"
        )
    job = Training(n, lot_size, steps)
    inputs = Inputs(
        n=job.n,
        lot_size=job.lot_size,
        steps=job.steps,
        candidates=positive_integer("candidates", candidates),
        delta=default_delta(job.n) if delta is None else checked_delta(delta, job.n),
        noise_multiplier=None if noise_multiplier is None else checked_noise(noise_multiplier),
        epsilon=_checked(positive, "epsilon", epsilon),
        hit_probability=_checked(open_unit, "hit_probability", hit_probability),
        subset=open_unit("subset", subset),
    )
    options, left_out = _variants(inputs.candidates, inputs.hit_probability, inputs.subset, shapes)
    rows: list[Row] = []
    for option in options:
        for bound in option.bounds:
            start = next((r.noise_multiplier for r in reversed(rows) if r.noise_multiplier), 2.0)
            rows.append(answer(inputs, job, option, bound, start))
        if all(row.epsilon is None for row in rows):  # not even one run: no need to try more
            raise _unreachable(inputs)
    notes = [*NEIGHBOURS, *dict.fromkeys(note for o in options for note in o.assumptions)]
    notes += left_out
    if any(row.epsilon is None for row in rows):
        notes.append(
            "-: this bound has no answer here (no noise reaches the target, or no finite one)."
        )
    field = "noise_multiplier" if inputs.noise_multiplier is None else "epsilon"

    def order(row: Row) -> float:
        value = getattr(row, field)
        return math.inf if value is None else value

    return CostTable(inputs, tuple(sorted(rows, key=order)), tuple(notes))


def variants(
    candidates: int,
    hit_probability: float | None = None,
    subset: float = SUBSET_SHARE,
    shapes: Sequence[Shape] = SHAPES,
) -> list[Procedure]:
    """Every procedure for this many candidates, one run first.

    Without `hit_probability`, E[K] = candidates and gamma = 1/candidates; with it, the laws
    that draw the best candidate at least that often (`Unreachable` for shapes that never do).
    A procedure from outside the library that cannot be made from these alone is left out.
    """
    return _variants(candidates, hit_probability, subset, shapes)[0]


def _variants(
    candidates: int, hit_probability: float | None, subset: float, shapes: Sequence[Shape]
) -> tuple[list[Procedure], list[str]]:
    """As `variants`, with a sentence about each procedure that is left out."""
    k = positive_integer("candidates", candidates)
    open_unit("subset", subset)
    if isinstance(shapes, str) or not isinstance(shapes, Sequence):
        raise fail("shapes", shapes, 'give a list, such as [0, 1, "poisson"]')
    laws = [shape("shape", one) for one in shapes]
    options = {"hit_probability": hit_probability, "subset": subset, "shapes": laws}
    kinds = sorted(procedures, key=lambda kind: kind is not Untuned)
    found: list[Procedure] = []
    left_out: list[str] = []
    for kind in kinds:
        try:
            some = checked_variants(kind, k, options)
            found += some
            if not some:
                how_often = "" if hit_probability is None else " that hits as often"
                left_out.append(f"{kind.name} is left out: no law{how_often} is priced for {k}.")
        except InputError as error:
            if procedures.is_own(kind):
                raise
            left_out.append(f"{kind.name} is left out: {error}.")
    return found, left_out


def answer(inputs: Inputs, job: Training, option: Procedure, bound: str, start: float) -> Row:
    """The row of one bound; `start` is a first guess of the noise, from the row before.

    A bound that cannot answer has None in its row.
    """

    @cache  # the search ends where it has been
    def cost(sigma: float) -> float:
        run = job.event(sigma)
        found = priced(option, bound, run, run, inputs.delta)
        if not math.isfinite(found):
            raise fail("noise_multiplier", sigma, "no finite epsilon; add noise")
        return found

    noise, found = inputs.noise_multiplier, None
    with suppress(InputError):
        if inputs.epsilon is not None:
            noise = least_noise(cost, inputs.epsilon, start)
        assert noise is not None
        found = cost(noise)
    return Row(
        procedure=option.name,
        bound=bound,
        shape=option.shape,
        expected_runs=option.expected_runs,
        max_runs=option.max_runs,
        hit_probability=option.hit_probability,
        epsilon=found,
        delta=inputs.delta,
        noise_multiplier=noise,
    )


def _unreachable(inputs: Inputs) -> InputError:
    if inputs.epsilon is None:
        remedy = "no procedure has a finite epsilon with so little noise; raise it"
        return fail("noise_multiplier", inputs.noise_multiplier, remedy)
    remedy = f"no procedure reaches it at delta={inputs.delta:g}; change epsilon, or raise delta"
    return fail("epsilon", inputs.epsilon, remedy)


def _checked(check: Callable[[str, object], float], name: str, value: float | None) -> float | None:
    return None if value is None else check(name, value)
