"""Queries to PostgreSQL, no cell of which raises.

Python has no date for 'infinity' or 44 BC, no interval of a billion years and no number of 5,000
digits in a JSON text; a database without an encoding (SQL_ASCII) holds any bytes as text. The
drivers raise at such a cell: one record would end a run that has been charged, and tell that it is
there. Here such a cell is what the database sent, unreadable like any other text that does not fit
its column.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from honestdp.schema.sources.base import sources
from honestdp.schema.sources.sql import DatabaseSource

_NO_ENCODING, _ANY_BYTE = "SQL_ASCII", "LATIN1"  # LATIN1 reads any byte
_TEXTS = ("text", "varchar", "bpchar", "name")
_SAFE = frozenset({"bool", "int2", "int4", "int8", "float4", "float8", "numeric", *_TEXTS})


@sources.register
class PostgresSource(DatabaseSource):
    """A query to PostgreSQL by psycopg or psycopg2; other drivers are taken as they are."""

    name: ClassVar[str] = "postgresql"
    schemes: ClassVar[tuple[str, ...]] = (
        "postgresql", "postgresql+psycopg", "postgresql+psycopg2"
    )  # fmt: skip

    def connect_arguments(self, driver: str) -> dict[str, Any]:
        return {"client_encoding": "utf8"} if driver in _DRIVERS else {}

    def prepare(self, connection: Any, driver: str) -> None:
        if driver in _DRIVERS:
            _DRIVERS[driver](connection)


def _psycopg(connection: Any) -> None:
    from psycopg.adapt import Loader
    from psycopg.postgres import types
    from psycopg.pq import Format

    class Unchanged(Loader):
        def load(self, data: Any) -> Any:
            return bytes(data)

    def forgiving(original: Any) -> type[Any]:
        class Forgiving(Loader):
            def __init__(self, oid: int, context: Any = None) -> None:
                super().__init__(oid, context)
                self._original = original(oid, context)

            def load(self, data: Any) -> Any:
                try:
                    return self._original.load(data)
                except Exception:
                    return bytes(data)

        return Forgiving

    for info in types:
        for oid in (info.oid, info.array_oid):
            original = connection.adapters.get_loader(oid, Format.TEXT)
            if original is not None and (info.name not in _SAFE or oid == info.array_oid):
                connection.adapters.register_loader(oid, forgiving(original))
    if connection.info.parameter_status("server_encoding") == _NO_ENCODING:
        connection.execute(f"SET client_encoding TO {_ANY_BYTE}")
        for name in _TEXTS:
            connection.adapters.register_loader(name, Unchanged)


def _psycopg2(connection: Any) -> None:
    from psycopg2 import extensions

    def unchanged(value: str | None, cursor: Any) -> Any:
        return value

    def forgiving(original: Any) -> Callable[[str | None, Any], Any]:
        def load(value: str | None, cursor: Any) -> Any:
            try:
                return original(value, cursor)
            except Exception:
                return value

        return load

    plain = (extensions.BOOLEAN, extensions.INTEGER, extensions.LONGINTEGER, extensions.FLOAT,
             extensions.DECIMAL, extensions.UNICODE)  # fmt: skip
    safe = {oid for kind in plain for oid in kind.values}
    for oid, original in {**extensions.string_types, **connection.string_types}.items():
        if oid not in safe and original.name != "BINARY":
            # Lists of views of memory would have the addresses as their text.
            load = unchanged if original.name == "BINARYARRAY" else forgiving(original)
            kind = extensions.new_type((oid,), original.name, load)
            extensions.register_type(kind, connection)
    if connection.get_parameter_status("server_encoding") == _NO_ENCODING:
        connection.set_client_encoding(_ANY_BYTE)
        extensions.register_type(extensions.BYTES, connection)


_DRIVERS = {"psycopg": _psycopg, "psycopg2": _psycopg2}
