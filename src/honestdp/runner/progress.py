"""What a run says of how far it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Progress(NamedTuple):
    """How far a run is; `share` (0 to 1) is None where it would tell how many runs there are."""

    stage: str
    share: float | None


Report = Callable[[Progress], None]


def tell(report: Report | None, stage: str, share: float | None = None) -> None:
    """Say where a run is, if anyone listens."""
    if report is not None:
        report(Progress(stage, share))
