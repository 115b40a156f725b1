"""The estimator's `model`, `grid` and `loss` as a spec: names, module classes, ready modules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor, nn
from torch.nn import functional

from honestdp.engine.models import Module
from honestdp.errors import InputError, fail
from honestdp.models import is_model, model_name, model_names
from honestdp.models.base import OPTION
from honestdp.planning import defaults
from honestdp.planning.grid import Grid
from honestdp.planning.spec import Spec
from honestdp.schema import Schema

Criterion = Callable[[Tensor, Tensor], Tensor]


def _huber(output: Tensor, target: Tensor) -> Tensor:
    return functional.huber_loss(output, target, reduction="sum", delta=0.1)


# Losses by name: whether they are for classes, and the function if it is not the default.
LOSSES: dict[str, tuple[bool, Criterion | None]] = {
    "cross_entropy": (True, None),
    "squared": (False, None),
    "huber": (False, _huber),
}


def predicts_classes(model: Any, loss: Any, schema: Any) -> bool:
    """Whether classes are predicted, as far as known without rows; True if unknown."""
    if isinstance(schema, Schema):
        return schema.target.classes is not None
    if isinstance(model, str) and model in model_names():
        name = model_name(model)
        if name.classes != name.numbers:
            return name.classes
    own = getattr(getattr(model, "loss", None), "classes", None)
    if own is not None:
        return bool(own)
    return LOSSES[loss][0] if isinstance(loss, str) and loss in LOSSES else True


def model_and_grid(
    model: Any, grid: Any, loss: Any, options: Mapping[str, Any], spec: Callable[..., Spec]
) -> Spec:
    """Make the spec with this model and grid, by calling `spec(model=..., grid=...)`."""
    if isinstance(model, str):
        return _named(model, grid, loss, options, spec)
    if is_model(model):
        if loss is not None:
            raise InputError("loss: the model has one already; leave it out")
        return spec(model=model.build(options), grid=grid)
    if not isinstance(model, nn.Module) and not callable(model):
        raise InputError(
            f"model: is of type {type(model).__name__}; give {', '.join(model_names())}, "
            "a torch module, its class or a function that makes one"
        )
    classes = spec().classes
    made = Module(model, classes, _criterion(loss, classes), None, {**options, **_first(grid)})
    return spec(model=made, grid=grid)


def named_as(model: Any, module: Any) -> Any:
    """The name of an engine model; `module` if it has none."""
    return model.called or module


def _named(
    model: str, grid: Any, loss: Any, options: Mapping[str, Any], spec: Callable[..., Spec]
) -> Spec:
    found = spec(model=model, grid=grid)
    own = "squared" if found.classes is None else "cross_entropy"
    if loss is not None and not (isinstance(loss, str) and loss == own):
        given = repr(loss) if isinstance(loss, str) else f"<{type(loss).__name__}>"
        raise InputError(f"loss: {given}; {model} has {own!r}; a torch module may have another")
    if not options:
        return found
    # Added to every setting that does not set them, so that they are on plan and card.
    fixed = {OPTION + name: value for name, value in options.items()}
    settings = defaults.grid(found).settings
    return spec(model=model, grid=Grid(tuple({**fixed, **setting} for setting in settings)))


def _first(grid: Any) -> dict[str, Any]:
    """The options that every setting of the grid sets, with the first setting's values, so that a
    class that requires them can be constructed. Every setting overrides them."""
    if grid is None or isinstance(grid, str):  # no named grid sets options of a class
        return {}
    made = Grid.of(grid)
    every = [made.model_options(i) for i in range(len(made))]
    return {name: value for name, value in every[0].items() if all(name in one for one in every)}


def _criterion(loss: Any, classes: int | None) -> Criterion | None:
    if loss is None or (callable(loss) and not isinstance(loss, type)):
        return loss
    if not isinstance(loss, str) or loss not in LOSSES:
        raise fail("loss", loss, f"must be {', '.join(LOSSES)} or a function (outputs, target)")
    for_classes, criterion = LOSSES[loss]
    if for_classes != (classes is not None):
        what = "classes" if classes else "a number"
        raise fail("loss", loss, f"the schema's target is {what}; take another loss")
    return criterion
