"""Bugs other than less noise, which the audits of known power see within a few searches.

Noise x 0.9, in trainings and in scores, is seeded into the source for every procedure by
`tests/mutations/audit_mutants.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import carried_out
import pytest
from audits import AUDITS
from test_release_law import audited

pytestmark = pytest.mark.slow

BEST_OF_K = ("random-stopping", "random-repeats", "random-repeats, poisson", "subset-tuning")


@pytest.mark.parametrize("name", [*BEST_OF_K, "threshold"])
def test_a_single_run_is_seen(name: str) -> None:
    assert audited(name, carried_out.a_single_run).alarm


@pytest.mark.parametrize("name", [*BEST_OF_K, "threshold", "composition"])
def test_scores_without_noise_are_seen(name: str) -> None:
    assert audited(name, lambda plan: carried_out.less_score_noise(plan, 1e-3)).alarm


@pytest.mark.parametrize(
    "name", ["composition", "random-stopping", "random-repeats, poisson", "subset-tuning"]
)
def test_one_stream_for_all_candidates_is_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    carried_out.one_stream_for_all(monkeypatch)
    assert audited(name).alarm


@pytest.mark.parametrize("name", AUDITS)
@pytest.mark.parametrize(
    "bug", [carried_out.one_stream_for_every_step, carried_out.rows_more_often_in_lots]
)
def test_wrong_lots_are_seen(
    name: str, bug: Callable[[Any], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    bug(monkeypatch)
    assert audited(name).alarm
