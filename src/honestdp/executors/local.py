"""`local`: on this machine, in threads of this process."""

from __future__ import annotations

from honestdp.engine.train import Trained, train
from honestdp.executors import executors
from honestdp.executors.base import Executor, Work


@executors.register
class LocalExecutor(Executor):
    """Trains on this machine, in `workers` threads; by default one per core."""

    name = "local"
    summary = "On this machine, in as many threads as it has cores."

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers

    def train(self, work: Work, begun: Trained | None = None) -> Trained:
        return train(
            work.models,
            work.rows,
            work.candidates,
            work.schedule,
            work.randomness,
            numbers=work.numbers,
            progress=work.progress,
            stop=work.stop,
            resume=begun,
            workers=self.workers,
        )
