"""Every place that adds noise, by the entrance a run takes: how much, of its own, and fresh.

Each source is asked for its noise alone (null records, so the sums, counts and scores are 0), which
is brought to standard normals [stream, draw]. Three tests of each:

- scale: their sum of squares, 6,000 or more of them, against its chi-square law. A right source
  fails once in 10^6; noise x 0.9 is let through once in 10^7 (`power` computes it).
- own: no two streams (candidates, draws, columns) are equal or correlated.
- fresh: another seed gives other noise, and so does every run in production.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats

from honestdp import make_plan
from honestdp.engine import Candidate, Linear, Schedule, cohort_training, examples, noise, train
from honestdp.evaluation.counts import Level
from honestdp.procedures import Draw, Outcome
from honestdp.randomness import Randomness
from honestdp.resume.journal import Journal
from honestdp.runner import checking
from honestdp.runner.calibrating import calibrate
from honestdp.runner.evaluating import evaluate
from honestdp.runner.private_data import PrivateData
from honestdp.runner.scoring import noisy_scores
from honestdp.schema import Categorical, Numeric, Schema, learn, open_rows, paid_check
from honestdp.schema.paid_check import Group, PaidCheck
from search_tables import SCHEMA, asked, spec, table

FALSE_ALARM, DRAWS = 1e-6, 6000
Source = Callable[[Randomness, pytest.MonkeyPatch], np.ndarray]


def trained(randomness: Randomness, patch: pytest.MonkeyPatch) -> np.ndarray:
    """One step of DPSGD from 0 on rows that count for nothing."""
    model, streams, sigma, lot = Linear(999, 2), 6, 2.0, 8.0
    rows = examples(torch.zeros(10, 999), torch.full((10,), -1))
    one = Candidate(noise_multiplier=sigma, rule="dpsgd", learning_rate=1.0, clip_norm=0.5)
    made = train(
        model, rows, [one] * streams, Schedule(steps=1, lot_size=lot), randomness,
        initial=torch.zeros(streams, 1000), workers=1,
    )  # fmt: skip
    return made.stacked.double().numpy() / (sigma * 0.5 / lot)


def trained_in_torch(randomness: Randomness, patch: pytest.MonkeyPatch) -> np.ndarray:
    """The same as a GPU does it."""
    patch.setattr(cohort_training._Group, "_compiled", cohort_training._Group._in_torch)
    patch.setattr(noise.NoiseMaker, "noisy_mean", noise.NoiseMaker._in_torch)
    return trained(randomness, patch)


def scored(name: str, randomness: Randomness, schema: Schema = SCHEMA) -> np.ndarray:
    plan = make_plan(asked(name, schema=schema))
    classes = plan.spec.classes
    none = torch.full((3,), -1) if classes else torch.full((3,), torch.nan)
    models, rows = [Linear(4, classes)], examples(torch.zeros(3, 4), none)
    draws = [Draw(i, 0) for i in range(DRAWS)]
    found = noisy_scores(plan, models, [torch.zeros(5)] * DRAWS, draws, [rows] * DRAWS, randomness)
    assert plan.role_costs.scoring is not None
    return found.reshape(-1, 1) / (plan.role_costs.scoring.noise * plan.sensitivity)


def scores(randomness: Randomness, patch: pytest.MonkeyPatch) -> np.ndarray:
    return scored("composition", randomness)


def sealed_scores(randomness: Randomness, patch: pytest.MonkeyPatch) -> np.ndarray:
    return scored("random-repeats", randomness)


def pick(randomness: Randomness, patch: pytest.MonkeyPatch) -> np.ndarray:
    """Gumbel's noise, brought to normals by its distribution function."""
    return stats.norm.ppf(np.exp(-np.exp(-scored("pick", randomness))))


def bounds(randomness: Randomness, patch: pytest.MonkeyPatch) -> np.ndarray:
    """What the bounds are made from, of columns whose cells are all missing."""
    columns = [Numeric(name=f"n{i}", bounds="learn", outer=(0, 1)) for i in range(24)]
    schema = Schema(name="wide", columns=(*columns, *SCHEMA.columns), target=SCHEMA.target)
    plan = make_plan(spec(schema, epsilon=3.0, learn_share=0.5))
    rows = {**table(), **{column.name: [None] * 400 for column in columns}}
    seen: list[np.ndarray] = []
    sound = Numeric.learnt_from
    patch.setattr(Numeric, "learnt_from", lambda c, n, *r: seen.append(n) or sound(c, n, *r))
    PrivateData.open(plan, rows, None, 1, randomness, Journal())  # type: ignore[arg-type]
    (question,) = plan.questions
    return np.array(seen) / question.noise_multiplier


def row_norms(randomness: Randomness, patch: pytest.MonkeyPatch) -> np.ndarray:
    """What the scale of rows is made from, of rows of zeros; and what a column's bounds are, which
    are learnt before. Either histogram is asked for more counts than it has."""
    column = Numeric(name="n", bounds="learn", outer=(0, 1), missing=0, encode="linear")
    schema = Schema(name="long", columns=(column,), target=SCHEMA.target)
    plan = make_plan(spec(schema, epsilon=3.0))
    seen: list[np.ndarray] = []
    sound = learn._with_noise

    def more(exact: np.ndarray, *how: Any) -> np.ndarray:
        seen.append(sound(np.resize(exact, 2 * DRAWS), *how))
        return seen[-1][: len(exact)]

    patch.setattr(learn, "_with_noise", more)
    rows = {"n": [None] * 400, "y": table()["y"]}
    PrivateData.open(plan, rows, None, 1, randomness, Journal())  # type: ignore[arg-type]
    of_columns, of_rows = plan.questions
    return np.array([seen[1] / of_rows.noise_multiplier, seen[0] / of_columns.noise_multiplier])


def categories(randomness: Randomness, patch: pytest.MonkeyPatch) -> np.ndarray:
    """What rare categories are found by, of columns whose cells are all missing; and what a
    column's bounds are, which are learnt before."""
    wards = [f"w{i}" for i in range(5)]
    facts = {"categories": tuple(map(str, range(1280))), "rare": "learn"}
    counted = tuple(Categorical(name=name, **facts) for name in wards)
    column = Numeric(name="n", bounds="learn", outer=(0, 1), encode="bins")
    schema = Schema(name="wide", columns=(*counted, column), target=SCHEMA.target)
    plan = make_plan(spec(schema, epsilon=3.0, learn_share=0.5))
    seen: list[np.ndarray] = []
    sound = learn._with_noise

    def more(exact: np.ndarray, *how: Any) -> np.ndarray:
        seen.append(sound(np.resize(exact, 1280), *how))
        return seen[-1][: len(exact)]

    patch.setattr(learn, "_with_noise", more)
    rows = {**dict.fromkeys(["n", *wards], [None] * 400), "y": table()["y"]}
    PrivateData.open(plan, rows, None, 1, randomness, Journal())  # type: ignore[arg-type]
    of_columns, of_categories = plan.questions
    own = [one / of_categories.noise_multiplier for one in seen[1:]]
    return np.array([*own, seen[0] / of_columns.noise_multiplier])


def checked(randomness: Randomness, patch: pytest.MonkeyPatch) -> np.ndarray:
    """The counts of a check with many questions, of rows that fit."""
    check = PaidCheck(tuple(Group("c", ("c",)) for _ in range(DRAWS)), "y", 4, 50.0)
    plan: Any = SimpleNamespace(check=check, spec=SimpleNamespace(schema=SCHEMA))
    seen: list[list[float]] = []
    patch.setattr(
        paid_check, "counts", lambda *_: np.zeros(DRAWS + 2, np.int64)
    )  # slow, of so many
    patch.setattr(checking, "decide", lambda _, noisy: seen.append(noisy) or [])
    paid: Any = 1
    checker = checking.Checker(plan, None, paid, randomness, Journal(), True)
    checker.check(open_rows(SCHEMA, table(4)), None, None)
    return np.array(seen).reshape(-1, 1) / check.noise


def evaluated(randomness: Randomness, patch: pytest.MonkeyPatch) -> np.ndarray:
    """Counts of no rows; so many that the rounding to whole counts does not show."""
    deviation = 5e5
    none = Level("none", (DRAWS,), lambda loss, outputs, targets: targets * 0 - 1)
    seen: list[np.ndarray] = []
    evaluator = SimpleNamespace(
        levels=(none, replace(none, name="none again")), grouped=none,
        evaluation=lambda rows, noise, counts, *_: seen.extend(counts.values()),
    )  # fmt: skip
    rows = SimpleNamespace(all=examples(torch.zeros(3, 4), torch.full((3,), -1)), groups=())
    plan: Any = SimpleNamespace(
        evaluator=evaluator,
        count_noise=deviation,
        spec=SimpleNamespace(groups=None, test_rows=3, schema=SCHEMA),
    )
    data: Any = SimpleNamespace(of=lambda draw: SimpleNamespace(test=rows))
    kept = [Outcome(Draw(0, 0), torch.zeros(5), 0.0, 0.0)]
    evaluate(plan, [Linear(4, 2)], kept, data, randomness)
    return np.array(seen) / deviation


def calibrated(randomness: Randomness, patch: pytest.MonkeyPatch) -> np.ndarray:
    """As `evaluated`, of the counts that probabilities are corrected by."""
    deviation, seen = 5e5, list[np.ndarray]()
    none = Level("none", (DRAWS,), lambda loss, outputs, targets: targets * 0 - 1)

    def calibration(rows: int, noise: float, counts: dict[str, np.ndarray]) -> Any:
        seen.extend(counts.values())
        return SimpleNamespace(slope=1.0, offset=0.0, share=None)

    plan: Any = SimpleNamespace(
        calibrator=SimpleNamespace(
            levels=(none, replace(none, name="none again")), calibration=calibration
        ),
        calibration_count_noise=deviation,
        spec=SimpleNamespace(calibration_rows=3, decision_threshold=None),
    )
    rows = examples(torch.zeros(3, 4), torch.full((3,), -1))
    data: Any = SimpleNamespace(of=lambda draw: SimpleNamespace(calibration=rows))
    kept = [Outcome(Draw(0, 0), torch.zeros(5), 0.0, 0.0)]
    calibrate(plan, [Linear(4, 2)], kept, data, randomness)
    return np.array(seen) / deviation


SOURCES: list[Source] = [
    trained, trained_in_torch, scores, sealed_scores, pick, bounds, row_norms, categories,
    checked, evaluated, calibrated,
]  # fmt: skip
every_source = pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.__name__)


def power(scale: float, draws: int = DRAWS) -> float:
    """The chance that the test of the scale sees noise of `scale` times what it should be."""
    low, high = stats.chi2.ppf([FALSE_ALARM / 2, 1 - FALSE_ALARM / 2], draws)
    return stats.chi2.cdf(low / scale**2, draws) + stats.chi2.sf(high / scale**2, draws)


def test_the_power_is_as_stated() -> None:
    assert power(0.9) > 1 - 1e-7
    assert power(1.0) == pytest.approx(FALSE_ALARM)


@every_source
def test_the_scale_is_the_one_that_was_priced(source: Source, monkeypatch) -> None:
    found = source(Randomness.simulation(11), monkeypatch)
    assert found.size >= DRAWS
    tail = stats.chi2.cdf((found**2).sum(), found.size)
    assert FALSE_ALARM / 2 < tail < 1 - FALSE_ALARM / 2
    assert stats.kstest(found.ravel(), "norm").pvalue > FALSE_ALARM


@every_source
def test_every_stream_is_its_own(source: Source, monkeypatch) -> None:
    found = source(Randomness.simulation(12), monkeypatch)
    assert len(np.unique(found.round(9))) > 0.99 * found.size
    streams, draws = found.shape
    if draws > 1:
        together = np.corrcoef(found)[np.triu_indices(streams, 1)] * np.sqrt(draws)
        assert np.abs(together).max() < stats.norm.isf(FALSE_ALARM / 2 / len(together))
    flat = found.ravel()
    for lag in (1, 2, 256, 1000):
        assert abs((flat[lag:] * flat[:-lag]).sum()) < 5.5 * np.sqrt(flat.size - lag)


@every_source
def test_noise_is_fresh(source: Source, monkeypatch) -> None:
    makers = [Randomness.simulation(1), Randomness.simulation(2), Randomness(), Randomness()]
    found = []
    for randomness in makers:
        with monkeypatch.context() as patch:
            found.append(source(randomness, patch).ravel())
    for i in range(len(makers)):
        for j in range(i):
            assert abs(np.mean(found[i] * found[j])) < 5.5 / np.sqrt(found[i].size)


def test_sources_do_not_share_a_stream(monkeypatch) -> None:
    """All from one root: each has a purpose of its own."""
    found = []
    for source in SOURCES[:1] + SOURCES[2:]:
        with monkeypatch.context() as patch:
            found.append(source(Randomness.simulation(3), patch).ravel()[:DRAWS])
    scores_twice = (1, 2)  # two procedures, one source
    second_twice = (5, 6)  # two plans, whose second histogram each is
    for i in range(len(found)):
        for j in range(i):
            if (j, i) not in (scores_twice, second_twice):
                assert abs(np.mean(found[i] * found[j])) < 5.5 / np.sqrt(DRAWS)
