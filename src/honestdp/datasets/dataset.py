"""`Dataset`, the result of every loader; and the paper's split."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from honestdp.schema import Schema

SPLIT_SEED = 2022
TRAINS = 0.8  # of the rows


class Dataset(NamedTuple):
    """A data set. schema: What is public. train: The rows to protect. validation: The rows to test
    a model on, declared public. Both are tables with inputs and target that the schema encodes."""

    schema: Schema
    train: Any
    validation: Any


def split(rows: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Row numbers to train on and to score on, 80/20 by a fixed permutation.

    By row number, never by content. ENRON's file is sorted by label: without the permutation only
    one class would be left to score on.
    """
    # RandomState draws the same permutation in every version of NumPy.
    order = np.random.RandomState(SPLIT_SEED).permutation(rows)
    trains = int(TRAINS * rows)
    return order[:trains], order[trains:]


def numbers_schema(
    name: str, unit: str, columns: list[str], high: list[float], target: str, classes: list[str]
) -> Schema:
    """A schema of numeric columns that start at 0: a sparse matrix of them stays sparse."""
    return Schema.model_validate(
        {
            "name": name,
            "unit": unit,
            "target": {"column": target, "classes": classes},
            "columns": [
                {"kind": "numeric", "name": column, "bounds": [0.0, top], "missing": 0.0}
                for column, top in zip(columns, high, strict=True)
            ],
        }
    )


def with_target(inputs: NDArray[Any], targets: NDArray[Any]) -> csr_matrix:
    """Inputs and target as one sparse table, the target last."""
    whole = np.column_stack([inputs, targets.astype(inputs.dtype)])
    rows, columns = whole.shape
    at = np.flatnonzero(whole)  # several times as fast as SciPy's conversion
    starts = np.searchsorted(at, np.arange(rows + 1) * columns).astype(np.int32)
    values = whole.reshape(-1)[at].astype(np.float32)
    indices = (at % columns).astype(np.int32)
    return csr_matrix((values, indices, starts), shape=(rows, columns))
