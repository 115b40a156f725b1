"""The contract of procedures: the library's keep it, a user's in one file works everywhere."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest
from one_at_random import OneAtRandom
from outside import SCHEMA, table

from honestdp import Card, InputError, Spec, affordable, cost_table, load, make_plan, run
from honestdp.privacy import guarantee
from honestdp.procedures import Draw, Request, procedures
from honestdp.procedures.composition import Composition
from honestdp.procedures.random_repeats import RandomRepeats
from honestdp.procedures.untuned import Untuned
from honestdp.report.page import report_html
from honestdp.testing import check_procedure

OWN = {
    "untuned": {},
    "composition": {},
    "random-stopping": {},
    "random-repeats": {"mean_runs": 2.0},
    "random-subset": {},
    "threshold": {"threshold": 0.5, "mean_runs": 2.0},
    "subset-tuning": {"subset": 0.3, "mean_runs": 2.0},
}
GRID = {"rule": "dpsgd", "learning_rate": [0.1, 1.0]}


procedures.unregister("one-at-random")  # other tests list what the library has


@pytest.fixture(autouse=True)
def registered():
    procedures.register(OneAtRandom)
    yield
    procedures.unregister("one-at-random")


def test_the_librarys_own_are_found() -> None:
    assert set(OWN) <= set(procedures.names())
    assert all(procedures.get(name).summary for name in OWN)


@pytest.mark.parametrize("name", OWN)
def test_every_procedure_keeps_the_contract(name) -> None:
    check_procedure(procedures.get(name), OWN[name])


@pytest.mark.parametrize(
    "options",
    [{"mean_runs": 2.0, "shape": "poisson"}, {"mean_runs": 3.0, "cap": 4}, {"shape": 0.0}],
    ids=str,
)
def test_laws_of_every_shape_keep_it(options) -> None:
    check_procedure(procedures.get("random-repeats"), options, (2, 5))


@pytest.mark.parametrize("options", [{}, {"hit_probability": 0.5, "subset": 0.4}], ids=str)
def test_subset_tuning_without_repeats_keeps_it(options) -> None:
    check_procedure(procedures.get("subset-tuning"), {"shape": "distinct", **options}, (2, 5))


def test_a_pick_keeps_it() -> None:
    check_procedure(Composition, {"scores": False})


def test_one_from_outside_keeps_it_too() -> None:
    check_procedure(OneAtRandom)


def plan(**more):
    given = {"grid": GRID, "procedure": "one-at-random", **more}
    return make_plan(Spec(schema=SCHEMA, rows=300, epsilon=8.0, steps=20, lot_size=50, **given))


def test_one_from_outside_plans_runs_and_is_told_of(tmp_path) -> None:
    made = plan()
    assert made.request == Request("one-at-random")
    release = run(made, table(), seed=1)
    release.save(tmp_path / "run")
    found = load(tmp_path / "run")
    assert found.card.procedure == "one-at-random"
    assert found.candidates == ()  # the winner alone leaves
    assert found.card.declared_public["procedure"] == {"name": "one-at-random", "candidates": 2}
    assert "one-at-random" in report_html(found.card)
    drawn = {run(made, table(), seed=seed).winner.setting["learning_rate"] for seed in range(8)}
    assert drawn == {0.1, 1.0}


def test_it_is_in_the_tables_of_costs() -> None:
    facts = {"n": 1000, "lot_size": 50, "steps": 20, "noise_multiplier": 4.0}
    table = cost_table(**facts, candidates=4)
    assert any(row.procedure == "one-at-random" for row in table.rows)
    assert "one-at-random" not in affordable(**facts, epsilon=1.0, delta=1e-5)  # it selects nothing


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ({"price": lambda *given: 0.01}, "the price is too low"),
        ({"draws": lambda self, settings, coin: [Draw(0, 0), Draw(0, 1 % settings)]}, "share"),
        ({"keep": lambda self, kept, new, as_score: [*kept, *new]}, "at most 1 may be released"),
        ({"keep": lambda self, kept, new, as_score: [*kept, *new[-1:]][:1]}, "same runs in groups"),
        ({"keep": lambda self, kept, new, as_score: sorted(new, key=lambda o: o.parameters.x)},
         "looked at a candidate's parameters"),
        ({"to_dict": lambda self: {"name": self.name, "candidates": 9}}, "from_dict"),
        ({"summary": ""}, "summary"),
        ({"max_runs": 1}, "max_runs"),
    ],
)  # fmt: skip
def test_what_breaks_it_is_told(broken, words) -> None:
    kind = dataclass(frozen=True)(
        type("Broken", (RandomRepeats,), {"__annotations__": {}, **broken})
    )
    with pytest.raises(AssertionError, match=words):
        check_procedure(kind, {"mean_runs": 3.0}, (3,))


def test_composition_for_the_price_of_one_is_told() -> None:
    @dataclass(frozen=True)
    class Cheap(Composition):
        def price(self, bound, run, final, delta):
            return guarantee.epsilon(run, delta, bound)

    with pytest.raises(AssertionError, match="the price is too low"):
        check_procedure(Cheap, candidates=(5,))


def test_every_procedure_is_data_and_back() -> None:
    for name, options in OWN.items():
        made = Request(name, options).among(4)
        facts = json.loads(json.dumps(made.to_dict()))
        assert procedures.get(facts["name"]).from_dict(facts) == made
        assert made != replace(made, candidates=5)


def test_what_is_asked_for_wrongly_is_one_line() -> None:
    with pytest.raises(InputError, match="eta=3: one-at-random has no such option"):
        plan(procedure_options={"eta": 3})
    with pytest.raises(InputError, match="cap=3: untuned has no such option"):
        Request("untuned", {"cap": 3}).among(1)
    with pytest.raises(InputError, match="must be one of composition, "):
        Request("magic").among(1)
    assert Untuned.make(1, {}) == Untuned(1)
    assert np.isfinite(Untuned(1).epsilon("pld", plan().training, 4.0, 1e-5))


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("earlier", [False, True])
def test_a_card_tells_what_a_procedure_that_is_not_installed_released(name, earlier) -> None:
    spec = {"schema": SCHEMA, "rows": 300, "epsilon": 20.0, "steps": 2, "lot_size": 50}
    spec |= {"procedure": name, **OWN[name]} | ({} if name == "untuned" else {"grid": GRID})
    facts = json.loads(run(make_plan(Spec(**spec)), table(), seed=1).card.to_json())
    facts["procedure"] = "gone"
    if earlier:  # it only names its procedure
        del facts["procedure_facts"]
    card = Card.from_json(json.dumps(facts))
    assert card.releases_all == procedures.get(name).releases_all
    assert card.selects == procedures.get(name).selects
