"""Any torch module: what is public about it. A spec holds it ready-made, and does not name it."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from pydantic import TypeAdapter, ValidationError

from honestdp.errors import InputError
from honestdp.json_files import Part
from honestdp.models import Architecture, architectures
from honestdp.models.base import Facts


class _Saved(Part):
    name: str
    options: dict[str, str | bool | int | float | None]
    own_loss: bool
    tokens: int | None


@architectures.register
class ModuleArchitecture(Architecture):
    """A torch module; `honestdp.engine.models.module` trains it. Its file holds no code: `load`
    needs the class or factory."""

    name = "module"
    summary = "a torch module"
    names = ()

    def engine(self) -> Callable[..., Any]:
        return import_module("honestdp.engine.models.module").Module

    def saved(self, model: Any) -> Facts:
        return {
            "name": model.name,
            "options": dict(model.options),
            "own_loss": model.criterion is not None,
            "tokens": model.tokens,
        }

    def check_saved(self, facts: Facts) -> None:
        try:
            TypeAdapter(_Saved).validate_python(facts)
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            raise InputError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None

    def load(self, facts: Facts, features: int, classes: int | None, code: Any) -> Any:
        kind = self.engine()
        if code is None:
            raise InputError(
                f"model.json: is a torch module ({facts['name']}), whose code is not in the file; "
                "give its class, its factory or an instance as module="
            )
        return kind.loaded(code, classes, facts)  # type: ignore[attr-defined]
