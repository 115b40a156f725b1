"""What an attacker could do against each procedure of a table of costs."""

from __future__ import annotations

from dataclasses import replace

from honestdp.planning.table import Inputs, Row
from honestdp.privacy.attack import attack_bounds
from honestdp.privacy.points import MixedProfile
from honestdp.privacy.profile import TightestProfile
from honestdp.procedures import Procedure, Training
from honestdp.procedures.checks import profile_of


def with_success(row: Row, option: Procedure, job: Training, inputs: Inputs) -> Row:
    """A row with the largest share of right bets on one record, `AttackBounds.success`.

    From the procedure's own profile at the row's noise, as of a record of the training part, the
    larger side; nowhere above what the row's epsilon allows.

    Args:
        row: One with an epsilon and a noise multiplier; any other stays as it is.
        option: The procedure it is of.
        job: The training of every run.
        inputs: Those of the table.
    """
    if row.epsilon is None or row.noise_multiplier is None:
        return row
    run = job.event(row.noise_multiplier)
    own = profile_of(option, run, run, inputs.delta)
    pair = MixedProfile.of_pair(row.epsilon, inputs.delta)
    bounds = attack_bounds(TightestProfile(own, pair), inputs.delta)
    return replace(row, success=bounds.success)
