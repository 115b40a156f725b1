from pathlib import Path
E = Path("/tmp/hM/src/honestdp/engine"); O = Path("/tmp/hB/emodels")
t = (E/"models.py").read_text()
def cut(a, b=None):
    i = t.index(a); j = len(t) if b is None else t.index(b, i)
    return t[i:j].rstrip() + "\n"
proto = cut("class Model(Protocol):", "def size(")
helpers = cut("def size(", "@dataclass(frozen=True)\nclass _ClosedForm")
closed = cut("@dataclass(frozen=True)\nclass _ClosedForm", "def check_targets(")
check = cut("def check_targets(", "@dataclass(frozen=True)\nclass Linear")
lin = cut("@dataclass(frozen=True)\nclass Linear", "@dataclass(frozen=True)\nclass TwoLayer")
two = cut("@dataclass(frozen=True)\nclass TwoLayer", "def _by_all(")
rest = cut("def _by_all(")
by_all = rest[rest.index("def _by_all("):rest.index("def _square(")].rstrip()+"\n"
square = rest[rest.index("def _square("):rest.index("def chunks(")].rstrip()+"\n"
chunks = rest[rest.index("def chunks("):rest.index("def _room(")].rstrip()+"\n"
room = rest[rest.index("def _room("):]
for n in ("_by_all","_square","_room","_for_kernel","_packed"):
    lin, two, by_all, square, room = (x.replace(n, n[1:]) for x in (lin, two, by_all, square, room))
closed = closed.replace("class _ClosedForm(ABC)", "class ClosedForm(Model)").replace("_has_kernel","_has_kernel")
# layout stays abstract in Model
closed = closed.replace('''    @property
    @abstractmethod
    def layout(self) -> tuple[Layer, ...]: ...

''','')
lin = lin.replace("_ClosedForm", "ClosedForm"); two = two.replace("_ClosedForm", "ClosedForm")
helpers = helpers.replace("Model | _ClosedForm", "Model")
base = '''"""`Model`: what a model must do to be trained, scored and saved.

All candidates of a cohort are rows of one tensor `params` [candidate, parameter]. What is public
about a kind of model, its names and options among it, is its `honestdp.models.Architecture`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from honestdp.engine.buffers import Buffers
from honestdp.engine.clipping import Clip, ClippedSum
from honestdp.engine.examples import Examples
from honestdp.engine.losses import Loss
from honestdp.engine.lots import Lots
from honestdp.errors import InputError
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

        This is where privacy lies: one example may move a candidate's sum by at most UNITS, whatever
        the others are. `engine.grid` has what rounds and adds up that way; `add_gradients` does all
        of it from per-example gradients.

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
        """What it answers to two made-up rows, in six digits; None where that is not finite.

        Args:
            params: A row of parameters.
            width: Of the rows.
        """
        if not self.architecture.probed:
            return ()
        rows = self._made_up(torch.stack([torch.zeros(width), torch.linspace(0, 1, width)]))
        with torch.no_grad():
            found = self.outputs(params.unsqueeze(0), rows).flatten().double()
        return tuple(float(f"{x:.6g}") if math.isfinite(x) else None for x in found.tolist())

    def _made_up(self, rows: Tensor) -> Tensor:
        """Made-up rows as this model reads them."""
        return rows


''' + helpers + "\n\n" + check + "\n\n" + chunks
base = base.replace("from honestdp.engine.examples import Examples\n", "from honestdp.engine.examples import Examples\nfrom honestdp.engine.grid import add_scaled_rows, row_limit\n")
(O/"base.py").write_text(base)
(O/"closed_form.py").write_text('''"""What the models with gradients in closed form share.

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
from honestdp.engine.losses import Loss
from honestdp.engine.lots import Lots
from honestdp.engine.models.base import Model, check_targets, size
from honestdp.engine.sparse import Sparse
from honestdp.errors import InputError, positive_integer


''' + closed + "\n\n" + by_all + "\n\n" + square + "\n\n" + room)
(O/"linear.py").write_text('''"""Linear, logistic and softmax regression."""

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
from honestdp.engine.models.closed_form import ClosedForm, by_all, for_kernel, packed, room, square
from honestdp.engine.sparse import Sparse


''' + lin.replace('''    Starts at zero unless a candidate's `initial_scale` says otherwise.
    """
''','''    Starts at zero unless a candidate's `initial_scale` says otherwise.
    """

    kind = "linear"
'''))
(O/"two_layer.py").write_text('''"""The network with one hidden layer."""

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
from honestdp.engine.models.closed_form import ClosedForm, by_all, for_kernel, packed, room, square
from honestdp.engine.sparse import Sparse
from honestdp.models import two_layer as checks


''' + two.replace('''    width: int = 100
''','''    kind = "two-layer"

    width: int = 100
''',1).replace('''        object.__setattr__(self, "width", positive_integer("width", self.width))
        if self.activation not in ("relu", None):
            raise fail("activation", self.activation, "must be 'relu' or None")
''','''        object.__setattr__(self, "width", checks.width("width", self.width))
        checks.activation("activation", self.activation)
'''))
(O/"__init__.py").write_text('''"""The models that train: `base.py` is the contract, one file a model."""

from honestdp.engine.models.base import Layer, Model, named, size
from honestdp.engine.models.linear import Linear
from honestdp.engine.models.module import Module
from honestdp.engine.models.two_layer import TwoLayer

__all__ = ["Layer", "Linear", "Model", "Module", "TwoLayer", "named", "size"]
''')
