"""The rows of a SQL query: the contract, and databases that SQLAlchemy connects to.

The rows are split by their number, so the query has to give them in a fixed order: ORDER BY.
Before a plan is charged the database is asked for the names and the number of the query's rows.
Passwords are shown nowhere and stored nowhere: what is not in the URL comes from the driver's own
places (PGPASSWORD, .pgpass) or from the environment variable HONESTDP_DB_PASSWORD.
"""

from __future__ import annotations

import os
import warnings
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from honestdp.errors import InputError, fail
from honestdp.schema.sources.base import Source, sources
from honestdp.schema.sources.objects import text_table
from honestdp.schema.sources.options import TableOptions
from honestdp.schema.sources.urls import split_url, sqlite_path, without_secrets

PASSWORD = "HONESTDP_DB_PASSWORD"  # the environment variable
Answer = tuple[list[str], list[tuple[Any, ...]]]  # names and rows


class SqlSource(Source):
    """A query as a table. A kind defines how a statement is carried out."""

    label: ClassVar[str] = "a database"
    options: ClassVar[frozenset[str]] = frozenset({"decimal", "query"})

    def __init__(self, place: str, options: TableOptions) -> None:
        self._address, own = split_url(place)
        super().__init__(place, options)
        self._decimal = options.decimal or "."
        self.query = _checked_query(str(self), own, options.query)
        self.names = [name.strip() for name in self.names_of_query()]

    def __str__(self) -> str:
        return without_secrets(self._address)

    @property
    def files(self) -> list[Path]:
        return []  # of one database, one query may be protected and another public

    @property
    def queries(self) -> frozenset[tuple[str, str]]:
        database = str(self) if self.home is None else os.path.realpath(self.home)
        return frozenset({(database, " ".join(self.query.split()))})

    @property
    def home(self) -> Path | None:
        path = sqlite_path(self._address)
        return None if path is None else Path(path)

    @abstractmethod
    def answer(self, statement: str) -> Answer:
        """Carry out one statement, which changes nothing. Sensitive.

        Raises:
            InputError: If that fails; only the type of the driver's error is shown.
        """

    def names_of_query(self) -> list[str]:
        return self.answer(f"SELECT * FROM {self.inner} WHERE 1 = 0")[0]

    @property
    def inner(self) -> str:
        """The query as part of another. On lines of its own, as it may end with a comment; that it
        stands here also makes sure that it changes nothing."""
        return f"(\n{self.query}\n) honestdp_rows"

    def count_rows(self, wanted: Sequence[str]) -> int:
        return int(self.answer(f"SELECT COUNT(*) FROM {self.inner}")[1][0][0])

    def read(self, wanted: Sequence[str]) -> pa.Table:
        names, rows = self.answer(self.query)  # not inside another, which may lose its order
        if [name.strip() for name in names] != self.names:
            raise InputError(f"{self}: the columns of the query have changed; start again")
        at = [i for i, name in enumerate(self.names) if name in set(wanted)] or [0]
        kept = [[row[i] for i in at] for row in rows]
        return text_table([self.names[i] for i in at], kept, self._decimal)

    def failed(self, error: Exception, remedy: str) -> InputError:
        return InputError(f"{self}: the query failed ({type(error).__name__}); {remedy}")


def _checked_query(source: str, in_url: str | None, option: str | None) -> str:
    if in_url is not None and option is not None:
        raise InputError(f"query: {source} holds one already; give one of them")
    found = (in_url if option is None else option) or ""
    query = found.strip().rstrip(";").strip()
    if not query:
        remedy = "give one, such as --query 'SELECT age, ward FROM visits ORDER BY id'"
        raise InputError(f"query: none, and {source} is a database; {remedy}")
    return query


@sources.register
class DatabaseSource(SqlSource):
    """A query to any database that SQLAlchemy has a dialect for."""

    name: ClassVar[str] = "database"

    def answer(self, statement: str) -> Answer:
        engine = self._engine()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # some are about single cells
                with engine.connect() as connection:
                    own = connection.connection.driver_connection
                    self.prepare(own, engine.dialect.driver)
                    # Nothing is committed; % and : in the query are not parameters.
                    how = connection.execution_options(no_parameters=True)
                    found = how.exec_driver_sql(statement)
                    names = [str(name) for name in tuple(found.keys())]
                    return names, [tuple(row) for row in found]
        except Exception as error:
            way = f"are query, address, user and password ({PASSWORD}) right?"
            raise self.failed(error, way) from None
        finally:
            engine.dispose()

    def connect_arguments(self, driver: str) -> dict[str, Any]:
        """What the driver is given besides the URL; by default nothing."""
        return {}

    def prepare(self, connection: Any, driver: str) -> None:
        """Make a new connection of the driver give cells that do not raise; by default as it is."""

    def _engine(self) -> Any:
        try:
            from sqlalchemy import create_engine, make_url
        except ImportError:
            way = "pip install 'honestdp[sql]' and the database's driver, such as psycopg2"
            raise InputError(f"{self}: is read by SQLAlchemy: {way}") from None
        try:
            url = make_url(self._address)
            known = os.environ.get(PASSWORD)
            if url.password is None and known and url.host:
                url = url.set(password=known)
            more = self.connect_arguments(url.get_driver_name())
            return create_engine(url, hide_parameters=True, connect_args=more)
        except ImportError as error:
            named = error.name or "see SQLAlchemy's list of dialects"
            other = "install it, or name another in the URL, as in mysql+pymysql://"
            raise InputError(f"{self}: its driver is not installed ({named}); {other}") from None
        except Exception:
            remedy = "is not a path or a URL that is known; write it as sqlite:///visits.db or "
            raise fail("table", str(self), f"{remedy}postgresql://user@host/database") from None
