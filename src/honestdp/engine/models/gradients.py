"""Clipped sums from per-example gradients, and models that have no more than these.

Every example's gradient is clipped and rounded to whole units by itself before it is added
(`engine.grid`), so whatever code made the gradients, one example moves a sum by at most UNITS; as
long as its gradient is a function of its own row alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.func import grad, vmap

from honestdp.engine import grid
from honestdp.engine.buffers import Buffers
from honestdp.engine.clipping import Clip, ClippedSum
from honestdp.engine.examples import Examples
from honestdp.engine.grid import add_scaled_rows, row_limit
from honestdp.engine.kernels.gradients import add_squares
from honestdp.engine.lots import Lots
from honestdp.engine.models.base import Model, TableModel, chunks, columns, named, size

# Examples whose gradients are held at once: fewer and torch's own overhead shows, more and they
# leave the cache (benchmarks/README.md).
AT_ONCE = 320


@dataclass(frozen=True)
class GradientModel(TableModel):
    """A model that is trained on per-example gradients of its outputs' loss.

    A subclass defines `kind`, `layout`, `initial` and `outputs`, the last in operations of torch
    that `torch.func` can differentiate. It reads dense rows.
    """

    def clipped_sum(
        self,
        params: Tensor,
        examples: Examples,
        lots: Lots,
        clip: Clip,
        out: Tensor,
        buffers: Buffers,
    ) -> ClippedSum:
        out.zero_()
        each = max(1, min(AT_ONCE, buffers.memory // (8 * size(self) * len(params))))
        for rows, mask in chunks(lots, each, examples):
            y = examples.targets[rows]
            gradients = self.gradients(params, examples.dense(rows, buffers), y)
            add_clipped(self, gradients, mask & self.loss.known(y), clip, out)
        return ClippedSum(out, clip.bound)

    def gradients(self, params: Tensor, x: Tensor, y: Tensor) -> dict[str, Tensor]:
        """Per-example gradients by the parameters' names, [candidate, example, ...].

        Args:
            params: [candidate, parameter].
            x: Inputs [candidate, example, feature].
            y: Targets [candidate, example].
        """
        one = grad(self._example_loss)
        found = vmap(vmap(one, in_dims=(None, 0, 0)))(params, x, y)
        return named(self, found)

    def _example_loss(self, params: Tensor, x: Tensor, y: Tensor) -> Tensor:
        output = self.outputs(params.unsqueeze(0), x.unsqueeze(0))[0, 0]
        return self.loss.value(output, y)


def add_clipped(
    model: Model, gradients: dict[str, Tensor], counts: Tensor, clip: Clip, units: Tensor
) -> None:
    """Adds the clipped gradients [candidate, example, ...] of the examples that count, each rounded
    to whole units by itself."""
    flat = {name: g.reshape(*g.shape[:2], -1).contiguous() for name, g in gradients.items()}
    norms = _compiled_norms(flat, counts) if grid.has_kernels(units) else _norms(flat)
    factor = torch.where(counts, clip.factors(norms, row_limit(units.shape[1])), 0.0)
    for name, first in columns(model).items():
        add_scaled_rows(units, first, flat[name], factor)


def _norms(flat: dict[str, Tensor]) -> Tensor:
    parts = [torch.linalg.vector_norm(g, dim=2, dtype=torch.float64) for g in flat.values()]
    return torch.linalg.vector_norm(torch.stack(parts), dim=0)


def _compiled_norms(flat: dict[str, Tensor], counts: Tensor) -> Tensor:
    squares = torch.zeros(counts.shape, dtype=torch.float64)
    for g in flat.values():
        add_squares(g.numpy(), squares.numpy())
    return squares.sqrt()
