"""The laws that the linear programmes return, and laws given by their probabilities."""

from __future__ import annotations

import math

import exact
import numpy as np
import pytest
from checks import best_of_ratio, holds, renyi_ratio
from exact import winners
from instances import drawn

from honestdp.errors import InputError
from honestdp.privacy import formats
from honestdp.privacy.runs import Tabulated
from honestdp.privacy.selection import profile_bound, profile_bound_rdp
from honestdp.privacy.subset_law import repeats_law, subset_law


@pytest.mark.parametrize("k", [2, 3, 4, 5, 7, 10, 30, 50])
@pytest.mark.parametrize("hit", [0.2, 0.5, 0.9, 0.99])
def test_the_subset_has_the_wanted_size(k: int, hit: float) -> None:
    law = subset_law(k, hit)
    assert law.maximum <= k
    assert law.chances[0] > 0
    assert math.fsum(law.chances) == pytest.approx(1, abs=1e-15)
    assert law.mean / k >= hit - 1e-15
    assert law.mean / k <= max(hit, 1 / k) + 1e-4


@pytest.mark.parametrize("k", [2, 3, 4])
def test_one_or_all(k: int) -> None:
    law = subset_law(k, 0.9)
    assert [m + 1 for m, chance in enumerate(law.chances) if chance] == [1, k]


def test_one_candidate_is_one_run() -> None:
    assert subset_law(1, 0.9) == repeats_law(1, 0.9) == Tabulated((1.0,))


def test_a_hit_that_one_run_has_needs_no_more() -> None:
    assert subset_law(5, 0.2) == repeats_law(5, 0.1) == Tabulated((1.0,))


@pytest.mark.parametrize("k", [2, 4, 5, 12])
def test_a_hit_without_room_for_a_single_run_is_refused(k: int) -> None:
    assert subset_law(k, 0.9995).mean / k >= 0.9995 - 1e-15
    with pytest.raises(InputError, match=r"hit_probability=0\.999999999"):
        subset_law(k, 0.999999999)


def test_too_many_candidates_are_refused() -> None:
    with pytest.raises(InputError, match=r"candidates=10000: at most 50 .* use random-repeats"):
        subset_law(10_000, 0.9)


def test_with_replacement_there_may_be_ten_thousand() -> None:
    assert repeats_law(10_000, 0.5).hit_probability(10_000) >= 0.5


def test_a_table_is_its_own_definition() -> None:
    law = Tabulated((0.25, 0.0, 0.5, 0.25, 0.0))
    assert law.maximum == 4
    assert law.mean == 0.25 + 1.5 + 1.0
    assert law.probabilities(6).tolist() == [0, 0.25, 0, 0.5, 0.25, 0, 0]
    assert law.probabilities(2).tolist() == [0, 0.25, 0]
    u = np.array([0.0, 0.3, 1.0])
    x = 1 - u
    assert law.pgf_tail(u) == pytest.approx(0.25 * x + 0.5 * x**3 + 0.25 * x**4)
    assert np.exp(law.log_derivative_tail(u)) == pytest.approx(0.25 + 1.5 * x**2 + x**3)
    assert law.probability_of_none() == 0
    assert [float(law.cumulative(k)) for k in range(5)] == [0, 0.25, 0.25, 0.75, 1]
    assert formats.from_dict(formats.to_dict(law)) == law


def test_the_last_of_a_table_is_what_is_left() -> None:
    law = Tabulated((0.1, 0.2, 0.7 + 5e-10))
    assert law.chances[-1] == pytest.approx(0.7, abs=1e-15)
    assert Tabulated(law.chances) == law


@pytest.mark.parametrize(
    "chances", [(), (0.5, 0.4), (1.5, -0.5), (math.nan, 1.0), ("a",), 3, (0.5,) * 3, (True,)]
)
def test_what_is_no_table_is_refused(chances: object) -> None:
    with pytest.raises(InputError, match="chances"):
        Tabulated(chances)  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [60, pytest.param(700, marks=pytest.mark.slow)])
def test_tables_with_replacement_against_the_exact_truth(count: int) -> None:
    for rng, pair in drawn("tables", count):
        p = rng.dirichlet(np.full(rng.integers(2, 9), 0.5))
        p[0] = max(p[0], 10.0 ** rng.uniform(-3, -1))
        law = Tabulated(tuple((p / p.sum()).tolist()))
        profile, curve = exact.profile(pair), exact.curve(pair)
        a, b = winners(pair, law)
        bound = profile_bound(profile, law)
        assert holds(best_of_ratio(a, b, bound, profile.table[0])), (pair, law)
        assert holds(renyi_ratio(a, b, profile_bound_rdp(curve, profile, law))), (pair, law)
