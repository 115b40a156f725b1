"""`Declaration`, the base of declared things, and its errors in one line: place, value, remedy.

pydantic's errors are turned into `InputError` here. A schema is public, so its values may be shown.
Nothing here reads a cell of a table.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, ValidationError

from honestdp.errors import InputError, fail
from honestdp.text import listed

if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)

Location: TypeAlias = tuple[int | str, ...]
# Errors of `Schema`'s own check of a column, and of `Target`'s.
KIND_MISSING: Literal["kind_missing"] = "kind_missing"
KIND_UNKNOWN: Literal["kind_unknown"] = "kind_unknown"
CLASSES_MISSING: Literal["classes_missing"] = "classes_missing"
# What is missing, if not the place of the error itself.
_MISSING = {"missing": "", KIND_MISSING: ".kind", CLASSES_MISSING: ".classes"}


class _Declared(ModelMetaclass):
    """Makes `Model(...)` raise an `InputError` where pydantic would raise its own."""

    def __call__(self, /, *args: Any, **values: Any) -> Any:
        try:
            return super().__call__(*args, **values)
        except ValidationError as error:
            raise input_error(error, self, values) from None  # type: ignore[arg-type]


class Declaration(BaseModel, metaclass=_Declared):
    """Base of everything declared: frozen, and refuses keys it does not know.

    remedies: for each field, what to write there; a subclass adds those of its own fields.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, serialize_by_alias=True
    )

    remedies: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def part_at(cls, path: Location, values: Mapping[str, Any]) -> type[Declaration]:
        """The class that the location of an error belongs to: this one, or one inside it.

        Args:
            path: The location, as pydantic gives it.
            values: The values that the declaration was to be made from.
        """
        return cls

    @classmethod
    def all_remedies(cls) -> dict[str, str]:
        """The remedies of this class and its base classes."""
        found: dict[str, str] = {}
        for base in reversed(cls.__mro__):
            found |= vars(base).get("remedies", {})
        return found


def input_error(
    error: ValidationError, kind: type[Declaration], values: Mapping[str, Any]
) -> InputError:
    """One line: the first wrong value, with the number of further ones; and all that is missing."""
    names, errors = _column_names(values), error.errors()
    misspelt = {each["loc"][:-1] for each in errors if each["type"] == "extra_forbidden"}
    wrong: dict[str, str] = {}
    missing: dict[tuple[str, str], list[str]] = {}
    # An unknown key first: it is usually why another is missing, which is then no news.
    for problem in sorted(errors, key=lambda each: each["type"] != "extra_forbidden"):
        path, place = problem["loc"], _place(problem, names)
        part = kind.part_at(path, values)
        remedies = kind.all_remedies() | part.all_remedies()
        if problem["type"] in _MISSING and path[:-1] not in misspelt:
            where = (place + _MISSING[problem["type"]]).removeprefix("schema.")
            column = f"columns.{_plain(_column_of(path, names))}."
            field = where.removeprefix(column)  # alike in all columns that lack it
            missing.setdefault((field, _remedy(problem, remedies)), []).append(where)
        else:
            called = re.sub(r"bounds\.[01]$", "bounds", place)
            wrong.setdefault(called, _message(place, problem, part, remedies))
    said = list(wrong.values())[:1]
    said += [f"(and {len(wrong) - 1} more)"] if len(wrong) > 1 else []
    gaps = [_gap(field, remedy, missing[field, remedy]) for field, remedy in missing]
    return InputError("; ".join([*([" ".join(said)] if said else []), *gaps]))


def _gap(field: str, remedy: str, places: list[str]) -> str:
    """What to say of a field that is missing at some places."""
    if len(places) == 1:
        return f"{places[0]} is missing: {remedy}"
    columns = [place.removeprefix("columns.").removesuffix(f".{field}") for place in places]
    return f"{field} is missing of {len(places)} columns ({listed(columns)}): {remedy}"


def _remedy(problem: Any, remedies: Mapping[str, str], default: str = "give it") -> str:
    if problem["type"] in (KIND_MISSING, CLASSES_MISSING):
        return str(problem["msg"])
    own = next((str(step) for step in reversed(problem["loc"]) if step in remedies), "")
    return remedies.get(own, default)


def _message(place: str, problem: Any, part: type[Declaration], remedies: Mapping[str, str]) -> str:
    path, value, kind = problem["loc"], problem["input"], problem["type"]
    if kind == "extra_forbidden":
        return f"{place}: unknown key; {nearest(str(path[-1]), list(part.model_fields))}"
    if kind == KIND_UNKNOWN:
        return _wrong(f"{place}.kind", value.get("kind"), problem["msg"])
    if kind == "value_error":  # our own check: its message has the remedy
        return f"{place}: {problem['ctx']['error']}"
    return _wrong(place, value, _remedy(problem, remedies, "is not of the right type"))


def _wrong(place: str, value: object, remedy: str) -> str:
    if isinstance(value, (list, tuple, dict)):  # may be nested too deep for repr
        return f"{place}={reprlib.repr(value)}: {remedy}"
    return str(fail(place, value, remedy))


_INTERNAL = ("literal[", "function-", "tuple[")  # pydantic's own steps


def _place(problem: Any, names: list[str]) -> str:
    """The location in the file: `columns.age.bounds`."""
    path = list(problem["loc"])
    unknown = [path.pop()] if problem["type"] == "extra_forbidden" else []  # whatever it is called
    column = _column_of(problem["loc"], names)
    if column is not None and len(path) > 1:
        path[1] = f" {column}"  # the space: no name may look like a step of pydantic's
    steps = [step for step in path if not str(step).startswith(_INTERNAL)]
    return ".".join(_plain(step) for step in steps + unknown) or "schema"


def _column_of(path: Location, names: list[str]) -> str | None:
    """The name of the column that the location of an error is in; None if it is in none."""
    at = path[1] if path[:1] == ("columns",) and len(path) > 1 else None
    return names[at] if isinstance(at, int) and at < len(names) else None


def _column_names(values: Any) -> list[str]:
    """The names of the given columns; the position of one whose name cannot be read."""
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


def nearest(key: str, known: list[str]) -> str:
    """What an unknown key may have been meant as."""
    near = get_close_matches(key, known, n=1)
    return f"did you mean {near[0]}?" if near else f"known here: {', '.join(known)}"
