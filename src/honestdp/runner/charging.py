"""Paying for a run: a new charge, an earlier one, or that of the run that is resumed."""

from __future__ import annotations

from honestdp.errors import InputError, fail, seed_and_ledger
from honestdp.ledger import Charge, Ledger, Receipt, fingerprint
from honestdp.planning.plan import Plan
from honestdp.randomness import Randomness
from honestdp.resume.journal import Journal


def check_paid_or_simulated(ledger: object, seed: int | None, called: str = "seed") -> None:
    """Raise InputError unless exactly one of ledger and seed is given; `called`: what the caller's
    user knows the seed as."""
    if ledger is None and seed is None:
        way = "a seed" if called == "seed" else f"{called}=0"
        raise InputError(
            f"ledger: none; give the data set's ledger, or {way} to simulate, which protects nobody"
        )
    if ledger is not None and seed is not None:
        raise seed_and_ledger(called, seed)


def check_account(ledger: Ledger | None, seed: int | None) -> None:
    """Raise InputError unless exactly one of ledger and seed is given, and is what it should be."""
    check_paid_or_simulated(ledger, seed)
    if ledger is not None and not isinstance(ledger, Ledger):  # show only its type: it may be data
        raise InputError(
            f"ledger: is a {type(ledger).__name__}; give Ledger.open(...); targets go in target="
        )
    if seed is not None:
        Randomness.simulation(seed)


def charge(
    plan: Plan, ledger: Ledger | None, receipt: Receipt | Charge | None, journal: Journal
) -> Receipt | None:
    """The receipt of a charge for this plan: that of the resumed run, the given one if it is still
    valid, or a new one. The charge of a resumed run may have been released already: then only
    publishing is left to do."""
    try:
        return _charge(plan, ledger, receipt, journal)
    except InputError:
        if not _may_be_charged(ledger, journal):
            journal.discard()
        raise


def _may_be_charged(ledger: object, journal: Journal) -> bool:
    try:
        return (
            isinstance(ledger, Ledger)
            and journal.nonce is not None
            and ledger.charge_of(journal.nonce) is not None
        )
    except InputError:  # the ledger cannot be read: assume it is charged
        return True


def _unused(plan: Plan, ledger: Ledger, journal: Journal) -> Receipt | None:
    """A charge that the check of its table stopped before anything was trained, if one pays for
    exactly this plan: see the theorem in `runner.checking`."""
    if plan.check is None:
        return None
    return ledger.move(plan.spending, plan.public(), journal.nonce)


def _charge(
    plan: Plan, ledger: Ledger | None, receipt: Receipt | Charge | None, journal: Journal
) -> Receipt | None:
    if ledger is None:
        if receipt is not None:
            raise InputError("receipt: belongs to a ledger; give the ledger too")
        return None
    ledger.check_is_for(plan.spec.schema)
    own = None if journal.nonce is None else ledger.charge_of(journal.nonce)
    if isinstance(receipt, Charge):
        receipt = receipt.receipt
    if own is not None:
        if receipt not in (None, own.receipt):
            raise InputError(f"receipt: charge {own.receipt.id} pays for this run; leave it out")
        if own.released:
            journal.use(own.nonce, own.receipt.id)
            return own.receipt
        receipt = own.receipt
    elif journal.begun:  # charged to another ledger: two releases would share their coins
        raise InputError(
            f"folder={str(journal.folder)!r}: its charge is not in the ledger {str(ledger.path)!r}"
        )
    public = plan.public()
    if receipt is None:
        receipt = _unused(plan, ledger, journal)
        receipt = receipt or ledger.reserve(plan.spending, public, journal.nonce)
        journal.use(journal.nonce or "", receipt.id)
        return receipt
    charge = ledger.check(receipt)
    if charge.stopped:  # from here on it is in use: nobody else may take it
        taken = ledger.move(plan.spending, public, charge.nonce, receipt)
        if taken is not None:
            receipt, charge = taken, ledger.check(taken)
    if receipt.plan_fingerprint != fingerprint(public):
        raise fail("receipt", receipt.id, "is for another plan; make the plan it was charged for")
    if not charge.pays_for(plan.spending, ledger.opening.orders):
        raise fail(
            "receipt",
            receipt.id,
            "was charged for another cost than this plan has; make a new charge",
        )
    journal.use(charge.nonce, receipt.id)
    return receipt
