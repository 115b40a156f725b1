"""Reserve, release, remaining, history: what a ledger promises on a good day."""

from __future__ import annotations

import json
import pickle
import shutil
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from types import MappingProxyType

import pytest

from honestdp.errors import InputError
from honestdp.ledger import Ledger, Receipt, fingerprint
from honestdp.privacy import guarantee
from honestdp.privacy.calibrate import noise_multiplier as least_noise
from honestdp.privacy.events import training
from honestdp.privacy.spending import Spending

NAMES = {"dataset": "adult", "schema": "f00d"}


def pair(epsilon: float, delta: float = 0.0) -> Spending:
    return Spending.of_pair(epsilon, delta)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.create(tmp_path / "a.ledger", **NAMES, epsilon=1, delta=1e-6)


def refused(call: Callable[[], object], *words: str) -> str:
    with pytest.raises(InputError) as caught:
        call()
    text = str(caught.value)
    assert "\n" not in text
    for word in words:
        assert word in text
    return text


def test_what_is_reserved_is_there_for_everyone(ledger: Ledger) -> None:
    plan = {"procedure": "untuned", "events": [["gaussian", 4.0]], "n": 100}
    before = ledger.head
    receipt = ledger.reserve(pair(0.25, 1e-7), plan)
    again = Ledger.open(ledger.path, **NAMES)
    (charge,) = again.history()
    assert charge.receipt == receipt
    assert charge.plan == plan
    assert not charge.released
    assert (charge.spending.epsilon, charge.spending.slack) == (0.25, 1e-7)
    assert receipt.plan_fingerprint == fingerprint(plan)
    assert receipt.entry_hash == again.head != before
    assert again.remaining() == ledger.remaining()
    assert again.remaining().epsilon == pytest.approx(0.75)
    assert again.remaining().delta == pytest.approx(1.5e-7)


def test_nothing_spent_is_the_total(ledger: Ledger) -> None:
    assert ledger.remaining() == (1.0, 1e-6)
    assert ledger.history() == ()
    ledger.verify()
    ledger.verify(ledger.head)


def test_a_refusal_says_what_was_asked_what_is_left_and_what_fits(ledger: Ledger) -> None:
    ledger.reserve(pair(0.75), {})
    head = ledger.head
    text = refused(lambda: ledger.reserve(pair(0.5, 1e-8), {}), "epsilon=0.5 (delta=1e-08)")
    assert "left are epsilon=0.25, delta=2.5e-07 of epsilon=1, delta=1e-06" in text
    assert "epsilon=0.25 at this delta would fit" in text
    assert ledger.fits(pair(0.25, 1e-8))
    assert not ledger.fits(pair(0.2501, 1e-8))
    refused(lambda: ledger.reserve(pair(0.1, 1e-6), {}), "a smaller delta may fit")
    assert ledger.head == head
    ledger.reserve(pair(0.25), {})
    refused(lambda: ledger.reserve(pair(0.1), {}), "nothing more fits")


@pytest.mark.parametrize("asked", [0.3, 1.0, 1.5])
def test_a_refused_training_is_told_what_would_fit(ledger: Ledger, asked: float) -> None:
    def cost(noise: float) -> Spending:
        return Spending.of_curve(guarantee.rdp_curve(training(0.01, noise, 1000)), 1e-6)

    ledger.reserve(cost(3.0), {})
    text = refused(lambda: ledger.reserve(cost(asked), {}), "would fit")
    epsilon = float(text.split("epsilon of about ")[1].split()[0])
    noise = least_noise(lambda sigma: cost(sigma).epsilon, 0.95 * epsilon)
    assert ledger.fits(cost(noise))
    too_little = least_noise(lambda sigma: cost(sigma).epsilon, 1.1 * epsilon)
    assert not ledger.fits(cost(too_little))


def test_a_first_plan_may_have_all_of_it(ledger: Ledger) -> None:
    refused(lambda: ledger.reserve(pair(1.01, 1e-6), {}), "epsilon=1 at this delta would fit")
    ledger.reserve(pair(1.0, 1e-6), {})
    assert ledger.remaining() == (0.0, 0.0)
    refused(lambda: ledger.reserve(pair(1e-9), {}))


def test_curves_compose_better_than_pairs(ledger: Ledger) -> None:
    event = training(250 / 36177, 6.0, 2500)
    one = Spending.of_curve(
        guarantee.rdp_curve(event), 1e-6, epsilon=guarantee.epsilon(event, 1e-6)
    )
    for _ in range(12):  # of epsilon 0.2233 each
        ledger.reserve(one, {})
    refused(lambda: ledger.reserve(one, {}))


def test_a_receipt_is_released_once(ledger: Ledger, tmp_path: Path) -> None:
    first, second = ledger.reserve(pair(0.1), {}), ledger.reserve(pair(0.1), {})
    ledger.check(first)
    head = ledger.release(first)
    assert head == ledger.head
    refused(lambda: ledger.check(first), "released before")
    ledger.check(second)
    assert repr(ledger).endswith("dataset='adult', epsilon=1, delta=1e-06)")
    assert [charge.released for charge in ledger.history()] == [True, False]
    refused(lambda: ledger.release(first), "released before")
    copied = Receipt(**json.loads(json.dumps(asdict(first))))  # of a copied run folder
    refused(lambda: Ledger.open(ledger.path, **NAMES).release(copied), "released before")
    left = ledger.remaining()
    ledger.release(second)
    assert ledger.remaining() == left  # a release gives nothing back
    ledger.verify(head)


def test_a_receipt_that_is_not_this_ledgers_is_refused(ledger: Ledger, tmp_path: Path) -> None:
    twin = Ledger.create(tmp_path / "b.ledger", **NAMES, epsilon=1, delta=1e-6)
    assert twin.head != ledger.head  # the same facts, another chain
    receipt = ledger.reserve(pair(0.1), {})
    assert twin.reserve(pair(0.1), {}) != receipt  # same plan, another chain
    refused(lambda: twin.release(receipt), "no such charge")
    refused(lambda: twin.check(receipt), "no such charge")
    for changed in ({"id": 2}, {"entry_hash": "0" * 64}, {"epsilon": 0.05}, {"delta": 1e-9}):
        refused(lambda c=changed: ledger.release(replace(receipt, **c)), "no such charge")
    ledger.release(receipt)


def test_settings_that_make_a_commit_durable(ledger: Ledger, tmp_path: Path) -> None:
    from honestdp.ledger import store

    connection = store.connect(ledger.path, "rw")
    assert connection.execute("PRAGMA synchronous").fetchone() == (3,)  # EXTRA: FULL and more
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    assert connection.execute("PRAGMA busy_timeout").fetchone() == (60000,)
    connection.close()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.ledger"]


def test_the_charge_is_committed_when_reserve_returns(ledger: Ledger) -> None:
    ledger.reserve(pair(0.1), {})
    other = sqlite3.connect(ledger.path)
    assert other.execute("SELECT count(*) FROM entries").fetchone() == (2,)
    other.close()


def test_rows_cannot_be_changed_removed_or_put_in_between(ledger: Ledger) -> None:
    ledger.reserve(pair(0.1), {})
    connection = sqlite3.connect(ledger.path, isolation_level=None)
    for statement in (
        "UPDATE entries SET body = body",
        "UPDATE entries SET position = 7 WHERE position = 1",
        "DELETE FROM entries",
        "DELETE FROM entries WHERE position = 1",
        "REPLACE INTO entries VALUES (1, 'x', 'y')",
        "INSERT OR REPLACE INTO entries VALUES (0, 'x', 'y')",
        "INSERT INTO entries VALUES (5, 'x', 'y')",
        "INSERT INTO entries VALUES (NULL, 'x', NULL)",
    ):
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute(statement)
    connection.close()
    ledger.verify()


def test_another_dataset_schema_or_total_is_refused(ledger: Ledger) -> None:
    path = ledger.path
    refused(lambda: Ledger.open(path, dataset="mnist", schema="f00d"), "dataset='mnist'", "adult")
    refused(lambda: Ledger.open(path, dataset="adult", schema="beef"), "schema='beef'", "f00d")
    refused(lambda: Ledger.open(path, **NAMES, epsilon=2.0), "epsilon=2.0", "epsilon=1.0")
    refused(lambda: Ledger.open(path, **NAMES, delta=1e-5), "delta=1e-05")
    refused(lambda: Ledger.open(path, dataset=None, schema="f00d"), "dataset=None")  # type: ignore[arg-type]
    Ledger.open(path, **NAMES, epsilon=1, delta=1e-6)


def test_a_ledger_is_not_made_twice(ledger: Ledger, tmp_path: Path) -> None:
    ledger.reserve(pair(0.1), {})
    before = ledger.path.read_bytes()
    refused(lambda: Ledger.create(ledger.path, **NAMES, epsilon=9, delta=1e-6), "already exists")
    assert ledger.path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["a.ledger"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 0},
        {"epsilon": float("nan")},
        {"delta": 0},
        {"delta": 1},
        {"dataset": ""},
        {"schema": None},
        {"unit": ""},
        {"orders": (1.0,)},
        {"orders": (4.0, 2.0)},
    ],
)
def test_a_ledger_of_nonsense_is_not_made(tmp_path: Path, wrong: dict[str, object]) -> None:
    good = {**NAMES, "epsilon": 1, "delta": 1e-6}
    refused(lambda: Ledger.create(tmp_path / "a.ledger", **{**good, **wrong}))  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("plan", [{"x": object()}, {"x": float("nan")}, {"x": {1, 2}}])
def test_a_plan_that_cannot_be_written_down_spends_nothing(ledger: Ledger, plan: object) -> None:
    head = ledger.head
    refused(lambda: ledger.reserve(pair(0.1), plan), "plan='x'")  # type: ignore[arg-type]
    refused(lambda: ledger.reserve(pair(0.1), [1]), "plan=<list>")  # type: ignore[arg-type]
    refused(lambda: ledger.reserve((0.1, 0.0), {}), "spending=")  # type: ignore[arg-type]
    refused(lambda: ledger.release(1), "receipt=1")  # type: ignore[arg-type]
    assert ledger.head == head


def test_odd_names_and_plans_are_kept_as_they_are(tmp_path: Path) -> None:
    names = {"dataset": "Ā \ud800 'x' \n;--", "schema": "%?#"}
    path = tmp_path / "a b?mode=memory#c%20.ledger"
    ledger = Ledger.create(path, **names, epsilon=1, delta=1e-6, orders=[3, 7.7])
    ledger.reserve(pair(0.1), MappingProxyType({"κ": [2, None, True], "big": 10**30}))
    again = Ledger.open(path, **names)
    assert again.opening.orders == (3.0, 7.7)
    assert again.history()[0].plan == {"κ": [2, None, True], "big": 10**30}
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_threads_copies_and_pickles_share_the_budget(ledger: Ledger) -> None:
    twin = pickle.loads(pickle.dumps(ledger))
    granted: list[Receipt] = []
    refusals: list[str] = []

    def spend(mine: Ledger) -> None:
        while mine.fits(pair(0.3)):
            try:
                granted.append(mine.reserve(pair(0.3), {}))
            except InputError as error:
                refusals.append(str(error))

    threads = [threading.Thread(target=spend, args=(mine,)) for mine in (ledger, ledger, twin)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(granted) == 3
    assert all("left are" in text for text in refusals)
    ledger.verify()


def test_a_nonce_is_charged_once(ledger: Ledger) -> None:
    receipt = ledger.reserve(pair(0.1), {}, "a" * 32)
    charge = ledger.charge_of("a" * 32)
    assert charge is not None
    assert charge.receipt == receipt
    assert ledger.charge_of("b" * 32) is None
    refused(lambda: ledger.reserve(pair(0.1), {}, "a" * 32), "was charged before")
    assert len(ledger.history()) == 1


def test_nothing_but_public_facts_is_in_the_file(ledger: Ledger) -> None:
    """No times either: from a charge to its release they would give K away."""
    ledger.release(ledger.reserve(pair(0.1, 1e-9), {"procedure": "random-repeats"}))
    connection = sqlite3.connect(ledger.path)
    bodies = [json.loads(body) for (body,) in connection.execute("SELECT body FROM entries")]
    connection.close()
    facts = {"dataset", "schema", "epsilon", "delta", "unit", "neighbours", "orders", "nonce"}
    costs = {"epsilon", "delta", "slack", "largest_loss", "values", "plan", "plan_fingerprint"}
    release = {"charge", "hash", "what", "nonce"}
    found = [set(body) - {"kind", "format"} for body in bodies]
    assert found == [facts, costs | {"nonce"}, release]


def test_an_older_copy_put_back_while_a_session_runs_is_noticed(ledger: Ledger) -> None:
    copy = ledger.path.with_name("copy")
    shutil.copy(ledger.path, copy)
    ledger.reserve(pair(0.1), {})
    shutil.copy(copy, ledger.path)
    refused(lambda: ledger.reserve(pair(0.1), {}), "replaced, or cut short")
    refused(ledger.remaining, "replaced, or cut short")
