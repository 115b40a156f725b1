"""`Spec`: what is wanted, in public facts alone. Its fields hold no data and are read from none.

A newcomer gives the schema, the number of rows and epsilon; all else has a default.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

from honestdp.errors import (
    fail,
    instance,
    open_unit,
    positive,
    positive_integer,
)
from honestdp.metrics import default_metric, metrics
from honestdp.models import Description, describe
from honestdp.planning.costs import checked_delta
from honestdp.planning.grid import Grid, Setting
from honestdp.privacy.calibrate import Shape
from honestdp.procedures import Request, procedures
from honestdp.procedures.base import HIT_PROBABILITY
from honestdp.procedures.options import Options, mean_runs
from honestdp.schema import Schema

AUTO = "auto"
# What "auto" reads: how often the best setting should be tried, in how many runs at most.
_AUTO_OPTIONS: Options = {"hit_probability": open_unit, "most_runs": mean_runs}
MOST_STEPS = 10**9
MOST_ROWS = 2**31 - 1
_LARGEST_SEED = 2**53  # readers of a card may know whole numbers as floats


@dataclass(frozen=True, kw_only=True)
class Spec:
    """A search to plan.

    schema: what is public about the table. rows: how many rows it has, which is public too.
    epsilon, delta: the budget of everything together; delta by default 10^(floor(log10(1/n)) - 1),
        and always below 1/n.
    model: a name, such as "logistic", "linear" or "mlp", or a model of the engine's, such as
        `Module(Net, classes=2)`, whose options a grid may set (`module__hidden`); by default
        logistic or linear regression, as the target asks.
    grid: what to choose among; see `Grid.of`. By default one setting whose step size follows
        from public facts, so that there is nothing to tune.
    procedure: how to choose; "auto" decides by public facts and says why.
    lot_size, steps: of every run; by default by the rules of `defaults`.
    validation: the share of rows that scores are taken on, where there are scores.
    split_seed: of the public permutation that says which rows those are; the card shows it.
    learn_share: of the budget, for bounds that the schema says are to be learnt.
    metric: what candidates are compared by; by default accuracy, or the squared error of numbers.
    Options of single procedures: hit_probability or mean_runs say how long to
    search; shape is that of the law of K: "geometric" (1, the default), "logarithmic" (0),
    "poisson", or any number above -1; cap is its hard stop; threshold the public score to
    reach; subset the share of rows to tune on; scores=False shows none and picks by one
    exponential mechanism; bound names the theorem to account by (default: the smallest that
    holds); most_runs is what "auto" may run in expectation.
    procedure_options: further options, by name, of a procedure of one's own.
    """

    schema: Schema
    rows: int
    epsilon: float
    delta: float | None = None
    model: Any = None
    grid: Grid | str | Mapping[str, Any] | Sequence[Setting] | None = None
    procedure: str = AUTO
    lot_size: int | None = None
    steps: int | None = None
    validation: float = 0.2
    split_seed: int = 0
    learn_share: float = 0.05
    hit_probability: float | None = None
    mean_runs: float | None = None
    most_runs: float | None = None
    shape: Shape | str | None = None
    cap: int | None = None
    threshold: float | None = None
    subset: float | None = None
    scores: bool | None = None
    bound: str | None = None
    metric: str | None = None
    procedure_options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        instance(Schema, "schema", self.schema, 'Schema.load("table.toml")')
        for name, check in _CHECKS.items():  # stored as Python's own numbers
            value = getattr(self, name)
            if value is not None or name in _NEEDED:
                object.__setattr__(self, name, check(name, value))
        if self.delta is not None:
            checked_delta(self.delta, self.rows)
        if isinstance(self.split_seed, bool) or not isinstance(self.split_seed, Integral):
            raise fail("split_seed", self.split_seed, "must be a whole number")
        if abs(self.split_seed) > _LARGEST_SEED:
            raise fail("split_seed", self.split_seed, f"must be at most {_LARGEST_SEED} in size")
        object.__setattr__(self, "split_seed", int(self.split_seed))
        self._check_model()
        self._check_metric()
        self._check_options()
        if self.grid is not None:
            object.__setattr__(self, "grid", Grid.of(self.grid))

    def _check_model(self) -> None:
        classes = self.classes
        if self.model is None:
            object.__setattr__(self, "model", "linear" if classes is None else "logistic")
        describe(self.model, self.schema.width, classes)

    def _check_metric(self) -> None:
        found = default_metric(self.classes) if self.metric is None else metrics.get(self.metric)
        if found.of_classes != (self.classes is not None):
            suited = [m.name for m in metrics if m.of_classes == (self.classes is not None)]
            raise fail("metric", self.metric, f"does not suit the target; {_or(suited)} does")
        object.__setattr__(self, "metric", found.name)

    def _check_options(self) -> None:
        instance(Mapping, "procedure_options", self.procedure_options, '{"eta": 3}')
        known = _options_of(self.procedure)
        own = {name: getattr(self, name) for name in _OPTION_FIELDS}
        for name, value in sorted({**self.procedure_options, **own}.items()):
            if value is None:
                continue
            if name not in known:
                has = [p for p in (AUTO, *procedures.names()) if name in _options_of(p)]
                said = f"; {_or(has)} has" if has else ""
                raise fail(name, value, f"{self.procedure} has no such option{said}")
            checked = known[name](name, value)
            if name in own:
                object.__setattr__(self, name, checked)
        if self.hit_probability is not None and self.mean_runs is not None:
            raise fail("mean_runs", self.mean_runs, "or hit_probability: give one of the two")
        further = {name: known[name](name, value) for name, value in self.procedure_options.items()}
        object.__setattr__(self, "procedure_options", further)

    @property
    def request(self) -> Request:
        """The procedure and its options, as asked for."""
        given = {name: getattr(self, name) for name in _OPTION_FIELDS} | dict(
            self.procedure_options
        )
        known = procedures.get(self.procedure).options
        return Request(
            self.procedure, {n: v for n, v in given.items() if n in known and v is not None}
        )

    @property
    def wanted_hit_probability(self) -> float:
        """How often "auto" wants the best setting to be tried."""
        return HIT_PROBABILITY if self.hit_probability is None else self.hit_probability

    @property
    def classes(self) -> int | None:
        """How many classes the target has; None for a number."""
        known = self.schema.target.classes
        return None if known is None else len(known)

    @property
    def described(self) -> Description:
        """What is public about the model."""
        return describe(self.model, self.schema.width, self.classes)

    @property
    def parameters(self) -> int:
        """The number of the model's parameters."""
        return self.described.parameters

    @property
    def model_name(self) -> str:
        """What plan, card and report call the model."""
        return self.described.words


def _few_rows(name: str, value: object) -> int:
    if positive_integer(name, value) > MOST_ROWS:
        raise fail(name, value, f"must be at most {MOST_ROWS}, what sums can hold; give fewer")
    return int(value)  # type: ignore[call-overload]


def _few_steps(name: str, value: object) -> int:
    if positive_integer(name, value) > MOST_STEPS:
        raise fail(name, value, f"must be at most {MOST_STEPS}")
    return int(value)  # type: ignore[call-overload]


# What checks a field, and gives it back as a number of Python's own.
_CHECKS: dict[str, Callable[[str, object], float]] = {
    "rows": _few_rows,
    "epsilon": positive,
    "validation": open_unit,
    "learn_share": open_unit,
    "delta": open_unit,
    "lot_size": positive_integer,
    "steps": _few_steps,
}
_NEEDED = ("rows", "epsilon", "validation", "learn_share")
# The fields that are options of procedures.
_OPTION_FIELDS = (
    "hit_probability", "mean_runs", "most_runs", "shape", "cap", "threshold", "subset", "scores",
    "bound",
)  # fmt: skip


def _options_of(procedure: str) -> Options:
    """Which options a procedure reads, and what checks them."""
    if isinstance(procedure, str) and procedure == AUTO:
        return _AUTO_OPTIONS
    return {**procedures.get(procedure).options, "bound": _any_name}


def _any_name(name: str, value: object) -> object:
    return value  # which bounds hold depends on the procedure's law: planning checks it


def _or(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
