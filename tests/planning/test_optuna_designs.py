"""Grids drawn by Optuna: evenly, the same for the same seed, and never by scores."""

from __future__ import annotations

import sys

import numpy as np
import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.samplers import GridSampler, QMCSampler, RandomSampler, TPESampler

from honestdp import Grid, InputError

RATES = FloatDistribution(1e-3, 10, log=True)
SPACE = {
    "rule": "dpsgd",
    "learning_rate": RATES,
    "clip_norm": CategoricalDistribution([0.1, 1.0]),
    "module__width": IntDistribution(8, 64, step=8),
}


def test_a_quasi_random_design_fills_the_space() -> None:
    made = Grid.from_optuna(SPACE, 16)
    assert made == Grid.from_optuna(SPACE, 16, QMCSampler) == Grid.from_optuna(SPACE, 16, seed=0)
    assert [list(setting) for setting in made.settings] == [list(SPACE)] * 16
    assert {setting["rule"] for setting in made.settings} == {"dpsgd"}
    assert all(setting["module__width"] % 8 == 0 for setting in made.settings)
    rates = np.log10([setting["learning_rate"] for setting in made.settings])
    counts, _ = np.histogram(rates, bins=16, range=(-3, 1))
    assert (counts == 1).all()  # one in each sixteenth, which independent draws never have
    clips = [setting["clip_norm"] for setting in made.settings]
    assert clips.count(0.1) == 8
    assert Grid.from_optuna(SPACE, 16, seed=1) != made
    assert Grid.from_optuna(SPACE, 8).settings == made.settings[:8]
    assert len(Grid.from_optuna({"learning_rate": RATES})) == 40


def test_samplers_that_need_no_scores() -> None:
    drawn = [Grid.from_optuna(SPACE, 5, RandomSampler, seed=seed) for seed in (3, 3, 4)]
    assert drawn[0] == drawn[1] != drawn[2]
    sampler = RandomSampler(seed=3)
    assert Grid.from_optuna(SPACE, 5, sampler) == Grid.from_optuna(SPACE, 5, sampler) == drawn[0]
    lists = {"learning_rate": [0.1, 1.0], "clip_norm": [0.1, 1.0], "module__width": [8]}
    made = Grid.from_optuna(SPACE, 4, GridSampler(lists, seed=0))
    assert {(s["learning_rate"], s["clip_norm"]) for s in made.settings} == {
        (rate, clip) for rate in (0.1, 1.0) for clip in (0.1, 1.0)
    }
    with pytest.raises(InputError, match="n=5: the sampler's lists make 4 settings"):
        Grid.from_optuna(SPACE, 5, GridSampler(lists))


@pytest.mark.parametrize("name", ["TPESampler", "GPSampler", "CmaEsSampler", "NSGAIISampler"])
def test_samplers_that_learn_are_refused(name: str) -> None:
    said = f"sampler='{name}': it proposes settings by the scores.*nobody paid for; take QMCSampler"
    with pytest.raises(InputError, match=said):
        Grid.from_optuna(SPACE, 4, getattr(optuna.samplers, name))


def test_what_cannot_be_drawn() -> None:
    with pytest.raises(InputError, match="nobody paid for"):
        Grid.from_optuna(SPACE, 4, TPESampler())
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study()
    for arguments, name in (((study, 4), "space"), ((SPACE, 4, study), "sampler")):
        with pytest.raises(InputError, match=f"{name}: is an Optuna study.*nobody paid for"):
            Grid.from_optuna(*arguments)
    for arguments, said in (
        ((SPACE, 0), "n=0"),
        ((SPACE, 4, "tpe"), "is no sampler of Optuna; take QMCSampler"),
        ((SPACE, 4, GridSampler), "give GridSampler"),
        ((SPACE, 4, GridSampler({"learning_rate": [0.1]})), "the sampler refuses it: .*clip_norm"),
        (([RATES], 4), "space: is a list; give a dict"),
        (({"rule": "dpsgd", "learning_rate": 0.1}, 4), "has no distribution of Optuna"),
        (({"speed": RATES}, 4), "cannot be tuned"),
    ):
        with pytest.raises(InputError, match=said):
            Grid.from_optuna(*arguments)
    with pytest.raises(InputError, match="seed=-1"):
        Grid.from_optuna(SPACE, 4, seed=-1)


def test_optuna_is_not_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(InputError, match=r"pip install optuna.*Grid\.sample"):
        Grid.from_optuna(SPACE, 4)
