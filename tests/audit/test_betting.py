"""Bets against a claim: false alarms and power are what they are said to be."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from betting import GIVE_UP, Bet, Space, play
from release_laws import gaussian
from scipy.stats import chi2

ALARM = 1e-2  # many false alarms, so that they can be counted


def bet(scale: float = 0.9, draws: int = 100) -> Bet:
    """Against standard normals, `draws` a search."""
    laws = gaussian(1.0), gaussian(scale)
    return Bet(f"x {scale}", lambda rows: rows, *laws, Space.line(-15, 15), draws)


def won(audits: int, searches: int, scale: float) -> float:
    """How often the bet wins, at the level above."""
    rng, own = np.random.default_rng(0), bet()
    rows = scale * rng.normal(size=(audits, searches, 100, 1))
    wins = [np.cumsum([own.log_growth([one]) for one in audit]).max() for audit in rows]
    return float(np.mean(np.array(wins) >= -math.log(ALARM)))


def test_false_alarms_are_no_oftener_than_said() -> None:
    """Looking after every search, which costs nothing."""
    assert won(200, 20, scale=1.0) <= ALARM + 3 * math.sqrt(ALARM / 200)


def test_power_is_a_lower_bound_and_not_far_below() -> None:
    """Of normals the evidence is a sum of squares, so its law is known."""
    for searches in (10, 15, 20, 30):
        draws = 100 * searches
        # The stake is above the level where (1/0.81 - 1)/2 times the squares are small enough.
        most = (-math.log(ALARM * 0.5) + draws * math.log(0.9)) / ((1 - 1 / 0.81) / 2)
        exact = chi2.cdf(most / 0.81, draws)
        found = bet().power(searches, 0.5, ALARM) + GIVE_UP
        assert found <= exact
        assert 1 - found <= 25 * (1 - exact)


def test_power_counts_searches_that_show_nothing() -> None:
    sure, rare = bet(draws=1), bet(draws=1)
    object.__setattr__(rare, "nothing", 0.5)
    assert rare.power(8000, 1.0) == pytest.approx(sure.power(4000, 1.0), abs=0.02)


def test_what_the_claim_rules_out_is_an_alarm_at_once() -> None:
    impossible = Bet("below 0", lambda rows: rows, _positive, gaussian(1.0), Space.line(-9, 9))
    rng = np.random.default_rng(1)

    def search(seed: int) -> Any:
        return np.abs(rng.normal(size=(1, 1))) * (-1 if seed == 7 else 1)

    found = play([bet(), impossible], search, range(100), look_every=10)
    assert found.alarm
    assert (found.bug, found.searches) == ("below 0", 10)


def test_a_bet_that_lost_is_given_up() -> None:
    rng = np.random.default_rng(2)
    found = play([bet(), bet(0.5)], lambda seed: rng.normal(size=(100, 1)), range(1000))
    assert not found.alarm
    assert found.searches < 50


def test_nan_is_an_alarm() -> None:
    assert play([bet()], lambda seed: np.array([[math.nan]]), range(2)).alarm


def _positive(rows: Any) -> Any:
    return np.where(rows[:, 0] >= 0, gaussian(1.0)(rows) + math.log(2), -math.inf)
