"""Open tables of any kind as named columns of cells. Only structure raises, never a cell.

A place (a CSV, Parquet or xlsx file, several, a folder, the URL of a database), a pandas, polars or
pyarrow table (or any other that narwhals reads), a dict of columns, a NumPy structured array:
columns are found by name, ignoring white space around names, and extra columns are ignored. A NumPy
array (or anything that turns into one, such as a torch tensor or a SciPy sparse matrix) has no
names: its columns are the schema's, in order, the target last or absent.

No row is dropped, reordered or merged. Errors name columns and shapes, and are raised without the
underlying error, whose text may quote a cell.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from honestdp.errors import InputError
from honestdp.schema.cells import Cells, cells
from honestdp.schema.files import TableFile
from honestdp.schema.sources import check_names
from honestdp.schema.sources.opening import is_place
from honestdp.sparse_rows import canonical

Get = Callable[[int], Any]


class Table:
    """Named columns of equal length. Make one with `open_table`."""

    def __init__(
        self,
        source: str,
        names: Sequence[object],
        get: Get,
        rows: int,
        matrix: Any = None,
        decimal: str = ".",
    ) -> None:
        self.source = source
        self.decimal = decimal  # the mark of numbers that are text
        self.matrix = matrix  # Sensitive: the whole table, if it is a sparse matrix
        self.names = [str(name).strip() for name in names]
        self._place = {name: i for i, name in reversed(list(enumerate(self.names)))}
        self.rows = rows
        self._get = get  # Sensitive: gives the cells

    def __repr__(self) -> str:
        return f"Table({self.source}, {self.rows} rows, {len(self.names)} columns)"

    def check(self, wanted: Sequence[str]) -> None:
        """Raise InputError unless every wanted column is there exactly once."""
        check_names(self.source, self.names, wanted)

    def cells(self, name: str) -> Cells:
        try:
            found = cells(self._get(self._place[name]), self.decimal)
        except Exception:
            raise InputError(f"{self.source}: column {name!r} is not a list of cells") from None
        if len(found) != self.rows:
            raise InputError(
                f"{self.source}: column {name!r} has {len(found)} rows, others {self.rows}: "
                "give columns of one length"
            )
        return found

    def numbers(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Several columns as numbers, [row, column]; NaN where a cell is not a finite number."""
        found = np.empty((self.rows, len(names)))
        for i, name in enumerate(names):
            found[:, i] = self.cells(name).numbers()
        return found


def open_table(table: Any, order: Sequence[str]) -> Table:
    """Open any table. `order`: the names of a NumPy array's columns, the target last."""
    if isinstance(table, Table):
        return table
    if is_place(table):
        table = TableFile(table)
    if isinstance(table, TableFile):
        return _arrow(table.read(order), str(table), table.decimal)
    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    if isinstance(table, pa.Table):
        return _arrow(table, "table")
    if isinstance(table, Mapping):
        return _columns(table)
    if isinstance(table, np.ndarray) and table.dtype.names:
        return _columns({name: table[name] for name in table.dtype.names})
    frame = _frame(table)
    return _array(table, order) if frame is None else frame


def _arrow(table: pa.Table, source: str, decimal: str = ".") -> Table:
    return Table(source, table.column_names, table.column, table.num_rows, decimal=decimal)


def _columns(table: Mapping[Any, Any]) -> Table:
    names, values = list(table), list(table.values())
    for name, value in zip(names, values, strict=True):
        check_column(f"table: column {str(name)!r}", value)
    lengths = {str(name): len(value) for name, value in zip(names, values, strict=True)}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name!r} {length}" for name, length in list(lengths.items())[:20])
        raise InputError(f"table: columns differ in length ({shown}); give columns of one length")
    rows = next(iter(lengths.values()), 0)
    return Table("table", names, lambda i: column_of(values[i]), rows)


def check_column(called: str, value: Any) -> None:
    """Raise InputError unless this is one column."""
    if isinstance(value, (str, bytes)) or not hasattr(value, "__len__"):
        raise InputError(f"{called} is not a list of cells")
    if getattr(value, "ndim", 1) != 1:
        raise InputError(f"{called} has {value.ndim} dimensions: give one")


def column_of(values: Any) -> Any:
    """A column in a form that `cells` reads; a series of a data frame is converted."""
    if isinstance(values, (pa.Array, pa.ChunkedArray, np.ndarray, list, tuple)):
        return values
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return _series(series)
    if hasattr(values, "detach"):  # a torch tensor
        values = values.detach().cpu()
    return np.asarray(values) if hasattr(values, "__array__") else list(values)


def _series(series: Any) -> Any:
    """A series as Arrow; as a list if its type is object, as Arrow would guess a type."""
    if series.dtype == nw.Object:
        return series.to_list()
    try:
        column = series.to_arrow()
    except Exception:
        return series.to_list()
    return series.to_list() if isinstance(column.type, pa.BaseExtensionType) else column


def is_lazy(table: Any) -> bool:
    """Whether this is a lazy frame, whose rows are not read yet."""
    return hasattr(table, "collect") and hasattr(table, "lazy")


def _frame(table: Any) -> Table | None:
    """Open a data frame; None if the table is not one."""
    try:
        table = table.collect() if is_lazy(table) else table
        frame = nw.from_native(table, eager_only=True, pass_through=True)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic in a Rust library is not an Exception
        if "unique column names" not in str(error):
            raise InputError(f"table: a {type(table).__name__} cannot be read") from None
        raise InputError("table: two columns have one name; keep one of each") from None
    if isinstance(frame, nw.DataFrame):
        rows, width = frame.shape
        names = list(frame.columns)
        if len(set(map(str, names))) == width:
            return Table("table", names, lambda i: _series(frame[:, i]), rows)
        raise InputError("table: two columns have one name; keep one of each")
    return None


def _array(table: Any, order: Sequence[str]) -> Table:
    """Rows and columns without names: a NumPy array, a tensor, a SciPy matrix, a list of rows."""
    if hasattr(table, "detach"):  # a torch tensor
        table = table.detach().cpu()
    sparse = canonical(table).tocsc() if hasattr(table, "tocsc") else None
    try:
        values = rows_of_objects(table) if sparse is None else sparse
        values = np.asanyarray(table) if values is None else values
    except Exception:
        raise InputError(f"table: a {type(table).__name__} cannot be read; {_KINDS}") from None
    if values.ndim != 2:
        found = f"a {type(table).__name__} with {values.ndim} dimensions"
        raise InputError(f"table: {found}; {_KINDS}")
    rows, width = values.shape
    if width not in (len(order), len(order) - 1):
        raise InputError(
            f"table: {width} columns, the schema has {len(order) - 1} and the target; "
            "give an array with the schema's columns in its order, the target last or absent"
        )
    if sparse is not None:
        return Table("table", order[:width], lambda i: sparse[:, [i]].toarray()[:, 0], rows, sparse)
    values = np.asarray(values) if isinstance(values, np.matrix) else values
    return Table("table", order[:width], lambda i: values[:, i], rows)


def rows_of_objects(table: Any) -> NDArray[Any] | None:
    """A list of rows as an array of objects; None if the table is not a list.

    Filled cell by cell: NumPy would choose one type for all and unpack cells that are lists, so
    that one record would change the others, or the shape.
    """
    if not isinstance(table, (list, tuple)):
        return None
    rows = [list(row) if isinstance(row, (list, tuple, np.ndarray)) else row for row in table]
    lengths = {len(row) if isinstance(row, list) else -1 for row in rows}
    if len(lengths) != 1 or -1 in lengths:
        return np.asarray(table, dtype=object)
    made = np.empty((len(rows), *lengths), dtype=object)
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            made[i, j] = cell
    return made


_KINDS = (
    "give a path to a CSV, Parquet or xlsx file, a pandas, polars or pyarrow table, "
    "a dict of columns or a NumPy array of rows and columns"
)
