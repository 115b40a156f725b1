"""The models, one file per kind: what is public about each. `honestdp.engine` trains them.

`base.py` is the contract. `architectures` finds a kind by its name, the library's own and those
that other packages add; `docs/extend.md` shows how.
"""

from __future__ import annotations

from typing import Any

from honestdp.errors import InputError, fail, text
from honestdp.models.base import Architecture, Description, ModelName, Named, Option
from honestdp.registry import Registry

architectures: Registry[type[Architecture]] = Registry(
    "model", "honestdp.models", "honestdp.models", Architecture, needs={"summary": text}
)


def model_names() -> tuple[str, ...]:
    """The names that a spec may give as its model."""
    return tuple(name.name for kind in architectures for name in kind.names)


def model_name(model: str) -> ModelName:
    """Look up a model's name.

    Raises:
        InputError: If no model has it.
    """
    return _found(model)[1]


def is_model(model: object) -> bool:
    """Whether this is a model that can be trained, such as `Module(net, classes=2)`."""
    return not isinstance(model, type) and hasattr(model, "layout") and hasattr(model, "build")


def describe(model: Any, features: int, classes: int | None) -> Description:
    """The description of a spec's model.

    Args:
        model: A name, or a model of `honestdp.engine`.
        features: The width of encoded rows.
        classes: How many classes the target has; None for a number.

    Raises:
        InputError: If there is no such model, or it is for other targets.

    Example:
        >>> describe("mlp", features=9, classes=2).parameters
        1101
    """
    if isinstance(model, str):
        kind, name = _found(model)
        if not name.suits(classes):
            others = [n.name for k in architectures for n in k.names if n.suits(classes)]
            what = "is a number" if classes is None else "has classes"
            listed = " or ".join(f'"{other}"' for other in others)
            raise fail("model", model, f"the target {what}; take {listed}")
        return Named(kind(), model, features, classes)
    if not is_model(model):
        raise InputError(
            f"model: is a {type(model).__name__}; give {', '.join(model_names())} or a model of "
            "honestdp.engine, such as Module(net, classes=2)"
        )
    if model.loss.classes != (classes or 0):
        wanted = "real targets" if classes is None else f"{classes} classes"
        raise InputError(f"model: predicts something else than the schema's {wanted}")
    found: Description = model
    return found


def _found(model: str) -> tuple[type[Architecture], ModelName]:
    for kind in architectures:
        for name in kind.names:
            if name.name == model:
                return kind, name
    raise fail("model", model, f"must be one of {', '.join(model_names())}")


__all__ = [
    "Architecture",
    "Description",
    "ModelName",
    "Option",
    "architectures",
    "describe",
    "is_model",
    "model_name",
    "model_names",
]
