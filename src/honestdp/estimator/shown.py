"""How a search looks: what it guarantees first, then how it was asked for, then what it found.

Public facts only: parameters, the ledger's remaining budget, what was released. Never a row.
"""

from __future__ import annotations

import inspect
from html import escape
from os import PathLike
from typing import Any

from honestdp.ledger import Ledger
from honestdp.planning.grid import Grid
from honestdp.schema import Schema
from honestdp.text import SIMULATION, down, up

LONGEST = 80  # characters of a value


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
    """What the ledger has left; nothing where there is none, or it cannot be read now."""
    ledger, schema = search.ledger, search.schema
    try:
        if isinstance(ledger, (str, PathLike)) and isinstance(schema, Schema):
            ledger = Ledger.open(ledger, schema=schema)
        if not isinstance(ledger, Ledger):
            return ""
        left = ledger.remaining()
    except Exception:
        return "ledger cannot be read"
    return f"left in {ledger.path.name}: epsilon={down(left.epsilon)}"


def _parameters(search: Any) -> list[tuple[str, str]]:
    """Those that are not as they are by default; the guarantee's own stand above."""
    defaults = inspect.signature(type(search).__init__).parameters
    shown = []
    for name, value in search.get_params().items():
        usual = defaults[name].default if name in defaults else None
        if name not in ("epsilon", "delta", "ledger") and value is not usual:
            shown.append((name, _shown(value)))
    return shown


def _shown(value: Any) -> str:
    if isinstance(value, Schema):
        return f"<{value.name}, {len(value.columns)} columns>"
    if isinstance(value, Grid):
        return f"<{len(value)} settings>"
    if isinstance(value, type) or inspect.isroutine(value):
        return str(value.__name__)
    if not isinstance(value, (str, int, float, bool, dict, list, tuple, range, type(None))):
        return f"<{type(value).__name__}>"
    try:
        told = repr(value)
    except Exception:
        told = f"<{type(value).__name__}>"
    return told if len(told) <= LONGEST else f"{told[: LONGEST - 3]}..."


def _found(search: Any) -> str:
    if not hasattr(search, "card_"):
        return ""
    if search.best_params_ is None:
        return "winner: nothing"
    what = "score" if hasattr(search, "classes_") else "mean loss"
    score = "" if search.best_score_ is None else f", noisy {what} {search.best_score_:.4f}"
    return "winner: " + ", ".join(f"{n}={v}" for n, v in search.best_params_.items()) + score
