"""A table for kinds that come from outside."""

from __future__ import annotations

import numpy as np

from honestdp import Schema

SCHEMA = Schema(
    name="toy",
    unit="one row",
    target={"column": "y", "classes": ["no", "yes"]},
    columns=[{"name": n, "kind": "numeric", "bounds": [-2, 2]} for n in ("a", "b")],
)


def table(rows: int = 300):
    draws = np.random.default_rng(0)
    a, b = draws.uniform(-2, 2, (2, rows))
    return {"a": a, "b": b, "y": np.where(a + b > 0, "yes", "no")}
