"""What a run asks of the outside and what it tells it: payment, progress, failure, interruption."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from honestdp.errors import (
    FolderError,
    InputError,
    Interrupted,
    SearchError,
    fail,
    positive_integer,
)
from honestdp.ledger import NEIGHBOURS, Charge, Ledger, Receipt, fingerprint
from honestdp.planning.plan import Plan
from honestdp.randomness import Randomness
from honestdp.resume.journal import Journal

T = TypeVar("T")


class Progress(NamedTuple):
    """How far a run is; `share` (0 to 1) is None where it would tell how many runs there are."""

    stage: str
    share: float | None


def tell(report: Callable[[Progress], None] | None, stage: str, share: float | None = None) -> None:
    """Say where a run is, if anyone listens."""
    if report is not None:
        report(Progress(stage, share))


def check_asked(plan: object, report: object, workers: object) -> None:
    """Raise before anything is paid if `run` was called with something else than it takes."""
    if not isinstance(plan, Plan):  # its type alone: it may be data
        raise InputError(f"plan: is a {type(plan).__name__}; give make_plan(Spec(...))")
    if report is not None and not callable(report):
        raise InputError(f"progress: is a {type(report).__name__}; give a function")
    if workers is not None:
        positive_integer("workers", workers)


def check_paid_or_simulated(ledger: Ledger | None, seed: int | None) -> None:
    """A ledger or a seed; never both, never neither."""
    if ledger is None and seed is None:
        raise InputError(
            "ledger: none; give the data set's ledger, or a seed to simulate, which protects nobody"
        )
    if ledger is not None and seed is not None:
        raise fail("seed", seed, "makes a simulation, which no ledger pays for; leave one out")
    if ledger is not None and not isinstance(ledger, Ledger):  # its type alone: it may be data
        raise InputError(
            f"ledger: is a {type(ledger).__name__}; give Ledger.open(...); targets go in target="
        )
    if seed is not None:
        Randomness.simulation(seed)


def paid(
    plan: Plan, ledger: Ledger | None, receipt: Receipt | Charge | None, journal: Journal
) -> Receipt | None:
    """The receipt of a charge for this plan: a new one, the one given if it is still good, or
    that of the run which the journal is of. The journal's charge may have been released: then
    what is left of the run is to publish it."""
    try:
        return _paid(plan, ledger, receipt, journal)
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
    except InputError:  # the ledger cannot be read: who knows
        return True


def _paid(
    plan: Plan, ledger: Ledger | None, receipt: Receipt | Charge | None, journal: Journal
) -> Receipt | None:
    if ledger is None:
        if receipt is not None:
            raise InputError("receipt: belongs to a ledger; give that too")
        return None
    schema = plan.spec.schema
    facts = {
        "dataset": schema.name,
        "schema": schema.fingerprint,
        "unit": schema.unit,
        "neighbours": NEIGHBOURS,
    }
    for name, value in facts.items():
        found = getattr(ledger.opening, name)
        if found != value:
            raise fail(name, value, f"the ledger {str(ledger.path)!r} is for {name}={found!r}")
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
    elif journal.begun:  # by another ledger's word: two releases would share their coins
        raise InputError(
            f"folder={str(journal.folder)!r}: its charge is not in the ledger {str(ledger.path)!r}"
        )
    if receipt is None:
        receipt = ledger.reserve(plan.spending, plan.public(), journal.nonce)
        journal.use(journal.nonce or "", receipt.id)
        return receipt
    charge = ledger.check(receipt)
    if receipt.plan_fingerprint != fingerprint(plan.public()):
        raise fail("receipt", receipt.id, "is for another plan; make the plan it was charged for")
    if not charge.pays_for(plan.spending, ledger.opening.orders):
        raise fail("receipt", receipt.id, "was charged less than this plan costs; reserve anew")
    journal.use(charge.nonce, receipt.id)
    return receipt


def opened(receipt: Receipt | None, journal: Journal, read: Callable[[], T]) -> T:
    """What `read` returns. What is wrong with data already paid for is told with the way to use
    the charge; by its kind alone where it is not about structure, as its text may quote a cell."""
    try:
        return read()
    except Exception as error:
        if receipt is None or isinstance(error, FolderError):
            raise
        known = isinstance(error, InputError)
        said = str(error) if known else f"table: cannot be read ({type(error).__name__})"
    raise InputError(
        f"{said}. The charge stands and nothing was released: mend the table and run again with "
        f"{_again(receipt, journal)}"
    )


def sealed(plan: Plan, receipt: Receipt | None, journal: Journal, search: Callable[[], T]) -> T:
    """What `search` returns. In production a failure is told by its kind alone: its text may quote
    a row, or tell how far a best-of-K search had come. In a simulation it is told as it is."""
    try:
        with journal.interruptible():
            found = search()
            journal.check_asked()
            return found
    except FolderError as error:
        folder: str | None = str(error)
    except Exception as error:
        if receipt is None or (plan.shows_all and isinstance(error, InputError)):
            raise
        folder, kind = None, type(error).__name__
    # Out of the handler (and of any `with`), or the failure itself would hang on as context.
    if folder is not None:
        raise FolderError(folder)
    assert receipt is not None
    raise SearchError(
        f"the search failed ({kind}); charge {receipt.id} stands, nothing was released. A "
        f"simulation (seed=1) shows the whole error; run again with {_again(receipt, journal)}"
    )


def resumable(receipt: Receipt | None, journal: Journal, work: Callable[[], T]) -> T:
    """What `work` returns. A Ctrl-C is told with what became of the charge, and how to go on."""
    try:
        return work()
    except KeyboardInterrupt:
        if receipt is None and journal.folder is None:
            raise
    stands = "" if receipt is None else f"; charge {receipt.id} stands"
    where = "where it was" if journal.folder is not None else "from the start"
    raise Interrupted(
        f"interrupted{stands}. Run again with {_again(receipt, journal)} to go on {where}"
    )


def _again(receipt: Receipt | None, journal: Journal) -> str:
    if journal.folder is not None:
        return journal.again
    return "" if receipt is None else f"receipt=ledger.charge({receipt.id})"
