"""Recalibration in a run: who moves the counts and by how much, what is released, one noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from honestdp import HonestSearch, InputError, Ledger, load, make_plan, run
from honestdp.engine import Module
from honestdp.engine.models.closed_form import ClosedForm
from honestdp.evaluation.platt import BINS, COUNTED
from honestdp.json_files import sha256
from honestdp.planning.plan import Plan
from honestdp.randomness import Randomness
from honestdp.resume.journal import Journal
from honestdp.runner import calibrating, evaluating
from honestdp.runner import run as running
from honestdp.runner.private_data import PrivateData, split
from honestdp.runner.session import Session
from search_tables import PROCEDURES, SCHEMA, asked, table

QUICK = ("untuned", "composition", "random-repeats", "subset-tuning")
PARTS = {"calibration_share": 0.2, "test_share": 0.2}
CLASSES = ("no", "yes", "maybe")
THREE = SCHEMA.model_copy(update={"target": SCHEMA.target.model_copy(update={"classes": CLASSES})})


def plan_of(name: str = "untuned", **options: Any) -> Plan:
    return make_plan(asked(name, **{**PARTS, **options}))


def without(row: int) -> dict[str, list]:
    """The table with one null record: of no class, and 0 in every column."""
    changed = table()
    changed["y"][row] = None
    for column in ("x", "z"):
        changed[column][row] = 0.0
    return changed


def trail(plan: Plan, rows: Any, monkeypatch: Any, seed: int = 5) -> dict[str, Any]:
    """What a run has in its hands: the winner before, the exact counts, and what is released."""
    found: dict[str, Any] = {"counts": [], "tested": []}
    calibrate, exact = calibrating.calibrate, evaluating.exact_counts

    def counted(into: str) -> Callable[..., Any]:
        def noted(*given: Any) -> Any:
            found[into].append(exact(*given))
            return found[into][-1]

        return noted

    def before(*given: Any) -> Any:
        found["winner"] = given[2][0].parameters.clone()
        return calibrate(*given)

    with monkeypatch.context() as patch:
        patch.setattr(running, "calibrate", before)
        patch.setattr(calibrating, "exact_counts", counted("counts"))
        patch.setattr(evaluating, "exact_counts", counted("tested"))
        found["release"] = run(plan, rows, seed=seed)
    return found


@pytest.mark.parametrize("schema", [SCHEMA, THREE], ids=["two", "three"])
def test_a_calibration_row_moves_one_count_of_a_level_by_one(schema, monkeypatch):
    plan = plan_of(schema=schema)
    whole = trail(plan, table(), monkeypatch)
    for row in split(plan).calibration[:3]:
        other = trail(plan, without(row), monkeypatch)
        assert torch.equal(other["winner"], whole["winner"])  # it trained and chose nothing
        assert len(other["counts"]) == len(plan.calibrator.levels)
        for ours, theirs in zip(whole["counts"], other["counts"], strict=True):
            assert ours.dtype == np.int64
            assert sorted((ours - theirs).tolist())[-2:] in ([0, 1], [0, 0], [1])
            assert np.abs(ours - theirs).sum() <= 1
            assert (ours >= theirs).all()


@pytest.mark.parametrize("name", ["untuned", "subset-tuning", "composition"])
def test_a_test_row_changes_nothing_before_the_evaluation(name, monkeypatch):
    plan = plan_of(name, decision_threshold="balanced")
    whole = trail(plan, table(), monkeypatch)
    for row in split(plan).test[:3]:
        other = trail(plan, without(row), monkeypatch)
        assert torch.equal(other["winner"], whole["winner"])
        ours, theirs = whole["release"], other["release"]
        assert ours.card.calibration == theirs.card.calibration
        assert ours.files["model.json"] == theirs.files["model.json"]
        assert ours.card.decision_threshold == theirs.card.decision_threshold
        for a, b in zip(whole["tested"], other["tested"], strict=True):
            assert np.abs(a - b).sum() <= 1


@pytest.mark.parametrize("name", ["untuned", "subset-tuning", "composition"])
def test_a_calibration_row_neither_trains_nor_chooses(name, monkeypatch):
    plan = plan_of(name)
    whole = trail(plan, table(), monkeypatch)
    for row in split(plan).calibration[:3]:
        other = trail(plan, without(row), monkeypatch)
        assert torch.equal(other["winner"], whole["winner"])


@pytest.mark.parametrize("name", ["untuned", "composition"])
def test_the_parts_are_disjoint(name):
    plan = plan_of(name)
    parts = split(plan)
    assert sorted(np.concatenate(parts).tolist()) == list(range(plan.spec.rows))
    sizes = plan.training.n, plan.validation_rows, plan.spec.calibration_rows, plan.spec.test_rows
    assert tuple(map(len, parts)) == sizes
    held = opened(plan, table()).encoded[0]
    encoded = SCHEMA.encode(table())
    for part, rows in ((held.calibration, parts[2]), (held.test.all, parts[3])):
        found = part.dense(torch.arange(len(part))).numpy()
        assert np.array_equal(found, np.asarray(encoded.inputs)[rows])


def test_a_training_row_is_not_counted(monkeypatch):
    plan = plan_of()
    counted = trail(plan, table(), monkeypatch)["counts"]
    assert counted[0].sum() == plan.spec.calibration_rows == 80


def test_the_threshold_follows_from_what_is_on_the_card():
    card = run(plan_of(decision_threshold="balanced"), table(), seed=4).card
    counts = card.calibration.levels[COUNTED].array()
    expected = counts[1].sum() / counts.sum()
    assert card.decision_threshold == card.calibration.share == pytest.approx(expected, rel=1e-5)


def test_a_training_row_reaches_the_counts_through_the_winner_alone(monkeypatch):
    """With the winner of the other table the counts are those of this one."""
    plan = plan_of()
    whole = trail(plan, table(), monkeypatch)
    row = int(split(plan).training[0])
    found = []
    for rows in (table(), without(row)):
        data = opened(plan, rows)
        level = plan.calibrator.levels[0]
        models = running._models(plan)
        part = data.encoded[0].calibration
        found.append(evaluating.exact_counts(level, models[0], whole["winner"], part))
    assert (found[0] == found[1]).all()


def opened(plan: Plan, rows: Any) -> PrivateData:
    return PrivateData.open(plan, rows, None, None, Randomness.simulation(0), Journal())


@pytest.mark.parametrize(
    "name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in PROCEDURES]
)
def test_every_procedure_releases_the_corrected_model(name, monkeypatch):
    plan = plan_of(name, decision_threshold=0.4)
    found = trail(plan, table(), monkeypatch)
    release, calibration = found["release"], found["release"].card.calibration
    if release.winner is None:
        assert (calibration, release.card.decision_threshold) == (None, None)
        return
    noisy = calibration.levels[COUNTED].array()
    assert noisy.shape == (2, BINS)
    assert calibration.noise == plan.calibration_noise
    assert np.abs(noisy.ravel() - found["counts"][0]).max() <= 6 * calibration.noise
    assert (noisy.ravel() != found["counts"][0]).any()
    slope, offset = plan.calibrator.fit({COUNTED: noisy}, calibration.noise)
    assert (calibration.slope, calibration.offset) == pytest.approx((slope, offset), rel=1e-5)
    weights = found["winner"] * calibration.slope
    weights[-1] += calibration.offset  # the bias is last
    assert torch.allclose(release.winner.parameters, weights, rtol=1e-5, atol=1e-6)
    p = release.predict_proba(table())[:, 1]
    assert ((release.predict(table()) == "yes") == (p > 0.4)).all()
    others = release.candidates[1:]
    assert all(one.answers.threshold is None for one in others)  # as trained


def test_the_counts_of_the_evaluation_are_of_the_answers_that_it_gives(monkeypatch):
    plan = plan_of(decision_threshold="cost:3")
    found = trail(plan, table(), monkeypatch)
    rows, test = table(), split(plan).test
    part = {name: [cells[i] for i in test] for name, cells in rows.items()}
    answers = found["release"].predict(part)
    for truth in (0, 1):
        for answer in (0, 1):
            pairs = zip(part["y"], answers, strict=True)
            both = sum((a, b) == (CLASSES[truth], CLASSES[answer]) for a, b in pairs)
            assert found["tested"][0][2 * truth + answer] == both
    assert found["release"].evaluation["sensitivity"].value <= 1.2


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(SCHEMA.width, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x)


@pytest.mark.parametrize("threshold", ["balanced", pytest.param(None, marks=pytest.mark.slow)])
def test_a_module_is_corrected_beside_its_parameters(threshold, tmp_path, monkeypatch):
    plan = plan_of(model=Module(Net, classes=2), grid=[{"rule": "dpadamwosm"}],
                   decision_threshold=threshold)  # fmt: skip
    found = trail(plan, table(), monkeypatch)
    release, calibration = found["release"], found["release"].card.calibration
    assert torch.equal(release.winner.parameters, found["winner"])  # as trained
    plain = replace(release.winner, answers=type(release.winner.answers)())
    before = plain.predict_proba(table())[:, 1].astype(float)
    z = calibration.slope * np.log(before / (1 - before)) + calibration.offset
    p = release.predict_proba(table())[:, 1]
    assert p == pytest.approx(1 / (1 + np.exp(-z)), abs=1e-5)
    release.save(tmp_path / "run")
    again = load(tmp_path / "run", module=Net)
    assert again.winner.answers == release.winner.answers
    assert (again.predict_proba(table()) == release.predict_proba(table())).all()
    assert (again.predict(table()) == release.predict(table())).all()
    limit = 0.5 if threshold is None else calibration.share
    assert ((again.predict(table()) == "yes") == (p > limit)).all()


def test_what_a_file_holds_and_which_reader_it_needs(tmp_path):
    plain, corrected, cut = (
        run(make_plan(asked("untuned", **options)), table(), seed=1).files["model.json"]
        for options in ({}, PARTS, {"decision_threshold": 0.2})
    )
    assert b'"format": 1' in plain
    assert b'"format": 1' in corrected  # the correction is in the weights
    assert b'"answers"' not in plain + corrected
    assert b'"format": 2' in cut
    release = run(make_plan(asked("untuned", decision_threshold=0.2)), table(), seed=1)
    release.save(tmp_path / "run")
    assert (load(tmp_path / "run").predict(table()) == release.predict(table())).all()
    broken = release.files["model.json"].replace(b'"threshold": 0.2', b'"threshold": 1.2')
    assert broken != release.files["model.json"]
    (tmp_path / "run" / "model.json").write_bytes(broken)
    card = (tmp_path / "run" / "card.json").read_bytes()
    known = sha256(release.files["model.json"]).encode()
    (tmp_path / "run" / "card.json").write_bytes(card.replace(known, sha256(broken).encode()))
    with pytest.raises(InputError, match=r"winner.answers.threshold"):
        load(tmp_path / "run")


def test_effects_and_their_noise_are_of_the_corrected_weights(monkeypatch):
    plan = plan_of()
    found = trail(plan, table(), monkeypatch)
    release = found["release"]
    slope = release.card.calibration.slope
    raw = replace(
        release,
        winner=replace(release.winner, parameters=found["winner"]),
        card=release.card.model_copy(update={"calibration": None}),
    )
    for ours, theirs in zip(release.effects(), raw.effects(), strict=True):
        assert ours.contribution == pytest.approx(slope * theirs.contribution, abs=1e-6)
        assert ours.noise_sd == pytest.approx(slope * theirs.noise_sd)


def test_effects_of_a_linear_model_that_cannot_be_corrected(monkeypatch):
    """The same effects, whether the correction is in the weights or beside them."""
    plan = plan_of()
    inside = run(plan, table(), seed=6)
    with monkeypatch.context() as patch:
        patch.setattr(ClosedForm, "corrected", lambda *given: None)
        beside = run(plan, table(), seed=6)
        assert beside.winner.answers.slope == inside.card.calibration.slope
        for ours, theirs in zip(beside.effects(), inside.effects(), strict=True):
            assert ours.contribution == pytest.approx(theirs.contribution, abs=1e-5)
            assert ours.noise_sd == pytest.approx(theirs.noise_sd)
    p = inside.predict_proba(table())
    assert beside.predict_proba(table()) == pytest.approx(p, abs=1e-5)


def test_a_run_that_was_stopped_releases_one_calibration(tmp_path, monkeypatch):
    """Stopped before the ledger let it go: what was counted is seen by nobody, and counted again.
    Stopped after that: what was staged is what leaves."""
    plan, seen = plan_of(), []
    calibrate, release = calibrating.calibrate, Ledger.release

    def noted(*given: Any) -> Any:
        seen.append(calibrate(*given))
        return seen[-1]

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    def released_and_stopped(*given: Any) -> None:
        release(*given)
        raise KeyboardInterrupt

    ledger = Ledger.create(tmp_path / "toy.ledger", schema=SCHEMA, epsilon=9.0, delta=1e-2)
    monkeypatch.setattr(running, "calibrate", noted)
    for stopped in ((Session, "publish", stop), (Ledger, "release", released_and_stopped)):
        with monkeypatch.context() as patch:
            patch.setattr(*stopped)
            with pytest.raises(KeyboardInterrupt):
                run(plan, table(), ledger, folder=tmp_path / "run")
    found = run(plan, table(), ledger, folder=tmp_path / "run")
    assert len(seen) == 2  # the third call only publishes
    assert seen[0].calibration != seen[1].calibration == found.card.calibration
    assert torch.equal(found.winner.parameters, seen[1].kept[0].parameters)
    assert len(ledger.history()) == 1
    again = run(plan, table(), seed=3)
    assert run(plan, table(), seed=3).files == again.files


def test_the_estimator_corrects_by_default_where_rows_are_many():
    rows = table(1000)
    target = rows.pop("y")
    facts = {"schema": SCHEMA, "epsilon": 4.0, "random_state": 1, "steps": 5}
    search = HonestSearch("logistic", decision_threshold="cost:3", **facts).fit(rows, target)
    assert search.card_.calibration.rows == 50
    p = search.predict_proba(rows)[:, list(search.classes_).index("yes")]
    assert ((search.predict(rows) == "yes") == (p > 0.25)).all()
    slope, (weight, bias) = search.card_.calibration.slope, (search.coef_, search.intercept_)
    again = HonestSearch("logistic", **facts, calibration_share=0).fit(rows, target)
    assert again.card_.calibration is None
    assert slope > 0
    assert np.isfinite(weight).all()
    assert np.isfinite(bias).all()


def test_without_calibration_rows_nothing_is_counted(monkeypatch):
    plan = make_plan(asked("untuned"))
    found = trail(plan, table(), monkeypatch)
    assert found["counts"] == []
    assert found["release"].card.calibration is None
    assert torch.equal(found["release"].winner.parameters, found["winner"])
