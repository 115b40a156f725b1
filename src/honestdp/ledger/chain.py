"""The record of a ledger as values: a chain of canonical JSON bodies, no files.

Body 0 opens the ledger (what it protects, the total, the orders). Every later one is
    charge      a plan and what it costs
    check       a charge's table is about to be checked, with noise that the charge pays for
    stop        a check found that the table does not fit: nothing was trained
    unchecked   a charge's table is about to be trained on without a check
    move        a stopped charge pays for another plan of the same cost (`moved` has the rule)
    release     what a charge paid for left
    amendment   the schema was corrected
Each is stored with

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
class Asking:
    """One check of a charge's table. entry_hash: That of its entry. stopped: Whether it is known to
    have ended its run; otherwise it passed, or nobody knows."""

    entry_hash: str
    stopped: bool = False


@dataclass(frozen=True)
class Charge:
    """One plan in the ledger; `spending` has its curve at the ledger's orders. nonce: identifies
    the run it is for, so that a run that was killed finds its charge again. askings: The checks of
    its table, oldest first. free: Whether its last asking stopped and nobody took it since.
    unchecked: Whether a table was ever trained on without a check."""

    receipt: Receipt
    plan: Mapping[str, Any]
    spending: Spending
    nonce: str
    left: Left | None
    askings: tuple[Asking, ...] = ()
    free: bool = False
    unchecked: bool = False

    @property
    def released(self) -> bool:
        return self.left is not None

    @property
    def checks(self) -> int:
        """How many checks it pays for."""
        planned = self.plan.get("check")
        return int(planned.get("times", 0)) if isinstance(planned, Mapping) else 0

    @property
    def checks_left(self) -> int:
        """How many of them are left."""
        return self.checks - len(self.askings)

    @property
    def stopped(self) -> bool:
        """Whether every check of it stopped and none was left out, so that nothing was ever trained
        on it, and it may pay for another plan of the same cost."""
        every = bool(self.askings) and all(asking.stopped for asking in self.askings)
        return every and self.free and not self.unchecked and not self.released

    def pays_for(self, spending: Spending, orders: Sequence[float]) -> bool:
        """Whether the charge is exactly this spending, at the ledger's orders."""
        needed, own = spending.at(orders), self.spending
        numbers = ("epsilon", "delta", "slack", "largest_loss")
        same = all(getattr(needed, name) == getattr(own, name) for name in numbers)
        return same and needed.curve.values.tolist() == own.curve.values.tolist()


# What of a plan may differ where a stopped charge moves to it; none of it is in the price.
_MAY_DIFFER = frozenset({"honestdp", "schema", "encoding", "row_norm", "model", "grid", "reason"})


def moved(charge: Charge, plan: Mapping[str, Any], nonce: str) -> Charge | None:
    """A stopped charge that pays for another plan; None if it may not.

    It may if nothing was trained on it (`Charge.stopped`) and the plans agree in all that their
    price is made of: the procedure, what a run, a score and every question cost, how often a table
    may be checked. That the sums agree would not be enough, as a check of the first plan and the
    search of the second are paid for by one charge.
    """
    if not charge.stopped or _priced(plan) != _priced(charge.plan):
        return None
    receipt = replace(charge.receipt, plan_fingerprint=fingerprint(plan))
    return replace(charge, receipt=receipt, plan=dict(plan), nonce=nonce, free=False)


def _priced(plan: Mapping[str, Any]) -> str:
    return canonical({name: value for name, value in plan.items() if name not in _MAY_DIFFER})


@dataclass(frozen=True)
class Chain:
    """A whole ledger, checked. opening: With the schema that the last amendment gave it."""

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


def check_body(receipt: Receipt) -> str:
    facts = {"charge": receipt.id, "hash": receipt.entry_hash, "nonce": new_nonce()}
    return canonical({"kind": "check", **facts})


def stop_body(receipt: Receipt, asking: str) -> str:
    facts = {"charge": receipt.id, "check": asking, "nonce": new_nonce()}
    return canonical({"kind": "stop", **facts})


def unchecked_body(receipt: Receipt) -> str:
    facts = {"charge": receipt.id, "hash": receipt.entry_hash, "nonce": new_nonce()}
    return canonical({"kind": "unchecked", **facts})


def move_body(receipt: Receipt, plan: Mapping[str, Any], nonce: str) -> str:
    facts = {"charge": receipt.id, "hash": receipt.entry_hash, "nonce": nonce}
    return canonical({"kind": "move", **facts, "plan": dict(plan)})


def amendment_body(schema: str) -> str:
    return canonical({"kind": "amendment", "schema": schema, "nonce": new_nonce()})


def new_nonce() -> str:
    """A random text for an entry. It makes the heads of two copies of a ledger differ even if both
    are charged the same plan, so a release from one is not on the chain of the other."""
    return secrets.token_hex(16)


def read_chain(rows: Iterable[tuple[object, object, object]]) -> Chain:
    """Check rows (position, body, hash) and return them as a chain; raise `DamagedError` if one is
    wrong.

    Checked are the positions, every hash, the form of every body, that no charge was released
    twice, that none was checked after its release or more often than it pays for, that only a
    stopped one moved, to a plan of its cost, and that the charges are within the total.
    """
    opening: Opening | None = None
    hashes: list[str] = []
    charges: dict[int, Charge] = {}  # by position
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
                charges[position] = _charge(position, stored, facts, opening.orders)
            elif kind == "amendment" and opening:
                opening = replace(opening, schema=_text(facts["schema"]))
            elif kind in _LATER:
                charge = charges.get(facts["charge"])
                after = charge and not charge.released and _LATER[kind](charge, facts, stored)
                if not after:
                    raise DamagedError(f"entry {position} {_MAY_NOT[kind]} what it may not")
                charges[after.receipt.id] = after
            else:
                raise DamagedError(f"entry {position} is of no known kind")
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            if isinstance(error, DamagedError):
                raise
            raise DamagedError(f"entry {position} cannot be read") from None
    if opening is None:
        raise DamagedError("it holds no entries")
    chain = Chain(opening, tuple(charges.values()), tuple(hashes))
    try:
        within = opening.budget.covers(chain.spendings)
    except InputError:
        within = False
    if not within:
        raise DamagedError("its charges exceed its total")
    return chain


# What becomes of a charge by a later entry about it; None if the entry may not be. Each charge is
# released once, as the caller looks at none that is released.


def _released(charge: Charge, facts: Mapping[str, Any], stored: str) -> Charge | None:
    if facts["hash"] != charge.receipt.entry_hash:
        return None
    return replace(charge, left=Left(str(facts["what"]), stored))


def _checked(charge: Charge, facts: Mapping[str, Any], stored: str) -> Charge | None:
    if facts["hash"] != charge.receipt.entry_hash or charge.checks_left < 1:
        return None
    return replace(charge, askings=(*charge.askings, Asking(stored)), free=False)


def _stopped(charge: Charge, facts: Mapping[str, Any], stored: str) -> Charge | None:
    place = charge.askings.index(Asking(facts["check"]))  # ValueError: no such, or it has stopped
    after = list(charge.askings)
    after[place] = replace(after[place], stopped=True)
    return replace(charge, askings=tuple(after), free=True)


def _unchecked(charge: Charge, facts: Mapping[str, Any], stored: str) -> Charge | None:
    if facts["hash"] != charge.receipt.entry_hash:
        return None
    return replace(charge, unchecked=True)


def _moved(charge: Charge, facts: Mapping[str, Any], stored: str) -> Charge | None:
    if facts["hash"] != charge.receipt.entry_hash:
        return None
    return moved(charge, facts["plan"], _text(facts["nonce"]))


_LATER = {
    "release": _released,
    "check": _checked,
    "stop": _stopped,
    "unchecked": _unchecked,
    "move": _moved,
}
_MAY_NOT = {
    "release": "releases",
    "check": "checks",
    "stop": "stops",
    "unchecked": "trains on",
    "move": "moves",
}


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError
    return value


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
        raise DamagedError(f"entry {position} holds a plan that does not match its fingerprint")
    receipt = Receipt(
        position, entry_hash, facts["plan_fingerprint"], spending.epsilon, spending.delta
    )
    return Charge(receipt, plan, spending, str(facts["nonce"]), None)


def _finite(value: float) -> float | None:
    """JSON has no infinity."""
    return value if math.isfinite(value) else None


def _number(value: float | None) -> float:
    return math.inf if value is None else float(value)
