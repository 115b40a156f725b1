"""The exact law of what a search releases costs no more than is claimed, and not much less.

With `test_release_law`, which holds the code to that law, this takes the place of attacks on pairs
of neighbouring tables: no attack on such a pair shows more than their exact divergence.
"""

from __future__ import annotations

from typing import Any

import pytest
from exact_cost import Selection, exact_delta_of_biases, exact_deltas
from exact_searches import Case
from release_laws import best_of, first_to_reach

SEARCHES: dict[str, tuple[str, dict[str, Any]]] = {
    "geometric": ("random-stopping", {}),
    "logarithmic": ("random-repeats", {"shape": 0.0}),
    "poisson": ("random-repeats", {"shape": "poisson"}),
    "threshold": ("threshold", {"threshold": 0.5}),
}
SHOWN = {"untuned": Case("untuned", 1, 2, 0), "composition": Case("composition", 2, 2, 0, 20)}
every_search = pytest.mark.parametrize("name", SEARCHES)


def search(name: str, up: int, down: int, mean_runs: float) -> Case:
    procedure, options = SEARCHES[name]
    return Case(procedure, 2, up, down, 60, options={"mean_runs": mean_runs, **options})


def selection(case: Case) -> Selection:
    law = case.plan.procedure.law
    if case.procedure == "threshold":
        return lambda run: first_to_reach(run, law, case.goal)
    return lambda run: best_of(run, law)


@every_search
@pytest.mark.parametrize("mean_runs", [1.5, 20.0])
def test_the_exact_cost_is_within_what_is_claimed(name: str, mean_runs: float) -> None:
    case = search(name, 4, 8, mean_runs)
    found = exact_deltas(case, selection(case), case.plan.epsilon)
    assert 0 <= max(found.values()) <= case.plan.delta


@every_search
def test_the_claim_is_not_far_above_it(name: str) -> None:
    """Where runs are few and the bounds tight: 0.4 of the epsilon would not do, on either side."""
    case = search(name, 2, 4, 1.5)
    found = exact_deltas(case, selection(case), 0.4 * case.plan.epsilon)
    assert min(found.values()) > case.plan.delta


@pytest.mark.parametrize("case", SHOWN.values(), ids=SHOWN)
def test_so_it_is_where_every_candidate_is_shown(case: Case) -> None:
    """The claim is for every step; the last parameters tell a little less."""
    claimed = case.plan
    assert exact_delta_of_biases(case, claimed.epsilon) <= claimed.delta
    assert exact_delta_of_biases(case, 0.8 * claimed.epsilon) > claimed.delta
