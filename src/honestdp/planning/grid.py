"""`Grid`: the settings to choose among, all public, all fixed before the data is opened.

A setting is a dict of `Candidate` fields (the noise aside, which the plan sets), of its rule's
hyperparameters and of options of the model, as `module__width`; it may also choose its model and
its encoding (`planning.pipelines`), and class_weight "none" or "balanced". Every setting of a grid
costs the same: all share the plan's noise multiplier, lots and steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np

from honestdp.candidates import DEFAULT_RULE, TUNABLE, Candidate, declared, hyperparameter_names
from honestdp.errors import InputError, fail, positive_integer, random_seed
from honestdp.models.base import OPTION
from honestdp.optimizers import optimizers

Setting = Mapping[str, Any]

MODEL, ENCODE, CLASS_WEIGHT = "model", "encode", "class_weight"
# The names in a setting that choose its model, its encoding and the weights of classes.
CHOICES = (MODEL, ENCODE, CLASS_WEIGHT)
SAMPLED = 40  # settings drawn by default where a grid has distributions
_SET_BY_PLAN = ("noise_multiplier", "row_norm")
_TUNABLE = tuple(name for name in TUNABLE if name not in _SET_BY_PLAN)


@dataclass(frozen=True)
class Grid:
    """The settings to choose among, all fixed before the data is opened.

    Args:
        settings: One mapping per candidate, from names of hyperparameters to values.

    Raises:
        InputError: If there is no setting, a name cannot be tuned or a value is out of bounds.

    Example:
        >>> len(Grid.product(rule="dpsgd", learning_rate=[0.1, 1.0], clip_norm=[0.5, 1.0]))
        4
    """

    settings: tuple[Setting, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.settings, tuple) or not all(
            isinstance(s, Mapping) and all(isinstance(n, str) for n in s) for s in self.settings
        ):
            raise InputError("grid: give settings as dicts of names and values")
        settings = tuple({n: _plain(n, v) for n, v in s.items()} for s in self.settings)
        object.__setattr__(self, "settings", tuple(MappingProxyType(s) for s in settings))
        if not self.settings:
            raise InputError("grid: is empty; give at least one setting")
        for setting in self.settings:
            if is_open(setting):  # a spec completes and checks it
                continue
            for name in setting:
                if not name.startswith(OPTION) and name not in CHOICES:
                    _check_tunable(name, setting.get("rule", DEFAULT_RULE))
            self._candidate(setting, 1.0, 1.0)

    def __len__(self) -> int:
        return len(self.settings)

    def __reduce__(self) -> tuple[Any, ...]:  # a mapping proxy is neither pickled nor copied
        return Grid, (tuple(map(dict, self.settings)),)

    @classmethod
    def product(cls, **values: Any) -> Grid:
        """Make the grid of all combinations of values.

        Args:
            **values: For each hyperparameter a list, tuple, range or array of values, or one value
                that all settings share.

        Returns:
            The grid, in the order of nested loops: the last hyperparameter varies fastest.

        Raises:
            InputError: If a value is a distribution, or a setting is not valid.

        Example:
            >>> Grid.product(rule="dpsgd", learning_rate=[0.1, 1.0]).settings[1]["learning_rate"]
            1.0
        """
        if not values:
            return cls(())
        for name, value in values.items():
            if _is_distribution(value):
                raise InputError(f"grid: {name} is a distribution; use Grid.sample(40, ...)")
        lists = [_listed(value) for value in values.values()]
        return cls(tuple(dict(zip(values, chosen, strict=True)) for chosen in product(*lists)))

    @classmethod
    def sample(cls, count: int, *, seed: int = 0, **values: Any) -> Grid:
        """Draw settings at random, independently of the data.

        Args:
            count: Number of settings to draw.
            seed: Seed of the draws, which are public.
            **values: For each hyperparameter a list to draw from uniformly, a distribution (any
                object with `rvs`, such as scipy.stats.loguniform(0.01, 10)) or one value.

        Returns:
            The grid of the drawn settings.

        Raises:
            InputError: If `count` or `seed` is out of bounds, or a setting is not valid.

        Example:
            >>> len(Grid.sample(3, rule="dpsgd", learning_rate=[0.01, 0.1, 1.0]))
            3
        """
        # RandomState draws the same numbers in every version of NumPy: draws from lists stay the
        # same. What a distribution's own `rvs` makes of them is SciPy's, and may change with it.
        source = np.random.RandomState(random_seed("seed", seed))
        rows = range(positive_integer("count", count))
        return cls(tuple({n: _drawn(n, v, source) for n, v in values.items()} for _ in rows))

    @classmethod
    def from_optuna(
        cls, space: Mapping[str, Any], n: int = SAMPLED, sampler: Any = None, *, seed: int = 0
    ) -> Grid:
        """Draw settings with a sampler of Optuna that needs no scores; the draws are public.

        By default a quasi-random design (scrambled Sobol points): it fills the space more evenly
        than independent draws. Samplers that learn, such as TPE, are refused: they would propose
        settings by scores that nobody paid for.

        Args:
            space: For each hyperparameter a distribution of `optuna.distributions`, or one value
                that all settings share.
            n: Number of settings to draw.
            sampler: `QMCSampler` (the default) or `RandomSampler` of `optuna.samplers`, drawn with
                `seed`; or an object of these or of `GridSampler`, which has a seed of its own.
            seed: Seed of the draws.

        Returns:
            The grid of the drawn settings.

        Raises:
            InputError: If Optuna is not installed, the sampler is an adaptive one or a study,
                `n` or `seed` is out of bounds, or a setting is not valid.

        Example:
            >>> from optuna.distributions import FloatDistribution
            >>> rates = FloatDistribution(0.01, 10, log=True)
            >>> len(Grid.from_optuna({"rule": "dpsgd", "learning_rate": rates}, 8))
            8
        """
        from honestdp.planning.optuna_designs import drawn_by_optuna

        return cls(drawn_by_optuna(space, n, sampler, random_seed("seed", seed)))

    @classmethod
    def of(cls, grid: Grid | str | Mapping[str, Any] | Sequence[Setting]) -> Grid:
        """Make a grid from any of the forms that `Spec` takes.

        Args:
            grid: A grid; the name of one, such as "dpsgd-40"; a dict of lists, which stands for
                their product, or for 40 sampled settings if it holds a distribution; or a list of
                such dicts, whose settings are joined.

        Returns:
            The grid.

        Raises:
            InputError: If it has another form, a setting is not valid, or the settings of that name
                follow from facts that only a spec knows ("kappa-4").

        Example:
            >>> len(Grid.of("dpsgd-40"))
            40
        """
        if isinstance(grid, Grid):
            return grid
        if isinstance(grid, str):
            from honestdp.planning.named_grids import named_grid  # which makes grids

            return named_grid(grid)
        if isinstance(grid, Mapping):
            if not all(isinstance(name, str) for name in grid):
                raise InputError("grid: its keys must be names, such as learning_rate")
            if any(_is_distribution(value) for value in grid.values()):
                return cls.sample(SAMPLED, **grid)
            return cls.product(**grid)
        if isinstance(grid, Sequence):
            parts = [one for one in grid if isinstance(one, Mapping)]
            if len(parts) == len(grid):
                return cls(tuple(s for one in parts for s in cls._of_part(one)))
        raise InputError(
            f"grid: is a {type(grid).__name__}; give a name, a dict of lists or a list of dicts"
        )

    @classmethod
    def _of_part(cls, part: Mapping[str, Any]) -> tuple[Setting, ...]:
        return cls.of(part).settings if part else ({},)

    def candidates(self, noise_multiplier: float, row_norm: float | None) -> list[Candidate]:
        """Make the candidates that the engine trains, one per setting.

        Args:
            noise_multiplier: Noise that all of them train with.
            row_norm: Public root-mean-square norm of the input rows; None if unknown.

        Returns:
            The candidates, in the order of the settings.
        """
        return [self._candidate(s, noise_multiplier, row_norm) for s in self.settings]

    @property
    def follows_noise(self) -> bool:
        """Whether every setting's step size follows from the noise, as that of "balanced" does."""
        return all(map(follows_noise, self.settings))

    def model_options(self, index: int) -> dict[str, Any]:
        """The model options (`module__NAME`) of one setting, without the prefix.

        Args:
            index: Position of the setting in the grid.
        """
        setting = self.settings[index].items()
        return {name.removeprefix(OPTION): v for name, v in setting if name.startswith(OPTION)}

    @staticmethod
    def _candidate(setting: Setting, noise_multiplier: float, row_norm: float | None) -> Candidate:
        known = {
            name: value
            for name, value in setting.items()
            if not name.startswith(OPTION) and name not in CHOICES
        }
        return Candidate(noise_multiplier=noise_multiplier, row_norm=row_norm, **known)


def is_open(setting: Setting) -> bool:
    """Whether a setting chooses a model or an encoding and leaves its rule to them."""
    return "rule" not in setting and any(name in setting for name in CHOICES)


def follows_noise(setting: Setting) -> bool:
    """Whether a setting's step size follows from the noise, as that of "balanced" does."""
    return optimizers.get(setting.get("rule", DEFAULT_RULE)).follows_noise


def _check_tunable(name: str, rule: str) -> None:
    if name not in _TUNABLE and declared(name, rule) is None:
        can = ", ".join([*_TUNABLE, *hyperparameter_names(), *CHOICES])
        raise fail("grid", name, f"cannot be tuned; {can} can")


def _is_distribution(value: Any) -> bool:
    return callable(getattr(value, "rvs", None))


def _listed(value: Any) -> list[Any]:
    if isinstance(value, np.ndarray):
        return list(value.ravel())
    return list(value) if isinstance(value, (list, tuple, range)) else [value]


def _drawn(name: str, value: Any, source: np.random.RandomState) -> Any:
    if _is_distribution(value):
        return value.rvs(random_state=source)
    choices = _listed(value)
    if not choices:
        raise InputError(f"grid: {name} is empty; give at least one value")
    return choices[source.randint(len(choices))]


def _plain(name: object, value: Any) -> Any:
    """Convert a value to a plain number or text, which a plan can store."""
    single = hasattr(value, "item") and getattr(value, "ndim", None) == 0
    plain = value.item() if single else value
    if plain is None or isinstance(plain, (str, bool, int, float)):
        return plain
    raise InputError(
        f"grid: {name} is a {type(value).__name__}; give a number, a text, or a list of them"
    )
