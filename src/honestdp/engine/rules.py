"""The optimizers: what a step does with a noisy mean gradient. Post-processing, all of it.

A rule is a pair of pure functions over [candidate, parameter] tensors. `init` makes its state
from the first parameters; `update` takes the noisy gradient at `params` and returns the next
parameters and state. `lots` says how many lots one step of the rule reads: update is called
once a lot, and the parameters it returns in between are where the next gradient is wanted,
not a result.

An update is a formula for each parameter alone (`formulas`), with coefficients of one number
a candidate; then, for ADADP, a look at all parameters together (`finish`). The trainer runs the
formula compiled and block by block; `update` here runs it in torch, on any device.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from honestdp.candidates import RULES as DEFAULTS
from honestdp.candidates import Candidate
from honestdp.engine import formulas

Array = np.ndarray[Any, np.dtype[np.float64]]
State = dict[str, Tensor]


@dataclass(frozen=True, eq=False)
class Knobs:
    """The public numbers of some candidates, [candidate] each, and the schedule's."""

    learning_rate: Array
    momentum: Array
    beta1: Array
    beta2: Array
    stability: Array
    variance_floor: Array
    noise: Array  # standard deviation of the noisy mean's noise, in each coordinate
    steps: int

    @classmethod
    def of(cls, candidates: Sequence[Candidate], steps: int, lot_size: float) -> Knobs:
        names = ("momentum", "beta1", "beta2", "stability", "variance_floor")
        return cls(
            learning_rate=np.array([_learning_rate(c, steps, lot_size) for c in candidates]),
            noise=np.array([c.noise_multiplier * c.sensitivity / lot_size for c in candidates]),
            steps=steps,
            **{name: np.array([float(getattr(c, name)) for c in candidates]) for name in names},
        )


def _learning_rate(c: Candidate, steps: int, lot_size: float) -> float:
    if c.rule == "balanced":
        assert c.row_norm is not None
        return balanced_rate(
            c.kappa, lot_size, c.noise_multiplier, c.sensitivity, steps, c.row_norm
        )
    rate = DEFAULTS[c.rule] if c.learning_rate is None else c.learning_rate
    assert rate is not None
    return rate


def balanced_rate(
    kappa: float,
    lot_size: float,
    noise_multiplier: float,
    sensitivity: float,
    steps: int,
    row_norm: float,
) -> float:
    """DPSGD's step size from public facts: `kappa L / (sigma C sqrt(T) B)`.

    With it the noise of the whole training moves a typical logit by kappa: T noises of size
    sigma C/L, each times the rate, add up to rate * sigma C/L * sqrt(T) in each coordinate,
    and a row of norm B turns that into rate * sigma C/L * sqrt(T) * B. Measured, not proved:
    kappa = 3 with averaging, the library's default, is within 1.2 points of the best tuned rate on
    the paper's data, B being measured (`honestdp paper balanced`).
    """
    return kappa * lot_size / (noise_multiplier * sensitivity * math.sqrt(steps) * row_norm)


Coefficients = Callable[[Knobs, State, int], tuple[Array, ...]]
Finish = Callable[[Tensor, State, Knobs], tuple[Tensor, State]]


@dataclass(frozen=True)
class Rule:
    """One optimizer.

    formulas: what each lot of a step does; coefficients: what they are given after the state.
    slots: state of the parameters' shape, zero at the start; rates: [candidate, 1] columns that
    start at the learning rate. between: the slot that holds the result while a step has read only
    some of its lots. finish: what the last lot's formula leaves to do.
    """

    formulas: tuple[Callable[..., Any], ...]
    coefficients: Coefficients
    slots: tuple[str, ...] = ()
    rates: tuple[str, ...] = ()
    between: str = ""
    finish: Finish | None = None

    @property
    def lots(self) -> int:
        return len(self.formulas)

    def formula(self, t: int) -> Callable[..., Any]:
        """The formula of lot t (counted from 1)."""
        return self.formulas[(t - 1) % self.lots]

    def init(self, params: Tensor, knobs: Knobs) -> State:
        state = {slot: torch.zeros_like(params) for slot in self.slots}
        column = torch.from_numpy(knobs.learning_rate).to(params).unsqueeze(1)
        return state | {rate: column.clone() for rate in self.rates}

    def table(self, knobs: Knobs, state: State, t: int) -> Tensor:
        """The coefficients of lot t, [candidate, coefficient], in float32."""
        return torch.from_numpy(np.stack(self.coefficients(knobs, state, t), 1).astype(np.float32))

    def update(
        self, g: Tensor, params: Tensor, state: State, knobs: Knobs, t: int
    ) -> tuple[Tensor, State]:
        """The next parameters and state, after lot t with noisy mean gradient g."""
        coefficients = self.table(knobs, state, t).to(params.device).unsqueeze(2).unbind(1)
        slots = [state[name] for name in self.slots]
        params, *moved = self.formula(t)(g, params, *slots, *coefficients)
        state = state | dict(zip(self.slots, moved, strict=True))
        if self.finish and t % self.lots == 0:
            return self.finish(params, state, knobs)
        return params, state


def _rate(k: Knobs, state: State, t: int) -> tuple[Array, ...]:
    return (k.learning_rate,)


def _momentum(k: Knobs, state: State, t: int) -> tuple[Array, ...]:
    return k.learning_rate, k.momentum


def _adam(k: Knobs, state: State, t: int) -> tuple[Array, ...]:
    rate, unbias = k.learning_rate / (1 - k.beta1**t), 1 / np.sqrt(1 - k.beta2**t)
    return rate, k.beta1, k.beta2, unbias, k.stability


def _without_second_moments(k: Knobs, state: State, t: int) -> tuple[Array, ...]:
    """The step size to which DPAdam's converges when noise dominates: the paper's Theorem 3."""
    effective = k.learning_rate / (k.noise + k.stability)
    return effective / (1 - k.beta1**t), k.beta1


def _corrected(k: Knobs, state: State, t: int) -> tuple[Array, ...]:
    rate, unbias = k.learning_rate / (1 - k.beta1**t), 1 / (1 - k.beta2**t)
    return rate, k.beta1, k.beta2, unbias, k.noise**2, k.variance_floor


def _controlled(k: Knobs, state: State, t: int) -> tuple[Array, ...]:
    return (state["rate"].squeeze(1).cpu().double().numpy(),)


def _accept(params: Tensor, state: State, knobs: Knobs) -> tuple[Tensor, State]:
    """ADADP: one whole step against two half steps; their distance decides, and sets the rate."""
    whole = state["whole"]
    error = ((whole - params) / whole.abs().clamp_(min=1)).norm(dim=1, keepdim=True)
    tolerance = math.sqrt(params.shape[1] / (2 * knobs.steps))
    # A NaN passes no comparison: such a pair is refused, and the rate shrinks.
    factor = torch.nan_to_num(torch.sqrt(tolerance / error), nan=0.9).clamp(0.9, 1.1)
    result = torch.where(error <= tolerance, params, state["anchor"])
    return result, state | {"rate": state["rate"] * factor}


RULES: dict[str, Rule] = {
    "dpsgd": Rule((formulas.sgd,), _rate),
    "dpmomentum": Rule((formulas.momentum,), _momentum, ("velocity",)),
    "dpadam": Rule((formulas.adam,), _adam, ("first", "second")),
    "dpadamwosm": Rule((formulas.adam_first_moment,), _without_second_moments, ("first",)),
    "adadp": Rule(
        (formulas.half_step, formulas.second_half_step),
        _controlled,
        slots=("anchor", "whole"),
        rates=("rate",),
        between="anchor",
        finish=_accept,
    ),
    "dpadambc": Rule((formulas.adam_corrected,), _corrected, ("first", "second")),
    "balanced": Rule((formulas.sgd,), _rate),
}
