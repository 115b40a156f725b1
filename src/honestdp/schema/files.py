"""CSV and Parquet files, parsed once. Every CSV cell is text: no type is guessed from a value.

CSV: comma-separated (`.tsv`: tabs; a header without commas but with semicolons or tabs: those), a
header line, UTF-8; `.gz`, `.bz2` and `.zst` are unpacked. Bytes that are not UTF-8 become
replacement characters in their cell. A line with more or fewer cells than the header, or a quote
that never closes, is an error of the file and raises: rows are neither dropped nor padded. An empty
line is not a row, unless the table has only one column: then it is a missing cell.
Parquet is recognised by its first four bytes, whatever the file's name.

The errors of the readers quote cells; none of their text is passed on.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as parquet

from honestdp.errors import InputError
from honestdp.text import listed

BLOCK = 1 << 26  # bytes read at a time, and of the first line
LONGEST = (1 << 31) - 1  # of a line: the most that Arrow reads at a time
_CHUNK = 1 << 20  # bytes of two files compared at a time


class TableFile:
    """A CSV or Parquet file: its names and its number of rows, which are public, and its cells.

    Before a plan is charged only `names` and `count_rows` may be used. Counting the rows of a CSV
    requires parsing all of it: a quoted cell may hold line ends, and a broken line has to be found
    before the budget is spent. So that the file is parsed only once, the parsed cells are held here
    for `read`, which returns and forgets them.

    Args:
        path: The file; only its header is read at first.

    Raises:
        InputError: If there is no such file, or it has no header.

    Example:
        >>> TableFile("visits.csv").names  # doctest: +SKIP
        ['age', 'ward', 'readmitted']
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._parquet = is_parquet(self.path)
        self._parsed: tuple[frozenset[str], pa.Table] | None = None  # Sensitive
        self._delimiter = ","
        if self._parquet:
            with _sound_parquet(self.path):
                self.names = list(parquet.read_schema(self.path).names)
        else:
            self.names, self._delimiter = csv_header(self.path)

    def __str__(self) -> str:
        return str(self.path)

    def __repr__(self) -> str:
        return f"TableFile({str(self.path)!r})"

    def check(self, wanted: Sequence[str]) -> None:
        """Raise InputError unless the file has every wanted column exactly once."""
        check_names(str(self.path), [name.strip() for name in self.names], wanted)

    def count_rows(self, wanted: Sequence[str]) -> int:
        """Count the rows. wanted: the columns that `read` will be called with."""
        if self._parquet:
            with _sound_parquet(self.path):
                return int(parquet.read_metadata(self.path).num_rows)
        if self._parsed is None:
            self._parsed = frozenset(wanted), self._parse(wanted)
        return int(self._parsed[1].num_rows)

    def read(self, wanted: Sequence[str]) -> pa.Table:
        """Read the wanted columns that the file has; all columns of a Parquet file. Sensitive."""
        if self._parquet:
            with _sound_parquet(self.path):
                return parquet.ParquetFile(self.path).read()
        known, self._parsed = self._parsed, None
        if known is not None and known[0] == frozenset(wanted):
            return known[1]
        return self._parse(wanted)

    def _parse(self, wanted: Sequence[str]) -> pa.Table:
        return _read_csv(self.path, self.names, self._delimiter, set(wanted))


def check_names(source: str, names: Sequence[str], wanted: Sequence[str]) -> None:
    """Raise InputError unless every wanted column is among the names exactly once."""
    count = Counter(names)
    absent = [name for name in wanted if not count[name]]
    if absent:
        # If most are absent, the "names" may be cells of a row: they are not shown.
        there = f"it has {listed(names)}" if 2 * len(absent) < len(wanted) else _HEADER
        raise InputError(f"{source}: no column {listed(absent)}; {there}")
    twice = [name for name in wanted if count[name] > 1]
    if twice:
        raise InputError(f"{source}: several columns are called {listed(twice)}: keep one")


_HEADER = "does it have a header (column names), and are these its names?"


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


def is_parquet(path: Path) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"PAR1"
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        raise InputError(f"{path}: cannot be read ({reason}); give a CSV or Parquet file") from None


@contextmanager
def _sound_parquet(path: Path) -> Iterator[None]:
    try:
        yield
    except Exception:
        raise InputError(f"{path}: not a valid Parquet file; write it again") from None


def csv_header(path: Path) -> tuple[list[str], str]:
    """The names in the first line, and their separator."""
    try:
        with pa.input_stream(str(path), compression="detect") as stream:
            file = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="")
            lines = iter(lambda: file.readline(BLOCK), "")
            first = next(lines, "")
            separator = _separator(path, first)
            rest = (line for part in ([first], lines) for line in part)
            names = next(csv.reader(rest, delimiter=separator), [])
    except InputError:
        raise
    except Exception:
        raise InputError(f"{path}: its first line cannot be read; give a CSV file") from None
    if not names:
        raise InputError(f"{path}: no header; the first line must hold the names of the columns")
    if any("\0" in name for name in names):
        raise InputError(f"{path}: its first line is not UTF-8 text; save the file as UTF-8")
    return [name.strip() for name in names], separator


def _separator(path: Path, first: str) -> str:
    if ".tsv" in path.suffixes:
        return "\t"
    if "," not in first:
        return next((mark for mark in ";\t" if mark in first), ",")
    return ","


def _read_csv(path: Path, names: list[str], delimiter: str, wanted: set[str]) -> pa.Table:
    # Columns are named by position, as a name may occur twice; the header is row 0.
    positions = [f"f{i}" for i in range(len(names))]
    included = [i for i, name in enumerate(names) if name in wanted] or [0]
    parse = arrow_csv.ParseOptions(
        delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=len(names) > 1
    )
    convert = arrow_csv.ConvertOptions(
        check_utf8=False,
        column_types={position: pa.large_binary() for position in positions},
        include_columns=[positions[i] for i in included],
        strings_can_be_null=False,
    )

    def read(block: int) -> pa.Table:
        how = arrow_csv.ReadOptions(autogenerate_column_names=True, block_size=block)
        return arrow_csv.read_csv(str(path), how, parse, convert)

    try:
        try:
            table = read(BLOCK)
        except Exception as error:
            if "straddl" not in str(error):
                raise
            table = read(LONGEST)  # a record longer than a block
    except Exception as error:
        raise InputError(f"{path}: {_fault(str(error), len(names))}") from None
    called = [names[i] for i in included]
    first = [column[0].as_py() for column in table.columns if table.num_rows]
    if [cell.decode("utf-8", "replace").strip() for cell in first] != called:
        raise InputError(f"{path}: its first line can be read in two ways; quote it plainly")
    return table.slice(1).rename_columns(called)


def _fault(message: str, expected: int) -> str:
    """Describe the error of a CSV file without quoting a cell."""
    found = re.search(r"Expected (\d+) columns, got (\d+)", message)
    if found is None:
        return "not a valid CSV file (no rows, a quote that never closes, a broken archive?)"
    return (
        f"a line has {found[2]} cells, the header {expected}; "
        "every line needs as many, and a cell with a separator in it needs quotes"
    )
