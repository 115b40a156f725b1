"""The whole story: plan, pay, open, train, score, select, release.

    plan = make_plan(Spec(schema=schema, rows=48842, epsilon=1))
    release = run(plan, "table.csv", ledger)

One (epsilon, delta) covers all of it. The ledger is charged before the data is opened, and is
never paid back. A seed in place of a ledger makes a simulation, which protects nobody and says so.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from functools import lru_cache
from os import PathLike
from typing import Any

from honestdp.engine.models import Model
from honestdp.ledger import Charge, Ledger, Receipt
from honestdp.planning.plan import Plan
from honestdp.private_data import PrivateData, checked_table
from honestdp.randomness import Randomness
from honestdp.release.publish import Release, check_can_leave, published, release
from honestdp.resume.journal import journal_in
from honestdp.resume.state import StateFile
from honestdp.sealing import (
    Progress,
    check_asked,
    check_paid_or_simulated,
    opened,
    paid,
    resumable,
    sealed,
    tell,
)
from honestdp.select import Draw, Outcome, keep, noisy_scores, schedule
from honestdp.training import Trainer, models_of


@lru_cache(maxsize=1)
def _models(plan: Plan) -> list[Model]:
    """The model of every setting; raises if one cannot be trained, or could not leave."""
    models = models_of(plan)
    check_can_leave(plan, models)
    return models


def run(
    plan: Plan,
    table: Any,
    ledger: Ledger | None = None,
    *,
    target: Any = None,
    seed: int | None = None,
    receipt: Receipt | Charge | None = None,
    folder: str | PathLike[str] | None = None,
    progress: Callable[[Progress], None] | None = None,
    workers: int | None = None,
    asked: str = "",
) -> Release:
    """Carry out a plan on a table; what comes back is all that leaves.

    table: a path to a CSV or Parquet file, or a table in memory; `target`: the cells to predict,
        where they are not a column of it.
    ledger: the data set's budget, charged with `plan.spending`. seed: simulate instead.
    receipt: of an earlier charge for the same plan whose run did not come to a release. It gives
        one release in all, however often it is tried, and draws everything anew: for a machine
        that went down. What stopped the earlier run must not have depended on the data, nor on
        how long it took: whoever may lose patience gives a folder, which keeps K.
    folder: where the run is kept. What is released is written there; until then an interrupted run
        (Ctrl-C, a machine that went down) goes on when it is called again in the same way.
    asked: how the run was asked for, in public words, kept in the folder beside what leaves.
    progress: called now and then; where K is a secret it is told no more than the stage.
    """
    check_asked(plan, progress, workers)
    check_paid_or_simulated(ledger, seed)
    table = checked_table(plan, table, target)  # of what is in memory, columns and row count
    models = _models(plan)
    state = StateFile(plan, models, seed)
    with closing(journal_in(folder, state, asked)) as journal:
        randomness = Randomness(journal.coins) if seed is None else Randomness.simulation(seed)
        tell(progress, "opening")
        charged = paid(plan, ledger, receipt, journal)  # spent now, even if we crash
        trainer = Trainer(plan, models, randomness, journal, progress, workers)

        def whole() -> Release:
            before = published(plan, ledger, charged, journal)
            if before is not None:  # all but its last files were written
                return before
            data = opened(
                charged,
                journal,
                lambda: PrivateData.open(plan, table, target, charged, randomness, journal),
            )

            def tried(kept: list[Outcome], draws: list[Draw]) -> list[Outcome]:
                fitted = trainer.train(draws, data.train)
                scores = noisy_scores(plan, models, fitted, draws, data.validation, randomness)
                return keep(plan, kept, draws, fitted, scores, randomness)

            def search() -> list[Outcome]:
                kept: list[Outcome] = []
                tell(progress, "searching")
                for draws in schedule(plan, randomness, state.group_size):  # a secret number
                    kept = journal.once(tried, kept, draws)
                if data.rest is not None:
                    kept = journal.once(trainer.final, kept, data.rest)
                return kept

            kept = sealed(plan, charged, journal, search)
            return release(plan, data.schema, models, kept, ledger, charged, journal)  # once

        return resumable(charged, journal, whole)
