"""The whole story: plan, pay, open, train, score, select, release.

    plan = make_plan(Spec(schema=schema, rows=48842, epsilon=1))
    release = run(plan, "table.csv", ledger)

One (epsilon, delta) covers all of it. The ledger is charged before the data is opened, and is
never paid back. A seed in place of a ledger makes a simulation, which protects nobody and says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from honestdp.ledger import Charge, Ledger, Receipt
from honestdp.planning.plan import Plan
from honestdp.private_data import PrivateData, checked_table
from honestdp.release import Release, release_of
from honestdp.sealing import Progress, check_asked, opened, paid, randomness_for, sealed, tell
from honestdp.select import Outcome, keep, noisy_scores, schedule
from honestdp.training import final, models_of, trained


def run(
    plan: Plan,
    table: Any,
    ledger: Ledger | None = None,
    *,
    target: Any = None,
    seed: int | None = None,
    receipt: Receipt | Charge | None = None,
    progress: Callable[[Progress], None] | None = None,
    workers: int | None = None,
) -> Release:
    """Carry out a plan on a table; what comes back is all that leaves.

    table: a path to a CSV or Parquet file, or a table in memory; `target`: the cells to predict,
        where they are not a column of it.
    ledger: the data set's budget, charged with `plan.spending`. seed: simulate instead.
    receipt: of an earlier charge for the same plan whose run did not come to a release. It gives
        one release in all, however often it is tried. What stopped the earlier run must not
        have depended on the data: an impatient user or a machine that went down may, a
        person who looked inside may not.
    progress: called now and then; where K is a secret it is told no more than the stage.
    """
    check_asked(plan, progress, workers)
    randomness = randomness_for(ledger, seed)
    table = checked_table(plan, table, target)  # of what is in memory, columns and row count
    models = models_of(plan)
    tell(progress, "opening")
    charged = paid(plan, ledger, receipt)  # spent now, even if we crash
    data = opened(charged, lambda: PrivateData.open(plan, table, target, charged, randomness))

    def search() -> list[Outcome]:
        kept: list[Outcome] = []
        tell(progress, "searching")
        for draws in schedule(plan, randomness):  # their number is a secret
            fitted = trained(plan, models, draws, data.train, randomness, progress, workers)
            scores = noisy_scores(plan, models, fitted, draws, data.validation, randomness)
            kept = keep(plan, kept, draws, fitted, scores, randomness)
        if data.rest is not None:
            kept = final(plan, models, kept, data.rest, randomness, progress, workers)
        return kept

    kept = sealed(plan, charged, search)
    head = ledger.release(charged) if ledger and charged else None  # once
    return release_of(plan, data.schema, models, kept, charged, head)
