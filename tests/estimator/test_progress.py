"""The progress bar: alive, honest about time, silent about K."""

from __future__ import annotations

import io
import re
import threading

import pytest
from estimator_tables import GRID, X, Y, search
from rich.console import Console

from honestdp import progress
from honestdp.progress import Bar


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def terminal() -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=120, color_system=None)


def shown(console: Console) -> str:
    return console.file.getvalue()


def told(share: float | None, simulated: bool = False, after: float = 60.0) -> str:
    """What a bar shows when that share is done after that many seconds."""
    clock, console = Clock(), terminal()
    bar = Bar(simulated, console, clock)
    bar._progress.get_time = clock
    bar._progress.tasks[0]._get_time = clock
    with bar:
        bar._progress.start_task(bar._task)
        bar._progress.tasks[0].start_time = 0.0
        clock.now = after
        bar(("searching", share))
        bar._progress.refresh()
    return shown(console)


def test_a_share_gives_the_time_left() -> None:
    said = told(0.25)
    assert "searching" in said
    assert "0:01:00" in said
    assert "0:03:00 left" in said
    assert "SIMULATION" not in said
    assert "SIMULATION, NOT PRIVATE: searching" in told(0.5, simulated=True)


def test_without_a_share_there_is_the_time_gone_alone() -> None:
    said = told(None)
    assert "0:01:00" in said
    assert "left" not in said
    assert "%" not in said


def test_a_bar_that_had_a_share_may_lose_it_again() -> None:
    bar = Bar(console=terminal(), clock=Clock())
    bar._show("searching", 0.5)
    bar._show("releasing", None)
    assert bar._progress.tasks[0].total is None


def test_nothing_is_shown_where_nobody_looks() -> None:
    console = Console(file=io.StringIO())
    with Bar(console=console) as bar:
        bar(("searching", 0.5))
    assert shown(console) == ""


def test_it_is_updated_ten_times_a_second_at_most(monkeypatch) -> None:
    clock, calls = Clock(), []
    bar = Bar(console=terminal(), clock=clock)
    monkeypatch.setattr(bar, "_show", lambda stage, share: calls.append((stage, share)))
    clock.now = 1.0
    for i in range(1000):
        clock.now += 0.001
        bar(("searching", i / 1000))
    assert 9 <= len(calls) <= 11
    bar(("releasing", None))  # another stage is shown at once
    assert calls[-1] == ("releasing", None)


def test_it_closes_on_errors_and_takes_calls_from_threads() -> None:
    bar = Bar(console=terminal())

    def fails() -> None:
        with bar:
            threads = [threading.Thread(target=bar, args=(("searching", 0.5),)) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert not bar._progress.live.is_started


def test_a_terminal_that_goes_away_ends_nothing() -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    console = progress._Console(file=Gone(), force_terminal=True)
    with Bar(console=console) as bar:
        bar(("searching", 0.5))
    assert console.quiet


def seen(monkeypatch, **changes) -> str:
    console = terminal()
    monkeypatch.setattr(progress, "_Console", lambda stderr: console)
    search(grid=GRID, progress=True, steps=3, **changes).fit(X, Y)
    return shown(console)


def test_a_fit_shows_one_and_wipes_it(monkeypatch, capsys) -> None:
    said = seen(monkeypatch, procedure="composition")
    assert "SIMULATION, NOT PRIVATE: opening" in said or "searching" in said
    assert said.endswith("\x1b[2K")
    assert capsys.readouterr().out == ""
    search(progress=True, steps=3).fit(X, Y)


def test_a_secret_number_of_runs_leaves_the_same_text(monkeypatch) -> None:
    """However many there were: stages, bars and times, and no count."""
    texts = set()
    for seed in range(3):
        options = {"mean_runs": 3}
        said = seen(monkeypatch, procedure="random-repeats", options=options, random_state=seed)
        words = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|[━╸╺\r\n ]+|\d:\d\d:\d\d", " ", said)
        texts |= set(words.split())
    assert texts <= {"SIMULATION,", "NOT", "PRIVATE:", "starting", "opening", "searching"}
