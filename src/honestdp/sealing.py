"""What a run asks of the outside and what it tells it: payment, randomness, progress, failure."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from honestdp.errors import InputError, SearchError, fail, positive_integer
from honestdp.ledger import NEIGHBOURS, Charge, Ledger, Receipt, fingerprint
from honestdp.planning.plan import Plan
from honestdp.randomness import Randomness

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


def randomness_for(ledger: Ledger | None, seed: int | None) -> Randomness:
    """Production with a ledger, simulation with a seed; never both, never neither."""
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
    return Randomness() if seed is None else Randomness.simulation(seed)


def paid(plan: Plan, ledger: Ledger | None, receipt: Receipt | Charge | None) -> Receipt | None:
    """The receipt of a charge for this plan: a new one, or the one given if it is still good."""
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
    if receipt is None:
        return ledger.reserve(plan.spending, plan.public())
    if isinstance(receipt, Charge):
        receipt = receipt.receipt
    charge = ledger.check(receipt)
    if receipt.plan_fingerprint != fingerprint(plan.public()):
        raise fail("receipt", receipt.id, "is for another plan; make the plan it was charged for")
    if not charge.pays_for(plan.spending, ledger.opening.orders):
        raise fail("receipt", receipt.id, "was charged less than this plan costs; reserve anew")
    return receipt


def opened(receipt: Receipt | None, read: Callable[[], T]) -> T:
    """What `read` returns. What is wrong with data already paid for is told with the way to use
    the charge; by its kind alone where it is not about structure, as its text may quote a cell."""
    try:
        return read()
    except Exception as error:
        if receipt is None:
            raise
        known = isinstance(error, InputError)
        said = str(error) if known else f"table: cannot be read ({type(error).__name__})"
    raise InputError(
        f"{said}. The charge stands and nothing was released: mend the table and run again with "
        f"receipt=ledger.charge({receipt.id})"
    )


def sealed(plan: Plan, receipt: Receipt | None, search: Callable[[], T]) -> T:
    """What `search` returns. Under a best-of-K procedure no failure tells how far it had come:
    it is told by its kind alone. In a simulation, and where all candidates are shown, as it is."""
    try:
        return search()
    except Exception as error:
        if plan.shows_all or receipt is None:
            raise
        kind, charge = type(error).__name__, receipt.id
    # Out of the handler (and of any `with`), or the failure itself would hang on as context.
    raise SearchError(
        f"the search failed ({kind}); charge {charge} stands, nothing was released. "
        "A simulation (seed=1) shows the whole error"
    )
