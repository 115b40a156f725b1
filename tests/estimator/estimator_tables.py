"""A small table that can be learnt, in every kind of container, and searches on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from honestdp import HonestSearch, Ledger, Schema

ROWS = 200
SCHEMA = Schema.from_toml("""
name = "toy"
unit = "one patient"
target = { column = "ill", classes = ["0", "1"] }
columns.a = { kind = "numeric", bounds = [0, 1] }
columns.b = { kind = "numeric", bounds = [0, 1] }
columns.c = { kind = "numeric", bounds = [0, 2] }
""")
WORDS = SCHEMA.model_copy(
    update={"target": SCHEMA.target.model_copy(update={"classes": ("no", "yes")})}
)
NUMBERS = Schema(
    name="toy", columns=SCHEMA.columns, target={"column": "ill", "bounds": (-1.0, 1.0)}
)
GRID = {"rule": "dpsgd", "learning_rate": [0.1, 1.0, 4.0]}
NAMES = ["a", "b", "c"]


def inputs(rows: int = ROWS, seed: int = 1) -> np.ndarray:
    X = np.random.default_rng(seed).random((rows, 3)) * [1, 1, 2]
    return np.where(X < 0.1, 0.0, X)  # something for a sparse matrix to leave out


def targets(X: np.ndarray) -> np.ndarray:
    return (X[:, 0] > X[:, 1]).astype(int)


def frame(X: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(X, columns=NAMES)


X = inputs()
Y = targets(X)


def search(model: Any = "logistic", grid: Any = None, **changes: Any) -> HonestSearch:
    """A simulation, unless a ledger is given."""
    facts: dict[str, Any] = {"epsilon": 8.0, "delta": 1e-3, "steps": 30, "lot_size": 30}
    facts |= {"schema": SCHEMA, "progress": False}
    if "ledger" not in changes:
        facts["random_state"] = 0
    return HonestSearch(model, grid, **{**facts, **changes})


def new_ledger(folder: Path, epsilon: float = 30.0, schema: Schema = SCHEMA) -> Ledger:
    return Ledger.create(folder / "toy.ledger", schema=schema, epsilon=epsilon, delta=1e-2)
