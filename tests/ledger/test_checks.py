"""Checks, stops and moves of a charge, and amendments: counted, once, and only as they may be."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from test_tampering import noticed, rechain, rewrite, rows_of

from honestdp.errors import InputError
from honestdp.ledger import Ledger, Receipt, chain
from honestdp.privacy.spending import Spending
from honestdp.schema import Numeric, Schema, Target

NAMES = {"dataset": "adult", "schema": "f00d"}
COST = Spending.of_pair(0.25, 1e-8)
PLAN: dict[str, Any] = {
    "schema": "f00d", "encoding": "e", "model": "logistic", "steps": 20, "epsilon": 0.25,
    "check": {"noise_multiplier": 40.0, "times": 3, "questions": 4, "noise": 80.0},
}  # fmt: skip
OTHER = {**PLAN, "schema": "beef", "encoding": "f"}


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.create(tmp_path / "a.ledger", **NAMES, epsilon=1, delta=1e-6)


@pytest.fixture
def receipt(ledger: Ledger) -> Receipt:
    return ledger.reserve(COST, PLAN, "own")


def stopped(ledger: Ledger, receipt: Receipt) -> None:
    ledger.stop(receipt, ledger.ask(receipt))


def test_every_asking_is_there_for_everyone_and_costs_nothing_more(
    ledger: Ledger, receipt: Receipt
) -> None:
    left = ledger.remaining()
    asking = ledger.ask(receipt)
    seen = Ledger.open(ledger.path, **NAMES).charge(receipt.id)
    assert [one.entry_hash for one in seen.askings] == [asking] == [ledger.head]
    assert (seen.checks_left, seen.stopped) == (2, False)
    charge = ledger.stop(receipt, asking)
    assert charge.stopped
    assert ledger.remaining() == left
    ledger.ask(receipt)
    assert not ledger.charge(receipt.id).stopped  # nobody knows how the second ended
    ledger.release(receipt)
    assert ledger.remaining() == left


def test_no_more_askings_than_are_paid_for(ledger: Ledger, receipt: Receipt) -> None:
    for _ in range(3):
        stopped(ledger, receipt)
    head = ledger.head
    with pytest.raises(InputError, match=r"charge 1: the 3 checks .* are used; --no-check"):
        ledger.ask(receipt)
    assert ledger.head == head
    unchecked = ledger.reserve(COST, {"procedure": "untuned"})
    with pytest.raises(InputError, match="the 0 checks"):
        ledger.ask(unchecked)


def test_threads_share_the_askings(ledger: Ledger, receipt: Receipt) -> None:
    found: list[str] = []

    def ask() -> None:
        try:
            found.append(Ledger.open(ledger.path, **NAMES).ask(receipt))
        except InputError as error:
            found.append(str(error))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum("are used" in one for one in found) == 5
    assert len(ledger.charge(receipt.id).askings) == 3


def test_nothing_is_asked_of_a_charge_that_was_released(ledger: Ledger, receipt: Receipt) -> None:
    asking = ledger.ask(receipt)
    ledger.release(receipt)
    for call in (lambda: ledger.ask(receipt), lambda: ledger.stop(receipt, asking)):
        with pytest.raises(InputError, match="was released before"):
            call()


def test_a_check_stops_once(ledger: Ledger, receipt: Receipt) -> None:
    asking = ledger.ask(receipt)
    ledger.stop(receipt, asking)
    for wrong in (asking, receipt.entry_hash, ""):
        with pytest.raises(InputError, match="no such open check"):
            ledger.stop(receipt, wrong)


# Moves


def test_a_stopped_charge_pays_for_another_plan_of_its_cost(
    ledger: Ledger, receipt: Receipt
) -> None:
    left = ledger.remaining()
    stopped(ledger, receipt)
    found = ledger.stopped_charge(COST, OTHER)
    assert found is not None
    assert found.receipt == receipt
    moved = ledger.move(COST, OTHER, "new")
    assert moved is not None
    charge = ledger.check(moved)
    assert (moved.id, charge.plan, charge.nonce) == (1, OTHER, "new")
    assert moved.plan_fingerprint == chain.fingerprint(OTHER)
    assert ledger.remaining() == left
    assert charge.checks_left == 2
    again = ledger.charge_of("new")
    assert again is not None
    assert again.receipt == moved
    assert ledger.charge_of("own") is None
    with pytest.raises(InputError, match="holds no such charge"):
        ledger.release(receipt)  # whoever held it before
    ledger.release(moved)
    assert ledger.move(COST, OTHER) is None


def test_only_one_gets_a_stopped_charge(ledger: Ledger, receipt: Receipt) -> None:
    stopped(ledger, receipt)
    assert ledger.move(COST, PLAN, "a") is not None
    assert ledger.move(COST, PLAN, "b") is None
    assert ledger.charge(1).nonce == "a"


def test_a_charge_whose_check_may_have_passed_does_not_move(
    ledger: Ledger, receipt: Receipt
) -> None:
    assert ledger.move(COST, OTHER) is None  # never asked
    first = ledger.ask(receipt)
    assert ledger.move(COST, OTHER) is None
    stopped(ledger, receipt)
    assert ledger.move(COST, OTHER) is None  # the first may be training
    ledger.stop(receipt, first)
    assert ledger.move(COST, OTHER) is not None


@pytest.mark.parametrize(
    "changes",
    [{"steps": 21}, {"epsilon": 0.3}, {"procedure": "pick"}, {"row_norm_noise": 3.0},
     {"check": {**PLAN["check"], "noise_multiplier": 39.0}},
     {"check": {**PLAN["check"], "times": 4}}],
    ids=str,
)  # fmt: skip
def test_a_charge_does_not_move_to_a_plan_of_another_price(
    ledger: Ledger, receipt: Receipt, changes: dict[str, Any]
) -> None:
    """Not even if both sums were the same: part of the one and part of the other are paid by it."""
    stopped(ledger, receipt)
    assert ledger.move(COST, {**OTHER, **changes}) is None
    assert ledger.move(Spending.of_pair(0.2, 1e-8), OTHER) is None
    assert ledger.move(COST, OTHER, None, ledger.reserve(COST, PLAN)) is None  # another charge
    assert ledger.charge(1).stopped


def bodies_of(ledger: Ledger) -> list[str]:
    return [row[1] for row in rows_of(ledger.path)]


def test_a_chain_holds_only_what_may_be(ledger: Ledger, receipt: Receipt) -> None:
    asking = ledger.ask(receipt)
    ledger.stop(receipt, asking)
    good = bodies_of(ledger)
    ask, stop = chain.check_body(receipt), chain.stop_body(receipt, asking)
    nobody = Receipt(7, "x", "y", 0.1, 0.0)
    move = chain.move_body(receipt, OTHER, "n")
    done = chain.release_body(receipt.id, receipt.entry_hash, "", chain.new_nonce())
    for more, words in (
        ([ask] * 3, "entry 6 checks what it may not"),
        ([chain.check_body(nobody)], "checks what it may not"),
        ([done, ask], "checks what it may not"),
        ([stop], "cannot be read"),
        ([done, stop], "stops what it may not"),
        ([chain.stop_body(receipt, "x")], "cannot be read"),
        ([move, chain.move_body(receipt, PLAN, "n")], "moves what it may not"),
        ([ask, move], "moves what it may not"),
        ([done, move], "moves what it may not"),
        ([chain.move_body(nobody, OTHER, "n")], "moves what it may not"),
        ([chain.move_body(receipt, {**OTHER, "steps": 9}, "n")], "moves what it may not"),
        ([chain.amendment_body("")], "cannot be read"),
    ):
        rewrite(ledger.path, rechain([(0, body, "") for body in [*good, *more]]))
        assert words in noticed(ledger.path)
    rewrite(ledger.path, rechain([(0, body, "") for body in [*good, move]]))
    assert Ledger.open(ledger.path, **NAMES).charge(1).plan == OTHER


# Amendments


def schema(name: str = "adult", unit: str = "one row", top: float = 1.0) -> Schema:
    columns = (Numeric(name="x", bounds=(0.0, top)),)
    target = Target(column="y", classes=("no", "yes"))
    return Schema(name=name, unit=unit, columns=columns, target=target)


def test_an_amended_ledger_is_for_the_new_schema(tmp_path: Path) -> None:
    old, new = schema(), schema(top=2.0)
    ledger = Ledger.create(tmp_path / "a.ledger", schema=old, epsilon=1, delta=1e-6)
    other = Ledger.open(ledger.path, schema=old)
    ledger.reserve(COST, PLAN)
    left = ledger.remaining()
    assert ledger.amend(new) == ledger.head
    for one in (ledger, other, Ledger.open(ledger.path, schema=new)):
        one.check_is_for(new)
        assert one.opening.schema == new.fingerprint
        assert one.remaining() == left
        with pytest.raises(InputError, match=r"is for schema=.*honestdp ledger amend"):
            one.check_is_for(old)
    with pytest.raises(InputError, match="already"):
        other.amend(new)
    for wrong in (schema("other"), schema(unit="ten rows")):
        with pytest.raises(InputError, match=r"(dataset|unit)="):
            other.amend(wrong)
    ledger.amend(old)
    ledger.check_is_for(old)
