"""`Executor`: the contract of a place where trainings are carried out.

An executor is inside the trust boundary: it is given protected rows. It decides nothing: K, the
settings, the streams of noise, what is kept and what leaves are the caller's. It must give the same
parameters as `local` for the same randomness, whatever it spreads over threads or machines, and
what it shows to others (dashboards, logs, the number of tasks) must not tell how many trainings
there are. To add one: a class in a file of its own, registered by `executors.register`, checked by
`honestdp.testing.check_executor`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from honestdp.candidates import Candidate
from honestdp.engine.examples import Examples
from honestdp.engine.models import Model
from honestdp.engine.train import Schedule, Trained
from honestdp.randomness import Randomness


@dataclass(frozen=True, eq=False, repr=False)
class Work:
    """Trainings to carry out, one a candidate. Sensitive: it holds rows.

    numbers: Of the candidates' random streams. progress: Called with steps done and steps in all;
    None where that would tell a secret. stop: Says when to pause; asked between steps.
    """

    models: Sequence[Model]
    rows: Examples
    candidates: Sequence[Candidate]
    schedule: Schedule
    randomness: Randomness
    numbers: Sequence[int]
    progress: Callable[[int, int], None] | None = None
    stop: Callable[[], bool] | None = None


class Executor(ABC):
    """Carries out trainings.

    Class attributes:
        name: By which users ask for it.
        summary: Where it trains, in a sentence.
    """

    name: ClassVar[str]
    summary: ClassVar[str] = ""

    @abstractmethod
    def train(self, work: Work, begun: Trained | None = None) -> Trained:
        """Train every candidate, until all are finished or `work.stop` says to pause.

        Args:
            work: What to train.
            begun: Where the same work was paused before; None: from the start.

        Returns:
            Where the trainings stand. Its parameters are those of `local`.
        """

    def close(self) -> None:  # noqa: B027, most executors hold nothing
        """Let go of what it holds: processes, connections. Called once, when a run ends."""
