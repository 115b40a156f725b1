"""What every experiment offers, so that one command can run, show and draw any of them.

An experiment is a module with four functions:

    run(choice, folder, tell)   trains what is not in the folder yet, saving as it goes
    result(choice, folder)      what follows from the files in the folder alone, for JSON
    text(result)                the same in words
    picture(result)             the same drawn
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from honestdp.errors import InputError, fail, positive, positive_integer
from honestdp.files import ANYONE, replace_file
from honestdp.text import SIMULATION

Told = Callable[[str, float], None]  # what is going on, and the share that is done
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
    """What to run, as asked for; None: as it was run for the documentation."""

    datasets: tuple[str, ...] | None = None
    models: tuple[str, ...] | None = None
    sigmas: tuple[float, ...] | None = None
    repetitions: int | None = None

    def __post_init__(self) -> None:
        for name in ("datasets", "models", "sigmas"):
            once = tuple(dict.fromkeys(getattr(self, name) or ())) or None
            object.__setattr__(self, name, once)
        self._check_words(DATASETS, MODELS, "must be among")
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
        """Raise where something was chosen that an experiment has not."""
        self._check_words(datasets, models, "this experiment has")
        if self.sigmas and not sigmas:
            raise fail("sigmas", self.sigmas[0], "noise follows from epsilon here; leave it out")

    def _check_words(self, datasets: Iterable[str], models: Iterable[str], said: str) -> None:
        for name, chosen, known in (
            ("datasets", self.datasets, tuple(datasets)),
            ("models", self.models, tuple(models)),
        ):
            for word in chosen or ():
                if word not in known:
                    raise fail(name, word, f"{said} {', '.join(known)}")


Job = tuple[str, float, Callable[[Callable[[float], None]], None]]  # name, work, what does it


def in_order(jobs: Iterable[Job], tell: Told) -> None:
    """Does all that has work left; each is given whom to tell its own share."""
    left = [job for job in jobs if job[1]]
    total, done = sum(work for _, work, _ in left), 0.0
    for name, work, do in left:
        do(partial(_told, tell, name, done / total, work / total))
        done += work


def _told(tell: Told, name: str, before: float, share: float, part: float) -> None:
    tell(name, before + part * share)


def _provenance(known: Mapping[str, Any]) -> dict[str, Any]:
    """Where a result comes from: the commit, the machine, the versions, the day; and the commits
    behind the part of it that was there before."""
    from honestdp.paper.machine import commit, machine

    found = {"commit": commit(), "machine": machine()}
    before = [*known.get("earlier_commits", ()), known.get("commit", found["commit"])]
    earlier = [each for each in dict.fromkeys(before) if each != found["commit"]]
    return found | ({"earlier_commits": earlier} if earlier else {})


def seed(name: str) -> int:
    """The seed of what has this name: its own, so that no two share lots or noise."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")


@contextmanager
def timed(known: dict[str, Any]) -> Iterator[None]:
    """Adds what is done within to the time that a file says, by the clock and by core."""
    wall, core = time.perf_counter(), time.process_time()
    yield
    known["seconds"] = round(known["seconds"] + time.perf_counter() - wall, 2)
    known["core_seconds"] = round(known["core_seconds"] + time.process_time() - core, 2)


def rounded(value: float) -> float:
    """To six digits, as measured numbers are saved."""
    return float(f"{value:.6g}")


def read(path: Path, rows: str) -> dict[str, Any] | None:
    """A saved result, with its rows under that name; None where there is none yet."""
    try:
        known = dict(json.loads(path.read_text()))
        known[rows] = list(known[rows])
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, TypeError, KeyError):
        raise InputError(f"{path}: is no file of results; remove it") from None
    return known


def save(path: Path, known: Mapping[str, Any], rows: str) -> None:
    """What is known, as `read` gives it, and where it comes from."""
    facts = {**known, **_provenance(known)}
    write(path, {name: facts[name] for name in facts if name != rows}, rows, known[rows])


def write(path: Path, facts: Mapping[str, Any], name: str, rows: Sequence[Any]) -> None:
    """Facts line by line, then `rows` under their name, one a line; at once, so that an
    interrupted save loses nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    head = "".join(f' "{key}": {json.dumps(value)},\n' for key, value in facts.items())
    lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    replace_file(path, f'{{\n{head} "{name}": [\n{lines}\n ]\n}}\n'.encode(), ANYONE, shared=True)
