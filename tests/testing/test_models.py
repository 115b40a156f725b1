"""The contract of models: the library's keep it, a user's in one file works everywhere."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from quadratic import Quadratic, QuadraticArchitecture
from torch import nn

from honestdp import HonestSearch, InputError, Schema, Spec, load, make_plan
from honestdp.engine import Linear, Module, TwoLayer
from honestdp.engine.clipping import ClippedSum
from honestdp.engine.losses import Loss
from honestdp.engine.models.gradients import GradientModel
from honestdp.models import architectures, describe, model_names
from honestdp.runner.run import run
from honestdp.testing import check_model

SCHEMA = Schema(
    name="toy",
    unit="one row",
    target={"column": "y", "classes": ["no", "yes"]},
    columns=[
        {"name": n, "kind": "numeric", "bounds": [-2, 2], "encode": "linear"} for n in ("a", "b")
    ],
)


architectures.unregister(QuadraticArchitecture.name)  # other tests list what the library has


@pytest.fixture(autouse=True)
def registered():
    architectures.register(QuadraticArchitecture)
    yield
    architectures.unregister(QuadraticArchitecture.name)


def table(rows: int = 300):
    draws = np.random.default_rng(0)
    a, b = draws.uniform(-2, 2, (2, rows))
    return {"a": a, "b": b, "y": np.where(a**2 + b**2 > 2.5, "yes", "no")}


class Net(nn.Module):
    def __init__(self, outputs: int = 1) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(3, 4), nn.Linear(4, outputs)

    def forward(self, x):
        return self.last(torch.tanh(self.first(x)))


def module(features, classes):
    outputs = 1 if classes in (None, 2) else classes
    return Module(Net, classes, options={"outputs": outputs})


@pytest.mark.parametrize("make", [Linear, TwoLayer, Quadratic], ids=lambda one: one.__name__)
def test_models_keep_the_contract(make):
    check_model(make)


def test_modules_keep_the_contract():
    check_model(module, module=Net)


def test_one_from_outside_runs_and_is_saved(tmp_path):
    assert "quadratic" in model_names()
    grid = {"rule": "dpadam", "learning_rate": [0.5, 1.0], "module__reach": [0.5, 1.0]}
    facts = {"schema": SCHEMA, "rows": 300, "epsilon": 20.0, "steps": 60, "lot_size": 60}
    spec = Spec(**facts, model="quadratic", grid=grid, procedure="composition")
    assert spec.parameters == 5
    assert spec.model_name == "quadratic"
    release = run(make_plan(spec), table(), seed=1)
    assert (release.predict(table()) == table()["y"]).mean() > 0.8
    assert {one.model.reach for one in release.candidates} == {0.5, 1.0}
    release.save(tmp_path / "run")
    found = load(tmp_path / "run")
    np.testing.assert_array_equal(found.predict_proba(table()), release.predict_proba(table()))
    assert found.winner.model == release.winner.model


def test_it_is_a_model_of_the_estimators_too():
    data = table()
    X, y = np.stack([data["a"], data["b"]], 1), data["y"]
    made = HonestSearch("quadratic", epsilon=8.0, schema=SCHEMA, random_state=1, steps=60,
                        module__reach=0.5).fit(X, y)  # fmt: skip
    assert made.release_.winner.model.reach == 0.5


def test_a_ready_model_is_planned_as_its_name_is():
    ready, name = describe(Linear(4, 2), 4, 2), describe("logistic", 4, 2)
    for fact in ("parameters", "reads_sparse", "steps_factor"):
        assert getattr(ready, fact) == getattr(name, fact)
    for wide in (False, True):
        assert ready.setting(2, wide) == name.setting(2, wide)
    assert ready.words == "Linear of 5 parameters"


def test_options_are_checked():
    for options, said in (
        ({"reach": 2.0}, "reach=2.0: must be above 0 and at most 1"),
        ({"width": 3}, "grid: module__width: quadratic has no such option"),
    ):
        with pytest.raises(InputError, match=said):
            describe("quadratic", 2, 2).build(options)


# What goes wrong is said


@dataclass(frozen=True)
class Unclipped(Quadratic):
    """Rounds, and does not clip."""

    def clipped_sum(self, params, examples, lots, clip, out, buffers):
        made = super().clipped_sum(params, examples, lots, clip, out, buffers)
        return ClippedSum(made.units * 2, clip.bound)


@dataclass(frozen=True)
class InFloats(Quadratic):
    def clipped_sum(self, params, examples, lots, clip, out, buffers):
        made = super().clipped_sum(params, examples, lots, clip, out, buffers)
        return ClippedSum(made.units.float(), clip.bound)


@dataclass(frozen=True)
class Counts(Quadratic):
    """Adds one for every row, null or not."""

    def clipped_sum(self, params, examples, lots, clip, out, buffers):
        made = super().clipped_sum(params, examples, lots, clip, out, buffers)
        made.units[:, 0] += len(examples)
        return made


@dataclass(frozen=True)
class Forgets(Quadratic):
    """Has an option that its architecture does not save."""

    kind = "linear"


@dataclass(frozen=True)
class Mixes(Quadratic):
    def outputs(self, params, inputs):
        return super().outputs(params, inputs - inputs.mean(0))


@dataclass(frozen=True)
class Deaf(Quadratic):
    """Takes weights and leaves them out of its loss."""

    @property
    def loss(self):
        return Loss.of(self.classes)


@dataclass(frozen=True)
class WeighsLate(Quadratic):
    """Multiplies by the weight of a class after the clip."""

    def clipped_sum(self, params, examples, lots, clip, out, buffers):
        plain = replace(self, class_weight=None)
        made = GradientModel.clipped_sum(plain, params, examples, lots, clip, out, buffers)
        most = 1 if self.class_weight is None else int(max(self.class_weight))
        return ClippedSum(made.units * most, clip.bound)


WRONG = {
    "the weights of its loss are None": Deaf,
    "a weight makes an example longer": WeighsLate,
    "NOT PRIVATE": Unclipped,
    "must be whole numbers": InFloats,
    "null records": Counts,
    "cannot be read again": Forgets,
    "depend on other rows|from the clipped gradients": Mixes,
}


@pytest.mark.parametrize("words", WRONG)
def test_what_is_wrong_with_a_model_is_said(words):
    with pytest.raises(AssertionError, match=words):
        check_model(WRONG[words], classes=[2])
