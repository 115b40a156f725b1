"""The rows of honest-frontier: what a search is given, and the test rows beside it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

import pyarrow as pa

from honestdp.datasets import adult, mnist
from honestdp.datasets.dataset import split
from honestdp.engine import Examples, Linear, examples
from honestdp.planning.plan import Plan
from honestdp.randomness import Randomness
from honestdp.resume.journal import Journal
from honestdp.runner.private_data import PrivateData, schedules
from honestdp.runner.training import rescaled
from honestdp.schema import Schema
from honestdp_reproduction.experiment import seed
from honestdp_reproduction.grids import FRONTIER_GRIDS
from honestdp_reproduction.pools import Material, Pool


@dataclass(frozen=True, eq=False)
class Source:
    """table: what is searched on, all of it. test: rows declared public, that no search sees."""

    name: str
    schema: Schema
    table: Any
    rows: int
    test_table: Any
    test: Examples

    def material(self, plan: Plan, pool: Pool, repetition: int) -> Material:
        """What a pool trains, split as a run splits it; a repetition's subset is its own."""
        (opened,) = _opened(self, plan, repetition if plan.share is not None else 0).encoded
        schedule, last = schedules(plan)
        rows, scored = opened.train.rows, opened.validation
        candidates = FRONTIER_GRIDS[pool.grid].candidates(plan.noise_multiplier, plan.row_norm[0])
        if pool.rows == "rest":
            assert opened.rest is not None
            assert last is not None
            rows, scored, schedule = opened.rest.rows, None, last
            candidates = [rescaled(plan, candidate, last) for candidate in candidates]
        classes = plan.spec.classes
        assert classes is not None
        return Material(
            Linear(self.schema.width, classes),
            candidates,
            rows,
            schedule,
            scored,
            self.test,
        )

    def non_private(self) -> dict[str, Any]:
        """Logistic regression with next to no penalty on all rows that searches get."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression

        train, test = self.schema.encode(self.table), self.schema.encode(self.test_table)
        model = LogisticRegression(C=1e4, max_iter=300)
        with warnings.catch_warnings():  # near the end of the way is enough, and is said
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(train.inputs, train.targets)
        return {
            "accuracy": float(model.score(test.inputs, test.targets)),
            "C": 1e4,
            "iterations": int(model.n_iter_.max()),
        }


@cache
def load(name: str) -> Source:
    if name == "adult":  # every row, the census' own cut left aside
        made = adult("honest")
        whole = pa.concat_tables([made.train, made.validation])
        searched, tested = (whole.take(pa.array(rows)) for rows in split(whole.num_rows))
        count = searched.num_rows
    else:
        assert name == "mnist"
        made = mnist()
        # Dense: its linear model is faster so.
        searched, tested = made.train.toarray(), made.validation.toarray()
        count = len(searched)
    test = made.schema.encode(tested)
    return Source(name, made.schema, searched, count, tested, examples(test.inputs, test.targets))


_KEPT: dict[tuple[Any, ...], PrivateData] = {}  # what was opened last: opening takes its time


def _opened(source: Source, plan: Plan, repetition: int) -> PrivateData:
    """The rows as a run has them. How lots are drawn is the plan's to say, not theirs."""
    key = (source.name, plan.validation_rows, plan.share, repetition)
    if key not in _KEPT:
        while len(_KEPT) > 3:
            _KEPT.pop(next(iter(_KEPT)))
        randomness = Randomness.simulation(seed(f"{source.name} subset {repetition}"))
        _KEPT[key] = PrivateData.open(plan, source.table, None, None, randomness, Journal())
    return _KEPT[key]
