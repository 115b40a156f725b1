"""`Source`: where a table lies and how it is read; and the registry of kinds.

A kind of source is known by the first bytes of a file or by the scheme of a URL, never by what its
rows hold. Before a plan is charged only `names` and `count_rows` may be used.

The errors of readers quote cells: none of their text is passed on. Only the structure of a table
raises, never a cell.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from honestdp.errors import InputError
from honestdp.registry import Registry
from honestdp.schema.sources.options import TableOptions
from honestdp.schema.sources.urls import is_url, scheme_of
from honestdp.text import listed

DATABASE = "database"  # the kind for every scheme that no kind names
TEXT_FILE = "csv"  # the kind for every file whose first bytes no kind names


class Source(ABC):
    """A table outside of this process: its names, its number of rows, its cells.

    Subclass it and register the class to add a kind. The constructor reads no more than the names.

    Args:
        place: A path or a URL, as it was given.
        options: How it is written; checked against the kind's own `options`.

    Attributes:
        name: The kind's name.
        label: What a message calls such a source, such as "a CSV file".
        magic: The first bytes of such a file.
        schemes: The schemes of such a URL.
        options: The names of the `TableOptions` that it takes.
        names: The names of the columns, which are public.
        files: The files whose bytes are the table.
        queries: The queries whose rows are the table, each with its database.
        home: The file or folder beside which a ledger belongs; None: nowhere on this machine.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    magic: ClassVar[bytes] = b""
    schemes: ClassVar[tuple[str, ...]] = ()
    options: ClassVar[frozenset[str]] = frozenset({"decimal"})

    names: list[str]

    def __init__(self, place: str, options: TableOptions) -> None:
        self.place = place
        options.check(self.options, str(self), self.label)

    def __str__(self) -> str:
        return self.place

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    @property
    def files(self) -> list[Path]:
        return [Path(self.place)]

    @property
    def queries(self) -> frozenset[tuple[str, str]]:
        return frozenset()

    @property
    def home(self) -> Path | None:
        return Path(self.place)

    def check(self, wanted: Sequence[str]) -> None:
        """Raise InputError unless every wanted column is there exactly once."""
        check_names(str(self), [name.strip() for name in self.names], wanted)

    @abstractmethod
    def count_rows(self, wanted: Sequence[str]) -> int:
        """Count the rows, which is public. wanted: the columns that `read` will be called with."""

    @abstractmethod
    def read(self, wanted: Sequence[str]) -> pa.Table:
        """Read at least the wanted columns that are there, in the order of rows. Sensitive."""


class ParsedSource(Source):
    """A source whose rows can only be counted by parsing all of it.

    So that it is parsed only once, the cells are held for `read`, which returns and forgets them.
    """

    _parsed: tuple[frozenset[str], pa.Table] | None = None  # Sensitive

    @abstractmethod
    def parse(self, wanted: Sequence[str]) -> pa.Table:
        """Read the wanted columns that are there. Sensitive."""

    def count_rows(self, wanted: Sequence[str]) -> int:
        if self._parsed is None:
            self._parsed = frozenset(wanted), self.parse(wanted)
        return int(self._parsed[1].num_rows)

    def read(self, wanted: Sequence[str]) -> pa.Table:
        known, self._parsed = self._parsed, None
        if known is not None and known[0] == frozenset(wanted):
            return known[1]
        return self.parse(wanted)


sources: Registry[type[Source]] = Registry(
    "source", "honestdp.schema.sources", "honestdp.sources", Source
)


def kind_of(place: str) -> type[Source]:
    """The kind of source at a place.

    Args:
        place: A path to a file, or a URL.

    Raises:
        InputError: If there is no such file, or it cannot be read.
    """
    if is_url(place):
        found = [kind for kind in sources if scheme_of(place) in kind.schemes]
        return found[0] if found else sources.get(DATABASE)
    first = _first_bytes(place)
    found = [kind for kind in sources if kind.magic and first.startswith(kind.magic)]
    return found[0] if found else sources.get(TEXT_FILE)


def _first_bytes(place: str) -> bytes:
    try:
        with open(place, "rb") as file:
            return file.read(16)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        remedy = "give a CSV, Parquet or xlsx file, a folder of them, or a URL with a query"
        raise InputError(f"{place}: cannot be read ({reason}); {remedy}") from None


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
