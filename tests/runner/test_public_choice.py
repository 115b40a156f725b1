"""`choose_on_public`: a setting from public rows, and one training on the protected ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from honestdp import Grid, InputError, choose_on_public, load, make_plan
from honestdp.executors import executors
from honestdp.executors.local import LocalExecutor
from honestdp.ledger import Ledger, fingerprint
from honestdp.planning.public_choice import PublicChoice
from honestdp.planning.spec import Spec
from honestdp.randomness import Randomness
from honestdp.runner import choosing
from honestdp.runner.run import run
from honestdp.schema import Categorical, Numeric, Schema, Table, Target
from search_tables import spec

ROWS, PUBLIC = 400, 120
GRID = [{"encode": "linear"}, {"encode": "bins"}, {"encode": "linear", "kappa": 1.0}]
SCHEMA = Schema(
    name="choice",
    columns=(
        Numeric(name="a", bounds="learn", outer=(0, 100)),
        Categorical(name="c", categories=("x", "y")),
    ),
    target=Target(column="z", classes=("no", "yes")),
)


def table(rows: int = ROWS, seed: int = 1) -> dict[str, list]:
    a = np.random.default_rng(seed).uniform(0, 10, rows)
    answers = np.where((a > 3) & (a < 7), "yes", "no")  # a curve: one number does not show it
    return {"a": a.tolist(), "c": ["xy"[i % 2] for i in range(rows)], "z": answers.tolist()}


def wanted(**changes) -> Spec:
    facts = {"rows": ROWS, "epsilon": 5.0, "steps": 60, "grid": GRID, "procedure": "auto"}
    return spec(SCHEMA, **{**facts, **changes})


@pytest.fixture(scope="module", autouse=True)
def once():
    """Every row is held out once, few as they are: quicker."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choosing, "MOST_ROUNDS", 1)
        yield


@pytest.fixture(scope="module")
def chosen(once) -> Spec:
    return choose_on_public(wanted(), table(PUBLIC, seed=2))


def test_the_setting_that_fits_the_public_rows_is_chosen(chosen):
    choice = chosen.chosen_on
    assert dict(chosen.grid.settings[0]) == choice.setting
    assert choice.setting["encode"] == "bins"
    assert [one.setting for one in choice.compared] == list(map(dict, wanted().grid.settings))
    scores = [one.score for one in choice.compared]
    assert scores[1] == max(scores) > max(scores[0], scores[2]) + 0.1
    assert all(0 <= score <= 1 for score in scores)
    assert (choice.rows, choice.trainings, choice.metric) == (PUBLIC, 5, "accuracy")


def test_it_is_a_function_of_spec_public_rows_and_seed(chosen):
    public = table(PUBLIC, seed=2)
    assert choose_on_public(wanted(), public).chosen_on == chosen.chosen_on
    given = {name: public[name] for name in "ac"}
    assert choose_on_public(wanted(), given, public["z"]).chosen_on == chosen.chosen_on
    other = choose_on_public(wanted(), public, seed=1).chosen_on
    assert (other.seed, other.chosen) == (1, chosen.chosen_on.chosen)
    assert other != replace_seed(chosen.chosen_on)
    changed = choose_on_public(wanted(), table(PUBLIC, seed=3)).chosen_on
    assert changed.sha256 != chosen.chosen_on.sha256


def replace_seed(choice: PublicChoice) -> PublicChoice:
    return choice.model_copy(update={"seed": 1})


def test_the_plan_is_that_of_the_setting_alone(chosen):
    plan, alone = make_plan(chosen), make_plan(wanted(grid=Grid(chosen.grid.settings)))
    assert (plan.epsilon, plan.delta) == (alone.epsilon, alone.delta)
    np.testing.assert_array_equal(plan.spending.curve.values, alone.spending.curve.values)
    assert plan.procedure == alone.procedure
    assert plan.noise_multiplier == alone.noise_multiplier
    assert plan.training.n == ROWS  # nothing is held out
    assert plan.reason == "chosen among 3 settings on 120 public rows, which are declared not to " \
                          "be protected"  # fmt: skip
    assert plan.reason in str(plan)
    own, other = plan.public(), alone.public()
    assert own.pop("chosen_on") == chosen.chosen_on.public()
    assert {**own, "reason": other["reason"]} == other
    assert "chosen_on" not in other
    assert fingerprint(plan.public()) != fingerprint(other)


def test_the_choice_does_not_depend_on_protected_rows(tmp_path, chosen):
    """Two protected tables that disagree about the best setting get the one of the public rows."""
    line = table()
    line["z"] = np.where(np.array(line["a"]) > 5, "yes", "no").tolist()  # a line fits it
    for number, rows in enumerate((table(), line)):
        again = choose_on_public(wanted(), table(PUBLIC, seed=2))
        release = run(make_plan(again), rows, seed=1, folder=tmp_path / str(number))
        assert release.card.chosen_on == chosen.chosen_on
        assert dict(release.winner.setting) == chosen.chosen_on.setting


def test_protected_rows_are_read_after_the_charge_alone(tmp_path, monkeypatch):
    """Whatever is opened before the charge is the public table."""
    opened, public, rows = [], table(PUBLIC, seed=2), table()
    ledger = Ledger.create(tmp_path / "a.ledger", schema=SCHEMA, epsilon=30.0, delta=1e-3)
    real = Table.cells

    def cells(self, name):
        opened.append((self.rows, len(ledger.history())))
        return real(self, name)

    monkeypatch.setattr(Table, "cells", cells)
    plan = make_plan(choose_on_public(wanted(), public))
    release = run(plan, rows, ledger, folder=tmp_path / "run")
    assert set(opened) == {(PUBLIC, 0), (ROWS, 1)}
    (charge,) = ledger.history()
    assert (charge.receipt.epsilon, charge.receipt.delta) == (plan.epsilon, plan.delta)
    assert charge.plan["chosen_on"]["chosen"] == 1
    assert load(tmp_path / "run").card == release.card


def test_the_card_says_so(chosen):
    card = run(make_plan(chosen), table(), seed=1).card
    told = card.prose()
    assert chosen.chosen_on.reason in card.reason
    assert any("120 rows declared public" in text for text in card.not_covered)
    assert "no protected row had a part in it" in told
    assert chosen.chosen_on.sha256 in told
    for one in chosen.chosen_on.compared:
        assert f"{one.score:.4f}" in told
    assert told.count("(chosen)") == 1
    assert type(card).from_json(card.to_json()) == card
    plain = run(make_plan(wanted(grid=Grid(chosen.grid.settings))), table(), seed=1).card
    assert plain.chosen_on is None
    assert "public rows" not in plain.prose()
    assert card.digest != plain.digest


class Watched(LocalExecutor):
    name = "watched"

    def __init__(self) -> None:
        super().__init__(workers=1)
        self.works = []

    def train(self, work, begun=None):
        self.works.append(work)
        return super().train(work, begun)


@pytest.mark.parametrize(
    ("rows", "public", "lot_size"), [(ROWS, PUBLIC, 40), (40, 300, 20), (5000, 60, 300)]
)
def test_public_rows_train_with_the_noise_of_the_plan(rows, public, lot_size):
    """As many steps, the same noise in a mean gradient, at most as many rows as are protected."""
    watched = Watched()
    asked = wanted(rows=rows, lot_size=lot_size)
    found = choose_on_public(asked, table(public, seed=2), executor=watched)
    plan = make_plan(found)
    fraction = plan.noise_multiplier / plan.training.lot_size
    for work in watched.works:
        assert len(work.rows) == min(rows, public * 4 // 5)
        assert work.schedule.steps == plan.training.steps
        assert work.schedule.lot_size == min(plan.training.lot_size, len(work.rows))
        for one in work.candidates:
            assert one.noise_multiplier / work.schedule.lot_size == pytest.approx(fraction)
    numbers = [number for work in watched.works for number in work.numbers]
    assert len(numbers) == len(set(numbers)) == 3 * found.chosen_on.trainings
    assert "watched" not in executors.names()


def test_few_rows_are_held_out_more_often(monkeypatch):
    monkeypatch.setattr(choosing, "MOST_ROUNDS", 5)
    rounds = [choosing._PublicRows(None, None, np.arange(n)).rounds for n in (20, 500, 1999, 2000)]
    assert rounds == [5, 4, 2, 1]
    rows = choosing._PublicRows(None, None, np.arange(500))
    folds = [held.tolist() for _, held in rows.folds(Randomness.simulation(0))]
    assert len(folds) == 20
    assert sorted(folds[0]) != sorted(folds[5])  # another split in every round


def test_no_row_is_scored_by_a_model_that_saw_it(monkeypatch):
    seen = []
    real = choosing._PublicRows.folds

    def folds(self, randomness):
        for training, held in real(self, randomness):
            seen.append((set(training.tolist()), set(held.tolist())))
            yield training, held

    monkeypatch.setattr(choosing._PublicRows, "folds", folds)
    public = table(PUBLIC, seed=2)
    public["z"][7] = "maybe"  # no known target: not used
    choose_on_public(wanted(grid=GRID[:2]), public)
    known = set(range(PUBLIC)) - {7}
    assert all(not training & held and training | held == known for training, held in seen)
    assert sorted(row for _, held in seen[:5] for row in held) == sorted(known)


def test_numbers_are_chosen_by_the_smaller_loss():
    schema = Schema(
        name="line",
        columns=(Numeric(name="a", bounds=(0, 10)),),
        target=Target(column="z", bounds=(-1, 1)),
    )
    a = np.random.default_rng(0).uniform(0, 10, PUBLIC)
    public = {"a": a.tolist(), "z": (a / 5 - 1).tolist()}
    grid = [{"rule": "dpsgd", "learning_rate": rate} for rate in (1e-6, 0.3)]
    found = choose_on_public(spec(schema, rows=ROWS, epsilon=5.0, steps=60, grid=grid,
                                  procedure="auto"), public).chosen_on  # fmt: skip
    assert found.metric == "squared_error"
    assert found.chosen == 1
    assert found.compared[1].score < found.compared[0].score


@pytest.mark.parametrize(
    ("changes", "public", "words"),
    [
        ({"grid": None}, {}, "there is one setting"),
        ({"grid": GRID[:1]}, {}, "there is one setting"),
        ({"procedure": "composition"}, {}, "procedure='composition'"),
        ({"hit_probability": 0.5}, {}, "hit_probability=0.5"),
        ({}, {"a": None}, "public: .*'a'"),
        ({}, {"z": None}, "public: .*'z'"),
        ({}, {"z": ["no"] * PUBLIC}, "no row is of class 'yes'"),
        ({}, {"a": ["Quokkazyx"] * PUBLIC}, "column 'a': 120 of 120 cells are not readable"),
        ({}, {"a": [], "c": [], "z": []}, "holds no rows"),
        ({}, {"a": [1, 5, 9], "c": ["x"] * 3, "z": ["no", "yes", "no"]}, "3 rows .* too few"),
    ],
)
def test_bad_input_is_one_line(changes, public, words):
    rows = {**table(PUBLIC, seed=2), **public}
    rows = {name: cells for name, cells in rows.items() if cells is not None}
    with pytest.raises(InputError, match=words) as caught:
        choose_on_public(wanted(**changes), rows)
    assert "\n" not in str(caught.value)
    assert "Quokkazyx" not in str(caught.value)


def test_a_choice_goes_with_its_setting(chosen):
    for wrong in (GRID, GRID[:1], None):
        with pytest.raises(InputError, match="chosen_on: the grid is not the one setting"):
            replace(chosen, grid=wrong)
    with pytest.raises(InputError, match="chosen_on"):
        wanted(chosen_on={"rows": 3})
    with pytest.raises(InputError, match="spec: is a dict"):
        choose_on_public({}, table(PUBLIC))
    with pytest.raises(InputError, match="seed"):
        choose_on_public(wanted(), table(PUBLIC), seed=-1)
    with pytest.raises(InputError, match=r"chosen_on: .*chosen is none of the compared"):
        PublicChoice.from_json(chosen.chosen_on.model_copy(update={"chosen": 9}).model_dump_json())
    assert PublicChoice.from_json(chosen.chosen_on.model_dump_json()) == chosen.chosen_on
