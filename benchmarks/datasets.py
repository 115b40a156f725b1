"""The datasets as benchmarks read them: all rows of each, in the order of its file.

Adult is encoded by its schema, as a user would have it. The others are the research view of
the paper: whole rows, scaled by a constant. Gisette itself is not to be had; what is here is a
stand-in made from MNIST by its recipe, and is called so.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from honestdp import datasets
from honestdp.datasets.dataset import TRAINS
from honestdp.datasets.dataset import split as paper_split
from honestdp.errors import InputError
from honestdp.schema import Schema


class Data(NamedTuple):
    inputs: Any  # [row, column], dense or CSR
    targets: NDArray[np.int64]
    classes: int


def split(rows: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Row numbers to train on and to test on, 80/20: a public permutation, one for each seed."""
    order = np.random.default_rng(seed).permutation(rows)
    return order[: int(TRAINS * rows)], order[int(TRAINS * rows) :]


def adult_schema() -> Schema:
    return datasets.adult().schema


def adult_table() -> pa.Table:
    """All 48,842 rows as they are in the file; `?` is the schema's `other`."""
    found = datasets.adult()
    return pa.concat_tables([found.train, found.validation])


def adult() -> Data:
    encoded = adult_schema().encode(adult_table())
    return Data(encoded.inputs, encoded.targets, 2)


def enron() -> Data:
    """Counts of words, as the paper's 5,512 columns."""
    return whole(datasets.enron, permuted=True)


def gisette_standin() -> Data:
    found = whole(datasets.gisette, permuted=True)
    found.inputs.data /= np.float32(999)  # in place: SciPy's own division would give doubles
    return found


def mnist() -> Data:
    found = whole(datasets.mnist, permuted=False)
    return found._replace(inputs=found.inputs.toarray() / np.float32(255))


def whole(load: Callable[[], datasets.Dataset], permuted: bool) -> Data:
    """Rows in the order of the file; ends the program with one line where it is missing."""
    try:
        found = load()
    except InputError as error:
        print(error, file=sys.stderr)
        raise SystemExit(2) from None
    table = sparse.vstack([found.train, found.validation], format="csr")
    if permuted:
        table = table[np.argsort(np.concatenate(paper_split(table.shape[0])))]
    table.sort_indices()  # sums of floats hang on the order, to the last bit
    targets = table[:, [-1]].toarray().ravel().astype(np.int64)
    assert found.schema.target.classes is not None
    return Data(table[:, :-1], targets, len(found.schema.target.classes))


LOADERS: dict[str, Callable[[], Data]] = {
    "Adult": adult,
    "ENRON": enron,
    "Gisette stand-in": gisette_standin,
    "MNIST": mnist,
}
