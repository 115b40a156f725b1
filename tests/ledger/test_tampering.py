"""Whatever is done to the file, it is noticed: alone, or against a head written down."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from honestdp.errors import InputError
from honestdp.ledger import Ledger
from honestdp.ledger.chain import canonical, link
from honestdp.privacy.spending import Spending

NAMES = {"dataset": "adult", "schema": "f00d"}
Rows = list[tuple[int, str, str]]


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger.create(tmp_path / "a.ledger", **NAMES, epsilon=1, delta=1e-6)
    for i in range(4):
        made.reserve(Spending.of_pair(0.1, 1e-9), {"run": i, "name": "x" * 20})
    made.release(made.history()[1].receipt)
    return made


def check(path: Path, head: str | None = None) -> None:
    Ledger.open(path, **NAMES).verify(head)


def noticed(path: Path, head: str | None = None) -> str:
    with pytest.raises(InputError) as caught:
        check(path, head)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def rows_of(path: Path) -> Rows:
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT * FROM entries ORDER BY position").fetchall()
    connection.close()
    return rows


def rewrite(path: Path, rows: Rows) -> None:
    """What someone who knows SQLite can do: drop the triggers, write, put them back."""
    connection = sqlite3.connect(path)
    triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type='trigger'")
    kept = triggers.fetchall()
    for name, _ in kept:
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute("DELETE FROM entries")
    connection.executemany("INSERT INTO entries VALUES (?, ?, ?)", rows)
    for _, sql in kept:
        connection.execute(sql)
    connection.commit()
    connection.close()


def rechain(rows: Rows) -> Rows:
    """Positions and hashes made right again."""
    made: Rows = []
    for position, (_, body, _) in enumerate(rows):
        made.append((position, body, link(made[-1][2] if made else "", body)))
    return made


def edit(rows: Rows, position: int, **changes: object) -> Rows:
    return [
        (n, canonical({**json.loads(body), **changes}) if n == position else body, hash_)
        for n, body, hash_ in rows
    ]


EDITS: dict[str, Callable[[Rows], Rows]] = {
    "a cheaper charge": lambda rows: edit(rows, 2, epsilon=0.01, largest_loss=0.01),
    "no slack": lambda rows: edit(rows, 2, slack=0.0, delta=0.0),
    "a smaller curve": lambda rows: edit(rows, 2, values=[0.0, 0.0, 0.0]),
    "another plan": lambda rows: edit(rows, 3, plan={"run": 9}),
    "a larger total": lambda rows: edit(rows, 0, epsilon=10.0),
    "another dataset's": lambda rows: edit(rows, 0, unit="ten rows"),
    "a charge removed": lambda rows: [*rows[:2], *rows[3:]],
    "a charge removed, renumbered": lambda rows: [
        (n, body, hash_) for n, (_, body, hash_) in enumerate([*rows[:2], *rows[3:]])
    ],
    "two swapped": lambda rows: [
        *rows[:1],
        (1, *rows[2][1:]),
        (2, *rows[1][1:]),
        *rows[3:],
    ],
    "the opening removed": lambda rows: rows[1:],
    "all removed": lambda rows: [],
    "a release removed": lambda rows: [
        *rows[:5],
        (5, rows[5][1].replace('"charge":2', '"charge":3'), rows[5][2]),
    ],
    "spaces": lambda rows: [(n, body.replace(",", ", "), hash_) for n, body, hash_ in rows],
}


@pytest.mark.parametrize("what", EDITS)
def test_every_edit_is_noticed(ledger: Ledger, what: str) -> None:
    head = ledger.head
    rows = rows_of(ledger.path)
    rewrite(ledger.path, rows)
    check(ledger.path, head)  # rewriting as it was is no change
    changed = EDITS[what](rows)
    assert changed != rows
    rewrite(ledger.path, changed)
    noticed(ledger.path)
    with pytest.raises(InputError):
        ledger.reserve(Spending.of_pair(0.01, 0), {})


@pytest.mark.parametrize("what", [name for name in EDITS if name != "all removed"])
def test_a_chain_made_anew_is_noticed_against_a_head(ledger: Ledger, what: str) -> None:
    head = ledger.head
    changed = rechain(EDITS[what](rows_of(ledger.path)))
    rewrite(ledger.path, changed)
    noticed(ledger.path, head)


def test_hashes_made_right_do_not_hide_what_cannot_be(ledger: Ledger) -> None:
    """Even without a head: more than the total, a second release, a release of nothing."""
    rows = rows_of(ledger.path)
    good = [row[1] for row in rows]
    for bodies, words in (
        ([*good, *[good[1]] * 7], "exceed"),
        ([*good, good[5]], "releases what it may not"),
        ([*good, canonical({"kind": "release", "charge": 9, "hash": "x"})], "releases"),
        ([*good, canonical({"kind": "refund", "epsilon": 1})], "no known kind"),
        ([*good, "[]"], "cannot be read"),
        ([*good, "{"], "cannot be read"),
        ([*good, "[" * 100_000], "cannot be read"),
        ([*good, canonical({**json.loads(good[1]), "epsilon": -1.0})], "cannot be read"),
        ([*good, canonical({**json.loads(good[1]), "plan": {}})], "fingerprint"),
        ([canonical({**json.loads(good[0]), "format": 2}), *good[1:]], "format"),
        ([canonical({**json.loads(good[0]), "more": 2}), *good[1:]], "cannot be read"),
        ([canonical({**json.loads(good[0]), "epsilon": "x"}), *good[1:]], ""),
    ):
        rewrite(ledger.path, rechain([(0, body, "") for body in bodies]))
        assert words in noticed(ledger.path)


@pytest.mark.parametrize("cut", [1, 2, 3, 5])
def test_a_ledger_cut_short_is_noticed_against_a_head(ledger: Ledger, cut: int) -> None:
    head, rows = ledger.head, rows_of(ledger.path)
    rewrite(ledger.path, rows[:-cut])
    check(ledger.path)  # right in itself
    assert "cut short or replaced" in noticed(ledger.path, head)


def test_an_older_copy_is_noticed_against_a_head(ledger: Ledger, tmp_path: Path) -> None:
    old = tmp_path / "old"
    shutil.copy(ledger.path, old)
    old_head = ledger.head
    receipt = ledger.reserve(Spending.of_pair(0.1, 0), {})
    ledger.verify(old_head)  # an older head is still in the chain
    shutil.copy(old, ledger.path)
    check(ledger.path, old_head)
    noticed(ledger.path, receipt.entry_hash)
    # and the same charge on the older copy does not make the same head
    again = Ledger.open(ledger.path, **NAMES)
    again.reserve(Spending.of_pair(0.1, 0), {})
    noticed(ledger.path, receipt.entry_hash)


def test_a_release_from_two_copies_is_noticed_against_a_head(ledger: Ledger) -> None:
    old, receipt = ledger.path.read_bytes(), ledger.history()[0].receipt
    head = ledger.release(receipt)
    ledger.path.write_bytes(old)
    again = Ledger.open(ledger.path, **NAMES)
    assert again.release(receipt) != head
    noticed(ledger.path, head)


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TRIGGER no_update",
        "DROP TRIGGER no_delete",
        "DROP TRIGGER only_append",
        "CREATE TABLE more (x)",
        "ALTER TABLE entries ADD COLUMN note",
        "PRAGMA application_id=1",
        "PRAGMA journal_mode=WAL",
    ],
)
def test_changed_tables_are_noticed(ledger: Ledger, statement: str) -> None:
    connection = sqlite3.connect(ledger.path)
    connection.execute(statement)
    connection.close()
    noticed(ledger.path)


def test_a_flipped_byte_is_noticed_or_changes_nothing(ledger: Ledger, tmp_path: Path) -> None:
    """Every byte of every entry, and bytes all over the file."""
    whole = ledger.path.read_bytes()
    history, head = [c.receipt for c in ledger.history()], ledger.head
    inside = [
        whole.find(text.encode()) + offset
        for _, body, hash_ in rows_of(ledger.path)
        for text in (body, hash_)
        for offset in range(len(text))
    ]
    rng = random.Random(5)
    anywhere = rng.sample(range(len(whole)), 150) + list(range(0, 100, 3))
    target = tmp_path / "b.ledger"
    for place in [*rng.sample(inside, 250), *anywhere]:
        broken = bytearray(whole)
        broken[place] ^= 1 << rng.randrange(8)
        target.write_bytes(broken)
        if place in inside:
            noticed(target)
            continue
        try:
            found = Ledger.open(target, **NAMES)
            found.verify(head)
        except InputError:
            continue
        assert [c.receipt for c in found.history()] == history


def test_tables_that_are_not_text_are_noticed(ledger: Ledger) -> None:
    """SQLite's message about them is not text either."""
    whole = ledger.path.read_bytes()
    start = whole.index(b"CREATE TRIGGER no_delete")
    for place in range(start, start + 100, 5):
        broken = bytearray(whole)
        broken[place] |= 0x80
        ledger.path.write_bytes(broken)
        noticed(ledger.path)
