"""`random-subset` as people meet it: options, plan, fallbacks."""

from __future__ import annotations

import pytest

from honestdp import InputError
from honestdp.planning.costs import cost_table, variants
from honestdp.privacy import guarantee
from honestdp.privacy.events import Gaussian, training
from honestdp.procedures import Request
from honestdp.procedures.random_subset import RandomSubset
from honestdp.randomness import Purpose, Randomness

RUN = training(0.01, 2.0, 100)


def asked(candidates: int = 4, **options) -> RandomSubset:
    found = Request("random-subset", options).among(candidates)
    assert isinstance(found, RandomSubset)
    return found


@pytest.mark.parametrize("k", [2, 3, 5, 12])
@pytest.mark.parametrize("hit", [0.5, 0.9])
def test_it_tries_the_best_as_often_as_wanted_and_nobody_twice(k: int, hit: float) -> None:
    one = asked(k, hit_probability=hit)
    assert one.hit_probability == pytest.approx(max(hit, 1 / k), abs=1e-4)
    assert one.max_runs <= k
    assert one.expected_runs == pytest.approx(k * one.hit_probability)
    tried = [0] * k
    for seed in range(600):
        coins = Randomness.simulation(seed)
        draws = one.draws(k, lambda i, coins=coins: coins.uniform(Purpose.COINS, i, 0))
        settings = [draw.setting for draw in draws]
        assert len(set(settings)) == len(settings) <= k
        for setting in settings:
            tried[setting] += 1
    spread = (hit * (1 - hit) / 600) ** 0.5
    assert all(abs(times / 600 - one.hit_probability) <= 5 * spread for times in tried)


def test_a_law_by_hand() -> None:
    one = asked(3, law=[0.25, 0.25, 0.5])
    assert one.hit_probability == 0.75
    assert one.price("subset", RUN, RUN, 1e-5) > guarantee.epsilon(RUN, 1e-5)
    assert RandomSubset.from_dict(one.to_dict()) == one


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"law": [0.0, 1.0]}, "single run must be possible"),
        ({"law": [0.1, 0.1, 0.1, 0.1, 0.6]}, "without replacement there are 4"),
        ({"law": [0.5, 0.4]}, "sum to 1"),
        ({"law": "one or all"}, "list of probabilities"),
        ({"law": 3}, "list of probabilities"),
        ({"law": [1.0], "hit_probability": 0.9}, "one of the two"),
        ({"hit_probability": 1.0}, "strictly between"),
        ({"mean_runs": 3.0}, "has no such option"),
    ],
    ids=str,
)
def test_what_is_wrong_is_one_line(options, words) -> None:
    with pytest.raises(InputError, match=words) as error:
        asked(4, **options)
    assert "\n" not in str(error.value)


def test_one_candidate_costs_one_run() -> None:
    assert asked(1).price("subset", RUN, RUN, 1e-5) == guarantee.epsilon(RUN, 1e-5)


def test_ten_thousand_candidates_are_for_draws_with_replacement() -> None:
    with pytest.raises(InputError, match="use random-repeats"):
        asked(10_000)
    assert "random-subset" not in {one.name for one in variants(10_000, 0.9)}
    assert "random-subset" in {one.name for one in variants(10, 0.9)}


@pytest.mark.parametrize(
    ("k", "hit", "said"),
    [(10_000, None, "no law is priced for 10000"), (4, 0.99999, "no law that hits as often")],
)
def test_a_table_says_that_it_is_left_out(k, hit, said) -> None:
    facts = {"n": 5000, "lot_size": 100, "steps": 200, "noise_multiplier": 4.0}
    table = cost_table(**facts, candidates=k, hit_probability=hit)
    assert "random-subset" not in {row.procedure for row in table.rows}
    assert f"random-subset is left out: {said}" in str(table)


def test_both_sides_are_priced_by_the_same_law() -> None:
    """A score without noise enough costs its own: the law's price of that score, not of a run."""
    one = asked(4)
    scored = one.price("subset", Gaussian(2.0), RUN, 1e-5)
    assert scored == one.price("subset", Gaussian(2.0), Gaussian(2.0), 1e-5)
    assert scored > one.price("subset", RUN, RUN, 1e-5)
    assert one.curve(Gaussian(2.0), RUN, 1e-5).epsilon(1e-5) >= scored * (1 - 1e-3)
