"""A guess, before anything is paid, of how good a model will be: from curves of public tables.

Nothing of the table itself goes into it but its public number of rows. The curves are simulations
of default plans (`benchmarks/learning_curves.py`): how much of what a model without privacy gains
over always the same answer is kept, by rows times epsilon. Tables differ, so it is a range.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

CURVES = Path(__file__).with_name("learning_curves.json")
NEAR = 2.0  # cells within this factor of the plan's rows times epsilon


@dataclass(frozen=True)
class Guess:
    """How good a model is likely to be.

    Attributes:
        low, high: The least and the largest share kept of what rows allow, over the public tables.
        tables: Number of tables that it is from.
        beyond: Whether there are more rows times epsilon than any curve has.
    """

    low: float
    high: float
    tables: int
    beyond: bool

    def __str__(self) -> str:
        least, most = (f"{100 * min(max(share, 0.0), 1.0):.0f}" for share in (self.low, self.high))
        span = f"at least {least} %" if self.beyond else f"{least} to {most} %"
        return (
            f"a guess, from {self.tables} public tables and not from yours: so many rows at this "
            f"epsilon keep {span} of what a model without privacy gains over always the same answer"
        )

    def to_dict(self) -> dict[str, object]:
        """The guess as JSON has it."""
        return {"kept": [self.low, self.high], "tables": self.tables, "stamp": "a guess"}


def guess(rows: int, epsilon: float) -> Guess | None:
    """Guess from the cells of every table that are nearest in rows times epsilon.

    Args:
        rows: Number of rows to train on.
        epsilon: What one training may spend.

    Returns:
        The guess; None where there are fewer rows than any curve has.
    """
    wanted = math.log(rows * epsilon)
    every = [cell for cells in _curves().values() for cell in cells]
    reach = [math.log(rows * epsilon) for rows, epsilon, _ in every]
    if wanted < min(reach) - math.log(NEAR):
        return None
    beyond = wanted > max(reach) + math.log(NEAR)
    kept: list[float] = []
    tables = 0
    for cells in _curves().values():
        at = np.array([math.log(rows * epsilon) for rows, epsilon, _ in cells])
        gaps = np.abs(at - min(wanted, max(reach)))
        near = gaps <= math.log(NEAR)
        tables += bool(near.any())
        kept += [share for (_, _, share), use in zip(cells, near, strict=True) if use]
    return Guess(min(kept), max(kept), tables, beyond) if kept else None


@cache
def _curves() -> dict[str, list[tuple[int, float, float]]]:
    """The cells of every table: rows, epsilon, share kept."""
    found: dict[str, list[tuple[int, float, float]]] = {}
    for name, rows, epsilon, kept in json.loads(CURVES.read_text())["cells"]:
        found.setdefault(name, []).append((rows, epsilon, kept))
    return found
