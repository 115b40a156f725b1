"""Training many candidates: lots, clipped sums, noise, update; step by step, cohort by cohort.

What may be looked at: parameters, and what is computed from them alone. Every one of them
is a function of noisy means, so it is private as accounted. Clipped sums, lots and
gradients never leave this module. No control flow depends on a value in the data: a
candidate that diverges trains on to its end with whatever numbers it has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event, Lock
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from honestdp.candidates import Candidate
from honestdp.engine.cohort_training import CandidateState, CohortTraining
from honestdp.engine.cohorts import Cohort, cohorts, default_workers
from honestdp.engine.examples import Examples
from honestdp.engine.models import Model, size
from honestdp.errors import InputError, between, fail, one_line, positive_integer, unit
from honestdp.optimizers import optimizer
from honestdp.randomness import Purpose, Randomness

MEMORY = 256 << 20  # bytes of work space a worker may use for one chunk of a lot


@dataclass(frozen=True)
class Schedule:
    """How many lots a training reads, and how large they are.

    Args:
        steps: Number of lots (the paper's T).
        lot_size: What the sum over a lot is divided by (the paper's L).
        sampling_probability: The probability of each row to be in a lot. None: lot_size / rows, so
            that lot_size is the expected size of a lot. Give it if the number of rows is itself a
            secret, as in a random subset: then neither the probability nor the divisor depends on
            that number.

    Raises:
        InputError: If a value is out of bounds.

    Example:
        >>> Schedule(steps=1000, lot_size=250).probability(rows=10000)
        0.025
    """

    steps: int
    lot_size: float
    sampling_probability: float | None = None

    def __post_init__(self) -> None:
        if positive_integer("steps", self.steps) >= 2**32:
            raise fail("steps", self.steps, "must be below 4294967296, what a stream can name")
        object.__setattr__(self, "lot_size", between(1e-3, 2**31, "lot_size", self.lot_size))
        if self.sampling_probability is not None:
            unit("sampling_probability", self.sampling_probability)

    def probability(self, rows: int) -> float:
        """The probability of each row to be in a lot.

        Args:
            rows: Number of rows.
        """
        return self.sampling_probability or self.lot_size / rows


@dataclass(frozen=True, eq=False, repr=False)
class Snapshot:
    """What an observer of `train` sees: the parameters of some candidates after a step.

    Attributes:
        step: Number of lots read so far.
        numbers: The candidates' numbers.
        model: Their model.
        parameters: Their results so far, [candidate, parameter].
    """

    step: int
    numbers: tuple[int, ...]
    model: Model
    parameters: Tensor


@dataclass(frozen=True, eq=False, repr=False)
class Trained:
    """What `train` returns: the trained candidates, and how far each of them came.

    Attributes:
        models: The model of each candidate.
        candidates: The settings that were trained.
        numbers: The candidates' numbers in the random streams.
        schedule: Steps and lots.
        simulated: Whether the randomness was a simulation, which is not private.
        rows: Number of rows they were trained on.
        states: Where each candidate stopped: its step, its parameters and what it needs to go on.
        record: (step, candidates' numbers, what the observer returned), ordered by step.
    """

    models: tuple[Model, ...]
    candidates: tuple[Candidate, ...]
    numbers: tuple[int, ...]
    schedule: Schedule
    simulated: bool
    rows: int
    states: tuple[CandidateState, ...]
    record: tuple[tuple[int, tuple[int, ...], Any], ...]

    @property
    def finished(self) -> bool:
        """Whether every candidate has read all its lots."""
        return all(state.step == self.schedule.steps for state in self.states)

    def parameters(self, index: int) -> Tensor:
        """The result of one candidate: its parameters as one row; `named` splits it by layer.

        Args:
            index: The candidate's place in `candidates`.
        """
        return self.states[index].result

    @property
    def stacked(self) -> Tensor:
        """All results, [candidate, parameter]; only if all models have equally many parameters."""
        return torch.stack([state.result for state in self.states])


def train(
    model: Model | Sequence[Model],
    examples: Examples,
    candidates: Sequence[Candidate],
    schedule: Schedule,
    randomness: Randomness,
    *,
    numbers: Sequence[int] | None = None,
    initial: Sequence[Tensor] | Tensor | None = None,
    observe: Callable[[Snapshot], Any] | None = None,
    observe_every: int = 100,
    progress: Callable[[int, int], None] | None = None,
    stop: Callable[[], bool] | None = None,
    resume: Trained | None = None,
    workers: int | None = None,
    memory: int = MEMORY,
) -> Trained:
    """Train every candidate for `schedule.steps` lots; models of equal shape train together.

    It accounts for nothing: see the package for what the caller has to pay for.

    Args:
        model: One model for all candidates, or one for each.
        examples: The rows to train on, from `examples(X, y)`. Sensitive.
        candidates: The settings to train.
        schedule: Steps and lots.
        randomness: The source of lots, noise and starting parameters.
        numbers: The numbers that identify the candidates' random streams; by default 0, 1, and so
            on. A number can be used once for each Randomness. The result of a candidate depends on
            its number, not on its place or on the other candidates.
        initial: Starting parameters, [candidate, parameter]; by default the model draws them.
        observe: Called with a `Snapshot` every `observe_every` steps and at the end, from the
            worker threads, one call at a time. What it returns is recorded. A snapshot holds
            parameters only; whatever the function computes from protected rows is a release that
            is not accounted for.
        observe_every: Steps between two calls of `observe`.
        progress: Called with the steps done and the steps in total, both summed over candidates.
        stop: Called before every step. Once it returns True, training ends early, and the result
            can be passed as `resume`.
        resume: The result of a training that was stopped; all other arguments must be the same. In
            a simulation the resumed training gives the same result as one that was never stopped;
            in production it goes on with fresh noise.
        workers: Number of threads, each of which trains a group of candidates; by default one per
            core.
        memory: Bytes of work space per worker for one chunk of a lot.

    Returns:
        The trained candidates.

    Raises:
        InputError: If an argument is wrong, if the model cannot be trained on these rows, or if the
            randomness was already used for one of these numbers.

    Example:
        >>> from honestdp.engine import Linear, examples
        >>> rows = examples([[0.0], [1.0]] * 50, [0, 1] * 50)
        >>> grid = [Candidate(noise_multiplier=1.0, learning_rate=rate) for rate in (0.01, 0.1)]
        >>> lots = Schedule(steps=20, lot_size=10)
        >>> train(Linear(features=1, classes=2), rows, grid, lots, Randomness()).stacked.shape
        torch.Size([2, 2])
    """
    _kind("examples", examples, Examples, "examples(X, y)")
    _kind("schedule", schedule, Schedule, "Schedule(steps=1000, lot_size=250)")
    _kind("randomness", randomness, Randomness, "Randomness() or Randomness.simulation(1)")
    models, candidates = _models(model, candidates), tuple(candidates)
    numbers = _numbers(numbers, len(candidates))
    _check(models, examples, candidates, schedule)
    if observe is not None:
        positive_integer("observe_every", observe_every)
    positive_integer("memory", memory)
    workers = default_workers(examples.device) if workers is None else workers
    positive_integer("workers", workers)
    what = (
        models, candidates, tuple(numbers), schedule, randomness.simulated, len(examples)
    )  # fmt: skip
    states = list(
        _resumed(resume, what)
        if resume
        else _starts(models, candidates, numbers, randomness, initial, examples)
    )
    todo = [i for i in range(len(states)) if states[i].step < schedule.steps]
    watch = _Watch(
        observe,
        observe_every,
        progress,
        stop,
        done=sum(state.step for state in states),
        total=schedule.steps * len(states),
        record=list(resume.record) if resume else [],
    )

    def work(cohort: Cohort) -> None:
        members = [todo[i] for i in cohort.members]
        with torch.no_grad():
            made = CohortTraining(
                cohort.model,
                examples,
                [candidates[i] for i in members],
                np.array([numbers[i] for i in members], dtype=np.uint32),
                schedule.steps,
                schedule.lot_size,
                schedule.probability(len(examples)),
                randomness,
                [states[i] for i in members],
                memory,
            )
            _run(made, schedule.steps, randomness, watch)
            for i, state in zip(members, made.states(), strict=True):
                states[i] = state

    plan = cohorts(
        [models[i] for i in todo],
        [candidates[i] for i in todo],
        [states[i].step for i in todo],
        workers,
    )
    _in_parallel(work, plan, workers, watch)
    record = sorted(watch.record, key=lambda entry: entry[0])
    return Trained(*what, tuple(states), tuple(record))


def _run(work: CohortTraining, steps: int, randomness: Randomness, watch: _Watch) -> None:
    with randomness.claimed(work.numbers.tolist(), work.step + 1) as claim:
        while work.step < steps and not watch.stopped():
            claim.last = work.step + 1  # before the streams are read, not after
            work.advance()
            watch.after(work, steps)


class _Watch:
    """What the outside sees of a training, and how it stops it; shared by the workers."""

    def __init__(
        self,
        observe: Callable[[Snapshot], Any] | None,
        every: int,
        progress: Callable[[int, int], None] | None,
        stop: Callable[[], bool] | None,
        *,
        done: int,
        total: int,
        record: list[tuple[int, tuple[int, ...], Any]],
    ) -> None:
        self.observe, self.every, self.progress, self.stop = observe, every, progress, stop
        self.done, self.total, self.record = done, total, record
        self.halt = Event()
        self._lock = Lock()

    def stopped(self) -> bool:
        if self.stop is not None and not self.halt.is_set() and self.stop():
            self.halt.set()
        return self.halt.is_set()

    def after(self, work: CohortTraining, steps: int) -> None:
        step = work.step
        if self.observe and (step % self.every == 0 or step == steps):
            numbers = tuple(work.numbers.tolist())
            with self._lock:
                seen = self.observe(Snapshot(step, numbers, work.model, work.results()))
                self.record.append((step, numbers, seen))
        if self.progress:
            with self._lock:
                self.done += len(work.numbers)
                self.progress(self.done, self.total)


def _in_parallel(
    work: Callable[[Cohort], None], plan: Sequence[Cohort], workers: int, watch: _Watch
) -> None:
    """Cohorts over threads: torch and the kernels let go of Python's lock while they compute."""
    threads = torch.get_num_threads()
    # The largest first, so that none is left over at the end.
    order = sorted(plan, key=lambda cohort: -len(cohort.members) * size(cohort.model))
    pool = ThreadPoolExecutor(workers, initializer=lambda: torch.set_num_threads(1))
    try:
        for future in [pool.submit(work, cohort) for cohort in order]:
            future.result()
    except BaseException:
        watch.halt.set()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        torch.set_num_threads(threads)


def _kind(name: str, value: object, kind: type, example: str) -> None:
    """Names the type alone: a value in the wrong place may be data."""
    if not isinstance(value, kind):
        raise InputError(f"{name}: is a {type(value).__name__}; give {example}")


def _models(model: Model | Sequence[Model], candidates: Sequence[Candidate]) -> tuple[Model, ...]:
    if not isinstance(candidates, Sequence) or not candidates:
        raise InputError("candidates: give a list of at least one")
    for candidate in candidates:
        _kind("candidates", candidate, Candidate, "Candidate(noise_multiplier=1.0)")
    if isinstance(model, nn.Module):  # before Sequential is taken for a sequence of models
        raise InputError("model: is a bare nn.Module; wrap it, Module(net, classes=...)")
    if isinstance(model, Sequence):
        if len(model) != len(candidates):
            raise InputError(
                f"{len(model)} models for {len(candidates)} candidates: give one, or one each"
            )
        return tuple(model)
    return (model,) * len(candidates)


def _numbers(numbers: Sequence[int] | None, count: int) -> list[int]:
    chosen = list(range(count)) if numbers is None else list(numbers)
    if len(chosen) != count or len(set(chosen)) != count:
        raise InputError(f"numbers: {count} candidates need {count} different numbers")
    if not all(isinstance(n, int | np.integer) and 0 <= n < 2**32 for n in chosen):
        raise InputError("numbers: must be whole and lie between 0 and 4294967295")
    return [int(n) for n in chosen]


def _check(
    models: Sequence[Model],
    examples: Examples,
    candidates: Sequence[Candidate],
    schedule: Schedule,
) -> None:
    if schedule.sampling_probability is None and schedule.lot_size > len(examples):
        raise fail("lot_size", schedule.lot_size, f"must be at most the {len(examples)} rows")
    check_steps(candidates, schedule.steps)
    for model in dict.fromkeys(models):
        model.check(examples)
        model.check_sums(examples)


def check_steps(candidates: Sequence[Candidate], steps: int) -> None:
    """Raise unless every candidate's rule can read this many lots."""
    for candidate in candidates:
        lots = optimizer(candidate.rule).lots
        if steps % lots:
            raise fail(
                "steps", steps, f"{candidate.rule} reads {lots} lots a step; give a multiple"
            )


def check_rules(candidates: Sequence[Candidate], steps: int, lot_size: float) -> None:
    """Raise InputError unless every candidate's rule makes a step from made-up numbers."""
    for candidate in {one.rule: one for one in candidates}.values():
        rule = optimizer(candidate.rule)
        knobs, params = rule.knobs([candidate], steps, lot_size), torch.zeros(1, 2)
        try:
            state = rule.init(params, knobs)
            for t in range(1, rule.lots + 1):
                params, state = rule.update(torch.full((1, 2), 0.1), params, state, knobs, t)
        except InputError:
            raise
        except Exception as error:  # raised by the code of the rule
            reason = one_line(error)
            raise fail("rule", candidate.rule, f"fails on made-up numbers ({reason})") from error


def _resumed(resume: Trained, what: tuple[Any, ...]) -> Sequence[CandidateState]:
    fields = ("models", "candidates", "numbers", "schedule", "simulated", "rows")
    was = tuple(getattr(resume, field) for field in fields)
    names = (*fields[:4], "randomness (simulation or not)", "rows (their number)")
    for name, before, now in zip(names, was, what, strict=True):
        if before != now:
            raise InputError(f"resume: was made with other {name}; pass what it was made with")
    return resume.states


def _starts(
    models: Sequence[Model],
    candidates: Sequence[Candidate],
    numbers: Sequence[int],
    randomness: Randomness,
    initial: Sequence[Tensor] | Tensor | None,
    examples: Examples,
) -> Sequence[CandidateState]:
    if initial is not None and len(initial) != len(candidates):
        raise InputError(f"initial: {len(initial)} rows for {len(candidates)} candidates")
    made = []
    for i, (model, candidate) in enumerate(zip(models, candidates, strict=True)):
        if initial is not None:
            start = torch.as_tensor(initial[i]).detach().clone().float()
            if start.shape != (size(model),):
                raise InputError(
                    f"initial: row {i} has shape {tuple(start.shape)}, "
                    f"the model {size(model)} parameters"
                )
        else:
            draws = randomness.uniforms(Purpose.START, numbers[i], 0, size(model))
            uniforms = torch.from_numpy(draws).float()
            start = model.initial(uniforms, candidate.initial_scale)
        made.append(CandidateState(0, start.to(examples.device), {}))
    return made
