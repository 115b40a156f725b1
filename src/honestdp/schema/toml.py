"""A schema as a TOML file: read by the standard library, written by hand.

Reading raises `InputError` and nothing else, whatever the file holds; a schema is public, so the
line at fault may be named. Writing is whole or not at all.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from honestdp.errors import InputError

if TYPE_CHECKING:
    from honestdp.schema.declared import Schema

LARGEST = 50_000_000  # bytes: no schema is so long


def load(path: str | Path, kind: type[Schema]) -> Schema:
    place = Path(path)
    try:
        with open(place, "rb") as file:
            content = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        raise InputError(f"{place}: cannot be read ({reason}); give a schema file") from None
    if len(content) > LARGEST:
        raise InputError(f"{place}: larger than 50 MB; give a schema file")
    try:
        return parse(content.decode(), kind)
    except UnicodeDecodeError:
        raise InputError(f"{place}: not UTF-8 text; give a schema file") from None
    except InputError as error:
        raise InputError(f"{place}: {error}") from None


def parse(text: str, kind: type[Schema]) -> Schema:
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"not TOML: {' '.join(str(error).split())}") from None
    except (ValueError, RecursionError):
        raise InputError("not TOML: a number too long or lists too deep; simplify it") from None
    return kind(**values)


def save(path: str | Path, text: str) -> None:
    """Write whole or not at all."""
    place = Path(path)
    try:
        handle, draft = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.")
        try:
            with open(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            os.chmod(draft, 0o644)
            os.replace(draft, place)
        except BaseException:
            os.unlink(draft)
            raise
    except OSError as error:
        raise InputError(f"{place}: cannot be written ({error.strerror})") from None


def write(facts: Mapping[str, Any]) -> str:
    """TOML of a schema's fields; keys that are None are left out."""
    lines = [f"{key} = {_value(value)}" for key, value in facts.items() if _simple(value)]
    lines += _table("target", facts["target"])
    for column in facts["columns"]:
        rest = {key: value for key, value in column.items() if key != "name"}
        lines += _table(f"columns.{key_text(column['name'])}", rest)
    return "\n".join(lines) + "\n"


def key_text(name: str) -> str:
    """A name as a TOML key, in quotes where it needs them."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else text(name)


def text(words: str) -> str:
    """A TOML string: JSON's escapes are TOML's, but for characters beyond 16 bits and DEL."""
    return json.dumps(words, ensure_ascii=False).replace("\x7f", "\\u007f")


def _table(head: str, values: Mapping[str, Any]) -> list[str]:
    lines = [f"{key} = {_value(value)}" for key, value in values.items() if value is not None]
    return ["", f"[{head}]", *lines]


def _simple(value: Any) -> bool:
    return isinstance(value, (str, float))


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return text(value)
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value, value))}]"
    return repr(value)  # a finite float: Python's text is TOML's
