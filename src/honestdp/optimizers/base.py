"""`Optimizer`: the contract of a rule, and the numbers that it computes with.

An update is a formula for each parameter alone, with coefficients of one number a candidate; then,
for some rules, a look at all parameters together (`finish`). The formula is written once, in plain
arithmetic: called with numbers it is compiled (`engine.kernels.update`), called with tensors it
runs in torch on any device. NumPy only: planning reads a rule's facts without torch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from honestdp.errors import fail, not_negative, positive

Array = np.ndarray[Any, np.dtype[np.float64]]
Tensor = Any  # torch's: this package is imported without it
State = dict[str, Tensor]
Formula = Callable[..., Any]


class Candidate(Protocol):
    """What an optimizer reads of a candidate (`honestdp.candidates.Candidate`)."""

    @property
    def noise_multiplier(self) -> float: ...
    @property
    def learning_rate(self) -> float | None: ...
    @property
    def row_norm(self) -> float | None: ...
    @property
    def hyperparameters(self) -> Mapping[str, float]: ...
    @property
    def sensitivity(self) -> float: ...


@dataclass(frozen=True)
class Hyperparameter:
    """A number of an optimizer's own that a candidate may set.

    Args:
        name: What a candidate calls it.
        default: Its value where a candidate says nothing.
        check: Called with its name and a value; returns the value as a float, or raises
            `InputError`. `honestdp.errors` has such checks: `positive`, `not_negative`, `unit`.
        meaning: What it does, in a few words.

    Example:
        >>> Hyperparameter("momentum", 0.9, fraction, "share of the velocity kept").default
        0.9
    """

    name: str
    default: float
    check: Callable[[str, object], float]
    meaning: str


def fraction(name: str, value: object) -> float:
    """Check that a number is at least 0 and below 1, and return it.

    Raises:
        InputError: If it is not.
    """
    number = not_negative(name, value)
    if not number < 1:
        raise fail(name, value, "must be at least 0 and below 1")
    return number


def functions(name: str, value: object) -> None:
    """Check that these are the formulas of a rule: a tuple of functions.

    Raises:
        InputError: If they are not.
    """
    if not (isinstance(value, tuple) and value and all(callable(one) for one in value)):
        raise fail(name, value, "must be a tuple of functions, one per lot, such as (sgd,)")


@dataclass(frozen=True, eq=False)
class Knobs:
    """The public numbers of candidates that share a rule: arrays with one number a candidate.

    A rule's own hyperparameters are attributes too, by their names: `knobs.momentum`.

    Attributes:
        learning_rate: As `Optimizer.rate` gives it.
        noise: Standard deviation of the noisy mean's noise, in each coordinate.
        steps: How many lots a training reads.
        own: The rule's hyperparameters by name.
    """

    learning_rate: Array
    noise: Array
    steps: int
    own: Mapping[str, Array]

    def __post_init__(self) -> None:
        self.__dict__.update(self.own)

    def __getattr__(self, name: str) -> Array:
        raise AttributeError(f"{name}: the optimizer declares no such hyperparameter")


class Optimizer(ABC):
    """What a step does with a noisy mean gradient: post-processing, all of it.

    A subclass states its facts as class attributes and defines `coefficients`; the other methods
    have defaults. It is registered by `@optimizers.register` and keeps no state of its own.

    Attributes:
        name: What a candidate's `rule` calls it.
        summary: What it does, in one line, with its source.
        hyperparameters: Its own numbers, which a candidate may set by name.
        usual_rate: The learning rate where a candidate gives none; None: one must be given.
        formulas: What each lot of a step does, one function a lot, for one parameter: of the noisy
            mean gradient, the parameter, the slots and the coefficients, to a tuple of the
            new parameter and the new slots. Plain arithmetic (+ - * / ** and comparisons), as
            it runs on numbers and on tensors; constants of type np.float32.
        slots: Names of the state of the parameters' shape, zero at the start.
        rates: Names of the state of one number a candidate, [candidate, 1], that starts at the
            learning rate.
        between: The slot that holds the result while a step has read only some of its lots.
        scales_with_lot: Whether its steps are proportional to the lot's sum, so that the learning
            rate has to grow with the lot size (see `honestdp.candidates.for_lots`).
        follows_noise: Whether its step size follows from the noise and other public facts: then
            fewer steps do as well (see `honestdp.planning.defaults`).

    Example:
        >>> def sgd(g, p, rate):
        ...     return (p - rate * g,)
        >>> class Mine(Optimizer):
        ...     name = "mine"
        ...     summary = "gradient descent"
        ...     formulas = (sgd,)
        ...     def coefficients(self, knobs, state, t):
        ...         return (knobs.learning_rate,)
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    hyperparameters: ClassVar[tuple[Hyperparameter, ...]] = ()
    usual_rate: ClassVar[float | None] = None
    formulas: ClassVar[tuple[Formula, ...]]
    slots: ClassVar[tuple[str, ...]] = ()
    rates: ClassVar[tuple[str, ...]] = ()
    between: ClassVar[str] = ""
    scales_with_lot: ClassVar[bool] = False
    follows_noise: ClassVar[bool] = False

    @abstractmethod
    def coefficients(self, knobs: Knobs, state: State, t: int) -> tuple[Array, ...]:
        """The numbers that the formula of lot t is given after the slots.

        Args:
            knobs: The candidates' numbers, arrays [candidate].
            state: The state before the lot.
            t: The lot's number, counted from 1.

        Returns:
            One array [candidate] for each coefficient.
        """

    def check(self, candidate: Candidate) -> None:
        """Check that this rule can train a candidate; by default, check its learning rate.

        Args:
            candidate: The candidate.

        Raises:
            InputError: If it cannot.
        """
        if candidate.learning_rate is not None:
            positive("learning_rate", candidate.learning_rate)
        elif self.usual_rate is None:
            raise fail("learning_rate", None, f"{self.name} needs one; dpadam and balanced do not")

    def rate(self, candidate: Candidate, steps: int, lot_size: float) -> float:
        """The learning rate of a candidate that was checked.

        Args:
            candidate: The candidate.
            steps: How many lots the training reads.
            lot_size: What a lot's sum is divided by.
        """
        rate = self.usual_rate if candidate.learning_rate is None else candidate.learning_rate
        assert rate is not None
        return rate

    def finish(self, params: Tensor, state: State, knobs: Knobs) -> tuple[Tensor, State]:
        """What is left to do after a step's last lot, over all parameters of a candidate together.

        It must not write into the tensors that it is given.

        Args:
            params: [candidate, parameter], as the last formula left them.
            state: Slots and rates by name.
            knobs: The candidates' numbers.

        Returns:
            The parameters and the state; by default both as they are.
        """
        return params, state

    def noise_sd(self, knobs: Knobs, average: bool) -> Array | None:
        """The standard deviation that the noise alone gives a parameter by the end of a training,
        that is with gradients of zero.

        Args:
            knobs: The candidates' numbers.
            average: Whether the result is the mean of the second half of the steps.

        Returns:
            One number a candidate; None, the default, where no formula is known: then it is
            simulated.
        """
        return None

    @property
    def lots(self) -> int:
        """How many lots one step reads."""
        return len(self.formulas)

    def formula(self, t: int) -> Formula:
        """The formula of one lot.

        Args:
            t: The lot's number, counted from 1.

        Returns:
            One of `formulas`.
        """
        return self.formulas[(t - 1) % self.lots]

    def knobs(self, candidates: Sequence[Candidate], steps: int, lot_size: float) -> Knobs:
        """The numbers of candidates of this rule.

        Args:
            candidates: The candidates.
            steps: How many lots the training reads.
            lot_size: What a lot's sum is divided by.
        """
        return Knobs(
            learning_rate=np.array([self.rate(c, steps, lot_size) for c in candidates]),
            noise=np.array([c.noise_multiplier * c.sensitivity / lot_size for c in candidates]),
            steps=steps,
            own={
                one.name: np.array([float(c.hyperparameters[one.name]) for c in candidates])
                for one in self.hyperparameters
            },
        )

    def init(self, params: Tensor, knobs: Knobs) -> State:
        """Make the state before the first lot.

        Args:
            params: The starting parameters, [candidate, parameter].
            knobs: The candidates' numbers.

        Returns:
            Slots and rates, by name.
        """
        state = {slot: params.new_zeros(params.shape) for slot in self.slots}
        column = params.new_tensor(knobs.learning_rate).unsqueeze(1)
        return state | {rate: column.clone() for rate in self.rates}

    def table(self, knobs: Knobs, state: State, t: int) -> np.ndarray[Any, np.dtype[np.float32]]:
        """The coefficients of one lot as one table.

        Args:
            knobs: The candidates' numbers.
            state: The state before the lot.
            t: The lot's number, counted from 1.

        Returns:
            [candidate, coefficient], in float32.
        """
        found = self.coefficients(knobs, state, t)
        table = np.empty((len(knobs.learning_rate), len(found)), np.float32)
        for place, coefficient in enumerate(found):
            table[:, place] = coefficient
        return table

    def update(
        self, g: Tensor, params: Tensor, state: State, knobs: Knobs, t: int
    ) -> tuple[Tensor, State]:
        """Carry out the update of one lot in torch, on any device.

        Args:
            g: The noisy mean gradient [candidate, parameter].
            params: The parameters at which it was taken.
            state: The state before.
            knobs: The candidates' numbers.
            t: The lot's number, counted from 1.

        Returns:
            The next parameters and state. Before the last lot of a step the parameters are where
            the next gradient is wanted, not a result.

        Raises:
            InputError: If a formula returns something else than the parameter and its slots.
        """
        coefficients = params.new_tensor(self.table(knobs, state, t)).unsqueeze(2).unbind(1)
        slots = [state[name] for name in self.slots]
        found: object = self.formula(t)(g, params, *slots, *coefficients)
        if not isinstance(found, tuple) or len(found) != 1 + len(slots):
            what = f"tuple of {len(found)}" if isinstance(found, tuple) else type(found).__name__
            remedy = f"its formula returned a {what}; return a tuple of the parameter and its slots"
            raise fail("optimizer", self.name, f"{remedy}, {1 + len(slots)} in all")
        params, *after = found
        state = state | dict(zip(self.slots, after, strict=True))
        return self.finish(params, state, knobs) if t % self.lots == 0 else (params, state)
