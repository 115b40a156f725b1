"""`Model`: what a model must do to be trained, scored and saved.

All candidates of a cohort are rows of one tensor `params` [candidate, parameter]. What is public
about a kind of model, its names and options among it, is its `honestdp.models.Architecture`.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
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
from honestdp.models.base import OPTION, OfArchitecture

Layer = tuple[str, tuple[int, ...]]


class Model(OfArchitecture):
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
        """The loss, which says what the outputs mean: `Loss.of(classes)`."""

    @abstractmethod
    def initial(self, uniforms: Tensor, scale: float | None) -> Tensor:
        """Make the starting parameters of one candidate.

        Args:
            uniforms: Random draws in (0, 1), one per parameter.
            scale: Factor on the usual initialisation; None: the model's own choice.

        Returns:
            A row of parameters.
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
        """Sum the clipped gradients over each candidate's lot, in whole units.

        Privacy rests on it: one example may change a candidate's sum by at most UNITS, whatever the
        others are. `engine.grid` has what rounds and adds up that way; `gradients.add_clipped` does
        all of it from per-example gradients.

        Args:
            params: [candidate, parameter].
            examples: All rows.
            lots: Which rows are in which candidate's lot.
            clip: How each candidate clips.
            out: Where to write the sums, [candidate, parameter], of whole numbers. Its content
                before the call is arbitrary.
            buffers: Memory to work in.

        Returns:
            The sums, with the clip's bound as their sensitivity.
        """

    @abstractmethod
    def outputs(self, params: Tensor, inputs: Tensor) -> Tensor:
        """Compute the outputs for dense rows. Those of a row must not depend on other rows.

        Args:
            params: [candidate, parameter].
            inputs: [row, ...], the same rows for all candidates.

        Returns:
            The outputs, [candidate, row, output].
        """

    def linear_part(self, params: Tensor) -> tuple[Tensor, Tensor] | None:
        """Weights [input, output] and bias [output], if the outputs are a row's inputs times the
        weights, plus the bias; None, the default, if they are anything else.

        Args:
            params: One row of parameters.
        """
        return None

    @property
    def chooses_encoding(self) -> bool:
        """Whether a plan may choose how rows are encoded: not for a model that is made already."""
        return False

    def check(self, examples: Examples) -> None:
        """Check that the model can read these examples. Reads shapes and types only.

        Args:
            examples: The rows.

        Raises:
            InputError: If it cannot.
        """
        check_targets(self.loss, examples)

    def check_sums(self, examples: Examples) -> None:
        """Check that clipped sums of such examples are exact, for a model of this size and on this
        device. Reads shapes only.

        Args:
            examples: The rows.

        Raises:
            InputError: If they are not.
        """
        row_limit(size(self))

    # For plans, files and predictors: see `honestdp.models.base.Description`.

    @property
    def architecture(self) -> Architecture:  # type: ignore[override]
        """What is public about its kind."""
        return architectures.get(self.kind)()

    @property
    def parameters(self) -> int:
        """Number of parameters."""
        return size(self)

    @property
    def words(self) -> str:
        """Its text on plan, card and report; models that train differently have different texts."""
        return f"{type(self).__name__} of {size(self)} parameters"

    @property
    def called(self) -> str | None:
        """The name that a spec gives for such a model; None if there is none."""
        return self.architecture.called(self.loss.classes or None)

    def build(self, options: Mapping[str, Any]) -> Model:
        """Build the model with other options; by default a model has none to set.

        Args:
            options: Values of options, by name.

        Returns:
            The model that trains.

        Raises:
            InputError: If it has no such option, or a value is wrong.
        """
        if options:
            listed = ", ".join(OPTION + name for name in sorted(options))
            raise InputError(f"{listed}: a {type(self).__name__} takes no options")
        return self

    def weighted(self, weights: tuple[float, ...]) -> Model:
        """The same model, trained on a loss that is weighted by class (`engine.losses`); by default
        a model takes no weights.

        Args:
            weights: One for each class, public.

        Returns:
            The model that trains, whose `loss` has these weights. Its predictions are as before.

        Raises:
            InputError: If it takes no weights.
        """
        raise InputError(f"class_weight: a {type(self).__name__} takes none; leave it out")

    @property
    def constants(self) -> dict[str, Tensor]:
        """Tensors that its files hold besides the parameters, by name."""
        return {}

    def with_constants(self, constants: Mapping[str, Tensor]) -> Model:
        """The same model with other constants, such as those of a file.

        Args:
            constants: Tensors of the same names and shapes as `constants`.
        """
        return self

    def probe(self, params: Tensor, width: int) -> tuple[float | None, ...]:
        """Compute the outputs on two made-up rows, by which a loaded model is compared to the saved
        one.

        Args:
            params: A row of parameters.
            width: Width of the rows.

        Returns:
            The outputs, rounded to six digits; None for one that is not finite, and for all if the
            model raises. Empty if its architecture is not probed.
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
    """A model of rows of numbers.

    Args:
        features: Width of a row.
        classes: Number of classes; None: real targets and the squared loss.
        class_weight: A weight for each class in the loss (`engine.losses`); None: all are 1.

    Raises:
        InputError: If a value is out of bounds.
    """

    features: int
    classes: int | None
    class_weight: tuple[float, ...] | None = field(default=None, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", positive_integer("features", self.features))
        Loss.of(self.classes, self.class_weight)

    @property
    def loss(self) -> Loss:
        return Loss.of(self.classes, self.class_weight)

    def weighted(self, weights: tuple[float, ...]) -> Model:
        return replace(self, class_weight=weights)

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
    """The number of parameters of a model.

    Args:
        model: The model.
    """
    return sum(math.prod(shape) for _, shape in model.layout)


def columns(model: Model) -> dict[str, int]:
    """The first column of every parameter in a row, by name."""
    sizes = [math.prod(shape) for _, shape in model.layout]
    return {name: sum(sizes[:i]) for i, (name, _) in enumerate(model.layout)}


def named(model: Model, params: Tensor) -> dict[str, Tensor]:
    """Split rows of parameters into the model's layers. The tensors are views.

    Args:
        model: The model.
        params: [..., parameter].

    Returns:
        A tensor for each name in the model's layout: the leading dimensions of `params`, then the
        shape in the layout.

    Example:
        >>> from honestdp.engine import Linear
        >>> named(Linear(features=3, classes=2), torch.zeros(5, 4))["weight"].shape
        torch.Size([5, 3, 1])
    """
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
