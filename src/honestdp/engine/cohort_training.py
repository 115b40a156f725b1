"""The training of one cohort: its tensors, and what a step does to them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np
import torch
from torch import Tensor

from honestdp.candidates import Candidate
from honestdp.engine.buffers import Buffers
from honestdp.engine.clipping import Clip, ClippedSum
from honestdp.engine.examples import Examples
from honestdp.engine.grid import accumulator
from honestdp.engine.kernels.update import noisy_update
from honestdp.engine.lots import Lots, LotSampler
from honestdp.engine.models import Model, size
from honestdp.engine.noise import NoiseMaker
from honestdp.optimizers import Knobs, Optimizer, optimizer
from honestdp.randomness import Randomness


@dataclass(frozen=True, eq=False, repr=False)
class CandidateState:
    """Where one candidate is after `step` lots: its result so far, and what it needs to go on
    (nothing before the first step and after the last)."""

    step: int
    result: Tensor
    tensors: dict[str, Tensor]


def packed_layout(model: Model, candidate: Candidate) -> list[tuple[str, int]]:
    """What a candidate's state holds at most, and how many numbers of each: the same at every
    step, so that a state written down has one length."""
    rule, whole = optimizer(candidate.rule), size(model)
    slots = ["result", "params", *rule.slots, *(["mean"] if candidate.average else [])]
    return [*((name, whole) for name in slots), *((rate, 1) for rate in rule.rates)]


def packed(state: CandidateState, model: Model, candidate: Candidate) -> Tensor:
    """A state as one row of numbers; its step aside."""
    tensors = state.tensors | {"result": state.result}
    parts = [
        tensors[name].flatten().cpu() if name in tensors else torch.zeros(count)
        for name, count in packed_layout(model, candidate)
    ]
    return torch.cat(parts)


def unpacked(
    step: int, steps: int, row: Tensor, model: Model, candidate: Candidate
) -> CandidateState:
    """The state that was packed after `step` of `steps` lots."""
    layout = packed_layout(model, candidate)
    parts = row[: sum(count for _, count in layout)].split([count for _, count in layout])
    tensors = {name: part.clone() for (name, _), part in zip(layout, parts, strict=True)}
    result = tensors.pop("result")
    return CandidateState(step, result, tensors if 0 < step < steps else {})


@dataclass(frozen=True, eq=False)
class _Group:
    """Neighbours in the cohort with the same rule: views of their parameters, the rule's state,
    and the running mean of the second half where it is wanted."""

    rows: slice
    rule: Optimizer
    knobs: Knobs
    params: Tensor
    state: dict[str, Tensor]
    mean: Tensor | None

    def update(self, total: ClippedSum, noise: NoiseMaker, step: int) -> None:
        if self.params.device.type == "cpu":
            self._compiled(total, noise, step)
        else:
            self._in_torch(total, noise, step)
        taken = self._averaged(step)
        if self.mean is not None and taken:
            self.mean.lerp_(self.params, 1 / taken)

    def _in_torch(self, total: ClippedSum, noise: NoiseMaker, step: int) -> None:
        g = noise.noisy_mean(total, step, self.rows)
        self._keep(*self.rule.update(g, self.params, self.state, self.knobs, step))

    def _compiled(self, total: ClippedSum, noise: NoiseMaker, step: int) -> None:
        params, slots = self._arrays
        table = self.rule.table(self.knobs, self.state, step)
        kernel = noisy_update(self.rule.formula(step), len(slots))
        noise.until_settled(kernel, total, step, self.rows, params, slots, table)
        if step % self.rule.lots == 0:
            self._keep(*self.rule.finish(self.params, self.state, self.knobs))

    @cached_property
    def _arrays(self) -> tuple[Any, tuple[Any, ...]]:
        """Parameters and slots as NumPy reads them: made once, as steps write in place."""
        return self.params.numpy(), tuple(self.state[name].numpy() for name in self.rule.slots)

    def _keep(self, params: Tensor, state: dict[str, Tensor]) -> None:
        for name, value in state.items():  # first: a slot may be where the parameters were
            if value is not self.state[name]:
                self.state[name].copy_(value)
        if params is not self.params:
            self.params.copy_(params)

    def _averaged(self, step: int) -> int:
        """How many results the mean holds after this step; 0 while it takes none."""
        lots = self.rule.lots
        before = self.knobs.steps // 2 // lots
        return max(0, step // lots - before) if step % lots == 0 else 0

    def result(self, step: int) -> Tensor:
        """The candidates' results so far: the mean once it has begun, else the last parameters."""
        lots = self.rule.lots
        if self.mean is not None and step // lots > self.knobs.steps // 2 // lots:
            return self.mean
        return self.params if step % lots == 0 else self.state[self.rule.between]


class CohortTraining:
    """Candidates of one model that step together."""

    def __init__(
        self,
        model: Model,
        examples: Examples,
        candidates: Sequence[Candidate],
        numbers: np.ndarray[Any, np.dtype[np.uint32]],
        steps: int,
        lot_size: float,
        probability: float,
        randomness: Randomness,
        starts: Sequence[CandidateState],
        memory: int,
    ) -> None:
        self.model, self.examples, self.numbers = model, examples, numbers
        self.steps = steps
        self.step = starts[0].step
        device = examples.device
        self._params = torch.stack([s.tensors.get("params", s.result) for s in starts])
        self._clip = Clip.by(candidates, device)
        multipliers = np.array([c.noise_multiplier for c in candidates])
        self._lots = LotSampler(len(examples), probability, numbers, randomness)
        self._noise = NoiseMaker(numbers, multipliers, lot_size, randomness)
        self._groups = list(self._grouped(candidates, lot_size, starts))
        self._sums = torch.empty_like(self._params, dtype=accumulator(math.ceil(lot_size)))
        self._buffers = Buffers(memory, device)

    def _grouped(
        self, candidates: Sequence[Candidate], lot_size: float, starts: Sequence[CandidateState]
    ) -> Iterator[_Group]:
        first = 0
        for (name, averaged), members in groupby(candidates, lambda c: (c.rule, c.average)):
            chosen = list(members)
            rows = slice(first, first + len(chosen))
            params, rule = self._params[rows], optimizer(name)
            knobs = rule.knobs(chosen, self.steps, lot_size)
            state = rule.init(params, knobs)
            mean = torch.zeros_like(params) if averaged else None
            for k, start in enumerate(starts[rows]):
                for slot in state.keys() & start.tensors.keys():
                    state[slot][k] = start.tensors[slot]
                if mean is not None and "mean" in start.tensors:
                    mean[k] = start.tensors["mean"]
            yield _Group(rows, rule, knobs, params, state, mean)
            first += len(chosen)

    def advance(self) -> None:
        """One lot: the whole of what touches the data is in these lines."""
        step = self.step + 1
        lots = self._lots.draw(step)
        total = self.model.clipped_sum(
            self._params, self.examples, lots, self._clip, self._room(lots), self._buffers
        )  # sensitive until the noise is in
        for group in self._groups:
            group.update(total, self._noise, step)
        self.step = step

    def _room(self, lots: Lots) -> Tensor:
        """Where the sums go: of a type that the longest of the lots cannot overflow."""
        kind = accumulator(int(lots.counts.max()))
        if kind.itemsize > self._sums.dtype.itemsize:
            self._sums = self._sums.to(kind)
        return self._sums

    def results(self) -> Tensor:
        """[candidate, parameter]: a copy that stays as it is while training goes on."""
        return torch.cat([group.result(self.step) for group in self._groups])

    def states(self) -> Iterator[CandidateState]:
        done = self.step == self.steps
        for group in self._groups:
            results = group.result(self.step)
            tensors = {} if done else group.state | {"params": group.params}
            if group.mean is not None and not done:
                tensors["mean"] = group.mean
            for k, result in enumerate(results):
                kept = {name: value[k].clone() for name, value in tensors.items()}
                yield CandidateState(self.step, result.clone(), kept)
