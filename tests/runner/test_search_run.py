"""`run` from plan to release: every procedure, the split, what is drawn, what noise is added."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import chisquare, kstest, norm
from torch import nn

from honestdp import InputError, Ledger, make_plan
from honestdp.engine import Linear, Module, examples
from honestdp.executors.local import LocalExecutor
from honestdp.metrics.squared_error import SquaredError
from honestdp.planning.spec import Spec
from honestdp.privacy.spending import Spending
from honestdp.procedures import Draw
from honestdp.randomness import Randomness
from honestdp.resume.journal import Journal
from honestdp.runner.private_data import EncodedRows, PrivateData, split
from honestdp.runner.run import run
from honestdp.runner.scoring import noisy_scores, outcomes, schedule
from honestdp.runner.training import Trainer
from honestdp.schema import Categorical, Numeric
from search_tables import GRID, NUMBERS, PROCEDURES, ROWS, SCHEMA, asked, spec, table


def keep(plan, kept, draws, parameters, scores, randomness):
    """What the plan's procedure keeps, as `run` asks it."""
    new = outcomes(draws, parameters, scores, randomness)
    return plan.procedure.keep(kept, new, plan.as_score)


@pytest.mark.parametrize("name", PROCEDURES)
def test_every_procedure_runs(name):
    _, shows_all = PROCEDURES[name]
    plan = make_plan(asked(name))
    release = run(plan, table(), seed=7)
    assert release.simulated
    assert "SIMULATION, NOT PRIVATE" in repr(release)
    assert (len(release.candidates) > 0) == shows_all
    if release.winner is None:
        assert name in ("threshold", "threshold-capped", "poisson")
        return
    assert release.winner.setting in plan.grid.settings
    assert (release.winner.noisy_score is None) == (name in ("untuned", "pick"))
    answers = release.predict(table())
    assert set(answers.tolist()) <= {"no", "yes"}
    assert release.predict_proba(table()).shape == (ROWS, 2)
    again = run(plan, table(), seed=7)
    assert torch.equal(again.winner.parameters, release.winner.parameters)


def test_composition_shows_everything_best_first():
    release = run(make_plan(asked("composition")), table(), seed=3)
    scores = [fitted.noisy_score for fitted in release.candidates]
    assert scores == sorted(scores, reverse=True)
    assert release.winner is release.candidates[0]
    settings = [fitted.setting for fitted in release.candidates]
    assert sorted(s["learning_rate"] for s in settings) == GRID["learning_rate"]


def test_a_pick_shows_the_others_in_grid_order():
    """A ranking would be as many picks as there are candidates, and one was paid for."""
    plan = make_plan(asked("pick"))
    firsts = set()
    for seed in range(12):
        release = run(plan, table(), seed=seed)
        rates = [fitted.setting["learning_rate"] for fitted in release.candidates]
        firsts.add(rates[0])
        assert rates[1:] == [rate for rate in GRID["learning_rate"] if rate != rates[0]]
    assert len(firsts) > 1


def test_what_is_released_is_nobody_elses():
    plan = make_plan(asked("composition", grid="dpadam-4"))
    run(plan, table(), seed=1).winner.setting["clip_norm"] = 9.0
    assert plan.grid.settings == make_plan(asked("composition", grid="dpadam-4")).grid.settings


def test_it_learns():
    plan = make_plan(
        spec(epsilon=8.0, steps=200, grid={"rule": "dpsgd", "learning_rate": [0.01, 4]})
    )
    release = run(plan, table(), seed=1)
    assert np.mean(release.predict(table()) == table()["y"]) > 0.9
    assert release.winner.setting["learning_rate"] == 4


def test_regression_learns_and_scores_are_mean_losses():
    plan = make_plan(asked("composition", schema=NUMBERS, epsilon=8.0, steps=100))
    release = run(plan, table(numbers=True), seed=1)
    error = release.predict(table()) - np.array(table(numbers=True)["y"])
    assert np.mean(error**2) < 0.05
    assert release.winner.noisy_score == pytest.approx(np.mean(error**2) / 2, abs=0.05)
    assert release.winner.noisy_score == min(fitted.noisy_score for fitted in release.candidates)


@pytest.mark.parametrize("model", ["linear", "mlp"])
@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_the_default_for_numbers_beats_their_mean_by_far(model, epsilon):
    rng = np.random.default_rng(0)
    x, z = rng.random(3000), rng.random(3000)
    rows = {
        "x": x,
        "z": z,
        "c": ["a"] * 3000,
        "y": np.clip(x - z + rng.normal(0, 0.1, 3000), -1, 1),
    }
    plan = make_plan(Spec(schema=NUMBERS, rows=3000, epsilon=epsilon, model=model))
    error = run(plan, rows, seed=1).predict(rows) - rows["y"]
    assert np.std(error) < 0.13 < 0.35 * np.std(rows["y"])


@pytest.mark.parametrize("sparse", [False, True])
def test_a_module_is_searched_in_the_same_way(sparse):
    many = Categorical(name="c", categories=tuple("abcdefghijklmnopq"))
    columns = (*SCHEMA.columns[:2], many if sparse else SCHEMA.columns[2])
    schema = SCHEMA.model_copy(update={"columns": columns})
    assert schema.sparse == sparse
    net = Module(lambda: nn.Linear(schema.width, 1), classes=2)
    release = run(make_plan(spec(schema, model=net, epsilon=8.0)), table(), seed=1)
    assert release.winner.setting == {"rule": "dpadamwosm"}
    assert len(release.predict(table())) == ROWS


def test_learnt_bounds_travel_with_the_release():
    columns = (Numeric(name="x", outer=(-50.0, 50.0), bounds="learn"), *SCHEMA.columns[1:])
    wide = SCHEMA.model_copy(update={"columns": columns})
    release = run(make_plan(spec(wide, epsilon=8.0, learn_share=0.3)), table(), seed=1)
    low, high = release.schema.columns[0].bounds
    assert -2 < low < high < 3
    assert not release.schema.to_learn
    assert len(release.predict(table())) == ROWS


# The split


def test_the_split_is_public_disjoint_and_blind_to_content():
    plan = make_plan(asked("composition"))
    training, validation, calibration, test = split(plan)
    assert (len(training), len(validation)) == (320, 80)
    assert sorted([*training, *validation]) == list(range(ROWS))
    parts = training, validation, calibration, test
    assert [a.tolist() for a in split(plan)] == [a.tolist() for a in parts]
    other = make_plan(asked("composition", split_seed=1))
    assert split(other)[1].tolist() != validation.tolist()
    # Not a cut by position: a table sorted by class has both on both sides.
    assert 15 < np.sum(validation < ROWS // 2) < 65
    everyone, nobody, *_ = split(make_plan(asked("untuned")))
    assert (len(everyone), len(nobody)) == (ROWS, 0)


def private_data(plan, rows=None, seed=1) -> PrivateData:
    return PrivateData.open(
        plan, rows or table(), None, None, Randomness.simulation(seed), Journal()
    )


def opened(plan, rows=None, seed=1) -> EncodedRows:
    (found,) = private_data(plan, rows, seed).encoded
    return found


def test_rows_are_where_the_split_says():
    plan = make_plan(asked("composition"))
    data, encoded = opened(plan), SCHEMA.encode(table())
    training, validation, *_ = split(plan)
    for part, rows in ((data.train.rows, training), (data.validation, validation)):
        held = part.dense(torch.arange(len(part))).numpy()
        assert np.array_equal(held, np.asarray(encoded.inputs)[rows])
        assert np.array_equal(part.targets.numpy(), encoded.targets[rows])
    assert opened(make_plan(asked("untuned"))).validation is None


def test_a_tuning_subset_is_drawn_by_coins_and_its_size_is_used_nowhere():
    plan = make_plan(asked("subset-tuning"))
    q = plan.training.sampling_probability
    sizes = []
    for seed in range(200):
        data = opened(plan, seed=seed)
        for part in (data.train, data.rest):
            assert part.schedule.sampling_probability == q == 40 / 320
        assert data.train.schedule.lot_size == pytest.approx(q * 0.3 * 320)
        assert data.rest.schedule.lot_size == pytest.approx(q * 0.7 * 400)
        counts = [len(data.train.rows), len(data.validation), len(data.rest.rows)]
        assert sum(counts) == ROWS + 3  # each has a row that counts for nothing
        sizes.append(counts)
    train, scored, rest = np.array(sizes).T - 1
    assert abs(train.mean() - 96) < 3
    assert abs(scored.mean() - 24) < 2
    assert abs(rest.mean() - 280) < 3
    assert abs(train.std() - np.sqrt(320 * 0.3 * 0.7)) < 2


def test_an_empty_subset_is_no_failure():
    plan = make_plan(asked("subset-tuning", subset=0.025))  # two validation rows expected
    empty = next(seed for seed in range(100) if len(opened(plan, seed=seed).validation) == 1)
    assert run(plan, table(), seed=empty).winner is not None


@pytest.mark.parametrize(("rule", "scaled"), [("dpsgd", True), ("dpadam", False)])
def test_the_final_training_scales_what_follows_the_lot(rule, scaled, monkeypatch):
    plan = make_plan(asked("subset-tuning", grid={"rule": rule, "learning_rate": [0.5]}))
    seen = []
    monkeypatch.setattr(
        Trainer,
        "_train",
        lambda self, draws, candidates, parts: (
            seen.append((candidates[0], draws, parts[0])) or [torch.zeros(5)]
        ),
    )
    data = private_data(plan)
    kept = keep(plan, [], [Draw(3, 0)], [torch.ones(5)], np.zeros(1), Randomness.simulation(1))
    randomness = Randomness.simulation(1)
    trainer = Trainer(plan, [Linear(4, 2)], randomness, Journal(), None, LocalExecutor())
    (outcome,) = trainer.final(kept, data)
    ((candidate, (draw,), part),) = seen
    ratio = 0.7 * 400 / (0.3 * 320) if scaled else 1
    assert candidate.learning_rate == pytest.approx(0.5 * ratio)
    assert candidate.noise_multiplier == plan.noise_multiplier
    assert part is data.of(draw).rest
    assert draw.number > 2**31  # no draw has its streams
    assert outcome.parameters.sum() == 0


# Draws and noise


@pytest.mark.parametrize(
    "name",
    ["random-stopping", "threshold-capped", "random-repeats", "logarithmic", "negative-shape",
     "poisson", "subset-tuning"],
)  # fmt: skip
def test_the_number_of_runs_has_the_law_that_was_priced(name):
    plan = make_plan(asked(name, mean_runs=3) if name != "negative-shape" else asked(name))
    searches = 2000
    draws = [
        [draw for some in schedule(plan, Randomness.simulation(seed), 256) for draw in some]
        for seed in range(searches)
    ]
    found = Counter(len(search) for search in draws)
    law = plan.procedure.law.probabilities(60)
    often = [k for k in range(61) if searches * law[k] > 20]
    seen, expected = [found[k] for k in often], [searches * law[k] for k in often]
    assert searches - sum(seen) <= 1.5 * (searches - sum(expected)) + 40  # the rest
    assert chisquare(seen, np.array(expected) * sum(seen) / sum(expected)).pvalue > 1e-6
    settings = Counter(draw.setting for search in draws for draw in search)
    assert sorted(settings) == [0, 1, 2, 3]
    assert chisquare(list(settings.values())).pvalue > 1e-6
    assert all([draw.number for draw in search] == list(range(len(search))) for search in draws)


def test_long_searches_come_in_parts():
    plan = make_plan(asked("random-repeats", mean_runs=2000))
    parts = list(schedule(plan, Randomness.simulation(3), 256))
    assert [draw.number for part in parts for draw in part] == list(range(sum(map(len, parts))))
    assert max(map(len, parts)) == 256


def scores(plan, rows, seeds: int) -> np.ndarray:
    params = [torch.tensor([4.0, -4.0, 0.0, 0.0, 0.0])] * seeds
    draws = [Draw(i, 0) for i in range(seeds)]
    models = [Linear(4, plan.spec.classes)]
    return noisy_scores(plan, models, params, draws, [rows] * seeds, Randomness.simulation(5))


def test_counts_get_the_noise_that_was_priced():
    plan = make_plan(asked("composition"))
    data = opened(plan)
    found = scores(plan, data.validation, 4000)
    exact = round(float(np.mean(found)))
    assert abs(np.mean(found) - 80) < 5  # this model is right on nearly every row
    assert kstest(found, norm(np.mean(found), plan.role_costs.scoring.noise).cdf).pvalue > 1e-4
    assert found.std() == pytest.approx(plan.role_costs.scoring.noise, rel=0.05)
    assert len(set(found)) > 1000
    assert exact <= 80


@pytest.mark.parametrize(
    "name",
    [pytest.param("untuned", marks=pytest.mark.slow),
     pytest.param("composition", marks=pytest.mark.slow),
     pytest.param("random-repeats", marks=pytest.mark.slow),
     pytest.param("subset-tuning", marks=pytest.mark.slow)],
)  # fmt: skip
def test_runs_get_the_noise_that_was_priced(name):
    """On rows that all count for nothing a step is noise alone: its scale is the plan's."""
    null = {**table(), "y": ["nobody"] * ROWS}
    plan = make_plan(asked(name, grid={"rule": "dpsgd", "learning_rate": [1.0]}, steps=1))
    draws = [run(plan, null, seed=seed).winner.parameters.numpy() for seed in range(300)]
    lot = plan.training.lot_size
    if name == "subset-tuning":
        lot *= 0.7 * 400 / 320  # of the final training, as is its learning rate
        lot /= 0.7 * 400 / (0.3 * 320)
    scale = plan.noise_multiplier / lot
    assert np.std(draws) == pytest.approx(scale, rel=0.06)
    assert abs(np.mean(draws)) < 5 * scale / np.sqrt(1500)


def test_draws_have_noise_of_their_own():
    """Equal settings, equal starts: only their streams tell candidates apart."""
    null = {**table(), "y": ["nobody"] * ROWS}
    grid = [{"rule": "dpsgd", "learning_rate": 1.0}] * 4
    release = run(make_plan(asked("composition", grid=grid)), null, seed=1)
    rows = torch.stack([fitted.parameters for fitted in release.candidates])
    assert len({tuple(row.tolist()) for row in rows}) == 4
    assert len({fitted.noisy_score for fitted in release.candidates}) == 4


def test_one_record_moves_a_score_by_its_sensitivity_at_most():
    for schema, bound in ((SCHEMA, 1.0), (NUMBERS, SquaredError.bound)):
        plan = make_plan(asked("composition", schema=schema))
        assert plan.sensitivity == bound
        rows = table(numbers=schema is NUMBERS)
        whole = scores(plan, opened(plan, rows).validation, 2)
        for row in split(plan)[1][:20]:
            cells = list(rows["y"])
            cells[row] = "nobody"
            changed = scores(plan, opened(plan, {**rows, "y": cells}).validation, 2)
            assert np.all(np.abs(whole - changed) <= bound + 1e-2)
            # The null record is never right, and has no loss: all scores move one way.
            assert np.all((whole - changed) * (1 if schema is SCHEMA else -1) >= -1e-2)


def test_the_pick_is_the_exponential_mechanism():
    plan = make_plan(asked("pick"))
    noise = plan.role_costs.scoring.noise
    rows = examples(np.ones((4, 4), np.float32), np.ones(4, np.int64))
    params = [torch.full((5,), sign) for sign in (1.0, -1.0)]  # 4 right, 0 right
    wins = 0
    for seed in range(1500):
        draws = [Draw(0, 0), Draw(1, 0)]
        source = Randomness.simulation(seed)
        found = noisy_scores(plan, [Linear(4, 2)], params, draws, [rows] * 2, source)
        wins += found[0] > found[1]
    chance = 1 / (1 + np.exp(-4 / noise))
    assert abs(wins / 1500 - chance) < 5 * np.sqrt(chance * (1 - chance) / 1500)


def test_a_failed_candidate_scores_worst_and_nothing_is_raised():
    plan = make_plan(asked("composition"))
    validation = opened(plan).validation
    params = [torch.full((5,), torch.nan), torch.full((5,), torch.inf)]
    draws = [Draw(0, 0), Draw(1, 1)]
    models = [Linear(4, 2)] * 2
    found = noisy_scores(plan, models, params, draws, [validation] * 2, Randomness.simulation(1))
    assert np.all(np.abs(found) < 8 * plan.role_costs.scoring.noise)


def test_whom_each_procedure_keeps():
    rows = [torch.zeros(5)] * 4
    draws = [Draw(i, i) for i in range(4)]
    values = np.array([10.0, 50.0, 70.0, 60.0])

    def kept(name, before=()):
        plan = make_plan(asked(name))
        return keep(plan, before, draws, rows, values, Randomness.simulation(1))

    assert [o.draw.number for o in kept("random-repeats")] == [2]
    assert [o.draw.number for o in kept("composition")] == [2, 3, 1, 0]
    assert [o.draw.number for o in kept("threshold")] == [1]  # the first to reach 0.5 * 80
    best = kept("random-repeats")
    better = [replace(best[0], score=71.0)]
    assert kept("random-repeats", better) == better
    assert kept("threshold", better) == better
    plan = make_plan(asked("threshold"))
    assert keep(plan, [], draws[:1], rows[:1], values[:1], Randomness.simulation(1)) == []


def test_ties_are_broken_by_coins():
    plan = make_plan(asked("random-repeats"))
    draws, rows = [Draw(0, 0), Draw(1, 1)], [torch.zeros(5)] * 2
    first = sum(
        keep(plan, [], draws, rows, np.ones(2), Randomness.simulation(seed))[0].draw.number
        for seed in range(400)
    )
    assert 140 < first < 260


# Production


def test_a_production_run_charges_once_and_releases_once(tmp_path):
    plan = make_plan(asked("random-repeats"))
    ledger = Ledger.create(tmp_path / "toy.ledger", schema=SCHEMA, epsilon=3.0, delta=1e-4)
    release = run(plan, table(), ledger)
    (charge,) = ledger.history()
    assert charge.released
    assert charge.receipt == release.receipt
    assert release.head == ledger.head
    assert not release.simulated
    assert "SIMULATION" not in repr(release)
    assert charge.plan == plan.public()
    other = Ledger.create(tmp_path / "other.ledger", schema=SCHEMA, epsilon=3.0, delta=1e-4)
    again = run(plan, table(), other)
    assert not torch.equal(again.winner.parameters, release.winner.parameters)


def test_a_receipt_pays_for_what_it_was_charged(tmp_path):
    dear, cheap = make_plan(asked("untuned", epsilon=20.0)), Spending.of_pair(0.001, 1e-9)
    ledger = Ledger.create(tmp_path / "toy.ledger", schema=SCHEMA, epsilon=1.0, delta=1e-4)
    receipt = ledger.reserve(cheap, dear.public())
    with pytest.raises(InputError, match="was charged for another cost than this plan has"):
        run(dear, table(), ledger, receipt=receipt)
    plan = make_plan(asked("untuned", epsilon=0.5))
    ledger.reserve(plan.spending, plan.public())
    assert run(plan, table(), ledger, receipt=ledger.charge(2)).head == ledger.head
    with pytest.raises(InputError, match="charge=7: this ledger holds no such charge"):
        ledger.charge(7)


def test_a_progress_that_fails_at_once_costs_nothing(tmp_path):
    ledger = Ledger.create(tmp_path / "toy.ledger", schema=SCHEMA, epsilon=3.0, delta=1e-4)
    with pytest.raises(ZeroDivisionError):
        run(make_plan(asked("untuned")), table(), ledger, progress=lambda told: 1 / 0)
    assert not ledger.history()
