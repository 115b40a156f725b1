"""A schema as a TOML file.

Reading raises `InputError` and nothing else, whatever the file holds; a schema is public, so the
faulty line may be shown. A file is written completely or not at all.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomli_w

from honestdp.errors import InputError
from honestdp.files import replace_file
from honestdp.schema import patterns

if TYPE_CHECKING:
    from honestdp.schema.schema import Schema

LARGEST = 50_000_000  # bytes of a schema file


def load(
    path: str | os.PathLike[str], kind: type[Schema], names: Iterable[str] | None = None
) -> Schema:
    text = read(path, "a schema file")
    with errors_of(path):
        return parse(text, kind, names)


@contextmanager
def errors_of(path: str | os.PathLike[str]) -> Iterator[None]:
    """Name the file that the errors in the block are about."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{Path(path)}: {error}") from None


def read(path: str | os.PathLike[str], wanted: str) -> str:
    """The text of a file; wanted: what to give instead, where it cannot be read."""
    place = Path(path)
    try:
        with open(place, "rb") as file:
            content = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        raise InputError(f"{place}: cannot be read ({reason}); give {wanted}") from None
    if len(content) > LARGEST:
        raise InputError(f"{place}: larger than 50 MB; give {wanted}")
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise InputError(f"{place}: not UTF-8 text; give {wanted}") from None


def parse(text: str, kind: type[Schema], names: Iterable[str] | None = None) -> Schema:
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"not TOML: {' '.join(str(error).split())}") from None
    except (ValueError, RecursionError):
        raise InputError("not TOML: a number too long or lists too deep; simplify it") from None
    columns, target = values.get("columns"), values.get("target")
    if not isinstance(columns, Mapping):
        return kind(**values)
    goal = target.get("column") if isinstance(target, Mapping) else None
    found = patterns.expand(columns, names, goal.strip() if isinstance(goal, str) else None)
    try:
        return kind(**(values | {"columns": patterns.used(found)}))
    except InputError:
        # Said of the keys of the file, not of all that a pattern stands for: names of the table
        # might be cells, where it has no header.
        written = {key: found.get(key, columns[key]) for key in columns}
        kind(**(values | {"columns": patterns.used(written)}))
        raise


def save(path: str | os.PathLike[str], text: str) -> None:
    """Write a file that everybody can read, completely or not at all."""
    place = Path(path)
    try:
        replace_file(place, text.encode(), mode=0o644, shared=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        raise InputError(f"{place}: cannot be written ({reason})") from None


def write(values: Mapping[str, Any]) -> str:
    """Tables, lists, texts, numbers and booleans as TOML."""
    return tomli_w.dumps(values)


def write_columns(columns: Mapping[str, Mapping[str, Any]], notes: Mapping[str, str]) -> str:
    """Declared columns as TOML, one line each; notes: comments behind some of them.

    A name that would be read as a range or a wildcard is said once more, as the column's `name`.
    """
    lines = ["[columns]"]
    for name, declared in columns.items():
        literal = {"name": name} if patterns.is_pattern(name) else {}
        note = f"  # {' '.join(notes[name].split())}" if notes.get(name, "").strip() else ""
        lines.append(entry(name, {**literal, **declared}) + note)
    return "\n".join(lines) + "\n"


def entry(key: str, value: Any) -> str:
    """One key with its value as TOML, in one line."""
    if isinstance(value, Mapping):
        inside = ", ".join(entry(str(inner), value[inner]) for inner in value)
        return f"{_key(key)} = {{ {inside} }}" if inside else f"{_key(key)} = {{}}"
    if isinstance(value, (list, tuple)):
        return f"{_key(key)} = [{', '.join(map(_item, value))}]"
    return tomli_w.dumps({key: value}).rstrip("\n")


def _item(value: Any) -> str:
    return entry("x", value).removeprefix("x = ")


def _key(key: str) -> str:
    return tomli_w.dumps({key: 0}).removesuffix(" = 0\n")
