"""Lots made to break a floating-point sum, and every way the engine has of adding one up."""

from __future__ import annotations

from collections.abc import Callable
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

FEATURES, TOKENS = 3, 6


def huge_and_tiny(draws: np.random.Generator, shape: tuple[int, ...]) -> Any:
    return draws.choice([1e18, -1e18, 1e-18, -1e-18, 1.0], shape)


def alternating(draws: np.random.Generator, shape: tuple[int, ...]) -> Any:
    signs = np.where(np.arange(shape[0]) % 2, -1.0, 1.0).reshape(-1, *[1] * (len(shape) - 1))
    return signs * draws.choice([1.0, 1 + 2.0**-23, 1e-4], shape)


def powers_of_two(draws: np.random.Generator, shape: tuple[int, ...]) -> Any:
    return draws.choice([-1, 1], shape) * 2.0 ** draws.integers(-30, 30, shape)


def half_units(draws: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Contributions in the middle between two whole units, or next to it."""
    whole = draws.integers(-3, 4, shape) + 0.5
    return whole * 2.0**-20 * (1 + draws.integers(-2, 3, shape) * 2.0**-23)


def subnormal(draws: np.random.Generator, shape: tuple[int, ...]) -> Any:
    return draws.choice([1e-45, -1e-40, 1e-38, 1.2e-38, 0.0], shape)


def not_finite(draws: np.random.Generator, shape: tuple[int, ...]) -> Any:
    return draws.choice([np.nan, np.inf, -np.inf, 3e38, 1.0, 1.0, 1.0], shape)


def absorbed(draws: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Rows of 1 that add up to a power of two, beside the first, then rows of half a unit in the
    last place of a float32 sum there. With the first row such a sum stays where it is; without it
    it follows them: the lot that broke sums in float32."""
    top = int(np.log2(max(2, shape[0] // 2)))
    values = np.where(np.arange(shape[0]) <= 2**top, 1.0, -(2.0 ** (top - 24)))
    return np.broadcast_to(values.reshape(-1, *[1] * (len(shape) - 1)), shape).copy()


KINDS: dict[str, Callable[..., Any]] = {
    made.__name__: made
    for made in (
        huge_and_tiny, alternating, powers_of_two, half_units, subnormal, not_finite, absorbed
    )
}  # fmt: skip


def lot(kind: str, rows: int, seed: int, classes: int | None) -> tuple[Any, Any]:
    """Inputs [rows, FEATURES] and targets of one kind; real targets are as wild as the inputs."""
    draws = np.random.default_rng(seed)
    X = KINDS[kind](draws, (rows, FEATURES))
    if kind == "absorbed":
        X[:] = 0.0
    if classes is None:
        return X, -KINDS[kind](draws, (rows,))
    return X, draws.integers(0, classes, rows)


def with_null(X: Any, y: Any, record: int) -> tuple[Any, Any]:
    """The same lot with a null record in the place of one."""
    X, y = X.copy(), y.copy()
    X[record] = 0.0
    y[record] = -1 if y.dtype.kind == "i" else np.nan
    return X, y


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
) -> Any:
    """The clipped sums of one path, as Python's whole numbers."""
    name, _, as_on_gpu = path
    model = models(classes)[name]
    count = len(params)
    lots = Lots.everything(len(rows), count)
    if order is not None:
        lots = Lots(np.tile(np.asarray(order, np.int32), (count, 1)), lots.counts)
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
            made = add(params, rows, lots, how, out, buffers)
    finally:
        grid.has_kernels = kernels
    return made.units.numpy().astype(object)


def parameters(classes: int | None, name: str, seed: int, weight: float) -> torch.Tensor:
    count = size(models(classes)[name])
    draws = torch.Generator().manual_seed(seed)
    return torch.randn(2, count, generator=draws) * weight
