"""One release of each kind, made once."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import torch
from torch import nn

from honestdp import Ledger, Release, Spec, make_plan
from honestdp.engine import Module
from honestdp.runner.run import run
from honestdp.schema import Categorical, Numeric, Schema, Target

ROWS = 60
SCHEMA = Schema(
    name="toy",
    unit="one patient",
    columns=(
        Numeric(name="x", bounds=(0.0, 10.0)),
        Categorical(name="c", categories=("a", "b"), other=True),
    ),
    target=Target(column="y", classes=("no", "yes")),
)
NUMBERS = SCHEMA.model_copy(update={"target": Target(column="y", bounds=(0.0, 10.0))})
LEARNT = SCHEMA.model_copy(
    update={"columns": (Numeric(name="x", bounds="learn", outer=(0.0, 20.0)), SCHEMA.columns[1])}
)
GRID = {"rule": "dpsgd", "learning_rate": [0.1, 1.0, 2.5]}


class Net(nn.Module):
    """With something frozen, whose values come from its making."""

    def __init__(self, hidden: int = 4) -> None:
        super().__init__()
        self.first = nn.Linear(4, hidden)
        self.frozen = nn.Linear(hidden, hidden).requires_grad_(False)
        self.last = nn.Linear(hidden, 1)
        self.register_buffer("shift", torch.rand(hidden))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(torch.relu(self.frozen(torch.relu(self.first(x))) + self.shift))


KINDS: dict[str, dict[str, Any]] = {
    "untuned": {},
    "learnt": {"schema": LEARNT},
    "numbers": {"schema": NUMBERS},
    "mlp": {"model": "mlp", "grid": {"rule": "dpadam", "module__width": [3, 5]},
            "procedure": "composition"},
    "composition": {"grid": GRID, "procedure": "composition"},
    "pick": {"grid": GRID, "procedure": "composition", "scores": False},
    "repeats": {"grid": GRID, "procedure": "random-repeats", "mean_runs": 2.0},
    "threshold": {"grid": GRID, "procedure": "threshold", "threshold": 0.01, "mean_runs": 2.0},
    "subset": {"grid": GRID, "procedure": "subset-tuning", "subset": 0.5, "mean_runs": 2.0},
    "module": {"model": Module(Net, classes=2),
               "grid": {"rule": "dpadam", "module__hidden": [3, 6]}, "procedure": "composition"},
}  # fmt: skip


def table(numbers: bool = False) -> dict[str, list[Any]]:
    x = [((7 * i) % 60) / 6 for i in range(ROWS)]
    y = x if numbers else ["yes" if one > 5 else "no" for one in x]
    return {"x": x, "c": ["abz"[i % 3] for i in range(ROWS)], "y": y}


def plan_of(kind: str) -> Any:
    facts: dict[str, Any] = {"rows": ROWS, "epsilon": 2.0, "delta": 1e-4, "steps": 4, "lot_size": 8}
    return make_plan(Spec(**{"schema": SCHEMA, **facts, **KINDS[kind]}))


def new_ledger(path: Path, schema: Schema = SCHEMA, epsilon: float = 2.0) -> Ledger:
    return Ledger.create(path, schema=schema, epsilon=epsilon, delta=1e-4)


@cache
def released(kind: str) -> tuple[Release, Ledger]:
    """A release of production, with its ledger."""
    plan = plan_of(kind)
    while True:  # a threshold's search may end with nothing; these are for what holds something
        ledger = new_ledger(Path(mkdtemp()) / "toy.ledger", plan.spec.schema)
        release = run(plan, table(numbers=kind == "numbers"), ledger)
        if release.winner is not None:
            return release, ledger
