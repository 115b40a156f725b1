"""A real PostgreSQL server as a table: every type of cell, whole commands, passwords unseen.

The server is started in a folder of its own, for this file, where PostgreSQL is installed.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from honestdp.schema import TableFile

pytestmark = pytest.mark.slow
PASSWORD = "sesame-SECRET"
DRIVERS = ("psycopg", "psycopg2")
QUERY = "SELECT * FROM visits WHERE note NOT LIKE '%:x%' ORDER BY id"
SCHEMA = """name = "visits"
unit = "one visit"
[target]
column = "ill"
classes = ["no", "yes"]
[columns]
age = {kind = "numeric", bounds = [0, 100]}
paid = {kind = "numeric", bounds = [0, 100]}
member = {kind = "boolean"}
born = {kind = "date", first = "1930-01-01", last = "2029-12-31"}
seen = {kind = "date", first = "2024-01-01", last = "2025-12-31", time = true}
ward = {kind = "categorical", categories = ["north", "south"]}
note = {kind = "text", buckets = 16}
"""
TABLE = """
CREATE TYPE ward AS ENUM ('north', 'south');
CREATE TABLE visits (id int PRIMARY KEY, age smallint, paid numeric(8, 2), member boolean,
    born date, seen timestamptz, ward ward, note text, marks int[], photo bytea, ill text);
INSERT INTO visits SELECT i, i % 100, i % 7000 / 70.0, i % 3 = 0, date '1930-01-01' + 9 * i,
    timestamp '2024-01-01' + i * interval '1 hour', (ARRAY['north', 'south'])[1 + i % 2]::ward,
    'visit no ' || i, ARRAY[i, 2], '\\x41', CASE WHEN i % 100 > 50 THEN 'yes' ELSE 'no' END
    FROM generate_series(1, 2000) AS i;
UPDATE visits SET age = NULL, born = NULL, ward = NULL, photo = NULL WHERE id % 50 = 0;
CREATE DATABASE plain ENCODING 'SQL_ASCII' TEMPLATE template0;
"""


def _program(name: str) -> str | None:
    known = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return shutil.which(name) or (str(known[-1]) if known else None)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """user@host:port of a server that only this machine can reach."""
    if _program("initdb") is None or _program("pg_ctl") is None or _program("psql") is None:
        pytest.skip("PostgreSQL is not installed: its initdb, pg_ctl and psql are not found")
    # The server refuses to run as root.
    user = "nobody" if os.geteuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="honestdp-postgresql-"))
    if user is not None:
        shutil.chown(folder, user)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def call(name: str, *arguments: str, text: str | None = None) -> None:
        subprocess.run(
            [_program(name) or name, *arguments], input=text, cwd=folder, user=user, check=True,
            text=True, capture_output=name != "pg_ctl", timeout=60,
            stdout=subprocess.DEVNULL if name == "pg_ctl" else None,
            env={"PATH": os.environ["PATH"], "PGPASSWORD": PASSWORD, "LC_ALL": "C"},
        )  # fmt: skip

    (folder / "password").write_text(PASSWORD)
    options = f"-c listen_addresses=127.0.0.1 -p {port} -k {folder} -c fsync=off"
    try:
        call("initdb", "-D", "data", "-U", "keeper", "--pwfile=password", "-A", "scram-sha-256",
             "-E", "UTF8", "--no-locale", "--no-sync")  # fmt: skip
        call("pg_ctl", "-D", "data", "-w", "-l", "log", "-o", options, "start")
        try:
            url = f"postgresql://keeper@127.0.0.1:{port}"
            call("psql", "-q", "-v", "ON_ERROR_STOP=1", f"{url}/postgres", text=TABLE)
            odd = "CREATE TABLE t AS SELECT 1 AS id, E'\\303\\251'::text AS note UNION SELECT 2, "
            call("psql", "-q", "-v", "ON_ERROR_STOP=1", f"{url}/plain", text=odd + "E'\\377a';")
            yield f"keeper@127.0.0.1:{port}"
        finally:
            call("pg_ctl", "-D", "data", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=DRIVERS)
def url(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    for name in ("sqlalchemy", request.param):
        pytest.importorskip(name, reason=f"{name} is not installed", exc_type=ImportError)
    monkeypatch.setenv("HONESTDP_DB_PASSWORD", PASSWORD)
    address = request.getfixturevalue("address")  # starts the server
    return f"postgresql+{request.param}://{address}/postgres"


CELLS = {
    "1.50::numeric": ["1.50"],
    "1.5::float8": ["1.5"],
    "'NaN'::float8": [None],
    "true": ["true"],
    "NULL::date": [None],
    "'2024-01-31'::date": ["2024-01-31"],
    "'2024-01-31 10:00'::timestamp": ["2024-01-31 10:00:00"],
    "'\\x41ff'::bytea": ["A\ufffd"],
    "ARRAY[1, NULL]": ["[1, None]"],
    "'north'::ward": ["north"],
    # Python has none of these; the drivers raise, or take the nearest that it has
    "'infinity'::date": ["infinity", "9999-12-31"],
    "'-infinity'::timestamptz": ["-infinity", "0001-01-01 00:00:00+00:00"],
    "'0044-03-15 BC'::date": ["0044-03-15 BC"],
    "'0044-03-15 BC'::timestamp": ["0044-03-15 00:00:00 BC"],
    "'24:00'::time": ["24:00:00", "00:00:00"],
    "'100000000 years'::interval": ["100000000 years"],
    "ARRAY['infinity'::date]": ["[b'infinity']", "{infinity}"],
    "ARRAY['\\x41'::bytea]": ["[b'A']", '{"\\\\x41"}'],
    "repeat('9', 5000)::jsonb": ["9" * 5000],
    "daterange('2024-01-01', 'infinity')":
        ["[2024-01-01, b'infinity')", "[2024-01-01, 9999-12-31)"],
}  # fmt: skip


def test_no_cell_raises(url: str) -> None:
    cells = ", ".join(f"{cell} AS c{i}" for i, cell in enumerate(CELLS))
    table = TableFile(url, query=f"SELECT {cells}")
    found = table.read(table.names).to_pylist()[0]
    for (cell, wanted), text in zip(CELLS.items(), found.values(), strict=True):
        assert text in wanted, (cell, text)


def test_text_without_an_encoding(url: str) -> None:
    table = TableFile(url.replace("/postgres", "/plain"), query="SELECT note FROM t ORDER BY id")
    assert table.read(["note"]).to_pydict() == {"note": ["é", "\ufffda"]}


def test_from_a_query_to_a_model(url: str, shell, tmp_path: Path) -> None:
    (tmp_path / "pg.toml").write_text(SCHEMA)
    query = ("--query", QUERY)
    said = [
        shell("schema", url, *query, "--target", "ill", "--out", "form.toml"),
        shell("check", url, *query, "--schema", "pg.toml"),
        shell("tune", url, *query, "--schema", "pg.toml", "--epsilon", "3", "--dry-run"),
        shell("tune", url.replace("@", f":{PASSWORD}@"), *query, "--schema", "pg.toml",
              "--epsilon", "3", "--seed", "1", "--out", "pg", "--steps", "20"),
        shell("check", url.replace("@", ":wrong-SECRET@"), *query, "--schema", "pg.toml"),
    ]  # fmt: skip
    assert [one.code for one in said[:4]] == [0, 0, 0, 0]
    assert "verdict: fits the schema" in said[1].out
    assert "are query, address, user and password" in said[4].err
    form = (tmp_path / "form.toml").read_text()
    assert "marks = {}" in form
    assert not [one for one in said if "SECRET" in one.out + one.err]
    assert not [p for p in tmp_path.rglob("*") if p.is_file() and b"SECRET" in p.read_bytes()]
