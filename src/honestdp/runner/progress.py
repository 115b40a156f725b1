"""Progress reports of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Progress(NamedTuple):
    """The progress of a run; `share` (0 to 1) is None if it would reveal the number of runs."""

    stage: str
    share: float | None


Report = Callable[[Progress], None]


def tell(report: Report | None, stage: str, share: float | None = None) -> None:
    """Report the progress of a run, if there is a callback."""
    if report is not None:
        report(Progress(stage, share))
