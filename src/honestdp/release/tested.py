"""What a released model makes of rows with known answers. No noise: for public rows alone."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import r2_score

from honestdp.errors import InputError
from honestdp.release.saved import Released
from honestdp.schema.cells import Cells, cells
from honestdp.schema.encode import encode_target


class Tested(NamedTuple):
    """measure: "accuracy" for classes, "r2" (1 is perfect, 0 as good as the mean) for numbers."""

    measure: str
    value: float
    rows: int


def tested(release: Released, table: Any, answers: Cells) -> Tested:
    """How well the winner answers for these rows."""
    goal, found = release.schema.target, release.predict(table)
    if goal.classes is None:
        numbers = answers.numbers()
        if np.isnan(numbers).any():
            raise InputError("y: some targets are missing or no numbers; leave such rows out")
        return Tested("r2", float(r2_score(numbers, found)), len(found))
    right = encode_target(goal, cells(found)) == encode_target(goal, answers)
    return Tested("accuracy", float(np.mean(right)), len(found))
