"""Ways to run honestdp on a table: every entrance, procedure, model and kind of schema."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import pytest
import torch
from neighbour_records import NAMES, ROWS, plain, schema, table
from neighbour_tables import apart, made
from torch import nn
from witness import Seen, Witness, form, text

from honestdp import HonestSearch, Ledger, MisfitError, make_plan
from honestdp.planning.plan import Plan
from honestdp.planning.spec import Spec
from honestdp.runner.private_data import split
from honestdp.runner.run import run
from honestdp.schema import Numeric, Schema, Target

GRID = {"rule": "dpsgd", "learning_rate": [0.1, 0.5]}
BUDGET = {"epsilon": 3.0, "delta": 1e-4}
SMALL = {"steps": 6, "lot_size": 8, **BUDGET}
# One of each; and whether files are as long whatever the noise was.
PROCEDURES: dict[str, tuple[dict[str, Any], bool]] = {
    "untuned": ({}, True),
    "composition": ({"grid": GRID}, False),
    "pick": ({"grid": GRID, "procedure": "composition", "scores": False}, True),
    "random-stopping": ({"grid": GRID, "mean_runs": 3.0}, True),
    "liu-talwar": ({"grid": GRID, "procedure": "random-stopping", "bound": "liu-talwar"}, True),
    "threshold": ({"grid": GRID, "threshold": 1e-9, "mean_runs": 3.0}, True),
    "nothing found": ({"grid": GRID, "procedure": "threshold", "threshold": 0.99, "cap": 2}, True),
    "random-repeats": ({"grid": GRID, "mean_runs": 3.0}, True),
    "logarithmic": (
        {"grid": GRID, "procedure": "random-repeats", "shape": 0.0, "mean_runs": 3.0}, True),
    "poisson": (
        {"grid": GRID, "procedure": "random-repeats", "shape": "poisson", "mean_runs": 3.0}, True),
    "subset-tuning": ({"grid": GRID, "subset": 0.5, "mean_runs": 3.0}, True),
}  # fmt: skip


class Net(nn.Module):
    """A module that a person might write; `logarithm`: one that is not finite on some rows."""

    calls = 0  # made with rows: how often it was asked

    def __init__(self, width: int, outputs: int = 1, logarithm: bool = False) -> None:
        super().__init__()
        self.layer, self.logarithm = nn.Linear(width, outputs), logarithm

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        Net.calls += 1
        return self.layer(torch.log(x) if self.logarithm else x)


def counts() -> Schema:
    """Of numbers alone, from zero: for sparse matrices and tensors."""
    columns = tuple(Numeric(name=name, bounds=(0.0, 100.0), missing=0.0) for name in NAMES[:-1])
    target = Target(column="goal", classes=("0", "1"))
    return Schema(name="neighbours", row_norm=1.0, columns=columns, target=target)


@dataclass(frozen=True)
class Way:
    """One way to run, and the records to try.

    goal: what is predicted. kind: of table. facts: of the plan. lengths: whether the files of the
    release are as long whatever the noise was. ends: the type of the exception that it ends with.
    """

    name: str
    entrance: Callable[[Way, Any, Path], Any]
    records: Sequence[str]
    goal: str = "words"
    kind: str = "lists"
    schema: Schema = field(default_factory=schema)
    facts: dict[str, Any] = field(default_factory=dict)
    paid: bool = True
    lengths: bool = True
    slow: bool = False
    ends: str | None = None

    def seen(self, record: str, place: int, witness: Witness) -> Seen:
        """What is seen from outside of a run with this record in that place."""
        shutil.rmtree(witness.place, ignore_errors=True)
        witness.place.mkdir()
        columns = table(record, place, self.goal)
        given = made(self.kind, columns, place, witness.place)
        Net.calls = 0
        seen = witness.watch(
            lambda: self.entrance(self, given, witness.place), lengths=self.lengths
        )
        return {**seen, "calls of a module": Net.calls}

    @cached_property
    def plan(self) -> Plan:
        return make_plan(Spec(**{"schema": self.schema, "rows": ROWS, **SMALL, **self.facts}))

    @property
    def ledger(self) -> dict[str, Any]:
        epsilon = max(10.0, self.facts.get("epsilon", 0.0))
        return {"schema": self.schema, "epsilon": epsilon, "delta": 1e-3}

    def public_rows(self) -> dict[str, list[Any]]:
        rows = [plain(i, self.goal) for i in range(3)]
        return {name: [row[name] for row in rows] for name in NAMES[:-1]}


@lru_cache
def places() -> tuple[int, int]:
    """A row to train on and one to score on, where they are different rows."""
    grid, name = GRID, "composition"
    spec = Spec(schema=schema(), rows=ROWS, grid=grid, procedure=name, **SMALL)
    training, validation, *_ = split(make_plan(spec))
    return int(training[3]), int(validation[2])


# Entrances


def by_run(way: Way, given: Any, place: Path) -> Any:
    """`honestdp.run`, in a folder where it is paid for."""
    plan = way.plan
    told: list[Any] = []
    if way.paid:
        ledger = Ledger.create(place / "l.ledger", **way.ledger)
        how: dict[str, Any] = {"ledger": ledger, "folder": place / "run"}
    else:
        how = {"seed": 1}
    release = run(plan, given, progress=told.append, workers=1, **how)
    history = ledger.history() if way.paid else ()
    return [
        form(release), text(repr(release)), text(str(release.card)),
        text(release.card.prose()), str(plan), form(list(history)), told,
        [len(held) for held in release.files.values()] if way.lengths else None,
        None if release.winner is None else form(release.predict(way.public_rows())),
    ]  # fmt: skip


def by_search(way: Way, given: Any, place: Path, together: bool = True) -> Any:
    """`HonestSearch.fit`, the target a column of X (`together`) or apart."""
    facts = {**SMALL, **way.facts}
    model, grid, loss = (facts.pop(name, None) for name in ("model", "grid", "loss"))
    names = {"procedure", "steps", "lot_size", "epsilon", "delta", "class_dtype"}
    own = {name: facts.pop(name) for name in list(facts) if name in names}
    how: dict[str, Any] = {"random_state": 1}
    if way.paid:
        how = {"ledger": Ledger.create(place / "l.ledger", **way.ledger)}
    search = HonestSearch(
        model or "logistic", grid, schema=way.schema, loss=loss, options=facts, **own, **how
    )
    X, y = (given, None) if together else apart(given, "goal")
    search.fit(X, y)
    rows = way.public_rows()
    found = [
        form(vars(search)), text(repr(search)), text(search._repr_html_()),
        text(search.card_.prose()), str(search.plan_), form(getattr(search, "classes_", None)),
    ]  # fmt: skip
    if search.release_.winner is not None:
        search.save(place / "saved")
        predict = search.release_.predict(rows)
        found += [form(predict), form(HonestSearch.load(place / "saved", model))]
    return found


def by_search_apart(way: Way, given: Any, place: Path) -> Any:
    return by_search(way, given, place, together=False)


def by_command(way: Way, given: Any, place: Path) -> Any:
    """`honestdp tune`, on a file."""
    from honestdp.cli import main

    way.schema.save(place / "s.toml")
    words = ["tune", given.name, "--schema", "s.toml", "--out", "run"]
    words += ["--yes"] if way.paid else ["--seed", "1"]
    for name, value in {**SMALL, **way.facts}.items():
        words += [f"--{name.replace('_', '-')}", *([] if value is None else [str(value)])]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.setattr(sys, "argv", ["honestdp", *words])
        main()


def stopped_and_resumed(way: Way, given: Any, place: Path) -> Any:
    """A run that someone stops while it searches, and that then goes on."""

    def stop(told: Any) -> None:
        if told.stage == "searching":
            raise KeyboardInterrupt

    plan = way.plan
    ledger = Ledger.create(place / "l.ledger", **way.ledger)
    said = ""
    try:
        run(plan, given, ledger, folder=place / "run", progress=stop, workers=1)
    except KeyboardInterrupt as stopped:
        said = str(stopped)
    left = sorted((p.name, p.stat().st_size, p.stat().st_mode) for p in place.rglob("*"))
    release = run(plan, given, ledger, folder=place / "run", workers=1)
    return [said, left, form(release)]


def stopped_by_its_check(way: Way, given: Any, place: Path) -> Any:
    """A run whose table does not fit, then trained on regardless."""
    ledger = Ledger.create(place / "l.ledger", **way.ledger)
    how: dict[str, Any] = {"folder": place / "run", "workers": 1}
    try:
        run(way.plan, given, ledger, **how)
    except MisfitError as stopped:
        said = str(stopped), sorted(stopped.facts), stopped.facts["reasons"]
    left = sorted((p.name, p.stat().st_size, p.stat().st_mode) for p in place.rglob("*"))
    release = run(way.plan, given, ledger, **how, check=False)
    return [said, left, form(release), form(list(ledger.history()))]


def refused(way: Way, given: Any, place: Path) -> Any:
    """A run that the ledger cannot pay for."""
    plan = way.plan
    ledger = Ledger.create(place / "l.ledger", **{**way.ledger, "epsilon": 0.1})
    return run(plan, given, ledger, folder=place / "run")


def broken(way: Way, given: Any, place: Path) -> Any:
    """A run that fails once it is paid for."""
    with pytest.MonkeyPatch.context() as patch:

        def breaks(*given: Any, **named: Any) -> Any:
            raise ValueError("cannot do it")

        patch.setattr("honestdp.runner.training.Trainer.train", breaks)
        return by_run(way, given, place)


def of_a_row_too_many(way: Way, given: Any, place: Path) -> Any:
    """A table whose shape is not the plan's."""
    return by_run(replace(way, facts={"rows": ROWS + 1}), given, place)
