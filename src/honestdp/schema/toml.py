"""A schema as a TOML file.

Reading raises `InputError` and nothing else, whatever the file holds; a schema is public, so the
faulty line may be shown. A file is written completely or not at all.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomli_w

from honestdp.errors import InputError
from honestdp.files import replace_file

if TYPE_CHECKING:
    from honestdp.schema.schema import Schema

LARGEST = 50_000_000  # bytes of a schema file


def load(path: str | os.PathLike[str], kind: type[Schema]) -> Schema:
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
