"""Class labels: their type follows from the schema's classes, or from `class_dtype`.

A schema declares classes as text. The labels are whole numbers if all classes are, numbers if all
are, truth values if they are true and false, else text; `class_dtype` overrides this. The type
never depends on y: one record without a target turns a column of truth values into objects, one odd
record a column of numbers into text, and the labels would reveal it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
    "bool": lambda text: (TRUTH | {"0": False, "1": True})[text.lower()],
    "str": str,
}
KINDS = {"b": "truth values", "i": "numbers", "u": "numbers", "f": "numbers"}


def labels(classes: Sequence[str], dtype: Any = None) -> NDArray[Any]:
    """The declared classes, in order, as labels; raises InputError if they do not fit the type."""
    if dtype is None:
        for read in (int, float, lambda text: TRUTH[text.lower()]):
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
    """The name of a label type; raises InputError if labels cannot have it."""
    name = dtype.__name__ if isinstance(dtype, type) else dtype
    if not isinstance(name, str) or name not in READ:
        raise InputError("class_dtype: must be None, bool, int, float or str, or the name of one")
    return name


def _read(classes: Sequence[str], read: Callable[[str], Any]) -> NDArray[Any] | None:
    try:
        found = np.array([read(text) for text in classes])
    except (KeyError, ValueError, OverflowError):
        return None
    usable = found.dtype.kind in "bifU" and len(np.unique(found)) == len(classes)
    return found if usable else None


def by_class(classes: Sequence[str] | None, dtype: Any, given: Any) -> Any:
    """Numbers by label as numbers by class of the schema; anything else is left to `Spec`."""
    if classes is None or not isinstance(given, Mapping):
        return given
    named = dict(zip(labels(classes, dtype).tolist(), classes, strict=True))
    return {named.get(label, label): number for label, number in given.items()}


def check_kind(classes: Sequence[str], y: Any, rows: Rows, target: str) -> None:
    """Raise InputError if no target of y's type can be one of the classes.

    For simulations only: one record decides the type of a column.
    """
    kind = _kind(y, rows, target)
    numbers = {_number(text) for text in classes} - {None}
    if kind == "numbers" and not numbers:
        raise InputError("y: holds numbers, but the schema's classes are text; give the schema's")
    if kind == "truth values" and not numbers & {0.0, 1.0}:
        raise InputError(
            "y: holds truth values, but the schema's classes are not; give the schema's"
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


def _number(text: str) -> float | None:
    """The number that a cell with this text has; None if it has none."""
    found = float(cells([text]).numbers()[0])
    return None if np.isnan(found) else found


def decoded(predicted: NDArray[Any], classes: Sequence[str], names: NDArray[Any]) -> NDArray[Any]:
    """Convert predicted classes of the schema to labels."""
    order = np.argsort(np.array(classes))
    return names[order[np.searchsorted(np.array(classes), predicted, sorter=order)]]
