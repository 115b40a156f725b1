"""The optimizers: what a step does with a noisy mean gradient. Post-processing, all of it.

A rule is a pair of pure functions over [candidate, parameter] tensors. `init` makes its state from
the first parameters; `update` takes the noisy gradient at `params` and returns the next
parameters and state. Hyperparameters are [candidate, 1] columns. `lots` says how many
lots one step of the rule reads: update is called once a lot, and the parameters it returns
in between are where the next gradient is wanted, not a result.

`elementwise` rules treat each parameter alone, so the trainer may hand them the parameters
block by block, small enough for the cache.

References: Abadi et al. 2016 (DPSGD); Mohapatra et al. 2022 (DPAdamWOSM); Koskela and
Honkela 2020 (ADADP); Tang, Shpilevskiy and Lecuyer 2024 (DP-AdamBC).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from honestdp.candidates import RULES as DEFAULTS
from honestdp.candidates import Candidate

State = dict[str, Tensor]


@dataclass(frozen=True, eq=False)
class Knobs:
    """The public numbers of some candidates, one column each, and the schedule's."""

    learning_rate: Tensor
    momentum: Tensor
    beta1: Tensor
    beta2: Tensor
    stability: Tensor
    variance_floor: Tensor
    noise: Tensor  # standard deviation of the noisy mean's noise, in each coordinate
    steps: int

    @classmethod
    def of(
        cls, candidates: Sequence[Candidate], steps: int, lot_size: float, device: torch.device
    ) -> Knobs:
        def column(values: list[float]) -> Tensor:
            return torch.tensor(values, dtype=torch.float32, device=device).unsqueeze(1)

        names = ("momentum", "beta1", "beta2", "stability", "variance_floor")
        return cls(
            learning_rate=column([_learning_rate(c, steps, lot_size) for c in candidates]),
            noise=column([c.noise_multiplier * c.sensitivity / lot_size for c in candidates]),
            steps=steps,
            **{name: column([getattr(c, name) for c in candidates]) for name in names},
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
    kappa: float, lot_size: float, noise_multiplier: float, sensitivity: float, steps: int, row_norm: float
) -> float:
    """DPSGD's step size from public facts: `kappa L / (sigma C sqrt(T) B)`.

    With it the noise of the whole training moves a typical logit by kappa: T noises of size
    sigma C/L, each times the rate, add up to rate * sigma C/L * sqrt(T) in each coordinate,
    and a row of norm B turns that into rate * sigma C/L * sqrt(T) * B. Measured, not proved:
    kappa = 2 with averaging is within a point of the best tuned rate on the paper's data.
    """
    return kappa * lot_size / (noise_multiplier * sensitivity * math.sqrt(steps) * row_norm)


Update = Callable[[Tensor, Tensor, State, Knobs, int], tuple[Tensor, State]]


@dataclass(frozen=True)
class Rule:
    """`slots`: state of the parameters' shape, zero at the start; `columns`: one number a candidate."""

    update: Update
    slots: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    lots: int = 1
    elementwise: bool = True

    def init(self, params: Tensor, knobs: Knobs) -> State:
        state = {slot: torch.zeros_like(params) for slot in self.slots}
        # The one such column there is: the step size of ADADP's controller.
        return state | {column: knobs.learning_rate.clone() for column in self.columns}


def _sgd(g: Tensor, params: Tensor, state: State, k: Knobs, t: int) -> tuple[Tensor, State]:
    return params - k.learning_rate * g, {}


def _momentum(g: Tensor, params: Tensor, state: State, k: Knobs, t: int) -> tuple[Tensor, State]:
    velocity = torch.addcmul(g, state["velocity"], k.momentum)
    return torch.addcmul(params, velocity, k.learning_rate, value=-1), {"velocity": velocity}


def _first_moment(g: Tensor, state: State, k: Knobs) -> Tensor:
    return torch.lerp(g, state["first"], k.beta1)


def _second_moment(g: Tensor, state: State, k: Knobs) -> Tensor:
    return torch.lerp(g.square(), state["second"], k.beta2)


def _adam(g: Tensor, params: Tensor, state: State, k: Knobs, t: int) -> tuple[Tensor, State]:
    first, second = _first_moment(g, state, k), _second_moment(g, state, k)
    # sqrt(second / (1 - beta2^t)) + stability, as few passes over the parameters as it takes
    root = second.sqrt().mul_(torch.rsqrt(1 - k.beta2**t)).add_(k.stability)
    step = (first / root).mul_(k.learning_rate / (1 - k.beta1**t))
    return params - step, {"first": first, "second": second}


def _adam_wosm(g: Tensor, params: Tensor, state: State, k: Knobs, t: int) -> tuple[Tensor, State]:
    """Adam without second moments, at the step size to which DPAdam's converges (Theorem 3)."""
    first = _first_moment(g, state, k)
    step_size = k.learning_rate / (k.noise + k.stability)
    return params - first * (step_size / (1 - k.beta1**t)), {"first": first}


def _adam_bc(g: Tensor, params: Tensor, state: State, k: Knobs, t: int) -> tuple[Tensor, State]:
    """Adam with the noise's own variance taken out of the second moment."""
    first, second = _first_moment(g, state, k), _second_moment(g, state, k)
    variance = torch.maximum(second / (1 - k.beta2**t) - k.noise.square(), k.variance_floor)
    step = first / variance.sqrt() * (k.learning_rate / (1 - k.beta1**t))
    return params - step, {"first": first, "second": second}


def _adadp(g: Tensor, params: Tensor, state: State, k: Knobs, t: int) -> tuple[Tensor, State]:
    """One whole step against two half steps; their distance steers the step size.

    Lot A at theta asks for the gradient at the half step; lot B, there, decides.
    """
    rate = state["rate"]
    if t % 2 == 1:
        held = {"anchor": params, "full": params - rate * g, "rate": rate}
        return params - rate / 2 * g, held
    anchor, full = state["anchor"], state["full"]
    two_halves = params - rate / 2 * g
    error = ((full - two_halves) / full.abs().clamp(min=1)).norm(dim=1, keepdim=True)
    tolerance = math.sqrt(params.shape[1] / (2 * k.steps))
    # A NaN passes no comparison: such a pair is refused, and the step size shrinks.
    good = error <= tolerance
    factor = torch.nan_to_num(torch.sqrt(tolerance / error), nan=0.9).clamp(0.9, 1.1)
    result = torch.where(good, two_halves, anchor)
    return result, {"anchor": anchor, "full": full, "rate": rate * factor}


RULES: dict[str, Rule] = {
    "dpsgd": Rule(_sgd),
    "dpmomentum": Rule(_momentum, ("velocity",)),
    "dpadam": Rule(_adam, ("first", "second")),
    "dpadamwosm": Rule(_adam_wosm, ("first",)),
    "adadp": Rule(_adadp, ("anchor", "full"), ("rate",), lots=2, elementwise=False),
    "dpadambc": Rule(_adam_bc, ("first", "second")),
    "balanced": Rule(_sgd),
}
