"""`Architecture`: what is public about a kind of model, and how it is built and saved.

A spec names a model; a plan asks its architecture which targets it suits, how many parameters it
has, which options it takes. None of that needs torch: `build` imports what trains (a subclass of
`honestdp.engine.models.Model`) when it is called.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from honestdp.errors import InputError

OPTION = "module__"  # before the name of a model's option, in a setting of a grid
Facts = dict[str, Any]  # of texts, numbers, truth values, None, and lists and dicts of them
Model = Any  # of `honestdp.engine.models`, which needs torch


@dataclass(frozen=True)
class ModelName:
    """A name by which a spec asks for a model, and the targets it is for."""

    name: str
    classes: bool = True
    numbers: bool = True

    def suits(self, classes: int | None) -> bool:
        """Whether it is for targets of so many classes; None: for numbers."""
        return self.numbers if classes is None else self.classes


@dataclass(frozen=True)
class Option:
    """An option of a model, which a grid sets as `module__NAME`.

    Args:
        name: What it is called.
        default: Its value where nobody says anything.
        check: Called with its name and a value; returns the value, or raises `InputError`.
        meaning: What it does, in a few words.
    """

    name: str
    default: Any
    check: Callable[[str, object], Any]
    meaning: str


class Description(Protocol):
    """What a plan asks of the model of its spec, which may be a name or a ready model."""

    @property
    def parameters(self) -> int:
        """How many parameters it has."""

    @property
    def words(self) -> str:
        """What plan, card and report call it: all that makes a run of it another one."""

    @property
    def reads_sparse(self) -> bool:
        """Whether it reads sparse rows."""

    @property
    def steps_factor(self) -> float:
        """How many times the steps of a linear model it needs."""

    def setting(self, classes: int | None) -> Mapping[str, Any]:
        """The setting to train where there is no grid."""

    def build(self, options: Mapping[str, Any]) -> Model:
        """The model that trains, with the options of one setting."""


class Architecture(ABC):
    """A kind of model: its names, options and words; how it is built, saved and loaded.

    It is registered by `@architectures.register`. A subclass defines `name` and `engine`.

    Attributes:
        name: What model files call it.
        summary: What it is, in one line.
        names: The names by which a spec may ask for it; by default its own.
        options: What a grid may set.
        reads_sparse: Whether the model's `clipped_sum` takes sparse rows.
        steps_factor: How many times the steps of a linear model it needs, where nobody says
            how many.
        probed: Whether a saved model's answers to made-up rows are kept and compared when it is
            loaded: where the code that answers is not the library's.

    Example:
        >>> class Mine(Architecture):
        ...     name = "mine"
        ...     summary = "what it is"
        ...     def engine(self):
        ...         return MineModel  # a honestdp.engine.models.Model: MineModel(features, classes)
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    names: ClassVar[tuple[ModelName, ...]]
    options: ClassVar[tuple[Option, ...]] = ()
    reads_sparse: ClassVar[bool] = False
    steps_factor: ClassVar[float] = 3
    probed: ClassVar[bool] = True

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "name" in cls.__dict__ and "names" not in cls.__dict__:
            cls.names = (ModelName(cls.name),)

    @abstractmethod
    def engine(self) -> Callable[..., Model]:
        """The class of the model that trains, of `honestdp.engine.models.Model`: it is called with
        the number of features, the number of classes (None: numbers) and the options by name.
        Import it in here if it lies elsewhere, so that planning does not need torch."""

    def parameters(self, features: int, classes: int | None) -> int:
        """How many parameters it has with its default options; by default: build it and count."""
        layout = self.build(features, classes, {}).layout
        return sum(math.prod(shape) for _, shape in layout)

    def setting(self, classes: int | None) -> Mapping[str, Any]:
        """The setting to train where there is no grid; by default one that needs neither a learning
        rate nor the norm of the model's inputs."""
        return {"rule": "dpadamwosm"}

    def build(self, features: int, classes: int | None, options: Mapping[str, Any]) -> Model:
        """The model that trains.

        Args:
            features: The width of encoded rows.
            classes: How many classes the target has; None for a number.
            options: Some or all of the options by name.

        Raises:
            InputError: If there is no such option, or its value is wrong.
        """
        known = {option.name: option for option in self.options}
        unknown = sorted(options.keys() - known.keys())
        if unknown:
            listed = ", ".join(f"{OPTION}{name}" for name in unknown)
            name = self.called(classes) or self.name
            raise InputError(f"grid: {listed}: {name} has no such option")
        given = {name: known[name].check(name, value) for name, value in options.items()}
        defaults = {option.name: option.default for option in self.options}
        return self.engine()(features, classes, **{**defaults, **given})

    def called(self, classes: int | None) -> str | None:
        """The name by which a spec asks for it; None where it cannot be named."""
        return next((name.name for name in self.names if name.suits(classes)), None)

    def saved(self, model: Model) -> Facts:
        """What a model file says of a model, its parameters aside; by default: its options.

        Args:
            model: Whose attributes have the options' names.
        """
        return {option.name: getattr(model, option.name) for option in self.options}

    def check_saved(self, facts: Facts) -> None:
        """Raise `InputError` if facts are not such as `saved` gives; they come from a file."""
        wanted = {option.name for option in self.options}
        if facts.keys() != wanted:
            raise InputError(f"needs {', '.join(sorted(wanted)) or 'nothing more'}")
        for option in self.options:
            option.check(option.name, facts[option.name])

    def load(self, facts: Facts, features: int, classes: int | None, code: Any) -> Model:
        """The model of which a file says this.

        Args:
            facts: As `saved` gave them.
            features: The width of encoded rows.
            classes: How many classes the target has; None for a number.
            code: What the user passed as `load(folder, module=...)`; None: nothing.

        Raises:
            InputError: If it cannot be made.
        """
        return self.build(features, classes, facts)


@dataclass(frozen=True)
class Named:
    """The description of a model that a spec names."""

    architecture: Architecture
    name: str
    features: int
    classes: int | None

    @property
    def parameters(self) -> int:
        return self.architecture.parameters(self.features, self.classes)

    @property
    def words(self) -> str:
        return self.name

    @property
    def reads_sparse(self) -> bool:
        return self.architecture.reads_sparse

    @property
    def steps_factor(self) -> float:
        return self.architecture.steps_factor

    def setting(self, classes: int | None) -> Mapping[str, Any]:
        return self.architecture.setting(classes)

    def build(self, options: Mapping[str, Any]) -> Model:
        return self.architecture.build(self.features, self.classes, options)


def outputs(classes: int | None) -> int:
    """How many outputs a model has: one a class, one alone for two classes and for numbers."""
    return classes if classes is not None and classes > 2 else 1


def balanced(classes: int | None) -> Mapping[str, Any]:
    """Steps that follow from public facts: a logit may be moved by 3; a prediction of a number,
    scaled to [-1, 1], by a tenth."""
    return {"rule": "balanced", "kappa": 0.1 if classes is None else 3.0, "average": True}
