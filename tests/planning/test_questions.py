"""What is asked of rows before the search is paid for: in both roles, under every procedure."""

from __future__ import annotations

import math

import numpy as np
import pytest

from honestdp import make_plan
from honestdp.planning.defaults import NORM_SHARE
from honestdp.planning.encoding import CATEGORY_SHARE, MOST_COUNT_NOISE
from honestdp.planning.questions import (
    AboutCategories,
    AboutColumns,
    AboutNorms,
    Questions,
    gaussian_mu,
    share_of,
)
from honestdp.planning.role_costs import priced_after
from honestdp.privacy import guarantee
from honestdp.privacy.events import Composition, Gaussian, Repeated
from honestdp.procedures.untuned import Untuned
from honestdp.schema import Categorical, Date, Numeric, Ordinal
from search_tables import SCHEMA, asked, spec

DELTA = 1e-4
BEFORE = Composition(Repeated(Gaussian(8.0), 4), Gaussian(6.0))
ONE_OF_EACH = ["untuned", "composition", "pick", "random-repeats", "threshold", "subset-tuning"]


def asking(name: str = "untuned", columns: int = 3, **options):
    """A plan that learns bounds and, as nothing of a row's norm follows from the schema, a scale.

    Its columns are numbers alone: else the schema would say how long rows are.
    """
    learn = {"bounds": "learn", "outer": (0.0, 9.0), "encode": "linear"}
    own = tuple(Numeric(name=f"w{i}", **learn) for i in range(columns))
    return make_plan(
        asked(name, schema=SCHEMA.model_copy(update={"columns": own, "row_scale": None}), **options)
    )


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_questions_are_paid_for_in_either_role(name):
    roles = make_plan(asked(name)).role_costs
    alone, together = roles.epsilon(DELTA), roles.epsilon(DELTA, BEFORE)
    assert set(together) == set(alone) >= {"training"}
    for role, cost in alone.items():
        assert 1.01 * cost < together[role] < cost + guarantee.epsilon(BEFORE, DELTA)


def test_a_question_and_a_gaussian_cost_what_one_gaussian_does():
    found = priced_after(Untuned(1), "pld", BEFORE, (Gaussian(4.0),) * 2, DELTA)
    one = Gaussian(1 / math.sqrt(4 / 8**2 + 1 / 6**2 + 1 / 4**2))
    exact = guarantee.epsilon(one, DELTA)
    assert exact * (1 - 1e-9) <= found <= 1.001 * exact


@pytest.mark.parametrize("name", ["untuned", "random-repeats"])
def test_the_ledger_is_charged_for_the_questions(name):
    """In epsilon and at every order: later plans are composed by the curve."""
    plan = asking(name)
    before = plan.questions.event
    dearer = max(plan.role_costs.epsilon(plan.delta, before).values())
    assert max(plan.role_epsilons.values()) < plan.spending.epsilon <= dearer <= 3.0
    charged = plan.spending.curve
    search = plan.role_costs.curve(plan.delta).at(charged.orders)
    asked_for = guarantee.rdp_curve(before).at(charged.orders)
    assert np.allclose(charged.values, search + asked_for, rtol=1e-12)


@pytest.mark.parametrize("name", ["untuned", "random-repeats"])
def test_the_search_gets_what_is_left_and_all_of_it(name):
    plan = asking(name, learn_share=0.3)
    assert plan.noise_multiplier > 1.05 * make_plan(asked(name)).noise_multiplier
    assert 0.99 * 3.0 < plan.epsilon <= 3.0


def test_both_questions_are_asked_with_their_share_of_the_precision():
    plan = asking(learn_share=0.1)
    whole = gaussian_mu(3.0, plan.delta) ** 2
    learning, norms = plan.questions
    assert learning.columns == ("w0", "w1", "w2")
    assert 3 / learning.noise_multiplier**2 == pytest.approx(0.1 * whole)
    assert 1 / norms.noise_multiplier**2 == pytest.approx(NORM_SHARE * whole)
    precision = 3 / learning.noise_multiplier**2 + 1 / norms.noise_multiplier**2
    assert guarantee.gaussian_noise(plan.questions.event) == pytest.approx(precision**-0.5)


def test_histograms_are_counted():
    assert share_of(0.1, 4, 1.0, DELTA) == pytest.approx(2 * share_of(0.1, 1, 1.0, DELTA))
    assert share_of(0.1, 1, 1.0, DELTA) == pytest.approx(2 * share_of(0.4, 1, 1.0, DELTA))
    four, rows = AboutCategories(8.0, tuple("abcd")), AboutNorms(3.0)
    assert four.event == AboutColumns(8.0, tuple("abcd")).event
    assert guarantee.gaussian_noise(four.event) == pytest.approx(4.0)
    assert guarantee.gaussian_noise(rows.event) == pytest.approx(3.0)
    both = guarantee.gaussian_noise(Questions([four, rows]).event)
    assert both == pytest.approx(1 / math.sqrt(4 / 8**2 + 1 / 3**2))
    assert Questions().event is None


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_a_whole_share_is_the_whole_budget(epsilon):
    """One histogram with all of the precision costs epsilon, no less and no more."""
    event = AboutColumns(share_of(1.0, 1, epsilon, DELTA), ("a",)).event
    assert guarantee.epsilon(event, DELTA) == pytest.approx(epsilon, rel=1e-3)


def test_nothing_is_asked_where_the_schema_says_all():
    plan = make_plan(spec())
    assert plan.questions == Questions()
    assert plan.spending.epsilon == max(plan.role_epsilons.values())


def wards(count: int = 2, **facts) -> tuple[Categorical, ...]:
    names = {"categories": ("a", "b"), **facts}
    return tuple(Categorical(name=f"ward{i}", **names) for i in range(count))


def with_wards(rows: int, epsilon: float = 1.0, *, columns=None, **options):
    own = wards() if columns is None else columns
    schema = SCHEMA.model_copy(update={"columns": (*SCHEMA.columns[:2], *own)})
    return make_plan(spec(schema, rows=rows, epsilon=epsilon, delta=1e-6, **options))


def test_categories_are_counted_where_their_noise_is_small():
    """By public facts alone: rows, budget and the number of such columns."""
    noise = share_of(CATEGORY_SHARE, 2, 1.0, 1e-6)
    enough = math.ceil(noise / MOST_COUNT_NOISE)
    (asked_for,) = with_wards(enough).questions
    assert asked_for == AboutCategories(noise, ("ward0", "ward1"))
    assert with_wards(enough - 1).questions == Questions()
    assert with_wards(enough, 0.9).questions == Questions()
    assert with_wards(enough, columns=wards(3)).questions == Questions()
    assert with_wards(10**5, columns=()).questions == Questions()
    assert with_wards(10**5, columns=wards(rare="keep")).questions == Questions()
    assert len(with_wards(100, columns=wards(rare="learn")).questions) == 1  # as it is declared
    assert with_wards(10**5, columns=wards(rare=("a",))).questions == Questions()


def test_grades_and_years_are_counted_where_the_wards_can_be_too():
    """Else the wards alone: a grade's place is told by a number as well."""
    grade = Ordinal(name="grade", categories=["1", "2", "3"])
    day = Date(name="day", first="2020-01-01", last="2029-12-31")
    enough = math.ceil(share_of(CATEGORY_SHARE, 4, 1.0, 1e-6) / MOST_COUNT_NOISE)
    columns = (*wards(), grade, day)
    (asked_for,) = with_wards(enough, columns=columns).questions
    assert asked_for.columns == ("ward0", "ward1", "grade", "day")
    (asked_for,) = with_wards(enough - 1, columns=columns).questions
    assert asked_for.columns == ("ward0", "ward1")


def test_counting_categories_is_paid_for_and_told():
    plan = with_wards(100_000)
    (asked_for,) = plan.questions
    assert asked_for.share_of_budget(1.0, 1e-6) == pytest.approx(CATEGORY_SHARE, rel=1e-4)
    assert guarantee.gaussian_noise(plan.questions.event) == pytest.approx(
        asked_for.noise_multiplier / math.sqrt(2)
    )
    told = {"columns": ["ward0", "ward1"], "noise_multiplier": asked_for.noise_multiplier}
    assert plan.public()["counted_categories"] == told
    assert plan.learns == {"ward0": 2, "ward1": 2}
    assert "counted with noise: the categories of ward0, ward1" in str(plan)
    kept = with_wards(100_000, columns=wards(rare="keep"))
    assert plan.noise_multiplier > kept.noise_multiplier
    assert plan.epsilon <= 1.0


@pytest.mark.parametrize("epsilon", [1e-12, 1e12])
def test_no_budget_is_too_small_or_too_large_to_be_shared(epsilon):
    assert 0 < gaussian_mu(epsilon, 1e-300) < math.inf
