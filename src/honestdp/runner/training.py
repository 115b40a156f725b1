"""Train a plan's draws: which model and candidate, on which rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_matrix
from torch import Tensor

from honestdp.candidates import Candidate, for_lots
from honestdp.engine.cohort_training import CandidateState
from honestdp.engine.examples import Examples, examples
from honestdp.engine.models import Model, size
from honestdp.engine.train import Schedule, Trained, check_rules, check_steps
from honestdp.errors import InputError, fail
from honestdp.executors import Executor, Work
from honestdp.planning.class_weights import Weights
from honestdp.planning.grid import Grid
from honestdp.planning.pipelines import RowEncoding
from honestdp.planning.plan import Plan
from honestdp.planning.spec import Spec
from honestdp.procedures import Draw, Outcome
from honestdp.randomness import Randomness
from honestdp.resume.journal import Journal
from honestdp.runner.private_data import Part, PrivateData, schedules
from honestdp.runner.progress import Report, tell
from honestdp.runner.scoring import FINAL


def models_of(plan: Plan) -> list[Model]:
    """The model of every setting. Raises InputError, before anything is paid, if one cannot be
    trained on rows of this form; checked on made-up rows."""
    models = built_models(plan.spec, plan.grid)
    check_steps(plan.candidates, plan.training.steps)
    check_rules(plan.candidates, plan.training.steps, plan.lot_sizes[0])
    schedules(plan)
    return models


def built_models(spec: Spec, grid: Grid) -> list[Model]:
    """The model of every setting of a spec's grid, checked on made-up rows."""
    models = list[Model]()
    made: list[tuple[tuple[int, dict[str, Any], Weights | None], Model]] = []
    for i, place in enumerate(spec.pipeline_of):  # equal options share a model, to train together
        wanted = place, grid.model_options(i), spec.weights_of(grid.settings[i])
        known = [model for built, model in made if built == wanted]
        if not known:
            built = spec.pipelines[place].described.build(wanted[1])
            known = [_weighted(built, wanted[2])]
            made.append((wanted, known[0]))
        models += known[:1]
    for (place, *_), model in made:
        rows = _made_up(spec.pipelines[place].encoding, spec.classes)
        model.check(rows)
        model.check_sums(rows)
    return models


def _weighted(model: Model, weights: Weights | None) -> Model:
    """The model with weights of classes in its loss; raises InputError if it takes none."""
    if weights is None:
        return model
    found = model.weighted(weights)
    if not isinstance(found, Model) or found.loss.weights != weights:
        kind = type(model).__name__
        raise InputError(f"class_weight: the loss of a {kind} does not take it; leave it out")
    return found


def _made_up(encoding: RowEncoding, classes: int | None) -> Examples:
    """Two rows of the form that a model will read."""
    inputs: Any = np.zeros((2, encoding.schema.width), np.float32)
    if encoding.may_be_sparse and encoding.schema.sparse:
        inputs = csr_matrix(inputs)
    return examples(inputs, np.zeros(2, np.float32 if classes is None else np.int64))


def rescaled(plan: Plan, candidate: Candidate, rest: Schedule) -> Candidate:
    """The winner of a tuning subset, its learning rate scaled to the larger lots of the rest."""
    return for_lots(candidate, rest.steps, plan.lot_sizes[0], rest.lot_size)


def _check_trained(executor: Executor, found: object, count: int) -> None:
    """An executor returned the state of every training."""
    if not isinstance(found, Trained):
        remedy = f"train returned a {type(found).__name__}; return a Trained, as local does"
        raise fail("executor", executor.name, remedy)
    if len(found.states) != count:  # the number is secret
        remedy = "train must return one state per candidate, in their order"
        raise fail("executor", executor.name, remedy)


@dataclass(frozen=True, eq=False, repr=False)
class Trainer:
    """Trains the draws of a plan. `report` gets the progress if all candidates are released. The
    journal can pause a training to save its state, and can end it."""

    plan: Plan
    models: Sequence[Model]
    randomness: Randomness
    journal: Journal
    report: Report | None
    executor: Executor

    def train(self, draws: Sequence[Draw], data: PrivateData) -> list[Tensor]:
        """The parameters of every draw."""
        every = self.plan.candidates  # made anew by each call
        candidates = [every[draw.setting] for draw in draws]
        return self._train(draws, candidates, [data.of(draw).train for draw in draws])

    def final(self, kept: Sequence[Outcome], data: PrivateData) -> list[Outcome]:
        """The winner of a tuning subset, trained on the rest of the rows."""
        winner = kept[0]
        rest = data.of(winner.draw).rest
        assert rest is not None
        candidate = rescaled(self.plan, self.plan.candidates[winner.draw.setting], rest.schedule)
        found = self._train([Draw(FINAL, winner.draw.setting)], [candidate], [rest])
        return [replace(winner, parameters=found[0])]

    def _train(
        self, draws: Sequence[Draw], candidates: Sequence[Candidate], parts: Sequence[Part]
    ) -> list[Tensor]:
        """Train draws, together those that read the same rows. parts: The rows of each."""
        models = [self.models[draw.setting] for draw in draws]
        states = self.journal.under_way(draws) or list(map(_not_begun, models))
        done = 0
        for part in dict.fromkeys(parts):
            own = [i for i, one in enumerate(parts) if one is part]
            work = Work(
                [models[i] for i in own],
                part.rows,
                [candidates[i] for i in own],
                part.schedule,
                self.randomness,
                numbers=[draws[i].number for i in own],
                progress=self._progress(draws, done, len(own)),
            )
            found = self._under_way(work, [states[i] for i in own])
            while found is None or not found.finished:
                # A new `stop` for every round: each allows at least one step.
                found = self.executor.train(replace(work, stop=self.journal.stop), found)
                _check_trained(self.executor, found, len(own))
                for i, state in zip(own, found.states, strict=True):
                    states[i] = state
                self.journal.note(draws, states)
            done += len(own)
        return [state.result for state in states]

    def _under_way(self, work: Work, states: Sequence[CandidateState]) -> Trained | None:
        """The saved state of a training in an interrupted run; None if it had not begun."""
        if all(state.step == 0 for state in states):
            return None
        what = tuple(work.models), tuple(work.candidates), tuple(work.numbers), work.schedule
        return Trained(*what, self.randomness.simulated, len(work.rows), tuple(states), ())

    def _progress(
        self, draws: Sequence[Draw], done: int, count: int
    ) -> Callable[[int, int], None] | None:
        """A callback for `count` of the draws, `done` of which are trained already; None if the
        progress would reveal K. Where all are released, draws are numbered by setting."""
        if self.report is None or not self.plan.shows_all:
            return None
        before, every = draws[0].number + done, len(self.plan.grid)

        def report(steps: int, total: int) -> None:
            tell(self.report, "searching", (before + count * steps / total) / every)

        return report


def _not_begun(model: Model) -> CandidateState:
    return CandidateState(0, torch.zeros(size(model)), {})
