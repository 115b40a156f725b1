"""What a run writes down so that it can go on after an interruption, and nothing more.

`RUN/.private/` is inside the trust boundary: readable by its owner alone, removed on release. It
holds the root of the coins (so K, the settings and the subset are never drawn again), learnt
bounds, what was kept so far, and where the training at work stands. It never holds the root of
the noise: a resumed run draws fresh noise for whatever it has still to do. At the end it holds what
will leave, until the ledger has said that it may.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from honestdp.engine.work import CandidateState
from honestdp.errors import InputError, Interrupted, fail
from honestdp.private_files import locked, plain_errors, replace_file, sync_folder
from honestdp.resume.state import RunState, StateFile
from honestdp.schema import Schema, with_bounds
from honestdp.select import Draw, Outcome

PRIVATE, STATE, LOCK = ".private", "state", "lock"
LAST = "card.json"  # of what is published: where it is, all is
EVERY = 20.0  # seconds between two notes of where a training stands


class Journal:
    """That of a run that is not kept: it writes nothing, and an interruption loses the run."""

    folder: Path | None = None
    nonce: str | None = None
    coins: bytes | None = None

    def use(self, nonce: str) -> None:
        """The charge of this nonce pays for the run."""

    def schema(self, learn: Callable[[], Schema]) -> Schema:
        """The schema with learnt bounds, which are learnt once."""
        return learn()

    def once(self, step: Callable[..., list[Outcome]], *given: Any) -> list[Outcome]:
        """What is kept after a step of the search; one that was done is not done again."""
        return step(*given)

    def under_way(self, draws: Sequence[Draw]) -> list[CandidateState] | None:
        """Where the training of these draws stood; None if it had not begun."""
        return None

    @property
    def stop(self) -> Callable[[], bool] | None:
        """Says when a training is to pause for a note."""
        return None

    def note(self, draws: Sequence[Draw], states: Sequence[CandidateState]) -> None:
        """Write down where a training stands. Raises `Interrupted` if someone asked to stop."""

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Ctrl-C lets the work inside end at its next step, with a note of where it stands."""
        yield

    def stage(self, files: Mapping[str, bytes]) -> None:
        """Keep what will leave, before the ledger is told so."""

    def staged(self, names: Sequence[str]) -> dict[str, bytes] | None:
        """What was about to leave, if the run was stopped just then."""
        return None

    def publish(self, files: Mapping[str, bytes]) -> None:
        """Put what has left in its place, and remove all else."""

    def close(self, paid: bool = True) -> None:
        """Let others use the folder; leave no trace of a new run that was not paid for."""


class FolderJournal(Journal):
    """That of a run in a folder: a new one, or one to go on with."""

    def __init__(self, folder: str | os.PathLike[str], file: StateFile) -> None:
        self.folder: Path = Path(folder)
        self._file, self._private = file, self.folder / PRIVATE
        self._steps = 0  # of the search, counted as they are asked for
        self._asked = False
        self._next = time.monotonic() + EVERY
        with plain_errors(self.folder):
            if (self.folder / LAST).exists():  # all is there, but for the tidying up
                shutil.rmtree(self._private, ignore_errors=True)
                raise fail(
                    "folder", str(self.folder), "holds a finished run; load it, or choose another"
                )
            self._new = not self._private.is_dir()
            if self._new:
                self._make()
            self._lock: int | None = locked(self._private / LOCK)
            try:
                self._state = self._begin() if self._new else self._read()
            except BaseException:  # a Ctrl-C too: a notebook goes on after it
                self.close()
                raise

    def _make(self) -> None:
        if self.folder.exists() and (not self.folder.is_dir() or any(self.folder.iterdir())):
            raise fail("folder", str(self.folder), "is not empty; choose another for this run")
        self.folder.mkdir(parents=True, exist_ok=True)
        self._private.mkdir(mode=0o700)

    def _begin(self) -> RunState:
        self._state = RunState(secrets.token_hex(16), secrets.token_bytes(32))
        self._write()
        return self._state

    def _read(self) -> RunState:
        if not (self._private / STATE).exists():  # stopped before its first word
            return self._begin()
        try:
            return self._file.read((self._private / STATE).read_bytes())
        except InputError as error:
            raise fail("folder", str(self.folder), str(error)) from None

    def _write(self) -> None:
        with plain_errors(self.folder):
            replace_file(self._private / STATE, self._file.write(self._state))

    @property
    def nonce(self) -> str:  # type: ignore[override]
        return self._state.nonce

    @property
    def coins(self) -> bytes:  # type: ignore[override]
        return self._state.coins

    def use(self, nonce: str) -> None:
        if nonce != self._state.nonce:
            self._state.nonce = nonce
            self._write()

    def schema(self, learn: Callable[[], Schema]) -> Schema:
        declared = self._file.plan.spec.schema
        names = declared.to_learn
        if self._state.bounds is None:
            learnt = learn()
            bounds = {column.name: getattr(column, "bounds", None) for column in learnt.columns}
            self._state.bounds = [bounds[name] for name in names]  # type: ignore[misc]
            self._write()
        return with_bounds(declared, dict(zip(names, self._state.bounds, strict=True)))

    def once(self, step: Callable[..., list[Outcome]], *given: Any) -> list[Outcome]:
        self._steps += 1
        state = self._state
        if self._steps > state.done:
            self._check_asked()
            state.kept = step(*given)
            state.done, state.at_work = self._steps, []
            self._write()
        return state.kept

    def under_way(self, draws: Sequence[Draw]) -> list[CandidateState] | None:
        was = self._state.at_work
        return [state for _, state in was] if [draw for draw, _ in was] == list(draws) else None

    @property
    def stop(self) -> Callable[[], bool]:
        calls = count()  # at least one step is made between two pauses
        return lambda: self._asked or (next(calls) > 0 and time.monotonic() > self._next)

    def note(self, draws: Sequence[Draw], states: Sequence[CandidateState]) -> None:
        self._state.at_work = list(zip(draws, states, strict=True))
        self._next = time.monotonic() + EVERY
        if self._asked or any(state.step < self._file.plan.training.steps for state in states):
            self._write()  # else `once` will, in a moment
        self._check_asked()

    def _check_asked(self) -> None:
        if self._asked:
            raise Interrupted

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        usual = signal.default_int_handler
        main = threading.current_thread() is threading.main_thread()
        if not main or signal.getsignal(signal.SIGINT) is not usual:  # another's to handle
            yield
            return

        def ask(number: int, frame: object) -> None:
            self._asked = True
            signal.signal(signal.SIGINT, usual)  # a second one ends it at once

        signal.signal(signal.SIGINT, ask)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, usual)

    def stage(self, files: Mapping[str, bytes]) -> None:
        with plain_errors(self.folder):
            for name, content in files.items():
                replace_file(self._private / name, content)

    def staged(self, names: Sequence[str]) -> dict[str, bytes] | None:
        found = {}
        with plain_errors(self.folder):
            for name in names:
                for place in (self.folder / name, self._private / name):  # moved, or still to be
                    if place.is_file():
                        found[name] = place.read_bytes()
        return found if len(found) == len(names) else None

    def publish(self, files: Mapping[str, bytes]) -> None:
        self.stage(files)
        with plain_errors(self.folder):
            for name in files:
                (self._private / name).chmod(0o644)
                os.replace(self._private / name, self.folder / name)
            sync_folder(self.folder)
            self.close()
            shutil.rmtree(self._private)

    def close(self, paid: bool = True) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
        if self._new and not paid:
            with plain_errors(self.folder):
                shutil.rmtree(self._private)
                self.folder.rmdir()


def journal_in(folder: str | os.PathLike[str] | None, file: StateFile) -> Journal:
    """The journal of a run in this folder; one that writes nothing where there is none."""
    return Journal() if folder is None else FolderJournal(folder, file)
