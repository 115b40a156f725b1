"""What an attacker can do against all that was charged to a ledger."""

from __future__ import annotations

import json
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from honestdp.ledger import Ledger
from honestdp.ledger.chain import DamagedError, link, read_chain
from honestdp.privacy import guarantee
from honestdp.privacy.attack import attack_bounds
from honestdp.privacy.events import Composition, Event, training
from honestdp.privacy.guess import guess_chance
from honestdp.privacy.points import PointsProfile
from honestdp.privacy.spending import Spending

FORMATS = Path(__file__).parents[1] / "formats"
RUN, SECOND = training(0.02, 2.0, 200), training(0.02, 3.0, 200)
PLAN = {"procedure": "untuned"}


def cost(run: Event, stored: bool = True) -> Spending:
    found = Spending.of_curve(guarantee.rdp_curve(run), 1e-7, epsilon=guarantee.epsilon(run, 1e-7))
    return replace(found, profile=PointsProfile.of(guarantee.profile(run))) if stored else found


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.create(
        tmp_path / "a.ledger", dataset="visits", schema="f00d", epsilon=6, delta=1e-5
    )


def test_nothing_is_told_by_nothing(ledger: Ledger) -> None:
    assert ledger.attack().success == pytest.approx(0.5)
    assert ledger.attack().mu == pytest.approx(0.0, abs=1e-6)


def test_charges_compose_as_losses(ledger: Ledger) -> None:
    ledger.reserve(cost(RUN), PLAN)
    one = attack_bounds(guarantee.profile(RUN), 1e-7)
    assert one.success <= ledger.attack().success <= 1.001 * one.success
    ledger.reserve(cost(SECOND), PLAN)
    ledger.reserve(cost(RUN), PLAN)
    exact = attack_bounds(guarantee.profile(Composition(RUN, SECOND, RUN)), 3e-7)
    found = Ledger.inspect(ledger.path).attack()
    assert exact.success <= found.success <= 1.01 * exact.success
    assert exact.mu <= found.mu <= 1.05 * exact.mu
    for (_, least), (_, most) in zip(exact.rates, found.rates, strict=True):
        assert least <= most <= 1.05 * least
    assert found.aside == pytest.approx(3e-7)
    assert found.success < guess_chance(6, 1e-5) - 0.2


def test_a_charge_without_a_profile_has_its_curve_and_pair(ledger: Ledger) -> None:
    """As of every ledger from before: looser, and still above the truth."""
    ledger.reserve(cost(RUN, stored=False), PLAN)
    old = ledger.attack()
    exact = attack_bounds(guarantee.profile(RUN), 1e-7)
    assert exact.success <= old.success <= guess_chance(guarantee.epsilon(RUN, 1e-7), 1e-7)
    ledger.reserve(cost(RUN), PLAN)
    both = attack_bounds(guarantee.profile(Composition(RUN, RUN)), 2e-7)
    assert max(both.success, old.success) <= ledger.attack().success


def test_a_pair_is_the_worst_case(ledger: Ledger) -> None:
    ledger.reserve(Spending.of_pair(1.0, 1e-6), PLAN)
    assert ledger.attack().success == pytest.approx(guess_chance(1.0, 1e-6), rel=1e-6)
    ledger.reserve(Spending.of_pair(5.0, 1e-6), PLAN)
    assert ledger.attack().success <= guess_chance(6.0, 1e-5) * (1 + 1e-9)


@pytest.mark.parametrize("version", ["format-1", "format-2", "checked"])
def test_ledgers_from_before(version: str, tmp_path: Path) -> None:
    shutil.copy(FORMATS / version / "visits.ledger", tmp_path)
    old = Ledger.inspect(tmp_path / "visits.ledger")
    assert all(charge.spending.profile is None for charge in old.history())
    found, opening = old.attack(), old.opening
    assert 0.5 < found.success <= guess_chance(opening.epsilon, opening.delta) * (1 + 1e-9)


@pytest.mark.parametrize("facts", [{"epsilons": [0.0], "deltas": [2.0]}, {"epsilons": []}, 7])
def test_a_profile_that_is_none(ledger: Ledger, facts: object) -> None:
    ledger.reserve(cost(RUN), PLAN)
    with sqlite3.connect(ledger.path) as file:
        (opening, first), (charge, _) = file.execute("select body, hash from entries").fetchall()
    body = json.dumps(json.loads(charge) | {"profile": facts})
    with pytest.raises(DamagedError, match="entry 1 cannot be read"):
        read_chain([(0, opening, first), (1, body, link(first, body))])


def test_deltas_that_add_up_to_more_than_one_are_covered_by_the_total(tmp_path: Path) -> None:
    place = tmp_path / "b.ledger"
    ledger = Ledger.create(place, dataset="visits", schema="f00d", epsilon=50, delta=0.6)
    for _ in range(3):
        ledger.reserve(Spending.of_curve(guarantee.rdp_curve(RUN), 0.4), PLAN)
    assert 0.5 < ledger.attack().success < 1
