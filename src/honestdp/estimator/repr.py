"""The text and HTML of a search: its guarantee, its parameters, its result.

Public facts only: parameters, the ledger's remaining budget, what was released. Never a row.
"""

from __future__ import annotations

import inspect
from html import escape
from numbers import Real
from os import PathLike
from typing import Any

import numpy as np

from honestdp.estimator.parameters import declared_schema
from honestdp.ledger import Ledger
from honestdp.planning.grid import Grid
from honestdp.schema import Schema
from honestdp.text import SIMULATION, down, up

LONGEST = 80  # characters of a value
DEPTHS = {"grid": 2, "options": 1}  # parameters whose dicts and lists are shown, to this depth


def text(search: Any) -> str:
    """One line."""
    parts = [*_guarantee(search), *(f"{name}={value}" for name, value in _parameters(search))]
    found = _found(search)
    return f"HonestSearch({', '.join(parts)}{'; ' + found if found else ''})"


def html(search: Any) -> str:
    """A paragraph of guarantee, a table of parameters, a line of results."""
    mark = f"<strong>{SIMULATION}</strong> " if _simulated(search) else ""
    epsilon, delta = (escape(part) for part in _numbers(search))
    unit = escape(_unit(search))
    head = (
        f"<p>{mark}<strong>{epsilon}, {delta}</strong> for everything that touches the rows: "
        f"training, tuning, scores and choice{unit}.</p>"
    )
    left = _left(search)
    rows = "".join(
        f"<tr><td>{escape(name)}</td><td>{escape(value)}</td></tr>"
        for name, value in _parameters(search)
    )
    found = _found(search)
    return (
        f'<div class="honestdp">{head}'
        + (f"<p>{escape(left)}</p>" if left else "")
        + (f"<table>{rows}</table>" if rows else "")
        + (f"<p>{escape(found)}</p>" if found else "")
        + "</div>"
    )


def _guarantee(search: Any) -> list[str]:
    mark = [SIMULATION] if _simulated(search) else []
    left = _left(search)
    return [*mark, *_numbers(search), *([left] if left else [])]


def _numbers(search: Any) -> tuple[str, str]:
    card = getattr(search, "card_", None)
    if card is not None:
        return f"epsilon={up(card.guarantee.epsilon)}", f"delta={card.guarantee.delta:.3g}"
    delta = "by the number of rows" if search.delta is None else _shown(search.delta)
    return f"epsilon={_shown(search.epsilon)}", f"delta={delta}"


def _simulated(search: Any) -> bool:
    card = getattr(search, "card_", None)
    return search.random_state is not None if card is None else bool(card.mark)


def _unit(search: Any) -> str:
    schema = getattr(search, "schema_", search.schema)
    return f"; protected: {schema.unit}" if isinstance(schema, Schema) else ""


def _left(search: Any) -> str:
    """What the ledger has left; empty without a ledger."""
    ledger = search.ledger
    try:
        if isinstance(ledger, (str, PathLike)):
            ledger = Ledger.open(ledger, schema=declared_schema(search.schema))
        if not isinstance(ledger, Ledger):
            return ""
        left = ledger.remaining()
    except Exception:
        return "ledger cannot be read"
    return f"left in {ledger.path.name} for a pure plan: epsilon={down(left.epsilon)}"


def _parameters(search: Any) -> list[tuple[str, str]]:
    """The parameters that differ from their defaults, without those of the guarantee."""
    defaults = inspect.signature(type(search).__init__).parameters
    shown = []
    for name, value in search.get_params().items():
        usual = defaults[name].default if name in defaults else None
        if name not in ("epsilon", "delta", "ledger") and not _same(value, usual):
            shown.append((name, _shown(value, DEPTHS.get(name, 0))))
    return shown


def _same(value: Any, usual: Any) -> bool:
    """Whether a value is the default; compared by value too, as unpickling makes new objects."""
    if value is usual:
        return True
    return type(value) is type(usual) and isinstance(value, (str, Real)) and value == usual


def _shown(value: Any, depth: int = 0) -> str:
    """The value's repr, shortened; only the type of what may be data."""
    if isinstance(value, PathLike):
        value = str(value)
    if isinstance(value, Schema):
        return f"<{value.name}, {len(value.columns)} columns>"
    if isinstance(value, Grid):
        return f"<{len(value)} settings>"
    if isinstance(value, type) or inspect.isroutine(value):
        return str(value.__name__)
    if depth and isinstance(value, (list, tuple)) and all(isinstance(one, dict) for one in value):
        shown = f"[{', '.join(_written(one, depth) for one in value)}]"
    else:  # a list of anything else may be rows
        shown = _written(value, depth if isinstance(value, dict) else 0)
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 3]}..."


def _written(value: Any, depth: int) -> str:
    """The value's repr, with lists and dicts to this depth."""
    if isinstance(value, np.generic):
        value = value.item()
    if depth and isinstance(value, dict):
        cells = (f"{_written(n, 0)}: {_written(v, depth - 1)}" for n, v in value.items())
        return f"{{{', '.join(cells)}}}"
    if depth and isinstance(value, (list, tuple)):
        return f"[{', '.join(_written(one, 0) for one in value)}]"
    if value is not None and not isinstance(value, (str, int, float, range)):
        return f"<{type(value).__name__}>"
    try:
        return repr(value)
    except Exception:  # such as a number of thousands of digits
        return f"<{type(value).__name__}>"


def _found(search: Any) -> str:
    if not hasattr(search, "card_"):
        return ""
    if search.best_params_ is None:
        return "winner: nothing"
    label = search.card_.metric.label
    score = "" if search.best_score_ is None else f", noisy {label} {search.best_score_:.4f}"
    return "winner: " + ", ".join(f"{n}={v}" for n, v in search.best_params_.items()) + score
