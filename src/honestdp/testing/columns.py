"""`check_column_kind`: whether a kind of column keeps the contract that privacy rests on."""

from __future__ import annotations

import datetime
import decimal
import json
import math
import tomllib
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from honestdp.schema import Column, Schema, Table, Target, column_kinds
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


def check_column_kind(
    column: Column, cells: Sequence[Any] = (), others: Sequence[Column] = ()
) -> None:
    """Check that the kind of a declared column keeps the contract of `Column`.

    Among other things: an encoded row depends on its own cell alone, no cell raises or makes NumPy
    warn, every row has the same number of stored entries, the dense and the sparse form agree, and
    the declaration survives TOML with its fingerprint. A kind that fails one of these can leak
    records or break ledgers, so run it in the tests of your kind, for several declarations.

    Args:
        column: A declared column of the kind. The kind must be registered.
        cells: Cells that are typical of it, or awkward. A list of odd ones (missing, huge, text,
            bytes, ...) is always checked too.
        others: Columns of the schema that it refers to.

    Raises:
        AssertionError: If the contract is broken; the message says what to change.

    Example:
        >>> from honestdp.schema import Numeric
        >>> check_column_kind(Numeric(name="age", bounds=(0, 110)), ["12", 13, "unknown"])
    """
    schema = _schema(column, others)
    _check_declaration(column, schema)
    _check_form(column)
    sample = [*cells, *ODD_CELLS]
    column = schema.columns[-1]
    if column.learns:
        column = _check_learning(column, sample)
        schema = _schema(column, others)
    _check_names(column)
    _check_encoding(column, sample)
    _check_structure(column, schema, sample)
    _check_representatives(column)
    _check_problems(column, sample)
    _check_made_up(column, schema)
    if column.keeps_zeros:
        _check_zeros(column, schema, sample)


def _schema(column: Column, others: Sequence[Column]) -> Schema:
    target = Target(column=f"{column.name} (target)", classes=("no", "yes"))
    return Schema(name="check", target=target, columns=(*others, column))


def _require(column: Column, holds: bool, message: str) -> None:
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


def _check_declaration(column: Column, schema: Schema) -> None:
    known = column.kind in column_kinds and column_kinds.get(column.kind) is type(column)
    _require(
        column,
        known,
        "is not registered; put @column_kinds.register above the class, and give its field `kind` "
        'a default: kind: Literal["mine"] = "mine"',
    )
    _require(column, hash(column) == hash(column.model_copy()), "must be hashable: use tuples")
    again = Schema.from_toml(schema.to_toml())
    _require(
        column,
        again == schema,
        "a declaration does not survive to_toml and from_toml; a field must accept what "
        "model_dump makes of it, and None must be its default where None is allowed",
    )
    stored = Schema.model_validate(json.loads(schema.model_dump_json()))
    _require(column, stored == schema, "a declaration does not survive JSON; see TOML above")
    prints = {schema.fingerprint, again.fingerprint, stored.fingerprint}
    _require(
        column,
        len(prints) == 1,
        "the fingerprint of a schema with it is not stable; a ledger is bound to it",
    )
    declared = {field.alias or name for name, field in type(column).model_fields.items()}
    unknown = column.added_fields - declared
    _require(column, not unknown, f"added_fields names fields that do not exist: {unknown}")
    texts = column.describe(), column.label
    _require(
        column, all(isinstance(text, str) for text in texts), "label and describe() must be texts"
    )


def _check_form(column: Column) -> None:
    """Check that the example of the form, one line of TOML, declares a column of this kind."""
    if not column.form:
        return
    line = f"example = {{ {', '.join(column.form)} }}"
    _require(column, "\n" not in line, "`form` must be keys and values without line ends")
    try:
        values = tomllib.loads(line)["example"]
        made = type(column).model_validate({"name": "example", **values})
    except ValueError as error:
        raise AssertionError(
            f"column kind {column.kind!r}: the values of `form` do not declare such a column: "
            f"{' '.join(str(error).split())[:200]}"
        ) from None
    _require(column, values.get("kind") == made.kind, "`form` must say the kind")


def _check_names(column: Column) -> None:
    names = column.encoded_names
    texts = all(isinstance(name, str) and name for name in names)
    _require(column, texts, "encoded_names must be texts")
    _require(column, len(set(names)) == len(names), "two encoded columns have one name")
    _require(
        column,
        column.width == len(names) >= 1,
        f"width is {column.width}, but there are {len(names)} encoded_names",
    )
    _require(
        column,
        column.entries is None or 1 <= column.entries <= column.width,
        f"entries is {column.entries}; it must be from 1 to the width {column.width}",
    )
    guess, known = column.squared_norm, column.known_norm
    _require(
        column,
        math.isfinite(guess) and 0 <= known <= guess,
        f"squared_norm is {guess} and known_norm {known}; give finite numbers of at least 0, the "
        "second no larger than the first",
    )
    for pieces in (0, 8):
        chosen = column.with_default_encoding(pieces)
        _require(
            column,
            chosen.name == column.name and chosen.with_default_encoding(8 - pieces) == chosen,
            "with_default_encoding must give a column of the same name that leaves nothing open",
        )


def _check_learning(column: Column, sample: list[Any]) -> Column:
    """Check the bins of rows, and that any noise gives a declared column."""

    def bins(values: list[Any]) -> NDArray[Any]:
        with _nothing_raised(column, "bin_of"):
            found = column.bin_of(cells_of(values), BINS)
        _require(
            column,
            found.shape == (len(values),) and found.dtype.kind == "i",
            "bin_of must give one integer per row",
        )
        inside = bool((found >= -1).all() and (found < BINS).all())
        _require(column, inside, f"bin_of must give bins from 0 to {BINS - 1}, or -1")
        return found

    _check_rows(column, "bin_of", bins, sample)
    source = np.random.default_rng(1)
    for counts in (np.zeros(BINS), 50.0 * source.standard_normal(BINS), np.full(BINS, 1e6)):
        with _nothing_raised(column, "learnt_from and with_learnt"):
            numbers = column.learnt_from(counts, 50.0, len(sample))
            made = column.with_learnt(numbers)
        _require(
            column,
            len(numbers) == column.learns and all(map(math.isfinite, numbers)),
            f"learnt_from must give {column.learns} finite numbers, as `learns` says",
        )
        _require(column, made.learns == 0, "with_learnt must give a column that learns nothing")
        same = made.name == column.name and made.width == column.width
        same = same and made.entries == column.entries
        _require(column, same, "what is learnt must not change the width or the entries of rows")
    return made


def _check_problems(column: Column, sample: list[Any]) -> None:
    """Check the counts of unexpected cells: they add up over rows, and no cell raises."""
    names = ("missing", "unreadable", "unknown", "outside")

    def counts(values: list[Any]) -> NDArray[Any]:
        with _nothing_raised(column, "problems"):
            found = column.problems(cells_of(values))
        _require(column, found.rows == len(values), "problems must count the rows")
        _require(column, found.distinct_capped in (0, 1, 2), "distinct_capped must be 0, 1 or 2")
        return np.array([getattr(found, name) for name in names])

    total = sum(counts([cell]) for cell in sample)
    message = f"problems must count rows: {', '.join(names)} of a column must be those of its cells"
    _require(column, np.array_equal(counts(sample), total), message)
    counts([])
    _, unreadable, unknown, _ = counts(sample)
    with _nothing_raised(column, "unfit"):
        whole, alone = column.unfit(cells_of(sample)), [column.unfit(cells_of([c])) for c in sample]
    _require(
        column,
        whole.dtype == np.bool_ and np.array_equal(whole, np.concatenate(alone)),
        "unfit must give one truth value per row, from the row's own cell",
    )
    _require(
        column,
        whole.sum() == unreadable + unknown,
        "unfit must hold for the cells that problems counts as unreadable or unknown",
    )


def _check_made_up(column: Column, schema: Schema) -> None:
    """Check the cells that a simulation makes up: those of its own columns, by the seed alone, and
    what the declaration expects."""

    def made(rows: int) -> dict[str, list[Any]]:
        with _nothing_raised(column, "made_up"):
            found = column.made_up(rows, np.random.RandomState(7))
        _require(column, found.keys() <= set(column.sources), "made_up makes cells of its sources")
        every = all(len(cells) == rows for cells in found.values())
        _require(column, every, "made_up must give as many cells as it is asked for")
        return {name: list(cells) for name, cells in found.items()}

    made(0)
    first, again = made(50), made(50)
    _require(column, first == again, "made_up must draw from the given source alone")
    others = {name for other in schema.columns[:-1] for name in other.sources}
    left = set(column.sources) - first.keys() - others
    _require(column, not left, f"made_up leaves out {sorted(left)[:3]}, which nobody else declares")
    if first.keys() != {column.name}:
        return
    found = column.problems(cells_of(first[column.name]))
    wrong = found.missing + found.unreadable + found.unknown + found.outside
    _require(column, not wrong, "made_up gives cells that the declaration does not expect")


def _table_of(column: Column, values: list[Any]) -> Table:
    """A table in which every column that it reads holds these cells."""
    return open_table(dict.fromkeys(column.sources, values), [])


def _check_encoding(column: Column, sample: list[Any]) -> None:
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
    _require(column, fits, f"encode must give a csr_matrix of shape {shape}: `entries` is None")
    dense: NDArray[Any] = found.toarray().astype(np.float32)
    _require(column, bool(np.isfinite(dense).all()), "encode gave a number that is not finite")
    return dense


def _check_entries(column: Column, found: Any, rows: int) -> NDArray[Any]:
    positions, values = found
    shape = (rows, column.entries or 0)
    _require(
        column,
        values.shape == shape,
        f"encode gave values of shape {values.shape}; it must be [rows, entries] = {shape}",
    )
    _require(
        column,
        positions.shape in (shape, shape[1:]) and positions.dtype.kind in "iu",
        "encode must give integer positions of shape [entries] or [rows, entries]",
    )
    spread = np.broadcast_to(positions, shape)
    inside = bool((spread >= 0).all() and (spread < column.width).all())
    _require(column, inside, f"a position is outside 0 to {column.width - 1}")
    once = np.diff(np.sort(spread, axis=1), axis=1)
    _require(
        column,
        bool((once > 0).all()),
        "a row has two entries at one position; give each its own, with value 0 where an "
        "entry is not needed",
    )
    with np.errstate(over="ignore", invalid="ignore"):
        narrow = values.astype(np.float32)
    _require(
        column,
        bool(np.isfinite(narrow).all()),
        "encode gave a number that is not finite as float32; give such a cell a value",
    )
    return np.concatenate([spread, narrow], axis=1)


def _check_representatives(column: Column) -> None:
    """Check the cells at which effects are shown: their labels, and their places on an axis."""
    found = list(column.representatives())
    labels, positions = [one.label for one in found], [one.position for one in found]
    texts = all(isinstance(label, str) and label for label in labels)
    _require(column, texts, "the labels of representatives must be texts")
    places = [place for place in positions if place is not None]
    rising = all(map(math.isfinite, places)) and places == sorted(places)
    _require(column, rising, "the positions of representatives must be finite numbers that rise")
    _require(column, len(places) != 1, "one representative alone with a position makes no line")


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
        _require(column, np.array_equal(call([cell])[0], together[i]), message)
        changed = call([*sample[:i], None, *sample[i + 1 :]])
        same = np.array_equal(np.delete(changed, i, 0), np.delete(together, i, 0))
        _require(column, same, message)
    _require(column, np.array_equal(call(sample[::-1]), together[::-1]), message)


def _check_structure(column: Column, schema: Schema, sample: list[Any]) -> None:
    table = open_table(dict.fromkeys(schema.input_names, sample), [])
    sparse = schema.encode_inputs(table, sparse=True)
    dense = schema.encode_inputs(table, sparse=False)
    _require(
        column,
        column.entries is None or bool((np.diff(sparse.indptr) == schema.entries).all()),
        "rows have different numbers of stored entries in sparse form",
    )
    _require(
        column,
        np.array_equal(sparse.toarray(), dense),
        "the dense and the sparse form of the same rows differ",
    )


def _check_zeros(column: Column, schema: Schema, sample: list[Any]) -> None:
    _require(column, column.width == 1, "keeps_zeros is only for a kind with one encoded column")
    values = column.encode(cells_of([0, 0.0, "0", -0.0])).values
    _require(column, not values.any(), "keeps_zeros is True, but a cell of 0 is not encoded as 0")
    numbers = np.array([v for v in sample if type(v) in (int, float) and abs(v) < 1e200])
    matrix = csr_matrix(numbers.astype(np.float64)[:, None])
    stored = schema.encode_inputs(matrix, sparse=True)
    plain = schema.encode_inputs({column.name: numbers}, sparse=False)
    _require(
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
