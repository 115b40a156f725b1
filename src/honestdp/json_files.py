"""JSON files with a schema: padded so that their length reveals nothing, validated when read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from honestdp.errors import InputError

WIDEST = -1.2345678901234567e-100  # as long as a number can be in JSON


class Part(BaseModel):
    """Base of the contents of such files: frozen, and refuses unknown keys."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, allow_inf_nan=False
    )


P = TypeVar("P", bound=Part)


def to_json(part: Part, room: int = 0) -> bytes:
    """JSON, followed by `room` spaces."""
    return (_text(part) + " " * room + "\n").encode()


def room_for(chosen: Part, others: Iterable[Part]) -> int:
    """Number of spaces that make a file with `chosen` as long as one with the longest of others."""
    own = _width(chosen)
    return max((0, *(_width(other) - own for other in others)))


def from_json(kind: type[P], text: str | bytes, called: str) -> P:
    """Read a part from JSON; an error is one line that quotes no value."""
    try:
        json.loads(text, object_pairs_hook=_check_keys)
        return kind.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(map(str, first["loc"]))[:100]
        reason = " ".join(first["msg"].split())[:200]
        raise InputError(f"{called}: {place + ': ' if place else ''}{reason}") from None
    except (RecursionError, ValueError):
        raise InputError(f"{called}: is not a valid file") from None


def _check_keys(pairs: list[tuple[str, Any]]) -> None:
    """Refuse an object with one key twice: readers differ in which of the two they take."""
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key is there twice")


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def digest(value: Any) -> str:
    """The SHA-256 of a value in canonical JSON."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return sha256(text.encode())


def _text(part: Part) -> str:
    return json.dumps(part.model_dump(mode="json", by_alias=True), indent=2, allow_nan=False)


def _width(part: Part) -> int:
    text = _text(part)
    return len(text) + 2 * text.count("\n")  # one level deeper every line is indented by two more
