"""The whole search, attacked through `run`: no more is lost than is claimed, and bugs are seen.

A bound is at 99.9 %: a sound search that were as bad as it may be would fail one audit in a
thousand. Seeds are fixed, so an audit says the same every time.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtri
from searches import PLACES, PROCEDURES, audited, neighbours, neighbours_in_order

from honestdp import select
from honestdp.planning.plan import Plan

# Seeded bugs, put into the running package by monkeypatching: the audit itself stays the same


def half_the_training_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = Plan.candidates.fget

    def halved(plan: Plan) -> list[Any]:
        return [replace(c, noise_multiplier=c.noise_multiplier / 2) for c in sound(plan)]

    monkeypatch.setattr(Plan, "candidates", property(halved))


def half_the_score_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(select, "ndtri", lambda uniforms: ndtri(uniforms) / 2)


def no_score_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(select, "ndtri", np.zeros_like)


# Where a record shows it, and how many searches are enough for that.
BUGS = [
    (half_the_training_noise, "train", 4000),
    (half_the_score_noise, "validation", 4000),
    (no_score_noise, "validation", 1000),
]


def bug_name(value: Any) -> str | None:
    return getattr(value, "__name__", None)


# A few searches


@pytest.mark.parametrize(
    ("procedure", "place"),
    [
        ("composition", "train"),
        pytest.param("random-stopping", "validation", marks=pytest.mark.slow),
    ],
)
def test_a_few_searches_lose_no_more_than_they_claim(procedure: str, place: str) -> None:
    found = neighbours(procedure, place)
    assert 0.1 < audited(found, 1000).epsilon <= found.plan.epsilon


def test_a_few_searches_show_half_the_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    half_the_training_noise(monkeypatch)
    found = neighbours("composition", "train")
    assert audited(found, 500).epsilon > found.plan.epsilon


def test_a_few_searches_show_scores_without_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    no_score_noise(monkeypatch)
    found = neighbours("random-stopping", "validation")
    assert audited(found, 200).epsilon > found.plan.epsilon


# The whole audit


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("procedure", PROCEDURES)
def test_no_search_loses_more_than_it_claims(procedure: str, place: str) -> None:
    found = neighbours(procedure, place)
    bound = audited(found, 20_000)
    # Not blind either: the bounds for K random runs are above the worst there is, not by much.
    assert found.plan.epsilon / 2 < bound.epsilon <= found.plan.epsilon


@pytest.mark.slow
def test_a_search_that_may_end_with_nothing_loses_no_more_than_it_claims() -> None:
    found = neighbours("random-repeats", "validation", shape="poisson", mean_runs=1.5)
    assert 0.3 < audited(found, 5000).epsilon <= found.plan.epsilon


@pytest.mark.slow
@pytest.mark.parametrize(("bug", "place", "searches"), BUGS, ids=bug_name)
@pytest.mark.parametrize("procedure", PROCEDURES)
def test_the_bug_is_seen(
    procedure: str, bug: Any, place: str, searches: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    bug(monkeypatch)
    found = neighbours(procedure, place)
    assert audited(found, searches).epsilon > found.plan.epsilon


# The order of candidates whose scores may not leave


def in_the_order_of_their_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    """All candidates ranked, as if their scores were shown: a pick for each, where one is paid."""

    def ranked(plan: Any, kept: Any, draws: Any, parameters: Any, scores: Any, _: Any) -> Any:
        found = zip(draws, parameters, scores.tolist(), scores, strict=True)
        new = [select.Outcome(*outcome) for outcome in found]
        return sorted([*kept, *new], key=lambda outcome: -outcome.score)

    monkeypatch.setattr(sys.modules["honestdp.run"], "keep", ranked)


@pytest.mark.slow
def test_the_order_of_candidates_tells_no_more_than_was_paid_for() -> None:
    found = neighbours_in_order(settings=32)
    assert audited(found, 600).epsilon <= found.plan.epsilon


@pytest.mark.slow
def test_an_order_that_tells_more_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    in_the_order_of_their_scores(monkeypatch)
    found = neighbours_in_order(settings=32)
    assert audited(found, 600).epsilon > found.plan.epsilon
