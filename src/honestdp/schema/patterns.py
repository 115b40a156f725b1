"""Many columns in one key of a schema file: ranges, wildcards, all the rest.

    [columns]
    "A01..A85" = { kind = "numeric", bounds = [0, 9] }   # A01, A02, ... A85
    "word *" = { kind = "numeric", bounds = [0, 20] }    # every name that begins so
    "*" = { kind = "categorical", categories = ["n", "y"] }  # all the rest
    id = { kind = "unused" }                             # but not this one

A kind that reads a block of columns lists them in its field `columns`, by patterns too:

    both = { kind = "mine", columns = ["age", "word *"] }

Only `*` is a wildcard: names of real columns hold question marks and brackets. A key that is the
name of a column of the table stands for that column, whatever it looks like, and so does one whose
declaration says `name`.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from honestdp.errors import InputError

MOST = 100_000  # columns that patterns may stand for
BLOCK = "columns"  # the field of a kind that reads other columns than the one of its name
UNUSED = "unused"  # the kind of a column that is left out, although a pattern matches it
_DIGITS = "0123456789"


def is_pattern(name: str) -> bool:
    """Whether a name is read as a range or a wildcard.

    Example:
        >>> [is_pattern(name) for name in ("A01..A85", "word *", "A01", "ill?")]
        [True, True, False, False]
    """
    return "*" in name or _ends(name.strip()) is not None


def resolve(pattern: str | Iterable[str], names: Iterable[str] | None = None) -> tuple[str, ...]:
    """The columns that a pattern, or several, stand for.

    Args:
        pattern: A name, a range such as "A01..A85", a wildcard such as "pixel *", or a list of
            these.
        names: The names of the table's columns, in its order; wildcards need them. A pattern that
            is one of them stands for that column alone.

    Returns:
        The names, each once: of a wildcard in the table's order, of a list in the given order.

    Raises:
        InputError: If a range is wrong, if a wildcard matches nothing, or if there are no names to
            match it with.

    Example:
        >>> resolve(["A9..A11", "*n"], ["on", "off", "in"])
        ('A9', 'A10', 'A11', 'on', 'in')
    """
    known = None if names is None else dict.fromkeys(name.strip() for name in names)
    patterns = [pattern] if isinstance(pattern, str) else pattern
    return tuple(dict.fromkeys(name for each in patterns for name in _matches(each.strip(), known)))


def expand(
    columns: Mapping[str, Any], names: Iterable[str] | None = None, target: str | None = None
) -> dict[str, Any]:
    """Replace the ranges and wildcards among the keys of declared columns.

    A column's own key wins over a range, a range over a wildcard, and of two wildcards the one with
    more letters. A key of its own that says nothing (`age = {}`) takes the declaration of the
    pattern that matches. Every key stands for its columns at its own place, so the order is that of
    the file, and within a wildcard that of the table. Patterns in a field `columns` are resolved.

    Args:
        columns: Declarations by name, range or wildcard.
        names: The names of the table's columns, in its order; wildcards need them.
        target: The column to predict, which no pattern matches.

    Returns:
        Declarations by name.

    Raises:
        InputError: As `resolve`; or if two patterns of equal rank match one column.

    Example:
        >>> expand({"a2": {"kind": "x"}, "a1..a3": {"kind": "y"}})
        {'a2': {'kind': 'x'}, 'a1': {'kind': 'y'}, 'a3': {'kind': 'y'}}
    """
    names = None if names is None else {name.strip(): None for name in names}
    own = {key: _own_name(key, declared, names or ()) for key, declared in columns.items()}
    matches = {key: resolve(key, names) for key, name in own.items() if name is None}
    if sum(map(len, matches.values())) > MOST:
        raise InputError(f"columns: patterns for more than {MOST} columns; use fewer")
    for key in matches:
        if _is_blank(columns[key]):
            raise InputError(f"columns.{key[:60]!r} says nothing: give the kind of these columns")
    listed = {name for name in own.values() if name is not None}
    said = {name for key, name in own.items() if name is not None and not _is_blank(columns[key])}
    chosen = _chosen(matches, {*said, target})
    found: dict[str, Any] = {}
    for key, name in own.items():
        if name is None:
            new = [each for each in matches[key] if chosen.get(each) == key and each not in listed]
            _add(found, dict.fromkeys(new, columns[key]))
        else:
            declared = _filled(columns[key], columns.get(chosen.get(name, key)))
            _add(found, {key: _with_block(declared, names, listed)})
    return found


def used(columns: Mapping[str, Any]) -> dict[str, Any]:
    """The declarations without those of kind "unused"."""
    return {
        name: declared
        for name, declared in columns.items()
        if not isinstance(declared, Mapping) or declared.get("kind") != UNUSED
    }


def _add(found: dict[str, Any], made: dict[str, Any]) -> None:
    for name, declared in made.items():
        if name in found:
            raise InputError(f"columns: {name[:60]!r} is declared twice: remove one")
        found[name] = declared


def _own_name(key: str, declared: Any, names: Container[str]) -> str | None:
    """The name of the one column that a key stands for; None if it is a pattern."""
    if isinstance(declared, Mapping) and "name" in declared:
        return declared["name"].strip() if isinstance(declared["name"], str) else key
    return key.strip() if key.strip() in names or not is_pattern(key) else None


def _is_blank(declared: Any) -> bool:
    """Whether a declaration says nothing of the column."""
    return isinstance(declared, Mapping) and not set(declared) - {"name"}


def _filled(declared: Any, pattern: Any) -> Any:
    """The declaration; that of the pattern, if it says nothing itself."""
    if _is_blank(declared) and isinstance(pattern, Mapping):
        return {**pattern, **declared}
    return declared


def _with_block(declared: Any, names: Iterable[str] | None, listed: set[str]) -> Any:
    """The declaration, with the patterns in its field `columns` resolved; listed: names of columns
    of the schema, which are no patterns.

    A single wildcard is left to the kind: an image counts its pixels by it, in an order that does
    not hang on the table's.
    """
    block = declared.get(BLOCK) if isinstance(declared, Mapping) else None
    if isinstance(block, str) and "*" in block:
        return declared
    block = [block] if isinstance(block, str) else block
    if not isinstance(block, list) or not all(isinstance(each, str) for each in block):
        return declared
    found = ([each] if each.strip() in listed else resolve(each, names) for each in block)
    return {**declared, BLOCK: [name for each in found for name in each]}


def _chosen(matches: Mapping[str, tuple[str, ...]], without: set[object]) -> dict[str, str]:
    """For each column the pattern of the highest rank that matches it."""
    chosen: dict[str, str] = {}
    for pattern in sorted(matches, key=_rank, reverse=True):
        for name in matches[pattern]:
            if name in without:
                continue
            best = chosen.setdefault(name, pattern)
            if best != pattern and _rank(best) == _rank(pattern):
                raise InputError(
                    f"columns: {best[:60]!r} and {pattern[:60]!r} match the same column; "
                    "declare it by its own name, or change one of them"
                )
    return chosen


def _rank(pattern: str) -> float:
    """Ranges first, then wildcards with more letters."""
    return len(pattern.strip().replace("*", "")) if "*" in pattern else math.inf


def _matches(pattern: str, known: Mapping[str, None] | None) -> Iterable[str]:
    if known is not None and pattern in known:
        return [pattern]
    if "*" in pattern:
        return _wildcard(pattern, known)
    ends = _ends(pattern)
    return [pattern] if ends is None else _range(pattern, ends)


def _wildcard(pattern: str, known: Mapping[str, None] | None) -> list[str]:
    shown = f"columns.{pattern[:60]!r}"
    if known is None:
        raise InputError(
            f"{shown}: a wildcard needs the names of the table's columns; give them, as in "
            "Schema.load(path, columns=names), or write the columns out"
        )
    plain = pattern.replace("[", "[[]").replace("?", "[?]")  # only * is special
    found = [name for name in known if fnmatchcase(name, plain)]
    if not found:
        raise InputError(f"{shown}: matches no column of the table; remove it, or mend it")
    return found


class _Ends(NamedTuple):
    """The two ends of a range: "A01..A85" has the stem "A", the first "01" and the last "85"."""

    stem: str
    first: str
    last: str


def _ends(pattern: str) -> _Ends | None:
    """The ends of a range; None if the pattern is not one."""
    low, _, high = pattern.partition("..")
    stem, other = low.rstrip(_DIGITS), high.rstrip(_DIGITS)
    first, last = low[len(stem) :], high[len(other) :]
    return _Ends(stem, first, last) if stem == other and first and last else None


def _range(pattern: str, ends: _Ends) -> list[str]:
    stem, first, last = ends
    shown = f"columns.{pattern[:60]!r}"
    if max(len(first), len(last)) > 15:
        raise InputError(f"{shown}: numbers of more than 15 digits; write the columns out")
    low, high, width = int(first), int(last), len(first) if first.startswith("0") else 0
    if low > high or f"{high:0{width}d}" != last:
        raise InputError(f"{shown}: give the lower end first, both with as many zeros: A01..A85")
    if high - low >= MOST:
        raise InputError(f"{shown}: more than {MOST} columns; use fewer")
    return [f"{stem}{number:0{width}d}" for number in range(low, high + 1)]
