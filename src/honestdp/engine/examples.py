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

from honestdp.engine.buffers import Buffers
from honestdp.engine.sparse import Sparse, facts, pack
from honestdp.errors import InputError
from honestdp.sparse_rows import canonical


@dataclass(frozen=True, eq=False, repr=False)
class Examples:
    """Rows and their targets. Sensitive. Made by `examples(X, y)`.

    Attributes:
        inputs: [row, ...], or sparse rows.
        targets: [row], class numbers or real values.
        present: [row], 1 or 0; a row with 0 contributes nothing.
        squares: [row], ||x||^2 + 1: the squared norm of a row with the bias's input of 1.
        facts: Targets, present and squares once more, in the form that the compiled kernels read
            (`sparse.facts`).
    """

    inputs: Tensor | Sparse
    targets: Tensor
    present: Tensor
    squares: Tensor
    facts: Tensor

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
        """Where the tensors are."""
        return self.targets.device

    def dense(self, rows: Tensor, buffers: Buffers | None = None) -> Tensor:
        """The inputs of some rows as a dense tensor.

        Args:
            rows: Row numbers, of any shape.
            buffers: Memory to write to; None: a new tensor.

        Returns:
            The inputs, of the shape of `rows` followed by that of one input.
        """
        if isinstance(self.inputs, Sparse):
            return self.inputs.dense(rows)
        shape = (rows.numel(), *self.shape)
        real = self.inputs.is_floating_point()
        out = buffers.tensor("inputs", *shape) if buffers and real else None
        chosen = torch.index_select(self.inputs, 0, rows.reshape(-1), out=out)
        return chosen.view(*rows.shape, *self.shape)

    def to(self, device: torch.device | str) -> Examples:
        """The same rows on another device.

        Args:
            device: The device, such as "cuda".
        """
        rest = (self.targets, self.present, self.squares, self.facts)
        return Examples(self.inputs.to(device), *(part.to(device) for part in rest))


def examples(inputs: Any, targets: Any, device: torch.device | str = "cpu") -> Examples:
    """Convert rows and targets to what the engine reads. Copies them.

    Args:
        inputs: A NumPy array or tensor [row, ...], a data frame of numbers, or a sparse matrix
            [row, feature] of SciPy or torch. A row that holds a NaN or an infinity contributes
            nothing.
        targets: [row], class numbers (integers) or real values. A target that is not finite, or
            that is none of the model's classes, contributes nothing.
        device: Where to put them.

    Returns:
        The examples.

    Raises:
        InputError: If the inputs are not numbers, or there is not one target for each row. What the
            numbers are never raises.

    Example:
        >>> examples([[0.5, 1.0], [0.0, 2.0]], [0, 1])
        Examples(2 rows, dense, (2,))
    """
    y = _targets(targets)
    x, finite, squares = _sparse(inputs) if _is_sparse(inputs) else _dense(inputs)
    if len(finite) != len(y):
        raise InputError(f"{len(finite)} rows of inputs, {len(y)} targets: give one target a row")
    present = finite.float()
    if y.is_floating_point():
        present = present * torch.isfinite(y)
        y = torch.nan_to_num(y, nan=0.0, posinf=0.0, neginf=0.0)
    known = facts(y, present, squares)
    packed = x if isinstance(x, Tensor) else pack(x, known)
    return Examples(packed, y, present, squares, known).to(device)


def _is_sparse(inputs: Any) -> bool:
    return hasattr(inputs, "tocsr") or (
        isinstance(inputs, Tensor) and inputs.layout != torch.strided
    )


def _targets(targets: Any) -> Tensor:
    y = _tensor("targets", targets)
    if y.ndim != 1 or len(y) == 0:
        raise InputError(f"targets have shape {tuple(y.shape)}: give one number a row")
    if len(y) >= 2**31:
        raise InputError(f"{len(y)} rows: the engine numbers rows with 31 bits; give fewer")
    # Copies: what the caller does with its own later must not reach a training.
    return y.to(torch.float32 if y.is_floating_point() else torch.long, copy=True)


def _tensor(name: str, values: Any) -> Tensor:
    """Any table of numbers as a tensor; text and objects are refused by their type alone."""
    array = values.to_numpy() if hasattr(values, "to_numpy") else values
    try:
        made = torch.as_tensor(array)
        if made.is_complex():
            raise TypeError
        return made
    except (TypeError, ValueError, RuntimeError) as error:
        kind = getattr(array, "dtype", type(array).__name__)
        raise InputError(f"{name} of type {kind}: give an array of numbers") from error


def _dense(inputs: Any) -> tuple[Tensor, Tensor, Tensor]:
    """The inputs, which rows are finite, and their squares."""
    x = _tensor("inputs", inputs)
    if x.ndim < 2:
        raise InputError(f"inputs have shape {tuple(x.shape)}: give one row an example")
    if not x.is_floating_point():  # token numbers stay whole, for an embedding
        whole = x.to(torch.long, copy=True).contiguous()
        return whole, torch.ones(len(x), dtype=torch.bool), torch.ones(len(x), dtype=torch.float32)
    x = x.float()
    finite = torch.isfinite(x).flatten(1).all(1)
    x = torch.where(finite.view(-1, *[1] * (x.ndim - 1)), x, 0.0).contiguous()
    return x, finite, _squares(x.flatten(1))


def _squares(x: Tensor) -> Tensor:
    """||x||^2 + 1, in float64 a few rows at a time."""
    few = max(1, (1 << 22) // max(1, x.shape[1]))
    parts = [torch.linalg.vector_norm(r, dim=1, dtype=torch.float64) for r in x.split(few)]
    return (torch.cat(parts).square() + 1).float()


def _sparse(inputs: Any) -> tuple[csr_matrix, Tensor, Tensor]:
    if len(inputs.shape) != 2:
        raise InputError(f"inputs have shape {tuple(inputs.shape)}: give one row an example")
    try:
        matrix = canonical(inputs)  # sound, so that a compiled kernel can trust it
    except ValueError as error:
        raise InputError(f"inputs: not a sound sparse matrix ({error}); make it anew") from error
    with np.errstate(over="ignore"):  # what float32 cannot hold is not finite, and counts as zero
        values = matrix.data.astype(np.float32)
    owner = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    finite = np.bincount(owner, ~np.isfinite(values), matrix.shape[0]) == 0
    values = np.where(finite[owner], values, np.float32(0))
    squares = np.bincount(owner, values.astype(np.float64) ** 2, matrix.shape[0]) + 1
    sound = csr_matrix((values, matrix.indices, matrix.indptr), shape=matrix.shape)
    return sound, torch.from_numpy(finite), torch.from_numpy(squares).float()
