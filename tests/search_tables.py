"""A small table with something to learn, and specs for every procedure."""

from __future__ import annotations

import numpy as np

from honestdp.planning.spec import Spec
from honestdp.schema import Categorical, Numeric, Schema, Target

ROWS = 400
SCHEMA = Schema(
    name="toy",
    columns=(
        Numeric(name="x", bounds=(0.0, 1.0), encode="linear"),
        Numeric(name="z", bounds=(0.0, 1.0), encode="linear"),
        Categorical(name="c", categories=("a", "b")),
    ),
    target=Target(column="y", classes=("no", "yes")),
    row_scale=1.0,  # rows as they are
)
NUMBERS = SCHEMA.model_copy(update={"target": Target(column="y", bounds=(-1.0, 1.0))})
GRID = {"rule": "dpsgd", "learning_rate": [0.01, 0.1, 1.0, 4.0]}


def table(rows: int = ROWS, numbers: bool = False) -> dict[str, list]:
    rng = np.random.default_rng(1)
    x, z = rng.random(rows), rng.random(rows)
    y = x - z if numbers else np.where(x > z, "yes", "no")
    return {"x": x.tolist(), "z": z.tolist(), "c": rng.choice(["a", "b"], rows).tolist(),
            "y": y.tolist()}  # fmt: skip


def spec(schema: Schema = SCHEMA, **options) -> Spec:
    wanted = {"rows": ROWS, "epsilon": 3.0, "delta": 1e-4, "steps": 20, "lot_size": 40}
    return Spec(schema=schema, **{**wanted, **options})


# One of each: what is asked, and whether every candidate may leave.
PROCEDURES = {
    "untuned": ({}, True),
    "composition": ({"grid": GRID}, True),
    "pick": ({"grid": GRID, "procedure": "composition", "scores": False}, True),
    "random-stopping": ({"grid": GRID}, False),
    "liu-talwar": ({"grid": GRID, "procedure": "random-stopping", "bound": "liu-talwar"}, False),
    "threshold": ({"grid": GRID, "threshold": 0.5}, False),
    "threshold-capped": (
        {"grid": GRID, "procedure": "threshold", "threshold": 0.5, "cap": 5},
        False,
    ),
    "random-repeats": ({"grid": GRID}, False),
    "logarithmic": ({"grid": GRID, "procedure": "random-repeats", "shape": 0.0}, False),
    "negative-shape": (
        {"grid": GRID, "procedure": "random-repeats", "shape": -0.5, "cap": 9},
        False,
    ),
    "poisson": ({"grid": GRID, "procedure": "random-repeats", "shape": "poisson"}, False),
    "optimal": ({"grid": GRID, "procedure": "random-repeats", "shape": "optimal"}, False),
    "random-subset": ({"grid": GRID}, False),
    "subset-tuning": ({"grid": GRID, "subset": 0.3}, False),
}


def asked(name: str, **options) -> Spec:
    given, _ = PROCEDURES[name]
    return spec(**{"procedure": name, **given, **options})
