"""What every experiment offers, so that one command can run, show and draw any of them.

An experiment is a module with four functions:

    run(choice, store, tell)    trains what is not in the store yet, saving as it goes
    result(choice, store)       what follows from the records in the store alone, for JSON
    text(result)                the same in words
    picture(result)             the same drawn
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from honestdp.errors import fail, positive, positive_integer
from honestdp.text import SIMULATION

ReportProgress = Callable[[str, float], None]  # what is going on, and the share that is done
Result = Mapping[str, Any]

LOT_SIZE = 250  # in all of the paper

WHAT = f"{SIMULATION}: a seeded research run, scored without noise"

# By the name that a command takes, as pictures call them. The stand-in is never called Gisette.
DATASETS = {
    "adult": "Adult",
    "adult-104": "Adult (104 columns)",
    "enron": "ENRON",
    "enron-counts": "ENRON (raw counts)",
    "enron-unit": "ENRON (rows of norm 1)",
    "gisette-standin": "Gisette stand-in",
    "mnist": "MNIST",
    "synthetic": "synthetic",
    "zero": "zero gradients",
}
MODELS = ("lr", "tlnn", "tlnn-linear")


@dataclass(frozen=True)
class Choice:
    """What to run, as the user chose; None: as it was run for the documentation."""

    datasets: tuple[str, ...] | None = None
    models: tuple[str, ...] | None = None
    sigmas: tuple[float, ...] | None = None
    repetitions: int | None = None

    def __post_init__(self) -> None:
        for name in ("datasets", "models", "sigmas"):
            once = tuple(dict.fromkeys(getattr(self, name) or ())) or None
            object.__setattr__(self, name, once)
        self._check_names(DATASETS, MODELS, "must be among")
        for sigma in self.sigmas or ():
            positive("sigmas", sigma)
        if self.repetitions is not None:
            positive_integer("repetitions", self.repetitions)

    @property
    def given(self) -> bool:
        return self != Choice()

    def check(
        self, datasets: Sequence[str], models: Sequence[str] = ("lr",), sigmas: bool = True
    ) -> None:
        """Raise InputError if something was chosen that an experiment does not have."""
        self._check_names(datasets, models, "this experiment has")
        if self.sigmas and not sigmas:
            raise fail("sigmas", self.sigmas[0], "noise follows from epsilon here; leave it out")

    def _check_names(self, datasets: Iterable[str], models: Iterable[str], remedy: str) -> None:
        for name, chosen, known in (
            ("datasets", self.datasets, tuple(datasets)),
            ("models", self.models, tuple(models)),
        ):
            for one in chosen or ():
                if one not in known:
                    raise fail(name, one, f"{remedy} {', '.join(known)}")


Job = tuple[str, float, Callable[[Callable[[float], None]], None]]  # name, work, what does it


def in_order(jobs: Iterable[Job], tell: ReportProgress) -> None:
    """Run all jobs that have work left; each reports its own share of the progress."""
    left = [job for job in jobs if job[1]]
    total, done = sum(work for _, work, _ in left), 0.0
    for name, work, do in left:
        do(partial(_report_share, tell, name, done / total, work / total))
        done += work


def _report_share(
    tell: ReportProgress, name: str, before: float, share: float, part: float
) -> None:
    tell(name, before + part * share)


def seed(name: str) -> int:
    """The seed of what has this name: its own, so that no two share lots or noise."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")


@contextmanager
def timed(known: dict[str, Any]) -> Iterator[None]:
    """Adds what is done within to the time that a record says, by the clock and by core."""
    wall, core = time.perf_counter(), time.process_time()
    yield
    known["seconds"] = round(known["seconds"] + time.perf_counter() - wall, 2)
    known["core_seconds"] = round(known["core_seconds"] + time.process_time() - core, 2)


def rounded(value: float) -> float:
    """To six digits, as measured numbers are saved."""
    return float(f"{value:.6g}")
