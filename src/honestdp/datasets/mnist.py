"""MNIST (LeCun, Cortes and Burges): 70,000 handwritten digits of 28 by 28 pixels."""

from __future__ import annotations

import numpy as np

from honestdp.datasets.dataset import Dataset, numbers_schema, with_target
from honestdp.datasets.files import path_of

PIXELS = 28 * 28
TRAINS = 60_000
FILE = "mnist.npz"


def mnist() -> Dataset:
    """60,000 digits to train on, 10,000 to score on, as published; pixels from 0 to 255."""
    with np.load(path_of(FILE, "put it there")) as file:
        inputs, targets = file["X"], file["y"]
    names = [f"pixel {i}" for i in range(PIXELS)]
    schema = numbers_schema(
        "mnist", "one image", names, [255.0] * PIXELS, "digit", [str(d) for d in range(10)]
    )
    table = with_target(inputs, targets)
    return Dataset(schema, table[:TRAINS], table[TRAINS:])
