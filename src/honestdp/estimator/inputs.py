"""The structure of X and y: the type of table, its columns, the number of rows.

Errors have scikit-learn's texts, but never quote a cell.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from sklearn.exceptions import DataConversionWarning

from honestdp.errors import InputError
from honestdp.schema import Schema
from honestdp.schema.tables import is_lazy, rows_of_objects
from honestdp.sparse_rows import canonical

ME = "HonestSearch"
Y_IS_NONE = f"{ME} requires y to be passed, but the target y is None"


@dataclass(frozen=True, eq=False, repr=False)
class Rows:
    """A table in memory. names: The names of its columns if all are text. numbers: Their names as
    text if all are whole numbers. frame: The data frame, if it is one. Otherwise None."""

    table: Any  # Sensitive
    names: tuple[str, ...] | None
    count: int
    width: int
    numbers: tuple[str, ...] | None = None
    frame: Any = None  # Sensitive

    @classmethod
    def of(cls, X: Any) -> Rows:  # noqa: N803
        if isinstance(X, Rows):
            return X
        kind = type(X).__name__
        if is_lazy(X):
            raise InputError(f"X: is of type {kind}; {ME} takes tables in memory: give X.collect()")
        if isinstance(X, (str, os.PathLike)):
            raise InputError(
                f"X: is of type {kind}; {ME} takes tables in memory, honestdp.run files too"
            )
        if hasattr(X, "tocsr"):
            X = canonical(X)  # noqa: N806 - columns can be picked from it, whatever it was
        if isinstance(X, Mapping):
            if not all(hasattr(column, "__len__") for column in X.values()):
                raise InputError("X: a dict, but not of columns; give a list of cells for each")
            lengths = [len(column) for column in X.values()]
            return cls(X, tuple(map(str, X)), lengths[0] if lengths else 0, len(lengths))._checked()
        frame = _frame(X)
        if frame is not None:
            return cls._of_frame(X, frame)
        if not hasattr(X, "shape") or not hasattr(X, "ndim"):
            X = _array(X)  # noqa: N806
        if X.ndim != 2:
            raise InputError(
                f"X: Expected 2D array, got {X.ndim}D array instead. Reshape your data: "
                "reshape(-1, 1) for one feature, reshape(1, -1) for one sample"
            )
        return cls(X, None, int(X.shape[0]), int(X.shape[1]))._checked()

    @classmethod
    def _of_frame(cls, table: Any, frame: Any) -> Rows:
        count, width = frame.shape
        names = tuple(frame.columns)
        if all(isinstance(name, str) for name in names):
            return cls(table, names, count, width, frame=frame)._checked()
        if any(isinstance(name, str) for name in names):
            raise InputError(
                "X: Feature names are only supported if all input features have string names; "
                "some of these have, some not: use X.columns = X.columns.astype(str)"
            )
        # Numbered columns, as pandas names those of an array: known by their places, unless the
        # schema's names are numbers too.
        whole = all(isinstance(name, Integral) for name in names)
        numbers = tuple(map(str, names)) if whole else None
        return cls(_columns(frame), None, count, width, numbers)._checked()

    def named_for(self, wanted: Sequence[str]) -> Rows:
        """The same rows; with the columns' numbers as names, if all wanted names are among them."""
        if self.numbers is None or not set(wanted) <= set(self.numbers):
            return self
        table = dict(zip(self.numbers, self.table.values(), strict=True))
        return Rows(table, self.numbers, self.count, self.width)

    def _checked(self) -> Rows:
        for found, what in ((self.count, "sample(s)"), (self.width, "feature(s)")):
            if found == 0:
                shape = (self.count, self.width)
                raise InputError(f"X: 0 {what} (shape={shape}) while a minimum of 1 is required.")
        return self

    def features(self, target: str | None) -> tuple[str, ...] | None:
        """The names of the columns without the target."""
        if self.names is None:
            return None
        return tuple(name for name in self.names if name.strip() != target)

    def holds(self, column: str) -> bool:
        return self.names is not None and column in (name.strip() for name in self.names)

    def column(self, name: str) -> Any:
        """One column of a table that `holds` it."""
        place = [known.strip() for known in self.names or ()].index(name)
        if self.frame is not None:
            return self.frame[:, place].to_native()
        return list(self.table.values())[place]

    def without_last(self) -> tuple[Rows, Any]:
        """Split an array into all but its last column, and the last column."""
        if isinstance(self.table, Mapping):
            columns = list(self.table.values())
            table, last = dict(enumerate(columns[:-1])), columns[-1]
        else:
            table, last = self.table[:, :-1], self.table[:, -1]
            last = self.table[:, [-1]].toarray()[:, 0] if hasattr(table, "tocsr") else last
        return Rows(table, None, self.count, self.width - 1), last

    def in_order(self, names: Sequence[str], wanted: Sequence[str]) -> Any:
        """The table with its columns renamed to these names, by position; of an array, the columns
        that are wanted."""
        table = self.table if self.frame is None else _columns(self.frame)
        if isinstance(table, Mapping):
            return dict(zip(names, table.values(), strict=True))
        places = [list(names).index(name) for name in wanted]
        return table if places == list(range(self.width)) else table[:, places]


def _frame(table: Any) -> Any:
    """The table as a data frame; None if it is not one."""
    try:
        frame = nw.from_native(table, eager_only=True, pass_through=True)
        return frame if isinstance(frame, nw.DataFrame) and frame.columns is not None else None
    except Exception:
        kind = type(table).__name__
        raise InputError(f"a {kind} cannot be read; does each column have its own name?") from None


def _columns(frame: Any) -> dict[int, Any]:
    return {i: frame[:, i].to_native() for i in range(frame.shape[1])}


def target_of(y: Any) -> Any:
    """One column of targets, or None."""
    if y is None:
        return None
    kind = type(y).__name__
    if is_lazy(y):
        raise InputError(f"y: is of type {kind}; give a column in memory: y.collect()")
    if hasattr(y, "tocsr"):
        raise InputError(f"y: is of type {kind}; give a dense column: y.toarray().ravel()")
    if isinstance(y, (str, bytes, Mapping, Set, Iterator)):
        raise InputError(f"y: is of type {kind}; give a column, such as a list of targets")
    frame = _frame(y)
    if frame is not None:
        _check_column(frame.shape)
        return frame[:, 0].to_native()
    if _is_column(y):  # not converted: NumPy cannot hold all of its types
        return y
    if not hasattr(y, "__len__") or (hasattr(y, "__array__") and not hasattr(y, "ndim")):
        y = _array(y)
    shape = tuple(y.shape) if hasattr(y, "shape") else (len(y),)
    if len(shape) == 1:
        return y
    _check_column(shape)
    return y.reshape(-1)


def _is_column(y: Any) -> bool:
    """Whether this is one column of a data frame, or of Arrow."""
    if isinstance(y, (pa.Array, pa.ChunkedArray)):
        return True
    return isinstance(nw.from_native(y, series_only=True, pass_through=True), nw.Series)


def _check_column(shape: Sequence[int]) -> None:
    if len(shape) != 2 or shape[1] != 1:
        raise InputError(f"y should be a 1d array, got an array of shape {tuple(shape)} instead.")
    message = "A column-vector y was passed when a 1d array was expected; use y.ravel()"
    warnings.warn(message, DataConversionWarning, stacklevel=4)


def check_cells(rows: Rows, y: Any) -> None:
    """Raise InputError if no cell of X or y can be read.

    For simulations only: a single record may decide it.
    """
    for values in (rows.table, y):
        if getattr(getattr(values, "dtype", None), "kind", "") == "c":
            raise InputError("Complex data not supported: give real numbers")
    if not isinstance(y, (list, tuple)) and str(getattr(y, "dtype", "")) != "object":
        return
    if len(y) and all(isinstance(cell, (list, tuple, np.ndarray, Mapping)) for cell in y):
        raise InputError("y: holds lists, not targets; give one value per row")


def _array(values: Any) -> Any:
    try:
        rows = rows_of_objects(values)
        return np.asarray(values) if rows is None else rows
    except Exception:
        kind_of = type(values).__name__
        raise InputError(f"a {kind_of} is not a table; give rows of one length") from None


def check_names(given: Sequence[str], fitted: Sequence[str], public: bool) -> None:
    """Raise InputError, with scikit-learn's text, unless names and order are those of fit.
    public: Show unknown names even if most are unknown; without a header they would be cells."""
    if list(given) == list(fitted):
        return
    lines = ["The feature names should match those that were passed during fit."]
    unseen, missing = sorted(set(given) - set(fitted)), sorted(set(fitted) - set(given))
    for names, heading in (
        (unseen, "Feature names unseen at fit time:"),
        (missing, "Feature names seen at fit time, yet now missing:"),
    ):
        if names is unseen and not public and 2 * len(missing) >= len(fitted):
            lines.append("Does the table have a header (column names), and are these its names?")
        elif names:
            lines += [heading, *(f"- {name[:60]}" for name in names[:5])]
            lines += ["- ..."] if len(names) > 5 else []
    if not unseen and not missing:
        lines.append("Feature names must be in the same order as they were in fit.")
    raise InputError("\n".join(lines) + "\n")


def check_width(given: int, fitted: int) -> None:
    if given != fitted:
        raise InputError(
            f"X has {given} features, but {ME} is expecting {fitted} features as input."
        )


def warn_names(fitted: bool) -> None:
    message = (
        f"X does not have valid feature names, but {ME} was fitted with feature names"
        if fitted
        else f"X has feature names, but {ME} was fitted without feature names"
    )
    warnings.warn(message, UserWarning, stacklevel=4)


def columns_of(rows: Rows, schema: Schema, given: bool) -> tuple[Any, tuple[str, ...] | None, int]:
    """The table with the schema's columns, the names of its features, and their number.
    given: Whether the targets were given apart."""
    wanted = schema.input_names
    features = rows.features(schema.target.column)
    if features is not None:
        if not given and not rows.holds(schema.target.column):
            raise InputError(f"{Y_IS_NONE}, and X has no column {schema.target.column!r}")
        return rows.table, features, len(features)
    if not given and rows.width != len(wanted) + 1:
        raise InputError(f"{Y_IS_NONE}, and X has {rows.width} columns")
    names = wanted if given else [*wanted, schema.target.column]
    check_width(rows.width, len(names))
    return rows.in_order(names, names), None, len(wanted)


def places(width: int) -> tuple[str, ...]:
    """Names for the columns of an array."""
    return tuple(f"x{i}" for i in range(width))
