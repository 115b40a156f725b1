"""Grids from lists, ranges, arrays and distributions."""

from __future__ import annotations

import pickle
from copy import deepcopy

import numpy as np
import pytest
from scipy import stats

from honestdp import Grid, InputError


def test_products_of_anything_listed() -> None:
    made = Grid.product(
        rule="dpsgd",
        learning_rate=np.array([0.1, 0.2]),
        clip_norm=(1.0, 2.0),
        module__width=range(2, 4),
    )
    assert len(made) == 8
    assert {type(value) for setting in made.settings for value in setting.values()} == {
        str, float, int,
    }  # fmt: skip


def test_distributions_are_drawn_from() -> None:
    values = {"rule": "dpsgd", "learning_rate": stats.loguniform(0.01, 10), "clip_norm": [0.1, 1.0]}
    made = Grid.of(values)
    assert len(made) == 40
    assert made == Grid.of(values) == Grid.sample(40, **values)  # public, and the same anywhere
    rates = [setting["learning_rate"] for setting in made.settings]
    assert len(set(rates)) == 40
    assert all(0.01 <= rate <= 10 for rate in rates)
    assert {setting["clip_norm"] for setting in made.settings} == {0.1, 1.0}
    assert Grid.sample(40, seed=1, **values) != made
    assert len(Grid.sample(7, **values)) == 7
    assert rates[0] == pytest.approx(0.443037524521)  # by NumPy's frozen stream


def test_what_is_no_grid() -> None:
    with pytest.raises(InputError, match=r"use Grid\.sample"):
        Grid.product(rule="dpsgd", learning_rate=stats.uniform())
    with pytest.raises(InputError, match="clip_norm is empty"):
        Grid.sample(3, rule="dpsgd", clip_norm=[])
    with pytest.raises(InputError, match="count=0"):
        Grid.sample(0, rule="dpsgd")
    for seed in (-1, 2**32, 0.5, True, None):
        with pytest.raises(InputError, match="seed="):
            Grid.sample(3, seed=seed, rule="dpsgd")
    with pytest.raises(InputError, match="learning_rate is a set"):
        Grid.product(rule="dpsgd", learning_rate={1, 2})


def test_copies() -> None:
    made = Grid.of("dpsgd-40")
    assert pickle.loads(pickle.dumps(made)) == deepcopy(made) == made
