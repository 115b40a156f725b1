"""`Session`: the charge, folder, interruption, errors and release of one run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from os import PathLike
from types import TracebackType
from typing import NoReturn

from honestdp.engine.models import Model
from honestdp.errors import FolderError, InputError, Interrupted, MisfitError, SearchError
from honestdp.evaluation import Evaluation
from honestdp.ledger import Charge, Ledger, Receipt
from honestdp.planning.plan import Plan
from honestdp.randomness import Randomness
from honestdp.release.code import code
from honestdp.release.released import Release
from honestdp.resume.journal import journal_in
from honestdp.resume.state import StateFile
from honestdp.runner.calibrating import Calibrated
from honestdp.runner.charging import charge
from honestdp.runner.checking import Checker
from honestdp.runner.progress import Report, tell
from honestdp.runner.publish import prepare, publish, published
from honestdp.schema import Schema


@dataclass(frozen=True)
class Account:
    """What pays for a run: a ledger, by a new charge or an earlier `receipt`; or, in a simulation
    with a seed, nothing."""

    ledger: Ledger | None
    receipt: Receipt | Charge | None
    seed: int | None


class Session:
    """One run, from its charge to its release, as a context manager.

    Entering charges the ledger, before anything is read; leaving unlocks the run's folder. An
    exception inside is suppressed, and `fail` raises its public form after the `with`:

        with Session(...) as session:
            with session.reading():
                ...
            with session.searching():
                ...
            return session.publish(schema, kept)
        session.fail()

    The original exception must not be the context of the one that is raised, as its text may quote
    a row. An exception raised in `__exit__` would have that context; one raised after the `with`
    has none.

    Attributes:
        journal: The record from which the run can be resumed.
        randomness: The run's randomness: secret, or from the seed.
        receipt: The receipt of the charge; None in a simulation.
    """

    def __init__(
        self,
        plan: Plan,
        models: Sequence[Model],
        account: Account,
        folder: str | PathLike[str] | None,
        config: str,
        report: Report | None,
    ) -> None:
        self.plan, self.models, self.report = plan, models, report
        self._account, self._folder, self._config = account, folder, config
        self._state = StateFile(plan, models, account.seed)
        self._stage = "charging"
        self._failure: BaseException | None = None
        self._checks = True

    def __enter__(self) -> Session:
        seed = self._account.seed
        code()  # asks git now, for the card: how long a search takes depends on K
        self.journal = journal_in(self._folder, self._state, self._config)
        try:
            self.randomness = (
                Randomness(self.journal.coins) if seed is None else Randomness.simulation(seed)
            )
            tell(self.report, "opening")
            account = self._account  # spent from here on, even if we crash
            self.receipt = charge(self.plan, account.ledger, account.receipt, self.journal)
        except BaseException:
            self.journal.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        self.journal.close()
        if error is None:
            return False
        self._failure = self._public_error(error)
        return self._failure is not error

    def fail(self) -> NoReturn:
        """Raise the public form of the exception that ended the block."""
        assert self._failure is not None
        raise self._failure

    @property
    def group_size(self) -> int:
        """Number of draws that are trained together; depends on public facts alone."""
        return self._state.group_size

    @contextmanager
    def reading(self) -> Iterator[None]:
        """The block that reads the table; its errors say how to use the charge again."""
        self._stage = "reading"
        yield
        self._stage = "charged"

    def checker(self, wanted: bool) -> Checker:
        """What checks the table, before anything else is computed from it."""
        ledger, journal = self._account.ledger, self.journal
        self._checks = wanted
        return Checker(self.plan, ledger, self.receipt, self.randomness, journal, wanted)

    @contextmanager
    def searching(self) -> Iterator[None]:
        """The block that trains and compares candidates: only the type of an error is shown, and
        Ctrl-C pauses at the next step."""
        self._stage = "searching"
        tell(self.report, "searching")
        with self.journal.interruptible():
            yield
            self.journal.check_stop()
        self._stage = "charged"

    def published(self) -> Release | None:
        """The release of a run that was interrupted while its last files were written, if any."""
        return published(self.plan, self._account.ledger, self.receipt, self.journal)

    def publish(
        self, schemas: Sequence[Schema], made: Calibrated, evaluation: Evaluation | None
    ) -> Release:
        """Release what was made; works once per charge.

        Until the ledger has recorded the release, errors are sealed as in the search: a model's own
        code sees parameters that may never be released.
        """
        asked = self._askings()
        self._stage = "searching"
        found = made.kept, self.receipt is None, asked, evaluation, self._day
        how = made.answers, made.calibration
        prepared = prepare(self.plan, schemas, self.models, *found, *how)
        self._stage = "charged"
        return publish(self.plan, prepared, self._account.ledger, self.receipt, self.journal)

    @property
    def _day(self) -> date | None:
        """The day for the card; a simulation has none, as nobody publishes it."""
        return None if self.receipt is None else self.journal.day

    def _askings(self) -> int:
        """How often the table was checked, in all attempts on the charge."""
        ledger, receipt = self._account.ledger, self.receipt
        if self.plan.check is None:
            return 0
        if ledger is None or receipt is None:
            return int(self._checks)
        return len(ledger.check(receipt).askings)

    def _public_error(self, error: BaseException) -> BaseException:
        """The form of an error that may be shown; the error itself if all of it may be."""
        if isinstance(error, KeyboardInterrupt):
            return self._interrupted(error)
        if isinstance(error, (SystemExit, GeneratorExit)):
            return error if self.receipt is None else type(error)()
        if self._stage == "reading":
            return self._unreadable(error)
        return self._sealed(error) if self._stage == "searching" else error

    def _interrupted(self, error: KeyboardInterrupt) -> BaseException:
        if self.receipt is None and self.journal.folder is None:
            return error
        stands = "" if self.receipt is None else f"; charge {self.receipt.id} stands"
        where = "where it was" if self.journal.folder is not None else "from the start"
        return Interrupted(f"interrupted{stands}. Run again with {self._again} to go on {where}")

    def _unreadable(self, error: BaseException) -> BaseException:
        """Show only the type of an error that is not about structure: its text may quote a cell.
        What a check found is paid for, and made anew, as its frames hold rows."""
        if isinstance(error, MisfitError):
            return MisfitError(str(error), error.facts)
        if self.receipt is None or isinstance(error, FolderError):
            return error
        known = isinstance(error, InputError)
        reason = str(error) if known else f"table: cannot be read ({type(error).__name__})"
        return InputError(
            f"{reason}. The charge stands and nothing was released: fix the table and run again "
            f"with {self._again}"
        )

    def _sealed(self, error: BaseException) -> BaseException:
        """Show only the type of an error in a paid run: its text may quote a row, or reveal how far
        a best-of-K search had come."""
        if isinstance(error, FolderError):
            return FolderError(str(error))
        if self.receipt is None:
            return error
        return SearchError(
            f"the search failed ({type(error).__name__}); charge {self.receipt.id} stands, nothing "
            "was released. A simulation (seed=1) shows the whole error; run again with "
            f"{self._again}"
        )

    @property
    def _again(self) -> str:
        """The argument or command that resumes an interrupted run."""
        if self.journal.folder is not None:
            return self.journal.again
        return "" if self.receipt is None else f"receipt=ledger.charge({self.receipt.id})"
