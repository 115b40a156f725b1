"""What holds for every kind of source, and how one from outside is found."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from honestdp.errors import InputError
from honestdp.schema import TableFile, from_header
from honestdp.schema.sources import Source, TableOptions, kind_of, sources
from honestdp.schema.tables import open_table

NAMES, ROWS = ["age", "pay"], [("1", "low"), ("x", None), (None, "high")]


def _csv(folder: Path) -> str:
    lines = [",".join(cell or "" for cell in row) for row in [NAMES, *ROWS]]
    (folder / "t.csv").write_text("\n".join(lines) + "\n")
    return str(folder / "t.csv")


def _parquet(folder: Path) -> str:
    columns = dict(zip(NAMES, zip(*ROWS, strict=True), strict=True))
    parquet.write_table(pa.table(columns), folder / "t.parquet")
    return str(folder / "t.parquet")


def _xlsx(folder: Path) -> str:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in [NAMES, *ROWS]:
        book.active.append(row)
    book.save(folder / "t.xlsx")
    return str(folder / "t.xlsx")


def _sqlite(folder: Path, scheme: str = "sqlite") -> str:
    connection = sqlite3.connect(folder / "t.db")
    connection.execute("CREATE TABLE t (age, pay)")
    connection.executemany("INSERT INTO t VALUES (?, ?)", ROWS)
    connection.commit()
    connection.close()
    return f"{scheme}:///{folder / 't.db'}?query=SELECT * FROM t ORDER BY rowid"


def _database(folder: Path) -> str:
    pytest.importorskip("sqlalchemy")
    return _sqlite(folder, "sqlite+pysqlite")


MADE: dict[str, Callable[[Path], str]] = {
    "csv": _csv, "parquet": _parquet, "xlsx": _xlsx, "sqlite": _sqlite, "database": _database,
}  # fmt: skip


def test_every_kind_is_here() -> None:
    served = {"postgresql"}  # needs a server: tests/cli/test_postgresql_cli.py
    assert set(sources.names()) == set(MADE) | served


@pytest.mark.parametrize("name", MADE)
def test_names_and_rows_then_cells(name: str, tmp_path: Path) -> None:
    place = MADE[name](tmp_path)
    assert kind_of(place).name == name
    table = TableFile(place, decimal=".")
    assert table.names == NAMES
    assert table.count_rows(NAMES) == table.count_rows(NAMES) == 3
    opened = open_table(table, NAMES)
    assert opened.cells("age").texts() == ["1", "x", None]
    assert opened.cells("pay").texts() == ["low", None, "high"]
    assert TableFile(place).read(["pay"]).num_rows == 3
    assert TableFile(place).read(["nothing"]).num_rows == 3
    with pytest.raises(InputError, match="no column 'ward'"):
        table.check(["ward", *NAMES])
    assert 'column = "pay"' in from_header(table)
    assert "low" not in repr(table) + repr(table.source)
    other = {"csv": "sheet"}.get(name, "delimiter")
    with pytest.raises(InputError, match=f"{other}: .* is {kind_of(place).label}, which has none"):
        TableFile(place, **{other: ";"})


class Zeros(Source):
    """A table of zeros: the URL says how many rows."""

    name: ClassVar[str] = "zeros"
    label: ClassVar[str] = "a table of zeros"
    schemes: ClassVar[tuple[str, ...]] = ("zeros",)

    def __init__(self, place: str, options: TableOptions) -> None:
        super().__init__(place, options)
        self.names = ["age"]

    def count_rows(self, wanted: Sequence[str]) -> int:
        return int(self.place.rpartition("/")[2])

    def read(self, wanted: Sequence[str]) -> pa.Table:
        return pa.table({"age": [0] * self.count_rows(wanted)})


def test_a_kind_from_outside() -> None:
    sources.register(Zeros)
    try:
        assert open_table("zeros://4", ["age"]).cells("age").numbers().tolist() == [0] * 4
    finally:
        sources.unregister("zeros")
