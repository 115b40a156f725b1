"""Several files as one table: rows in the order in which the files are given.

A folder stands for all files in it and below it, in the order of their paths, but for those whose
names begin with "." or "_". Folders named `key=value` are hive partitions: a column `key`, with
that text in every row of the files below.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar
from urllib.parse import unquote

import pyarrow as pa

from honestdp.errors import InputError
from honestdp.schema.cells import TEXT, as_object
from honestdp.schema.sources.base import Source, check_names
from honestdp.schema.sources.objects import text_column
from honestdp.schema.sources.options import TableOptions

_NULL = "__HIVE_DEFAULT_PARTITION__"
_NOT_DATA = (".", "_")  # first characters of names: marks, checksums, half-written files


@dataclass(frozen=True)
class Part:
    """One file of several. partition: the columns that its folders stand for."""

    source: Source
    partition: dict[str, str | None] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        return [*(name.strip() for name in self.source.names), *self.partition]

    def read(self, wanted: Sequence[str]) -> pa.Table:
        """The wanted columns, in that order. Sensitive."""
        read = self.source.read(wanted)
        named = read.rename_columns([name.strip() for name in read.column_names])
        for name, text in self.partition.items():
            named = named.append_column(name, pa.repeat(pa.scalar(text, TEXT), named.num_rows))
        return named.select(list(wanted))


class SeveralFiles(Source):
    """Tables with the same columns, one after the other.

    names: The columns that all of them have.
    """

    label: ClassVar[str] = "several files"

    def __init__(
        self, place: str, home: Path | None, parts: Sequence[Part], options: TableOptions
    ) -> None:
        self.place, self._home = place, home
        self._parts, self._decimal = list(parts), options.decimal or "."
        first, *others = (part.names for part in parts)
        self.names = [name for name in first if all(name in other for other in others)]

    @property
    def files(self) -> list[Path]:
        return [file for part in self._parts for file in part.source.files]

    @property
    def queries(self) -> frozenset[tuple[str, str]]:
        return frozenset().union(*(part.source.queries for part in self._parts))

    @property
    def home(self) -> Path | None:
        return self._home

    def check(self, wanted: Sequence[str]) -> None:
        for part in self._parts:
            check_names(str(part.source), part.names, wanted)

    def count_rows(self, wanted: Sequence[str]) -> int:
        return sum(part.source.count_rows(wanted) for part in self._parts)

    def read(self, wanted: Sequence[str]) -> pa.Table:
        there = [name for name in wanted if any(name in part.names for part in self._parts)]
        self.check(there)  # in one file, and so in all
        tables = [part.read(there) for part in self._parts]
        columns = [self._joined([table.column(name) for table in tables]) for name in there]
        return pa.Table.from_arrays(columns, names=there)

    def _joined(self, columns: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
        """Columns of one type as they are; of several (by the files' own word), as text. But
        decimal and floating numbers, whose cells are read as floats in a file of their own, as
        floats."""
        types = {column.type for column in columns}
        if len(types) > 1 and all(map(_is_fraction, types)):
            columns = [column.cast(pa.float64(), safe=False) for column in columns]
        elif len(types) > 1:
            columns = [pa.chunked_array([self._texts(column)]) for column in columns]
        chunks = [chunk for column in columns for chunk in column.chunks]
        return pa.chunked_array(chunks, columns[0].type)

    def _texts(self, column: pa.ChunkedArray) -> pa.Array:
        return text_column([as_object(cell) for cell in column], self._decimal)


def _is_fraction(kind: pa.DataType) -> bool:
    return pa.types.is_decimal(kind) or pa.types.is_floating(kind)


def files_of_folder(folder: Path) -> list[tuple[str, dict[str, str | None]]]:
    """Every file of a folder, with the columns that the folders above it stand for."""
    found: list[Path] = []
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(_NOT_DATA)]
        found += [Path(place, name) for name in files if not name.startswith(_NOT_DATA)]
    if not found:
        raise InputError(f"{folder}: a folder without files; give one with CSV or Parquet files")
    return [(str(path), _partition(path.relative_to(folder).parts[:-1])) for path in sorted(found)]


def _partition(folders: Sequence[str]) -> dict[str, str | None]:
    pairs = [folder.partition("=") for folder in folders if "=" in folder]
    return {key.strip(): None if text == _NULL else unquote(text) for key, _, text in pairs}
