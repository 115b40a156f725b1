"""`choose_on_public`: compare settings on rows declared public, before a plan is made.

Every setting is trained on public rows as its plan would train it on the protected table: as many
steps, and as much noise in every mean gradient. That decides between a coarse and a fine model: at
another noise another one is best. Lots are as large as the plan's, or all rows if these are fewer
(the noise multiplier is then smaller in proportion). What a schema leaves open is learnt with noise
that is as large relative to the counts. Rows are held out in turn, a fifth at a time, and scored
by models that did not see them; few rows several times over.

No protected row is read here, and none is an argument: the result is a function of the spec, the
public rows and a public seed (`planning.public_choice` has what follows from that). Nothing is
accounted, as nothing that is accounted for is read.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from honestdp.candidates import Candidate
from honestdp.engine.models import Model
from honestdp.engine.train import Schedule
from honestdp.errors import InputError, fail, random_seed
from honestdp.executors import Executor, Work
from honestdp.metrics import metrics
from honestdp.planning.grid import Grid, Setting
from honestdp.planning.make import make_plan
from honestdp.planning.pipelines import RowEncoding, distinct, learnt_by
from honestdp.planning.plan import Plan
from honestdp.planning.public_choice import Compared, PublicChoice
from honestdp.planning.questions import Questions
from honestdp.planning.spec import AUTO, Spec
from honestdp.procedures.untuned import Untuned
from honestdp.randomness import Purpose, Randomness
from honestdp.runner.private_data import Learner, Rows, encoded_bytes, picked
from honestdp.runner.run import opened_executor
from honestdp.runner.scoring import exact_units
from honestdp.runner.training import built_models
from honestdp.schema import Schema, Table, open_rows
from honestdp.schema.check import check
from honestdp.schema.encode import Encoded, target_cells
from honestdp.units import LARGEST_NOISE, UNITS

FOLDS = 5
FEWEST = 4 * FOLDS  # public rows with a known target
ENOUGH, MOST_ROUNDS = 2000, 5  # rows, of which one round of all folds is enough; rounds of fewer


def choose_on_public(
    spec: Spec,
    public: Any,
    target: Any = None,
    *,
    seed: int = 0,
    executor: str | Executor = "local",
) -> Spec:
    """Choose a setting of a grid on public rows, so that the protected ones pay for one training.

    Args:
        spec: What to plan for the protected table, with a grid of two or more settings.
        public: Rows that are declared public, in any form that `run` takes. They are not protected,
            and neither is a record that they share with the protected table.
        target: The cells to predict, if they are not a column of the public table.
        seed: Seed of folds, lots and noise on the public rows; shown on the card.
        executor: Where to train, as for `run`.

    Returns:
        The spec with the chosen setting as its grid, for `make_plan`: one training, `untuned`, at
        the whole budget. Its `chosen_on` has what was compared, and plan and card show it.

    Raises:
        InputError: If the spec has one setting or asks for a search in the protected rows, or if
            the public rows do not fit the schema or are too few.

    Example:
        >>> from honestdp.datasets import adult
        >>> schema, table, other = adult()
        >>> spec = Spec(schema=schema, rows=len(table), epsilon=1.0, grid="encodings-3")
        >>> plan = make_plan(choose_on_public(spec, other))  # doctest: +SKIP
    """
    settings, wanted = _settings(spec), random_seed("seed", seed)
    alone = replace(spec, procedure=Untuned.name)  # refuses options of searches
    with opened_executor(executor, None) as at_work:
        rows = _opened(spec.schema, public, target)
        compared = _Comparison(rows, Randomness.simulation(wanted), at_work)
        scores = compared.scores(alone, settings)
    metric = metrics.get(spec.metric)
    better = scores if metric.larger_is_better else -scores
    choice = PublicChoice(
        rows=rows.table.rows,
        sha256=compared.digest,
        metric=metric.name,
        seed=wanted,
        trainings=rows.rounds * FOLDS,
        compared=tuple(
            Compared(setting=dict(setting), score=float(f"{score:.6g}"))
            for setting, score in zip(settings, scores.tolist(), strict=True)
        ),
        chosen=int(np.argmax(better)),  # the first of equally good ones
    )
    return replace(alone, grid=Grid((settings[choice.chosen],)), chosen_on=choice)


def _settings(spec: Spec) -> tuple[Setting, ...]:
    if not isinstance(spec, Spec):  # show only its type: it may be data
        raise InputError(f"spec: is a {type(spec).__name__}; give Spec(...)")
    settings = spec.grid.settings if isinstance(spec.grid, Grid) else ()
    if len(settings) < 2:
        raise InputError(
            "public: there is one setting, so nothing to choose on public rows; give a grid such "
            'as "models-4", or leave public out'
        )
    if spec.procedure not in (AUTO, Untuned.name):
        why = "would search in the protected rows, but public rows choose the setting"
        raise fail("procedure", spec.procedure, f"{why}; leave one of the two out")
    return settings


@dataclass(frozen=True, eq=False, repr=False)
class _PublicRows:
    """Public rows. known: The numbers of those with a known target, which alone are used."""

    table: Table
    target: Any
    known: Rows

    @property
    def rounds(self) -> int:
        """How often every row is held out."""
        return min(MOST_ROUNDS, math.ceil(ENOUGH / len(self.known)))

    def folds(self, randomness: Randomness) -> Iterator[tuple[Rows, Rows]]:
        """Row numbers to train on, in random order, and to score on."""
        for number in range(self.rounds):
            draws = randomness.uniforms(Purpose.SPLIT, 0, number, len(self.known))
            order = self.known[np.argsort(draws, kind="stable")]
            for fold in range(FOLDS):
                held = np.arange(len(order)) % FOLDS == fold
                yield order[~held], order[held]


def _opened(schema: Schema, public: Any, target: Any) -> _PublicRows:
    """Open public rows; raises InputError unless they fit the schema."""
    try:
        table = open_rows(schema, public)
        found = check(schema, table, target, public=True)
        known = np.flatnonzero(schema.target.known(target_cells(schema, table, target)))
    except InputError as error:
        raise InputError(f"public: {error}") from None
    for column in (*found.columns, found.target):
        serious = [finding.text for finding in column.findings if finding.serious]
        if serious:
            raise InputError(
                f"public: {found.source}: column {column.name!r}: {serious[0]}; correct the public "
                "rows (`honestdp schema check` shows all), or leave them out"
            )
    if len(known) < FEWEST:
        raise InputError(
            f"public: {found.source}: {len(known)} rows with a known target are too few to compare "
            f"settings on; give at least {FEWEST}, or leave them out"
        )
    return _PublicRows(table, target, known)


@dataclass(frozen=True, eq=False)
class _Group:
    """Settings that are trained alike: rows in one encoding, as many steps, the same noise.

    places: Their places in the grid. plan: That of the first of them, for the protected table.
    """

    places: tuple[int, ...]
    spec: Spec
    plan: Plan

    @property
    def encoding(self) -> RowEncoding:
        return self.spec.encodings[0]

    def schedule(self, rows: int) -> Schedule:
        """The lots of the plan, on this many rows."""
        return Schedule(self.plan.training.steps, min(self.plan.training.lot_size, rows))

    def candidates(self, schedule: Schedule) -> list[Candidate]:
        """The candidates, with the noise that the plan has in a mean gradient."""
        assert isinstance(self.spec.grid, Grid)
        noise = self.plan.noise_multiplier * schedule.lot_size / self.plan.training.lot_size
        return self.spec.grid.candidates(noise, self.encoding.row_norm[0])

    def models(self) -> list[Model]:
        assert isinstance(self.spec.grid, Grid)
        return built_models(self.spec, self.spec.grid)


def _groups(spec: Spec, settings: Sequence[Setting]) -> list[_Group]:
    """The settings, those that are trained alike together."""
    found: list[tuple[Plan, list[int]]] = []
    for place, setting in enumerate(settings):
        plan = make_plan(replace(spec, grid=Grid((setting,))))
        key = plan.spec.encodings, plan.training
        own = [places for one, places in found if (one.spec.encodings, one.training) == key]
        if own:
            own[0].append(place)
        else:
            found.append((plan, [place]))
    return [
        _Group(tuple(places), replace(spec, grid=Grid(tuple(settings[i] for i in places))), plan)
        for plan, places in found
    ]


class _Comparison:
    """Trains and scores settings on public rows.

    Attributes:
        digest: SHA-256 of the rows, as the models read them.
    """

    def __init__(self, rows: _PublicRows, randomness: Randomness, executor: Executor) -> None:
        self._rows, self._randomness, self._executor = rows, randomness, executor
        self._whole = hashlib.sha256()

    @property
    def digest(self) -> str:
        return self._whole.hexdigest()

    def scores(self, spec: Spec, settings: Sequence[Setting]) -> NDArray[np.float64]:
        """The value of the metric for each setting, over the rows of all folds."""
        metric, count = metrics.get(spec.metric), len(settings)
        units: dict[int, NDArray[np.int64]] = {}
        groups = _groups(spec, settings)
        for encoding in distinct(group.encoding for group in groups):
            own = [group for group in groups if group.encoding == encoding]
            encoded = self._encoded(encoding, own[0].plan)
            for part in encoded_bytes(encoded):
                self._whole.update(part)
            for group in own:
                units |= dict(zip(group.places, self._units(group, encoded, count), strict=True))
        scored = self._rows.rounds * len(self._rows.known)

        def value(measured: NDArray[np.int64]) -> float:
            released = measured.astype(np.float64) * metric.bound / UNITS
            return metric.from_score(metric.score(released, 0.0, spec.classes), scored)

        return np.array([value(units[place]) for place in range(count)])

    def _encoded(self, encoding: RowEncoding, plan: Plan) -> Encoded:
        """The rows, by what is learnt of them with noise as in the plan, relative to the rows."""
        relative = self._rows.table.rows / plan.spec.rows
        asked = Questions(
            replace(one, noise_multiplier=min(one.noise_multiplier * relative, LARGEST_NOISE))
            for one in plan.questions
            if one.learns
        )
        rows = self._rows
        learner = Learner((encoding,), asked, rows.table, rows.target, self._randomness)
        return learner.encoded(0, learnt_by((encoding,), 0, learner.learn()))[1]

    def _units(self, group: _Group, encoded: Encoded, settings: int) -> NDArray[np.int64]:
        """What the scores of a group's settings are made of, [setting, number], summed over all
        folds."""
        models, metric = group.models(), metrics.get(group.spec.metric)
        total: NDArray[np.int64] | int = 0
        for fold, (training, held) in enumerate(self._rows.folds(self._randomness)):
            rows = picked(encoded, np.sort(training[: group.spec.rows]))
            schedule = group.schedule(len(rows))
            candidates = group.candidates(schedule)
            numbers = [fold * settings + place for place in group.places]
            work = Work(models, rows, candidates, schedule, self._randomness, numbers)
            trained = self._executor.train(work)
            parameters = [trained.parameters(i) for i in range(len(models))]
            rows_of_all = [picked(encoded, held)] * len(models)
            total = total + exact_units(metric, models, parameters, rows_of_all)
        return np.asarray(total)
