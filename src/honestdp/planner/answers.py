"""The planner's answers: what was typed -> what `plan` and `affordable` say, ready for JSON.

Figures leave as text, rounded as the command prints them: the page draws, it does not compute.
Public inputs only; nothing here reads a file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from honestdp.errors import InputError, fail
from honestdp.planning.affordable import MOST, affordable
from honestdp.planning.costs import cost_table
from honestdp.planning.table import CostTable, Row
from honestdp.text import small, up

# What one request may ask for. The slowest found within these took 17 seconds and 1.2 GB; a lot of
# one in 10^9 records, a million steps and 10000 candidates had no answer after minutes.
LARGEST = {"n": 10**8, "lot_size": 10**8, "steps": 10**5, "candidates": MOST}
RAREST = 10**6  # a record is in one lot of this many at least
POINTS = (1, 4, 16, 64, 256, 1024)  # of the plot; the same whatever is asked, so they are kept


@dataclass(frozen=True)
class Asked:
    """The controls of the page. The defaults are the README's example."""

    n: int = 36177
    lot_size: int = 250
    steps: int = 2500
    candidates: int = 40
    epsilon: float = 1.0
    delta: float | None = None
    hit_probability: float | None = None
    subset: float = 0.1
    noise_multiplier: float | None = None  # for `affordable`; None: what a random search needs


def read(query: Mapping[str, str]) -> Asked:
    """The inputs of a query; what is left out, or empty, keeps its default."""
    for name in query:
        if name not in Asked.__dataclass_fields__:
            raise fail("input", name, f"is unknown; there are {', '.join(asdict(Asked()))}")
    values: dict[str, Any] = {}
    for name, text in query.items():
        if text.strip():
            values[name] = _whole(name, text) if name in LARGEST else _number(name, text)
    asked = Asked(**values)
    if asked.lot_size * RAREST < asked.n:
        least = -(-asked.n // RAREST)
        raise fail("lot_size", asked.lot_size, f"the page computes from {least} up at n={asked.n}")
    return asked


def answer(what: str, query: Mapping[str, str]) -> dict[str, Any]:
    """The answer of this name (`ANSWERS`), or the one line that says what is wrong with which."""
    try:
        return ANSWERS[what](read(query))
    except InputError as error:
        name = str(error).partition("=")[0]
        return {
            "error": {
                "name": name if name in Asked.__dataclass_fields__ else "",
                "text": str(error),
            }
        }


def table(asked: Asked) -> dict[str, Any]:
    """Every row of `plan`, the command that prints the same, and where to take further points."""
    found = _planned(asked)
    largest = max(found.answer(row) or 0.0 for row in found.rows if found.is_smallest(row))
    return {
        "delta": small(found.inputs.delta),
        "command": command(asked),
        "headers": found.headers,
        "rows": [
            {
                "cells": found.cells(row),
                "smallest": found.is_smallest(row),
                "share": (found.answer(row) or 0.0) / largest,
            }
            for row in found.rows
        ],
        "notes": found.notes,
        "point": _point(found),
        "points": [k for k in POINTS if k != asked.candidates],
    }


def point(asked: Asked) -> dict[str, Any]:
    """The costs at one number of candidates: a point of every line of the plot."""
    return {"point": _point(_planned(asked))}


def candidates(asked: Asked) -> dict[str, Any]:
    """How many candidates fit into the budget at one noise multiplier, under each procedure."""
    noise, of = asked.noise_multiplier, "as chosen"
    found = _planned(asked)
    if noise is None:
        noise, of = _searching(found)
    most = _affordable(
        asked.n, asked.lot_size, asked.steps, noise, asked.epsilon, found.inputs.delta, asked.subset
    )
    return {
        "noise_multiplier": up(noise),
        "of": of,
        "most": [[name, _counted(number), number / MOST] for name, number in most.items()],
    }


ANSWERS: dict[str, Callable[[Asked], dict[str, Any]]] = {
    "table": table,
    "point": point,
    "candidates": candidates,
}


def command(asked: Asked) -> str:
    """The same question for the shell."""
    words = ["honestdp plan"]
    for name, value in asdict(asked).items():
        if name == "noise_multiplier" or value is None or (name == "subset" and value == 0.1):
            continue
        text = repr(value).removesuffix(".0")
        words.append(f"--{name.replace('_', '-')} {text}")
    return " ".join(words)


def _planned(asked: Asked) -> CostTable:
    facts = asdict(asked)
    del facts["noise_multiplier"]
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
    shape = "poisson" if isinstance(row.shape, str) else f"shape {row.shape:g}"
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
