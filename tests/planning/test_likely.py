"""The guess of how good a model will be: a range from curves of public tables."""

from __future__ import annotations

from honestdp import make_plan
from honestdp.planning.likely import guess
from search_tables import spec


def test_more_rows_or_a_larger_epsilon_keep_more() -> None:
    few, some, many = (guess(rows, 1.0) for rows in (1000, 10_000, 100_000))
    assert few is not None
    assert some is not None
    assert many is not None
    assert few.low < some.low < many.low <= many.high <= 1.05
    assert guess(3333, 3.0) == guess(10_000, 0.9999)
    assert few.tables == 6


def test_it_is_stamped_as_a_guess() -> None:
    found = guess(10_000, 1.0)
    assert "a guess, from 6 public tables and not from yours" in str(found)
    assert found is not None
    assert found.to_dict()["stamp"] == "a guess"
    assert "keep at least" in str(guess(10**7, 1.0))


def test_there_is_none_where_there_are_no_curves() -> None:
    assert guess(100, 0.1) is None
    plan = make_plan(spec(epsilon=1.0, rows=400))
    assert "likely: a guess" in str(plan)
    assert plan.likely == guess(400, 1.0)


def test_a_search_guesses_by_what_one_training_spends() -> None:
    alone = make_plan(spec(rows=1000, epsilon=1.0))
    search = make_plan(spec(rows=1000, epsilon=1.0, grid="kappa-4", procedure="composition"))
    assert alone.likely is not None
    assert search.likely is not None
    assert search.likely.low < alone.likely.low
