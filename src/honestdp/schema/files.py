"""`TableFile`: a table in files or in a database, by the place where it lies.

CSV, Parquet and xlsx files, several of them, folders of them, SQL queries: each is a kind of source
(`honestdp.schema.sources`).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from honestdp.schema.sources import TableOptions
from honestdp.schema.sources.opening import Place, open_source

_CHUNK = 1 << 20  # bytes of two files compared at a time


class TableFile:
    """A table that is not in memory: its names and number of rows, which are public, and its cells.

    Before a plan is charged only `names` and `count_rows` may be used. Counting the rows of a CSV
    requires parsing all of it: a quoted cell may hold line ends, and a broken line has to be found
    before the budget is spent. So that it is parsed only once, the parsed cells are held for
    `read`, which returns and forgets them. The rows of a query are counted by the database.

    Args:
        path: A CSV, Parquet or xlsx file, a folder of them, the URL of a database, or a list of
            these, whose rows follow each other; only headers are read at first.
        delimiter: The separator of a CSV file's cells; by default that of the header.
        decimal: The decimal mark of numbers that are text, "." or ","; by default ".".
        encoding: The encoding of a CSV file; by default UTF-8, or what the header's bytes say.
        sheet: The sheet of a workbook; by default the first.
        query: The SQL query to a database whose rows are the table.

    Raises:
        InputError: If there is no such table, it has no header, or an option does not fit it.

    Example:
        >>> TableFile("visits.csv", decimal=",").names  # doctest: +SKIP
        ['age', 'ward', 'readmitted']
    """

    def __init__(
        self,
        path: Place | Sequence[Place],
        *,
        delimiter: str | None = None,
        decimal: str | None = None,
        encoding: str | None = None,
        sheet: str | None = None,
        query: str | None = None,
    ) -> None:
        options = TableOptions(delimiter, decimal, encoding, sheet, query)
        self.source = open_source(path, options)
        self.decimal = options.decimal or "."

    @property
    def names(self) -> list[str]:
        """The names of the columns; of several files, those that all of them have."""
        return self.source.names

    @property
    def path(self) -> Path | None:
        """The file or folder of the table, the first of several; None: a database elsewhere."""
        return self.source.home

    def __str__(self) -> str:
        return str(self.source)

    def __repr__(self) -> str:
        return f"TableFile({str(self)!r})"

    def check(self, wanted: Sequence[str]) -> None:
        """Raise InputError unless every wanted column is there exactly once, in every file."""
        self.source.check(wanted)

    def count_rows(self, wanted: Sequence[str]) -> int:
        """Count the rows. wanted: the columns that `read` will be called with."""
        return self.source.count_rows(wanted)

    def read(self, wanted: Sequence[str]) -> pa.Table:
        """Read at least the wanted columns that are there. Sensitive."""
        return self.source.read(wanted)


def same_table(one: TableFile, other: TableFile) -> bool:
    """Whether two tables share a file (`same_file`) or a query. Only yes or no is returned."""
    files = [
        same_file(first, second) for first in one.source.files for second in other.source.files
    ]
    return any(files) or bool(one.source.queries & other.source.queries)


def same_file(one: Path, other: Path) -> bool:
    """Whether two paths lead to the same file (also by links), or to files of equal bytes.

    Compares a protected table with a file that the caller declares public, before anything is paid.
    No cell is parsed, and only yes or no is returned; a yes tells the caller that their own file
    holds the whole table. Files of equal size are read to the end, so that the time reveals no
    more. Nothing finer is compared, as whether single rows are in a file is what is protected: a
    part of the table, or its rows in another order or format, goes unnoticed.
    """
    if os.path.samefile(one, other):
        return True
    if os.path.getsize(one) != os.path.getsize(other):
        return False
    same = True
    with open(one, "rb") as first, open(other, "rb") as second:
        while chunk := first.read(_CHUNK):
            same &= chunk == second.read(_CHUNK)
    return same
