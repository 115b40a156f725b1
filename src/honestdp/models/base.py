"""`Architecture`: what is public about a kind of model, and how it is built and saved.

A spec names a model; a plan reads from its architecture which targets it suits, how many parameters
it has and which options it takes. None of that needs torch: `build` imports the class that trains
(a subclass of `honestdp.engine.models.Model`) when it is called.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from honestdp.errors import InputError

OPTION = "module__"  # prefix of a model's options in a setting of a grid
Facts = dict[str, Any]  # of texts, numbers, truth values, None, and lists and dicts of them
Model = Any  # of `honestdp.engine.models`, which needs torch


@dataclass(frozen=True)
class ModelName:
    """A name that a spec may give as its model, and the targets it is for."""

    name: str
    classes: bool = True
    numbers: bool = True

    def suits(self, classes: int | None) -> bool:
        """Whether it is for targets with this number of classes; None: for numeric targets."""
        return self.numbers if classes is None else self.classes


@dataclass(frozen=True)
class Option:
    """An option of a model, which a grid sets as `module__NAME`.

    Args:
        name: Its name.
        default: Its default value.
        check: Called with its name and a value; returns the value, or raises `InputError`.
        meaning: What it does, in a few words.
    """

    name: str
    default: Any
    check: Callable[[str, object], Any]
    meaning: str


# For rows of norm 3 (`schema.learn.ROW_NORM`), chosen on public tables (docs/representation.md).
KAPPA, CLIP_NORM = 3.0, 0.6  # of classes, from columns of a table
WIDE_KAPPA, WIDE_CLIP_NORM = 2.0, 0.3  # of classes, from words, counts or images
NUMBER_KAPPA, NUMBER_CLIP_NORM = 0.2, 0.6  # of numbers
# Longer steps jump over their goal where there is little noise. Gradient descent needs a rate below
# 2/h, h the curvature: for rows of norm 3 at most 10 (squared error) and 2.5 (a logit). Averaging
# and clipping allow several times that.
LARGEST_RATE, WIDE_LARGEST_RATE, NUMBER_LARGEST_RATE = 16.0, 100.0, 2.0


class Description(Protocol):
    """What a plan needs to know of the model of its spec, which may be a name or a ready model."""

    @property
    def parameters(self) -> int:
        """Number of parameters."""

    @property
    def words(self) -> str:
        """Its text on plan, card and report; models that train differently have different texts."""

    @property
    def reads_sparse(self) -> bool:
        """Whether it reads sparse rows."""

    @property
    def steps_factor(self) -> float:
        """Number of steps it needs by default, relative to a linear model."""

    @property
    def chooses_encoding(self) -> bool:
        """Whether a plan may choose how its rows are encoded and scaled; a ready model reads rows
        of the width it was made for."""

    def setting(self, classes: int | None, wide: bool = False) -> Mapping[str, Any]:
        """The setting to train if there is no grid.

        Args:
            classes: Number of classes of the target; None for a numeric target.
            wide: Whether rows are mostly words, counts or images, or have hundreds of columns;
                it follows from the encoding.
        """

    def build(self, options: Mapping[str, Any]) -> Model:
        """Build the model that trains.

        Args:
            options: The model options of one setting, by name.

        Returns:
            A `honestdp.engine.models.Model`.
        """


class Architecture(ABC):
    """A kind of model: its names and options; how it is built, saved and loaded.

    It is registered by `@architectures.register`. A subclass defines `name` and `engine`.

    Attributes:
        name: Its name in model files.
        summary: What it is, in one line.
        names: The names that a spec may give; by default its own.
        options: What a grid may set.
        reads_sparse: Whether the model's `clipped_sum` takes sparse rows.
        steps_factor: Number of steps it needs by default, relative to a linear model.
        linear: Whether its outputs are linear in a row's encoded inputs, so that the model's
            `linear_part` says what each column adds to them.
        probed: Whether a saved model's outputs on made-up rows are stored and compared when it is
            loaded; for models whose code is not in the library.

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
    linear: ClassVar[bool] = False
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
        """Number of parameters with the default options; by default counted on a built model."""
        layout = self.build(features, classes, {}).layout
        return sum(math.prod(shape) for _, shape in layout)

    def setting(self, classes: int | None, wide: bool = False) -> Mapping[str, Any]:
        """The setting to train if there is no grid; by default one that needs neither a learning
        rate nor the norm of the model's inputs.

        Args:
            classes: Number of classes of the target; None for a numeric target.
            wide: Whether rows are mostly words, counts or images, or have hundreds of columns;
                it follows from the encoding.
        """
        return {"rule": "dpadamwosm"}

    def build(self, features: int, classes: int | None, options: Mapping[str, Any]) -> Model:
        """Build the model that trains.

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
        """The name that a spec gives for such a target; None if there is none."""
        return next((name.name for name in self.names if name.suits(classes)), None)

    def saved(self, model: Model) -> Facts:
        """The facts about a model that its file stores besides the parameters; by default its
        options.

        Args:
            model: The model; it has an attribute for each option.
        """
        return {option.name: getattr(model, option.name) for option in self.options}

    def check_saved(self, facts: Facts) -> None:
        """Raise `InputError` unless facts, read from a file, have the form that `saved` returns."""
        wanted = {option.name for option in self.options}
        if facts.keys() != wanted:
            raise InputError(f"needs {', '.join(sorted(wanted)) or 'nothing more'}")
        for option in self.options:
            option.check(option.name, facts[option.name])

    def load(self, facts: Facts, features: int, classes: int | None, code: Any) -> Model:
        """Rebuild a model from the facts in its file.

        Args:
            facts: As `saved` returned them.
            features: The width of encoded rows.
            classes: How many classes the target has; None for a number.
            code: What the user passed as `load(folder, module=...)`; None: nothing.

        Raises:
            InputError: If the facts or the code do not fit.
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

    @property
    def chooses_encoding(self) -> bool:
        return True

    def setting(self, classes: int | None, wide: bool = False) -> Mapping[str, Any]:
        return self.architecture.setting(classes, wide)

    def build(self, options: Mapping[str, Any]) -> Model:
        return self.architecture.build(self.features, self.classes, options)


def outputs(classes: int | None) -> int:
    """Number of outputs of a model: one per class, but one for two classes and for numbers."""
    return classes if classes is not None and classes > 2 else 1


def balanced(classes: int | None, wide: bool = False) -> Mapping[str, Any]:
    """The setting whose step size follows from public facts: by how much the noise of the training
    may move a logit, or a numeric prediction scaled to [-1, 1].

    Args:
        classes: Number of classes of the target; None for a numeric target.
        wide: Whether rows are mostly words, counts or images, or have hundreds of columns.
    """
    if classes is None:
        kappa, clip_norm, largest = NUMBER_KAPPA, NUMBER_CLIP_NORM, NUMBER_LARGEST_RATE
    elif wide:
        kappa, clip_norm, largest = WIDE_KAPPA, WIDE_CLIP_NORM, WIDE_LARGEST_RATE
    else:
        kappa, clip_norm, largest = KAPPA, CLIP_NORM, LARGEST_RATE
    own = {"kappa": kappa, "clip_norm": clip_norm, "largest_rate": largest}
    return {"rule": "balanced", **own, "average": True}
