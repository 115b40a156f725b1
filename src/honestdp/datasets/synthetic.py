"""The paper's synthetic regression: y = x w, w = 10 in each of ten dimensions, x uniform."""

from __future__ import annotations

import numpy as np

from honestdp.datasets.dataset import Dataset, split
from honestdp.schema import Schema

ROWS, DIMENSIONS, WEIGHT = 12_500, 10, 10.0
SEED = 2022


def synthetic() -> Dataset:
    """Make 12,500 rows of x_1 ... x_10 in [0, 1] and y, their sum times ten.

    10,000 of them are for training (the paper does not give a number), by a fixed permutation.
    """
    inputs = np.random.RandomState(SEED).random_sample((ROWS, DIMENSIONS))
    table = np.column_stack([inputs, WEIGHT * inputs.sum(1)])
    schema = Schema.model_validate(
        {
            "name": "synthetic regression",
            "target": {"column": "y", "bounds": [0.0, WEIGHT * DIMENSIONS]},
            "columns": [
                {"kind": "numeric", "name": f"x{i + 1}", "bounds": [0.0, 1.0]}
                for i in range(DIMENSIONS)
            ],
        }
    )
    trains, validates = split(ROWS)
    return Dataset(schema, table[trains], table[validates])
