"""Runs that stop dead at a chosen point: wherever a file is written or moved, or the ledger is."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from honestdp import Ledger, files
from honestdp.planning.make import make_plan
from honestdp.planning.plan import Plan
from honestdp.planning.spec import Spec
from honestdp.schema import Categorical, Numeric, Schema, Target

ROWS = 60
SCHEMA = Schema(
    name="toy",
    columns=(
        Numeric(name="x", bounds="learn", outer=(-10.0, 10.0)),
        Categorical(name="c", categories=("a", "b")),
    ),
    target=Target(column="y", classes=("no", "yes")),
)
# One of each kind of state that a rule may have.
GRID = [
    {"rule": "dpadam"},
    {"rule": "adadp"},
    {"rule": "dpmomentum", "learning_rate": 0.5},
    {"rule": "dpsgd", "learning_rate": 0.5, "average": True},
]
MIXED = [{"encode": "linear"}, {"model": "mlp", "module__width": 3}, {"encode": "bins"}]
KINDS: dict[str, dict[str, Any]] = {
    "untuned": {},
    "composition": {
        "grid": GRID,
        "procedure": "composition",
        "test_share": 0.2,
        "calibration_share": 0.1,
    },
    "random-repeats": {"grid": GRID, "procedure": "random-repeats", "mean_runs": 3.0},
    "mixed": {"grid": MIXED, "procedure": "random-repeats", "mean_runs": 3.0},
    "threshold": {"grid": GRID, "procedure": "threshold", "threshold": 0.01, "mean_runs": 3.0},
    "subset-tuning": {"grid": GRID, "procedure": "subset-tuning", "subset": 0.5, "mean_runs": 3.0},
}


@lru_cache
def plan_of(kind: str, **changes: Any) -> Plan:
    facts: dict[str, Any] = {"rows": ROWS, "epsilon": 2.0, "delta": 1e-4, "steps": 4, "lot_size": 8}
    return make_plan(Spec(schema=SCHEMA, **{**facts, **KINDS[kind], **changes}))


def table() -> dict[str, list[Any]]:
    numbers = [((7 * i) % 60) / 6 - 5 for i in range(ROWS)]
    return {
        "x": numbers,
        "c": ["ab"[i % 2] for i in range(ROWS)],
        "y": ["yes" if number > 0 else "no" for number in numbers],
    }


def new_ledger(folder: Path, epsilon: float = 2.0) -> Ledger:
    return Ledger.create(folder / "toy.ledger", schema=SCHEMA, epsilon=epsilon, delta=1e-4)


class Killed(SystemExit):
    """What stands for a process that is no more."""


class Bomb:
    """Goes off at the nth point that is passed. Points lie before and after each write."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, at: int) -> None:
        self.left, self.passed = at, 0

        def watched(call: Callable[..., Any]) -> Callable[..., Any]:
            def wrapped(*given: Any, **named: Any) -> Any:
                self._pass()
                found = call(*given, **named)
                self._pass()
                return found

            return wrapped

        monkeypatch.setattr("honestdp.resume.journal.replace_file", watched(files.replace_file))
        monkeypatch.setattr("honestdp.resume.journal.os.replace", watched(os.replace))
        monkeypatch.setattr("honestdp.resume.journal.remove_files", watched(files.remove_files))
        monkeypatch.setattr(Ledger, "reserve", watched(Ledger.reserve))
        monkeypatch.setattr(Ledger, "release", watched(Ledger.release))
        monkeypatch.setattr("honestdp.resume.journal.EVERY", -1.0)  # a note after every step

    def _pass(self) -> None:
        self.passed += 1
        self.left -= 1
        if self.left == 0:
            raise Killed
