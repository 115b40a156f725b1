"""The contract of optimizers: the library's keep it, a user's in one file works everywhere."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from nesterov import Nesterov, nesterov

from honestdp import InputError, Schema, Spec, load, make_plan
from honestdp.candidates import Candidate
from honestdp.compiled import fingerprint
from honestdp.optimizers import Hyperparameter, Optimizer, fraction, optimizer, optimizers
from honestdp.runner.run import run
from honestdp.runner.training import rescaled
from honestdp.testing import check_optimizer

OWN = ("adadp", "balanced", "dpadam", "dpadambc", "dpadamwosm", "dpmomentum", "dpsgd")
MORE = {"dpadam": {"beta1": 0.5, "beta2": 0.9}, "balanced": {"kappa": 0.5}, "dpsgd": {}}

SCHEMA = Schema(
    name="toy",
    unit="one row",
    target={"column": "y", "classes": ["no", "yes"]},
    columns=[{"name": n, "kind": "numeric", "bounds": [-2, 2]} for n in ("a", "b")],
)


optimizers.unregister(Nesterov.name)  # other tests list what the library has


@pytest.fixture(autouse=True)
def registered():
    optimizers.register(Nesterov)
    yield
    optimizers.unregister(Nesterov.name)


def table(rows: int = 300):
    draws = np.random.default_rng(0)
    a, b = draws.uniform(-2, 2, (2, rows))
    return {"a": a, "b": b, "y": np.where(a + b > 0, "yes", "no")}


def test_the_librarys_own_are_found():
    assert set(OWN) <= set(optimizers.names())
    assert all(optimizer(name).summary for name in OWN)


@pytest.mark.parametrize("name", OWN)
def test_every_optimizer_keeps_the_contract(name):
    check_optimizer(optimizers.get(name), **MORE.get(name, {}))


def test_one_from_outside_keeps_it_too():
    check_optimizer(Nesterov, nesterov=0.5)


def plan(**more):
    grid = {"rule": "nesterov", "learning_rate": [0.5, 1.0], "nesterov": [0.0, 0.9]}
    given = {"grid": grid, "procedure": "composition", **more}
    facts = {"schema": SCHEMA, "rows": 300, "epsilon": 8.0, "steps": 20, "lot_size": 50}
    return make_plan(Spec(**facts, **given))


def test_one_from_outside_runs_resumes_and_is_saved(tmp_path):
    """In a grid, through kernels, state, card and files."""
    whole = run(plan(), table(), seed=1)
    assert whole.winner.setting["nesterov"] in (0.0, 0.9)
    assert (whole.predict(table()) == table()["y"]).mean() > 0.8
    parameters = [one.parameters for one in whole.candidates]
    assert len({tuple(p.tolist()) for p in parameters}) == 4  # every hyperparameter is read
    whole.save(tmp_path / "run")
    found = load(tmp_path / "run")
    assert found.winner.setting == whole.winner.setting
    assert "nesterov" in (tmp_path / "run" / "card.json").read_text()
    assert json.loads((tmp_path / "run" / "model.json").read_text())["winner"]["setting"]


def test_the_winner_of_a_subset_is_rescaled():
    made = plan(procedure="subset-tuning")
    one = made.candidates[0]
    from honestdp.runner.private_data import schedules

    rest = schedules(made)[1]
    wanted = one.learning_rate * rest.lot_size / made.lot_sizes[0]
    assert rescaled(made, one, rest).learning_rate == pytest.approx(wanted)
    adam = Candidate(noise_multiplier=1.0)
    assert rescaled(made, adam, rest) is adam


def test_a_candidate_holds_the_hyperparameters_of_its_rule():
    one = Candidate(noise_multiplier=1.0, rule="nesterov", learning_rate=1.0, nesterov=0.5)
    assert one.nesterov == 0.5
    assert dict(one.hyperparameters) == {"nesterov": 0.5}
    assert replace(one, clip_norm=2.0).nesterov == 0.5
    assert replace(one, nesterov=0.1).nesterov == 0.1
    assert pickle.loads(pickle.dumps(one)) == one
    assert hash(one) == hash(replace(one))
    assert one != replace(one, nesterov=0.1)
    assert "nesterov=0.5" in repr(one)
    other = Candidate(noise_multiplier=1.0, nesterov=0.3)  # of another rule: checked, left out
    assert other == Candidate(noise_multiplier=1.0)
    with pytest.raises(AttributeError):
        _ = other.nesterov
    with pytest.raises(InputError, match="nesterov=2: must be at least 0 and below 1"):
        Candidate(noise_multiplier=1.0, nesterov=2)
    with pytest.raises(InputError, match="impulse=2: no optimizer has such a hyperparameter"):
        Candidate(noise_multiplier=1.0, impulse=2)


def test_a_name_that_the_library_has_is_refused_before_it_is_loaded():
    code = """
from honestdp.optimizers import Optimizer, optimizers
class Mine(Optimizer):
    name = "dpsgd"
try:
    optimizers.register(Mine)
except ValueError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "is the name of another optimizer" in done.stdout


# What goes wrong is said


class Base(Optimizer):
    name, summary, slots = "wrong", "made to fail", ("velocity",)
    usual_rate = 0.1
    formulas = (nesterov,)

    def coefficients(self, knobs, state, t):
        return knobs.learning_rate, knobs.learning_rate


def in_double(g, p, velocity, rate, keep):
    return p - rate * g.astype(np.float64), velocity


def too_few(g, p, velocity, rate):
    return p - rate * g, velocity


def one_back(g, p, velocity, rate, keep):
    return (p - rate * g,)


def a_number(g, p, rate, keep):
    return p - rate * g


def explodes(g, p, velocity, rate, keep):
    return p - rate / (g - g), velocity


def in_place(g, p, velocity, rate, keep):
    velocity += g
    return p - rate * velocity, velocity


class Meddles(Base):
    def finish(self, params, state, knobs):
        return params.mean(0, keepdim=True).expand_as(params), state


class Remembers(Base):
    seen = 0

    def coefficients(self, knobs, state, t):
        Remembers.seen += 1
        return knobs.learning_rate * (1 + Remembers.seen / 1000), knobs.learning_rate


class Unchecked(Base):
    hyperparameters = (Hyperparameter("share", 2.0, fraction, "a wrong default"),)


WRONG = {
    "fails in torch": type("A", (Base,), {"formulas": (in_double,)}),
    "takes 4 arguments, and is given 5": type("B", (Base,), {"formulas": (too_few,)}),
    "returned a tuple of 1; return a tuple of the parameter and its slots, 2 in all": type(
        "C", (Base,), {"formulas": (one_back,)}
    ),
    "returned a Tensor; return a tuple of the parameter and its slots, 1 in all": type(
        "C", (Base,), {"formulas": (a_number,), "slots": ()}
    ),
    "not finite on ordinary gradients": type("D", (Base,), {"formulas": (explodes,)}),
    "depends on the other candidates": Meddles,
    "writes into velocity": type("H", (Base,), {"formulas": (in_place,)}),
    "candidates that train with it|differ|depends on the other": Remembers,
    "share: its check refuses its default": Unchecked,
    "must name the slot": type("E", (Base,), {"formulas": (nesterov, nesterov)}),
    "mean: the name is taken": type("F", (Base,), {"slots": ("mean",)}),
    "another optimizer is called": type("G", (Base,), {"name": "dpsgd"}),
}


@pytest.mark.parametrize("words", WRONG)
def test_what_is_wrong_with_an_optimizer_is_said(words):
    with pytest.raises(AssertionError, match=words):
        check_optimizer(WRONG[words])
    assert "wrong" not in optimizers


# What is compiled is kept by what it computes


def made_with(constant):
    factor = np.float32(constant)

    def formula(g, p, rate):
        return (p - factor * rate * g,)

    return formula


def test_formulas_are_told_apart_by_all_they_compute_with():
    assert fingerprint(made_with(1)) == fingerprint(made_with(1))
    assert fingerprint(made_with(1)) != fingerprint(made_with(2))
    assert fingerprint(nesterov) != fingerprint(optimizers.get("dpmomentum").formulas[0])
    weights = torch.ones(3)

    def reads_a_tensor(g, p, rate):
        return (p - weights[0] * g,)

    assert fingerprint(reads_a_tensor) is None  # never kept


def helper(x):
    return x + 1


def calls(g, p, rate):
    return (p - helper(g),)


def test_a_function_that_a_formula_calls_is_part_of_it(monkeypatch):
    before = fingerprint(calls)
    monkeypatch.setitem(calls.__globals__, "helper", lambda x: x + 2)
    assert fingerprint(calls) != before
