"""How long trainings will take: from steps on made-up rows, no data read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from honestdp import make_plan
from honestdp.runner import duration
from honestdp.runner.duration import expected_seconds, in_words
from search_tables import asked, spec


class Clock:
    """A clock by which every step of every training takes a second."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        return self.now


def test_it_is_that_of_all_steps_of_all_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(duration, "time", clock)

    def train(model, rows, candidates, schedule, *_, **__):  # type: ignore[no-untyped-def]
        clock.now += schedule.steps

    monkeypatch.setattr(duration, "train", train)
    alone = make_plan(spec(steps=100))
    assert expected_seconds(alone) == pytest.approx(100)
    four = make_plan(asked("composition", steps=100))
    assert expected_seconds(four) == pytest.approx(400)
    twice = make_plan(replace(alone.spec, steps=200))
    assert expected_seconds(twice) == pytest.approx(200)


@pytest.mark.parametrize("options", [{}, {"model": "mlp"}], ids=["logistic", "mlp"])
def test_it_is_measured_without_rows(options: dict) -> None:
    assert 0 < expected_seconds(make_plan(spec(**options))) < 600


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.01, "a second"), (80, "80 seconds"), (100, "1.7 minutes"), (7200, "2 hours")],
)
def test_words(seconds: float, words: str) -> None:
    assert in_words(seconds) == words
