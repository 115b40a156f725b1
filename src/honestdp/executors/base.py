"""`Executor`: the contract of a place where trainings are carried out.

An executor is inside the trust boundary: it is given protected rows. It decides nothing: the caller
chooses K, the settings, the random streams, what is kept and what is released. It must give the
same parameters as `local` for the same randomness, however it distributes the work, and what it
shows to others (dashboards, logs, the number of tasks) must not reveal the number of trainings. To
add one: a class in a file of its own, registered by `executors.register`, checked by
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
    """Trainings to carry out, one per candidate. Sensitive: it holds rows.

    Attributes:
        models: The model of each candidate.
        rows: The rows to train on.
        candidates: The settings to train.
        schedule: Steps and lots.
        randomness: The source of lots and noise.
        numbers: The numbers of the candidates' random streams.
        progress: Called with steps done and total steps; None if that would reveal a secret.
        stop: Called between steps; returns True to pause.
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

    Attributes:
        name: The name that users give in `run(executor=...)`.
        summary: Where it trains, in a sentence.
    """

    name: ClassVar[str]
    summary: ClassVar[str] = ""

    @abstractmethod
    def train(self, work: Work, begun: Trained | None = None) -> Trained:
        """Train every candidate, until all are finished or `work.stop` returns True.

        Args:
            work: What to train.
            begun: The state in which the same work was paused; None: start from the beginning.

        Returns:
            The state of the trainings. Its parameters are those of `local`.
        """

    def close(self) -> None:  # noqa: B027, most executors hold nothing
        """Release resources such as processes and connections. `run` calls it when it ends, for an
        executor that was named; whoever made one closes it."""
