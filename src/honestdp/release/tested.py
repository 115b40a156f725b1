"""Evaluate a released model on rows with known targets. No noise: for public rows only."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import r2_score

from honestdp.release.saved import Released
from honestdp.schema.cells import Cells, cells


class Tested(NamedTuple):
    """measure: "accuracy" for classes, "r2" (1 is perfect, 0 as good as the mean) for numbers, on
    `rows`. unknown: further rows whose target is missing, no number or no declared class."""

    measure: str
    value: float
    rows: int
    unknown: int


def tested(release: Released, table: Any, answers: Cells) -> Tested:
    """Evaluate the winner on these rows."""
    goal, found = release.schema.target, release.predict(table, warn=False)
    there = goal.known(answers)
    counts = int(there.sum()), int((~there).sum())
    if goal.classes is None:
        return Tested("r2", float(r2_score(answers.numbers()[there], found[there])), *counts)
    right = goal.encode(cells(found)) == goal.encode(answers)
    return Tested("accuracy", float(np.mean(right[there])), *counts)
