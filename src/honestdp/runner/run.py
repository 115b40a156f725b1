"""The whole story: plan, pay, open, train, score, select, release.

    plan = make_plan(Spec(schema=schema, rows=48842, epsilon=1))
    release = run(plan, "table.csv", ledger)

One (epsilon, delta) covers all of it. The ledger is charged before the data is opened, and is
never paid back. A seed in place of a ledger makes a simulation, which protects nobody and says so.
"""

from __future__ import annotations

from functools import lru_cache
from os import PathLike
from typing import Any

from honestdp.engine.models import Model
from honestdp.errors import InputError, positive_integer
from honestdp.executors import Executor, executors
from honestdp.ledger import Charge, Ledger, Receipt
from honestdp.planning.plan import Plan
from honestdp.procedures import Draw, Outcome
from honestdp.release.released import Release
from honestdp.runner.charging import check_paid_or_simulated
from honestdp.runner.private_data import PrivateData, checked_table
from honestdp.runner.progress import Report
from honestdp.runner.publish import check_serialisable
from honestdp.runner.scoring import noisy_scores, outcomes, schedule
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
) -> Release:
    """Carry out a plan on a table; what comes back is all that leaves.

    Args:
        plan: From `make_plan`.
        table: A path to a CSV or Parquet file, or a table in memory.
        ledger: The data set's budget, charged with `plan.spending`.
        target: The cells to predict, where they are not a column of the table.
        seed: Simulate instead of charging a ledger: nobody is protected.
        receipt: Of an earlier charge for the same plan whose run did not come to a release. It
            gives one release in all, however often it is tried, and draws everything anew: for a
            machine that went down. What stopped the earlier run must not have depended on the
            data, nor on how long it took: whoever may lose patience gives a folder, which keeps K.
        folder: Where the run is kept. What is released is written there; until then an interrupted
            run (Ctrl-C, a machine that went down) goes on when it is called again in the same way.
        progress: Called now and then; where K is a secret it is told no more than the stage.
        workers: Threads to train in; by default one a core.
        executor: Where to train: the name of a registered executor, or one of them.
        config: How the run was asked for, in public words, kept in the folder beside what leaves.

    Returns:
        The release: the winner, every candidate where all may leave, and the card.

    Raises:
        InputError: If something given is wrong; nothing was charged, or the message says what was.
        BudgetError: If the ledger does not cover the plan; nothing was charged.
        SearchError: If a paid search failed inside; told by its kind alone.
        Interrupted: On Ctrl-C in a run that can go on; the message says how.

    Example:
        >>> release = run(plan, "visits.csv", ledger)  # doctest: +SKIP
        >>> release.predict("new.csv")  # doctest: +SKIP
    """
    check_call(plan, progress, workers)
    check_paid_or_simulated(ledger, seed)
    placed = _executor(executor, workers)
    table = checked_table(plan, table, target)  # of what is in memory, columns and row count
    models = _models(plan)
    account = Account(ledger, receipt, seed)
    with Session(plan, models, account, folder, config, progress) as session:
        before = session.published()
        if before is not None:  # all but its last files were written
            return before
        journal, randomness = session.journal, session.randomness
        with session.reading():
            data = PrivateData.open(plan, table, target, session.receipt, randomness, journal)
        trainer = Trainer(plan, models, randomness, journal, progress, placed)

        def tried(kept: list[Outcome], draws: list[Draw]) -> list[Outcome]:
            fitted = trainer.train(draws, data.train)
            scores = noisy_scores(plan, models, fitted, draws, data.validation, randomness)
            new = outcomes(draws, fitted, scores, randomness)
            return plan.procedure.keep(kept, new, plan.as_score)

        with session.searching():
            kept: list[Outcome] = []
            for draws in schedule(plan, randomness, session.group_size):  # a secret number
                kept = journal.once(tried, kept, draws)
            if data.rest is not None:
                kept = journal.once(trainer.final, kept, data.rest)
        return session.publish(data.schema, kept)  # once
    session.fail()


def check_call(plan: object, report: object, workers: object) -> None:
    """Raise before anything is paid if `run` was called with something else than it takes."""
    if not isinstance(plan, Plan):  # its type alone: it may be data
        raise InputError(f"plan: is a {type(plan).__name__}; give make_plan(Spec(...))")
    if report is not None and not callable(report):
        raise InputError(f"progress: is a {type(report).__name__}; give a function")
    if workers is not None:
        positive_integer("workers", workers)


def _executor(executor: str | Executor, workers: int | None) -> Executor:
    if isinstance(executor, Executor):
        return executor
    kind = executors.get(executor)
    return kind(workers=workers) if workers is not None else kind()  # type: ignore[call-arg]


@lru_cache(maxsize=1)
def _models(plan: Plan) -> list[Model]:
    """The model of every setting; raises InputError if one cannot be trained or serialised."""
    models = models_of(plan)
    check_serialisable(plan, models)
    return models
