"""The check of a table in a run: recorded before it is asked, stopped before anything is trained,
on a charge that is kept; whatever is killed, and whoever else is at it."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from honestdp import Ledger, Plan, make_plan, run
from honestdp.errors import BudgetError, InputError, MisfitError
from honestdp.estimator import HonestSearch
from honestdp.planning.questions import CHECKS, AboutFit
from honestdp.planning.role_costs import RoleCosts
from honestdp.privacy import guarantee
from honestdp.privacy.events import Gaussian, Repeated
from honestdp.randomness import Randomness
from honestdp.resume.journal import FolderJournal, Journal
from honestdp.runner import checking
from honestdp.runner.training import Trainer
from honestdp.schema import Schema, Target, open_rows, paid_check
from honestdp.schema.paid_check import SKIPPED
from search_tables import GRID, SCHEMA, spec, table

NEW = SCHEMA.model_copy(update={"target": Target(column="y", classes=("NO", "YES"))})


@lru_cache
def checked_plan(new: bool) -> Plan:
    return make_plan(spec(NEW if new else SCHEMA, epsilon=8.0, check=True))


def plan_of(schema: Schema = SCHEMA, **changes: Any) -> Plan:
    if not changes:
        return checked_plan(schema is NEW)
    plan = make_plan(spec(schema, **{"epsilon": 8.0, "check": True, **changes}))
    assert plan.check is not None
    return plan


def misfit() -> dict[str, list[Any]]:
    return {**table(), "y": [cell.upper() for cell in table()["y"]]}


def new_ledger(folder: Path, plan: Plan) -> Ledger:
    """With room for one plan, and not for a second."""
    path = folder / "toy.ledger"
    return Ledger.create(path, schema=SCHEMA, epsilon=plan.spec.epsilon, delta=plan.delta)


def stopped(plan: Plan, ledger: Ledger | None, rows: Any = None, **how: Any) -> MisfitError:
    with pytest.raises(MisfitError) as caught:
        run(plan, misfit() if rows is None else rows, ledger, **how)
    assert caught.value.__context__ is None
    frames = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert not {"_carry_out", "check"} & set(frames)  # which hold rows
    return caught.value


# The price


def test_a_plan_pays_for_every_asking() -> None:
    plan, plain = plan_of(), make_plan(spec(epsilon=8.0))
    question = plan.questions.get(AboutFit)
    assert question.event == Repeated(Gaussian(plan.check.noise_multiplier), CHECKS)
    charged = plan.spending.curve
    search = plan.role_costs.curve(plan.delta).at(charged.orders)
    asked = CHECKS * charged.orders / (2 * plan.check.noise_multiplier**2)
    assert np.allclose(charged.values, search + asked, rtol=1e-12)
    before = guarantee.gaussian_noise(question.event)
    assert before == pytest.approx(plan.check.noise_multiplier / np.sqrt(CHECKS))
    alone = plan.role_costs.epsilon(plan.delta)["training"]
    assert alone < plan.spending.epsilon <= 8.0
    assert plan.noise_multiplier >= plain.noise_multiplier
    assert plan.public()["check"]["noise_multiplier"] == plan.check.noise_multiplier
    assert "up to 3 checks" in str(plan)


def test_a_check_of_both_roles() -> None:
    """A validation record answers the check too."""
    plan = plan_of(grid=GRID, procedure="composition")
    roles: RoleCosts = plan.role_costs
    before = plan.questions.get(AboutFit).event
    alone, both = roles.epsilon(plan.delta), roles.epsilon(plan.delta, before)
    assert set(both) == {"training", "validation"}
    assert all(both[role] > alone[role] for role in both)


def test_plans_without_a_check_say_nothing_of_it() -> None:
    plain, few = make_plan(spec()), make_plan(spec(rows=60, lot_size=6, check=True))
    assert "check" not in plain.public()
    assert few.check is None
    assert "check" not in few.public()
    assert SKIPPED in str(few)
    assert SKIPPED not in str(plain)
    assert few.public() == make_plan(spec(rows=60, lot_size=6)).public()
    with pytest.raises(InputError, match="check=1"):
        spec(check=1)


# Stops


def test_a_stop_keeps_the_charge_and_trains_nothing(tmp_path: Path, monkeypatch) -> None:
    plan = plan_of()
    ledger, trained = new_ledger(tmp_path, plan), []
    sound = Trainer.train
    monkeypatch.setattr(Trainer, "train", lambda *given: trained.append(1) or sound(*given))
    error = stopped(plan, ledger)
    left = ledger.remaining()
    assert not trained
    assert "no known target 'y'" in str(error)
    assert "charge 1 stands and pays for the next attempt (2 checks left)" in str(error)
    assert error.facts["checks_left"] == 2
    assert json.loads(json.dumps(error.facts)) == error.facts
    assert abs(error.facts["noisy_counts"]["no known target"] - 400) < 100
    release = run(plan, table(), ledger)
    assert (release.card.ledger.charge, len(ledger.history())) == (1, 1)
    assert ledger.remaining() == left
    assert "asked 2 times; 3 are paid for" in str(release.card)
    with pytest.raises(BudgetError):
        run(plan, table(), ledger)


def test_the_asking_is_recorded_before_a_row_is_counted(tmp_path: Path, monkeypatch) -> None:
    plan = plan_of()
    ledger, seen = new_ledger(tmp_path, plan), []
    sound = paid_check.counts

    def counts(*given: Any) -> Any:
        seen.append(len(Ledger.inspect(ledger.path).charge(1).askings))
        return sound(*given)

    monkeypatch.setattr(paid_check, "counts", counts)
    stopped(plan, ledger)
    assert Ledger.inspect(ledger.path).charge(1).stopped
    run(plan, table(), ledger)
    assert seen == [1, 2]


def test_each_asking_has_noise_of_its_own(tmp_path: Path) -> None:
    plan = plan_of()
    ledger = new_ledger(tmp_path, plan)
    found = [stopped(plan, ledger).facts["noisy_counts"] for _ in range(CHECKS)]
    assert len({count for counts in found for count in counts.values()}) == 5 * CHECKS


def test_three_checks_and_then_none(tmp_path: Path) -> None:
    plan = plan_of()
    ledger = new_ledger(tmp_path, plan)
    for left in ("2 checks left", "1 check left", "no check is left"):
        assert left in str(stopped(plan, ledger))
    with pytest.raises(InputError, match=r"the 3 checks .* are used; --no-check"):
        run(plan, table(), ledger)
    assert len(ledger.charge(1).askings) == CHECKS
    release = run(plan, table(), ledger, receipt=ledger.charge(1), check=False)
    assert "asked 3 times" in str(release.card)


def test_no_check_asks_nothing(tmp_path: Path, monkeypatch) -> None:
    plan = plan_of()
    monkeypatch.setattr(paid_check, "counts", None)
    ledger = new_ledger(tmp_path, plan)
    release = run(plan, misfit(), ledger, check=False)
    assert ledger.charge(1).askings == ()
    assert "(not asked; 3 are paid for)" in str(release.card)
    with pytest.raises(InputError, match="check="):
        run(plan, table(), seed=1, check="no")


def test_a_simulation_stops_too_and_charges_nothing(tmp_path: Path) -> None:
    error = stopped(plan_of(), None, seed=3, folder=tmp_path / "run")
    assert "nothing was charged" in str(error)
    assert not (tmp_path / "run").exists()
    same = stopped(plan_of(), None, seed=3)
    assert same.facts == error.facts
    assert "asked once" in str(run(plan_of(), table(), seed=3).card)


def test_a_sound_table_never_stops() -> None:
    plan, rows = plan_of(), open_rows(SCHEMA, table())
    for seed in range(40):
        randomness = Randomness.simulation(seed)
        checking.Checker(plan, None, None, randomness, Journal(), True).check(rows, None, None)


# Another plan


def test_a_stopped_charge_pays_for_the_corrected_schema(tmp_path: Path) -> None:
    plan, corrected = plan_of(), plan_of(NEW)
    ledger = new_ledger(tmp_path, plan)
    stopped(plan, ledger, folder=tmp_path / "run")
    with pytest.raises(InputError, match="honestdp ledger amend"):
        run(corrected, misfit(), ledger, folder=tmp_path / "run")
    ledger.amend(NEW)
    left = ledger.remaining()
    release = run(corrected, misfit(), ledger, folder=tmp_path / "run")
    assert release.card.ledger.charge == 1
    assert release.card.plan_fingerprint == ledger.charge(1).receipt.plan_fingerprint
    assert ledger.remaining() == left


def test_a_charge_does_not_pay_for_a_plan_of_another_price(tmp_path: Path) -> None:
    plan = plan_of()
    ledger = new_ledger(tmp_path, plan)
    stopped(plan, ledger)
    for other in (plan_of(steps=22), make_plan(spec(epsilon=8.0))):
        with pytest.raises(BudgetError):
            run(other, table(), ledger)
        with pytest.raises(InputError, match="is for another plan"):
            run(other, table(), ledger, receipt=ledger.charge(1))
    assert ledger.charge(1).stopped


def test_a_charge_that_was_trained_on_does_not_move(tmp_path: Path) -> None:
    plan = plan_of()
    ledger = new_ledger(tmp_path, plan)

    def interrupt(told: Any) -> None:
        if told.stage == "searching":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(plan, table(), ledger, progress=interrupt)
    assert "2 checks left" not in str(stopped(plan, ledger, receipt=ledger.charge(1)))
    ledger.amend(NEW)
    with pytest.raises(BudgetError):
        run(plan_of(NEW), misfit(), ledger)


def test_a_charge_that_was_trained_on_unchecked_does_not_move(tmp_path: Path) -> None:
    plan = plan_of()
    ledger = new_ledger(tmp_path, plan)
    stopped(plan, ledger)

    def interrupt(told: Any) -> None:
        if told.stage == "searching":
            raise KeyboardInterrupt

    how = {"receipt": ledger.charge(1), "progress": interrupt, "check": False}
    with pytest.raises(KeyboardInterrupt):
        run(plan, table(), ledger, **how)
    ledger.amend(NEW)
    with pytest.raises(BudgetError):
        run(plan_of(NEW), misfit(), ledger)


def test_a_stopped_charge_that_is_used_again_is_nobody_elses(tmp_path: Path) -> None:
    """From the moment a run goes on with a stopped charge, no other run may take it."""
    plan, seen = plan_of(), {}
    ledger = new_ledger(tmp_path, plan)
    stopped(plan, ledger)
    assert ledger.charge(1).stopped

    def look(told: Any) -> None:
        seen.setdefault(told.stage, ledger.charge(1).stopped)

    run(plan, table(), ledger, receipt=ledger.charge(1), progress=look)
    assert seen["opening"]  # nothing is taken yet
    assert not seen["checking"]
    assert not seen["searching"]


def test_a_stop_after_an_unchecked_training_does_not_move(tmp_path: Path) -> None:
    """Every asking stopped, and yet a model was trained on the charge before the first."""
    plan = plan_of()
    ledger = new_ledger(tmp_path, plan)

    def interrupt(told: Any) -> None:
        if told.stage == "searching":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(plan, table(), ledger, progress=interrupt, check=False)
    assert ledger.charge(1).unchecked
    stopped(plan, ledger, receipt=ledger.charge(1))
    assert not ledger.charge(1).stopped
    ledger.amend(NEW)
    with pytest.raises(BudgetError):
        run(plan_of(NEW), misfit(), ledger)


# Resuming


def test_a_resumed_run_that_passed_does_not_ask_again(tmp_path: Path) -> None:
    plan, stages = plan_of(), []
    ledger = new_ledger(tmp_path, plan)

    def interrupt(told: Any) -> None:
        stages.append(told.stage)
        if told.stage == "searching":
            raise KeyboardInterrupt

    for _ in range(CHECKS + 2):
        with pytest.raises(KeyboardInterrupt):
            run(plan, table(), ledger, folder=tmp_path / "run", progress=interrupt)
    assert stages.count("checking") == 1
    run(plan, table(), ledger, folder=tmp_path / "run")
    assert len(ledger.charge(1).askings) == 1


def test_a_stopped_folder_holds_nothing_of_the_run(tmp_path: Path) -> None:
    plan = plan_of()
    ledger = new_ledger(tmp_path, plan)
    stopped(plan, ledger, folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()
    stopped(plan, ledger, folder=tmp_path / "run", config="epsilon = 8.0\n")
    private = tmp_path / "run" / ".private"
    assert {one.name for one in private.iterdir()} == {"asked.toml", "lock"}
    release = run(plan, table(), ledger, folder=tmp_path / "run")
    assert release.card.ledger.charge == 1
    assert not private.exists()


class Killed(SystemExit):
    """What stands for a process that is no more."""


def dying(sound: Callable[..., Any], after: bool) -> Callable[..., Any]:
    """A method in which its process dies, before or after it did its work."""

    def dies(*given: Any) -> Any:
        if after:
            sound(*given)
        raise Killed

    return dies


JOURNAL = ("passed", "stopped")
POINTS = ["reserve", "ask", "stop", "move", "release", *JOURNAL]


@pytest.mark.parametrize("folder", [True, False])
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("point", POINTS)
def test_a_kill_at_any_point_loses_nothing(
    point: str, after: bool, folder: bool, tmp_path: Path, monkeypatch
) -> None:
    """Killed before or after an entry, with a table that does not fit and then with a sound one:
    never more than three askings, one charge, one release."""
    plan = plan_of()
    ledger = new_ledger(tmp_path, plan)
    how: dict[str, Any] = {"folder": tmp_path / "run"} if folder else {}

    def attempt(rows: Any) -> object:
        given = dict(how)
        if not folder and ledger.history():
            given["receipt"] = ledger.charge(1)
        try:
            return run(plan, rows, ledger, **given)
        except (Killed, MisfitError) as error:
            return error

    with monkeypatch.context() as patch:
        for owner in (Journal, FolderJournal) if point in JOURNAL else (Ledger,):
            patch.setattr(owner, point, dying(vars(owner)[point], after))
        first, second = attempt(misfit()), attempt(table())
        assert isinstance(first, (Killed, MisfitError))
    gone = bool(ledger.history()) and ledger.charge(1).released and not folder
    if isinstance(second, BaseException) and not gone:  # if it is gone only a folder has it still
        third = attempt(table())
        assert not isinstance(third, BaseException), (first, second, third)
    (charge,) = ledger.history()
    assert charge.released
    assert len(charge.askings) <= CHECKS


def test_two_runs_race_for_a_stopped_charge(tmp_path: Path, monkeypatch) -> None:
    """While the first is on its way the second gets nothing, and one model leaves."""
    plan = plan_of()
    ledger, inner = new_ledger(tmp_path, plan), []
    stopped(plan, ledger)
    sound = Ledger.ask

    def ask(self: Ledger, receipt: Any) -> str:
        if not inner:
            inner.append("racing")
            with pytest.raises(BudgetError):
                run(plan, table(), Ledger.open(ledger.path, schema=SCHEMA))
            inner.append("refused")
        return sound(self, receipt)

    monkeypatch.setattr(Ledger, "ask", ask)
    run(plan, table(), ledger)
    assert inner == ["racing", "refused"]
    assert len(ledger.history()) == 1


# The other faces


def test_a_fit_is_checked_and_the_next_one_uses_its_charge(tmp_path: Path) -> None:
    ledger = new_ledger(tmp_path, plan_of())
    facts: dict[str, Any] = {"epsilon": 8.0, "delta": 1e-4, "steps": 20, "lot_size": 40}
    search = HonestSearch(schema=SCHEMA, ledger=ledger.path, progress=False, **facts)
    assert search.plan(400).check is not None
    assert search.set_params(check=False).plan(400).check is None
    search.set_params(check=True)
    rows = table()
    y = np.array(rows.pop("y"))
    with pytest.raises(MisfitError, match="charge 1 stands"):
        search.fit(rows, np.char.upper(y))
    assert not Path(f"{ledger.path}.runs").exists()
    search.fit(rows, y)
    assert search.card_.ledger.charge == 1


def test_nobody_checks_a_table_unpaid() -> None:
    checker = checking.Checker(plan_of(), None, None, Randomness(), Journal(), True)
    with pytest.raises(InputError, match="only after a charge"):
        checker.check(open_rows(SCHEMA, table()), None, None)
