"""What an attacker can do against a plan: every role and question counts, nothing is charged."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass, replace

import numpy as np
import pytest

from honestdp import make_plan
from honestdp.errors import InputError
from honestdp.planning.role_costs import RoleCosts, profile_after
from honestdp.privacy import guarantee
from honestdp.privacy.attack import attack_bounds
from honestdp.privacy.events import Composition, Gaussian, Repeated, training
from honestdp.privacy.guess import guess_chance
from honestdp.privacy.profile import PureProfile
from honestdp.procedures.checks import profile_of
from honestdp.procedures.composition import Composition as ComposeAll
from honestdp.procedures.random_repeats import RandomRepeats
from honestdp.procedures.untuned import Untuned
from honestdp.schema import Numeric
from search_tables import PROCEDURES, SCHEMA, asked

DELTA = 1e-4
BEFORE = Composition(Repeated(Gaussian(8.0), 4), Gaussian(6.0))
RUN = training(0.05, 2.0, 40)
ON = np.linspace(0, 3, 31)


@pytest.mark.parametrize("name", PROCEDURES)
def test_it_is_what_the_plan_costs_or_less(name: str) -> None:
    """At the plan's delta the profile says the plan's epsilon, and no bet beats the worst case."""
    plan = make_plan(asked(name))
    found, worst = plan.attack, guess_chance(plan.epsilon, plan.delta)
    assert 0.5 < found.success <= worst * (1 + 1e-9)
    assert found.success < worst - 0.02
    assert plan.profile.delta(plan.epsilon) <= plan.delta * (1 + 1e-6)
    assert found.aside == pytest.approx(plan.delta)
    assert found.mu is not None
    assert found is plan.attack
    assert pickle.loads(pickle.dumps(plan)).attack == copy.copy(plan).attack == found
    assert f"right at most {np.ceil(1000 * found.success) / 10:g} times in 100" in str(plan)


@pytest.mark.parametrize("name", ["untuned", "composition", "pick", "random-repeats", "threshold"])
def test_questions_before_are_in_it(name: str) -> None:
    roles = make_plan(asked(name)).role_costs
    alone, together = roles.profile(DELTA), roles.profile(DELTA, BEFORE)
    assert together.epsilon(DELTA) > 1.01 * alone.epsilon(DELTA)
    one, both = (attack_bounds(profile, DELTA) for profile in (alone, together))
    assert one.success < both.success
    assert all(x < y for (_, x), (_, y) in zip(one.rates, both.rates, strict=True))
    assert one.mu < both.mu


def test_a_plan_has_its_questions_in_it() -> None:
    """Bounds to be learnt: the search alone would be less revealing."""
    columns = tuple(Numeric(name=f"w{i}", bounds="learn", outer=(0.0, 9.0)) for i in range(3))
    plan = make_plan(asked("untuned", schema=SCHEMA.model_copy(update={"columns": columns})))
    assert plan.questions.event is not None
    alone = attack_bounds(plan.role_costs.profile(plan.delta), plan.delta)
    assert plan.attack.success > alone.success * 1.001
    assert plan.attack.mu > alone.mu * 1.01


def test_a_question_and_a_gaussian_are_one_gaussian() -> None:
    runs = (Gaussian(4.0),) * 2
    exact = guarantee.profile(Composition(BEFORE, Gaussian(4.0))).deltas(ON)
    direct = profile_after(Untuned(1), BEFORE, runs, DELTA).deltas(ON)
    other = profile_after(Unlike(1), BEFORE, runs, DELTA).deltas(ON)  # by its price alone
    assert direct == pytest.approx(exact, rel=1e-9, abs=1e-12)
    assert (other >= exact * (1 - 1e-9) - 1e-12).all()
    assert other[0] < 1.1 * exact[0]


@pytest.mark.parametrize("role", ["validation", "test", "calibration"])
def test_the_worst_of_the_roles_counts(role: str) -> None:
    """A score, or the counts of the evaluation, that say more than the training does."""
    noise = {
        "validation": (0.5, None),
        "test": (50.0, 0.5),
        "calibration": (50.0, None, 0.5),
    }[role]
    roles = RoleCosts.of(ComposeAll(3), "pld", RUN, *noise)
    loud = {
        "validation": Repeated(Gaussian(0.5), 3),
        "test": Gaussian(0.5),
        "calibration": Gaussian(0.5),
    }[role]
    found = attack_bounds(roles.profile(DELTA), DELTA)
    assert found.success >= attack_bounds(guarantee.profile(loud), DELTA).success
    quiet = RoleCosts.of(ComposeAll(3), "pld", RUN, 50.0, 50.0)
    assert attack_bounds(quiet.profile(DELTA), DELTA).success < found.success - 0.05


@dataclass(frozen=True)
class Unlike(Untuned):
    """A procedure of someone else, which costs more than the one it is derived from."""

    name = "unlike"

    def price(self, bound, run, final, delta):
        return guarantee.epsilon(Repeated(run, 1), delta, bound)


@dataclass(frozen=True)
class Twice(RandomRepeats):
    name = "twice"

    def price(self, bound, run, final, delta):
        return super().price(bound, Repeated(run, 2), final, delta)

    def curve(self, run, final, delta):
        return super().curve(Repeated(run, 2), final, delta)


def test_what_costs_more_than_it_inherits_is_not_taken_for_that() -> None:
    one = make_plan(asked("random-repeats")).procedure
    twice = Twice(one.candidates, one.runs)
    found = profile_of(twice, RUN, RUN, DELTA).deltas(ON)
    exact = profile_of(one, Repeated(RUN, 2), RUN, DELTA).deltas(ON)
    assert (found >= exact * (1 - 1e-6)).all()
    assert found[0] > 1.2 * profile_of(one, RUN, RUN, DELTA).deltas(ON)[0]


def test_a_profile_that_is_none() -> None:
    @dataclass(frozen=True)
    class Wrong(Untuned):
        name = "wrong"

        def profile(self, run, final, delta):
            return 0.1

        def price(self, bound, run, final, delta):
            return 1.0

        curve, event = Untuned.curve, Untuned.event

    with pytest.raises(InputError, match="profile returned a float"):
        profile_of(Wrong(1), RUN, RUN, DELTA)


def test_the_ledger_is_given_the_profile_and_the_price_stays() -> None:
    plan = make_plan(asked("random-repeats"))
    charged = plan.charged
    assert charged.profile is not None
    assert plan.spending.profile is None
    assert (charged.epsilon, charged.delta) == (plan.epsilon, plan.delta)
    assert "profile" not in plan.public()
    on = charged.profile.epsilons
    assert (charged.profile.deltas(on) >= plan.profile.deltas(on) * (1 - 1e-9)).all()
    assert replace(charged, profile=None).best_profile().delta(0.0) > charged.best_profile().delta(
        0.0
    )
    assert charged.best_profile().delta(50.0) < 1e-9 < PureProfile(50.0).delta(0.0)
