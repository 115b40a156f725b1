"""The built-in models: linear, logistic and softmax regression, and the two-layer network.

All candidates of a cohort are rows of one tensor `params` [candidate, parameter]. Gradients are
closed forms: an example's gradient at a linear layer is the outer product of the layer's
input and its output gradient, so its norm needs no gradient, and the clipped sum is one
matrix product (see each `clipped_sum`). Nothing is stored per example and parameter.
On the CPU compiled kernels do this where they are faster; the torch code below does it on any
device, and is what the kernels are tested against.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from honestdp.engine.buffers import Buffers
from honestdp.engine.clipping import LARGEST_SQUARE, Clip, ClippedSum, finite
from honestdp.engine.examples import Examples
from honestdp.engine.grid import add_products, add_rows, block_limit, check_products, row_limit
from honestdp.engine.kernels import linear, two_layer
from honestdp.engine.losses import Loss
from honestdp.engine.lots import Lots
from honestdp.engine.sparse import Sparse
from honestdp.errors import InputError, fail, positive_integer

Layer = tuple[str, tuple[int, ...]]


class Model(Protocol):
    """What the trainer asks of a model. Equal models have parameters of equal shape."""

    @property
    def layout(self) -> tuple[Layer, ...]:
        """Names and shapes of the parameters, in the order in which a row holds them."""

    @property
    def loss(self) -> Loss: ...

    def check(self, examples: Examples) -> None:
        """Raises if these examples cannot be its input. Reads shapes only."""

    def check_sums(self, examples: Examples) -> None:
        """Raises if clipped sums of such examples would not be exact, here or for a model of this
        size. Reads shapes only."""

    def initial(self, uniforms: Tensor, scale: float | None) -> Tensor:
        """Starting parameters from uniforms in (0, 1), one a parameter."""

    def clipped_sum(
        self,
        params: Tensor,
        examples: Examples,
        lots: Lots,
        clip: Clip,
        out: Tensor,
        buffers: Buffers,
    ) -> ClippedSum:
        """Clipped sums over the candidates' lots, written into `out` [candidate, parameter]:
        whole numbers of units, as `grid` asks for them."""

    def outputs(self, params: Tensor, inputs: Tensor) -> Tensor:
        """[candidate, row, output] for dense inputs [row, ...] read by all candidates."""


def size(model: Model | _ClosedForm) -> int:
    """How many parameters a candidate has."""
    return sum(math.prod(shape) for _, shape in model.layout)


def columns(model: Model) -> dict[str, int]:
    """The first column of every parameter in a row, by name."""
    sizes = [math.prod(shape) for _, shape in model.layout]
    return {name: sum(sizes[:i]) for i, (name, _) in enumerate(model.layout)}


def named(model: Model, params: Tensor) -> dict[str, Tensor]:
    """Views of params [..., parameter] by name and shape."""
    parts = params.split([math.prod(shape) for _, shape in model.layout], dim=-1)
    return {
        name: part.view((*params.shape[:-1], *shape))
        for (name, shape), part in zip(model.layout, parts, strict=True)
    }


@dataclass(frozen=True)
class _ClosedForm(ABC):
    """What the built-in models share. `classes` None: real targets and the squared loss."""

    features: int
    classes: int | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", positive_integer("features", self.features))
        Loss.of(self.classes)

    @property
    @abstractmethod
    def layout(self) -> tuple[Layer, ...]: ...

    @property
    def loss(self) -> Loss:
        return Loss.of(self.classes)

    def check(self, examples: Examples) -> None:
        if examples.shape != (self.features,):
            raise InputError(
                f"inputs of shape {examples.shape} a row for a model of {self.features} features: "
                "make them agree"
            )
        if isinstance(examples.inputs, Tensor) and not examples.inputs.is_floating_point():
            raise InputError(
                f"inputs of type {examples.inputs.dtype}: whole numbers are tokens, for a module "
                'with an embedding; give X.astype("float32")'
            )
        check_targets(self.loss, examples)

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
        """The same in torch, on any device."""


def check_targets(loss: Loss, examples: Examples) -> None:
    if loss.classes and examples.targets.is_floating_point():
        raise InputError(
            f"targets of type {examples.targets.dtype} for {loss.classes} classes: "
            "give class numbers as integers, or a model with classes=None"
        )


@dataclass(frozen=True)
class Linear(_ClosedForm):
    """One linear layer: linear regression (classes=None), logistic (2), softmax regression (more).

    Starts at zero unless a candidate's `initial_scale` says otherwise.
    """

    @property
    def layout(self) -> tuple[Layer, ...]:
        outputs = self.loss.outputs
        return (("weight", (self.features, outputs)), ("bias", (outputs,)))

    def initial(self, uniforms: Tensor, scale: float | None) -> Tensor:
        return (2 * uniforms - 1) * ((scale or 0.0) / math.sqrt(self.features))

    def outputs(self, params: Tensor, inputs: Tensor) -> Tensor:
        part = named(self, params)
        return _by_all(inputs, part["weight"]) + part["bias"].unsqueeze(1)

    def _compiled(
        self, params: Tensor, examples: Examples, lots: Lots, clip: Clip, out: Tensor
    ) -> None:
        x, rest = examples.inputs, _for_kernel(lots, params, clip, out)
        if isinstance(x, Sparse):
            linear.sparse_sums(self.loss.code, *_packed(x), *rest)
        else:
            facts = examples.facts
            both = (facts.numpy(), facts.view(torch.float32).numpy())
            linear.dense_sums(self.loss.code, x.numpy(), *both, *rest)

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
        for rows, mask in chunks(lots, _room(buffers, len(params), self.features), examples):
            x = examples.dense(rows, buffers)
            z = torch.baddbmm(part["bias"].unsqueeze(1), x, part["weight"])
            d = self.loss.gradient(z, examples.targets[rows])
            d = torch.where(mask.unsqueeze(-1), d, 0.0)
            norms = (_square(d) * examples.squares[rows]).sqrt()
            d = finite(d.mul_(clip.factors(norms, limit).unsqueeze(-1)))
            add_products(out, at["weight"], x, d, buffers)
            add_rows(out, at["bias"], d)
        return ClippedSum(out, clip.bound)


@dataclass(frozen=True)
class TwoLayer(_ClosedForm):
    """One hidden layer of `width` units, rectified unless `activation` is None, and a linear one.

    The paper's code has no activation between its layers (`activation=None`); its text has one.
    """

    width: int = 100
    activation: str | None = "relu"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "width", positive_integer("width", self.width))
        if self.activation not in ("relu", None):
            raise fail("activation", self.activation, "must be 'relu' or None")

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
        """Uniform within 1/sqrt(inputs of the layer), as torch.nn.Linear."""
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
        h = self._activated(_by_all(inputs, part["hidden_weight"]), part)
        return torch.baddbmm(part["bias"].unsqueeze(1), h, part["weight"])

    def _has_kernel(self, examples: Examples) -> bool:
        return isinstance(examples.inputs, Sparse)  # dense rows are two large products: torch's

    def _compiled(
        self, params: Tensor, examples: Examples, lots: Lots, clip: Clip, out: Tensor
    ) -> None:
        assert isinstance(examples.inputs, Sparse)
        two_layer.sparse_sums(
            self.loss.code,
            self.activation is not None,
            self.width,
            self.loss.outputs,
            *_packed(examples.inputs),
            *_for_kernel(lots, params, clip, out),
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
        room = _room(buffers, len(params), self.features + 3 * self.width)
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
            hidden = _square(h) + 1
            squares = _square(d2) * hidden + _square(d1) * examples.squares[rows]
            squares = torch.where(hidden < LARGEST_SQUARE, squares, torch.inf)
            factor = clip.factors(squares.sqrt(), limit).unsqueeze(-1)
            d1, d2, h = finite(d1.mul_(factor)), finite(d2.mul_(factor)), finite(h)
            add_products(out, at["hidden_weight"], x, d1, buffers)
            add_rows(out, at["hidden_bias"], d1)
            add_products(out, at["weight"], h, d2, buffers)
            add_rows(out, at["bias"], d2)
        return ClippedSum(out, clip.bound)


def _by_all(inputs: Tensor, weights: Tensor) -> Tensor:
    """inputs [row, feature] times every candidate's weights [candidate, feature, output]: one
    product, where one a candidate would read the rows again for each."""
    candidates, features, outputs = weights.shape
    side_by_side = weights.transpose(0, 1).reshape(features, candidates * outputs)
    return (inputs @ side_by_side).view(len(inputs), candidates, outputs).transpose(0, 1)


def _square(x: Tensor) -> Tensor:
    """Squared norms along the last axis, in float64: the square of a small float32 is 0."""
    return torch.linalg.vector_norm(x, dim=-1, dtype=torch.float64).square()


def chunks(lots: Lots, width: int, examples: Examples) -> Iterator[tuple[Tensor, Tensor]]:
    """The lots in chunks of at most `width` rows a candidate: row numbers, and which count."""
    for rows, mask in lots.chunks(max(1, width), examples.device):
        yield rows, mask & (examples.present[rows] > 0)


def _room(buffers: Buffers, candidates: int, each: int) -> int:
    """How many examples of every candidate fit, at `each` floats an example."""
    return buffers.memory // (4 * candidates * each)


def _for_kernel(lots: Lots, params: Tensor, clip: Clip, out: Tensor) -> tuple[Any, ...]:
    """What every kernel reads and writes besides the rows, in its order."""
    parts = (params, clip.scale, clip.automatic)
    limit = row_limit(params.shape[1])
    return lots.rows, lots.counts, *(part.numpy() for part in parts), limit, out.numpy()


def _packed(x: Sparse) -> tuple[Any, ...]:
    return x.words.numpy(), x.words.view(torch.float32).numpy(), x.starts.numpy(), x.width
