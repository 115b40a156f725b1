"""`Ledger`: a total (epsilon, delta) for one data set, spent by many, never exceeded.

    ledger = Ledger.create("adult.ledger", schema=schema, epsilon=1, delta=1e-6)
    receipt = ledger.reserve(spending, plan)    # committed before it returns; never refunded
    ...                                         # only now may the data be opened
    head = ledger.release(receipt, what)        # once; the head goes on the card

A ledger object holds no connection: it may be shared by threads, forked and pickled. Every call
reads the whole chain and checks it. It is identified by the dataset's declared name and the
schema's fingerprint; nothing is ever computed from the data.
"""

from __future__ import annotations

import math
import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from honestdp.errors import InputError, fail, instance
from honestdp.ledger import store
from honestdp.ledger.chain import (
    Chain,
    Charge,
    DamagedError,
    Opening,
    Receipt,
    amendment_body,
    charge_body,
    check_body,
    fingerprint,
    link,
    move_body,
    moved,
    new_nonce,
    opening_body,
    release_body,
    stop_body,
    unchecked_body,
)
from honestdp.ledger.refusal import refusal
from honestdp.privacy.attack import AttackBounds, attack_bounds
from honestdp.privacy.points import MixedProfile
from honestdp.privacy.profile import PureProfile, TightestProfile
from honestdp.privacy.spending import Budget, Spending, composed_profile
from honestdp.schema import Schema

PathLike = str | os.PathLike[str]

NEIGHBOURS = "one record replaced by a null record"  # what every plan is priced for


class Remaining(NamedTuple):
    """What is left of a budget.

    Attributes:
        epsilon: A further plan that is (epsilon, 0)-DP would fit; a larger one would not.
        delta: What the deltas of further plans known only as (epsilon, delta) pairs may add up to;
            before the first charge, the total.
    """

    epsilon: float
    delta: float


class Ledger:
    """The privacy budget of one data set; made by `Ledger.create` or `Ledger.open`.

    Args:
        path: The ledger's file.
        chain: Its entries, already checked.

    Attributes:
        path: The ledger's file.
        opening: What the ledger is for: data set, schema, total budget, unit of privacy.
    """

    def __init__(self, path: Path, chain: Chain) -> None:
        self.path = path
        self.opening: Opening = chain.opening
        self._known = chain.head  # the last head seen: it must stay in the chain

    def __repr__(self) -> str:
        total = f"epsilon={self.opening.epsilon:g}, delta={self.opening.delta:g}"
        return f"Ledger({str(self.path)!r}, dataset={self.opening.dataset!r}, {total})"

    @classmethod
    def create(
        cls,
        path: PathLike,
        *,
        schema: Schema | str,
        epsilon: float,
        delta: float,
        dataset: str | None = None,
        unit: str | None = None,
        neighbours: str = NEIGHBOURS,
        orders: Sequence[float] | None = None,
    ) -> Ledger:
        """Create a ledger in a new file.

        Args:
            path: The file, which must not exist.
            schema: The schema of the table, or its fingerprint.
            epsilon: Total epsilon that may ever be spent.
            delta: Total delta that may ever be spent.
            dataset: Name of the data set; by default the schema's.
            unit: What one row stands for; by default the schema's unit.
            neighbours: The neighbouring relation that plans are priced for.
            orders: Renyi orders to keep curves at, fixed for ever; by default chosen from the
                budget.

        Returns:
            The ledger.

        Raises:
            InputError: If a value is wrong, or the file exists or cannot be written.

        Example:
            >>> ledger = Ledger.create(
            ...     "visits.ledger", schema="1f2e", dataset="visits", epsilon=2, delta=1e-6
            ... )
            >>> ledger.remaining().delta
            1e-06
        """
        budget = Budget(epsilon, delta, tuple(orders or ()))
        if isinstance(schema, Schema):
            dataset, unit = dataset or schema.name, unit or schema.unit
            schema = schema.fingerprint
        unit = "one row" if unit is None else unit
        texts: dict[str, Any] = {
            "dataset": dataset,
            "schema": schema,
            "unit": unit,
            "neighbours": neighbours,
        }
        for name, text in texts.items():
            if not isinstance(text, str) or not text:
                raise fail(name, text, "must be a text that is not empty")
        opening = Opening(
            **texts,
            epsilon=budget.epsilon,
            delta=budget.delta,
            orders=budget.orders,
            nonce=secrets.token_hex(16),
        )
        store.make(Path(path), opening_body(opening))
        return cls.open(path, dataset=dataset, schema=schema)

    @classmethod
    def open(
        cls,
        path: PathLike,
        *,
        schema: Schema | str,
        dataset: str | None = None,
        epsilon: float | None = None,
        delta: float | None = None,
    ) -> Ledger:
        """Open an existing ledger, to charge it.

        Args:
            path: The ledger's file.
            schema: The schema of the table, or its fingerprint.
            dataset: Name of the data set; by default the schema's.
            epsilon: The total that the ledger must have, if given.
            delta: The total that the ledger must have, if given.

        Returns:
            The ledger.

        Raises:
            InputError: If the file cannot be read, is damaged, or is the ledger of another data
                set, schema or total; given a `Schema`, also of another unit or neighbouring
                relation.
        """
        facts: dict[str, Any] = {"schema": schema}
        if isinstance(schema, Schema):
            facts = _facts(schema)
        facts["dataset"] = dataset or facts.get("dataset")
        totals = {"epsilon": epsilon, "delta": delta}
        facts |= {name: value for name, value in totals.items() if value is not None}
        with store.reading(Path(path)) as chain:
            ledger = cls(Path(path), chain)
            ledger._check_opening(facts)
            return ledger

    @classmethod
    def inspect(cls, path: PathLike) -> Ledger:
        """Open an existing ledger to look at, whatever data set it is for.

        Args:
            path: The ledger's file.

        Returns:
            The ledger.

        Raises:
            InputError: If the file cannot be read or is damaged.
        """
        with store.reading(Path(path)) as chain:
            return cls(Path(path), chain)

    def check_is_for(self, schema: Schema) -> None:
        """Check that plans for tables of a schema may be charged to this ledger.

        Args:
            schema: The schema.

        Raises:
            InputError: If the ledger is for another data set, schema, unit or neighbouring
                relation.
        """
        self._read()  # it may have been amended
        self._check_opening(_facts(schema))

    def amend(self, schema: Schema) -> str:
        """Record that the schema was corrected: from now on the ledger is for the new one.

        What was spent stays spent, on the same data set: its name, the unit of privacy and the
        neighbouring relation stay as they are.

        Args:
            schema: The corrected schema.

        Returns:
            The new head of the ledger.

        Raises:
            InputError: If it is the schema that the ledger is for, one of another data set, or of
                another unit; or the ledger cannot be written.

        Example:
            >>> ledger.amend(Schema.load("corrected.toml"))  # doctest: +SKIP
        """
        instance(Schema, "schema", schema, 'Schema.load("table.toml")')
        facts, known = _facts(schema), self._known
        new = facts.pop("schema")
        with store.writing(self.path, "nothing was amended") as (chain, bodies):
            self._check(chain, known)
            self.opening = chain.opening
            self._check_opening(facts)
            if new == chain.opening.schema:
                raise fail("schema", new, f"is the one that {str(self.path)!r} is for already")
            bodies.append(amendment_body(new))
            head = link(chain.head, bodies[0])
        self._known = head
        self._read()
        return head

    def _check_opening(self, facts: Mapping[str, Any]) -> None:
        for name, value in facts.items():
            found = getattr(self.opening, name)
            if value != found:
                remedy = f"the ledger {str(self.path)!r} is for {name}={found!r}"
                amend = "; if it was corrected, `honestdp ledger amend` records that"
                raise fail(name, value, remedy + (amend if name == "schema" else ""))

    def reserve(
        self, spending: Spending, plan: Mapping[str, Any], nonce: str | None = None
    ) -> Receipt:
        """Charge a plan, durably, before the data is opened.

        A charge is never refunded, not even if this process is killed before it gets the receipt.

        Args:
            spending: What the plan costs.
            plan: What will be done, as texts, numbers, lists and dicts. Public facts only.
            nonce: A random text by which a killed process finds its charge again (`charge_of`).

        Returns:
            The receipt, which allows one release.

        Raises:
            BudgetError: If the plan does not fit; nothing was spent.
            InputError: If an argument is wrong, the nonce was used before, or the ledger cannot be
                written; nothing was spent.
        """
        instance(Spending, "spending", spending, "Spending.of_pair(1.0, 1e-6)")
        instance(Mapping, "plan", plan, '{"procedure": "untuned"}')
        known, plan_fingerprint = self._known, fingerprint(plan)
        with store.writing(self.path) as (chain, bodies):
            self._check(chain, known)
            budget = chain.opening.budget
            if nonce is not None and any(charge.nonce == nonce for charge in chain.charges):
                raise fail("nonce", nonce, "was charged before; two runs never share one")
            if not budget.covers([*chain.spendings, spending]):
                raise refusal(budget, chain.spendings, spending)
            bodies.append(charge_body(spending, plan, budget.orders, nonce or new_nonce()))
            id_, entry_hash = len(chain.hashes), link(chain.head, bodies[0])
        self._known = entry_hash  # committed by now
        return Receipt(id_, entry_hash, plan_fingerprint, spending.epsilon, spending.delta)

    def ask(self, receipt: Receipt) -> str:
        """Record, durably, that a charge's table is about to be checked; before it is.

        Args:
            receipt: From `reserve` or `move`.

        Returns:
            The hash of the entry, for `stop`.

        Raises:
            InputError: If the receipt is not of this ledger or was released before, all checks that
                the charge pays for are used, or the ledger cannot be written: then nothing may be
                asked.
        """
        instance(Receipt, "receipt", receipt, "the one that reserve returned")
        known = self._known
        with store.writing(self.path, "nothing was asked") as (chain, bodies):
            self._check(chain, known)
            charge = _check_owed(chain, receipt)
            if charge.checks_left < 1:
                raise InputError(
                    f"charge {receipt.id}: the {charge.checks} checks that it pays for are used; "
                    "--no-check (check=False) trains on this charge regardless"
                )
            bodies.append(check_body(receipt))
            asking = link(chain.head, bodies[0])
        self._known = asking
        return asking

    def stop(self, receipt: Receipt, asking: str) -> Charge:
        """Record that a check found a table that does not fit, so that nothing was trained on it.

        Args:
            receipt: As given to `ask`.
            asking: What `ask` returned.

        Returns:
            The charge, which stands: it pays for the next attempt.

        Raises:
            InputError: If there was no such check, it has stopped before, or the ledger cannot be
                written.
        """
        known = self._known
        with store.writing(self.path, f"charge {receipt.id} stands") as (chain, bodies):
            self._check(chain, known)
            charge = _check_owed(chain, receipt)
            if not any(a.entry_hash == asking and not a.stopped for a in charge.askings):
                raise fail("asking", asking, f"charge {receipt.id} has no such open check")
            bodies.append(stop_body(receipt, asking))
            head = link(chain.head, bodies[0])
        self._known = head
        return self.charge(receipt.id)

    def leave_unchecked(self, receipt: Receipt) -> None:
        """Record, durably, that a charge's table is about to be trained on without a check.

        From now on the charge pays for its own plan alone: `move` takes only charges on which
        nothing was ever trained.

        Args:
            receipt: From `reserve` or `move`.

        Raises:
            InputError: If the receipt is not of this ledger or was released before, or the ledger
                cannot be written: then nothing may be trained.

        Example:
            >>> ledger.leave_unchecked(receipt)  # doctest: +SKIP
        """
        instance(Receipt, "receipt", receipt, "the one that reserve returned")
        known = self._known
        with store.writing(self.path, "nothing was trained") as (chain, bodies):
            self._check(chain, known)
            if _check_owed(chain, receipt).unchecked:
                return
            bodies.append(unchecked_body(receipt))
            head = link(chain.head, bodies[0])
        self._known = head

    def stopped_charge(self, spending: Spending, plan: Mapping[str, Any]) -> Charge | None:
        """Look for a charge that a check stopped and that pays for a plan. Spends nothing.

        Args:
            spending: What the plan costs.
            plan: The plan, as for `reserve`.

        Returns:
            The oldest such charge, which `move` takes; None if there is none.
        """
        return _stopped_charge(self._read(), spending, plan)

    def move(
        self,
        spending: Spending,
        plan: Mapping[str, Any],
        nonce: str | None = None,
        receipt: Receipt | None = None,
    ) -> Receipt | None:
        """Let a charge that a check stopped pay for a plan of exactly its cost.

        Only one caller gets a stopped charge. Receipts that were given out before are void.

        Args:
            spending: What the plan costs.
            plan: What will be done, as for `reserve`.
            nonce: As for `reserve`.
            receipt: That of the charge to move; by default the oldest that pays for the plan.

        Returns:
            The receipt, which allows one release; None if no stopped charge pays for the plan.

        Raises:
            InputError: If an argument is wrong, or the ledger cannot be written.
        """
        instance(Spending, "spending", spending, "Spending.of_pair(1.0, 1e-6)")
        instance(Mapping, "plan", plan, '{"procedure": "untuned"}')
        known = self._known
        with store.writing(self.path) as (chain, bodies):
            self._check(chain, known)
            charge = _stopped_charge(chain, spending, plan, receipt)
            if charge is None:
                return None
            bodies.append(move_body(charge.receipt, plan, nonce or new_nonce()))
            head = link(chain.head, bodies[0])
        self._known = head
        return self.charge(charge.receipt.id).receipt

    def release(self, receipt: Receipt, what: str = "") -> str:
        """Record that what a receipt paid for is released. Works once per receipt.

        Args:
            receipt: From `reserve`.
            what: SHA-256 of what is released, which identifies it later.

        Returns:
            The new head of the ledger.

        Raises:
            InputError: If the receipt is not of this ledger or was released before, or the ledger
                cannot be written; nothing was released.
        """
        instance(Receipt, "receipt", receipt, "the one that reserve returned")
        known = self._known
        undone = f"nothing was released, the receipt of charge {receipt.id} stays good"
        with store.writing(self.path, undone) as (chain, bodies):
            self._check(chain, known)
            _check_owed(chain, receipt)
            bodies.append(release_body(receipt.id, receipt.entry_hash, what, new_nonce()))
            head = link(chain.head, bodies[0])
        self._known = head
        return head

    def check(self, receipt: Receipt) -> Charge:
        """Look up the charge of a receipt that is not released yet.

        Args:
            receipt: From `reserve`.

        Returns:
            The charge.

        Raises:
            InputError: If the receipt is not of this ledger, or was released before.
        """
        instance(Receipt, "receipt", receipt, "the one that reserve returned")
        return _check_owed(self._read(), receipt)

    def charge(self, id_: int) -> Charge:
        """Look up a charge by its number.

        Args:
            id_: The number, as error messages and cards give it.

        Returns:
            The charge.

        Raises:
            InputError: If the ledger holds no such charge.
        """
        for charge in self.history():
            if charge.receipt.id == id_:
                return charge
        raise fail("charge", id_, "this ledger holds no such charge; see history()")

    def charge_of(self, nonce: str) -> Charge | None:
        """Look up a charge by the nonce it was reserved with.

        Args:
            nonce: The nonce given to `reserve`.

        Returns:
            The charge; None if there is none.
        """
        return next((charge for charge in self.history() if charge.nonce == nonce), None)

    def fits(self, spending: Spending) -> bool:
        """Whether the budget covers a plan now. Spends nothing.

        Args:
            spending: What the plan costs.
        """
        chain = self._read()
        return chain.opening.budget.covers([*chain.spendings, spending])

    def remaining(self) -> Remaining:
        """What is left; see `Remaining`."""
        chain = self._read()
        return Remaining(*chain.opening.budget.left(chain.spendings))

    def attack(self) -> AttackBounds:
        """What nobody can exceed who bets on whether one row was real, having seen all that was
        charged so far.

        From the profiles stored with the charges; of a charge from before they were stored, from
        its Renyi curve, its slack and its (epsilon, delta)-DP: see
        `honestdp.privacy.spending.composed_profile`, whose condition is that what each plan costs
        was settled before the first result was seen. Whatever was done, no bet about all that the
        ledger may ever grant is right more often than its total allows (`Budget` is a filter), and
        no figure here is above that.

        Returns:
            The bounds; `aside` is what the deltas of the charges add up to.
        """
        chain = self._read()
        spendings = chain.spendings
        if not spendings:
            return attack_bounds(PureProfile(0.0), 0.0)
        most = MixedProfile.of_pair(chain.opening.epsilon, chain.opening.delta)
        aside = math.fsum(spending.delta for spending in spendings)
        # Deltas of 1 and more together say nothing; the total that covers them does.
        known = aside if aside < 1 else chain.opening.delta
        return attack_bounds(TightestProfile(composed_profile(spendings), most), known)

    def history(self) -> tuple[Charge, ...]:
        """Every charge, oldest first."""
        return self._read().charges

    def entries(self) -> tuple[str, ...]:
        """Every entry as it is stored, in order: what the hashes of the chain are made of."""
        chain, bodies = store.entries(self.path)
        with store.plain_errors(self.path):
            self._check(chain, self._known)
        return bodies

    @property
    def head(self) -> str:
        """The hash of the last entry; it commits to all entries before it."""
        return self._read().head

    def verify(self, head: str | None = None) -> None:
        """Check every entry of the ledger.

        Args:
            head: A head recorded earlier, such as on a card. A ledger that was cut short, replaced
                by an older copy or rewritten since does not contain it.

        Raises:
            InputError: If an entry was changed, removed or reordered, or `head` is not in the
                ledger.
        """
        chain = self._read()
        if head is not None and head not in chain.hashes:
            raise fail("head", head, f"is not in {str(self.path)!r}: it was cut short or replaced")

    def _read(self) -> Chain:
        known = self._known
        with store.reading(self.path) as chain:
            self._check(chain, known)
        self._known, self.opening = chain.head, chain.opening
        return chain

    def _check(self, chain: Chain, known: str) -> None:
        if known not in chain.hashes:
            raise DamagedError("it was replaced, or cut short, since it was last read")


def _facts(schema: Schema) -> dict[str, Any]:
    """What the opening of a ledger must have, so that plans for this schema may be charged."""
    return {
        "dataset": schema.name,
        "schema": schema.fingerprint,
        "unit": schema.unit,
        "neighbours": NEIGHBOURS,
    }


def _check_owed(chain: Chain, receipt: Receipt) -> Charge:
    charge = next((c for c in chain.charges if c.receipt == receipt), None)
    if charge is None:
        raise fail("receipt", receipt.id, "this ledger holds no such charge")
    if charge.released:
        raise fail("receipt", receipt.id, "was released before; reserve a new run")
    return charge


def _stopped_charge(
    chain: Chain, spending: Spending, plan: Mapping[str, Any], receipt: Receipt | None = None
) -> Charge | None:
    orders = chain.opening.orders
    for charge in chain.charges:
        wanted = receipt is None or charge.receipt == receipt
        fits = wanted and charge.pays_for(spending, orders)
        if fits and moved(charge, plan, charge.nonce) is not None:
            return charge
    return None
