"""The rows of a query to a SQLite file, through Python's own driver, opened for reading only."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import ClassVar

from honestdp.errors import InputError, fail, one_line
from honestdp.schema.sources.base import sources
from honestdp.schema.sources.options import TableOptions
from honestdp.schema.sources.sql import Answer, SqlSource
from honestdp.schema.sources.urls import sqlite_path, without_secrets


@sources.register
class SqliteSource(SqlSource):
    """A query to a database file: sqlite:///visits.db, or sqlite:////a/path/visits.db."""

    name: ClassVar[str] = "sqlite"
    schemes: ClassVar[tuple[str, ...]] = ("sqlite",)

    def __init__(self, place: str, options: TableOptions) -> None:
        found = sqlite_path(place)
        if found is None:
            shown = without_secrets(place)
            raise fail("table", shown, "write it as sqlite:///visits.db, three slashes and a path")
        self._path = Path(found)
        if not self._path.is_file():
            raise InputError(f"{found}: there is no such database file; give the path of one")
        super().__init__(place, options)

    def names_of_query(self) -> list[str]:
        # Compiled before it is carried out: what is wrong then is wrong with the query alone.
        try:
            with closing(self._connected()) as connection:
                connection.execute(f"EXPLAIN SELECT * FROM {self.inner}")
        except sqlite3.Error as error:
            raise InputError(f"{self}: not a query for it ({one_line(error)})") from None
        return super().names_of_query()

    def answer(self, statement: str) -> Answer:
        try:
            with closing(self._connected()) as connection:
                cursor = connection.execute(statement)
                return [str(field[0]) for field in cursor.description], cursor.fetchall()
        except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
            raise self.failed(error, "is it a sound file, and the query right?") from None

    def _connected(self) -> sqlite3.Connection:
        made = sqlite3.connect(f"{self._path.absolute().as_uri()}?mode=ro", uri=True)
        made.text_factory = _decoded  # the usual one raises if a cell is not UTF-8
        return made


def _decoded(cell: bytes) -> str:
    return cell.decode("utf-8", "replace")
