"""Any `torch.nn.Module` as a model: per-example gradients by `torch.func`, candidates in one vmap.

Each example is put through the module alone (a batch of one), so no example reaches another's
gradient, whatever the forward pass does with its batch or keeps in its module. (Code that
keeps examples elsewhere, in a global, say, is beyond what can be seen here.) Layers that
need other examples make no sense then, and are refused by name.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from copy import copy, deepcopy
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap

from honestdp.engine.buffers import Buffers
from honestdp.engine.clipping import Clip, ClippedSum
from honestdp.engine.examples import Examples
from honestdp.engine.losses import Loss
from honestdp.engine.lots import Lots
from honestdp.engine.models.base import Layer, Model, check_targets, chunks, named
from honestdp.engine.models.gradients import AT_ONCE, add_clipped
from honestdp.errors import InputError, positive_integer

_REFUSED: tuple[tuple[type[nn.Module], str], ...] = (
    (nn.modules.batchnorm._BatchNorm, "mixes the examples of a lot; use GroupNorm or LayerNorm"),
    (
        nn.modules.dropout._DropoutNd,
        "draws from torch's own generator, not a private stream; leave it out",
    ),
    (nn.RNNBase, "has no per-example gradient in torch.func; write it from Linear layers"),
)


class Module(Model):
    """Any `torch.nn.Module`, trained on per-example gradients.

    Args:
        module: A module: every candidate starts from its parameters, for example those of a
            pretrained net. Or a class or function that makes one: it is called once for every
            candidate. Parameters that do not require a gradient stay as they are.
        classes: Number of classes. The loss is the cross-entropy over one output per class; two
            classes may also have one output, the log-odds. None: real targets and half the squared
            error.
        criterion: A loss of your own: a function of the outputs and the target of one example that
            returns a number. For a net with one output it is given both as single floats, as
            `nn.MSELoss()` and `nn.BCEWithLogitsLoss()` expect; a criterion that squeezes the
            output itself is given the output as it is.
        tokens: For inputs of whole numbers: the number of tokens, which are 0 to tokens - 1. A row
            with any other number contributes nothing and is never predicted correctly.
        options: Arguments for the class or function, by name: numbers and texts, so that they can
            be saved. Use `functools.partial` for anything else.

    Raises:
        InputError: If the module cannot be made, has nothing to train, or has a layer that mixes
            examples or keeps statistics of them.

    Example:
        >>> net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
        >>> Module(net, classes=3).parameters
        67
    """

    kind = "module"

    def __init__(
        self,
        module: nn.Module | Callable[..., nn.Module],
        classes: int | None,
        criterion: Callable[[Tensor, Tensor], Tensor] | None = None,
        tokens: int | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._made_by = module
        self.options = _options(module, options or {})
        self._factory = None if isinstance(module, nn.Module) else partial(module, **self.options)
        self.module = module if isinstance(module, nn.Module) else _seeded(self._factory, 0)
        self._loss, self.criterion = Loss.of(classes), criterion
        self._single = criterion is not None and _takes_single(criterion)
        self.tokens = None if tokens is None else positive_integer("tokens", tokens)
        _refuse(self.module)
        self._trained = {n: p for n, p in self.module.named_parameters() if p.requires_grad}
        if not self._trained:
            raise InputError("module: has no parameter that requires a gradient; nothing to train")
        kept = [(n, p) for n, p in self.module.named_parameters() if not p.requires_grad]
        self._sizes: dict[tuple[int, ...], int] = {}
        self._constants = {n: v.detach() for n, v in [*kept, *self.module.named_buffers()]}

    @property
    def name(self) -> str:
        """The name of the class or function that makes it."""
        made_by = self._made_by
        known = None if isinstance(made_by, nn.Module) else getattr(made_by, "__name__", None)
        return str(known or type(self.module).__name__)

    @classmethod
    def loaded(cls, code: Any, classes: int | None, facts: Mapping[str, Any]) -> Module:
        """Make the module that a file describes (see `honestdp.models.module`).

        Args:
            code: A `Module`, a torch module, its class or a function that makes one.
            classes: Number of classes; None for real targets.
            facts: Its options, whether it has a loss of its own, and its number of tokens.

        Returns:
            The module.

        Raises:
            InputError: If the code is another module's, or fails.
        """
        options = facts["options"]
        if isinstance(code, Module):
            if (code.loss.classes or None, code.tokens) != (classes, facts["tokens"]):
                raise InputError("module: has other classes or tokens than the one that was saved")
            return code.build(options)
        if not isinstance(code, nn.Module) and not callable(code):
            raise InputError(f"module: is a {type(code).__name__}; give an nn.Module's class")
        criterion = _unused if facts["own_loss"] else None
        return cls(code, classes, criterion, facts["tokens"], options)

    @property
    def loss(self) -> Loss:
        return self._loss

    @property
    def words(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in sorted(self.options.items()))
        made = f"{self.name}({options})" if options else self.name
        # All that makes a run another one: it is part of what a charge, or a folder, is for.
        own = self.criterion
        loss = "" if own is None else f", loss {getattr(own, '__name__', type(own).__name__)}"
        tokens = "" if self.tokens is None else f", {self.tokens} tokens"
        return f"{made} of {self.parameters} parameters{loss}{tokens}"

    def build(self, options: Mapping[str, Any]) -> Module:
        return self.with_options(options) if options else self

    def with_options(self, options: Mapping[str, Any]) -> Module:
        """Make the module with some options changed.

        Args:
            options: The options to change, by name.

        Returns:
            The module; all other options are the same.

        Raises:
            InputError: If it cannot be made with these options.
        """
        changed = {**self.options, **options}
        return Module(
            self._made_by, self.loss.classes or None, self.criterion, self.tokens, changed
        )

    def weighted(self, weights: tuple[float, ...]) -> Module:
        other = copy(self)
        other._loss = Loss.of(self.loss.classes or None, weights)
        return other

    @property
    def constants(self) -> dict[str, Tensor]:
        """Tensors that are not trained: frozen parameters and buffers, by name."""
        return dict(self._constants)

    def with_constants(self, constants: Mapping[str, Tensor]) -> Module:
        other = copy(self)
        other._constants = {n: constants[n].detach() for n in self._constants}
        return other

    @property
    def layout(self) -> tuple[Layer, ...]:
        return tuple((name, tuple(p.shape)) for name, p in self._trained.items())

    def _made_up(self, rows: Tensor) -> Tensor:
        return rows if self.tokens is None else torch.zeros_like(rows, dtype=torch.long)

    def check(self, examples: Examples) -> None:
        """Check that the module trains on such rows, by trying two made-up ones.

        Args:
            examples: The rows; none of them is read.

        Raises:
            InputError: If it does not.
        """
        check_targets(self.loss, examples)
        if not isinstance(examples.inputs, Tensor):
            raise InputError("inputs: sparse rows; a module reads dense ones, use X.toarray()")
        if not examples.inputs.is_floating_point() and self.tokens is None:
            raise InputError(
                f"inputs of type {examples.inputs.dtype}: declare how many tokens there are with "
                'Module(..., tokens=...), or give X.astype("float32")'
            )
        # The smallest token and class, and the largest.
        x = examples.inputs.new_zeros(1, 2, *examples.shape)
        y = examples.targets.new_zeros(1, 2)
        x[:, 1] = (self.tokens or 1) - 1
        y[:, 1] = (self.loss.classes or 1) - 1
        try:
            start = self._initial(None).unsqueeze(0).to(examples.device)
            outputs = self.outputs(start, x[0]).shape[-1]
            if self.criterion is not None or outputs == self.loss.outputs:
                self._gradients(self._copy(), start, x, y)
        except Exception as error:
            reason = _first_line(error)
            raise InputError(
                f"module: does not train on inputs of shape {examples.shape} a row ({reason}); its "
                "outputs need the shape [row, output]"
            ) from None
        if self.criterion is None and outputs != self.loss.outputs:
            raise InputError(
                f"module: has {outputs} outputs a row for {self.loss.classes or 'no'} classes; "
                f"give it {'1 or 2' if self.loss.classes == 2 else self.loss.outputs}"
            )

    def initial(self, uniforms: Tensor, scale: float | None) -> Tensor:
        # The factory draws with torch's generator, seeded here from the candidate's stream.
        return self._initial(int(uniforms[0].item() * 2**24)) * (1.0 if scale is None else scale)

    def _initial(self, seed: int | None) -> Tensor:
        source = self.module
        if seed is not None and self._factory is not None:
            source = _seeded(self._factory, seed)
        parameters = dict(source.named_parameters())
        return torch.cat([parameters[n].detach().flatten().float().cpu() for n in self._trained])

    def _copy(self) -> nn.Module:
        """The module's structure around the same tensors, anew for every use. `functional_call`
        puts parameters into the module it is given while it runs, so two threads must not
        share one; and what a forward pass leaves in its module must not reach the next."""
        tensors = [*self.module.parameters(), *self.module.buffers()]
        return deepcopy(self.module, {id(tensor): tensor for tensor in tensors})

    def _forward(self, module: nn.Module, params: dict[str, Tensor], x: Tensor) -> Tensor:
        """The outputs of one row, alone in its batch."""
        constants = {n: v.to(x.device) for n, v in self._constants.items()}
        output: Tensor = functional_call(module, params | constants, (x.unsqueeze(0),))
        return output.squeeze(0)

    def _example_loss(
        self, module: nn.Module, params: dict[str, Tensor], x: Tensor, y: Tensor
    ) -> Tensor:
        output = self._forward(module, params, x)
        if self.criterion is None:
            return self.loss.value(output, y)
        classes = self.loss.classes
        target = y.clamp(0, classes - 1) if classes else y.float()
        if self._single and output.shape == (1,):
            return self.criterion(output.squeeze(-1), target.float()) * self.loss.weight(y)
        return self.criterion(output, target) * self.loss.weight(y)

    def _gradients(
        self, module: nn.Module, params: Tensor, x: Tensor, y: Tensor
    ) -> dict[str, Tensor]:
        """Per-example gradients by name, [candidate, example, ...]."""
        one = grad(partial(self._example_loss, module))
        return vmap(vmap(one, in_dims=(None, 0, 0)))(named(self, params), x, y)

    def _gradients_of_data(self, params: Tensor, x: Tensor, y: Tensor) -> dict[str, Tensor]:
        """As `_gradients`; what a module raises on data may quote it, so only its type is told."""
        try:
            return self._gradients(self._copy(), params, x, y)
        except Exception as error:
            kind = type(error).__name__
        raise InputError(f"module: raised {kind} on a row; make its forward pass take any values")

    def _activations(self, examples: Examples) -> int:
        """How many numbers the layers put out for one row: what a step holds beside gradients."""
        if examples.shape not in self._sizes:
            counted = [0]

            def count(layer: nn.Module, given: Any, output: Any) -> None:
                counted[0] += output.numel() if isinstance(output, Tensor) else 0

            module = self._copy()
            for layer in module.modules():
                layer.register_forward_hook(count)
            assert isinstance(examples.inputs, Tensor)
            device = next(iter(self._trained.values())).device
            module(examples.inputs.new_zeros(1, *examples.shape).to(device))
            self._sizes[examples.shape] = counted[0]
        return self._sizes[examples.shape]

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
        floats = 2 * params.shape[1] + 4 * self._activations(examples)
        each = max(1, min(AT_ONCE, buffers.memory // (4 * floats)))
        # Whole lots of several candidates where they are small, parts of one where they are not.
        together = max(1, each // max(1, int(lots.counts.max())))
        for first in range(0, len(params), together):
            rows = slice(first, first + together)
            part, into = params[rows], out[rows]
            for chosen, mask in chunks(lots.of(rows), each // len(part), examples):
                y = examples.targets[chosen]
                x, sound = self._known(examples.dense(chosen, buffers))
                gradients = self._gradients_of_data(part, x, y)
                counts = mask & sound & self.loss.known(y)
                add_clipped(self, gradients, counts, clip.of(rows), into)
        return ClippedSum(out, clip.bound)

    def _known(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Inputs with unknown tokens made 0, and which [candidate, example] have none."""
        if x.is_floating_point() or self.tokens is None:
            return x, torch.ones(x.shape[:2], dtype=torch.bool, device=x.device)
        known = (x >= 0) & (x < self.tokens)
        return torch.where(known, x, 0), known.flatten(2).all(2)

    def outputs(self, params: Tensor, inputs: Tensor) -> Tensor:
        """Compute the outputs row by row, so that those of a row are its own.

        Args:
            params: [candidate, parameter].
            inputs: [row, ...], the same rows for all candidates.

        Returns:
            The outputs, [candidate, row, output]; NaN for a row with an unknown token.
        """
        x, sound = self._known(inputs.unsqueeze(0))
        one = partial(self._forward, self._copy())
        z: Tensor = vmap(vmap(one, in_dims=(None, 0)), in_dims=(0, None))(named(self, params), x[0])
        if self.loss.classes == 2 and z.shape[-1] == 2:
            z = z[..., 1:] - z[..., :1]  # the log-odds, as in the other models
        return torch.where(sound.unsqueeze(-1), z, torch.nan)


def _unused(output: Tensor, target: Tensor) -> Tensor:
    """In place of a loss of one's own, which prediction does not need."""
    return output.sum() * 0 + target.sum() * 0


def _refuse(module: nn.Module) -> None:
    for name, layer in module.named_modules():
        for kind, reason in _REFUSED:
            if isinstance(layer, kind):
                where = f"{name} " if name else ""
                raise InputError(f"module: {where}({type(layer).__name__}) {reason}")
        if getattr(layer, "track_running_stats", False):
            raise InputError(
                f"module: {name} ({type(layer).__name__}) keeps statistics of the data; "
                "set track_running_stats=False"
            )


def _options(module: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    if options and isinstance(module, nn.Module):
        names = ", ".join(sorted(map(str, options)))
        raise InputError(f"module: is ready-made and takes no options ({names}); give its class")
    for name, value in options.items():
        if value is not None and not isinstance(value, (str, bool, int, float)):
            raise InputError(
                f"module: option {name} is of type {type(value).__name__}; give numbers and texts, "
                "or functools.partial(your_class, ...) with anything else"
            )
    return dict(options)


def _seeded(factory: Callable[[], Any] | None, seed: int) -> nn.Module:
    assert factory is not None
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        try:
            made = factory()
        except Exception as error:  # a wrong or absent option, most often; no row was read
            said = f"{type(error).__name__}: {_first_line(error)}"
            raise InputError(f"module: could not be made ({said}); see its options") from None
    if not isinstance(made, nn.Module):
        raise InputError(
            f"module: the function made a {type(made).__name__}, not a torch.nn.Module"
        )
    return made


def _takes_single(criterion: Callable[[Tensor, Tensor], Tensor]) -> bool:
    """Whether a loss can take one output as a number without dimensions; made-up ones are tried.
    In `vmap` squeeze(-1) refuses it."""
    ones = torch.ones(1, 2)
    with warnings.catch_warnings(action="ignore"):
        try:
            vmap(vmap(grad(criterion)))(ones, ones)
        except Exception:
            return False
    return True


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0]
