"""The network with one hidden layer."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from honestdp.engine.buffers import Buffers
from honestdp.engine.clipping import LARGEST_SQUARE, Clip, ClippedSum, finite
from honestdp.engine.examples import Examples
from honestdp.engine.grid import add_products, add_rows, block_limit
from honestdp.engine.kernels import two_layer
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
from honestdp.models import two_layer as checks


@dataclass(frozen=True)
class TwoLayer(ClosedForm):
    """A hidden layer and a linear one.

    Args:
        features: Width of a row.
        classes: Number of classes; None: real targets and the squared loss.
        width: Number of hidden units.
        activation: "relu", or None for no activation between the layers. The paper's text has one,
            its code has none.
        class_weight: A weight for each class in the loss; None: all are 1.

    Raises:
        InputError: If a value is out of bounds.

    Example:
        >>> TwoLayer(features=104, classes=2, width=10).parameters
        1061
    """

    kind = "two-layer"

    width: int = 100
    activation: str | None = "relu"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "width", checks.width("width", self.width))
        checks.activation("activation", self.activation)

    @property
    def layout(self) -> tuple[Layer, ...]:
        outputs = self.loss.outputs
        return (
            ("hidden_weight", (self.features, self.width)),
            ("hidden_bias", (self.width,)),
            ("weight", (self.width, outputs)),
            ("bias", (outputs,)),
        )

    def initial(self, uniforms: Tensor, scale: float | None) -> Tensor:
        # Uniform within 1/sqrt(inputs of the layer), as in torch.nn.Linear.
        start = (2 * uniforms - 1) * (1.0 if scale is None else scale)
        hidden = (self.features + 1) * self.width
        start[..., :hidden] /= math.sqrt(self.features)
        start[..., hidden:] /= math.sqrt(self.width)
        return start

    def _hidden(self, part: dict[str, Tensor], x: Tensor, out: Tensor | None = None) -> Tensor:
        return self._activated(torch.bmm(x, part["hidden_weight"], out=out), part)

    def _activated(self, h: Tensor, part: dict[str, Tensor]) -> Tensor:
        h.add_(part["hidden_bias"].unsqueeze(1))
        return h.clamp_(min=0) if self.activation else h

    def outputs(self, params: Tensor, inputs: Tensor) -> Tensor:
        part = named(self, params)
        h = self._activated(by_all(inputs, part["hidden_weight"]), part)
        return torch.baddbmm(part["bias"].unsqueeze(1), h, part["weight"])

    def _has_kernel(self, examples: Examples) -> bool:
        return isinstance(examples.inputs, Sparse)  # dense rows are two large products: torch's

    def _compiled(
        self, params: Tensor, examples: Examples, lots: Lots, clip: Clip, out: Tensor
    ) -> None:
        assert isinstance(examples.inputs, Sparse)
        two_layer.sparse_sums(
            self.loss.code,
            self.loss.kernel_weights,
            self.activation is not None,
            self.width,
            self.loss.outputs,
            *packed(examples.inputs),
            *for_kernel(lots, params, clip, out),
        )

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
        room = rows_that_fit(buffers, len(params), self.features + 3 * self.width)
        for rows, mask in chunks(lots, room, examples):
            x = examples.dense(rows, buffers)
            h = self._hidden(part, x, buffers.tensor("hidden", *rows.shape, self.width))
            z = torch.baddbmm(part["bias"].unsqueeze(1), h, part["weight"])
            d2 = self.loss.gradient(z, examples.targets[rows])
            d2 = torch.where(mask.unsqueeze(-1), d2, 0.0)
            d1 = buffers.tensor("hidden gradient", *h.shape)
            torch.bmm(d2, part["weight"].transpose(1, 2), out=d1)
            if self.activation:
                d1.mul_(h > 0)
            hidden = square(h) + 1
            squares = square(d2) * hidden + square(d1) * examples.squares[rows]
            squares = torch.where(hidden < LARGEST_SQUARE, squares, torch.inf)
            factor = clip.factors(squares.sqrt(), limit).unsqueeze(-1)
            d1, d2, h = finite(d1.mul_(factor)), finite(d2.mul_(factor)), finite(h)
            add_products(out, at["hidden_weight"], x, d1, buffers)
            add_rows(out, at["hidden_bias"], d1)
            add_products(out, at["weight"], h, d2, buffers)
            add_rows(out, at["bias"], d2)
        return ClippedSum(out, clip.bound)
