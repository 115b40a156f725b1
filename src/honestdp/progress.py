"""A progress bar for `run`, in a terminal or a notebook; otherwise nothing is shown.

If the number of runs is secret, a run reports no share, and the bar only shows the elapsed time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn
from rich.text import Text

from honestdp.text import SIMULATION

EVERY = 0.1  # seconds between two updates: the engine reports every step, from many threads


class _TimeLeft(ProgressColumn):
    """The time left, estimated from the share done; empty without a share."""

    max_refresh = 0.5

    def render(self, task: Task) -> Text:
        if not task.total or not task.completed or task.elapsed is None:
            return Text("")
        left = int(task.elapsed * (task.total - task.completed) / task.completed)
        return Text(f"{left // 3600}:{left // 60 % 60:02}:{left % 60:02} left")


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Show nothing more; rich would exit the program."""
        self.quiet = True


class Bar:
    """`with Bar() as bar: run(plan, table, ledger, progress=bar)`."""

    def __init__(
        self,
        simulated: bool = False,
        console: Console | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        console = _Console(stderr=True) if console is None else console
        self.shown = console.is_terminal or console.is_jupyter
        self._mark = f"{SIMULATION}: " if simulated else ""
        self._clock, self._last, self._stage = clock, -EVERY, ""
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TimeElapsedColumn(),
            _TimeLeft(),
            console=console,
            transient=True,
        )
        self._task = self._progress.add_task(f"{self._mark}starting", total=None)

    def __enter__(self) -> Bar:
        self._try(self._progress.start)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._try(self._progress.stop)

    def __call__(self, progress: tuple[str, float | None]) -> None:
        stage, share = progress
        now = self._clock()
        if stage == self._stage and now - self._last < EVERY:
            return
        self._stage, self._last = stage, now
        self._try(lambda: self._show(stage, share))

    def _show(self, stage: str, share: float | None) -> None:
        # Without a total the bar pulses. `update(total=None)` would keep the old total.
        self._progress.tasks[0].total = None if share is None else 1.0
        self._progress.update(self._task, description=self._mark + stage, completed=share or 0.0)

    def _try(self, show: Callable[[], None]) -> None:
        """Ignore errors: a closed terminal must not end a paid run."""
        if self.shown:
            with suppress(Exception):
                show()
