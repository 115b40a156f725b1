"""The record of a ledger as values: a chain of canonical JSON bodies, no files.

Body 0 opens the ledger (what it protects, the total, the orders); every later one is a charge
or the release of a charge. Each is stored with

    hash = SHA-256(hash of the body before + newline + body)

so that a body cannot be changed, moved or removed without breaking every later hash. Cutting off
the end, or rewriting everything, leaves a valid chain: only a hash recorded elsewhere (the head on
a released card) shows it.
"""

from __future__ import annotations

import hashlib
import json
import math
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from honestdp.errors import InputError, fail
from honestdp.privacy.curve import RdpCurve
from honestdp.privacy.spending import Budget, Spending

FORMAT = 1


class DamagedError(ValueError):
    """The entries are not a valid ledger; the message gives the first bad one."""


@dataclass(frozen=True)
class Opening:
    """What a ledger is for: fixed when it is made."""

    dataset: str
    schema: str
    epsilon: float
    delta: float
    unit: str
    neighbours: str
    orders: tuple[float, ...]
    nonce: str  # two ledgers are never the same chain

    @property
    def budget(self) -> Budget:
        return Budget(self.epsilon, self.delta, self.orders)


@dataclass(frozen=True)
class Receipt:
    """Proof that a plan was charged: the key to one release."""

    id: int
    entry_hash: str
    plan_fingerprint: str
    epsilon: float
    delta: float


@dataclass(frozen=True)
class Left:
    """The release of what a charge paid for. what: its SHA-256, as the caller gave it; head: the
    hash of this entry, the last of the chain at that time."""

    what: str
    head: str


@dataclass(frozen=True)
class Charge:
    """One plan in the ledger; `spending` has its curve at the ledger's orders. nonce: identifies
    the run it is for, so that a run that was killed finds its charge again."""

    receipt: Receipt
    plan: Mapping[str, Any]
    spending: Spending
    nonce: str
    left: Left | None

    @property
    def released(self) -> bool:
        return self.left is not None

    def pays_for(self, spending: Spending, orders: Sequence[float]) -> bool:
        """Whether the charge is exactly this spending, at the ledger's orders."""
        needed, own = spending.at(orders), self.spending
        numbers = ("epsilon", "delta", "slack", "largest_loss")
        same = all(getattr(needed, name) == getattr(own, name) for name in numbers)
        return same and needed.curve.values.tolist() == own.curve.values.tolist()


@dataclass(frozen=True)
class Chain:
    """A whole ledger, checked."""

    opening: Opening
    charges: tuple[Charge, ...]
    hashes: tuple[str, ...]

    @property
    def head(self) -> str:
        return self.hashes[-1]

    @property
    def spendings(self) -> list[Spending]:
        return [charge.spending for charge in self.charges]


def canonical(value: object) -> str:
    """One text for one value: sorted keys, no spaces, ASCII, no NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def fingerprint(value: Mapping[str, Any]) -> str:
    """The SHA-256 of a plan or schema in canonical form. Public values only."""
    try:
        return hashlib.sha256(canonical(dict(value)).encode()).hexdigest()
    except (TypeError, ValueError, RecursionError):
        raise fail(
            "plan",
            ", ".join(sorted(map(str, value))),
            "must hold only texts, numbers, lists, dicts",
        ) from None


def link(previous: str, body: str) -> str:
    """The hash of a body after the hash before it (empty before the opening)."""
    return hashlib.sha256(f"{previous}\n{body}".encode()).hexdigest()


def opening_body(opening: Opening) -> str:
    return canonical({"kind": "ledger", "format": FORMAT, **asdict(opening)})


def charge_body(
    spending: Spending, plan: Mapping[str, Any], orders: Sequence[float], nonce: str
) -> str:
    values = spending.at(orders).curve.values.tolist()
    return canonical(
        {
            "kind": "charge",
            "epsilon": spending.epsilon,
            "delta": spending.delta,
            "slack": spending.slack,
            "largest_loss": _finite(spending.largest_loss),
            "values": [_finite(value) for value in values],
            "plan": dict(plan),
            "plan_fingerprint": fingerprint(plan),
            "nonce": nonce,
        }
    )


def release_body(receipt: Receipt, what: str) -> str:
    return canonical(
        {
            "kind": "release",
            "charge": receipt.id,
            "hash": receipt.entry_hash,
            "what": what,
            "nonce": new_nonce(),
        }
    )


def new_nonce() -> str:
    """A random text for an entry. It makes the heads of two copies of a ledger differ even if both
    are charged the same plan, so a release from one is not on the chain of the other."""
    return secrets.token_hex(16)


def read_chain(rows: Iterable[tuple[object, object, object]]) -> Chain:
    """Check rows (position, body, hash) and return them as a chain; raise `DamagedError` if one is
    wrong.

    Checked are the positions, every hash, the form of every body, that no charge was released
    twice, and that the charges are within the total.
    """
    opening: Opening | None = None
    hashes: list[str] = []
    charges: list[Charge] = []
    owed: dict[str, int] = {}  # charges not yet released, by hash
    left: dict[int, Left] = {}
    for position, (number, body, stored) in enumerate(rows):
        previous = hashes[-1] if hashes else ""
        if number != position or not isinstance(body, str) or link(previous, body) != stored:
            raise DamagedError(f"entry {position} does not match its hash")
        hashes.append(stored)
        try:
            facts: dict[str, Any] = json.loads(body)
            kind = facts.pop("kind")
            if position == 0:
                opening = _opening(kind, facts)
            elif kind == "charge" and opening:
                charges.append(_charge(position, stored, facts, opening.orders))
                owed[stored] = position
            elif kind == "release":
                id_ = owed.pop(facts["hash"], None)  # each charge once
                if id_ is None or id_ != facts["charge"]:
                    raise DamagedError(f"entry {position} releases what it may not")
                left[id_] = Left(str(facts["what"]), stored)
            else:
                raise DamagedError(f"entry {position} is of no known kind")
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            if isinstance(error, DamagedError):
                raise
            raise DamagedError(f"entry {position} cannot be read") from None
    if opening is None:
        raise DamagedError("it holds no entries")
    chain = Chain(
        opening,
        tuple(replace(charge, left=left.get(charge.receipt.id)) for charge in charges),
        tuple(hashes),
    )
    try:
        within = opening.budget.covers(chain.spendings)
    except InputError:
        within = False
    if not within:
        raise DamagedError("its charges exceed its total")
    return chain


def _opening(kind: str, facts: Mapping[str, Any]) -> Opening:
    if kind != "ledger" or facts["format"] != FORMAT:
        raise DamagedError(f"entry 0 does not open a ledger of format {FORMAT}")
    named = {name: value for name, value in facts.items() if name != "format"}
    return Opening(**{**named, "orders": tuple(facts["orders"])})


def _charge(
    position: int, entry_hash: str, facts: Mapping[str, Any], orders: Sequence[float]
) -> Charge:
    spending = Spending(
        facts["epsilon"],
        facts["delta"],
        facts["slack"],
        RdpCurve(np.array(orders), np.array([_number(v) for v in facts["values"]])),
        _number(facts["largest_loss"]),
    )
    plan = facts["plan"]
    if fingerprint(plan) != facts["plan_fingerprint"]:
        raise DamagedError(f"entry {position} holds a plan that is not its fingerprint's")
    receipt = Receipt(
        position, entry_hash, facts["plan_fingerprint"], spending.epsilon, spending.delta
    )
    return Charge(receipt, plan, spending, str(facts["nonce"]), None)


def _finite(value: float) -> float | None:
    """JSON has no infinity."""
    return value if math.isfinite(value) else None


def _number(value: float | None) -> float:
    return math.inf if value is None else float(value)
