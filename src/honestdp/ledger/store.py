"""One SQLite file of chained rows: locks, durability, and errors in one plain line.

*One writer at a time*: `BEGIN IMMEDIATE` takes the write lock before anything is read, so that
what was read is still true when the decision based on it is written. Others wait, up to a minute.

*Durable when the call returns.* Rollback journal (`journal_mode=DELETE`) with
`synchronous=EXTRA`, which is FULL and one thing more: FULL syncs journal and file before the
commit, but the commit itself is the journal's removal, and a power cut soon after could bring the
journal, and with it the state before the charge, back. EXTRA syncs the folder after the removal.
A write-ahead log would be as durable under FULL, but it keeps commits in a second file that a
copy of the ledger would miss, and does not work on network drives.

*Append-only*: triggers refuse UPDATE, DELETE and any INSERT but the next position (so REPLACE
too). They stop mistakes. Whoever can write the file can drop them, but the hashes reveal it.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from honestdp.errors import InputError, fail
from honestdp.files import sync_folder
from honestdp.ledger.chain import Chain, DamagedError, link, read_chain

BUSY_SECONDS = 60.0
UNSPENT = "nothing was spent"
APPLICATION = 0x68647031  # in the file's header: a ledger of honestdp

_SCHEMA = {
    "entries": "CREATE TABLE entries (position INTEGER PRIMARY KEY, body TEXT NOT NULL, "
    "hash TEXT NOT NULL)",
    "no_update": "CREATE TRIGGER no_update BEFORE UPDATE ON entries "
    "BEGIN SELECT RAISE(ABORT, 'entries of a ledger are never changed'); END",
    "no_delete": "CREATE TRIGGER no_delete BEFORE DELETE ON entries "
    "BEGIN SELECT RAISE(ABORT, 'entries of a ledger are never removed'); END",
    "only_append": "CREATE TRIGGER only_append BEFORE INSERT ON entries "
    "WHEN NEW.position IS NOT (SELECT coalesce(max(position) + 1, 0) FROM entries) "
    "BEGIN SELECT RAISE(ABORT, 'entries of a ledger are only appended'); END",
}


def make(path: Path, body: str) -> None:
    """Create a ledger file with this first body, completely or not at all.

    It is written under another name and linked into place, which fails if the name is taken: of two
    processes that create it one wins, and one killed half-way leaves no file of this name.
    """
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}.new")
    with plain_errors(path):
        try:
            with closing(connect(draft, "rwc")) as connection:
                connection.execute("BEGIN IMMEDIATE")
                connection.execute(f"PRAGMA application_id={APPLICATION}")
                for statement in _SCHEMA.values():
                    connection.execute(statement)
                connection.execute("INSERT INTO entries VALUES (0, ?, ?)", (body, link("", body)))
                connection.execute("COMMIT")
            os.link(draft, path)
            sync_folder(path.parent)
        except FileExistsError:
            raise fail("path", str(path), "already exists; choose another name") from None
        finally:
            for left_over in (draft, draft.with_name(f"{draft.name}-journal")):
                with suppress(OSError):
                    left_over.unlink()


@contextmanager
def reading(path: Path) -> Iterator[Chain]:
    """The chain as it is now."""
    with plain_errors(path), _transaction(path, "BEGIN") as connection:
        yield _chain(connection)


def entries(path: Path) -> tuple[Chain, tuple[str, ...]]:
    """The chain as it is now, and the bodies of its entries."""
    with plain_errors(path), _transaction(path, "BEGIN") as connection:
        chain = _chain(connection)
        rows = connection.execute("SELECT body FROM entries ORDER BY position").fetchall()
        return chain, tuple(body for (body,) in rows)


@contextmanager
def writing(path: Path, undone: str = UNSPENT) -> Iterator[tuple[Chain, list[str]]]:
    """The chain, and a list whose bodies are appended and committed at the end of the block.

    Nothing is written if the block raises. `undone`: how an error message states that.
    """
    with plain_errors(path, undone), _transaction(path, "BEGIN IMMEDIATE") as connection:
        chain = _chain(connection)
        bodies: list[str] = []
        yield chain, bodies
        previous = chain.head
        for position, body in enumerate(bodies, start=len(chain.hashes)):
            previous = link(previous, body)
            connection.execute("INSERT INTO entries VALUES (?, ?, ?)", (position, body, previous))


def connect(path: Path, mode: str) -> sqlite3.Connection:
    """Connect with a ledger's settings; mode "rw" never creates a file, "rwc" does."""
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    connection = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        for setting in ("synchronous=EXTRA", "fullfsync=ON", "trusted_schema=OFF"):
            connection.execute(f"PRAGMA {setting}")
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def _transaction(path: Path, begin: str) -> Iterator[sqlite3.Connection]:
    with closing(connect(path, "rw")) as connection:
        (journal,) = connection.execute("PRAGMA journal_mode").fetchone()
        if journal != "delete":
            raise DamagedError(f"its journal mode is {journal}, not delete")
        connection.execute(begin)
        try:
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                with suppress(sqlite3.Error):  # closing rolls back as well
                    connection.execute("ROLLBACK")
            raise


def _chain(connection: sqlite3.Connection) -> Chain:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    found = dict(connection.execute("SELECT name, sql FROM sqlite_master").fetchall())
    if application != APPLICATION or "entries" not in found:
        raise DamagedError("it is another program's file")
    if found != _SCHEMA:
        raise DamagedError("its tables or triggers were changed")
    # All at once: a cursor that is half read would survive an error and keep the lock.
    return read_chain(connection.execute("SELECT * FROM entries ORDER BY position").fetchall())


@contextmanager
def plain_errors(path: Path, undone: str = UNSPENT) -> Iterator[None]:
    """Turn errors of the file into an `InputError` of one line."""
    try:
        yield
    except InputError:
        raise
    except DamagedError as error:
        raise fail("ledger", str(path), f"is not a ledger, or damaged: {error}") from None
    except UnicodeDecodeError:  # SQLite's own message quotes the damaged bytes
        raise fail("ledger", str(path), "is not a ledger, or damaged") from None
    except sqlite3.Error as error:
        raise fail("ledger", str(path), _remedy(path, error, undone)) from None
    except OSError as error:
        raise fail("ledger", str(path), f"{error.strerror or error}; {undone}") from None


def _remedy(path: Path, error: sqlite3.Error, undone: str) -> str:
    match getattr(error, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT:
            return "is not a ledger, or damaged; restore it from a copy, then verify its head"
        case sqlite3.SQLITE_FULL:
            return f"the disk is full; {undone}"
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return f"others held it for {BUSY_SECONDS:g} seconds; {undone}, try again"
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return f"cannot be written; {undone}"
        case sqlite3.SQLITE_CANTOPEN if not path.parent.is_dir():
            return "its folder does not exist"
        case sqlite3.SQLITE_CANTOPEN if not os.access(path, os.F_OK, effective_ids=_EFFECTIVE):
            return "is not there (create it first), or its folder cannot be used"
        case sqlite3.SQLITE_CANTOPEN:
            return f"it, or its folder, cannot be opened and written; {undone}"
        case sqlite3.SQLITE_IOERR:
            return "the disk failed or is full; nothing was granted"  # but it may be spent
    return f"is not a ledger, or damaged ({error})"


_EFFECTIVE = os.access in os.supports_effective_ids
