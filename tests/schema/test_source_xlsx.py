"""Workbooks: cells of any type, the sheet that is asked for, no row lost."""

from __future__ import annotations

import sys
import warnings
import zipfile
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from schema_examples import rows_of, small_schema

from honestdp.errors import InputError
from honestdp.schema import TableFile

HEAD = ["age", "job", "town", "pay"]


def workbook(place: Path, rows: list[list[Any]], sheet: str = "Sheet") -> Path:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "notes"
    book.active.append(["nothing here"])
    made = book.create_sheet(sheet, 0)
    for row in rows:
        made.append(row)
    book.save(place)
    return place


def test_cells_mean_what_they_mean_elsewhere(tmp_path: Path) -> None:
    rows = [
        [50, "clerk", "north", "low"],
        [50.0, "clerk ", "north", "low", "beyond the header"],
        ["50", "clerk", "north", "low"],
        [None, "x", None, "high"],
        [],
        [datetime(2024, 1, 2), True, 3.5, "low"],
    ]
    place = workbook(tmp_path / "t.xlsx", [[" age ", "job", "town", "pay"], *rows])
    table = TableFile(place)
    assert table.names == HEAD
    assert table.count_rows(HEAD) == 6
    found = rows_of(small_schema().encode(table)).tolist()
    assert found[0] == found[1] == found[2]
    assert found[4][0] == found[5][0] == found[3][0]  # missing
    read = TableFile(place).read(["age", "town"]).to_pydict()
    assert read["age"] == ["50", "50", "50", None, None, "2024-01-02"]
    assert read["town"] == ["north", "north", "north", None, None, "3.5"]


def test_a_decimal_comma_is_of_text_cells_alone(tmp_path: Path) -> None:
    rows = [["age", "job"], [1.5, "1,5"], ["2,5", 2.5], [3, "a"]]
    table = TableFile(workbook(tmp_path / "t.xlsx", rows), decimal=",")
    from honestdp.schema.tables import open_table

    opened = open_table(table, ["age", "job"])
    assert opened.cells("age").numbers().tolist() == [1.5, 2.5, 3.0]
    assert opened.cells("job").places(["1,5", "2.5", "a"]).tolist() == [0, 1, 2]


def test_the_sheet_that_is_asked_for(tmp_path: Path) -> None:
    place = workbook(tmp_path / "t.xlsx", [HEAD, [1, "clerk", "north", "low"]], "visits")
    assert TableFile(place).names == HEAD
    assert TableFile(place, sheet="notes").names == ["nothing here"]
    with pytest.raises(InputError, match=r"sheet='more': .* has 'visits', 'notes'"):
        TableFile(place, sheet="more")
    with pytest.raises(InputError, match="is a workbook, which has none"):
        TableFile(place, delimiter=";")


def test_what_is_no_workbook(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    place = tmp_path / "t.xlsx"
    with zipfile.ZipFile(place, "w") as file:
        file.writestr("t.csv", "age,SECRET\n1,2\n")
    with pytest.raises(InputError, match="not a valid workbook"):
        TableFile(place)
    workbook(place, [])
    with pytest.raises(InputError, match="no header"):
        TableFile(place)


def test_odd_cells_neither_raise_nor_warn(tmp_path: Path) -> None:
    """A date outside the calendar, an error, a number beyond floats."""
    place = workbook(tmp_path / "t.xlsx", [["age", "job"], [datetime(2024, 1, 2), "x"], [7, "y"]])
    with zipfile.ZipFile(place) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    (sheet,) = (name for name in parts if name.endswith("sheet1.xml"))
    for cell in (b"<v>-99999999999</v>", b"<v>1e99</v>", b"<v>1e999</v>"):
        start, end = parts[sheet].index(b"<v>", parts[sheet].index(b'r="A2"')), b"</v>"
        stop = parts[sheet].index(end, start) + len(end)
        changed = parts[sheet][:start] + cell + parts[sheet][stop:]
        with zipfile.ZipFile(place, "w") as file:
            for name, content in parts.items():
                file.writestr(name, changed if name == sheet else content)
        with warnings.catch_warnings(action="error"):
            table = TableFile(place)
            assert table.count_rows(["age", "job"]) == 2
            assert table.read(["age", "job"]).column("age").to_pylist()[1] == "7"


def test_without_openpyxl_the_remedy_is_one_line(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    (tmp_path / "t.xlsx").write_bytes(b"PK\x03\x04")
    with pytest.raises(InputError, match=r"pip install 'honestdp\[xlsx\]', or save it as CSV"):
        TableFile(tmp_path / "t.xlsx")
