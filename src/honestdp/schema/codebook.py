"""A code book: what is public about the columns of a table, one row each, as CSV or JSON.

    name,kind,low,high,categories,other,missing,label
    age,numeric,0,110,,,40,Age at admission
    ward,categorical,,,surgery|medicine,true,,
    A01..A85,numeric,0,9,,,,
    readmitted,target,,,no|yes,,,

A row has the name of a column (or a range or wildcard, see `patterns`), its kind, and the fields of
that kind, where low and high are its bounds. A list is written with | between its values; an empty
cell says nothing. `label` is a remark. The target's row has its classes as categories, or its
bounds; its kind is "target", or any if the target is named otherwise. JSON is a list of objects
with the same keys.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from honestdp.errors import InputError, fail
from honestdp.schema import patterns, toml
from honestdp.schema.kinds import Column, column_kinds
from honestdp.schema.problems import Declaration, input_error, nearest
from honestdp.schema.target import Target

TARGET = "target"  # the kind of the target's row
LABEL = "label"
_OWN = ("name", "kind", "low", "high", LABEL)  # keys that are fields of no kind
_BETWEEN = "|"
_KEYS = "it begins with a line such as name,kind,low,high,categories"


@dataclass(frozen=True)
class Codebook:
    """The rows of a code book. Public.

    Args:
        rows: What each row says, by its name: texts as in the file, or values of JSON.
    """

    rows: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Codebook:
        """Read a file: JSON if its name ends with .json, otherwise CSV.

        Args:
            path: The file.

        Raises:
            InputError: If it cannot be read, or is no code book: one line that names the file.
        """
        text = toml.read(path, "a code book").removeprefix("\ufeff")
        with toml.errors_of(path):
            return cls(_by_name(_json_rows(text) if _is_json(path) else _csv_rows(text)))

    @property
    def labels(self) -> dict[str, str]:
        """The remarks, by column."""
        return {name: str(row[LABEL]) for name, row in self.rows.items() if LABEL in row}

    def target_name(self, named: str | None = None) -> str | None:
        """The name of the target: as given, otherwise that of the row whose kind is "target".

        Args:
            named: The target, if the caller knows it.

        Raises:
            InputError: If several rows have that kind.
        """
        marked = [name for name, row in self.rows.items() if row.get("kind") == TARGET]
        if named is None and len(marked) > 1:
            raise fail("kind", TARGET, f"is that of {len(marked)} rows; keep one, or name a target")
        return marked[0] if named is None and marked else named

    def target(self, named: str | None = None) -> dict[str, Any]:
        """The declaration of the target: its column, and its classes or bounds.

        Args:
            named: As in `target_name`.

        Raises:
            InputError: If there is no such row, or its declaration is wrong.
        """
        name = self.target_name(named)
        row = self.rows.get(name or "")
        if name is None or row is None:
            raise fail("target", name, 'has no row; add one with its kind "target" and categories')
        given = {"column": name, **_bounds(name, row)}
        given |= {"classes": row["categories"]} if "categories" in row else {}
        return _typed(name, Target, given)

    def columns(
        self, target: str | None = None, names: Iterable[str] | None = None
    ) -> dict[str, dict[str, Any]]:
        """The declarations of the columns, by name; also those of kind "unused".

        Args:
            target: As in `target_name`: its row is left out.
            names: The names of a table's columns: what the book says of these, in their order,
                then what is made of several of them. By default all of the book, in its order.

        Raises:
            InputError: If a declaration is wrong.
        """
        goal = self.target_name(target)
        names = None if names is None else list(names)
        declared = {name: _declared(name, row) for name, row in self.rows.items() if name != goal}
        found = patterns.expand(declared, names, goal)
        made = [name for name in found if patterns.BLOCK in found[name]]
        wanted = found if names is None else dict.fromkeys([*map(str.strip, names), *made])
        return {name: found[name] for name in wanted if name in found}


def write(path: str | os.PathLike[str], columns: Sequence[Column], target: Target) -> str:
    """The text of a code book; the path tells whether it is JSON or CSV."""
    rows: list[dict[str, Any]] = [
        {"name": column.name, "kind": column.kind, **_facts(column, {"name", "kind"})}
        for column in columns
    ]
    facts = _facts(target, {"column"})
    if "classes" in facts:
        facts = {"categories": facts["classes"]}
    rows.append({"name": target.column, "kind": TARGET, **facts})
    for row in rows:
        if patterns.is_pattern(row["name"]):
            raise fail("name", row["name"], "would be read as several columns; use TOML instead")
    return _to_json(rows) if _is_json(path) else _to_csv(rows)


def _is_json(path: str | os.PathLike[str]) -> bool:
    return Path(path).suffix.lower() == ".json"


# Reading


def _csv_rows(text: str) -> list[dict[str, Any]]:
    first = text.partition("\n")[0]
    between = next((mark for mark in ",;\t" if mark in first), ",")
    try:
        header, *lines = csv.reader(io.StringIO(text, newline=""), delimiter=between, strict=True)
    except (csv.Error, ValueError):
        raise InputError("not a CSV file with a header; give a code book") from None
    keys = [key.strip().lower() for key in header]
    for line in lines:
        if len(line) > len(keys):
            raise InputError(f"a line has {len(line)} cells, the header {len(keys)}; quote cells")
    return [dict(zip(keys, map(str.strip, line), strict=False)) for line in lines if any(line)]


def _json_rows(text: str) -> list[dict[str, Any]]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError("not JSON; give a code book") from None
    if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
        raise InputError('not a list of objects, such as [{"name": "age", "kind": "numeric"}]')
    return [{key.strip().lower(): value for key, value in row.items()} for row in found]


def _by_name(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Check the keys; leave out what is empty."""
    fields = [item for kind in column_kinds for item in kind.model_fields.items()]
    known = dict.fromkeys([*_OWN, *(about.alias or key for key, about in fields)])
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        unknown = [key for key in row if key not in known]
        if 2 * len(unknown) > len(row):  # a table without a header has cells there: not shown
            raise InputError(f"not a code book: most of its keys are unknown; {_KEYS}")
        for key in unknown:
            raise InputError(f"{key[:60]!r}: unknown key; {nearest(key, list(known))}")
        name = row.pop("name", None)
        if not isinstance(name, str):
            raise InputError(f"row {len(found) + 1} has no name; give every row one")
        name = name.strip()
        if name in found:
            raise InputError(f"several rows are called {name[:60]!r}: keep one")
        found[name] = {key: value for key, value in row.items() if value not in (None, "")}
    return found


def _bounds(name: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """The bounds of a row: low and high, or as they are."""
    ends = [row[key] for key in ("low", "high") if key in row]
    if not ends:
        return {"bounds": row["bounds"]} if "bounds" in row else {}
    if len(ends) == 1 or "bounds" in row:
        raise InputError(f"{name[:60]!r}: give low and high, or bounds, and nothing else of these")
    if all(isinstance(end, str) for end in ends):
        return {"bounds": _BETWEEN.join(ends)}
    return {"bounds": ends}


def _declared(name: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """The declaration of one row, with values of the types that its kind wants."""
    given = {key: value for key, value in row.items() if key not in _OWN}
    given |= _bounds(name, row)
    kind = row.get("kind")
    if kind == patterns.UNUSED:
        return {"kind": kind}
    if kind is None and not given:
        return {}
    try:
        model = column_kinds.get(kind)
    except InputError as error:
        raise InputError(f"{name[:60]!r}: {error}") from None
    made = _typed(name, model, {"name": name, **given})
    return {"kind": kind, **{key: made[key] for key in made if key != "name"}}


def _typed(name: str, model: type[Declaration], given: Mapping[str, Any]) -> dict[str, Any]:
    """The given values, texts read as what the fields of the model want.

    A field takes the first reading of a text that it does not refuse: the text itself, a number,
    true or false, a list of texts, a list of numbers. So a kind of your own can be in a code book.
    """
    values = dict(given)
    further = {key: _readings(value) for key, value in given.items() if isinstance(value, str)}
    while True:
        try:
            made = model.model_validate(values)
        except ValidationError as error:
            refused = {problem["loc"][0] for problem in error.errors() if problem["loc"]}
            again = [key for key in further if key in refused]
            if not again:
                raise InputError(f"{name[:60]!r}: {input_error(error, model, values)}") from None
            for key in again:
                values[key] = further[key].pop(0) if further[key] else given[key]
                if values[key] is given[key]:  # no reading fits: the error shows the text
                    del further[key]
        else:
            return _facts(made, set())


def _readings(text: str) -> list[Any]:
    """What a text may stand for, apart from itself."""
    parts = [part.strip() for part in text.split(_BETWEEN)]
    numbers = [_number(part) for part in parts]
    found: list[Any] = [] if len(parts) > 1 or numbers[0] is None else [numbers[0]]
    found += [text.lower() == "true"] if text.lower() in ("true", "false") else []
    return [*found, parts, *([] if None in numbers else [numbers])]


def _number(text: str) -> float | None:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return None


# Writing


def _facts(declared: Declaration, without: set[str]) -> dict[str, Any]:
    """The fields that differ from their defaults; whole numbers without a point."""
    found = declared.model_dump(mode="json", exclude=without, exclude_defaults=True)
    return {key: _short(value) for key, value in found.items()}


def _short(value: Any) -> Any:
    if isinstance(value, list):
        return [_short(each) for each in value]
    whole = (
        isinstance(value, float) and abs(value) < 1e15 and repr(float(int(value))) == repr(value)
    )
    return int(value) if whole else value  # -0.0 stays: it has another fingerprint


def _to_json(rows: list[dict[str, Any]]) -> str:
    return "[\n" + ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in rows) + "\n]\n"


def _to_csv(rows: list[dict[str, Any]]) -> str:
    cells = [_cells(row) for row in rows]
    keys = dict.fromkeys(["name", "kind", *(key for row in cells for key in row)])
    file = io.StringIO(newline="")
    table = csv.writer(file, lineterminator="\n")
    table.writerows([keys, *([row.get(key, "") for key in keys] for row in cells)])
    return file.getvalue()


def _cells(row: Mapping[str, Any]) -> dict[str, str]:
    found: dict[str, str] = {}
    for key, value in row.items():
        if key == "bounds" and isinstance(value, list):
            found["low"], found["high"] = map(_cell, value)
        else:
            found[key] = _cell(value)
    return found


def _cell(value: Any) -> str:
    if isinstance(value, list):
        parts = [_cell(each) for each in value]
        if any(_BETWEEN in part for part in parts):
            raise fail("categories", value, "hold a |, which separates them; write JSON")
        return _BETWEEN.join(parts)
    return value if isinstance(value, str) else json.dumps(value)
