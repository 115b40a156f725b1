"""Bad input is one line with a name and a remedy; nothing has been trained then."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import sparse

from honestdp.engine import (
    Candidate,
    Linear,
    Randomness,
    Schedule,
    TwoLayer,
    clipped_sum,
    examples,
    train,
)
from honestdp.errors import InputError

NAN, INF = float("nan"), float("inf")


def refused(words: str, call) -> None:
    with pytest.raises(InputError, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)


CANDIDATES = {
    "noise_multiplier=-1.*between 0 and": {"noise_multiplier": -1},
    "noise_multiplier=nan": {"noise_multiplier": NAN},
    "noise_multiplier=inf": {"noise_multiplier": INF},
    "noise_multiplier='4'": {"noise_multiplier": "4"},
    "rule='sgd'.*dpsgd": {"rule": "sgd"},
    "rule=None": {"rule": None},
    "learning_rate=None: dpsgd needs one": {"rule": "dpsgd"},
    "learning_rate=0": {"learning_rate": 0},
    "learning_rate=nan": {"learning_rate": NAN},
    "clip_norm=0": {"clip_norm": 0},
    "clip_norm=-1": {"clip_norm": -1.0},
    "clip_norm=inf": {"clip_norm": INF},
    "clip_norm=1e-13.*between": {"clip_norm": 1e-13},
    "clipping='ghost'.*automatic": {"clipping": "ghost"},
    "momentum=1.*below 1": {"rule": "dpmomentum", "learning_rate": 1.0, "momentum": 1.0},
    "beta1=-0.1": {"beta1": -0.1},
    "beta2=1": {"beta2": 1},
    "stability=0": {"stability": 0},
    "variance_floor=nan": {"variance_floor": NAN},
    "kappa=0": {"kappa": 0},
    "initial_scale=-1": {"initial_scale": -1},
    "average=1": {"average": 1},
    "noise_multiplier=0: balanced needs noise": {
        "rule": "balanced",
        "noise_multiplier": 0,
        "row_norm": 1,
    },
    "row_norm=None: balanced": {"rule": "balanced"},
    "row_norm=-2": {"rule": "balanced", "row_norm": -2},
    "learning_rate=0.1: balanced sets its own": {
        "rule": "balanced",
        "row_norm": 1,
        "learning_rate": 0.1,
    },
}


@pytest.mark.parametrize("words", CANDIDATES)
def test_candidates(words):
    refused(words, lambda: Candidate(**({"noise_multiplier": 1.0} | CANDIDATES[words])))


X = torch.zeros(10, 3)
Y = torch.zeros(10, dtype=torch.long)
TABLES = {
    "10 rows of inputs, 9 targets": (X, Y[:9]),
    r"targets have shape \(10, 1\)": (X, Y[:, None]),
    r"inputs have shape \(10,\)": (X[:, 0], Y),
    "inputs of type torch.complex64: give": (X.to(torch.complex64), Y),
    "inputs of type object: give an array of numbers": (np.full((10, 3), "a", object), Y),
    "targets of type <U1: give an array of numbers": (X, np.full(10, "a")),
    r"inputs have shape \(10,\): give one row": (sparse.coo_array(np.ones(10)), Y),
    r"targets have shape \(0,\)": (X[:0], Y[:0]),
}


@pytest.mark.parametrize("words", TABLES)
def test_tables(words):
    refused(words, lambda: examples(*TABLES[words]))


def go(model=None, rows=None, candidates=None, schedule=None, **more):
    return lambda: train(
        model or Linear(3, 2),
        rows or examples(X, Y),
        [Candidate(noise_multiplier=1.0)] if candidates is None else candidates,
        schedule or Schedule(2, 5),
        Randomness.simulation(0),
        **more,
    )


TRAININGS = {
    "lot_size=11.0: must be at most the 10 rows": go(schedule=Schedule(2, 11)),
    "steps=3: adadp reads 2 lots": go(
        candidates=[Candidate(rule="adadp", noise_multiplier=1.0)], schedule=Schedule(3, 5)
    ),
    "candidates: give a list": go(candidates=[]),
    "candidates: give a list of": go(candidates=Candidate(noise_multiplier=1.0)),
    "candidates: is a list; give": go(candidates=[[98765.0]]),
    "model: is a bare nn.Module": go(model=torch.nn.Sequential(torch.nn.Linear(3, 2))),
    r"inputs of shape \(3,\) a row for a model of 4 features": go(model=Linear(4, 2)),
    r"inputs of shape \(3,\) a row for a model of 5 features": go(model=TwoLayer(5, 2)),
    "targets of type torch.float32 for 2 classes": go(rows=examples(X, torch.zeros(10))),
    "inputs of type torch.int64: whole numbers are tokens": go(rows=examples(X.long(), Y)),
    "inputs of type torch.int64: whole numbers": go(
        model=TwoLayer(3, 2), rows=examples(X.byte(), Y)
    ),
    "2 models for 1 candidates": go(model=[Linear(3, 2)] * 2),
    "numbers: 1 candidates need 1 different numbers": go(numbers=[1, 2]),
    "numbers: 2 candidates need 2 different": go(
        candidates=[Candidate(noise_multiplier=1.0)] * 2, numbers=[1, 1]
    ),
    "numbers: must be whole": go(numbers=[-1]),
    "numbers: must be whole and": go(numbers=[0.7]),
    "numbers: must be whole and lie": go(numbers=["a"]),
    r"initial: row 0 has shape \(3,\)": go(initial=[torch.zeros(3)]),
    "initial: 2 rows for 1 candidates": go(initial=torch.zeros(2, 4)),
    "observe_every=0": go(observe=print, observe_every=0),
    "workers=0": go(workers=0),
    "memory=-1": go(memory=-1),
}


@pytest.mark.parametrize("words", TRAININGS)
def test_trainings(words):
    refused(words, TRAININGS[words])


OTHERS = {
    "steps=0": lambda: Schedule(0, 5),
    "steps=4294967296": lambda: Schedule(2**32, 5),
    "steps=1.5": lambda: Schedule(1.5, 5),
    "lot_size=0": lambda: Schedule(2, 0),
    "lot_size=nan": lambda: Schedule(2, NAN),
    "lot_size=5e-324": lambda: Schedule(2, 5e-324),
    "features=0": lambda: Linear(0, 2),
    "classes=1": lambda: Linear(3, 1),
    "classes=-2": lambda: Linear(3, -2),
    "width=0": lambda: TwoLayer(3, 2, width=0),
    "activation='tanh'": lambda: TwoLayer(3, 2, activation="tanh"),
    "clip_norm=0": lambda: clipped_sum(Linear(3, 2), torch.zeros(4), X, Y, 0.0),
    "clip_norm=nan": lambda: clipped_sum(Linear(3, 2), torch.zeros(4), X, Y, NAN),
    r"params of shape \(1, 5\)": lambda: clipped_sum(Linear(3, 2), torch.zeros(5), X, Y, 1.0),
}


@pytest.mark.parametrize("words", OTHERS)
def test_others(words):
    refused(words, OTHERS[words])


def test_resume_of_something_else():
    part = go()()
    refused("resume: was made with other models", go(model=Linear(3, 4), resume=part))
    other = [Candidate(noise_multiplier=2.0)]
    refused("resume: was made with other candidates", go(candidates=other, resume=part))
    refused("resume: was made with other schedule", go(schedule=Schedule(4, 5), resume=part))
    refused("resume: was made with other numbers", go(numbers=[7], resume=part))
    refused("resume: was made with other rows", go(rows=examples(X[:9], Y[:9]), resume=part))
    production = [Linear(3, 2), examples(X, Y), [Candidate(noise_multiplier=1.0)], Schedule(2, 5)]
    refused("simulation or not", lambda: train(*production, Randomness(), resume=part))


def test_things_in_the_wrong_place_are_named_by_type():
    one, schedule, any_ = (
        [Candidate(noise_multiplier=1.0)],
        Schedule(2, 5),
        Randomness.simulation(0),
    )
    refused("examples: is a Tensor", lambda: train(Linear(3, 2), X, one, schedule, any_))
    rows = examples(X, Y)
    refused("schedule: is a tuple", lambda: train(Linear(3, 2), rows, one, (2, 5), any_))
    refused("candidates: give a list", lambda: train(Linear(3, 2), rows, X, schedule, any_))
    two = torch.ones(2)
    refused("clip_norm: 2 for 1", lambda: clipped_sum(Linear(3, 2), torch.zeros(4), X, Y, two))


def test_a_seed_is_no_randomness():
    refused(
        "randomness: is a int; give",
        lambda: train(Linear(3, 2), examples(X, Y), [Candidate(noise_multiplier=1.0)],
                      Schedule(2, 5), 3),
    )  # fmt: skip


def test_a_broken_sparse_matrix_is_refused_before_a_kernel_reads_it():
    broken = sparse.csr_matrix((10, 3), dtype=np.float32)
    broken.indptr = np.arange(11)
    broken.indices, broken.data = np.full(10, 99), np.ones(10, np.float32)
    refused("inputs: not a sound sparse matrix", lambda: examples(broken, Y))


def test_messages_hold_no_value_of_the_data():
    secret = torch.full((10, 3), 98765.0)
    with pytest.raises(InputError) as caught:
        go(model=Linear(4, 2), rows=examples(secret, Y))()
    assert "98765" not in str(caught.value)
    assert "98765" not in repr(examples(secret, Y))
