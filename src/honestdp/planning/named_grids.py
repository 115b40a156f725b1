"""`NAMED`: the grids that a spec may give by name, and what their settings follow from.

The paper's grids are the same for every table. Grids of step sizes that follow from the noise are
not: how far a step may go depends on the target (a class or a number), on the rows (a few columns,
or thousands of words) and on whether the norm of the model's inputs is known. They are made from
these public facts, or refused, when a spec is made, before anything is charged.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from honestdp.errors import fail
from honestdp.models import Description
from honestdp.models.base import balanced
from honestdp.planning.grid import ENCODE, MODEL, Grid, Setting


@dataclass(frozen=True)
class GridFacts:
    """The public facts that a named grid may depend on.

    Args:
        model: The description of the model.
        classes: Number of classes of the target; None for a numeric target.
        wide: Whether rows are mostly words, counts or images, or have hundreds of columns.
    """

    model: Description
    classes: int | None
    wide: bool

    @property
    def setting(self) -> Setting:
        """The setting that is trained without a grid."""
        return self.model.setting(self.classes, self.wide)


@dataclass(frozen=True)
class NamedGrid(ABC):
    """A grid that a spec may give by name.

    Args:
        name: Its name.
        summary: What it is for, in a few words.
    """

    name: str
    summary: str

    @abstractmethod
    def __len__(self) -> int:
        """Number of settings, the same for all facts."""

    @abstractmethod
    def grid(self, facts: GridFacts | None) -> Grid:
        """Make the grid.

        Args:
            facts: What is public about the table and the model; None: not known yet.

        Raises:
            InputError: If it does not suit them, or needs to know them.
        """


@dataclass(frozen=True)
class FixedGrid(NamedGrid):
    """The same settings for every table and model. settings: A grid."""

    settings: Grid

    def __len__(self) -> int:
        return len(self.settings)

    def grid(self, facts: GridFacts | None) -> Grid:
        return self.settings


@dataclass(frozen=True)
class AroundDefault(NamedGrid):
    """The model's default setting with its kappa multiplied by several numbers; clip norm and
    largest rate stay those of the task.

    For tables with classes the settings are those of the first release, with a clip norm of 1 and
    no largest rate. On Adult they are as good as with the default's 0.6 and 16 (ten seeds, epsilon
    0.3 to 3: within 0.3 points), and that largest rate would make two of the four settings one.

    Args:
        thirds: The multiples of kappa, in thirds: the default of tables with classes is 3.
    """

    thirds: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.thirds)

    def grid(self, facts: GridFacts | None) -> Grid:
        if facts is None:
            raise fail(
                "grid",
                self.name,
                "its settings follow from the target and the model; give the name itself as grid= "
                "of Spec or HonestSearch, which know them",
            )
        default = facts.setting
        if "kappa" not in default:
            raise fail(
                "grid",
                self.name,
                f"its steps follow from the norm of the inputs, which is unknown for the model "
                f"{facts.model.words}; take dpadam-4, or leave the grid out",
            )
        if default == balanced(2):
            default = {name: default[name] for name in ("rule", "kappa", "average")}
        return Grid(tuple({**default, "kappa": default["kappa"] * (n / 3)} for n in self.thirds))


@dataclass(frozen=True)
class Alternatives(NamedGrid):
    """Models and encodings with their own settings, which need no tuning.

    Args:
        choices: For each setting what it chooses; a model of None stands for the one that is
            trained without a grid.
    """

    choices: tuple[Setting, ...]

    def __len__(self) -> int:
        return len(self.choices)

    def grid(self, facts: GridFacts | None) -> Grid:
        if facts is None:
            remedy = "its settings follow from the target; give the name itself as grid= of Spec"
            raise fail("grid", self.name, remedy)
        if not facts.model.chooses_encoding:
            remedy = f"the model {facts.model.words} reads rows as they are; take dpadam-4"
            raise fail("grid", self.name, remedy)
        own = facts.model.words
        return Grid(tuple({**one, MODEL: one[MODEL] or own} for one in self.choices))


_RATES = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0]
_CLIPS = [0.1, 0.2, 0.5, 1.0]
_MOMENTA = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99]

_GRIDS: tuple[NamedGrid, ...] = (
    FixedGrid(
        "dpsgd-40",
        "the paper's DPSGD: ten learning rates times four clip norms",
        Grid.product(rule="dpsgd", learning_rate=_RATES, clip_norm=_CLIPS),
    ),
    FixedGrid(
        "dpmomentum-280",
        "the paper's DPMomentum: ten learning rates, four clip norms, seven momenta",
        Grid.product(rule="dpmomentum", learning_rate=_RATES, clip_norm=_CLIPS, momentum=_MOMENTA),
    ),
    FixedGrid(
        "dpadam-4",
        "the paper's DPAdam: four clip norms",
        Grid.product(rule="dpadam", clip_norm=_CLIPS),
    ),
    AroundDefault(
        "kappa-4",
        "the default setting with steps of 1/3, 2/3, 4/3 and 8/3 of its own",
        (1, 2, 4, 8),
    ),
    Alternatives(
        "models-4",
        "numbers as they are, numbers with bins, and networks of 32 and 100 hidden units",
        (
            {MODEL: None, ENCODE: "linear"},
            {MODEL: None, ENCODE: "both"},
            {MODEL: "mlp", "module__width": 32},
            {MODEL: "mlp", "module__width": 100},
        ),
    ),
    Alternatives(
        "encodings-3",
        "numbers as they are, numbers with bins, and the default encoding",
        ({MODEL: None, ENCODE: "linear"}, {MODEL: None, ENCODE: "both"}, {MODEL: None}),
    ),
    AroundDefault("balanced", "one setting, with the steps of the default", (3,)),
    FixedGrid(
        "dpadamwosm",
        "DPAdamWOSM, which needs neither a learning rate nor the norm of the inputs",
        Grid.product(rule="dpadamwosm"),
    ),
)

NAMED: dict[str, NamedGrid] = {grid.name: grid for grid in _GRIDS}


def named_grid(name: str, facts: GridFacts | None = None) -> Grid:
    """Make the grid of a name.

    Args:
        name: The name.
        facts: What is public about the table and the model; None: not known yet.

    Raises:
        InputError: If there is no such grid, it does not suit the facts, or needs to know them.

    Example:
        >>> len(named_grid("dpsgd-40"))
        40
    """
    if name not in NAMED:
        raise fail("grid", name, f"is no known grid; choose one of {', '.join(NAMED)}")
    return NAMED[name].grid(facts)
