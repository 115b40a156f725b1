"""Runs that are killed, that race for one budget, that share one receipt: no run is free."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tiny_runs import DELTA, search

from faults import answer
from honestdp.privacy.spending import Budget

PROGRAM = Path(__file__).with_name("run_processes.py")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the witness is Linux's inotify")


@pytest.mark.parametrize(
    "kills",
    [10, pytest.param(100, marks=pytest.mark.slow), pytest.param(300, marks=pytest.mark.nightly)],
)
def test_killed_runs_never_use_data_without_a_charge(tmp_path: Path, kills: int) -> None:
    """The program checks after every kill; here: that kills landed everywhere."""
    found = answer(PROGRAM, "kill", tmp_path, kills, 1, timeout=540)
    places = ("before_charge", "before_opening", "before_release", "after_release")
    assert sum(found.get(place, 0) for place in places) == found["kills"] == kills
    assert found["uses"] <= found["charges"]
    assert found["used_again"] >= kills / 20  # of every batch some
    if kills > 100:
        assert all(found[place] >= 10 for place in ("before_charge", "before_release"))
        assert found["after_release"] >= 10
        assert found["mid_commit"] > 0  # some died between journal and commit


@pytest.mark.parametrize(("racers", "epsilon"), [pytest.param(32, 3.0, marks=pytest.mark.slow)])
def test_racing_searches_get_exactly_the_budget(
    tmp_path: Path, racers: int, epsilon: float
) -> None:
    one, budget = search().spending, Budget(epsilon, DELTA)
    room = next(k for k in range(racers) if not budget.covers([one] * (k + 1)))
    assert (
        epsilon / one.epsilon < room < racers - racers // 4
    )  # the curves compose; many must be refused
    found = answer(PROGRAM, "race", tmp_path, racers, epsilon, timeout=540)
    assert (found["granted"], found["refused"]) == (room, racers - room)
    assert found["charged_together"] > 0  # it was a race


@pytest.mark.slow
def test_of_two_users_of_one_receipt_one_gets_a_release(tmp_path: Path) -> None:
    found = answer(PROGRAM, "share", tmp_path, 2, 3, timeout=540)
    assert found["both_on_their_way"] > 0  # both had opened the data, none was stopped early
