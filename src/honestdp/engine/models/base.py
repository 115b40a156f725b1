"""`Model`: what a model must do to be trained, scored and saved.

All candidates of a cohort are rows of one tensor `params` [candidate, parameter]. What is public
about a kind of model, its names and options among it, is its `honestdp.models.Architecture`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from honestdp.engine.buffers import Buffers
from honestdp.engine.clipping import Clip, ClippedSum
from honestdp.engine.examples import Examples
from honestdp.engine.grid import row_limit
from honestdp.engine.losses import Loss
from honestdp.engine.lots import Lots
from honestdp.errors import InputError, positive_integer
from honestdp.models import Architecture, architectures
from honestdp.models.base import OPTION

Layer = tuple[str, tuple[int, ...]]


class Model(ABC):
    """The contract of a model. Equal models have parameters of equal shape.

    A subclass names its kind, defines `layout`, `loss`, `initial`, `clipped_sum` and `outputs`, and
    is made with (features, classes, **options), where its architecture builds it by name.
    `honestdp.testing.check_model` checks the contract.

    Attributes:
        kind: The name of its architecture.
    """

    kind: ClassVar[str]

    @property
    @abstractmethod
    def layout(self) -> tuple[Layer, ...]:
        """Names and shapes of the parameters, in the order in which a row holds them."""

    @property
    @abstractmethod
    def loss(self) -> Loss:
        """What its outputs mean: `Loss.of(classes)`."""

    @abstractmethod
    def initial(self, uniforms: Tensor, scale: float | None) -> Tensor:
        """Starting parameters.

        Args:
            uniforms: Draws in (0, 1), one a parameter.
            scale: Times the usual initialisation; None: the model's own choice.
        """

    @abstractmethod
    def clipped_sum(
        self,
        params: Tensor,
        examples: Examples,
        lots: Lots,
        clip: Clip,
        out: Tensor,
        buffers: Buffers,
    ) -> ClippedSum:
        """Clipped sums over the candidates' lots, in whole units.

        Privacy rests on it: one example may move a candidate's sum by at most UNITS, whatever the
        others are. `engine.grid` has what rounds and adds up that way; `gradients.add_clipped` does
        all of it from per-example gradients.

        Args:
            params: [candidate, parameter].
            examples: All rows.
            lots: Which rows are in which candidate's lot.
            clip: How each candidate clips.
            out: Where the sums go, [candidate, parameter], of whole numbers; any content before.
            buffers: Memory to work in.
        """

    @abstractmethod
    def outputs(self, params: Tensor, inputs: Tensor) -> Tensor:
        """[candidate, row, output] for dense inputs [row, ...] read by all candidates. A row's
        outputs must not depend on the other rows."""

    @property
    def chooses_encoding(self) -> bool:
        """Whether a plan may choose how rows are encoded: not for a model that is made already."""
        return False

    def check(self, examples: Examples) -> None:
        """Raise `InputError` if these examples cannot be its input. Reads shapes only."""
        check_targets(self.loss, examples)

    def check_sums(self, examples: Examples) -> None:
        """Raise `InputError` if clipped sums of such examples would not be exact, here or for a
        model of this size. Reads shapes only."""
        row_limit(size(self))

    # What plans, files and predictors ask: see `honestdp.models.base.Description`.

    @property
    def architecture(self) -> Architecture:
        """What is public about its kind."""
        return architectures.get(self.kind)()

    @property
    def parameters(self) -> int:
        return size(self)

    @property
    def words(self) -> str:
        return f"{type(self).__name__} of {size(self)} parameters"

    @property
    def reads_sparse(self) -> bool:
        return self.architecture.reads_sparse

    @property
    def steps_factor(self) -> float:
        return self.architecture.steps_factor

    @property
    def called(self) -> str | None:
        """The name by which a spec asks for such a model; None where it cannot be named."""
        return self.architecture.called(self.loss.classes or None)

    def setting(self, classes: int | None) -> Mapping[str, Any]:
        return self.architecture.setting(classes)

    def build(self, options: Mapping[str, Any]) -> Model:
        """The same with other options; a ready-made one has none to set."""
        if options:
            listed = ", ".join(OPTION + name for name in sorted(options))
            raise InputError(f"{listed}: a {type(self).__name__} takes no options")
        return self

    @property
    def constants(self) -> dict[str, Tensor]:
        """What its files hold beside the parameters, by name."""
        return {}

    def with_constants(self, constants: Mapping[str, Tensor]) -> Model:
        """The same with other constants, of the same names and shapes: those of a saved model."""
        return self

    def probe(self, params: Tensor, width: int) -> tuple[float | None, ...]:
        """What it answers to two made-up rows, in six digits; None if not finite, or it raises.

        Args:
            params: A row of parameters.
            width: Of the rows.
        """
        if not self.architecture.probed:
            return ()
        rows = self._made_up(torch.stack([torch.zeros(width), torch.linspace(0, 1, width)]))
        answers = len(rows) * self.loss.outputs
        try:
            with torch.no_grad():
                found = self.outputs(params.unsqueeze(0), rows).flatten().double()
        except Exception:  # whether it answers depends on the parameters: no reason to fail
            return (None,) * answers
        return tuple(float(f"{x:.6g}") if math.isfinite(x) else None for x in found.tolist())

    def _made_up(self, rows: Tensor) -> Tensor:
        """Made-up rows as this model reads them."""
        return rows


@dataclass(frozen=True)
class TableModel(Model):
    """A model of rows of numbers. `classes` None: real targets and the squared loss."""

    features: int
    classes: int | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", positive_integer("features", self.features))
        Loss.of(self.classes)

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


def size(model: Model) -> int:
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


def check_targets(loss: Loss, examples: Examples) -> None:
    if loss.classes and examples.targets.is_floating_point():
        raise InputError(
            f"targets of type {examples.targets.dtype} for {loss.classes} classes: "
            "give class numbers as integers, or a model with classes=None"
        )


def chunks(lots: Lots, width: int, examples: Examples) -> Iterator[tuple[Tensor, Tensor]]:
    """The lots in chunks of at most `width` rows a candidate: row numbers, and which count."""
    for rows, mask in lots.chunks(max(1, width), examples.device):
        yield rows, mask & (examples.present[rows] > 0)
