"""What cells may not do to a kind of column, for `check_column_kind`.

They raise nothing, warn of nothing, are seen in no other row, and do not change how many entries a
row stores.
"""

from __future__ import annotations

import datetime
import decimal
import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from honestdp.schema import Column, Schema, Table
from honestdp.schema.cells import cells as cells_of
from honestdp.schema.tables import open_table

BINS = 16


class _Unreadable:
    """A cell that raises whatever is done with it."""

    def __str__(self) -> str:
        raise RuntimeError("a cell must never be shown")

    __eq__ = __repr__ = __hash__ = __float__ = __bool__ = __str__  # type: ignore[assignment]


ODD_CELLS: tuple[Any, ...] = (
    None, "", " ", "0", 0, 1, -1, 0.0, -0.0, 1.5, "1", " 1.0 ", "-1e9", "1e400", "1e-400", 1e300,
    -1e300, 1e-300, 5e-324, 10**400, "9" * 5000, math.nan, math.inf, -math.inf, "nan", "-inf",
    True, False, "true", b"bytes", b"\xff\xfe", "text", "x" * 10_000, "\0", "\ud800", "٣", "a\nb",
    1 + 2j, 3 + 0j, decimal.Decimal("0.1"), decimal.Decimal("NaN"), datetime.date(2020, 2, 29),
    datetime.datetime(1, 1, 1, 23, 59), np.float32(0.1), np.int8(-5), np.datetime64("NaT"),
    np.array(7), [1, 2], {"a": 1}, object(), _Unreadable(),
)  # fmt: skip


def require(column: Column, holds: bool, message: str) -> None:
    if not holds:
        raise AssertionError(f"column kind {column.kind!r}: {message}")


@contextmanager
def _nothing_raised(column: Column, what: str) -> Iterator[None]:
    try:
        with warnings.catch_warnings(), np.errstate(divide="warn", over="warn", invalid="warn"):
            warnings.simplefilter("error")
            yield
    except AssertionError:
        raise
    except Exception as error:
        raise AssertionError(
            f"column kind {column.kind!r}: {what} raised or warned "
            f"({type(error).__name__}: {str(error)[:200]}); that would reveal a record: give "
            "such a cell a value instead"
        ) from error


def check_learning(column: Column, sample: list[Any]) -> Column:
    """Check the bins of rows, and that any noise gives a declared column."""

    count = column.histogram_bins(BINS)

    def bins(values: list[Any]) -> NDArray[Any]:
        with _nothing_raised(column, "bin_of"):
            found = column.bin_of(cells_of(values), count)
        require(
            column,
            found.shape == (len(values),) and found.dtype.kind == "i",
            "bin_of must give one integer per row",
        )
        inside = bool((found >= -1).all() and (found < count).all())
        require(column, inside, f"bin_of must give bins from 0 to {count - 1}, or -1")
        return found

    _check_rows(column, "bin_of", bins, sample)
    source = np.random.default_rng(1)
    for counts in (np.zeros(count), 50.0 * source.standard_normal(count), np.full(count, 1e6)):
        with _nothing_raised(column, "learnt_from and with_learnt"):
            numbers = column.learnt_from(counts, 50.0, len(sample))
            made = column.with_learnt(numbers)
        require(
            column,
            len(numbers) == column.learns and all(map(math.isfinite, numbers)),
            f"learnt_from must give {column.learns} finite numbers, as `learns` says",
        )
        require(column, made.learns == 0, "with_learnt must give a column that learns nothing")
        same = made.name == column.name and made.width == column.width
        same = same and made.entries == column.entries
        require(column, same, "what is learnt must not change the width or the entries of rows")
    return made


def check_problems(column: Column, sample: list[Any]) -> None:
    """Check the counts of unexpected cells: they add up over rows, and no cell raises."""
    names = ("missing", "unreadable", "unknown", "outside")

    def counts(values: list[Any]) -> NDArray[Any]:
        with _nothing_raised(column, "problems"):
            found = column.problems(cells_of(values))
        require(column, found.rows == len(values), "problems must count the rows")
        require(column, found.distinct_capped in (0, 1, 2), "distinct_capped must be 0, 1 or 2")
        return np.array([getattr(found, name) for name in names])

    total = sum(counts([cell]) for cell in sample)
    message = f"problems must count rows: {', '.join(names)} of a column must be those of its cells"
    require(column, np.array_equal(counts(sample), total), message)
    counts([])
    _, unreadable, unknown, _ = counts(sample)
    with _nothing_raised(column, "unfit"):
        whole, alone = column.unfit(cells_of(sample)), [column.unfit(cells_of([c])) for c in sample]
    require(
        column,
        whole.dtype == np.bool_ and np.array_equal(whole, np.concatenate(alone)),
        "unfit must give one truth value per row, from the row's own cell",
    )
    require(
        column,
        whole.sum() == unreadable + unknown,
        "unfit must hold for the cells that problems counts as unreadable or unknown",
    )


def _table_of(column: Column, values: list[Any]) -> Table:
    """A table in which every column that it reads holds these cells."""
    return open_table(dict.fromkeys(column.sources, values), [])


def check_encoding(column: Column, sample: list[Any]) -> None:
    def encoded(values: list[Any]) -> NDArray[Any]:
        with _nothing_raised(column, "encode"):
            found = column.encode_from(_table_of(column, values))
        if column.entries is None:
            return _check_matrix(column, found, len(values))
        return _check_entries(column, found, len(values))

    _check_rows(column, "encode", encoded, sample)
    encoded([])
    for values in _typed_columns():
        with _nothing_raised(column, "encode"):
            column.encode_from(_table_of(column, values))


def _check_matrix(column: Column, found: Any, rows: int) -> NDArray[Any]:
    shape = (rows, column.width)
    fits = isinstance(found, csr_matrix) and found.shape == shape
    require(column, fits, f"encode must give a csr_matrix of shape {shape}: `entries` is None")
    dense: NDArray[Any] = found.toarray().astype(np.float32)
    require(column, bool(np.isfinite(dense).all()), "encode gave a number that is not finite")
    return dense


def _check_entries(column: Column, found: Any, rows: int) -> NDArray[Any]:
    positions, values = found
    shape = (rows, column.entries or 0)
    require(
        column,
        values.shape == shape,
        f"encode gave values of shape {values.shape}; it must be [rows, entries] = {shape}",
    )
    require(
        column,
        positions.shape in (shape, shape[1:]) and positions.dtype.kind in "iu",
        "encode must give integer positions of shape [entries] or [rows, entries]",
    )
    spread = np.broadcast_to(positions, shape)
    inside = bool((spread >= 0).all() and (spread < column.width).all())
    require(column, inside, f"a position is outside 0 to {column.width - 1}")
    once = np.diff(np.sort(spread, axis=1), axis=1)
    require(
        column,
        bool((once > 0).all()),
        "a row has two entries at one position; give each its own, with value 0 where an "
        "entry is not needed",
    )
    with np.errstate(over="ignore", invalid="ignore"):
        narrow = values.astype(np.float32)
    require(
        column,
        bool(np.isfinite(narrow).all()),
        "encode gave a number that is not finite as float32; give such a cell a value",
    )
    return np.concatenate([spread, narrow], axis=1)


def _check_rows(
    column: Column, what: str, call: Callable[[list[Any]], NDArray[Any]], sample: list[Any]
) -> None:
    """Check that row i of a result depends on cell i alone."""
    together = call(sample)
    message = (
        f"{what}: the answer for a row depends on other rows; compute each row from its own cell "
        "and the declaration alone (no minimum, mean or vocabulary of the column)"
    )
    for i, cell in enumerate(sample):
        require(column, np.array_equal(call([cell])[0], together[i]), message)
        changed = call([*sample[:i], None, *sample[i + 1 :]])
        same = np.array_equal(np.delete(changed, i, 0), np.delete(together, i, 0))
        require(column, same, message)
    require(column, np.array_equal(call(sample[::-1]), together[::-1]), message)


def check_structure(column: Column, schema: Schema, sample: list[Any]) -> None:
    table = open_table(dict.fromkeys(schema.input_names, sample), [])
    sparse = schema.encode_inputs(table, sparse=True)
    dense = schema.encode_inputs(table, sparse=False)
    require(
        column,
        column.entries is None or bool((np.diff(sparse.indptr) == schema.entries).all()),
        "rows have different numbers of stored entries in sparse form",
    )
    require(
        column,
        np.array_equal(sparse.toarray(), dense),
        "the dense and the sparse form of the same rows differ",
    )


def check_zeros(column: Column, schema: Schema, sample: list[Any]) -> None:
    require(column, column.width == 1, "keeps_zeros is only for a kind with one encoded column")
    values = column.encode(cells_of([0, 0.0, "0", -0.0])).values
    require(column, not values.any(), "keeps_zeros is True, but a cell of 0 is not encoded as 0")
    numbers = np.array([v for v in sample if type(v) in (int, float) and abs(v) < 1e200])
    matrix = csr_matrix(numbers.astype(np.float64)[:, None])
    stored = schema.encode_inputs(matrix, sparse=True)
    plain = schema.encode_inputs({column.name: numbers}, sparse=False)
    require(
        column,
        np.allclose(stored.toarray(), plain, rtol=1e-6),
        "encode_stored and encode give different numbers for the same cells",
    )


def _typed_columns() -> list[Any]:
    """Columns of one type, as tables hold them."""
    import pyarrow as pa

    return [
        np.array([0.0, math.nan, math.inf, 1e300]),
        np.array([0, 1, -(2**63)]),
        np.array([True, False]),
        np.array([1 + 2j, 3]),
        np.array(["a", "1", ""]),
        pa.array([b"\xff", None, b"1"]),
        pa.array(["a", None, "a"]).dictionary_encode(),
        pa.array([1, None], pa.timestamp("s")),
        pa.nulls(3),
    ]


def check_made_up(column: Column, schema: Schema) -> None:
    """Check the cells that a simulation makes up: those of its own columns, by the seed alone, and
    what the declaration expects."""

    def made(rows: int) -> dict[str, list[Any]]:
        with _nothing_raised(column, "made_up"):
            found = column.made_up(rows, np.random.RandomState(7))
        require(column, found.keys() <= set(column.sources), "made_up makes cells of its sources")
        every = all(len(cells) == rows for cells in found.values())
        require(column, every, "made_up must give as many cells as it is asked for")
        return {name: list(cells) for name, cells in found.items()}

    made(0)
    first, again = made(50), made(50)
    require(column, first == again, "made_up must draw from the given source alone")
    others = {name for other in schema.columns[:-1] for name in other.sources}
    left = set(column.sources) - first.keys() - others
    require(column, not left, f"made_up leaves out {sorted(left)[:3]}, which nobody else declares")
    if first.keys() != {column.name}:
        return
    found = column.problems(cells_of(first[column.name]))
    wrong = found.missing + found.unreadable + found.unknown + found.outside
    require(column, not wrong, "made_up gives cells that the declaration does not expect")
