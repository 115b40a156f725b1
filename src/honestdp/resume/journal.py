"""`Journal`: the record from which an interrupted run can be resumed, and nothing more.

`RUN/.private/` is inside the trust boundary: readable by its owner alone, removed on release. It
holds the root of the coins (so that K, the settings and the subset are never drawn again), learnt
bounds, the outcomes kept so far, and the state of the current training. It never holds the root of
the noise: a resumed run draws fresh noise for its remaining steps. At the end it holds the files to
release, until the ledger has recorded the release.
"""

from __future__ import annotations

import os
import secrets
import shlex
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from itertools import count
from pathlib import Path
from typing import Any

from honestdp.engine.cohort_training import CandidateState
from honestdp.errors import FolderError, InputError, Interrupted, fail
from honestdp.files import ANYONE, DRAFT, locked, remove_files, replace_file, sync_folder
from honestdp.procedures import Draw, Outcome
from honestdp.resume.state import RunState, StateFile
from honestdp.run_files import CARD, CONFIG, FILES, PRIVATE, STATE
from honestdp.schema.learn import Numbers

LOCK = "lock"
EVERY = 20.0  # seconds between two checkpoints of a training


class Journal:
    """The journal of a run without a folder: writes nothing; an interrupted run is lost."""

    folder: Path | None = None
    nonce: str | None = None
    coins: bytes | None = None
    begun = False  # whether data was used
    checked = False  # whether its table passed the check
    again = ""  # the argument or command that resumes the run

    def use(self, nonce: str, charge: int) -> None:
        """Record that this charge, with this nonce, pays for the run."""

    def check_stop(self) -> None:
        """Raise `Interrupted` if Ctrl-C was pressed."""

    def passed(self) -> None:
        """Record that the table passed its check, or that it goes unchecked: it is not asked again
        in this run."""

    def stopped(self) -> None:
        """Forget the run, of which nothing was trained, except how it was called: its folder is
        free for the next attempt, whose charge the ledger finds."""

    def learnt(self, learn: Callable[[], Mapping[str, Numbers]]) -> Mapping[str, Numbers]:
        """The learnt values of each column; a resumed run does not learn them again."""
        return learn()

    def check_rows(self, parts: Callable[[], Iterable[bytes]]) -> None:
        """Raise InputError unless the encoded rows, and their order, are those that the run began
        with."""

    def once(self, step: Callable[..., list[Outcome]], *given: Any) -> list[Outcome]:
        """Do a step of the search, unless it is already done; return the outcomes kept after it."""
        return step(*given)

    def under_way(self, draws: Sequence[Draw]) -> list[CandidateState] | None:
        """The saved state of the training of these draws; None if it had not begun."""
        return None

    @property
    def stop(self) -> Callable[[], bool] | None:
        """Returns True when a training should pause for a checkpoint."""
        return None

    def note(self, draws: Sequence[Draw], states: Sequence[CandidateState]) -> None:
        """Save the state of a training. Raises `Interrupted` if Ctrl-C was pressed."""

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """In this block Ctrl-C ends a training at its next step, after a checkpoint."""
        yield

    def stage(self, files: Mapping[str, bytes]) -> None:
        """Store the files to release, before the ledger records the release."""

    def staged(self, names: Sequence[str]) -> dict[str, bytes] | None:
        """The stored files, if the run was stopped after `stage`."""
        return None

    def publish(self, files: Mapping[str, bytes]) -> None:
        """Write the released files into the folder, and remove everything private."""

    def discard(self) -> None:
        """Remove a new run's files, as nothing was paid."""

    def close(self) -> None:
        """Unlock the folder."""


class FolderJournal(Journal):
    """The journal of a run in a folder: a new run, or one to resume."""

    def __init__(self, folder: str | os.PathLike[str], file: StateFile, config: str = "") -> None:
        self.folder: Path = Path(folder)
        self._file, self._private = file, self.folder / PRIVATE
        self._steps = 0  # of the search, counted by `once`
        self._stopping = False
        self._charge: int | None = None
        self._lock: int | None = None
        self._next = time.monotonic() + EVERY
        try:
            with self._plain():
                self._make()
                self._lock = locked(self._private / LOCK)
                self._check_unfinished()
                if config and not (self._private / STATE).exists():  # where a state is, all is
                    replace_file(self._private / CONFIG, config.encode())
                self._state = self._read()
                by_command = (self._private / CONFIG).is_file()
                command = f"honestdp resume {shlex.quote(str(self.folder))}"
                self.again = command if by_command else f"folder={str(self.folder)!r}"
        except BaseException:  # Ctrl-C too: in a notebook the process lives on
            self.close()
            raise

    def _make(self) -> None:
        """Create the folder of a new run; raise unless it is empty, or holds an unfinished run."""
        self._new = not os.path.lexists(self._private)
        self._owns = not os.path.lexists(self.folder)
        if self._new:
            self._check_unfinished()
            if self.folder.exists() and (not self.folder.is_dir() or any(self.folder.iterdir())):
                raise fail("folder", str(self.folder), "is not empty; choose another for this run")
            self.folder.mkdir(parents=True, exist_ok=True)
            self._private.mkdir(mode=0o700)
            for place in (self.folder, self.folder.absolute().parent):
                sync_folder(place)
        ours = {name + end for name in (STATE, LOCK, CONFIG, *FILES) for end in ("", DRAFT)}
        if self._private.is_symlink() or {one.name for one in self._private.iterdir()} - ours:
            raise fail("folder", str(self._private), "is not the folder of a run; choose another")
        self._private.chmod(0o700)

    def _check_unfinished(self) -> None:
        if not (self.folder / CARD).exists():
            return
        if not self._new:  # only tidying up was left to do; the folder is locked by now
            self._tidy()
        raise fail("folder", str(self.folder), "holds a finished run; choose another folder")

    def _read(self) -> RunState:
        if not (self._private / STATE).exists():  # new, or stopped before the first write
            state = RunState(secrets.token_hex(16), secrets.token_bytes(32))
            replace_file(self._private / STATE, self._file.write(state))
            return state
        try:
            return self._file.read((self._private / STATE).read_bytes())
        except InputError as error:
            raise fail("folder", str(self.folder), str(error)) from None

    @contextmanager
    def _plain(self) -> Iterator[None]:
        """Turn an OSError into a FolderError of one line that says what to do."""
        try:
            yield
        except OSError as error:
            reason = error.strerror or "cannot be used"
        else:
            return
        then = (
            "choose another, or make room"
            if self._charge is None
            else f"charge {self._charge} stands: make room and run again in this folder"
        )
        raise FolderError(f"folder={str(self.folder)!r}: {reason}; {then}")

    def _write(self) -> None:
        with self._plain():
            replace_file(self._private / STATE, self._file.write(self._state))

    @property
    def nonce(self) -> str:  # type: ignore[override]
        return self._state.nonce

    @property
    def coins(self) -> bytes:  # type: ignore[override]
        return self._state.coins

    @property
    def begun(self) -> bool:  # type: ignore[override]
        state = self._state
        return bool(state.done or state.at_work or state.bounds is not None or state.rows)

    def use(self, nonce: str, charge: int) -> None:
        self._charge = charge
        if nonce != self._state.nonce:
            self._state.nonce = nonce
            self._write()

    @property
    def checked(self) -> bool:  # type: ignore[override]
        return self._state.checked

    def passed(self) -> None:
        self._state.checked = True
        self._write()

    def stopped(self) -> None:
        with suppress(OSError):  # what is left is resumed, and asks again
            if (self._private / CONFIG).is_file():
                (self._private / STATE).unlink()
                sync_folder(self._private)
                return
            self._tidy()
            if self._owns:
                self.folder.rmdir()

    def learnt(self, learn: Callable[[], Mapping[str, Numbers]]) -> Mapping[str, Numbers]:
        names = list(self._file.plan.learns)
        if self._state.bounds is None:
            found = learn()
            self._state.bounds = [found[name] for name in names]
            self._write()
        return dict(zip(names, self._state.bounds, strict=True))

    def check_rows(self, parts: Callable[[], Iterable[bytes]]) -> None:
        whole = blake2b(key=self._state.coins, digest_size=32)
        for part in parts():
            whole.update(part)
        if self._state.rows is None:
            self._state.rows = whole.digest()
            self._write()
        elif self._state.rows != whole.digest():
            raise InputError("table: its rows, or their order, are not those the run began with")

    def once(self, step: Callable[..., list[Outcome]], *given: Any) -> list[Outcome]:
        self._steps += 1
        state = self._state
        if self._steps > state.done:
            self.check_stop()
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
        return lambda: self._stopping or (next(calls) > 0 and time.monotonic() > self._next)

    def note(self, draws: Sequence[Draw], states: Sequence[CandidateState]) -> None:
        self._state.at_work = list(zip(draws, states, strict=True))
        self._next = time.monotonic() + EVERY
        if self._stopping or any(state.step < self._file.plan.training.steps for state in states):
            self._write()  # otherwise `once` writes right after this
        self.check_stop()

    def check_stop(self) -> None:
        if self._stopping:
            raise Interrupted

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        usual = signal.default_int_handler
        main = threading.current_thread() is threading.main_thread()
        if not main or signal.getsignal(signal.SIGINT) is not usual:  # handled elsewhere
            yield
            return

        def request_stop(number: int, frame: object) -> None:
            self._stopping = True
            signal.signal(signal.SIGINT, usual)  # a second Ctrl-C ends it at once

        signal.signal(signal.SIGINT, request_stop)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, usual)

    def stage(self, files: Mapping[str, bytes]) -> None:
        with self._plain():
            for name, content in files.items():
                replace_file(self._private / name, content)

    def staged(self, names: Sequence[str]) -> dict[str, bytes] | None:
        found = {}
        with self._plain():
            for name in names:
                for place in (self.folder / name, self._private / name):  # published or staged
                    if place.is_file():
                        found[name] = place.read_bytes()
        return found if len(found) == len(names) else None

    def publish(self, files: Mapping[str, bytes]) -> None:
        self.stage(files)
        with self._plain():
            if (self._private / CONFIG).is_file():
                # Written again: its old modification time would reveal how long the run took.
                replace_file(self.folder / CONFIG, (self._private / CONFIG).read_bytes(), ANYONE)
            for name in files:
                (self._private / name).chmod(0o644)
                os.replace(self._private / name, self.folder / name)
            sync_folder(self.folder)
        with suppress(OSError):  # all is published: the next use of the folder tidies up
            self._tidy()

    def _tidy(self) -> None:
        """Remove the private files before unlocking, or others would find some of them."""
        remove_files(self._private, (STATE, CONFIG, *FILES, LOCK))
        self.close()

    def discard(self) -> None:
        if self._new:
            with suppress(OSError):
                self._tidy()
                if self._owns:
                    self.folder.rmdir()
        self.close()

    def close(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def journal_in(folder: str | os.PathLike[str] | None, file: StateFile, config: str = "") -> Journal:
    """The journal of a run in this folder; without a folder one that writes nothing."""
    return Journal() if folder is None else FolderJournal(folder, file, config)
