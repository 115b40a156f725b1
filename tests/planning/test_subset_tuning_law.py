"""The law of K of `subset-tuning`: by default that of `random-subset`, which costs the least."""

from __future__ import annotations

import pytest

from honestdp import InputError
from honestdp.planning.costs import variants
from honestdp.privacy import guarantee, selection
from honestdp.privacy.events import training
from honestdp.privacy.random_subset import random_subset_rdp
from honestdp.privacy.runs import Tabulated
from honestdp.privacy.subset_law import subset_law
from honestdp.procedures import Request
from honestdp.procedures.subset_tuning import SubsetTuning
from honestdp.randomness import Purpose, Randomness

RUN, DELTA = training(250 / 36177, 4.0, 2500), 1e-6


def asked(candidates: int = 4, **options) -> SubsetTuning:
    found = Request("subset-tuning", options).among(candidates)
    assert isinstance(found, SubsetTuning)
    return found


def test_the_usual_search_repeats_no_candidate() -> None:
    one = asked(5)
    assert one == asked(5, shape="distinct", hit_probability=0.9)
    assert (one.runs, one.max_runs) == (subset_law(5, 0.9), 6)
    assert one.hit_probability == pytest.approx(0.9, abs=1e-5)
    tried = [0] * 5
    for seed in range(600):
        coins = Randomness.simulation(seed)
        draws = one.draws(5, lambda i, coins=coins: coins.uniform(Purpose.COINS, i, 0))
        settings = [draw.setting for draw in draws]
        assert len(set(settings)) == len(settings)
        for setting in settings:
            tried[setting] += 1
    assert all(abs(times / 600 - 0.9) <= 0.062 for times in tried)  # five standard errors


@pytest.mark.parametrize("options", [{"shape": 1.0}, {"mean_runs": 3.0}, {"cap": 3}], ids=str)
def test_other_laws_are_as_they_were(options) -> None:
    one = asked(4, **options)
    assert one.replacement
    assert "subset" not in one.bounds
    assert "replacement" not in one.to_dict()  # as in files of before
    assert SubsetTuning.from_dict(one.to_dict()) == one


@pytest.mark.parametrize("k", [2, 4, 10])
def test_it_costs_less_than_repeats_that_hit_as_often(k: int) -> None:
    one, repeats = asked(k), asked(k, shape=1.0, hit_probability=0.9)
    price = one.price("subset", RUN, RUN, DELTA)
    assert price < 0.97 * min(repeats.price(b, RUN, RUN, DELTA) for b in repeats.bounds)
    assert price == one.curve(RUN, RUN, DELTA).epsilon(DELTA)
    assert price > guarantee.epsilon(RUN, DELTA)


def test_the_price_is_the_theorems_on_the_curve_of_a_random_subset() -> None:
    single = guarantee.integer_curve(RUN, DELTA)
    search = random_subset_rdp(single, guarantee.profile(RUN), subset_law(4, 0.9), 4)
    known = selection.subset_tuning(search, single, 0.1).epsilon(DELTA)
    assert asked(4).price("subset", RUN, RUN, DELTA) == known
    assert known / guarantee.epsilon(RUN, DELTA) == pytest.approx(1.10, abs=0.005)


def test_it_is_in_the_table_as_a_shape_of_its_own() -> None:
    def shapes(k: int) -> list[object]:
        return [one.shape for one in variants(k, 0.9) if one.name == "subset-tuning"]

    assert "distinct" in shapes(50)
    assert "distinct" not in shapes(51)


def test_a_law_by_hand_is_checked() -> None:
    """As a file may hold one."""
    for chances, words in (((0.0, 1.0), "single run"), ((0.2, 0.2, 0.6), "there are 2 at most")):
        with pytest.raises(InputError, match=words):
            SubsetTuning(2, Tabulated(chances), 0.1, replacement=False)


def test_more_candidates_than_can_be_priced_are_drawn_with_repeats() -> None:
    assert asked(51).replacement
    assert not asked(50).replacement


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mean_runs": 3.0}, "mean_runs=3.0: not with shape"),
        ({"cap": 3}, "cap=3: not with shape"),
        ({"hit_probability": 0.999999999}, "no room for a single run"),
    ],
    ids=str,
)
def test_what_does_not_go_together_is_one_line(options, words) -> None:
    with pytest.raises(InputError, match=words):
        asked(4, shape="distinct", **options)
    with pytest.raises(InputError, match="shape='distinct'"):
        Request("random-repeats", {"shape": "distinct"}).among(4)
    with pytest.raises(InputError, match="50 can be priced"):
        asked(51, shape="distinct")
