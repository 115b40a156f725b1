"""Bounds that are learnt within outer ranges far too wide, against declared ones.

Two made-up tables of 8,000 hospital stays to train on and 2,000 to test on: four skewed columns
whose largest number is about 2,650 (log-normal costs and laboratory bills, days, drugs), and
  readmitted  whose log-odds are straight lines in the logarithms: what counts is in the middle
  costly      whose log-odds are straight lines in the numbers: 9 in 100 rows, all in the tails
Each column is declared with round bounds, or `bounds = "learn"` within an outer range, and encoded
in one of the ways below, at epsilon 1.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from honestdp.planning.make import make_plan
from honestdp.planning.plan import Plan
from honestdp.planning.spec import Spec
from honestdp.runner.run import run
from honestdp.schema import Schema

EPSILON = 1.0
TRAINED, TESTED = 8_000, 2_000
TARGETS = ("readmitted", "costly")
BOUNDS = {"cost": 2650.0, "days": 150.0, "laboratory": 2650.0, "drugs": 100.0}
OUTER: dict[str, tuple[float, float] | None] = {
    "declared": None,
    "[0, 1e4]": (0.0, 1e4),
    "[0, 1e6]": (0.0, 1e6),
    "[0, 1e8]": (0.0, 1e8),
    "[-1e6, 1e6]": (-1e6, 1e6),
}
ENCODINGS: dict[str, dict[str, str]] = {
    "default": {},
    "linear": {"encode": "linear"},
    'bins, edges = "learn"': {"encode": "bins", "edges": "learn"},
    'spline, edges = "learn"': {"encode": "spline", "edges": "learn"},
    'linear, scale = "learn"': {"encode": "linear", "scale": "learn"},
}


@cache
def stays(target: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The rows to train on, and those to test on."""
    source = np.random.default_rng(3)
    z = source.normal(size=(TRAINED + TESTED, 4))
    cost = np.minimum(np.exp(4.6 + 0.85 * z[:, 0]), 2650)
    days = np.ceil(np.exp(1.2 + 0.8 * z[:, 1]))
    laboratory = np.minimum(np.exp(3 + z[:, 2]), 2650)
    drugs = np.floor(np.exp(1.5 + 0.7 * z[:, 3]))
    log_odds = {
        "readmitted": z @ [3.5, 2.9, 2.0, -1.6] - 0.6,
        "costly": (cost - 350) / 60 + (days - 6) / 3 + (laboratory - 60) / 25,
    }[target]
    happens = log_odds + source.logistic(size=len(z)) > 0
    table = {"cost": cost, "days": days, "laboratory": laboratory, "drugs": drugs}
    table[target] = happens.astype(np.int64)
    first, last = slice(0, TRAINED), slice(TRAINED, None)
    return tuple({n: c[rows] for n, c in table.items()} for rows in (first, last))  # type: ignore[return-value]


@cache
def plan(target: str, encoding: str, outer: str) -> Plan:
    declared = OUTER[outer]
    columns = [
        {"kind": "numeric", "name": name, **ENCODINGS[encoding]}
        | ({"bounds": [0.0, high]} if declared is None
           else {"bounds": "learn", "outer": list(declared)})
        for name, high in BOUNDS.items()
    ]  # fmt: skip
    facts = {"column": target, "classes": ["0", "1"]}
    schema = Schema.model_validate({"name": "stays", "target": facts, "columns": columns})
    return make_plan(Spec(schema=schema, rows=TRAINED, epsilon=EPSILON))


def outputs(target: str, encoding: str, outer: str, seed: int) -> tuple[Any, Any, dict[str, Any]]:
    """The classes of the test rows, their probabilities, and the bounds that were used."""
    train, test = stays(target)
    release = run(plan(target, encoding, outer), train, seed=seed)
    inputs = {name: cells for name, cells in test.items() if name != target}
    bounds = {column.name: column.range for column in release.schema.columns}  # type: ignore[attr-defined]
    return test[target], release.predictor.predict_proba(inputs, warn=False), bounds
