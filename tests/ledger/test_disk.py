"""Files that are not ledgers, and disks that do not write: one line, nothing half-written."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from faults import unprivileged
from honestdp.errors import InputError
from honestdp.ledger import Ledger, store
from honestdp.privacy.spending import Spending

NAMES = {"dataset": "adult", "schema": "f00d"}
TOTAL = {"epsilon": 100, "delta": 1e-6}
ONE = Spending.of_pair(0.1, 0)
LONG = {"grid": ["x" * 1000] * 10}  # more than what is left of the last page


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger.create(tmp_path / "a.ledger", **NAMES, **TOTAL)
    made.reserve(ONE, {})
    return made


@contextmanager
def one_line(*words: str) -> Iterator[None]:
    with pytest.raises(InputError) as caught:
        yield
    text = str(caught.value)
    assert "\n" not in text
    for word in words:
        assert word in text, text


@pytest.fixture
def shared() -> Iterator[Ledger]:
    """A ledger in a folder everyone may look into but nobody write to."""
    folder = Path(tempfile.mkdtemp())  # pytest's own folders are closed to others
    made = Ledger.create(folder / "a.ledger", **NAMES, **TOTAL)
    made.reserve(ONE, {})
    folder.chmod(0o555)
    yield made
    folder.chmod(0o755)
    shutil.rmtree(folder)


def test_a_read_only_file_can_be_read_but_not_spent(shared: Ledger) -> None:
    shared.path.chmod(0o444)
    before = shared.path.read_bytes()
    with unprivileged():
        assert len(shared.history()) == 1
        shared.verify(shared.head)
        with one_line("cannot be written", "nothing was spent"):
            shared.reserve(ONE, {})
        with one_line("cannot be written"):
            shared.release(shared.history()[0].receipt)
    assert shared.path.read_bytes() == before


def test_a_read_only_folder(shared: Ledger) -> None:
    shared.path.chmod(0o666)
    before = shared.path.read_bytes()
    with unprivileged():
        with one_line("nothing was spent"):
            shared.reserve(ONE, {})
        with one_line("its folder cannot be used"):
            Ledger.create(shared.path.with_name("b.ledger"), **NAMES, **TOTAL)
    assert shared.path.read_bytes() == before
    assert [p.name for p in shared.path.parent.iterdir()] == ["a.ledger"]


def test_a_file_that_may_not_be_read(shared: Ledger) -> None:
    shared.path.chmod(0o000)
    with unprivileged(), one_line("cannot be opened"):
        Ledger.open(shared.path, **NAMES)


def test_no_room_for_another_page(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    connect = store.connect

    def full(path: Path, mode: str) -> sqlite3.Connection:
        connection = connect(path, mode)
        connection.execute("PRAGMA max_page_count=1")  # SQLite: not below what is there
        return connection

    before = ledger.path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(store, "connect", full)
        with one_line("disk is full", "nothing was spent"):
            ledger.reserve(ONE, LONG)
        with one_line("disk is full"):
            Ledger.create(ledger.path.with_name("b.ledger"), **NAMES, **TOTAL)
    assert ledger.path.read_bytes() == before
    assert [p.name for p in ledger.path.parent.iterdir()] == ["a.ledger"]
    ledger.reserve(ONE, LONG)
    ledger.verify()


def test_a_disk_that_stops_writing(ledger: Ledger) -> None:
    """The system itself refuses to let files grow past what the ledger has."""
    before = ledger.path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        for limit in (0, 600, 4096, len(before)):
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limits[1]))
            try:
                with one_line("nothing was"):
                    ledger.reserve(ONE, LONG)
                if limit < 4096:
                    with one_line("nothing was"):
                        Ledger.create(ledger.path.with_name("b.ledger"), **NAMES, **TOTAL)
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            ledger.verify()
            assert len(ledger.history()) == 1
            assert [p.name for p in ledger.path.parent.iterdir()] == ["a.ledger"]
    finally:
        signal.signal(signal.SIGXFSZ, handler)
    ledger.reserve(ONE, LONG)


def test_a_ledger_held_by_another(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "BUSY_SECONDS", 0.1)
    holder = sqlite3.connect(ledger.path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with one_line("others held it", "nothing was spent"):
        ledger.reserve(ONE, {})
    assert len(ledger.history()) == 1  # reading goes on
    holder.execute("ROLLBACK")
    holder.close()
    ledger.reserve(ONE, {})


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not a ledger\n",
        b"a,b,c\n1,2,3\n" * 1000,
        bytes(range(256)) * 64,
        b"SQLite format 3\x00",
        b"SQLite format 3\x00" + bytes(5000),
    ],
)
def test_files_that_are_no_ledgers(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.ledger"
    path.write_bytes(content)
    with one_line("is not a ledger, or damaged"):
        Ledger.open(path, **NAMES)
    with one_line("already exists"):
        Ledger.create(path, **NAMES, **TOTAL)
    assert path.read_bytes() == content
    assert [p.name for p in tmp_path.iterdir()] == ["a.ledger"]


def test_random_files(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    for size in (1, 15, 16, 17, 99, 100, 101, 512, 4096, 50_000):
        path.write_bytes(os.urandom(size))
        with one_line("is not a ledger, or damaged"):
            Ledger.open(path, **NAMES)


def test_another_programs_database(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE entries (position, body, hash)")
    connection.commit()
    connection.close()
    with one_line("another program's file"):
        Ledger.open(path, **NAMES)


def test_truncated_files(ledger: Ledger) -> None:
    for _ in range(6):
        ledger.reserve(ONE, LONG)
    whole = ledger.path.read_bytes()
    for size in [*range(0, len(whole), 1777), len(whole) - 1]:
        ledger.path.write_bytes(whole[:size])
        with one_line("is not a ledger, or damaged"):
            Ledger.open(ledger.path, **NAMES).verify()
        with one_line():
            ledger.reserve(ONE, {})


def test_paths_that_lead_nowhere(tmp_path: Path) -> None:
    with one_line("is not there"):
        Ledger.open(tmp_path / "none.ledger", **NAMES)
    with one_line("folder does not exist"):
        Ledger.open(tmp_path / "no" / "none.ledger", **NAMES)
    with one_line("folder does not exist"):
        Ledger.create(tmp_path / "no" / "none.ledger", **NAMES, **TOTAL)
    with one_line():
        Ledger.open(tmp_path, **NAMES)
    with one_line():
        Ledger.create(tmp_path, **NAMES, **TOTAL)
    assert list(tmp_path.iterdir()) == []


def test_a_ledger_removed_under_a_session(ledger: Ledger) -> None:
    ledger.path.unlink()
    with one_line("is not there"):
        ledger.reserve(ONE, {})
    assert not ledger.path.exists()
