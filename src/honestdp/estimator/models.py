"""From what a person calls a model to what a plan takes: names, module classes, ready modules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor, nn
from torch.nn import functional

from honestdp.engine.models import Linear, TwoLayer
from honestdp.engine.module import Module
from honestdp.errors import InputError, fail
from honestdp.planning import defaults
from honestdp.planning.grid import MODULE, Grid
from honestdp.planning.spec import MODELS, Spec
from honestdp.schema import Schema

Criterion = Callable[[Tensor, Tensor], Tensor]


def _huber(output: Tensor, target: Tensor) -> Tensor:
    return functional.huber_loss(output, target, reduction="sum", delta=0.1)


# Losses by name: whether they are for classes, and the function where it is not the default one.
LOSSES: dict[str, tuple[bool, Criterion | None]] = {
    "cross_entropy": (True, None),
    "squared": (False, None),
    "huber": (False, _huber),
}


def predicts_classes(model: Any, loss: Any, schema: Any) -> bool:
    """Whether classes are predicted, by what is known without rows; True where it is open."""
    if isinstance(schema, Schema):
        return schema.target.classes is not None
    if isinstance(model, str) and model in ("logistic", "linear"):
        return model == "logistic"
    own = getattr(getattr(model, "loss", None), "classes", None)
    if own is not None:
        return bool(own)
    return LOSSES[loss][0] if isinstance(loss, str) and loss in LOSSES else True


def model_and_grid(
    model: Any, grid: Any, loss: Any, options: Mapping[str, Any], spec: Callable[..., Spec]
) -> Spec:
    """The spec with its model and grid; `spec(model=..., grid=...)` makes one."""
    if isinstance(model, str):
        return _named(model, grid, loss, options, spec)
    if _is_engine_model(model):
        if loss is not None:
            raise InputError("loss: the model has one already; leave it out")
        if options and not isinstance(model, Module):
            raise InputError(f"{_listed(options)}: a {type(model).__name__} takes no options")
        return spec(model=model.with_options(options) if options else model, grid=grid)
    if not isinstance(model, nn.Module) and not callable(model):
        raise InputError(
            f"model: is of type {type(model).__name__}; give {', '.join(MODELS)}, a torch module, "
            "its class or a function that makes one"
        )
    classes = spec().classes
    made = Module(model, classes, _criterion(loss, classes), None, {**options, **_first(grid)})
    return spec(model=made, grid=grid)


def named_as(model: Any, module: Any) -> Any:
    """What a person would call this model of the engine's; `module` where it is none of ours."""
    if isinstance(model, Linear):
        return "logistic" if model.classes else "linear"
    return "mlp" if isinstance(model, TwoLayer) else module


def _named(
    model: str, grid: Any, loss: Any, options: Mapping[str, Any], spec: Callable[..., Spec]
) -> Spec:
    found = spec(model=model, grid=grid)
    own = "squared" if found.classes is None else "cross_entropy"
    if loss is not None and not (isinstance(loss, str) and loss == own):
        said = repr(loss) if isinstance(loss, str) else f"<{type(loss).__name__}>"
        raise InputError(f"loss: {said}; {model} has {own!r}; a torch module may have another")
    if not options:
        return found
    # In every setting that says nothing else: so they are in the plan, and on the card.
    fixed = {MODULE + name: value for name, value in options.items()}
    settings = defaults.grid(found).settings
    return spec(model=model, grid=Grid(tuple({**fixed, **setting} for setting in settings)))


def _first(grid: Any) -> dict[str, Any]:
    """Options that every setting of the grid sets, as the first has them: a class that needs them
    can be made. Every setting overrides them."""
    if grid is None:
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


def _is_engine_model(model: Any) -> bool:
    return not isinstance(model, (type, nn.Module)) and hasattr(
        getattr(model, "loss", None), "classes"
    )


def _listed(options: Mapping[str, Any]) -> str:
    return ", ".join(MODULE + name for name in sorted(options))
