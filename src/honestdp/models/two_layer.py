"""The network with one hidden layer: what is public about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from honestdp.errors import fail, positive_integer
from honestdp.models import Architecture, ModelName, Option, architectures
from honestdp.models.base import balanced, outputs

_MOST = 10**7  # hidden units


def width(name: str, value: object) -> int:
    if positive_integer(name, value) > _MOST:
        raise fail(name, value, f"must be at most {_MOST}")
    return positive_integer(name, value)


def activation(name: str, value: object) -> str | None:
    if value is None or value == "relu":
        return value
    raise fail(name, value, "must be 'relu' or None")


@architectures.register
class TwoLayerArchitecture(Architecture):
    """A hidden layer and a linear one; `honestdp.engine.models.two_layer` trains them."""

    name = "two-layer"
    summary = "a network with one hidden layer"
    names = (ModelName("mlp"),)
    options = (
        Option("width", 100, width, "hidden units"),
        Option("activation", "relu", activation, "of the hidden layer; None has none"),
    )
    reads_sparse = True
    probed = False

    def engine(self) -> Callable[..., Any]:
        return import_module("honestdp.engine.models.two_layer").TwoLayer

    def parameters(self, features: int, classes: int | None) -> int:
        hidden = self.options[0].default
        return (features + 1) * hidden + (hidden + 1) * outputs(classes)

    def setting(self, classes: int | None, wide: bool = False) -> Mapping[str, Any]:
        return balanced(classes, wide)
