"""What is wrong with a declaration, said in one line: the place, the value, the way out.

pydantic checks; its errors are turned here into the house's `InputError`. A schema is public,
so its values may be shown. Nothing here ever sees a cell of a table.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from honestdp.errors import InputError, fail

if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)

REMEDIES = {
    "bounds": 'give [low, high], two finite numbers with low < high, or "learn" with outer',
    "outer": "give [low, high], two finite numbers with low < high",
    "quantiles": "give [low, high] with 0 <= low < high <= 1, such as [0.01, 0.99]",
    "missing": "give the number, or the category, that stands for a missing cell",
    "categories": 'give a list of words, such as ["yes", "no"]',
    "classes": 'give a list of at least two words, such as ["no", "yes"]',
    "other": "must be true or false",
    "kind": 'must be "numeric" or "categorical"',
    "columns": "give a table of columns, such as [columns.age]",
    "target": 'give a table with column and classes, such as column = "income"',
    "row_norm": "must be a number between 1e-6 and 1e6",
    "name": "give a text",
    "unit": "give a text that says what one row stands for",
    "column": "give the name of the column to predict",
}


class _Declared(ModelMetaclass):
    """Makes `Model(...)` raise an `InputError` where pydantic would raise its own."""

    def __call__(self, /, *args: Any, **values: Any) -> Any:
        try:
            return super().__call__(*args, **values)
        except ValidationError as error:
            raise said(error, known_keys(self), values) from None


class Declaration(BaseModel, metaclass=_Declared):
    """Base of everything declared: frozen, and refuses keys it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    @classmethod
    def inner(cls) -> dict[str, type[Declaration]]:
        """The declarations inside this one, by the place pydantic gives them."""
        return {}


def known_keys(kind: Any) -> dict[str, list[str]]:
    """The keys known at each place ("" is the declaration itself)."""
    inner = {place: list(part.model_fields) for place, part in kind.inner().items()}
    return {"": list(kind.model_fields)} | inner


def said(error: ValidationError, known: dict[str, list[str]], values: Any) -> InputError:
    """The first problem in words, and how many more there are."""
    names = _column_names(values)
    problems: dict[str, str] = {}
    # An unknown key first: it is usually why another is missing.
    for problem in sorted(error.errors(), key=lambda each: each["type"] != "extra_forbidden"):
        place = _place(problem, names)
        problems.setdefault(
            re.sub(r"bounds\.[01]$", "bounds", place), _words(place, problem, known)
        )
    first, *more = problems.values()
    return InputError(first + (f" (and {len(more)} more)" if more else ""))


def _words(place: str, problem: Any, known: dict[str, list[str]]) -> str:
    path, value, kind = problem["loc"], problem["input"], problem["type"]
    own = next((str(step) for step in reversed(path) if step in REMEDIES), "")
    if kind == "extra_forbidden":
        return f"{place}: unknown key; {_nearest(path, known)}"
    if kind == "missing":
        return f"{place} is missing: {REMEDIES.get(own, 'give it')}"
    if kind == "union_tag_not_found":
        return f"{place}.kind is missing: {REMEDIES['kind']}"
    if kind == "union_tag_invalid":
        tag = value.get("kind") if isinstance(value, dict) else value
        return _wrong(f"{place}.kind", tag, REMEDIES["kind"])
    if kind == "value_error":  # one of our own checks: it says the way out itself
        return f"{place}: {problem['ctx']['error']}"
    return _wrong(place, value, REMEDIES.get(own, "is not of the right kind"))


def _wrong(place: str, value: object, remedy: str) -> str:
    if isinstance(value, (list, tuple, dict)):  # may be nested deeper than Python can write out
        return f"{place}={reprlib.repr(value)}: {remedy}"
    return str(fail(place, value, remedy))


_INTERNAL = ("numeric", "categorical", "literal[", "function-", "tuple[")  # pydantic's own steps


def _place(problem: Any, names: list[str]) -> str:
    """Where in the file: `columns.age.bounds`."""
    path = list(problem["loc"])
    unknown = [path.pop()] if problem["type"] == "extra_forbidden" else []  # whatever it is called
    if path[:1] == ["columns"] and len(path) > 1 and path[1] < len(names):
        path[1] = f" {names[path[1]]}"  # told from pydantic's own by the space
    steps = [step for step in path if not str(step).startswith(_INTERNAL)]
    return ".".join(_plain(step) for step in steps + unknown) or "schema"


def _column_names(values: Any) -> list[str]:
    """What the given columns are called, as far as they can be told."""
    columns = values.get("columns")
    if isinstance(columns, Mapping):
        return [str(name) for name in columns]
    if not isinstance(columns, (list, tuple)):
        return []
    each = [c.get("name") if isinstance(c, Mapping) else getattr(c, "name", None) for c in columns]
    return [name if isinstance(name, str) else str(i) for i, name in enumerate(each)]


def _plain(step: object) -> str:
    text = str(step).strip()
    return text if text.isprintable() and len(text) <= 60 else repr(text[:60])


def _nearest(path: tuple[object, ...], known: dict[str, list[str]]) -> str:
    place = next((str(step) for step in reversed(path[:-1]) if str(step) in known), "")
    names = known.get(place, [])
    near = get_close_matches(str(path[-1]), names, n=1)
    return f"did you mean {near[0]}?" if near else f"known here: {', '.join(names)}"
