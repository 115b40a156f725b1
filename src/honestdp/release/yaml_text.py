"""YAML for records and model cards: mappings, lists, texts, numbers. It writes and never reads.

Every text is in double quotes, so that none is taken for a number, a date or a key, whatever a
schema or a curator calls things.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any


def yaml_text(value: Mapping[str, Any]) -> str:
    """A mapping as a YAML document, in the order of its keys.

    Args:
        value: Texts, numbers, truth values, and mappings and lists of them; none of them empty.

    Returns:
        Lines, the last one ended.
    """
    return "\n".join(_lines(value, "")) + "\n"


def _lines(value: Mapping[str, Any], indent: str) -> list[str]:
    found = []
    for name, one in value.items():
        found += _entry(f"{indent}{name}:", one, indent)
    return found


def _entry(head: str, value: Any, indent: str) -> list[str]:
    if isinstance(value, Mapping):
        return [head, *_lines(value, indent + "  ")]
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [head, *(line for one in value for line in _item(one, indent + "  "))]
    return [f"{head} {_scalar(value)}"]


def _item(value: Any, indent: str) -> list[str]:
    if isinstance(value, Mapping):
        first, *others = _lines(value, indent + "  ")
        return [f"{indent}- {first.strip()}", *others]
    return [f"{indent}- {_scalar(value)}"]


def _scalar(value: str | float | bool) -> str:
    if isinstance(value, str):
        quoted = json.dumps(value, ensure_ascii=False)
        return "".join(map(_printable, quoted))
    if isinstance(value, bool):
        return json.dumps(value)
    text = json.dumps(value)
    # Readers of YAML 1.1 take 1e-05 for a text: a number has a point before its exponent.
    return text.replace("e", ".0e") if "e" in text and "." not in text else text


def _printable(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
