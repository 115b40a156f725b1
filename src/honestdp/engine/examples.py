"""The sensitive rows, as tensors: dense or compressed sparse rows, with their targets.

An example that is not finite (a NaN or an infinity among its inputs) has no finite gradient
and counts as zero: it is stored as zeros with `present` = 0, and keeps its place, since
its row number is public and still sampled. Only structure raises, never a value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_matrix
from torch import Tensor

from honestdp.engine.space import Space
from honestdp.errors import InputError


@dataclass(frozen=True, eq=False)
class Sparse:
    """Compressed sparse rows: row r has columns[starts[r]:starts[r+1]] with those values."""

    starts: Tensor
    columns: Tensor
    values: Tensor
    width: int

    def dense(self, rows: Tensor) -> Tensor:
        """The given rows (any shape), written out: [*rows.shape, width]."""
        flat = rows.reshape(-1).long()
        first = self.starts[flat].long()
        counts = self.starts[flat + 1].long() - first
        owner = torch.repeat_interleave(torch.arange(len(flat), device=flat.device), counts)
        offset = torch.arange(len(owner), device=flat.device) - (counts.cumsum(0) - counts)[owner]
        place = first[owner] + offset
        out = torch.zeros(len(flat), self.width, device=flat.device)
        out[owner, self.columns[place].long()] = self.values[place]
        return out.view(*rows.shape, self.width)


@dataclass(frozen=True, eq=False, repr=False)
class Examples:
    """n examples: `inputs` [n, ...] or Sparse, `targets` [n], `present` [n] (0: counts for
    nothing), `squares` [n]: ||x||^2 + 1, the squared norm with the bias's input of 1.

    Make one with `examples(X, y)`.
    """

    inputs: Tensor | Sparse
    targets: Tensor
    present: Tensor
    squares: Tensor

    def __len__(self) -> int:
        return len(self.targets)

    def __repr__(self) -> str:
        kind = "sparse" if isinstance(self.inputs, Sparse) else "dense"
        return f"Examples({len(self)} rows, {kind}, {tuple(self.shape)})"

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one example's input."""
        if isinstance(self.inputs, Sparse):
            return (self.inputs.width,)
        return tuple(self.inputs.shape[1:])

    @property
    def device(self) -> torch.device:
        return self.targets.device

    def dense(self, rows: Tensor, space: Space | None = None) -> Tensor:
        """The inputs of the given rows, written out; into the work space where one is given."""
        if isinstance(self.inputs, Sparse):
            return self.inputs.dense(rows)
        shape = (rows.numel(), *self.shape)
        out = space.tensor("inputs", *shape) if space and self.inputs.is_floating_point() else None
        chosen = torch.index_select(self.inputs, 0, rows.reshape(-1), out=out)
        return chosen.view(*rows.shape, *self.shape)

    def to(self, device: torch.device | str) -> Examples:
        inputs = self.inputs
        if isinstance(inputs, Sparse):
            moved: Tensor | Sparse = Sparse(
                inputs.starts.to(device),
                inputs.columns.to(device),
                inputs.values.to(device),
                inputs.width,
            )
        else:
            moved = inputs.to(device)
        rest = (self.targets.to(device), self.present.to(device), self.squares.to(device))
        return Examples(moved, *rest)


def examples(inputs: Any, targets: Any, device: torch.device | str = "cpu") -> Examples:
    """Rows and targets as the engine reads them.

    inputs: NumPy array or tensor [n, ...], or a SciPy or torch CSR matrix [n, features].
    targets: [n], class numbers (integers) or real values. A class number outside the model's
    classes, or a target that is not finite, contributes nothing.
    """
    y = _targets(targets)
    if hasattr(inputs, "tocsr") or getattr(inputs, "layout", None) == torch.sparse_csr:
        x, finite, squares = _sparse(inputs)
    else:
        x, finite, squares = _dense(inputs)
    if len(finite) != len(y):
        raise InputError(f"{len(finite)} rows of inputs, {len(y)} targets: give one target a row")
    present = finite.float()
    if y.is_floating_point():
        present = present * torch.isfinite(y)
        y = torch.nan_to_num(y, nan=0.0, posinf=0.0, neginf=0.0)
    return Examples(x, y, present, squares).to(device)


def _targets(targets: Any) -> Tensor:
    y = torch.as_tensor(targets)
    if y.ndim != 1 or len(y) == 0:
        raise InputError(f"targets have shape {tuple(y.shape)}: give one number a row")
    return y.float() if y.is_floating_point() else y.long()


def _dense(inputs: Any) -> tuple[Tensor | Sparse, Tensor, Tensor]:
    x = torch.as_tensor(inputs)
    if x.ndim < 2:
        raise InputError(f"inputs have shape {tuple(x.shape)}: give one row an example")
    if not x.is_floating_point():  # token numbers stay whole, for an embedding
        return x.contiguous(), torch.ones(len(x), dtype=torch.bool), torch.ones(len(x))
    x = x.float()
    finite = torch.isfinite(x).flatten(1).all(1)
    x = torch.where(finite.view(-1, *[1] * (x.ndim - 1)), x, 0.0).contiguous()
    return x, finite, torch.linalg.vector_norm(x.flatten(1), dim=1).square() + 1


def _sparse(inputs: Any) -> tuple[Tensor | Sparse, Tensor, Tensor]:
    if hasattr(inputs, "tocsr"):
        matrix = inputs.tocsr(copy=True)
    else:
        parts = (inputs.values(), inputs.col_indices(), inputs.crow_indices())
        matrix = csr_matrix(tuple(part.cpu().numpy() for part in parts), shape=tuple(inputs.shape))
    try:
        matrix.check_format()  # what a compiled kernel must be able to trust
    except ValueError as error:
        raise InputError(f"inputs: not a sound sparse matrix ({error}); make it anew") from error
    matrix.sum_duplicates()  # or a row's norm would be larger than its entries say
    starts = torch.from_numpy(matrix.indptr.astype(np.int64))
    columns = torch.from_numpy(matrix.indices.astype(np.int32))
    values = torch.from_numpy(matrix.data.astype(np.float32))
    rows, width = matrix.shape
    owner = torch.repeat_interleave(torch.arange(rows), starts.diff())
    bad = torch.zeros(rows).index_add_(0, owner, (~torch.isfinite(values)).float()) > 0
    values = torch.where(bad[owner], 0.0, values)
    squares = torch.zeros(rows, dtype=torch.float64).index_add_(0, owner, values.double().square())
    return Sparse(starts, columns, values, int(width)), ~bad, squares.float() + 1
