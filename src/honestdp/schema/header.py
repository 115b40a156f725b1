"""Write a schema form to fill in, from the names of the columns alone: no row is read."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike

from honestdp.errors import InputError, fail
from honestdp.schema import toml
from honestdp.schema.files import TableFile
from honestdp.schema.kinds import column_kinds

INTRO = """\
# The public facts of a table. Fill in every column; take nothing from the rows themselves:
# what stands here must be known without looking at them (a code book, common knowledge).
# Remove the columns that are not to be used, such as identifiers, dates and free text. Then
# uncomment, for each, the lines of one kind:
{kinds}
# Categories and classes are spelled as in the cells (upper and lower case count); a row whose
# target is none of the classes counts for nothing. Files are UTF-8,
# unless --encoding says otherwise.
# missing = ... is what a missing or unreadable cell stands for (the middle; the other bin).

"""


def from_header(
    source: str | PathLike[str] | TableFile | Iterable[str],
    *,
    name: str | None = None,
    target: str | None = None,
) -> str:
    """Write a schema form as TOML: every column with the lines of every registered kind.

    Args:
        source: A path or a `TableFile`, of which only the header is read, or the names of columns.
        name: The dataset's name; by default that of the file.
        target: The column to predict; by default the last; check that.

    Returns:
        The text of a TOML file in which all choices are comments.

    Raises:
        InputError: If there is no such file or column, or two columns have one name.

    Example:
        >>> "[columns.age]" in from_header(["age", "pay"])
        True
    """
    if isinstance(source, (str, PathLike)):
        source = TableFile(source)
    if isinstance(source, TableFile):
        names, called = source.names, source.path.name.split(".")[0] if source.path else ""
    else:
        names, called = [str(each).strip() for each in source], "my-table"
    twice = sorted({each for each in names if names.count(each) > 1})
    if twice:
        raise InputError(f"several columns are called {twice[0]!r}: give each its own name")
    if len(names) < 2:
        raise InputError(f"{len(names)} columns: a schema needs one and a target")
    chosen = names[-1] if target is None else target.strip()
    if chosen not in names:
        raise fail("target", target, f"must be one of the columns, such as {names[-1]!r}")
    kinds = [kind for kind in column_kinds if kind.form]
    explained = "\n".join(f"#   {line}" for kind in kinds for line in kind.form_help)
    lines = [INTRO.format(kinds=explained), toml.write({"name": name or called or "my-table"})]
    lines += ['unit = "one row"\n\n', toml.write({"target": {"column": chosen}})]
    lines += ['# classes = ["no", "yes"]\n']
    lines += ["# bounds = [0, 100]  # instead of classes, for a number to predict\n"]
    choices = "".join(f"# {line}\n" for kind in kinds for line in kind.form)
    lines += [
        f"\n{toml.write({'columns': {each: {}}})}{choices}" for each in names if each != chosen
    ]
    return "".join(lines)
