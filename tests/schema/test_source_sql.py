"""Queries as tables: read only, odd cells, and passwords that nobody sees."""

from __future__ import annotations

import sqlite3
import sys
import traceback
import warnings
from pathlib import Path

import pytest
from schema_examples import rows_of, small_schema

from honestdp.errors import InputError
from honestdp.schema import TableFile
from honestdp.schema.cells import as_text
from honestdp.schema.files import same_table
from honestdp.schema.sources import sql
from honestdp.schema.sources.urls import split_url, with_path, without_secrets
from honestdp.schema.tables import open_table

QUERY = "SELECT age, job, town, pay FROM visits ORDER BY id"
NAMES = ["age", "job", "town", "pay"]
ROWS = [(50, "clerk", "north", "low"), (None, "x", "y", "high")]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return made(tmp_path / "visits.db", ROWS)


def made(place: Path, rows: list[tuple[object, ...]]) -> Path:
    connection = sqlite3.connect(place)
    connection.execute("CREATE TABLE visits (id INTEGER PRIMARY KEY, age, job, town, pay)")
    connection.executemany("INSERT INTO visits (age, job, town, pay) VALUES (?, ?, ?, ?)", rows)
    connection.commit()
    connection.close()
    return place


@pytest.mark.parametrize("scheme", ["sqlite", "sqlite+pysqlite"])
def test_a_query_is_a_table(database: Path, scheme: str) -> None:
    if scheme != "sqlite":
        pytest.importorskip("sqlalchemy")
    for end in ("", ";", " ;\n", " -- by number", "\n-- 100 % of :them"):
        table = TableFile(f"{scheme}:///{database}", query=QUERY + end)
        assert table.names == NAMES
        assert table.count_rows(NAMES) == 2
        found = rows_of(small_schema().encode(table)).tolist()
        assert found[0] == [0.5, 1, 0, 0, 0, 1, 0, 0]
    table = TableFile(f"{scheme}:///{database}?query={QUERY} DESC")
    assert table.read(["age"]).to_pydict() == {"age": [None, "50"]}
    assert str(table) == f"{scheme}:///{database}"
    assert table.path == database


def test_any_type_of_cell_in_any_column(tmp_path: Path) -> None:
    """Also text that is not UTF-8: none of it raises, warns or changes another cell."""
    odd = [(1, b"\xff", 2**62, "low"), (1.5, "2,5", float("inf"), None), ("1,5", "", b"x", "no")]
    place = made(tmp_path / "t.db", odd)
    connection = sqlite3.connect(place)
    connection.execute("INSERT INTO visits (age, job) VALUES (CAST(X'FF41' AS TEXT), X'00')")
    connection.commit()
    connection.close()
    with warnings.catch_warnings(action="error"):
        opened = open_table(TableFile(f"sqlite:///{place}", query=QUERY, decimal=","), NAMES)
    numbers = opened.cells("age").numbers().tolist()
    assert numbers[:3] == [1.0, 1.5, 1.5]
    assert numbers[3] != numbers[3]
    assert opened.cells("age").texts()[3] == "\ufffdA"
    assert opened.cells("job").texts()[:3] == ["\ufffd", "2,5", None]
    assert opened.cells("town").texts()[:3] == [str(2**62), None, "x"]


def test_bytes_of_any_type_are_text() -> None:
    for value in (b"A\xff", bytearray(b"A\xff"), memoryview(b"A\xff")):
        assert as_text(value) == "A\ufffd"


def test_a_query_changes_nothing(database: Path) -> None:
    before = database.read_bytes()
    for query in ("DELETE FROM visits", "DELETE FROM visits RETURNING *", "DROP TABLE visits",
                  "SELECT 1; DROP TABLE visits", "PRAGMA user_version = 3",
                  "SELECT 1) x; DELETE FROM visits; --"):  # fmt: skip
        with pytest.raises(InputError, match="not a query for it"):
            TableFile(f"sqlite:///{database}", query=query)
    assert database.read_bytes() == before


def test_what_is_wrong_is_one_line(database: Path, tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("SECRET " * 1000)
    for url, said in (
        (f"sqlite:///{database}", "query: none, .* is a database; give one"),
        (f"sqlite:///{database}?query= ;", "is a database; give one"),
        (f"sqlite:///{database}?query=SELECT agee FROM visits", "no such column: agee"),
        (f"sqlite:///{tmp_path}/none.db?query={QUERY}", "no such database file"),
        (f"sqlite:///{tmp_path}/text.db?query={QUERY}", "file is not a database"),
        (f"sqlite://?query={QUERY}", "three slashes and a path"),
        (f"klingon://u:SECRET@host/d?query={QUERY}", "table='klingon://u@host/d': is not a path"),
    ):
        with pytest.raises(InputError, match=said) as caught:
            TableFile(url)
        text = "".join(traceback.format_exception(caught.value))
        assert "SECRET" not in text
        assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="holds one already"):
        TableFile(f"sqlite:///{database}?query={QUERY}", query=QUERY)
    with pytest.raises(InputError, match="is a database, which has none"):
        TableFile(f"sqlite:///{database}", query=QUERY, encoding="utf-8")


def test_a_query_that_a_cell_makes_fail_does_not_quote_it(tmp_path: Path) -> None:
    place = made(tmp_path / "t.db", [("SECRET", "", "", "")])
    table = TableFile(f"sqlite:///{place}?query=SELECT json(age) AS age FROM visits")
    with pytest.raises(InputError, match=r"the query failed \(OperationalError\)") as caught:
        table.read(["age"])
    assert "SECRET" not in "".join(traceback.format_exception(caught.value))


def test_without_sqlalchemy_the_remedy_is_one_line(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    with pytest.raises(InputError, match=r"pip install 'honestdp\[sql\]'"):
        TableFile("postgresql://me:SECRET@host/d?query=SELECT 1")


def test_one_query_is_the_same_table(database: Path, tmp_path: Path) -> None:
    def table(query: str, url: str = f"sqlite:///{database}") -> TableFile:
        return TableFile(url, query=query)

    assert same_table(table(QUERY), table(QUERY.replace(" FROM", "\n  FROM")))
    (tmp_path / "link.db").symlink_to(database)
    assert same_table(table(QUERY), table(QUERY, f"sqlite:///{tmp_path}/link.db"))
    assert not same_table(table(QUERY), table("SELECT * FROM visits WHERE id > 1"))


SECRETS = [
    ("postgresql://me:SECRET@host:5432/d", "postgresql://me@host:5432/d"),
    ("postgresql+psycopg://me:SEC@RET/SECRET?@host/d", "postgresql+psycopg://me@host/d"),
    ("postgresql://:SECRET@host/d", "postgresql://@host/d"),
    ("mysql://me@host/d?password=SECRET&charset=utf8", "mysql://me@host/d?charset=utf8"),
    ("mysql://host/d?charset=utf8&ssl_key=SECRET", "mysql://host/d?charset=utf8"),
    ("mssql+pyodbc:///?odbc_connect=UID%3Dme%3BPWD%3DSECRET", "mssql+pyodbc:///"),
    ("mssql+pyodbc:///?a=1&odbc_connect=UID=me;PWD=SECRET", "mssql+pyodbc:///?a=1"),
    ("bigquery://p/d?credentials_base64=SECRET", "bigquery://p/d"),
    ("x://me:SECRET@h/d?a=1&query=SELECT '@'", "x://me@h/d?a=1&query=SELECT '@'"),
    ("x://me:SECRET@h?query=SELECT key=1 & 3 + 4 % 5", "x://me@h?query=SELECT key=1 & 3 + 4 % 5"),
    ("sqlite:///visits.db", "sqlite:///visits.db"),
    ("a:b@c.csv", "a:b@c.csv"),
]  # fmt: skip


@pytest.mark.parametrize(("url", "public"), SECRETS)
def test_no_password_is_shown_or_stored(url: str, public: str) -> None:
    assert without_secrets(url) == public
    assert without_secrets(public) == public


def test_a_password_comes_from_the_environment(monkeypatch) -> None:
    pytest.importorskip("sqlalchemy")
    asked = []

    def noted(url: object, **options: object) -> object:
        asked.append(url)
        raise ValueError("SECRET")

    monkeypatch.setattr("sqlalchemy.create_engine", noted)
    monkeypatch.setenv(sql.PASSWORD, "SECRET")
    for url in ("postgresql://me@host/d", "postgresql://me:own@host/d", "sqlite+pysqlite:///t.db"):
        with pytest.raises(InputError) as caught:
            TableFile(url, query="SELECT 1")
        assert "SECRET" not in "".join(traceback.format_exception(caught.value))
    assert [url.password for url in asked] == ["SECRET", "own", None]


def test_paths_in_urls_are_paths() -> None:
    assert with_path("a.csv", str.upper) == "A.CSV"
    assert with_path("sqlite:///a.db?query=SELECT b", str.upper) == "sqlite:///A.DB?query=SELECT b"
    assert with_path("sqlite:////a/b.db", str.upper) == "sqlite:////A/B.DB"
    assert with_path("postgresql://host/d", str.upper) == "postgresql://host/d"
    assert split_url("x://h?query=a?query=b") == ("x://h", "a?query=b")
