"""Events and laws of K as data: each is made again; a law that no file can hold is refused."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from releases import GRID, ROWS, SCHEMA, new_ledger, table

from honestdp import InputError, Spec, load, make_plan, run, verify
from honestdp.planning.plan import Plan
from honestdp.privacy import events, formats, runs
from honestdp.privacy.run_count import RunCount
from honestdp.procedures.random_repeats import RandomRepeats


@dataclass(frozen=True)
class OneOrMore(RunCount):
    """1, or `most` with this probability."""

    most: int
    chance: float
    maximum = property(lambda self: self.most)
    mean = property(lambda self: 1 - self.chance + self.chance * self.most)

    def pgf_tail(self, u: Any) -> Any:
        x = 1 - np.asarray(u, dtype=float)
        return (1 - self.chance) * x + self.chance * x**self.most

    def log_derivative_tail(self, u: Any) -> Any:
        x = 1 - np.asarray(u, dtype=float)
        return np.log(1 - self.chance + self.chance * self.most * x ** (self.most - 1))

    def probabilities(self, largest: int) -> Any:
        law = {1: 1 - self.chance, self.most: self.chance}
        return np.array([law.get(k, 0.0) for k in range(largest + 1)])


LAW = OneOrMore(3, 0.5)


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "_registered", {})
    formats.register_law("tests.one-or-more")(OneOrMore)


def plan(law: RunCount) -> Plan:
    """What `make_plan` makes for this grid, with another law of K."""
    facts = {"rows": ROWS, "epsilon": 8.0, "delta": 1e-4, "steps": 4, "lot_size": 8}
    spec = Spec(schema=SCHEMA, grid=GRID, procedure="random-repeats", mean_runs=20.0, **facts)
    made = make_plan(spec)
    return Plan(
        spec,
        RandomRepeats(made.procedure.candidates, law),
        "profile",
        made.noise_multiplier,
        made.score_noise,
        "a law of one's own",
    )


ONE = events.PoissonGaussian(0.01, 4.0)


@pytest.mark.parametrize(
    "value",
    [
        events.Gaussian(4.0),
        ONE,
        events.Pure(0.5),
        events.Repeated(ONE, 7),
        events.Composition(ONE, events.Pure(0.5)),
        events.Disjoint(ONE, events.Pure(0.5)),
        events.Selection(ONE, runs.Capped(runs.Poisson(4.0), 9)),
        events.Selection(ONE, runs.Capped(LAW, 2)),
        runs.geometric(0.25),
        runs.Binomial(4, 0.5),
        LAW,
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.usefixtures("named")
def test_what_is_written_is_made_again(value: Any) -> None:
    facts = json.loads(json.dumps(formats.to_dict(value), allow_nan=False))
    assert formats.from_dict(facts) == value


@pytest.mark.usefixtures("named")
def test_a_law_of_ones_own_is_its_name_and_its_fields() -> None:
    assert formats.to_dict(LAW) == {"kind": "tests.one-or-more", "most": 3, "chance": 0.5}


@pytest.mark.usefixtures("named")
def test_a_search_by_it_is_charged_and_released(tmp_path: Path) -> None:
    ledger = new_ledger(tmp_path / "toy.ledger", epsilon=8.0)
    run(plan(LAW), table(), ledger, folder=tmp_path / "run")
    verify(tmp_path / "run", ledger)
    card = load(tmp_path / "run").card
    written = {"kind": "tests.one-or-more", "most": 3, "chance": 0.5}
    assert card.declared_public["procedure"]["runs"] == written
    (charge,) = ledger.history()
    assert RandomRepeats.from_dict(charge.plan["procedure"]) == RandomRepeats(3, LAW)


@pytest.mark.parametrize("law", [LAW, runs.Capped(LAW, 2)], ids=["itself", "capped"])
def test_one_without_a_name_makes_no_plan(law: RunCount) -> None:
    with pytest.raises(InputError, match="law='OneOrMore': no file can hold it; name it by"):
        plan(law)


@pytest.mark.usefixtures("named")
def test_a_field_that_no_file_can_hold_is_refused() -> None:
    odd = OneOrMore(np.array([3]), 0.5)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"one-or-more\.most=<ndarray>: no file can hold it"):
        formats.to_dict(odd)


@pytest.mark.usefixtures("named")
def test_names_are_kept_apart() -> None:
    formats.register_law("tests.one-or-more")(OneOrMore)  # again: the same
    with pytest.raises(InputError, match="is the name of another law"):
        formats.register_law("tests.one-or-more")(runs.Poisson)
    for name in ("poisson", ".x", "x.", 3):
        with pytest.raises(InputError, match="must be a package and a name"):
            formats.register_law(name)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="derives from RunCount"):
        formats.register_law("tests.gaussian")(events.Gaussian)  # type: ignore[type-var]
    loose = type("Loose", (RunCount,), {})
    with pytest.raises(InputError, match="law='Loose': must be a dataclass with frozen=True"):
        formats.register_law("tests.loose")(loose)


def test_a_kind_that_is_not_here_says_so() -> None:
    with pytest.raises(InputError, match=r"'tests\.one-or-more' is not known; import the package"):
        formats.from_dict({"kind": "tests.one-or-more", "most": 3, "chance": 0.5})
