"""Ledgers that were changed or cannot be written, before a run and while it is on its way."""

from __future__ import annotations

import resource
import shutil
import signal
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from refusals import never_opened, refused, unspent
from tiny_runs import new_ledger, write_csv

from faults import unprivileged
from honestdp.ledger import Ledger, store
from honestdp.planning.plan import Plan
from honestdp.runner.progress import Progress
from honestdp.runner.run import run

Change = Callable[[Path], None]


@pytest.fixture(autouse=True)
def _imported(plan: Plan, csv: Path) -> None:
    """A first run imports and compiles; below, somebody else may not write to do so."""
    run(plan, csv, seed=1)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-4096])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[content.index(b'"kind":"ledger"') + 9] ^= 1
    path.write_bytes(content)


def overwrite(path: Path) -> None:
    path.write_bytes(b"age,job,pay\n" * 500)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def edit(path: Path) -> None:
    """By someone who knows SQLite: a larger total, the triggers put back."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        ((sql,),) = connection.execute("SELECT sql FROM sqlite_master WHERE name='no_update'")
        connection.execute("DROP TRIGGER no_update")
        connection.execute(
            "UPDATE entries SET body = replace(body, '\"epsilon\":1.0', '\"epsilon\":9.0')"
        )
        connection.execute(sql)


DAMAGE: dict[str, Change] = {
    "cut short": cut,
    "a bit flipped": flip,
    "overwritten": overwrite,
    "emptied": empty,
    "edited": edit,
}


@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_ledger_opens_nothing(plan: Plan, ledger: Ledger, csv: Path, what: str) -> None:
    ledger.reserve(plan.spending, plan.public())
    DAMAGE[what](ledger.path)
    with unspent(ledger), never_opened(csv), refused("is not a ledger, or damaged"):
        run(plan, csv, ledger)


def test_a_ledger_put_back_to_an_older_state(plan: Plan, ledger: Ledger, csv: Path) -> None:
    old = ledger.path.read_bytes()
    run(plan, csv, ledger)
    ledger.path.write_bytes(old)  # right in itself
    with unspent(ledger), never_opened(csv), refused("replaced, or cut short"):
        run(plan, csv, ledger)


def test_a_ledger_that_is_gone(plan: Plan, ledger: Ledger, csv: Path) -> None:
    ledger.path.unlink()
    with never_opened(csv), refused("is not there"):
        run(plan, csv, ledger)
    assert not ledger.path.exists()


@pytest.mark.parametrize("what", [*DAMAGE, "put back", "gone"])
def test_a_ledger_damaged_on_the_way_releases_nothing(
    plan: Plan, ledger: Ledger, csv: Path, what: str
) -> None:
    """Trained in vain; but once the ledger is mended the charge is still good."""
    before = ledger.path.read_bytes()
    changes = {
        **DAMAGE,
        "put back": lambda path: path.write_bytes(before),
        "gone": lambda path: path.unlink(),
    }
    charged = []

    def damage(told: Progress) -> None:
        if told.stage == "searching" and not charged:
            charged.append(ledger.path.read_bytes())
            changes[what](ledger.path)

    with refused("ledger="):
        run(plan, csv, ledger, progress=damage)
    ledger.path.write_bytes(charged[0])
    (charge,) = ledger.history()
    assert not charge.released
    assert run(plan, csv, ledger, receipt=charge.receipt).receipt == charge.receipt
    assert len(ledger.history()) == 1


# Disks that do not write


@pytest.fixture
def folder() -> Iterator[Path]:
    """One that everyone may look into; pytest's own are closed to others."""
    made = Path(tempfile.mkdtemp())
    made.chmod(0o755)
    yield made
    made.chmod(0o755)
    shutil.rmtree(made)


@pytest.mark.parametrize(("file", "around"), [(0o444, 0o755), (0o666, 0o555)])
def test_a_ledger_that_may_not_be_written(plan: Plan, folder: Path, file: int, around: int) -> None:
    ledger, csv = new_ledger(folder / "one.ledger"), write_csv(folder / "table.csv")
    ledger.path.chmod(file)
    folder.chmod(around)
    with unspent(ledger), never_opened(csv), unprivileged(), refused("nothing was spent"):
        run(plan, csv, ledger)


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """The system itself lets no file grow past this: as a disk that is full."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("size", [0, 600, 4096])
def test_a_full_disk_opens_nothing(plan: Plan, ledger: Ledger, csv: Path, size: int) -> None:
    with unspent(ledger), never_opened(csv), refused("nothing was"), largest_file(size):
        run(plan, csv, ledger)
    ledger.verify()
    run(plan, csv, ledger)  # once there is room


def test_a_disk_that_is_full_at_the_end(plan: Plan, ledger: Ledger, csv: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill(told: Progress) -> None:
        if told.stage == "searching":
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))

    with refused("the disk failed or is full", "nothing was"), largest_file(1 << 30):
        run(plan, csv, ledger, progress=fill)
    _still_good(plan, ledger, csv)


def test_a_ledger_held_by_another_at_the_end(
    plan: Plan, ledger: Ledger, csv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as holder:

        def hold(told: Progress) -> None:
            if told.stage == "searching" and not holder.in_transaction:
                monkeypatch.setattr(store, "BUSY_SECONDS", 0.1)
                holder.execute("BEGIN IMMEDIATE")

        with refused("others held it", "nothing was released, the receipt of charge 1 stays good"):
            run(plan, csv, ledger, progress=hold)
    _still_good(plan, ledger, csv)


def _still_good(plan: Plan, ledger: Ledger, csv: Path) -> None:
    (charge,) = ledger.history()
    assert not charge.released
    ledger.verify(run(plan, csv, ledger, receipt=charge.receipt).head)
    assert len(ledger.history()) == 1
