"""A schema to fill in, from the names of the columns alone: no row is read."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from honestdp.errors import InputError, fail
from honestdp.schema.files import header
from honestdp.schema.toml import key_text, text

INTRO = """\
# The public facts of a table. Fill in every column; take nothing from the rows themselves:
# what stands here must be known without looking at them (a code book, common knowledge).
# Remove the columns that are not to be used, such as identifiers, dates and free text. Then
# uncomment, for each, one of the two kinds:
#   kind = "numeric", bounds = [low, high]        cells outside are clipped: give the range where
#                                                 nearly all lie; far too wide costs accuracy
#       or bounds = "learn", outer = [low, high]  paid for from the privacy budget
#   kind = "categorical", categories = [...]      other = true: one more bin for other words
# Categories and classes are spelled as in the cells (upper and lower case count); a row whose
# target is none of the classes counts for nothing. Files are UTF-8.
# missing = ... is what a missing or unreadable cell stands for (the middle; the other bin).
"""


def from_header(
    source: str | PathLike[str] | Iterable[str],
    *,
    name: str | None = None,
    target: str | None = None,
) -> str:
    """TOML to fill in, for a CSV or Parquet file or for names given as a list.

    name: what the dataset is called (else the file's name). target: the column to predict (else
    the last one, as tables usually have it: check it).
    """
    if isinstance(source, (str, PathLike)):
        path = Path(source)
        names, called = header(path), path.name.split(".")[0]
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
    lines = [INTRO, f"name = {text(name or called or 'my-table')}", 'unit = "one row"', ""]
    lines += ["[target]", f"column = {text(chosen)}", '# classes = ["no", "yes"]']
    lines += ["# bounds = [0, 100]  # instead of classes, for a number to predict"]
    for each in names:
        if each != chosen:
            lines += ["", f"[columns.{key_text(each)}]"]
            lines += ['# kind = "numeric"', "# bounds = [0, 100]"]
            lines += ['# kind = "categorical"', '# categories = ["a", "b"]', "# other = true"]
    return "\n".join(lines) + "\n"
