"""`run`: charge the ledger, open the data, train, score, select, release.

    plan = make_plan(Spec(schema=schema, rows=48842, epsilon=1))
    release = run(plan, "table.csv", ledger)

One (epsilon, delta) covers all of it. The ledger is charged before the data is opened; a charge is
never refunded. A seed instead of a ledger makes a simulation, which is marked as not private.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, closing, nullcontext
from functools import lru_cache
from inspect import signature
from os import PathLike
from typing import Any

from honestdp.engine.models import Model
from honestdp.errors import InputError, fail, positive_integer, true_or_false
from honestdp.executors import Executor, executors
from honestdp.ledger import Charge, Ledger, Receipt
from honestdp.planning.plan import Plan
from honestdp.procedures import Draw, Outcome
from honestdp.release.released import Release
from honestdp.runner.calibrating import calibrate
from honestdp.runner.charging import check_account
from honestdp.runner.evaluating import evaluate
from honestdp.runner.private_data import PrivateData, checked_table, opened_table
from honestdp.runner.progress import Report
from honestdp.runner.publish import check_serialisable
from honestdp.runner.scoring import check_search, noisy_scores, outcomes, schedule, select
from honestdp.runner.session import Account, Session
from honestdp.runner.training import Trainer, models_of


def run(
    plan: Plan,
    table: Any,
    ledger: Ledger | None = None,
    *,
    target: Any = None,
    seed: int | None = None,
    receipt: Receipt | Charge | None = None,
    folder: str | PathLike[str] | None = None,
    progress: Report | None = None,
    workers: int | None = None,
    executor: str | Executor = "local",
    config: str = "",
    check: bool = True,
) -> Release:
    """Carry out a plan on a table, and return everything that is released.

    Args:
        plan: From `make_plan`.
        table: A path to a CSV, Parquet or xlsx file, a list of paths, a folder, a `TableFile`
            (which also says how it is written), or a table in memory.
        ledger: The data set's budget, charged with `plan.spending`.
        target: The cells to predict, if they are not a column of the table.
        seed: Simulate instead of charging a ledger; not private.
        receipt: The receipt of an earlier charge for the same plan whose run was not released, for
            example because the machine went down. It allows one release, however many attempts, and
            everything is drawn afresh. What stopped the earlier run must not have depended on the
            data or on its duration; if it may, use a folder, which keeps K.
        folder: Where to keep the run. The release is written there. A run interrupted before that
            (Ctrl-C, a machine that went down) is resumed by the same call.
        progress: Called now and then with the stage and, unless K is secret, the share done.
        workers: Number of threads to train in, by default one per core; for an executor that is
            given by name and takes it.
        executor: Where to train: the name of a registered executor, or an executor.
        config: The configuration of the run, public, stored in the folder with the release.
        check: False: leave out the check of the table that the plan pays for.

    Returns:
        The release: the winner, every candidate if all may be released, and the card.

    Raises:
        InputError: If an argument is wrong; nothing was charged, or the message says what was.
        BudgetError: If the ledger does not cover the plan; nothing was charged.
        MisfitError: If the plan has a check and the table does not fit its schema; the charge
            stands, and the next call uses it.
        SearchError: If a paid search failed; the message gives only the type of the error.
        Interrupted: On Ctrl-C in a run that can be resumed; the message says how.

    Example:
        >>> release = run(plan, "visits.csv", ledger)  # doctest: +SKIP
        >>> release.predict("new.csv")  # doctest: +SKIP
    """
    check_call(plan, progress, workers)
    true_or_false("check", check)
    check_account(ledger, seed)
    with opened_executor(executor, workers) as opened:
        table = checked_table(plan, table, target)  # columns and row count, of a table in memory
        models = _models(plan)
        check_search(plan, models)
        account = Account(ledger, receipt, seed)
        session = Session(plan, models, account, folder, config, progress)
        with session:
            return _carry_out(session, table, target, opened, check)
    session.fail()


def _carry_out(
    session: Session, table: Any, target: Any, executor: Executor, check: bool
) -> Release:
    """Everything after the charge. A function of its own: an error that is raised after it holds
    no frame in which rows are to be found."""
    before = session.published()
    if before is not None:  # interrupted while the last files were written
        return before
    plan, models = session.plan, session.models
    journal, randomness = session.journal, session.randomness
    with session.reading():
        table = opened_table(plan, table)
        session.checker(check).check(table, target, session.report)
        data = PrivateData.open(plan, table, target, session.receipt, randomness, journal)
    trainer = Trainer(plan, models, randomness, journal, session.report, executor)

    def train_and_select(kept: list[Outcome], draws: list[Draw]) -> list[Outcome]:
        fitted = trainer.train(draws, data)
        rows = [data.of(draw).validation for draw in draws]
        scores = noisy_scores(plan, models, fitted, draws, rows, randomness)
        return select(plan, kept, outcomes(draws, fitted, scores, randomness))

    with session.searching():
        kept: list[Outcome] = []
        for draws in schedule(plan, randomness, session.group_size):  # a secret number of them
            kept = journal.once(train_and_select, kept, draws)
        if plan.share is not None:
            kept = journal.once(trainer.final, kept, data)
        made = calibrate(plan, models, kept, data, randomness)
        evaluation = evaluate(plan, models, made.kept, data, randomness, made.answers)
    return session.publish(data.schemas, made, evaluation)  # once


def check_call(plan: object, report: object, workers: object) -> None:
    """Check the types of the arguments of `run`, before anything is paid."""
    if not isinstance(plan, Plan):  # show only its type: it may be data
        raise InputError(f"plan: is a {type(plan).__name__}; give make_plan(Spec(...))")
    if report is not None and not callable(report):
        raise InputError(f"progress: is a {type(report).__name__}; give a function")
    if workers is not None:
        positive_integer("workers", workers)


def opened_executor(
    executor: str | Executor, workers: int | None
) -> AbstractContextManager[Executor]:
    """The executor to train with: a named one is made here, and closed when the block ends."""
    if isinstance(executor, Executor):
        if workers is not None:
            remedy = f"the {type(executor).__name__} that is given as executor decides it itself"
            raise fail("workers", workers, f"{remedy}; leave workers out")
        return nullcontext(executor)
    kind = executors.get(executor)
    given = {} if workers is None else {"workers": workers}
    try:
        signature(kind).bind(**given)
    except TypeError:
        if given:
            raise fail("workers", workers, f"{executor} has no such option; leave it out") from None
        remedy = f"needs arguments; give an executor, {kind.__name__}(...), instead of its name"
        raise fail("executor", executor, remedy) from None
    return closing(kind(**given))


@lru_cache(maxsize=1)
def _models(plan: Plan) -> list[Model]:
    """The model of every setting; raises InputError if one cannot be trained or serialised."""
    models = models_of(plan)
    check_serialisable(plan, models)
    return models
