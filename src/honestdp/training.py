"""From a plan's settings to trained parameters: which model, which candidate, on which rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from torch import Tensor

from honestdp.candidates import Candidate
from honestdp.engine.examples import examples
from honestdp.engine.models import Linear, Model, TwoLayer
from honestdp.engine.train import check_steps, train
from honestdp.errors import InputError, fail
from honestdp.planning.plan import Plan
from honestdp.planning.spec import HIDDEN, Spec
from honestdp.private_data import Part, schedules
from honestdp.randomness import Randomness
from honestdp.sealing import Progress, tell
from honestdp.select import Draw, Outcome

Report = Callable[[Progress], None] | None

_FINAL = 2**32 - 2  # the stream number of the training after the search: no draw has it
_SCALED = (
    "dpsgd",
    "dpmomentum",
)  # their steps follow the lot's sum; the other rules size their own


def models_of(plan: Plan) -> list[Model]:
    """The model of every setting. Raises if one cannot be trained on such rows by such steps:
    before anything is paid, on rows made up."""
    spec = plan.spec
    models = [_model(spec, plan.grid.model_options(i)) for i in range(len(plan.grid))]
    inputs: Any = np.zeros((2, spec.schema.width), np.float32)
    if plan.reads_sparse and spec.schema.sparse:
        inputs = csr_matrix(inputs)
    made_up = examples(inputs, np.zeros(2, np.float32 if spec.classes is None else np.int64))
    for model in dict.fromkeys(models):
        model.check(made_up)
    check_steps(_candidates(plan), plan.training.steps)
    schedules(plan)
    return models


def _model(spec: Spec, options: dict[str, object]) -> Model:
    if not isinstance(spec.model, str):
        if options:
            raise fail("grid", sorted(options), "options of a model that is given ready-made")
        return spec.model
    known = {"width", "activation"} if spec.model == "mlp" else set()
    if options.keys() - known:
        unknown = ", ".join(f"model__{name}" for name in sorted(options.keys() - known))
        raise InputError(f"grid: {unknown}: {spec.model} has no such option")
    if spec.model == "mlp":
        return TwoLayer(spec.schema.width, spec.classes, **{"width": HIDDEN, **options})  # type: ignore[arg-type]
    return Linear(spec.schema.width, spec.classes)


def _candidates(plan: Plan) -> list[Candidate]:
    return plan.grid.candidates(plan.noise_multiplier, plan.row_norm[0])


def trained(
    plan: Plan,
    models: Sequence[Model],
    draws: Sequence[Draw],
    part: Part,
    randomness: Randomness,
    report: Report,
    workers: int | None,
) -> list[Tensor]:
    """The parameters of every draw."""
    candidates = _candidates(plan)
    return _train(
        plan,
        [models[draw.setting] for draw in draws],
        [candidates[draw.setting] for draw in draws],
        [draw.number for draw in draws],
        part,
        randomness,
        report,
        workers,
    )


def final(
    plan: Plan,
    models: Sequence[Model],
    kept: Sequence[Outcome],
    rest: Part,
    randomness: Randomness,
    report: Report,
    workers: int | None,
) -> list[Outcome]:
    """The winner of a tuning subset, trained on the rest of the rows."""
    winner = kept[0]
    setting = winner.draw.setting
    candidate = _candidates(plan)[setting]
    if candidate.rule in _SCALED:
        assert candidate.learning_rate is not None
        ratio = rest.schedule.lot_size / schedules(plan)[0].lot_size
        candidate = replace(candidate, learning_rate=candidate.learning_rate * ratio)
    found = _train(
        plan, [models[setting]], [candidate], [_FINAL], rest, randomness, report, workers
    )
    return [replace(winner, parameters=found[0])]


def _train(
    plan: Plan,
    models: Sequence[Model],
    candidates: Sequence[Candidate],
    numbers: Sequence[int],
    part: Part,
    randomness: Randomness,
    report: Report,
    workers: int | None,
) -> list[Tensor]:
    def told(done: int, total: int) -> None:
        tell(report, "searching", done / total)

    found = train(
        models,
        part.rows,
        candidates,
        part.schedule,
        randomness,
        numbers=numbers,
        # How far a sealed search has come would tell how long it is.
        progress=told if report and plan.shows_all else None,
        workers=workers,
    )
    return [found.parameters(i) for i in range(len(candidates))]
