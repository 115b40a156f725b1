"""CSV files. Every cell is text: no type is guessed from a value.

A header line, then one line a row; `.gz`, `.bz2` and `.zst` are unpacked. The separator is the
comma, semicolon, tab or bar that the header holds most of (`.tsv`: tabs), unless it is declared.
The encoding is UTF-8 unless a byte order mark or a declaration says otherwise, or the header holds
bytes that are not UTF-8: then it is read as Windows-1252. Neither is ever taken from the rows.
Bytes of a cell that are not in the encoding become replacement characters.

A line with more or fewer cells than the header, or a quote that never closes, is an error of the
file and raises: rows are neither dropped nor padded. An empty line is not a row, unless the table
has only one column: then it is a missing cell.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple

import pyarrow as pa
import pyarrow.csv as arrow_csv

from honestdp.errors import InputError
from honestdp.schema.sources.base import ParsedSource, sources
from honestdp.schema.sources.options import TableOptions

BLOCK = 1 << 26  # bytes read at a time, and of the first line
LONGEST = (1 << 31) - 1  # of a line: the most that Arrow reads at a time
MARKS = ",;\t|"  # separators that a header is searched for, the first of equals
UTF8 = "utf-8"
_BYTE_ORDER_MARKS = {  # the longer ones first: one begins like another
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: UTF8,
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_RECODED = 1 << 20  # characters recoded at a time


class Header(NamedTuple):
    """The names in the first line, and how the file is written."""

    names: list[str]
    delimiter: str
    encoding: str


@sources.register
class CsvSource(ParsedSource):
    """A CSV file; any file that is of no other kind."""

    name: ClassVar[str] = "csv"
    label: ClassVar[str] = "a CSV file"
    options: ClassVar[frozenset[str]] = frozenset({"delimiter", "decimal", "encoding"})

    def __init__(self, place: str, options: TableOptions) -> None:
        super().__init__(place, options)
        self._header = csv_header(Path(place), options)
        self.names = self._header.names

    def parse(self, wanted: Sequence[str]) -> pa.Table:
        return read_csv(Path(self.place), self._header, set(wanted))


def csv_header(path: Path, options: TableOptions) -> Header:
    """Read the first line of a CSV file."""
    try:
        encoding = _encoding(path, options.encoding)
        with pa.input_stream(str(path), compression="detect") as stream:
            file = _text(stream, encoding)
            lines = iter(lambda: file.readline(BLOCK), "")
            first = next(lines, "")
            separator = options.delimiter or _separator(path, first)
            rest = (line for part in ([first], lines) for line in part)
            names = next(csv.reader(rest, delimiter=separator), [])
    except Exception:
        raise InputError(f"{path}: its first line cannot be read; give a CSV file") from None
    if not names:
        raise InputError(f"{path}: no header; the first line must hold the names of the columns")
    wrong = options.encoding is not None and any("\ufffd" in name for name in names)
    if wrong or any("\0" in name for name in names):
        way = "give its encoding, such as utf-16, or save it as UTF-8"
        raise InputError(f"{path}: its first line is not {encoding.upper()} text; {way}")
    return Header([name.strip() for name in names], separator, encoding)


def _text(stream: pa.NativeFile, encoding: str) -> io.TextIOWrapper:
    """A file as text; without a byte order mark, which utf-16 and utf-32 drop by themselves."""
    how = "utf-8-sig" if encoding == UTF8 else encoding
    return io.TextIOWrapper(stream, encoding=how, errors="replace", newline="")


def _encoding(path: Path, declared: str | None) -> str:
    """The encoding by a byte order mark, by declaration, or by the bytes of the first line."""
    with pa.input_stream(str(path), compression="detect") as stream:
        line = io.BufferedReader(stream).readline(BLOCK)
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if line.startswith(mark):
            return encoding
    if declared is not None:
        return declared
    try:
        re.split(rb"[\r\n]", line, maxsplit=1)[0].decode(UTF8)
    except UnicodeDecodeError:
        return "cp1252"
    return UTF8


def _separator(path: Path, first: str) -> str:
    """The separator that the header holds most of, not counting those in quotes."""
    if ".tsv" in path.suffixes:
        return "\t"
    plain = "".join(first.split('"')[::2])
    return max(MARKS, key=plain.count)


def read_csv(path: Path, header: Header, wanted: set[str]) -> pa.Table:
    """Parse the wanted columns of a CSV file, each cell as bytes of UTF-8. Sensitive."""
    # Columns are named by position, as a name may occur twice; the header is row 0.
    names = header.names
    positions = [f"f{i}" for i in range(len(names))]
    included = [i for i, name in enumerate(names) if name in wanted] or [0]
    parse = arrow_csv.ParseOptions(
        delimiter=header.delimiter, newlines_in_values=True, ignore_empty_lines=len(names) > 1
    )
    convert = arrow_csv.ConvertOptions(
        check_utf8=False,
        column_types={position: pa.large_binary() for position in positions},
        include_columns=[positions[i] for i in included],
        strings_can_be_null=False,
    )

    def read(block: int) -> pa.Table:
        how = arrow_csv.ReadOptions(autogenerate_column_names=True, block_size=block)
        if header.encoding == UTF8:
            return arrow_csv.read_csv(str(path), how, parse, convert)
        with pa.input_stream(str(path), compression="detect") as stream:
            recoded = io.BufferedReader(_Recoded(_text(stream, header.encoding)))
            return arrow_csv.read_csv(recoded, how, parse, convert)

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
    if [_name(cell) for cell in first] != called:
        raise InputError(f"{path}: its first line can be read in two ways; quote it plainly")
    return table.slice(1).rename_columns(called)


def _name(cell: bytes) -> str:
    return cell.decode(UTF8, "replace").strip()


class _Recoded(io.RawIOBase):
    """Text as bytes of UTF-8. Arrow's own recoding would raise where a cell cannot be decoded."""

    def __init__(self, text: io.TextIOWrapper) -> None:
        self._text = text
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if not self._left:
            self._left = memoryview(self._text.read(_RECODED).encode(UTF8, "replace"))
        count = min(len(buffer), len(self._left))
        buffer[:count], self._left = self._left[:count], self._left[count:]
        return count


def _fault(message: str, expected: int) -> str:
    """Describe the error of a CSV file without quoting a cell."""
    found = re.search(r"Expected (\d+) columns, got (\d+)", message)
    if found is None:
        return "not a valid CSV file (no rows, a quote that never closes, a broken archive?)"
    return (
        f"a line has {found[2]} cells, the header {expected}; "
        "every line needs as many, and a cell with a separator in it needs quotes"
    )
