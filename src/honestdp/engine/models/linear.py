"""Linear, logistic and softmax regression."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from honestdp.engine.buffers import Buffers
from honestdp.engine.clipping import Clip, ClippedSum, finite
from honestdp.engine.examples import Examples
from honestdp.engine.grid import add_products, add_rows, block_limit
from honestdp.engine.kernels import linear
from honestdp.engine.lots import Lots
from honestdp.engine.models.base import Layer, chunks, columns, named, size
from honestdp.engine.models.closed_form import (
    ClosedForm,
    by_all,
    for_kernel,
    packed,
    rows_that_fit,
    square,
)
from honestdp.engine.sparse import Sparse


@dataclass(frozen=True)
class Linear(ClosedForm):
    """One linear layer: linear, logistic or softmax regression.

    Starts at zero, unless a candidate sets `initial_scale`.

    Args:
        features: Width of a row.
        classes: Number of classes: 2 for logistic, more for softmax regression; None: linear
            regression.
        class_weight: A weight for each class in the loss; None: all are 1.

    Raises:
        InputError: If a value is out of bounds.

    Example:
        >>> Linear(features=104, classes=2).parameters
        105
    """

    kind = "linear"

    @property
    def layout(self) -> tuple[Layer, ...]:
        outputs = self.loss.outputs
        return (("weight", (self.features, outputs)), ("bias", (outputs,)))

    def initial(self, uniforms: Tensor, scale: float | None) -> Tensor:
        return (2 * uniforms - 1) * ((scale or 0.0) / math.sqrt(self.features))

    def outputs(self, params: Tensor, inputs: Tensor) -> Tensor:
        part = named(self, params)
        return by_all(inputs, part["weight"]) + part["bias"].unsqueeze(1)

    def linear_part(self, params: Tensor) -> tuple[Tensor, Tensor]:
        part = named(self, params)
        return part["weight"], part["bias"]

    def _compiled(
        self, params: Tensor, examples: Examples, lots: Lots, clip: Clip, out: Tensor
    ) -> None:
        x, rest = examples.inputs, for_kernel(lots, params, clip, out)
        if isinstance(x, Sparse):
            linear.sparse_sums(self.loss.code, self.loss.kernel_weights, *packed(x), *rest)
        else:
            facts = examples.facts
            both = (facts.numpy(), facts.view(torch.float32).numpy())
            weights = self.loss.kernel_weights
            linear.dense_sums(self.loss.code, weights, x.numpy(), *both, *rest)

    def in_torch(
        self,
        params: Tensor,
        examples: Examples,
        lots: Lots,
        clip: Clip,
        out: Tensor,
        buffers: Buffers,
    ) -> ClippedSum:
        part, at, limit = named(self, params), columns(self), block_limit(size(self))
        out.zero_()
        for rows, mask in chunks(
            lots, rows_that_fit(buffers, len(params), self.features), examples
        ):
            x = examples.dense(rows, buffers)
            z = torch.baddbmm(part["bias"].unsqueeze(1), x, part["weight"])
            d = self.loss.gradient(z, examples.targets[rows])
            d = torch.where(mask.unsqueeze(-1), d, 0.0)
            norms = (square(d) * examples.squares[rows]).sqrt()
            d = finite(d.mul_(clip.factors(norms, limit).unsqueeze(-1)))
            add_products(out, at["weight"], x, d, buffers)
            add_rows(out, at["bias"], d)
        return ClippedSum(out, clip.bound)
