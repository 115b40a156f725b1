"""Write a schema form to fill in, from the names of the columns alone: no row is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any

from honestdp.errors import InputError, fail
from honestdp.schema import toml
from honestdp.schema.codebook import Codebook
from honestdp.schema.files import TableFile
from honestdp.schema.kinds import column_kinds
from honestdp.schema.patterns import is_pattern
from honestdp.text import listed

INTRO = """\
# The public facts of a table, one line a column. Take nothing from the rows themselves: what
# stands here must be known without looking at them (a code book, common knowledge).
# Fill the braces of every column with those of one kind:
{kinds}
#   {{ kind = "unused" }}
#       never read, as identifiers and remarks; or delete its line
# Many columns at once, in a line of their own, which fills braces that are left empty:
#   "A01..A85" = {{ ... }}, "word *" = {{ ... }}, and "*" = {{ ... }} for all the rest
# Categories and classes are spelled as in the cells (upper and lower case count); a row whose
# target is none of the classes counts for nothing. Files are UTF-8,
# unless --encoding says otherwise.
# missing = ... is what a missing or unreadable cell stands for (the middle; the other bin).

"""
TARGET = """\
# classes = ["no", "yes"]
# bounds = [0, 100]  # instead of classes, for a number to predict
"""


def from_header(
    source: str | PathLike[str] | TableFile | Iterable[str],
    *,
    name: str | None = None,
    target: str | None = None,
    codebook: str | PathLike[str] | None = None,
) -> str:
    """Write a schema form as TOML: one line a column, the choices explained once at the top.

    Args:
        source: A path or a `TableFile`, of which only the header is read, or the names of columns.
        name: The dataset's name; by default that of the file.
        target: The column to predict; by default that of the code book, otherwise the last column;
            check that.
        codebook: A CSV or JSON file that declares columns; what it declares is filled in.

    Returns:
        The text of a TOML file; a column that no code book declares has empty braces.

    Raises:
        InputError: If there is no such file or column, if two columns have one name, or if the code
            book is wrong.

    Example:
        >>> print(from_header(["age", "sex", "pay"])[-28:], end="")
        <BLANKLINE>
        [columns]
        age = {}
        sex = {}
    """
    if isinstance(source, (str, PathLike)):
        source = TableFile(source)
    if isinstance(source, TableFile):
        names, called = source.names, source.path.name.split(".")[0] if source.path else ""
    else:
        names, called = [str(each) for each in source], "my-table"
    names = [each.strip() for each in names]
    twice = sorted({each for each in names if names.count(each) > 1})
    if twice:
        raise InputError(f"several columns are called {twice[0]!r}: give each its own name")
    if len(names) < 2:
        raise InputError(f"{len(names)} columns: a schema needs one and a target")
    facts = {"name": name or called or "my-table", "unit": "one row"}
    start = INTRO.format(kinds=_kinds()) + toml.write(facts)
    if codebook is None:
        return "\n".join([start, *_declarations(names, target, Codebook())])
    book = Codebook.load(codebook)
    with toml.errors_of(codebook):
        return "\n".join([start, *_declarations(names, target, book)])


def _declarations(names: list[str], target: str | None, book: Codebook) -> list[str]:
    """The target and the columns, as far as the book declares them."""
    chosen = (book.target_name(target) or names[-1]).strip()
    if chosen not in names:
        raise fail("target", chosen, f"must be one of the columns, such as {names[-1]!r}")
    found = book.columns(chosen, names)
    empty: dict[str, dict[str, Any]] = {each: {} for each in names if each != chosen}
    declared = empty | found
    known = {*names, *declared}
    absent = [each for each in book.rows if each not in known and not is_pattern(each)]
    return [
        _target(book.target(chosen) if chosen in book.rows else {"column": chosen}),
        toml.write_columns(declared, book.labels),
        *([f"# In the code book, not in the table: {listed(absent)}\n"] if absent else []),
    ]


def _kinds() -> str:
    """An example of each kind, and what is to say about it."""
    lines = []
    for kind in column_kinds:
        if kind.form:
            lines.append(f"#   {{ {', '.join(kind.form)} }}")
            lines += [f"#       {line}" for line in kind.form_help]
    return "\n".join(lines)


def _target(declared: Mapping[str, Any]) -> str:
    lines = "".join(f"{toml.entry(key, value)}\n" for key, value in declared.items())
    return f"[target]\n{lines}{TARGET if len(declared) == 1 else ''}"
