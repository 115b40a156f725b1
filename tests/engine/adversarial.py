"""Lots made to break a floating-point sum, and every way the engine has of adding one up."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import nn

from honestdp.engine import Examples, Linear, Module, TwoLayer, examples, grid, size
from honestdp.engine.buffers import Buffers
from honestdp.engine.clipping import Clip
from honestdp.engine.grid import accumulator
from honestdp.engine.lots import Lots
from honestdp.testing import lots
from honestdp.testing.lots import KINDS, with_null

FEATURES, TOKENS = 3, 6
__all__ = ["KINDS", "with_null"]  # for the tests beside


def lot(kind: str, rows: int, seed: int, classes: int | None) -> tuple[Any, Any]:
    """Inputs [rows, FEATURES] and targets of one kind."""
    return lots.lot(kind, rows, seed, FEATURES, classes)


class Net(nn.Module):
    """A module with two layers and an activation that can overflow."""

    def __init__(self, outputs: int) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(FEATURES, 4), nn.Linear(4, outputs)

    def forward(self, x: Any) -> Any:
        return self.last(torch.relu(self.first(x)))


class Words(nn.Module):
    """A module that reads tokens through an embedding."""

    def __init__(self, outputs: int) -> None:
        super().__init__()
        self.words, self.last = nn.Embedding(TOKENS, 3), nn.Linear(3, outputs)

    def forward(self, x: Any) -> Any:
        return self.last(self.words(x).mean(1))


def models(classes: int | None) -> dict[str, Any]:
    outputs = 1 if classes in (None, 2) else classes
    return {
        "linear": Linear(FEATURES, classes),
        "two-layer": TwoLayer(FEATURES, classes, width=5),
        "module": Module(lambda: Net(outputs), classes),
        "embedding": Module(lambda: Words(outputs), classes, tokens=TOKENS),
    }


# model, kind of rows, whether what a GPU runs is run
PATHS = [
    ("linear", "dense", False),
    ("linear", "sparse", False),
    ("linear", "dense", True),
    ("linear", "sparse", True),
    ("two-layer", "dense", False),
    ("two-layer", "sparse", False),
    ("two-layer", "dense", True),
    ("two-layer", "sparse", True),
    ("module", "dense", False),
    ("module", "dense", True),
    ("embedding", "tokens", False),
    ("embedding", "tokens", True),
]


def rows_of(X: Any, y: Any, kind: str) -> Examples:
    if kind == "tokens":  # any number as a word, some of them unknown
        whole = np.clip(np.nan_to_num(X, nan=-1), -1e6, 1e6).astype(np.int64)
        return examples(whole % 8, y)
    with np.errstate(over="ignore"):
        X = X.astype(np.float32)
    return examples(sparse.csr_matrix(X) if kind == "sparse" else X, y)


def units(
    path: tuple[str, str, bool],
    rows: Examples,
    params: torch.Tensor,
    clip: float | None,
    classes: int | None,
    memory: int = 1 << 24,
    order: Any = None,
    weights: tuple[float, ...] | None = None,
) -> Any:
    """The clipped sums of one path, as Python's whole numbers."""
    name, _, as_on_gpu = path
    model = models(classes)[name]
    if weights is not None:
        model = model.weighted(weights)
    count = len(params)
    drawn = Lots.everything(len(rows), count)
    if order is not None:
        drawn = Lots(np.tile(np.asarray(order, np.int32), (count, 1)), drawn.counts)
    how = Clip(
        torch.full((count,), 1.0 if clip is None else clip, dtype=torch.float64),
        torch.full((count,), clip is None),
    )
    out = torch.empty_like(params, dtype=accumulator(len(rows)))
    buffers = Buffers(memory, rows.device)
    kernels = grid.has_kernels
    try:
        if as_on_gpu:
            grid.has_kernels = lambda tensor: False
        closed_form = hasattr(model, "in_torch")
        add = model.in_torch if as_on_gpu and closed_form else model.clipped_sum
        with torch.no_grad():
            made = add(params, rows, drawn, how, out, buffers)
    finally:
        grid.has_kernels = kernels
    return made.units.numpy().astype(object)


def parameters(classes: int | None, name: str, seed: int, weight: float) -> torch.Tensor:
    count = size(models(classes)[name])
    draws = torch.Generator().manual_seed(seed)
    return torch.randn(2, count, generator=draws) * weight
