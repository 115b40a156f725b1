"""A small schema and a table of odd cells, for the tests of `honestdp.schema`."""

from __future__ import annotations

from typing import Any

import numpy as np

from honestdp.schema import Categorical, Encoded, Numeric, Schema, Target


def small_schema(**changes: Any) -> Schema:
    facts: dict[str, Any] = {
        "name": "small",
        "columns": [
            Numeric(name="age", bounds=(0, 100), missing=40),
            Categorical(name="job", categories=["clerk", "smith", "1"], other=True),
            Categorical(name="town", categories=["north", "south"], missing="south"),
        ],
        "target": Target(column="pay", classes=["low", "high"]),
    }
    return Schema(**(facts | changes))


def rows_of(encoded: Encoded) -> np.ndarray:
    """Inputs and targets side by side, dense."""
    inputs = encoded.inputs if isinstance(encoded.inputs, np.ndarray) else encoded.inputs.toarray()
    return np.column_stack([inputs, encoded.targets])
