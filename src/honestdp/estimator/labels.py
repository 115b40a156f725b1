"""Classes in the caller's own type: whole numbers where y was of numbers, words where of words.

A schema declares classes as words. Which type they come back as follows from those words and from
the type of y's container, which is structure; never from a cell: a record must not change it.
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

KINDS = {"b": "bool", "i": "number", "u": "number", "f": "number", "U": "word", "T": "word"}
TRUTH = {"false": False, "0": False, "true": True, "1": True}


def kind_of(y: Any, rows: Rows, target: str) -> str:
    """ "bool", "number", "word", or "" where the container has no one type (a list, objects)."""
    if y is not None:
        return _kind(y)
    if rows.names is None:
        return _kind(rows.table)
    return _kind(rows.column(target))


def _kind(values: Any) -> str:
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        kind = series.dtype
        if kind == nw.Boolean:
            return "bool"
        return "number" if kind.is_numeric() else "word" if kind == nw.String else ""
    if hasattr(values, "detach"):  # a torch tensor
        return "bool" if str(values.dtype) == "torch.bool" else "number"
    return KINDS.get(getattr(getattr(values, "dtype", None), "kind", ""), "")


def labels(classes: Sequence[str], kind: str) -> NDArray[Any]:
    """The declared classes, in their order, as labels of that kind; as words where they are none.
    Where the kind is open, numbers if all of them are."""
    words = np.array(classes)
    if kind == "word":
        return words
    if kind == "bool":
        return _all(classes, lambda word: TRUTH[word.lower()], words)
    return _all(classes, int, _all(classes, float, words))


def check_kind(classes: Sequence[str], kind: str) -> None:
    """Raise where targets of this kind can be none of the classes, whatever their values are."""
    numbers = {_number(word) for word in classes} - {None}
    if kind == "number" and not numbers:
        raise InputError("y: is of numbers, the schema's classes are words; give those words")
    if kind == "bool" and not numbers & {0.0, 1.0}:
        raise InputError(
            "y: is of truth values, which are none of the schema's classes; give those"
        )


def _number(word: str) -> float | None:
    """What a cell reads this word as."""
    found = float(cells([word]).numbers()[0])
    return None if np.isnan(found) else found


def _all(
    classes: Sequence[str], parse: Callable[[str], Any], otherwise: NDArray[Any]
) -> NDArray[Any]:
    try:
        found = np.array([parse(word) for word in classes])
    except (KeyError, ValueError, OverflowError):
        return otherwise
    usable = found.dtype.kind in "bif" and len(np.unique(found)) == len(classes)
    return found if usable else otherwise


def decoded(words: NDArray[Any], classes: Sequence[str], names: NDArray[Any]) -> NDArray[Any]:
    """Predicted words as the caller's labels."""
    order = np.argsort(np.array(classes))
    return names[order[np.searchsorted(np.array(classes), words, sorter=order)]]
