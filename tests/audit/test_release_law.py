"""An audit of the whole search, of known power: what `run` releases has the law that is claimed.

The theorems are about a certain law of what leaves: this much noise, these lots, this law of K,
all independent. For the tiny searches of `exact_searches` that law is known exactly, with and
without a bug. So the audit does not look for an epsilon above the one claimed, which the bounds
for K random runs leave too much room below; it bets against the law itself (`betting`).

False alarms: an audit of sound code fails with probability at most 1e-7 (`betting.ALARM`), over
the choice of its seeds; all eight together with less than 1e-6. Seeds are fixed, so an audit says
the same every time.

Power: every bug that is bet on makes its audit fail with probability at least 0.998, as
`test_the_power_is_as_stated` computes. In particular for `untuned`, `composition`,
`random-stopping`, `random-repeats`, `threshold` and `subset-tuning`: training noise x 0.9 and,
where there are scores, score noise x 0.9 (of a pick that shows no score: half the noise).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from audits import AUDITS, SCORE_NOISE, TRAINING_NOISE
from betting import ALARM, Verdict, play
from carried_out import less_training_noise

from honestdp.planning.plan import Plan

POWER = 0.998
QUICK = ("untuned", "composition")  # whole audits, of a second each


def audited(
    name: str, bug: Callable[[Plan], Plan] = lambda plan: plan, first_seed: int = 0
) -> Verdict:
    """Whether the bets on an audit's search win; printed, for who wants the figures."""
    audit = AUDITS[name]
    carried = bug(audit.case.plan)
    seeds = range(first_seed, first_seed + audit.searches)
    found = play(audit.placed, lambda seed: audit.case.search(seed, carried), seeds)
    print(f"{name}: {found}")
    return found


def slow_but(quick: Callable[[str], bool]) -> list[Any]:
    slow = pytest.mark.slow
    return [name if quick(name) else pytest.param(name, marks=slow) for name in AUDITS]


# The laws of subset tuning are mixtures of a thousand, and take some seconds.
every_law = pytest.mark.parametrize("name", slow_but(lambda name: name != "subset-tuning"))


def test_all_false_alarms_together() -> None:
    assert len(AUDITS) * ALARM < 1e-6


@every_law
def test_the_power_is_as_stated(name: str) -> None:
    audit = AUDITS[name]
    for bet in audit.placed:
        assert bet.power(audit.searches, 1 / len(audit.placed)) >= POWER, bet.bug


@every_law
def test_less_noise_is_bet_on(name: str) -> None:
    bugs = {bet.bug for bet in AUDITS[name].placed}
    assert TRAINING_NOISE in bugs
    assert (SCORE_NOISE in bugs) == AUDITS[name].case.plan.shows_scores


@every_law
def test_the_laws_are_densities(name: str) -> None:
    """The claimed one, so that nothing is forgotten; a bug's, so that no bet gains by itself."""
    for bet in AUDITS[name].placed:
        for law in (bet.claimed, bet.bugged):
            assert bet.space.mass(law) == pytest.approx(1, abs=1e-5), bet.bug


@pytest.mark.parametrize("name", slow_but(lambda name: name in QUICK))
def test_what_is_released_has_the_law_claimed(name: str) -> None:
    assert not audited(name).alarm


def test_nine_tenths_of_the_training_noise_is_seen() -> None:
    """The others of `carried_out` in the slow tests, and in `tests/mutations`."""
    found = audited("composition", less_training_noise)
    assert found.alarm
    assert found.bug == TRAINING_NOISE
