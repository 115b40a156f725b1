"""One column of cells as numbers, or as indices into a list of categories. Never raises.

The meaning of a cell does not depend on other cells, the format of the table or the type of the
column: 1 is the same as "1", " 1 ", 1.0, "1.0" and 1+0j, and true is the same as 1. A cell is
missing if it is null, empty, or a number that is not finite. In a file with decimal commas 1,5 is
1.5 where it is read as a number, and 1.234,5 is 1234.5. Whole columns are converted by compiled
code; only columns of mixed Python objects, and stored types that are neither numbers nor text
(dates), are converted to text cell by cell.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from numbers import Complex, Integral, Real
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from honestdp.schema.fields import written

MISSING, UNKNOWN = -2, -1  # indices of cells that are none of the categories
NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
COMMA_NUMBER = (  # with a decimal comma; points, if any, between groups of three digits
    r"^[+-]?(\d+,?\d*|,\d+|\d{1,3}(\.\d{3})+(,\d*)?)([eE][+-]?\d+)?$"
)
NOT_FINITE = r"(?i:[+-]?(nan|inf|infinity))"
TEXT = pa.large_string()


class Cells:
    """A column: floats (`NaN` missing), or text (null missing).

    decimal: The decimal mark of numbers that are text: "." or ",".
    """

    def __init__(self, column: pa.Array, decimal: str = ".") -> None:
        self._column = column  # Sensitive
        self._decimal = decimal

    def __len__(self) -> int:
        return len(self._column)

    def __repr__(self) -> str:
        return f"Cells({len(self)} rows)"

    def numbers(self) -> NDArray[np.float64]:
        """Each cell as a number; NaN if it is missing, not a number or not finite."""
        column = self._column
        if pa.types.is_dictionary(column.type):
            values = self._like(_plain(column.dictionary)).numbers()
            return _taken(values, column.indices, math.nan)
        if not _is_text(column.type):
            return _finite(_floats(column))
        return _finite(_parsed(pc.utf8_trim_whitespace(column), self._decimal))

    def places(self, categories: Sequence[str], ignore_case: bool = False) -> NDArray[np.int64]:
        """The index of each cell in the list of categories; else `MISSING` or `UNKNOWN`.

        A cell is compared as it is written, then (`ignore_case`) in lower case, then as a number.
        """
        column = self._column
        if pa.types.is_dictionary(column.type):
            values = self._like(_plain(column.dictionary)).places(categories, ignore_case)
            return _taken(values, column.indices, MISSING)
        if pa.types.is_floating(column.type) or pa.types.is_decimal(column.type):
            return _by_number(_floats(column), categories)
        column = pc.utf8_trim_whitespace(column if _is_text(column.type) else column.cast(TEXT))
        known = pa.array(categories, TEXT)
        places = _indices(column, known)
        empty = pc.fill_null(pc.equal(column, ""), True).to_numpy(zero_copy_only=False)
        places[empty] = MISSING
        if ignore_case:
            rest = np.flatnonzero(places == UNKNOWN)
            lower = pc.utf8_lower(column.take(pa.array(rest)))
            places[rest] = _indices(lower, pc.utf8_lower(known))
        rest = np.flatnonzero(places == UNKNOWN)
        if len(rest):
            texts = column.take(pa.array(rest))
            places[rest] = _other_spellings(texts, categories, self._decimal)
        return places

    def texts(self) -> list[str | None]:
        """Each cell as text without surrounding white space; None if it is missing."""
        column = self._column
        if pa.types.is_dictionary(column.type):
            column = _plain(column.dictionary.take(column.indices))
        if pa.types.is_floating(column.type) or pa.types.is_decimal(column.type):
            return [written(v) if math.isfinite(v) else None for v in _floats(column).tolist()]
        column = pc.utf8_trim_whitespace(column if _is_text(column.type) else column.cast(TEXT))
        return [
            None if not text or re.fullmatch(NOT_FINITE, text) else text
            for text in column.to_pylist()
        ]

    def take(self, rows: NDArray[np.int64]) -> Cells:
        """The cells of these rows."""
        return self._like(self._column.take(pa.array(rows)))

    def _like(self, column: pa.Array) -> Cells:
        """Other cells that are written in the same way."""
        return Cells(column, self._decimal)

    def respelled(self, spell: Callable[[str], str]) -> Cells:
        """The cells with every text written otherwise; a missing cell stays missing."""
        texts = [None if text is None else spell(text) for text in self.texts()]
        return self._like(pa.array(texts, TEXT))

    def missing(self) -> NDArray[np.bool_]:
        """Whether each cell is missing."""
        return self.places(()) == MISSING

    # Facts about the whole column. Sensitive; for simulations only: a schema is declared

    def categories(self) -> list[str]:
        """Every distinct cell that is not missing, as text."""
        column = self._column
        if pa.types.is_dictionary(column.type):
            column = _plain(column.dictionary.take(column.indices))
        if pa.types.is_floating(column.type) or pa.types.is_decimal(column.type):
            values = _floats(column)
            return [written(v) for v in np.unique(values[np.isfinite(values)]).tolist()]
        column = pc.utf8_trim_whitespace(column if _is_text(column.type) else column.cast(TEXT))
        found = {text for text in pc.unique(column).to_pylist() if text}
        return sorted(text for text in found if not re.fullmatch(NOT_FINITE, text))

    def filled(self) -> int:
        """How many cells are not missing."""
        return int((~self.missing()).sum())

    def fractions(self) -> bool:
        """Whether some cell is a number that is not whole."""
        values = self.numbers()
        known = values[~np.isnan(values)]
        return bool((known != np.round(known)).any())


def cells(values: Any, decimal: str = ".") -> Cells:
    """A column of anything: Arrow, NumPy, or a sequence of Python objects.

    decimal: The decimal mark of the text in an Arrow column, which is a file's; objects in memory
    are written with a point.
    """
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks() if values.num_chunks != 1 else values.chunk(0)
    if isinstance(values, pa.Array):
        return Cells(_plain(values), decimal)
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(object), None)
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf" and values.itemsize <= 8:
        return Cells(pa.array(np.ascontiguousarray(values, values.dtype.newbyteorder("="))))
    return Cells(_texts(values))


def _plain(column: pa.Array) -> pa.Array:
    """Bools, whole numbers, floats, decimals and dictionaries as they are; all else as text."""
    kind = column.type
    types = pa.types
    if isinstance(column, pa.ExtensionArray):
        return _plain(column.storage)
    if types.is_null(kind):
        return pa.nulls(len(column), TEXT)
    if types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind):
        return column
    if types.is_decimal(kind) or types.is_dictionary(kind):
        return column
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        column, kind = column.cast(TEXT), pa.large_binary()  # it may not be UTF-8
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind):
        column = column.cast(pa.large_binary())
        try:
            return column.cast(TEXT)
        except pa.ArrowInvalid:  # not UTF-8 throughout: cell by cell
            pass
    return _texts(as_object(cell) for cell in column)


def as_object(cell: pa.Scalar) -> object:
    """One Arrow cell as a Python object; None if there is none for it."""
    try:
        return cell.as_py()
    except Exception:  # such as a date outside the calendar
        return None


def _texts(values: Iterable[Any]) -> pa.Array:
    """Python objects as text: by compiled code if all are str or missing, else cell by cell."""
    values = values if isinstance(values, np.ndarray) else list(values)
    if not isinstance(values, np.ndarray) or values.dtype.kind in "OUT":
        try:
            return pa.array(values, TEXT, from_pandas=True)
        except Exception:  # not all of them text
            pass
    return pa.array([as_text(value) for value in values], TEXT)


def as_text(value: Any) -> str | None:
    """One cell as text. Never raises, whatever its class does."""
    try:
        if isinstance(value, (bytes, bytearray, memoryview)):
            return bytes(value).decode("utf-8", "replace")
        if isinstance(value, str):
            return str.encode(value, "utf-8", "replace").decode()
        if isinstance(value, (bool, np.bool_)):
            return "true" if value else "false"
        if isinstance(value, Integral):
            return str(int(value))
        if isinstance(value, Real):
            number = float(value)
            return written(number) if math.isfinite(number) else None
        if isinstance(value, Complex):  # one cell makes all of an array complex: 20 is then 20+0j
            return str(value) if complex(value).imag else as_text(complex(value).real)
        if getattr(value, "ndim", None) == 0 and not isinstance(value, np.generic):
            return as_text(value.item())  # an array or a tensor of one cell
        if value is None or _is_null(value):
            return None
        if isinstance(value, np.datetime64):
            value = value.astype("datetime64[us]").item()
        if isinstance(value, datetime):  # midnight is a date without a time
            return str(value).removesuffix(" 00:00:00")
        return str(value).encode("utf-8", "replace").decode()
    except Exception:
        return None


def _is_null(value: Any) -> bool:
    """Whether a value is null: pandas' NA and NaT and NumPy's NaT do not equal themselves."""
    same = value == value
    return same is not True and not (isinstance(same, np.bool_) and bool(same))


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_large_string(kind)


def _floats(column: pa.Array) -> NDArray[np.float64]:
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    values = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.asarray(values, dtype=np.float64)  # a null is NaN already


def _finite(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(np.isfinite(values), values, math.nan)


def _parsed(column: pa.Array, decimal: str = ".") -> NDArray[np.float64]:
    """Trimmed text as numbers, possibly infinite; NaN if it is not a number."""
    form = NUMBER if decimal == "." else COMMA_NUMBER
    digits = pc.if_else(pc.match_substring_regex(column, form), column, None)
    if decimal != ".":
        digits = pc.replace_substring(pc.replace_substring(digits, ".", ""), decimal, ".")
    values = np.array(digits.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
    rest = np.flatnonzero(np.isnan(values))
    if len(rest):
        texts = pc.utf8_lower(column.take(pa.array(rest)))
        for text, value in (("true", 1.0), ("false", 0.0)):
            equal = pc.fill_null(pc.equal(texts, text), False).to_numpy(zero_copy_only=False)
            values[rest[equal]] = value
    return values


def _indices(column: pa.Array, known: pa.Array) -> NDArray[np.int64]:
    """The index of the first equal text; `UNKNOWN` if there is none."""
    found = pc.fill_null(pc.index_in(column, value_set=known), UNKNOWN)
    return found.to_numpy(zero_copy_only=False).astype(np.int64)


def _other_spellings(
    column: pa.Array, categories: Sequence[str], decimal: str
) -> NDArray[np.int64]:
    """Indices of text that equals no category: compared as numbers.

    The texts "nan" and "inf" are numbers that are not finite: missing.
    """
    values = _parsed(column, decimal)
    places = _by_number(values, categories)
    not_finite = pc.match_substring_regex(column, f"^{NOT_FINITE}$")
    places[np.isnan(values)] = UNKNOWN
    places[not_finite.to_numpy(zero_copy_only=False)] = MISSING
    return places


def _by_number(values: NDArray[np.float64], categories: Sequence[str]) -> NDArray[np.int64]:
    """Indices of numbers among the categories that are numbers; `MISSING` if not finite."""
    known, indices = _numbers_among(tuple(categories))
    places = np.full(len(values), UNKNOWN, dtype=np.int64)
    if len(known):
        at = np.minimum(np.searchsorted(known, values), len(known) - 1)
        places = np.where(known[at] == values, indices[at], places)
    places[~np.isfinite(values)] = MISSING
    return places


@lru_cache(maxsize=256)
def _numbers_among(categories: tuple[str, ...]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The numbers among the categories in rising order, and the index of each.

    Of two categories for one number ("1" and "01") the plain one counts, else the first.
    """
    numbers = _parsed(pa.array(categories, TEXT)).tolist()
    usable = [i for i in range(len(categories)) if math.isfinite(numbers[i])]
    usable.sort(key=lambda i: (categories[i] != written(numbers[i]), i))
    known, first = np.unique([numbers[i] for i in usable], return_index=True)
    return known, np.asarray(usable, dtype=np.int64)[first]


def _taken(values: NDArray[Any], indices: pa.Array, missing: float) -> NDArray[Any]:
    """values[indices], with a null index missing."""
    padded = np.append(values, np.asarray(missing, dtype=values.dtype))
    at = pc.fill_null(indices.cast(pa.int64()), len(values)).to_numpy(zero_copy_only=False)
    return padded[at]
