"""Nothing but noise differs between neighbours.

Each way to run is watched with a null record in one place of the table, then with others in that
place: same coins, same noise, and everything else that can be seen has to be the same.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from neighbour_records import NULL
from neighbour_runs import Way, places
from neighbour_ways import WAYS
from witness import Witness, differences

warm: set[object] = set()


@pytest.fixture
def witness(monkeypatch: pytest.MonkeyPatch) -> Iterator[Witness]:
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # nothing here has to last
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Witness(Path(folder) / "run", monkeypatch)


@pytest.mark.parametrize(
    "way",
    [
        pytest.param(way, id=way.name, marks=[pytest.mark.slow] * (way.slow or i % 2))
        for i, way in enumerate(WAYS)  # of the short ones every other is enough for each day
    ],
)
def test_a_record_looks_like_a_null_record(way: Way, witness: Witness) -> None:
    first, _ = places()
    once = way.entrance, way.goal, way.facts.get("model")
    if once not in warm:  # what is done once in a process is done now
        way.seen("plain", first, witness)
        warm.add(once)
    null = {place: way.seen(NULL, place, witness) for place in places()}
    ended = null[first]["error"]
    assert (ended and ended[0]) == way.ends, ended
    told = []
    for number, record in enumerate(way.records):
        place = places()[number % 2]
        found = differences(null[place], way.seen(record, place, witness))
        told += [f"{record}: {name}: {pair}"[:500] for name, pair in found.items()]
    assert not told, "\n".join(told)


def test_rows_are_scaled_with_and_without_learning() -> None:
    plans = {
        way.name: way.plan for way in WAYS if way.name in ("learnt by by_run", "curves by by_run")
    }
    assert "norms" in [one.name for one in plans["learnt by by_run"].questions]
    assert plans["curves by by_run"].spec.encoding.columns[0].is_spline


def test_there_are_many_pairs() -> None:
    assert len({way.name for way in WAYS}) == len(WAYS)
    assert sum(len(way.records) for way in WAYS) >= 1500
    assert sum(len(way.records) for way in WAYS[::2] if not way.slow) >= 120
