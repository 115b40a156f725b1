"""honest-frontier: searches played from pools find what their law says; plans fit their epsilon."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from honestdp.datasets import adult
from honestdp.engine import Linear, Schedule, examples
from honestdp.errors import InputError
from honestdp.planning.grid import Grid
from honestdp.privacy.runs import Poisson, geometric
from honestdp.procedures import Draw, Procedure
from honestdp.procedures.composition import Composition
from honestdp.procedures.random_repeats import RandomRepeats
from honestdp.procedures.random_stopping import RandomStopping
from honestdp.procedures.subset_tuning import SubsetTuning
from honestdp.runner.private_data import schedules
from honestdp.text import SIMULATION
from honestdp_reproduction import frontier_searches, honest_frontier, pools, resample
from honestdp_reproduction.experiment import Choice
from honestdp_reproduction.frontier_lines import LINES, FrontierLine, planned, pools_of
from honestdp_reproduction.frontier_rows import load
from honestdp_reproduction.frontier_searches import Search, Searches
from honestdp_reproduction.pools import Material, Pool, Pools
from honestdp_reproduction.resample import play
from honestdp_reproduction.store import SHIPPED, Store
from kept import unpacked

COUNT, BEST, SEARCHES = 40, 17, 4000
SOURCE = 7


def scores(repetitions: int = 3) -> np.ndarray:
    """One setting far above the others, in every repetition."""
    found = np.full((repetitions, COUNT), 100, dtype=np.int64)
    found[:, BEST] = 900
    return found


def winners(procedure: Procedure, noise: float, repetitions: int = 3) -> np.ndarray:
    source = np.random.default_rng(SOURCE)
    return play(procedure, scores(repetitions), noise, SEARCHES, source).setting


def near(share: float, expected: float) -> bool:
    """Within four standard errors of a share of the searches."""
    return abs(share - expected) <= 4 * math.sqrt(expected * (1 - expected) / SEARCHES)


@pytest.mark.parametrize(
    "procedure",
    [
        RandomStopping(COUNT, 1 / COUNT),
        RandomRepeats(COUNT, geometric(0.2)),
        SubsetTuning(COUNT, geometric(0.05), 0.1),
    ],
)
def test_a_search_finds_the_best_as_often_as_planned(procedure: Procedure) -> None:
    assert procedure.hit_probability is not None
    assert near((winners(procedure, 0.0) == BEST).mean(), procedure.hit_probability)


def test_composition_always_finds_it_and_noise_hides_it() -> None:
    assert (winners(Composition(COUNT), 0.0) == BEST).all()
    assert (winners(Composition(COUNT), 50.0) == BEST).all()  # 16 deviations above
    assert near((winners(Composition(COUNT), 1e9) == BEST).mean(), 1 / COUNT)


def test_score_noise_is_that_of_one_score() -> None:
    """Two settings apart by d: the better one wins with probability Phi(d / (sqrt(2) noise))."""
    table = np.array([[0, 30]])
    found = play(Composition(2), table, 40.0, SEARCHES, np.random.default_rng(1)).setting
    assert near((found == 1).mean(), 0.5 * (1 + math.erf(30 / 40 / 2)))


def test_a_law_that_may_run_nothing_gives_no_model() -> None:
    found = play(
        RandomRepeats(COUNT, Poisson(1.0)), scores(), 0.0, SEARCHES, np.random.default_rng(2)
    )
    assert near((found.setting < 0).mean(), math.exp(-1))
    assert len(found.of(np.zeros((3, COUNT)))) == (found.setting >= 0).sum()


def test_a_search_on_a_subset_stays_on_it() -> None:
    """Repetition 1 alone has a best setting: only searches on that subset can know it."""
    table = np.full((2, COUNT), 100, dtype=np.int64)
    table[1, BEST] = 900
    procedure = SubsetTuning(COUNT, geometric(0.001), 0.1)
    found = play(procedure, table, 0.0, 100, np.random.default_rng(3))
    assert (found.setting == BEST)[found.repetition == 1].mean() > 0.9
    assert (found.setting == BEST)[found.repetition == 0].mean() < 0.1
    assert 0.3 < (found.repetition == 1).mean() < 0.7
    # Without a subset, each run comes from a repetition of its own.
    mixed = play(RandomStopping(COUNT, 0.001), table, 0.0, 100, np.random.default_rng(3))
    assert (mixed.repetition == 1).mean() > 0.8


def test_a_play_runs_the_draws_and_the_selection_that_a_run_does() -> None:
    """A procedure that draws one setting and keeps nothing else: play has no rule of its own."""

    class Stubborn(Composition):
        def draws(self, settings, coin):
            return [Draw(7, BEST)]

    found = play(Stubborn(COUNT), scores(), 1e9, 20, np.random.default_rng(4))
    assert (found.setting == BEST).all()

    class Empty(Composition):
        def keep(self, kept, new, as_score):
            return []

    assert (play(Empty(COUNT), scores(), 0.0, 20, np.random.default_rng(4)).setting < 0).all()


def test_k_has_the_law_of_the_plan() -> None:
    law, coin = geometric(0.1), resample._Coin(np.random.default_rng(5))
    found = np.array([law.draw_exactly(coin) for _ in range(2000)])
    assert abs(found.mean() - 10) < 4 * math.sqrt(90 / 2000)
    assert near((found == 1).mean(), 0.1)


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.name)
def test_plans_are_the_planners_and_fit_the_epsilon(line: FrontierLine) -> None:
    schema = adult().schema
    for epsilon in line.at[:: max(1, len(line.at) - 1)]:  # the first and the last
        plan = line.plan(schema, 39073, epsilon)
        facts = planned(line, plan)
        assert plan.epsilon <= epsilon
        assert facts["procedure"] == line.procedure.to_dict()
        assert facts["delta"] == 1e-6
        assert (plan.score_noise is None) == (line.untuned or line.free)
        for pool in pools_of(line, "adult", facts):
            assert pool.noise_multiplier == plan.noise_multiplier


@pytest.mark.parametrize("name", ["profile bound, DPSGD 40", "subset tuning, DPSGD 40"])
def test_a_pool_trains_with_the_noise_that_was_planned(name: str) -> None:
    source = load("adult")
    line = next(line for line in LINES if line.name == name)
    plan = line.plan(source.schema, source.rows, 1.0)
    for pool in pools_of(line, "adult", planned(line, plan)):
        material = source.material(plan, pool, 0)
        assert {c.noise_multiplier for c in material.candidates} == {plan.noise_multiplier}
        assert pool.noise_multiplier == plan.noise_multiplier
        assert len(material.candidates) == 40
        assert material.schedule.steps == plan.training.steps == pool.steps
        assert material.schedule.lot_size == pool.lot_size
        assert material.schedule == schedules(plan)[pool.rows == "rest"]


def test_lines_that_train_apart_have_pools_apart() -> None:
    schema = adult().schema
    names = [
        pool.name
        for line in LINES
        for pool in pools_of(line, "adult", planned(line, line.plan(schema, 39073, 1.0)))
    ]
    assert len(names) == len(set(names)) == len(LINES) + 2  # subset tuning has two


@pytest.fixture
def trains() -> Callable[[int], Material]:
    source = np.random.RandomState(0)
    inputs = source.rand(60, 3).astype(np.float32)
    rows = examples(inputs, (inputs.sum(1) > 1.5).astype(np.int64))
    candidates = Grid.of("dpadam-4").candidates(1.0, None)
    material = Material(Linear(3, 2), candidates, rows, Schedule(6, 10), rows, rows)
    return lambda repetition: material


def test_an_interrupted_pool_goes_on_to_the_same_counts(
    tmp_path: Path, trains: Callable[[int], Material], monkeypatch: pytest.MonkeyPatch
) -> None:
    pool, told = Pool("adult", "dpadam-4", "training", 1.0, 10, 6), []
    whole = Pools(Store(tmp_path / "whole"))
    whole.fill(pool, 3, trains, told.append)
    assert told[-1] == 1.0
    monkeypatch.setattr(pools, "TOGETHER", 5)  # across the end of a repetition
    calls = 0

    def fails(repetition: int) -> Material:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise KeyboardInterrupt
        return trains(repetition)

    parts = Pools(Store(tmp_path / "parts"))
    with pytest.raises(KeyboardInterrupt):
        parts.fill(pool, 3, fails, told.append)
    assert parts.missing(pool, 3) == 7
    with pytest.raises(InputError, match="not trained yet"):
        parts.get(pool, 3)
    parts.fill(pool, 3, trains, told.append)
    assert parts.missing(pool, 3) == 0
    found, expected = parts.get(pool, 3), whole.get(pool, 3)
    assert (found.test == expected.test).all()
    assert (found.validation == expected.validation).all()
    assert (parts.get(pool, 2).test == expected.test[:2]).all()
    known = parts.read(pool)
    assert known is not None
    assert SIMULATION in known["what"]


def test_a_file_of_another_pool_is_refused(tmp_path: Path) -> None:
    pool = Pool("adult", "dpadam-4", "training", 1.0, 10, 6)
    path = Pools(Store(tmp_path)).path(pool)
    path.parent.mkdir()
    other = [{"rule": "dpadam", "clip_norm": 2.0}]  # of a grid as it was once
    for held in ({}, {"pool": asdict(pool), "settings": other}):
        path.write_text(json.dumps({"pool": {}, "trained": []} | held))
        with pytest.raises(InputError, match="holds another pool"):
            Pools(Store(tmp_path)).missing(pool, 1)


def test_choices_it_has_not(tmp_path: Path) -> None:
    for choice, name in (
        (Choice(datasets=("enron",)), "datasets"),
        (Choice(models=("tlnn",)), "models"),
        (Choice(sigmas=(4.0,)), "sigmas"),
    ):
        with pytest.raises(InputError, match=name):
            honest_frontier.result(choice, Store(tmp_path))
    with pytest.raises(InputError, match="run the experiment first"):
        honest_frontier.result(Choice(), Store(tmp_path))


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    store = unpacked(tmp_path, "honest-frontier", "pools", "searches")
    adult_only = Choice(datasets=("adult",))
    point = honest_frontier.result(adult_only, store)["datasets"][0]["points"][-1]
    (tmp_path / "pools" / f"{point['pools'][0]}.json").unlink()
    found = honest_frontier.result(adult_only, store)["not_run"]
    assert found == [f"adult, {point['line']}, epsilon {point['epsilon']:g}"]
    path = tmp_path / "honest-frontier" / "adult.json"
    known = json.loads(path.read_text())
    path.write_text(json.dumps(known | {"plans": known["plans"][1:]}))
    with pytest.raises(InputError, match="is of other lines; run the experiment first"):
        honest_frontier.result(adult_only, store)


def test_what_was_played_is_used_for_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frontier_searches, "SEARCHES", 20)
    store, table = Store(tmp_path), scores()
    given = Search(Composition(COUNT), 5.0, table, table / 1000, 1)
    searches = Searches(store, "adult")
    first = searches.outcomes(given)
    searches.save()
    monkeypatch.setattr(frontier_searches, "play", None)  # nothing is played from here on
    again = Searches(store, "adult")
    assert again.outcomes(given) == first
    others = [
        replace(given, procedure=RandomStopping(COUNT, 0.5)),
        replace(given, noise=6.0),
        replace(given, scores=table + 1),
        replace(given, accuracy=table / 999),
        replace(given, seed=2),
    ]
    for other in others:
        with pytest.raises(TypeError, match="not callable"):
            again.outcomes(other)


@pytest.mark.parametrize(
    "every",
    [pytest.param(9, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.nightly)],
)
def test_saved_searches_are_those_that_are_played(
    every: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Searches on Adult again, by the draws and the selection of today."""
    adult_only = Choice(datasets=("adult",))
    saved = honest_frontier.result(adult_only, Store(SHIPPED))
    read = Store.read

    def forgetful(self: Store, collection: str, name: str, rows: str) -> dict | None:
        known = read(self, collection, name, rows)
        if collection == "searches" and known is not None:
            del known[rows][every // 2 :: every]
        return known

    monkeypatch.setattr(Store, "read", forgetful)
    assert honest_frontier.result(adult_only, Store(SHIPPED)) == saved


def test_saved_results_are_within_their_epsilon() -> None:
    result = honest_frontier.result(Choice(), Store(SHIPPED))
    assert not result["not_run"]
    for dataset in result["datasets"]:
        there = [point for point in dataset["points"] if point["absent"] is None]
        assert {point["line"] for point in there} >= {line.name for line in LINES if line.at[1:]}
        for point in there:
            assert point["guarantee"] <= point["epsilon"]
            assert 0 < point["low"] <= point["high"] < 1
