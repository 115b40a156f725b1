"""Seeded bugs: a search that does something else than its plan claims.

Some are a plan that differs from the one whose price was worked out; the others stand between the
search and the engine, at `honestdp.executors.local.train`.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest
import torch

from honestdp.executors import local
from honestdp.planning.plan import Plan
from honestdp.privacy.runs import geometric

# Plans


def less_training_noise(plan: Plan, factor: float = 0.9) -> Plan:
    return _with(plan, noise_multiplier=factor * plan.noise_multiplier)


def less_score_noise(plan: Plan, factor: float = 0.9) -> Plan:
    scoring = plan.role_costs.scoring
    assert scoring is not None
    less = replace(scoring, noise=factor * scoring.noise)
    return _with(plan, role_costs=replace(plan.role_costs, scoring=less))


def a_single_run(plan: Plan) -> Plan:
    changed: Any = copy.copy(plan.procedure)
    one = {"gamma": 1.0} if hasattr(changed, "gamma") else {"runs": geometric(1.0)}
    return _with(plan, procedure=replace(changed, **one))


def _with(plan: Plan, **changes: Any) -> Plan:
    """A plan that was not priced anew: `dataclasses.replace` would refuse it."""
    changed = copy.copy(plan)
    for name, value in changes.items():
        object.__setattr__(changed, name, value)
    return changed


# Between the search and the engine


def one_stream_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every candidate trains with the streams of number 0."""
    sound = local.train

    def train(models: Any, rows: Any, candidates: Any, *rest: Any, **options: Any) -> Any:
        options["numbers"] = [0]
        pairs = zip(models, candidates, strict=True)
        return _joined([sound([m], rows, [c], *rest, **options) for m, c in pairs])

    monkeypatch.setattr(local, "train", train)


def one_stream_for_every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both steps have the lots and the noise of the first."""
    sound = local.train

    def train(models: Any, rows: Any, candidates: Any, schedule: Any, *rest: Any, **options: Any):
        step = replace(schedule, steps=1)
        first = sound(models, rows, candidates, step, *rest, **options)
        options["initial"] = torch.stack([first.parameters(i) for i in range(len(models))])
        again = sound(models, rows, candidates, step, *rest, **options)
        return _joined([again])

    monkeypatch.setattr(local, "train", train)


def rows_more_often_in_lots(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = local.train

    def train(models: Any, rows: Any, candidates: Any, schedule: Any, *rest: Any, **options: Any):
        often = replace(schedule, sampling_probability=0.6)
        return sound(models, rows, candidates, often, *rest, **options)

    monkeypatch.setattr(local, "train", train)


def _joined(found: list[Any]) -> Any:
    """What the search reads of a training."""
    return replace(found[0], states=tuple(state for one in found for state in one.states))
