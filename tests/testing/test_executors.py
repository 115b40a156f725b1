"""The contract of executors: `local` keeps it, a user's in one file works everywhere."""

from __future__ import annotations

import pytest
from outside import SCHEMA, table

from honestdp import HonestSearch, InputError, Spec, make_plan, run
from honestdp.executors import Executor, executors
from honestdp.executors.local import LocalExecutor
from honestdp.testing import check_executor


class Counting(Executor):
    """An executor from outside: local, and it counts how often it is asked."""

    name = "counting"
    summary = "On this machine, counted."
    asked = 0

    def train(self, work, begun=None):
        Counting.asked += 1
        return LocalExecutor(workers=1).train(work, begun)


@pytest.fixture(autouse=True)
def registered():
    executors.register(Counting)
    yield
    executors.unregister("counting")


@pytest.mark.parametrize("workers", [None, 1, 3])
def test_local_keeps_the_contract(workers) -> None:
    check_executor(LocalExecutor(workers))


def test_one_from_outside_keeps_it_too() -> None:
    check_executor(Counting())


def plan():
    return make_plan(Spec(schema=SCHEMA, rows=300, epsilon=8.0, steps=20, lot_size=50))


def test_one_from_outside_runs_by_name_and_as_an_object() -> None:
    whole = run(plan(), table(), seed=1)
    before = Counting.asked
    for executor in ("counting", Counting()):
        assert run(plan(), table(), seed=1, executor=executor).files == whole.files
    assert Counting.asked > before


def test_the_estimator_takes_it_too() -> None:
    given = {"schema": SCHEMA, "epsilon": 8.0, "random_state": 1, "steps": 20, "lot_size": 50}
    rows = table()
    found = HonestSearch(executor="counting", **given).fit(rows, rows["y"])
    assert found.n_features_in_ == 2


def test_one_that_is_not_there_is_one_line() -> None:
    with pytest.raises(InputError, match="executor='ray': must be one of counting, local"):
        run(plan(), table(), seed=1, executor="ray")


class Other(LocalExecutor):
    """One that trains something else."""

    def train(self, work, begun=None):
        from dataclasses import replace

        return super().train(replace(work, numbers=[n + 7 for n in work.numbers]), begun)


def test_what_breaks_it_is_told() -> None:
    with pytest.raises(AssertionError, match="has other parameters than local"):
        check_executor(Other())
