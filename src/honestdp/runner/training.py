"""Train a plan's draws: which model and candidate, on which rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from torch import Tensor

from honestdp.candidates import Candidate
from honestdp.engine.examples import examples
from honestdp.engine.models import Model
from honestdp.engine.train import Schedule, Trained, check_rules, check_steps
from honestdp.errors import fail
from honestdp.executors import Executor, Work
from honestdp.optimizers import optimizer
from honestdp.planning.plan import Plan
from honestdp.procedures import Draw, Outcome
from honestdp.randomness import Randomness
from honestdp.resume.journal import Journal
from honestdp.runner.private_data import Part, schedules
from honestdp.runner.progress import Report, tell
from honestdp.runner.scoring import FINAL


def models_of(plan: Plan) -> list[Model]:
    """The model of every setting. Raises InputError, before anything is paid, if one cannot be
    trained on rows of this form; checked on made-up rows."""
    spec = plan.spec
    options = [plan.grid.model_options(i) for i in range(len(plan.grid))]
    made: list[tuple[dict[str, Any], Model]] = []
    for given in options:  # equal options share a model, so that they can train together
        if all(given != known for known, _ in made):
            made.append((given, spec.described.build(given)))
    models = [next(model for known, model in made if known == given) for given in options]
    inputs: Any = np.zeros((2, spec.encoding.width), np.float32)
    if plan.reads_sparse and spec.encoding.sparse:
        inputs = csr_matrix(inputs)
    made_up = examples(inputs, np.zeros(2, np.float32 if spec.classes is None else np.int64))
    for model in dict.fromkeys(models):
        model.check(made_up)
        model.check_sums(made_up)
    check_steps(plan.candidates, plan.training.steps)
    check_rules(plan.candidates, plan.training.steps, plan.lot_sizes[0])
    schedules(plan)
    return models


def rescaled(plan: Plan, candidate: Candidate, rest: Schedule) -> Candidate:
    """The winner of a tuning subset, its learning rate scaled to the larger lots of the rest."""
    rule = optimizer(candidate.rule)
    if not rule.scales_with_lot:
        return candidate
    rate = rule.rate(candidate, rest.steps, rest.lot_size)
    return replace(candidate, learning_rate=rate * (rest.lot_size / plan.lot_sizes[0]))


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

    def train(self, draws: Sequence[Draw], part: Part) -> list[Tensor]:
        """The parameters of every draw."""
        return self._train(draws, [self.plan.candidates[draw.setting] for draw in draws], part)

    def final(self, kept: Sequence[Outcome], rest: Part) -> list[Outcome]:
        """The winner of a tuning subset, trained on the rest of the rows."""
        winner = kept[0]
        candidate = rescaled(self.plan, self.plan.candidates[winner.draw.setting], rest.schedule)
        found = self._train([Draw(FINAL, winner.draw.setting)], [candidate], rest)
        return [replace(winner, parameters=found[0])]

    def _train(
        self, draws: Sequence[Draw], candidates: Sequence[Candidate], part: Part
    ) -> list[Tensor]:
        models = [self.models[draw.setting] for draw in draws]
        work = Work(
            models,
            part.rows,
            candidates,
            part.schedule,
            self.randomness,
            numbers=[draw.number for draw in draws],
            # The progress of a best-of-K search would reveal K.
            progress=self._progress(draws) if self.report and self.plan.shows_all else None,
        )
        found = self._under_way(draws, models, candidates, part)
        while found is None or not found.finished:
            # A new `stop` for every round: each allows at least one step.
            found = self.executor.train(replace(work, stop=self.journal.stop), found)
            _check_trained(self.executor, found, len(draws))
            self.journal.note(draws, found.states)
        return [found.parameters(i) for i in range(len(draws))]

    def _under_way(
        self,
        draws: Sequence[Draw],
        models: Sequence[Model],
        candidates: Sequence[Candidate],
        part: Part,
    ) -> Trained | None:
        """The saved state of this training in an interrupted run; None if it had not begun."""
        states = self.journal.under_way(draws)
        if states is None:
            return None
        numbers = tuple(draw.number for draw in draws)
        simulated, rows = self.randomness.simulated, len(part.rows)
        what = tuple(models), tuple(candidates), numbers, part.schedule, simulated, rows
        return Trained(*what, tuple(states), ())

    def _progress(self, draws: Sequence[Draw]) -> Callable[[int, int], None]:
        """A callback for one group; where all are released, draws are numbered by setting."""
        before, every = draws[0].number, len(self.plan.grid)

        def report(done: int, total: int) -> None:
            tell(self.report, "searching", (before + len(draws) * done / total) / every)

        return report
