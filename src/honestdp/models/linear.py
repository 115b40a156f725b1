"""Linear, logistic and softmax regression: what is public about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from honestdp.models import Architecture, ModelName, architectures
from honestdp.models.base import balanced, outputs


@architectures.register
class LinearArchitecture(Architecture):
    """One linear layer; `honestdp.engine.models.linear` trains it."""

    name = "linear"
    summary = "linear, logistic or softmax regression"
    names = (ModelName("logistic", numbers=False), ModelName("linear", classes=False))
    reads_sparse = True
    steps_factor = 1
    linear = True
    probed = False

    def engine(self) -> Callable[..., Any]:
        return import_module("honestdp.engine.models.linear").Linear

    def parameters(self, features: int, classes: int | None) -> int:
        return (features + 1) * outputs(classes)

    def setting(self, classes: int | None, wide: bool = False) -> Mapping[str, Any]:
        return balanced(classes, wide)
