"""`Ledger`: a total (epsilon, delta) for one data set, spent by many, never exceeded.

    ledger = Ledger.create("adult.ledger", schema=schema, epsilon=1, delta=1e-6)
    receipt = ledger.reserve(spending, plan)    # committed before it returns; never refunded
    ...                                         # only now may the data be opened
    head = ledger.release(receipt, what)        # once; the head goes on the card

A ledger object holds no connection: it may be shared by threads, forked and pickled. Every call
reads the whole chain and checks it. It is named by the dataset's declared name and the
schema's fingerprint; nothing is ever computed from the data.
"""

from __future__ import annotations

import math
import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from honestdp.errors import BudgetError, fail, instance
from honestdp.ledger import store
from honestdp.ledger.chain import (
    Chain,
    Charge,
    DamagedError,
    Opening,
    Receipt,
    charge_body,
    fingerprint,
    link,
    new_nonce,
    opening_body,
    release_body,
)
from honestdp.privacy.curve import RdpCurve, gaussian
from honestdp.privacy.spending import Budget, Spending
from honestdp.schema import Schema
from honestdp.text import down, small, up

PathLike = str | os.PathLike[str]

NEIGHBOURS = "one record replaced by a null record"  # what every plan is priced for


class Remaining(NamedTuple):
    """What is left: a further plan that is (epsilon, 0)-DP would fit, a larger one would not.

    delta: what slacks (deltas, of plans known only as (epsilon, delta)) may still use. Before
    the first charge, the total: a first plan may have all of it.
    """

    epsilon: float
    delta: float


class Ledger:
    """The budget of one data set; made by `Ledger.create` or `Ledger.open`."""

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
        """A new ledger in a new file. `orders` are fixed here (default: by the budget).

        schema: gives its fingerprint, and the dataset's name and unit where they are not given;
        or the fingerprint itself.
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
        """An existing ledger; refused unless it is this dataset's (and this total's, if given)."""
        if isinstance(schema, Schema):
            dataset, schema = dataset or schema.name, schema.fingerprint
        with store.reading(Path(path)) as chain:
            wanted = {"dataset": dataset, "schema": schema, "epsilon": epsilon, "delta": delta}
            for name, value in wanted.items():
                found = getattr(chain.opening, name)
                if value != found and not (value is None and name in ("epsilon", "delta")):
                    raise fail(name, value, f"the ledger {str(path)!r} is for {name}={found!r}")
            return cls(Path(path), chain)

    @classmethod
    def inspect(cls, path: PathLike) -> Ledger:
        """An existing ledger, to look at, whatever data set it is of."""
        with store.reading(Path(path)) as chain:
            return cls(Path(path), chain)

    def reserve(
        self, spending: Spending, plan: Mapping[str, Any], nonce: str | None = None
    ) -> Receipt:
        """Charge a plan, durably, before the data is touched; refused if it does not fit.

        `plan` says what will be done, in texts, numbers, lists and dicts: public facts only. A
        charge is never given back, not even if this process is killed before it gets its receipt.
        `nonce`: a random text by which such a process finds its charge again (`charge_of`).
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

    def release(self, receipt: Receipt, what: str = "") -> str:
        """Note that what a receipt paid for has left, once; returns the new head.

        `what`: the SHA-256 of that which leaves, so that it can be told from anything else.
        """
        instance(Receipt, "receipt", receipt, "the one that reserve returned")
        known = self._known
        undone = f"nothing was released, the receipt of charge {receipt.id} stays good"
        with store.writing(self.path, undone) as (chain, bodies):
            self._check(chain, known)
            _check_owed(chain, receipt)
            bodies.append(release_body(receipt, what))
            head = link(chain.head, bodies[0])
        self._known = head
        return head

    def check(self, receipt: Receipt) -> Charge:
        """Its charge; `InputError` unless it is of this ledger and not yet released."""
        instance(Receipt, "receipt", receipt, "the one that reserve returned")
        return _check_owed(self._read(), receipt)

    def charge(self, id_: int) -> Charge:
        """The charge of this number, as error messages name it."""
        for charge in self.history():
            if charge.receipt.id == id_:
                return charge
        raise fail("charge", id_, "this ledger holds no such charge; see history()")

    def charge_of(self, nonce: str) -> Charge | None:
        """The charge that was reserved with this nonce, if there is one."""
        return next((charge for charge in self.history() if charge.nonce == nonce), None)

    def fits(self, spending: Spending) -> bool:
        """Whether a plan would be granted now. Spends nothing."""
        chain = self._read()
        return chain.opening.budget.covers([*chain.spendings, spending])

    def remaining(self) -> Remaining:
        """What is left; see `Remaining`."""
        chain = self._read()
        return Remaining(*chain.opening.budget.left(chain.spendings))

    def history(self) -> tuple[Charge, ...]:
        """Every charge, in the order they were granted."""
        return self._read().charges

    @property
    def head(self) -> str:
        """The hash of the last entry: written down elsewhere, it pins all that went before."""
        return self._read().head

    def verify(self, head: str | None = None) -> None:
        """Check every entry; `InputError` if anything was changed, removed or moved.

        `head`: one written down earlier (on a card). It must still be in the chain: a ledger cut
        short, replaced by an older copy or written anew does not have it.
        """
        chain = self._read()
        if head is not None and head not in chain.hashes:
            raise fail("head", head, f"is not in {str(self.path)!r}: it was cut short or replaced")

    def _read(self) -> Chain:
        known = self._known
        with store.reading(self.path) as chain:
            self._check(chain, known)
        self._known = chain.head
        return chain

    def _check(self, chain: Chain, known: str) -> None:
        if known not in chain.hashes:
            raise DamagedError("it was replaced, or cut short, since it was last read")


def _check_owed(chain: Chain, receipt: Receipt) -> Charge:
    charge = next((c for c in chain.charges if c.receipt == receipt), None)
    if charge is None:
        raise fail("receipt", receipt.id, "this ledger holds no such charge")
    if charge.released:
        raise fail("receipt", receipt.id, "was released before; reserve a new run")
    return charge


def refusal(budget: Budget, spent: Sequence[Spending], asked: Spending) -> BudgetError:
    """What was asked, what is left, what would fit: in one line."""
    epsilon, delta = budget.left(spent)
    return BudgetError(
        f"plan costs epsilon={up(asked.epsilon)} (delta={small(asked.delta)}); left are "
        f"epsilon={down(epsilon)}, delta={delta:.3g} of "
        f"epsilon={budget.epsilon:g}, delta={budget.delta:g}; {_would_fit(budget, spent, asked)}"
    )


def _would_fit(budget: Budget, spent: Sequence[Spending], asked: Spending) -> str:
    if asked.largest_loss < math.inf:  # known as a pair
        found = budget.largest(spent, lambda e: Spending.of_pair(e, asked.slack), asked.epsilon)
        if float(down(found)) > 0:
            return f"epsilon={down(found)} at this delta would fit"
        return "a smaller delta may fit" if asked.slack else "nothing more fits"

    def similar(weight: float) -> Spending:  # a Gaussian of noise multiplier 1 / sqrt(weight)
        curve = RdpCurve(_GAUSSIAN.orders, weight * _GAUSSIAN.values)
        return Spending.of_curve(curve, asked.delta, slack=asked.slack)

    # A training that uses up what is left behaves much like one Gaussian; its epsilon is told as
    # that of the plan asked for is, which may be tighter than its curve's.
    own = asked.curve.epsilon(asked.delta - asked.slack)
    tighter = asked.epsilon / own if 0 < own < math.inf else 1.0
    found = tighter * similar(budget.largest(spent, similar, 4 * budget.epsilon)).epsilon
    if float(down(found)) <= 0:
        return "nothing more of its kind fits"
    return f"a plan with epsilon of about {down(found)} at this delta would fit"


_GAUSSIAN = gaussian(1.0)
