"""What the models with gradients in closed form share.

An example's gradient at a linear layer is the outer product of the layer's input and its output
gradient, so its norm needs no gradient, and the clipped sum is one matrix product. Nothing is
stored per example and parameter. On the CPU compiled kernels do this where they are faster; the
torch code does it on any device, and is what the kernels are tested against.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from honestdp.engine.buffers import Buffers
from honestdp.engine.clipping import Clip, ClippedSum
from honestdp.engine.examples import Examples
from honestdp.engine.grid import block_limit, check_products, row_limit
from honestdp.engine.lots import Lots
from honestdp.engine.models.base import TableModel, named, size
from honestdp.engine.sparse import Sparse


@dataclass(frozen=True)
class ClosedForm(TableModel):
    """A model whose clipped sums are written out, for a kernel and for torch."""

    def check_sums(self, examples: Examples) -> None:
        block_limit(size(self))
        if not (examples.device.type == "cpu" and self._has_kernel(examples)):
            check_products(examples.device)

    def clipped_sum(
        self,
        params: Tensor,
        examples: Examples,
        lots: Lots,
        clip: Clip,
        out: Tensor,
        buffers: Buffers,
    ) -> ClippedSum:
        if examples.device.type == "cpu" and self._has_kernel(examples):
            self._compiled(params, examples, lots, clip, out)
            return ClippedSum(out, clip.bound)
        return self.in_torch(params, examples, lots, clip, out, buffers)

    def _has_kernel(self, examples: Examples) -> bool:
        """Whether `_compiled` is the faster way for such rows."""
        return True

    def corrected(self, params: Tensor, slope: float, offset: float) -> Tensor | None:
        """As its last layer is linear, and called "weight" and "bias" in every such model."""
        found = params.clone()
        part = named(self, found)  # views
        part["weight"].mul_(slope)
        part["bias"].mul_(slope).add_(offset)
        return found

    @abstractmethod
    def _compiled(
        self, params: Tensor, examples: Examples, lots: Lots, clip: Clip, out: Tensor
    ) -> None:
        """The clipped sums into `out`, by a kernel."""

    @abstractmethod
    def in_torch(
        self,
        params: Tensor,
        examples: Examples,
        lots: Lots,
        clip: Clip,
        out: Tensor,
        buffers: Buffers,
    ) -> ClippedSum:
        """Compute the clipped sums in torch, on any device.

        Args:
            params: As for `clipped_sum`, like the others.
            examples: All rows.
            lots: Which rows are in which candidate's lot.
            clip: How each candidate clips.
            out: Where to write the sums.
            buffers: Memory to work in.

        Returns:
            The sums.
        """


def by_all(inputs: Tensor, weights: Tensor) -> Tensor:
    """inputs [row, feature] times every candidate's weights [candidate, feature, output]: one
    product, where one a candidate would read the rows again for each."""
    candidates, features, outputs = weights.shape
    side_by_side = weights.transpose(0, 1).reshape(features, candidates * outputs)
    return (inputs @ side_by_side).view(len(inputs), candidates, outputs).transpose(0, 1)


def square(x: Tensor) -> Tensor:
    """Squared norms along the last axis, in float64: the square of a small float32 is 0."""
    return torch.linalg.vector_norm(x, dim=-1, dtype=torch.float64).square()


def rows_that_fit(buffers: Buffers, candidates: int, each: int) -> int:
    """How many examples of every candidate fit, at `each` floats an example."""
    return buffers.memory // (4 * candidates * each)


def for_kernel(lots: Lots, params: Tensor, clip: Clip, out: Tensor) -> tuple[Any, ...]:
    """What every kernel reads and writes besides the rows, in its order."""
    parts = (params, clip.scale, clip.automatic)
    limit = row_limit(params.shape[1])
    return lots.rows, lots.counts, *(part.numpy() for part in parts), limit, out.numpy()


def packed(x: Sparse) -> tuple[Any, ...]:
    return x.words.numpy(), x.words.view(torch.float32).numpy(), x.starts.numpy(), x.width
