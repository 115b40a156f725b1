"""Grids from lists, ranges, arrays and distributions."""

from __future__ import annotations

import pickle
from copy import deepcopy

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
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
    for values in ({1, 2}, pd.Series([1, 2]), pl.Series([1, 2]), torch.ones(2), (i for i in "ab")):
        said = f"learning_rate is a {type(values).__name__}; give a number, a text, or a list"
        with pytest.raises(InputError, match=said):
            Grid.product(rule="dpsgd", learning_rate=values)


def test_a_list_of_dicts_of_lists_is_the_union_of_their_products() -> None:
    sgd = {"rule": "dpsgd", "learning_rate": [0.1, 1.0], "clip_norm": 1.0}
    adam = {"rule": ["dpadam"], "clip_norm": np.array([0.5, 2.0])}
    made = Grid.of([sgd, adam, {"rule": "dpadamwosm"}])
    parts = [*Grid.of(sgd).settings, *Grid.of(adam).settings, {"rule": "dpadamwosm"}]
    assert list(map(dict, made.settings)) == list(map(dict, parts))
    assert len(made) == 5
    assert len(Grid.of([{**sgd, "learning_rate": stats.uniform(0.1, 1)}, adam])) == 42


def test_copies() -> None:
    made = Grid.of("dpsgd-40")
    assert pickle.loads(pickle.dumps(made)) == deepcopy(made) == made
