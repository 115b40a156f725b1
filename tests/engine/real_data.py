"""The real tables of HONESTDP_DATA, as the paper encodes them: its research view, not the honest
one (scaling by the data's own extremes, incomplete rows dropped)."""

from __future__ import annotations

import csv
import gzip
import io
from functools import cache
from pathlib import Path

import numpy as np
from scipy import sparse

_NUMERIC = (0, 2, 4, 10, 11, 12)


@cache
def adult(folder: Path):
    """(train X, train y, test X, test y): 45,222 rows, 104 columns, sparse, 80/20."""
    text = gzip.decompress((folder / "adult.csv.gz").read_bytes()).decode()
    table = list(csv.reader(io.StringIO(text)))[1:]
    cells = np.array([row for row in table if "?" not in row], dtype=object)
    blocks = []
    for column in range(14):
        if column in _NUMERIC:
            x = cells[:, column].astype(float)
            blocks.append(((x - x.min()) / (x.max() - x.min()))[:, None])
        else:
            blocks.append(cells[:, column : column + 1] == np.unique(cells[:, column].astype(str)))
    X = np.hstack(blocks).astype(np.float32)
    assert X.shape == (45222, 104)
    y = (cells[:, 14] == ">50K").astype(np.int64)
    order = np.random.default_rng(0).permutation(len(y))
    cut = int(0.8 * len(y))
    train, test = order[:cut], order[cut:]
    return sparse.csr_matrix(X[train]), y[train], sparse.csr_matrix(X[test]), y[test]


@cache
def mnist(folder: Path):
    """(train X, train y, test X, test y): pixels over 255, 60,000 and 10,000 rows, dense."""
    with np.load(folder / "mnist.npz") as file:
        X, y = file["X"].astype(np.float32) / 255, file["y"].astype(np.int64)
    return X[:60000], y[:60000], X[60000:], y[60000:]
