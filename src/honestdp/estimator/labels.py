"""Class labels: their type follows from the schema's words, or is the one that the caller asks for.

A schema declares classes as words. They come back as whole numbers where all of them are, as
numbers where all are, as truth values where they are true and false, else as text; `class_dtype`
says otherwise. Never by y: one record without a target turns a column of truth values into one of
objects, one odd record a column of numbers into text, and the labels would tell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from honestdp.errors import InputError
from honestdp.estimator.inputs import Rows
from honestdp.schema.cells import cells

TRUTH = {"false": False, "true": True}
READ: dict[str, Callable[[str], Any]] = {
    "int": int,
    "float": float,
    "bool": lambda word: (TRUTH | {"0": False, "1": True})[word.lower()],
    "str": str,
}
KINDS = {"b": "truth values", "i": "numbers", "u": "numbers", "f": "numbers"}


def labels(classes: Sequence[str], dtype: Any = None) -> NDArray[Any]:
    """The declared classes, in their order, as labels; raises where they are none of this type."""
    if dtype is None:
        for read in (int, float, lambda word: TRUTH[word.lower()]):
            found = _read(classes, read)
            if found is not None:
                return found
        return np.array(classes)
    found = _read(classes, READ[checked_dtype(dtype)])
    if found is None:
        name = checked_dtype(dtype)
        raise InputError(
            f"class_dtype={name!r}: two of the schema's classes would be the same; leave it out"
        )
    return found


def checked_dtype(dtype: Any) -> str:
    """The name of a type that labels can have."""
    name = dtype.__name__ if isinstance(dtype, type) else dtype
    if not isinstance(name, str) or name not in READ:
        raise InputError("class_dtype: must be None, bool, int, float or str, or the name of one")
    return name


def _read(classes: Sequence[str], read: Callable[[str], Any]) -> NDArray[Any] | None:
    try:
        found = np.array([read(word) for word in classes])
    except (KeyError, ValueError, OverflowError):
        return None
    usable = found.dtype.kind in "bifU" and len(np.unique(found)) == len(classes)
    return found if usable else None


def check_kind(classes: Sequence[str], y: Any, rows: Rows, target: str) -> None:
    """Raise where targets of the type that y has can be none of the classes.

    For simulations alone: one record decides which type a column has.
    """
    kind = _kind(y, rows, target)
    numbers = {_number(word) for word in classes} - {None}
    if kind == "numbers" and not numbers:
        raise InputError("y: is of numbers, the schema's classes are words; give those words")
    if kind == "truth values" and not numbers & {0.0, 1.0}:
        raise InputError(
            "y: is of truth values, which are none of the schema's classes; give those"
        )


def _kind(y: Any, rows: Rows, target: str) -> str:
    values = y
    if y is None:
        values = rows.table if rows.names is None else rows.column(target)
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        if series.dtype == nw.Boolean:
            return "truth values"
        return "numbers" if series.dtype.is_numeric() else ""
    if hasattr(values, "detach"):  # a torch tensor
        return "truth values" if str(values.dtype) == "torch.bool" else "numbers"
    return KINDS.get(getattr(getattr(values, "dtype", None), "kind", ""), "")


def _number(word: str) -> float | None:
    """What a cell reads this word as."""
    found = float(cells([word]).numbers()[0])
    return None if np.isnan(found) else found


def decoded(words: NDArray[Any], classes: Sequence[str], names: NDArray[Any]) -> NDArray[Any]:
    """Predicted words as the caller's labels."""
    order = np.argsort(np.array(classes))
    return names[order[np.searchsorted(np.array(classes), words, sorter=order)]]
