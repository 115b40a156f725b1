"""The data sets of $HONESTDP_DATA, for benchmarks that need real rows.

Adult is encoded by its schema, as a user would have it. The others are the research view of
the paper: whole rows, scaled by a constant. Gisette itself is not to be had; what is here is a
stand-in made from MNIST by its recipe, and is called so.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from honestdp.datasets import adult as embedded_adult
from honestdp.schema import Schema

TRAINS = 0.8  # of the rows


class Data(NamedTuple):
    inputs: Any  # [row, column], dense or CSR
    targets: NDArray[np.int64]
    classes: int


def path_of(name: str) -> Path:
    """A file of the data folder; ends the program with one line where it is missing."""
    folder = os.environ.get("HONESTDP_DATA")
    path = Path(folder or "") / name
    if folder and path.is_file():
        return path
    what = f"{folder}: holds no {name}" if folder else "not set"
    print(f"HONESTDP_DATA: {what}; name the folder with the data sets", file=sys.stderr)
    raise SystemExit(2)


def split(rows: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Row numbers to train on and to test on, 80/20: a public permutation."""
    order = np.random.default_rng(seed).permutation(rows)
    return order[: int(TRAINS * rows)], order[int(TRAINS * rows) :]


def adult_schema() -> Schema:
    return embedded_adult().schema


def adult_table() -> pa.Table:
    """All 48,842 rows as they are in the file; `?` is the schema's `other`."""
    found = embedded_adult()
    return pa.concat_tables([found.train, found.test])


def adult() -> Data:
    encoded = adult_schema().encode(adult_table())
    return Data(encoded.inputs, encoded.targets, 2)


def enron() -> Data:
    """Counts of words, as the paper's 5,512 columns."""
    with gzip.open(path_of("enron1.jsonl.gz")) as file:
        mails = [json.loads(line) for line in file]
    words = CountVectorizer(stop_words="english", min_df=8)
    counts = words.fit_transform([mail["text"] for mail in mails]).astype(np.float32)
    return Data(counts.tocsr(), np.array([mail["label"] for mail in mails]), 2)


def gisette_standin() -> Data:
    with np.load(path_of("gisette_standin.npz")) as file:
        inputs, targets = file["X"].astype(np.float32) / 999, file["y"].astype(np.int64)
    return Data(sparse.csr_matrix(inputs), targets, 2)


def mnist() -> Data:
    with np.load(path_of("mnist.npz")) as file:
        return Data(file["X"].astype(np.float32) / 255, file["y"].astype(np.int64), 10)


LOADERS: dict[str, Callable[[], Data]] = {
    "Adult": adult,
    "ENRON": enron,
    "Gisette stand-in": gisette_standin,
    "MNIST": mnist,
}
