"""The planner's answers: the inputs of the page -> `cost_table` and `affordable`, ready for JSON.

Figures are sent as text, rounded as the command prints them: the page draws, it does not compute.
Public inputs only; nothing here reads a file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from honestdp.errors import InputError, fail, positive_integer
from honestdp.planning.affordable import MOST, affordable
from honestdp.planning.costs import cost_table
from honestdp.planning.defaults import USUAL_CANDIDATES, usual_training
from honestdp.planning.likely import guess
from honestdp.planning.table import CostTable, Row
from honestdp.privacy.guess import guess_chance
from honestdp.procedures.base import HIT_PROBABILITY, SUBSET_SHARE
from honestdp.text import in_100, small, up

# Limits of one request. The slowest request found within them took 17 seconds and 1.2 GB; a lot of
# one in 10^9 records, a million steps and 10000 candidates did not finish in minutes.
LARGEST = {"n": 10**8, "lot_size": 10**8, "steps": 10**5, "candidates": MOST}
RAREST = 10**6  # a record must be in at least one of this many lots
MOST_EPSILON = 1000.0
POINTS = (1, 4, 16, 64, 256, 1024)  # candidates, of the plot; fixed, so that answers are cached


@dataclass(frozen=True)
class PlannerInputs:
    """The values of the page's controls.

    lot_size, steps: None: as a plan of the default model has them, from n and epsilon.
    hit_probability: Searches are compared where they find the best candidate equally often.
    noise_multiplier: For `affordable`; None: the noise of a random search.
    """

    n: int = 36177
    epsilon: float = 1.0
    candidates: int = USUAL_CANDIDATES
    hit_probability: float = HIT_PROBABILITY
    lot_size: int | None = None
    steps: int | None = None
    delta: float | None = None
    subset: float = SUBSET_SHARE
    noise_multiplier: float | None = None

    @property
    def training(self) -> tuple[int, int]:
        """The lot size and the number of steps; where neither is given, by the library's rule."""
        return usual_training(self.n, self.epsilon, self.lot_size, self.steps)


def read(query: Mapping[str, str]) -> PlannerInputs:
    """Parse a query; an input that is absent or empty has its default."""
    for name in query:
        if name not in PlannerInputs.__dataclass_fields__:
            raise fail("input", name, f"is unknown; there are {', '.join(asdict(PlannerInputs()))}")
    values: dict[str, Any] = {}
    for name, text in query.items():
        if text.strip():
            values[name] = _whole(name, text) if name in LARGEST else _number(name, text)
    inputs = PlannerInputs(**values)
    if positive_integer("n", inputs.n) < 2:
        raise fail("n", inputs.n, "must be at least 2")
    if not 0 < inputs.epsilon < MOST_EPSILON:
        remedy = f"must be a number above 0 and below {MOST_EPSILON:g}"
        raise fail("epsilon", inputs.epsilon, remedy)
    if inputs.training[0] * RAREST < inputs.n:
        least = -(-inputs.n // RAREST)
        raise fail(
            "lot_size", inputs.training[0], f"the page computes from {least} up at n={inputs.n}"
        )
    return inputs


def answer(what: str, query: Mapping[str, str]) -> dict[str, Any]:
    """One of `ANSWERS` by name, or an error: the name of the wrong input and one line of text."""
    try:
        return ANSWERS[what](read(query))
    except InputError as error:
        name = str(error).partition("=")[0]
        return {
            "error": {
                "name": name if name in PlannerInputs.__dataclass_fields__ else "",
                "text": str(error),
            }
        }


def table(inputs: PlannerInputs) -> dict[str, Any]:
    """Every row of the table, the command that prints the same, and the other points to fetch."""
    found = _planned(inputs)
    largest = max(found.answer(row) or 0.0 for row in found.rows if found.is_smallest(row))
    return {
        "delta": small(found.inputs.delta),
        "command": command(inputs),
        "headers": found.headers,
        "rows": [
            {
                "cells": found.cells(row),
                "smallest": found.is_smallest(row),
                "share": (found.answer(row) or 0.0) / largest,
                "bets": None if row.success is None else in_100(row.success),
            }
            for row in found.rows
        ],
        "notes": found.notes,
        "worst_bets": in_100(guess_chance(found.inputs.epsilon or 0.0, found.inputs.delta)),
        "likely": str(guess(inputs.n, inputs.epsilon) or ""),
        "usual": dict(zip(("lot_size", "steps"), map(str, inputs.training), strict=True)),
        "point": _point(found),
        "points": [k for k in POINTS if k != inputs.candidates],
    }


def point(inputs: PlannerInputs) -> dict[str, Any]:
    """The costs at one number of candidates: a point of every line of the plot."""
    return {"point": _point(_planned(inputs))}


def candidates(inputs: PlannerInputs) -> dict[str, Any]:
    """How many candidates fit into the budget at one noise multiplier, under each procedure."""
    noise, of = inputs.noise_multiplier, "as chosen"
    found = _planned(inputs)
    if noise is None:
        noise, of = _searching(found)
    most = _affordable(
        inputs.n,
        *inputs.training,
        noise,
        inputs.epsilon,
        found.inputs.delta,
        inputs.subset,
    )
    return {
        "noise_multiplier": up(noise),
        "of": of,
        "most": [[name, _counted(number), number / MOST] for name, number in most.items()],
    }


ANSWERS: dict[str, Callable[[PlannerInputs], dict[str, Any]]] = {
    "table": table,
    "point": point,
    "candidates": candidates,
}


def command(inputs: PlannerInputs) -> str:
    """The shell command that prints the same table."""
    parts = ["honestdp plan"]
    lot_size, steps = inputs.training
    for name, value in (asdict(inputs) | {"lot_size": lot_size, "steps": steps}).items():
        if name == "noise_multiplier" or value is None:
            continue
        if name == "subset" and value == SUBSET_SHARE:
            continue
        text = repr(value).removesuffix(".0")
        parts.append(f"--{name.replace('_', '-')} {text}")
    return " ".join(parts)


def _planned(inputs: PlannerInputs) -> CostTable:
    facts = asdict(inputs)
    del facts["noise_multiplier"]
    facts["lot_size"], facts["steps"] = inputs.training
    return _plan(**facts)


@lru_cache(maxsize=512)
def _plan(**facts: Any) -> CostTable:
    return cost_table(**facts)


@lru_cache(maxsize=512)
def _affordable(
    n: int, lot: int, steps: int, noise: float, epsilon: float, delta: float, subset: float
) -> dict[str, int]:
    return affordable(
        n=n,
        lot_size=lot,
        steps=steps,
        noise_multiplier=noise,
        epsilon=epsilon,
        delta=delta,
        subset=subset,
    )


def _point(found: CostTable) -> dict[str, Any]:
    """The smallest bound of every procedure and shape, by the name of its line."""
    rows = [row for row in found.rows if found.is_smallest(row)]
    costs = {_line(row): [found.answer(row), found.cells(row)[6]] for row in rows}
    return {"candidates": found.inputs.candidates, "costs": costs}


def _line(row: Row) -> str:
    if row.shape is None:
        return row.procedure
    shape = row.shape if isinstance(row.shape, str) else f"shape {row.shape:g}"
    return f"{row.procedure}, {shape}"


def _searching(found: CostTable) -> tuple[float, str]:
    """The noise that random-repeats of shape 1, the usual search, needs; else the least known."""
    rows = [row for row in found.rows if row.noise_multiplier and row.procedure != "untuned"]
    usual = [row for row in rows if (row.procedure, row.shape) == ("random-repeats", 1.0)]
    for row in (*usual, *rows):
        assert row.noise_multiplier is not None
        return row.noise_multiplier, f"what {_line(row)} needs for {_candidates(found)}"
    raise fail("epsilon", found.inputs.epsilon, "no search reaches it; raise epsilon or delta")


def _candidates(found: CostTable) -> str:
    number = found.inputs.candidates
    return "1 candidate" if number == 1 else f"{number} candidates"


def _counted(number: int) -> str:
    if number == 0:
        return "none: not even one run fits"
    return f"{MOST} or more" if number >= MOST else str(number)


def _whole(name: str, text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        raise fail(name, text, "must be a whole number, like 40") from None
    if number > LARGEST[name]:
        raise fail(
            name, number, f"the page computes up to {LARGEST[name]}; `honestdp plan` has no limit"
        )
    return number


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise fail(name, text, "must be a number, like 0.5") from None
