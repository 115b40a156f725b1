"""A table, a schema and plans small enough to be run, killed and raced by the hundred."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from honestdp.ledger import Ledger
from honestdp.planning.make import make_plan
from honestdp.planning.plan import Plan
from honestdp.planning.spec import Spec
from honestdp.schema import Schema

ROWS = 60
SCHEMA = Schema.from_toml("""
name = "tiny"
target = { column = "pay", classes = ["no", "yes"] }
columns.age = { kind = "numeric", bounds = [0, 100] }
columns.job = { kind = "categorical", categories = ["clerk", "smith"], other = true }
""")
NAMES = {"dataset": SCHEMA.name, "schema": SCHEMA.fingerprint}
GRID = {"rule": "dpsgd", "learning_rate": [0.1, 1.0]}
DELTA = 1e-6


def table() -> dict[str, list[Any]]:
    """No two ages are alike, and no age or odd job is a text that a message might hold."""
    rng = random.Random(3)
    return {
        "age": [round(rng.uniform(20, 60), 7) for _ in range(ROWS)],
        "job": [rng.choice(["clerk", "smith", f"odd-job-{i}"]) for i in range(ROWS)],
        "pay": [rng.choice(["no", "yes"]) for _ in range(ROWS)],
    }


def write_csv(path: Path, columns: dict[str, list[Any]] | None = None) -> Path:
    columns = columns or table()
    rows = [columns, *zip(*columns.values(), strict=True)]
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    return path


def search(**changes: Any) -> Plan:
    """A best-of-K search of three runs or so; `changes` are fields of `Spec`."""
    facts: dict[str, Any] = {"procedure": "random-repeats", "mean_runs": 3.0, "grid": GRID}
    return make_plan(small_spec(**{**facts, **changes}))


def one_training(**changes: Any) -> Plan:
    return make_plan(small_spec(**{"procedure": "untuned", **changes}))


def small_spec(**changes: Any) -> Spec:
    facts: dict[str, Any] = {"schema": SCHEMA, "rows": ROWS, "epsilon": 0.5, "delta": DELTA}
    return Spec(**{**facts, "steps": 10, "lot_size": 6, **changes})


def new_ledger(path: Path, epsilon: float = 1000.0, **changes: Any) -> Ledger:
    return Ledger.create(path, **{**NAMES, "epsilon": epsilon, "delta": DELTA, **changes})
