"""The same cells in every kind of table, its types chosen as people let libraries choose them.

That is the point: one odd cell turns a column of whole numbers into floats, of truths into objects,
of all into text. Where a library cannot hold a cell it is given the cell's text, and where it
cannot hold that beside the others the text of all, as a person would do.
"""

from __future__ import annotations

import csv
import sqlite3
import warnings
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as parquet
import torch
from scipy.sparse import csr_matrix

Columns = dict[str, list[Any]]


def _rows(columns: Columns) -> list[list[Any]]:
    return [list(row) for row in zip(*columns.values(), strict=True)]


def _object_array(columns: Columns) -> Any:
    made = np.empty((len(next(iter(columns.values()))), len(columns)), dtype=object)
    for i, cells in enumerate(columns.values()):
        for j, cell in enumerate(cells):
            made[j, i] = cell
    return made


def _numbers(columns: Columns) -> np.ndarray:
    """As floats, every cell that is no number missing: for tables that hold nothing else."""
    table = [pd.to_numeric(pd.Series(map(str, c)), errors="coerce") for c in columns.values()]
    return np.column_stack(table).astype(np.float64)


def _written(columns: Columns, path: Path) -> Path:
    with open(path, "w", newline="", encoding="utf-8", errors="surrogatepass") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(_rows(columns))
    return path


def _parquet(columns: Columns, path: Path) -> Path:
    parquet.write_table(pa.table(columns), path)
    return path


def _text_parquet(columns: Columns, path: Path) -> Path:
    """Every cell text, by the file's own word: bytes that are none are written too."""

    def text(cell: Any) -> Any:
        return cell if cell is None or isinstance(cell, bytes) else as_text(cell).encode()

    made = {n: pa.array(map(text, cells), pa.binary()) for n, cells in columns.items()}
    table = pa.table({name: column.view(pa.string()) for name, column in made.items()})
    parquet.write_table(table, path)
    return path


def _in_parts(columns: Columns, folder: Path) -> list[Path]:
    """Two files, the second of another encoding."""
    half = len(next(iter(columns.values()))) // 2
    first = _written({n: cells[:half] for n, cells in columns.items()}, folder / "t1.csv")
    second = _written({n: cells[half:] for n, cells in columns.items()}, folder / "t2.csv")
    second.write_bytes(second.read_bytes().decode("utf-8", "replace").encode("utf-16"))
    return [first, second]


def _sqlite(columns: Columns, path: Path) -> str:
    """Cells of any type in any column, as SQLite has them."""

    def cell(one: Any) -> Any:
        whole = isinstance(one, int) and abs(one) < 2**63
        return one if one is None or whole or type(one) in (float, bytes) else as_text(one)

    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"CREATE TABLE t ({', '.join(columns)})")
        marks = ", ".join("?" * len(columns))
        rows = [list(map(cell, row)) for row in _rows(columns)]
        connection.executemany(f"INSERT INTO t VALUES ({marks})", rows)
        connection.commit()
    return f"sqlite:///{path}?query=SELECT * FROM t ORDER BY rowid"


Make = Callable[[Columns, Path], Any]
TABLES: dict[str, Make] = {
    "lists": lambda columns, _: columns,
    "rows": lambda columns, _: _rows(columns),
    "pandas": lambda columns, _: pd.DataFrame(columns),
    "pandas objects": lambda columns, _: pd.DataFrame(columns, dtype=object),
    "pandas categories": lambda columns, _: pd.DataFrame(columns).astype("category"),
    "pandas nullable": lambda columns, _: pd.DataFrame(columns).convert_dtypes(),
    "pandas on arrow": lambda columns, _: pd.DataFrame(columns).convert_dtypes(
        dtype_backend="pyarrow"
    ),
    "pandas from csv": lambda columns, at: pd.read_csv(
        _written(columns, at / "t.csv"), encoding_errors="replace"
    ),
    "polars": lambda columns, _: pl.DataFrame(columns),
    "polars lenient": lambda columns, _: pl.DataFrame(columns, strict=False),
    "polars lazy": lambda columns, _: pl.DataFrame(columns).lazy(),
    "polars from csv": lambda columns, at: pl.read_csv(
        _written(columns, at / "t.csv"), infer_schema_length=None, encoding="utf8-lossy"
    ),
    "arrow": lambda columns, _: pa.table(columns),
    "numpy": lambda columns, _: np.array(_rows(columns)),
    "numpy columns": lambda columns, _: {n: np.array(cells) for n, cells in columns.items()},
    "numpy objects": lambda columns, _: _object_array(columns),
    "numpy floats": lambda columns, _: _numbers(columns),
    "torch": lambda columns, _: torch.as_tensor(_numbers(columns)),
    "sparse": lambda columns, _: csr_matrix(_numbers(columns)),
    "csv": lambda columns, at: _written(columns, at / "t.csv"),
    "csv in parts": lambda columns, at: _in_parts(columns, at),
    "sqlite": lambda columns, at: _sqlite(columns, at / "t.db"),
    "parquet": lambda columns, at: _parquet(columns, at / "t.parquet"),
    "parquet of text": lambda columns, at: _text_parquet(columns, at / "t.parquet"),
}
FILES = ("csv", "csv in parts", "sqlite", "parquet", "parquet of text")
UNREAD = (*FILES, "polars lazy")  # for `run` alone
NUMBERS = ("numpy floats", "torch", "sparse")


def apart(table: Any, target: str) -> tuple[Any, Any]:
    """X and y, from a table that has both."""
    if isinstance(table, dict):
        return {n: cells for n, cells in table.items() if n != target}, table[target]
    if isinstance(table, list):
        return [row[:-1] for row in table], [row[-1] for row in table]
    if hasattr(table, "tocsr"):
        return table[:, :-1], table[:, [-1]].toarray()[:, 0]
    if isinstance(table, (np.ndarray, torch.Tensor)):
        return table[:, :-1], table[:, -1]
    if isinstance(table, pa.Table):
        return table.drop_columns([target]), table.column(target)
    if isinstance(table, pl.DataFrame):
        return table.drop(target), table[target]
    return table.drop(columns=target), table[target]


def as_text(cell: Any) -> Any:
    return cell if cell is None else str(cell).encode("utf-8", "replace").decode()


def made(kind: str, columns: Columns, place: int, folder: Path) -> Any:
    """The table."""
    texts = {name: list(cells) for name, cells in columns.items()}
    for cells in texts.values():
        cells[place] = as_text(cells[place])
    every = {name: list(map(as_text, cells)) for name, cells in texts.items()}
    for given in (columns, texts, every):
        with warnings.catch_warnings(action="ignore"):
            try:
                return TABLES[kind](given, folder)
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException:  # a panic of Rust code is no Exception
                continue
    raise AssertionError(f"{kind}: cannot hold these cells, not even as text")
