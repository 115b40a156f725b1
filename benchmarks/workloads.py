"""What `engine.py` measures on: made-up data in the shapes of Adult, ENRON, MNIST and Gisette.

Every row has the same number of non-zeros, one in each of that many stretches of columns: spread
evenly, so nobody gains from columns that happen to lie together. Only shapes matter for time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_matrix
from torch import Tensor, nn

from honestdp.engine import Examples, Linear, Model, Module, TwoLayer, examples

HIDDEN = 100
SEED = 1


@dataclass(frozen=True)
class Shape:
    rows: int
    features: int
    nonzeros: int  # a row
    classes: int


SHAPES = {
    "adult": Shape(36177, 104, 14, 2),
    "enron": Shape(4137, 5512, 50, 2),
    "mnist": Shape(60000, 784, 149, 10),
    "gisette": Shape(4800, 5000, 650, 2),
}
# How many times faster than Opacus' best mode honestdp has to be.
REQUIRED = {
    "adult-lr": 120.0,
    "adult-tlnn": 26.0,
    "enron-lr": 100.0,
    "enron-tlnn": 9.0,
    "mnist-lr": 20.0,
    "mnist-tlnn": 6.0,
    "gisette-lr": 17.0,
    "gisette-tlnn": 3.5,
    "conv": 1.5,
}
WORKLOADS = tuple(REQUIRED)


@dataclass(frozen=True, eq=False)
class Workload:
    """Rows and a model. `times`: how often the data set's own number of rows."""

    name: str
    times: int = 1

    @property
    def kind(self) -> str:
        return self.name.split("-")[-1]

    @property
    def shape(self) -> Shape:
        return SHAPES["mnist" if self.kind == "conv" else self.name.split("-")[0]]

    @property
    def classes(self) -> int:
        return self.shape.classes

    @property
    def outputs(self) -> int:
        return 1 if self.classes == 2 else self.classes

    @property
    def sparse(self) -> bool:
        """Whether honestdp is given CSR rows; MNIST goes in dense, as to everybody else."""
        return self.shape is not SHAPES["mnist"]

    @cached_property
    def matrix(self) -> Any:
        return random_rows(self.shape, self.times)

    @cached_property
    def labels(self) -> Any:
        draws = np.random.default_rng(SEED + 1)
        return draws.integers(self.classes, size=self.shape.rows * self.times)

    @cached_property
    def dense(self) -> Tensor:
        rows = torch.from_numpy(self.matrix.toarray())
        return rows.view(-1, 1, 28, 28) if self.kind == "conv" else rows

    @cached_property
    def sparse_examples(self) -> Examples:
        return examples(self.matrix, self.labels)

    @cached_property
    def dense_examples(self) -> Examples:
        return examples(self.dense, self.labels)

    def model(self) -> Model:
        """honestdp's model."""
        if self.kind == "lr":
            return Linear(self.shape.features, self.classes)
        if self.kind == "tlnn":
            return TwoLayer(self.shape.features, self.classes, HIDDEN)
        return Module(conv_net, self.classes)

    def network(self) -> nn.Module:
        """The same model for everybody else."""
        torch.manual_seed(SEED)
        if self.kind == "lr":
            return nn.Linear(self.shape.features, self.outputs)
        if self.kind == "tlnn":
            return nn.Sequential(
                nn.Linear(self.shape.features, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, self.outputs)
            )
        return conv_net()


def random_rows(shape: Shape, times: int) -> Any:
    draws = np.random.default_rng(SEED)
    n, k = shape.rows * times, shape.nonzeros
    edges = np.arange(k + 1) * shape.features // k
    columns = draws.integers(edges[:-1], edges[1:], size=(n, k), dtype=np.int32)
    values = draws.random((n, k), dtype=np.float32)
    starts = np.arange(n + 1) * k
    return csr_matrix((values.ravel(), columns.ravel(), starts), shape=(n, shape.features))


def conv_net() -> nn.Module:
    """The network of Opacus' own MNIST example."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 8, 2, padding=3),
        nn.ReLU(),
        nn.MaxPool2d(2, 1),
        nn.Conv2d(16, 32, 4, 2),
        nn.ReLU(),
        nn.MaxPool2d(2, 1),
        nn.Flatten(),
        nn.Linear(512, 32),
        nn.ReLU(),
        nn.Linear(32, 10),
    )
