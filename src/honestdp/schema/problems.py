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

if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)

Location: TypeAlias = tuple[int | str, ...]
# Errors of `Schema`'s own check of a column.
KIND_MISSING: Literal["kind_missing"] = "kind_missing"
KIND_UNKNOWN: Literal["kind_unknown"] = "kind_unknown"


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
    """The first problem in one line, with the number of further ones."""
    names = _column_names(values)
    problems: dict[str, str] = {}
    # An unknown key first: it is usually why another is missing.
    for problem in sorted(error.errors(), key=lambda each: each["type"] != "extra_forbidden"):
        place, part = _place(problem, names), kind.part_at(problem["loc"], values)
        remedies = kind.all_remedies() | part.all_remedies()
        problems.setdefault(
            re.sub(r"bounds\.[01]$", "bounds", place), _message(place, problem, part, remedies)
        )
    first, *more = problems.values()
    return InputError(first + (f" (and {len(more)} more)" if more else ""))


def _message(place: str, problem: Any, part: type[Declaration], remedies: Mapping[str, str]) -> str:
    path, value, kind = problem["loc"], problem["input"], problem["type"]
    own = next((str(step) for step in reversed(path) if step in remedies), "")
    if kind == "extra_forbidden":
        return f"{place}: unknown key; {_nearest(str(path[-1]), list(part.model_fields))}"
    if kind == "missing":
        return f"{place} is missing: {remedies.get(own, 'give it')}"
    if kind == KIND_MISSING:
        return f"{place}.kind is missing: {problem['msg']}"
    if kind == KIND_UNKNOWN:
        return _wrong(f"{place}.kind", value.get("kind"), problem["msg"])
    if kind == "value_error":  # our own check: its message has the remedy
        return f"{place}: {problem['ctx']['error']}"
    return _wrong(place, value, remedies.get(own, "is not of the right type"))


def _wrong(place: str, value: object, remedy: str) -> str:
    if isinstance(value, (list, tuple, dict)):  # may be nested too deep for repr
        return f"{place}={reprlib.repr(value)}: {remedy}"
    return str(fail(place, value, remedy))


_INTERNAL = ("literal[", "function-", "tuple[")  # pydantic's own steps


def _place(problem: Any, names: list[str]) -> str:
    """The location in the file: `columns.age.bounds`."""
    path = list(problem["loc"])
    unknown = [path.pop()] if problem["type"] == "extra_forbidden" else []  # whatever it is called
    if path[:1] == ["columns"] and len(path) > 1 and path[1] < len(names):
        path[1] = f" {names[path[1]]}"  # the space: no name may look like a step of pydantic's
    steps = [step for step in path if not str(step).startswith(_INTERNAL)]
    return ".".join(_plain(step) for step in steps + unknown) or "schema"


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


def _nearest(key: str, known: list[str]) -> str:
    near = get_close_matches(key, known, n=1)
    return f"did you mean {near[0]}?" if near else f"known here: {', '.join(known)}"
