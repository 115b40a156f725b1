"""What a registry refuses, and what a run refuses of kinds whose methods return something else."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from brier import Brier
from nesterov import Nesterov
from one_at_random import OneAtRandom
from outside import SCHEMA, table

from honestdp import InputError, Spec, affordable, cost_table, make_plan, run
from honestdp.errors import fail
from honestdp.executors import Executor, executors
from honestdp.executors.local import LocalExecutor
from honestdp.ledger import Ledger
from honestdp.metrics import Metric, metrics
from honestdp.models import architectures
from honestdp.optimizers import Optimizer, optimizers
from honestdp.privacy import guarantee
from honestdp.procedures import Procedure, procedures
from honestdp.procedures.random_repeats import RandomRepeats
from honestdp.schema import column_kinds
from honestdp.testing import check_executor, check_metric, check_procedure

GRID = {"rule": "dpsgd", "learning_rate": [0.1, 1.0]}
REGISTRIES = (metrics, procedures, optimizers, architectures, column_kinds, executors)

for registry, name in (
    (metrics, "own-brier"),
    (procedures, "one-at-random"),
    (optimizers, "nesterov"),
):
    registry.unregister(name)  # other tests list what the library has


@pytest.fixture(autouse=True)
def as_before():
    assert all(one.names() for one in REGISTRIES)  # the library's own are loaded
    before = [dict(one._kinds) for one in REGISTRIES]
    yield
    for one, kinds in zip(REGISTRIES, before, strict=True):
        one._kinds = kinds


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    names = {"dataset": "toy", "schema": SCHEMA.fingerprint}
    return Ledger.create(tmp_path / "l", **names, epsilon=40.0, delta=1e-3)


class Named:
    name = "named"


class Unfinished(Procedure):
    name = "unfinished"


def changed(base: type, **changes):
    return type("Changed", (base,), {"name": "changed", **changes})


REFUSED = {
    "a metric's class": (metrics, Brier, "metric=Brier: is a class; register an object"),
    "any object as a metric": (metrics, Named(), "metric=<Named>: is not a metric; make a"),
    "any class as a metric": (metrics, Named, "metric=Named: is not a metric; make a subclass of"),
    "a procedure's object": (procedures, OneAtRandom(2), "is an object; register its class, One"),
    "any class as a procedure": (procedures, Named, "procedure=Named: is not a procedure"),
    "a procedure without methods": (procedures, Unfinished, "does not define bounds, curve, draws"),
    "an optimizer's object": (optimizers, Nesterov(), "is an object; register its class"),
    "any class as an optimizer": (optimizers, Named, "optimizer=Named: is not an optimizer; make"),
    "an optimizer without formulas": (
        optimizers, changed(Optimizer, summary="a", coefficients=Nesterov.coefficients),
        "optimizer=Changed: formulas=None: must be a tuple of functions",
    ),
    "one formula, no tuple": (
        optimizers, changed(Nesterov, formulas=Nesterov.formulas[0]),
        "formulas=<function>: must be a tuple of functions",
    ),
    "an executor's object": (executors, LocalExecutor(), "is an object; register its class, Local"),
    "any class as an executor": (executors, Named, "executor=Named: is not an executor"),
    "any class as a model": (architectures, Named, "model=Named: is not a model"),
    "any class as a column": (column_kinds, Named, "column kind=Named: is not a column kind"),
    "no bound": (metrics, changed(Brier, bound=None)(), "bound=None: must be a finite number"),
    "a bound of infinity": (metrics, changed(Brier, bound=float("inf"))(), "bound=inf: must be"),
    "no classes": (metrics, changed(Brier, of_classes=None)(), "of_classes=None: must be True or"),
    "no direction": (metrics, changed(Brier, larger_is_better=1)(), "larger_is_better=1: must be"),
    "nothing to call it": (metrics, changed(Brier, summed=None)(), "summed=None: must be a text"),
    "no name": (optimizers, changed(Nesterov, name=None), "name=None: an optimizer needs a name"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_not_of_the_contract_is_refused_in_one_line(what) -> None:
    registry, kind, words = REFUSED[what]
    before = dict(registry._kinds)
    with pytest.raises(InputError) as caught:
        registry.register(kind)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert {**registry._kinds, **before} == registry._kinds
    assert kind not in registry._kinds.values()


def test_a_metric_without_the_attributes_at_all_is_refused() -> None:
    values = Brier.values
    with pytest.raises(InputError, match="bound=None"):
        metrics.register(type("Bare", (Metric,), {"name": "bare", "values": values})())


def test_a_cell_of_a_notebook_may_register_twice() -> None:
    def cell():
        class Mine(Brier):
            name = "mine"

        return metrics.register(Mine())

    cell()
    again = cell()
    assert metrics.get("mine") is again
    with pytest.raises(InputError, match="name='mine': is the name of another metric"):
        metrics.register(changed(Brier, name="mine")())


# Procedures whose methods return something else


def procedure(**changes) -> type[Procedure]:
    kind = type("Broken", (RandomRepeats,), {"name": "broken", "__annotations__": {}, **changes})
    return procedures.register(dataclass(frozen=True)(kind))


def plan(**more):
    given = {"grid": GRID, "procedure": "broken", "schema": SCHEMA, "rows": 300, **more}
    return make_plan(Spec(epsilon=8.0, steps=20, lot_size=50, **given))


def wrong_bound(self, bound, run, final, delta):
    return guarantee.epsilon(run, delta, bound)


PLANNED = {
    "make returns nothing": (
        {"make": classmethod(lambda cls, k, options: None)}, "make returned a NoneType; return"),
    "make lacks an option": (
        {"make": classmethod(lambda cls, k, options: options["eta"])}, "make fails (KeyError"),
    "price returns nothing": (
        {"price": lambda *given: None}, "price returned a NoneType; return epsilon, a float"),
    "price returns a text": ({"price": lambda *given: "1"}, "price returned a str; return epsilon"),
    "a price below nothing": ({"price": lambda *given: -1.0}, "price returned a number below 0"),
    "curve returns nothing": (
        {"curve": lambda *given: None}, "curve returned a NoneType; return an RdpCurve"),
    "bounds are a text": ({"bounds": ("pld")}, "bounds='pld': bounds of broken must be a tuple"),
    "no bounds": ({"bounds": ()}, "bounds=<tuple>: bounds of broken must be a tuple of names"),
    "a bound without a text": ({"bounds": ("mine",)}, "bound='mine': is not one of pld, rdp"),
    "a bound that price does not know": (
        {"bounds": ("mine",), "theorem": lambda self, bound: "mine", "price": wrong_bound},
        "accountant='mine': choose"),
}  # fmt: skip


@pytest.mark.parametrize("what", PLANNED)
def test_a_procedure_that_cannot_be_planned_with_is_one_line(what) -> None:
    changes, words = PLANNED[what]
    kind = procedure(**changes)
    with pytest.raises(InputError) as caught:
        plan()
    assert words in str(caught.value)
    assert "no noise reaches it" not in str(caught.value)
    assert "\n" not in str(caught.value)
    with pytest.raises((AssertionError, InputError)):
        check_procedure(kind, candidates=(2,))


def test_the_budget_is_blamed_where_it_is_the_reason() -> None:
    procedure()
    with pytest.raises(InputError, match="no noise reaches it"):
        make_plan(
            Spec(schema=SCHEMA, rows=300, epsilon=1e-9, grid=GRID, procedure="broken", delta=1e-300)
        )


def test_renyi_bounds_alone_will_do() -> None:
    procedures.register(OneAtRandom)
    kind = dataclass(frozen=True)(
        type("Renyi", (OneAtRandom,), {"name": "renyi", "bounds": ("rdp",), "__annotations__": {}})
    )
    procedures.register(kind)
    assert plan(procedure="renyi").bound == "rdp"


def twice(self, settings, coin):
    drawn = RandomRepeats.draws(self, settings, coin)
    return [*drawn, *drawn]


RUN = {
    "draws nothing": ({"draws": lambda *given: None}, "draws must return a list of Draw"),
    "draws numbers": ({"draws": lambda *given: [0, 1]}, "draws must return a list of Draw"),
    "draws twice": ({"draws": twice}, "each with a number of its own"),
    "draws what is not there": (
        {"draws": lambda self, n, coin: [replace(RandomRepeats(9, self.runs).draws(1, coin)[0],
                                                 setting=n)]},
        "a setting of the grid"),
    "keeps nothing": ({"keep": lambda *given: None}, "keep must return a list of some"),
    "keeps a generator": ({"keep": lambda s, kept, new, f: iter(new)}, "keep must return a list"),
    "keeps what it made": (
        {"keep": lambda s, kept, new, f: [replace(new[0])] if new else []}, "keep must return a"),
    "keeps all": ({"keep": lambda s, kept, new, f: [*kept, *new]}, "more outcomes than may be"),
    "draws fails": ({"draws": lambda self, n, coin: n.x}, "draws or keep fails on made-up"),
    "keep fails": ({"keep": lambda s, kept, new, f: new[0].parameters.sum()}, "keep fails on"),
}  # fmt: skip


@pytest.mark.parametrize("what", RUN)
def test_a_procedure_that_draws_or_keeps_wrongly_is_refused_before_the_charge(what, ledger) -> None:
    changes, words = RUN[what]
    kind = procedure(**changes)
    made = plan(mean_runs=40.0)
    with pytest.raises(InputError, match="procedure='broken': ") as caught:
        run(made, table(), ledger)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not ledger.history()
    with pytest.raises((AssertionError, AttributeError)):  # or what its own code raises
        check_procedure(kind, {"mean_runs": 3.0}, (3,))


def test_more_than_the_winner_is_never_released(monkeypatch) -> None:
    """Where made-up outcomes tell nothing, it is refused before the release."""

    def keep(self, kept, new, as_score):
        known = any(outcome.parameters is None for outcome in new)
        return RandomRepeats.keep(self, kept, new, as_score) if known else [*kept, *new]

    procedure(keep=keep)
    with pytest.raises(InputError, match="more outcomes than may be released"):
        run(plan(mean_runs=40.0), table(), seed=1)


# Tables of costs beside a procedure of one's own


FACTS = {"n": 1000, "lot_size": 50, "steps": 20, "noise_multiplier": 4.0}


def own(name: str, make, **more) -> type[Procedure]:
    kind = type("Own", (OneAtRandom,), {"__annotations__": {}, "name": name, "selects": True,
                                        "make": classmethod(make), **more})  # fmt: skip
    return procedures.register(dataclass(frozen=True)(kind))


def test_a_procedure_that_takes_its_own_options_alone_is_in_the_tables() -> None:
    own("plain", lambda cls, candidates, options: cls(candidates, **options))
    assert affordable(**FACTS, epsilon=1.0, delta=1e-5)["plain"] > 0
    assert any(row.procedure == "plain" for row in cost_table(**FACTS, candidates=4).rows)


@pytest.mark.parametrize("error", [KeyError, InputError])
def test_a_procedure_that_needs_an_option_is_left_out_with_a_note(error) -> None:
    def make(cls, candidates, options):
        if "eta" not in options:
            raise KeyError("eta") if error is KeyError else fail("eta", None, "give it")
        return cls(candidates)

    before = cost_table(**FACTS, candidates=4)
    own("needy", make, options={"eta": lambda name, value: value})
    with pytest.warns(UserWarning, match="^needy is left out: .*eta"):
        found = affordable(**FACTS, epsilon=1.0, delta=1e-5)
    assert "needy" not in found
    assert found["composition"] > 0
    made = cost_table(**FACTS, candidates=4)
    assert made.rows == before.rows
    [note] = [note for note in made.notes if note not in before.notes]
    assert note.startswith("needy is left out: ")
    assert "eta" in note


# Executors


class Nothing(Executor):
    name = "nothing"

    def train(self, work, begun=None):
        return None


class TooFew(Executor):
    name = "too-few"

    def train(self, work, begun=None):
        found = LocalExecutor(workers=1).train(work, begun)
        return replace(found, states=found.states[1:])


class Placed(LocalExecutor):
    name = "placed"

    def __init__(self, place) -> None:
        super().__init__(1)


@pytest.mark.parametrize(
    ("kind", "words"),
    [(Nothing, "train returned a NoneType; return a Trained"), (TooFew, "one state per candidate")],
)
def test_an_executor_that_returns_something_else_is_told(kind, words) -> None:
    made = plan(procedure="composition")
    with pytest.raises(InputError, match=f"executor='{kind.name}': train .*") as caught:
        run(made, table(), seed=1, executor=kind())
    assert words in str(caught.value)
    with pytest.raises(AssertionError, match="train: returned"):
        check_executor(kind())


def test_workers_are_for_an_executor_that_takes_them(ledger) -> None:
    made = plan(procedure="composition")
    for kind in (Nothing, Placed):
        executors.register(kind)
    for executor, words in {
        "nothing": "workers=2: nothing has no such option; leave it out",
        "placed": "workers=2: placed has no such option",
        Nothing(): "workers=2: the Nothing that is given as executor decides it itself",
    }.items():
        with pytest.raises(InputError, match=words):
            run(made, table(), ledger, executor=executor, workers=2)
    with pytest.raises(
        InputError, match=r"executor='placed': needs arguments; give an executor, P"
    ):
        run(made, table(), ledger, executor="placed")
    assert not ledger.history()
    assert run(made, table(), seed=1, executor="local", workers=1).winner


# Rules


def a_number(g, p, rate):
    return p - rate * g


def test_a_formula_that_returns_a_number_is_refused_before_the_charge(ledger) -> None:
    def coefficients(self, knobs, state, t):
        return (knobs.learning_rate,)

    optimizers.register(
        changed(Optimizer, summary="a", formulas=(a_number,), coefficients=coefficients)
    )
    made = plan(procedure="composition", grid={**GRID, "rule": "changed"})
    with pytest.raises(InputError, match="optimizer='changed': its formula returned a Tensor; ret"):
        run(made, table(), ledger)
    assert not ledger.history()


# The suites say it too


def test_the_suites_refuse_what_is_not_of_the_contract() -> None:
    for check, given in ((check_metric, Brier), (check_procedure, OneAtRandom(2)),
                         (check_executor, LocalExecutor)):  # fmt: skip
        with pytest.raises(AssertionError, match="give a"):
            check(given)
