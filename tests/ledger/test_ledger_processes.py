"""Many processes at once, and processes that die: never more than the total, never a free run."""

from __future__ import annotations

from pathlib import Path

import pytest

from faults import answer
from honestdp.ledger import Ledger
from honestdp.privacy.spending import Budget, Spending

PROGRAM = Path(__file__).with_name("ledger_processes.py")
NAMES = {"dataset": "adult", "schema": "f00d"}


@pytest.mark.parametrize(
    ("processes", "epsilon"),
    [(8, 0.03), pytest.param(32, 0.02, marks=pytest.mark.slow)],
)
def test_racing_processes_get_exactly_the_budget(
    tmp_path: Path, processes: int, epsilon: float
) -> None:
    one, budget = Spending.of_pair(epsilon, 0), Budget(1, 1e-6)
    room = next(k for k in range(1000) if not budget.covers([one] * (k + 1)))
    assert room > 1 / epsilon  # the curves compose
    for attempt in range(5):
        path = tmp_path / f"{attempt}.ledger"
        ledger = Ledger.create(path, **NAMES, epsilon=1, delta=1e-6)
        found = answer(PROGRAM, "race", ledger.path, processes, epsilon, timeout=900)
        assert found["granted"] == room == len(ledger.history())
        assert not ledger.fits(one)
        if found["winners"] > 1:
            return
    pytest.fail("no race: on a busy machine one process was always done before the next began")


@pytest.mark.parametrize(
    "kills",
    [10, pytest.param(100, marks=pytest.mark.slow), pytest.param(300, marks=pytest.mark.nightly)],
)
def test_killed_processes_never_use_data_without_a_charge(tmp_path: Path, kills: int) -> None:
    path = tmp_path / "a.ledger"
    Ledger.create(path, **NAMES, epsilon=1000, delta=1e-6)
    found = answer(PROGRAM, "kill", path, kills, 1, timeout=900)
    assert found["kills"] == kills
    if kills > 100:
        assert found["mid_commit"] > 0  # some died between journal and commit


@pytest.mark.parametrize(
    "kills",
    [10, pytest.param(100, marks=pytest.mark.slow), pytest.param(300, marks=pytest.mark.nightly)],
)
def test_a_killed_maker_leaves_a_whole_ledger_or_none(tmp_path: Path, kills: int) -> None:
    assert answer(PROGRAM, "kill-create", tmp_path, kills, 2, timeout=900)["kills"] == kills
