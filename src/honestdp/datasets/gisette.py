"""A stand-in for Gisette, made from MNIST by its published recipe. It is NOT Gisette."""

from __future__ import annotations

import numpy as np

from honestdp.datasets.dataset import Dataset, numbers_schema, split, with_target
from honestdp.datasets.files import path_of

FILE = "gisette_standin.npz"


def gisette() -> Dataset:
    """A stand-in: 6,000 fours and nines, 5,000 columns of pixels, their products and probes.

    Gisette itself (Guyon 2003) could not be had; whatever comes of this table is to be called a
    stand-in. 80/20 by a fixed permutation.
    """
    with np.load(path_of(FILE, "put it there")) as file:
        inputs, targets = file["X"], file["y"]
    columns = inputs.shape[1]
    schema = numbers_schema(
        "gisette stand-in (not Gisette)",
        "one image",
        [f"feature {i}" for i in range(columns)],
        [999.0] * columns,
        "digit",
        ["0", "1"],
    )
    table = with_target(inputs, targets)
    trains, validates = split(len(targets))
    return Dataset(schema, table[trains], table[validates])
