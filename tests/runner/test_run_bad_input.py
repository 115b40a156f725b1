"""What a run is given and cannot use: a clear line; nothing spent, or what was spent not lost."""

from __future__ import annotations

import gzip
import pickle
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from refusals import PLANTED, never_opened, refused, unspent
from tiny_runs import (
    GRID,
    NAMES,
    ROWS,
    SCHEMA,
    new_ledger,
    one_training,
    search,
    small_spec,
    write_csv,
)
from tiny_runs import table as good_table
from torch import nn

from honestdp.engine.models import Module
from honestdp.ledger import Ledger
from honestdp.planning.plan import Plan
from honestdp.runner.run import run

Columns = dict[str, list[Any]]


def cut(columns: Columns, rows: int) -> Columns:
    return {name: cells[:rows] for name, cells in columns.items()}


def without(columns: Columns, name: str) -> Columns:
    return {other: cells for other, cells in columns.items() if other != name}


def twice(columns: Columns) -> pa.Table:
    return pa.Table.from_arrays(
        [pa.array(columns[name]) for name in ("age", "job", "pay", "age")],
        names=["age", "job", "pay", "age"],
    )


# Tables in memory: names and lengths are looked at before anything is paid.

TABLES: dict[str, tuple[Callable[[Columns], Any], tuple[str, ...]]] = {
    "a row too few": (lambda c: cut(c, ROWS - 1), (f"{ROWS - 1} rows", f"for {ROWS}")),
    "no rows": (lambda c: cut(c, 0), ("0 rows",)),
    "a column missing": (lambda c: without(c, "age"), ("no column 'age'",)),
    "the target missing": (lambda c: without(c, "pay"), ("no column 'pay'",)),
    "two of one name, Arrow": (twice, ("several columns are called 'age'",)),
    "two of one name, pandas": (lambda c: twice(c).to_pandas(), ("two columns have one name",)),
    "two of one name, dict": (lambda c: {**c, " age": c["age"]}, ("several columns", "'age'")),
    "uneven columns": (lambda c: {**c, "age": c["age"][1:]}, ("differ in length", "'age' 59")),
    "a column that is none": (lambda c: {**c, "age": c["age"][0]}, ("'age' is not a list",)),
    "a matrix of other width": (lambda c: np.array([c["age"]] * 5).T, ("5 columns",)),
    "a list of cells": (lambda c: c["age"], ("1 dimensions",)),
    "nothing": (lambda c: None, ("NoneType", "a path to a CSV")),
}


@pytest.mark.parametrize("what", TABLES)
def test_tables_of_another_structure_cost_nothing(plan: Plan, ledger: Ledger, what: str) -> None:
    spoil, words = TABLES[what]
    with unspent(ledger), refused(*words):
        run(plan, spoil(good_table()), ledger)


@pytest.mark.parametrize("length", [ROWS - 1, 0])
def test_targets_of_another_length_cost_nothing(plan: Plan, ledger: Ledger, length: int) -> None:
    columns = good_table()
    with unspent(ledger), refused("target", f"{length} rows"):
        run(plan, without(columns, "pay"), ledger, target=columns["pay"][:length])


def test_no_cell_is_read_before_the_charge(plan: Plan, ledger: Ledger) -> None:
    """Columns that look into the ledger whenever one of their cells is read."""
    reads = []

    class Watched:
        def __init__(self, cells: list[Any]) -> None:
            self.cells = cells

        def __len__(self) -> int:
            return len(self.cells)

        def __iter__(self) -> Iterator[Any]:
            reads.append(len(ledger.history()))
            return iter(self.cells)

    run(plan, {name: Watched(cells) for name, cells in good_table().items()}, ledger)
    assert set(reads) == {1}
    assert len(reads) >= 3


# Files: opening one is opening the data, so what is wrong with it is found after the charge.

FILES: dict[str, tuple[Callable[[Columns], Any], str]] = {
    "a row too few": (lambda c: cut(c, ROWS - 1), f"{ROWS - 1} rows"),
    "no rows": (lambda c: "age,job,pay\n", "has 0 rows"),
    "a column missing": (lambda c: without(c, "age"), "no column 'age'"),
    "the target missing": (lambda c: without(c, "pay"), "no column 'pay'"),
    "two of one name": (lambda c: {**c, " age": c["age"]}, "several columns are called 'age'"),
    "a cell too many": (lambda c: {**c, "pay": [*c["pay"][1:], f"no,{PLANTED[0]}"]}, "4 cells"),
    "a cell too few": (lambda c: f"age,job,pay\n{PLANTED[0]},{PLANTED[-1]}\n", "2 cells"),
    "an open quote": (lambda c: {**c, "job": [f'"{PLANTED[-1]}', *c["job"][1:]]}, "quote"),
    "an empty file": (lambda c: "", "no header"),
    "no table": (lambda c: b"\x00\xff" * 500, "UTF-8"),
    "half a Parquet file": (lambda c: b"PAR1" + PLANTED[0].encode(), "not a valid Parquet file"),
    "a broken archive": (lambda c: gzip.compress(b"age,job" * 9)[:20], "first line"),
}


def test_a_file_that_is_not_there_costs_nothing(plan: Plan, ledger: Ledger, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for table, said in (
        (tmp_path / "absent.csv", "cannot be read"),
        ([tmp_path / "absent.csv"], "cannot be read"),
        (tmp_path / "empty", "folder without files"),
        (tmp_path, "one.ledger: "),  # every file of a folder is part of the table
        (f"sqlite:///{tmp_path}/absent.db?query=SELECT 1", "no such database file"),
    ):
        with unspent(ledger), refused(said):
            run(plan, table, ledger)


@pytest.mark.parametrize("what", FILES)
def test_a_file_of_another_structure_loses_nothing(
    plan: Plan, ledger: Ledger, tmp_path: Path, what: str
) -> None:
    """The charge stands, the line says how to use it, and once mended the file is run on it."""
    spoil, word = FILES[what]
    bad = tmp_path / ("bad.csv.gz" if what == "a broken archive" else "bad.csv")
    content = spoil(good_table())
    if isinstance(content, dict):
        write_csv(bad, content)
    else:
        bad.write_bytes(content if isinstance(content, bytes) else content.encode())
    with refused(word, "The charge stands and nothing was released", "receipt=ledger.charge(1)"):
        run(plan, bad, ledger)
    (charge,) = ledger.history()
    assert not charge.released

    mended = write_csv(tmp_path / "mended.csv")
    release = run(plan, mended, ledger, receipt=charge.receipt)
    assert release.receipt == charge.receipt
    ledger.verify(release.head)
    (charge,) = ledger.history()
    assert charge.released
    with unspent(ledger), never_opened(mended), refused("was released before"):
        run(plan, mended, ledger, receipt=charge.receipt)


def test_other_failures_of_a_table_are_told_by_their_kind(
    plan: Plan, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*given: object) -> None:
        raise RuntimeError(f"{PLANTED[0]}\n{PLANTED[1]}")

    with monkeypatch.context() as patch:
        patch.setattr("honestdp.runner.private_data.split", fails)
        with refused("table: cannot be read (RuntimeError)", "The charge stands"):
            run(plan, good_table(), ledger)
    run(plan, good_table(), ledger, receipt=ledger.history()[0].receipt)
    assert len(ledger.history()) == 1


# Plans and models

GRIDS: dict[str, tuple[Any, str]] = {
    "an empty list": ([], "grid: is empty"),
    "an empty dict": ({}, "grid: is empty"),
    "no value for a key": ({"rule": "dpsgd", "learning_rate": []}, "grid: is empty"),
    "an unknown key": ({"rule": "dpsgd", "lr": [0.1]}, "grid='lr': cannot be tuned; rule, learn"),
    "a key of the plan": ({"noise_multiplier": [0.0]}, "grid='noise_multiplier': cannot be tuned"),
    "an unknown rule": ({"rule": ["sgdp"]}, "rule='sgdp'"),
    "an unknown name": ("dpsgd-41", "no known grid"),
    "no grid": (7, "is a int"),
}


@pytest.mark.parametrize("what", GRIDS)
def test_grids_that_are_none(what: str) -> None:
    grid, words = GRIDS[what]
    with refused(words):
        small_spec(grid=grid)


def test_models_of_another_kind_of_target() -> None:
    with refused("the target has classes", "logistic"):
        small_spec(model="linear")
    with refused("predicts something else", "2 classes"):
        small_spec(model=Module(nn.Linear(SCHEMA.width, 3), classes=3))
    with refused("is a Linear", "Module(net, classes=2)"):
        small_spec(model=nn.Linear(SCHEMA.width, 2))


PLANS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "a model of other width": (
        {"model": Module(nn.Linear(SCHEMA.width + 1, 2), classes=2)},
        ("module: does not train", f"({SCHEMA.width},)"),
    ),
    "options of another model": ({"grid": {"module__width": [3]}}, ("module__width", "logistic")),
    "odd steps for two lots": ({"grid": {"rule": "adadp"}, "steps": 11}, ("steps=11", "adadp")),
}


@pytest.mark.parametrize("what", PLANS)
def test_models_that_cannot_be_trained_cost_nothing(ledger: Ledger, csv: Path, what: str) -> None:
    changes, words = PLANS[what]
    plan = one_training(**changes)
    with unspent(ledger), never_opened(csv), refused(*words):
        run(plan, csv, ledger)


# Budgets


def test_a_plan_over_budget_says_what_is_left_and_what_would_fit(ledger: Ledger, csv: Path) -> None:
    dear, cheap = one_training(epsilon=1.5), one_training(epsilon=0.3)
    asked = ("plan costs epsilon=1.5", "of epsilon=1, delta=1e-06")
    with unspent(ledger), never_opened(csv), refused(*asked, "left are epsilon=1, delta=1e-06"):
        run(dear, csv, ledger)
    run(cheap, csv, ledger)
    with unspent(ledger), never_opened(csv), refused(*asked) as caught:
        run(dear, csv, ledger)
    fits = float(re.search(r"epsilon of about ([0-9.]+) at this delta", str(caught.value))[1])
    with unspent(ledger), refused("left are"):
        run(one_training(epsilon=1.15 * fits), csv, ledger)
    run(one_training(epsilon=0.95 * fits), csv, ledger)  # it keeps its word


@pytest.mark.parametrize("name", ["dataset", "schema", "unit", "neighbours"])
def test_a_ledger_of_another(plan: Plan, csv: Path, tmp_path: Path, name: str) -> None:
    ledger = new_ledger(tmp_path / "other.ledger", 1.0, **{name: "another"})
    with unspent(ledger), never_opened(csv), refused(f"{name}=", f"is for {name}='another'"):
        run(plan, csv, ledger)
    with refused(f"{name}=", f"is for {name}='another'"):
        Ledger.open(ledger.path, schema=plan.spec.schema)


def test_a_ledger_of_another_budget(ledger: Ledger) -> None:
    with unspent(ledger), refused("epsilon=2.0", "is for epsilon=1.0"):
        Ledger.open(ledger.path, **NAMES, epsilon=2.0)
    with unspent(ledger), refused("delta=1e-05", "is for delta=1e-06"):
        Ledger.open(ledger.path, **NAMES, delta=1e-5)


def test_either_a_ledger_or_a_seed(plan: Plan, ledger: Ledger, csv: Path) -> None:
    receipt = ledger.reserve(plan.spending, plan.public())
    with unspent(ledger), never_opened(csv):
        with refused("ledger: none", "a seed to simulate, which protects nobody"):
            run(plan, csv)
        with refused("seed=1", "leave one out"):
            run(plan, csv, ledger, seed=1)
        with refused("receipt: belongs to a ledger"):
            run(plan, csv, seed=1, receipt=receipt)


def test_what_is_no_ledger(plan: Plan, csv: Path) -> None:
    """Such as the targets, which go there in other libraries: named by their type alone."""
    with never_opened(csv):
        for wrong in (good_table()["age"], np.array(good_table()["age"]), str(csv), True):
            with refused(f"ledger: is a {type(wrong).__name__}", "Ledger.open"):
                run(plan, csv, wrong)  # type: ignore[arg-type]


# Receipts


def test_a_receipt_is_released_once(plan: Plan, ledger: Ledger, csv: Path) -> None:
    release = run(plan, csv, ledger)
    assert release.receipt == ledger.history()[0].receipt
    with unspent(ledger), never_opened(csv), refused("receipt=1", "was released before"):
        run(plan, csv, ledger, receipt=release.receipt)
    with unspent(ledger), refused("was released before"):
        ledger.release(release.receipt)


def test_a_receipt_is_for_its_plan_and_its_ledger(
    plan: Plan, ledger: Ledger, csv: Path, tmp_path: Path
) -> None:
    receipt = ledger.reserve(plan.spending, plan.public())
    twin = new_ledger(tmp_path / "twin.ledger", 1.0)
    twin.reserve(plan.spending, plan.public())
    other_plans = [
        one_training(),
        search(steps=12),
        search(split_seed=1),
        search(grid={**GRID, "learning_rate": [0.1, 2.0]}),
    ]
    with unspent(ledger), unspent(twin), never_opened(csv):
        for other in other_plans:
            with refused("receipt=1", "is for another plan"):
                run(other, csv, ledger, receipt=receipt)
        with refused("receipt=1", "holds no such charge"):
            run(plan, csv, twin, receipt=receipt)
        with refused("holds no such charge"):
            run(plan, csv, ledger, receipt=replace(receipt, epsilon=0.1))
        with refused("must be a Receipt"):
            run(plan, csv, ledger, receipt=1)  # type: ignore[arg-type]
    assert run(plan, csv, ledger, receipt=receipt).receipt == receipt


def test_a_copied_receipt_is_still_one(plan: Plan, ledger: Ledger, csv: Path) -> None:
    """A run's folder, copied and resumed in both places."""
    kept = pickle.dumps((ledger, ledger.reserve(plan.spending, plan.public())))
    (here, receipt), (there, copy) = pickle.loads(kept), pickle.loads(kept)
    run(plan, csv, here, receipt=receipt)
    with unspent(ledger), never_opened(csv), refused("was released before"):
        run(plan, csv, there, receipt=copy)


def test_a_copied_ledger_is_found_out_by_the_heads(
    plan: Plan, ledger: Ledger, csv: Path, tmp_path: Path
) -> None:
    """No file knows of its copies; but what was released from one is not on the other's chain."""
    receipt = ledger.reserve(plan.spending, plan.public())
    copy = Ledger.open(shutil.copy(ledger.path, tmp_path / "copy.ledger"), **NAMES)
    first, second = run(plan, csv, ledger, receipt=receipt), run(plan, csv, copy, receipt=receipt)
    ledger.verify(first.head)
    copy.verify(second.head)
    for file, other in ((ledger, second), (copy, first)):
        with refused("it was cut short or replaced"):
            file.verify(other.head)


def test_a_run_repeated_on_an_older_copy_is_found_out(
    plan: Plan, ledger: Ledger, csv: Path
) -> None:
    """The same plan, charged at the same place: two models for one charge, but for the head."""
    before = ledger.path.read_bytes()
    first = run(plan, csv, ledger)
    ledger.path.write_bytes(before)
    again = Ledger.open(ledger.path, **NAMES)
    second = run(plan, csv, again)
    assert first.receipt != second.receipt
    again.verify(second.head)
    with refused("it was cut short or replaced"):
        again.verify(first.head)


# What is known before the charge


@pytest.mark.parametrize("where", ["file", "memory"])
def test_a_first_row_taken_for_names_is_not_shown(
    plan: Plan, ledger: Ledger, tmp_path: Path, where: str
) -> None:
    """A file without a header: the names of its columns are the cells of a row."""
    columns = good_table()
    unnamed = {str(cells[0]): cells for cells in columns.values()}
    with refused("no column"):
        run(plan, write_csv(tmp_path / "x.csv", unnamed) if where == "file" else unnamed, ledger)


def test_a_lazy_frame_is_opened_after_the_charge(
    plan: Plan, ledger: Ledger, tmp_path: Path
) -> None:
    """It is a file that nobody has read yet."""
    columns = {**good_table(), "pay": [PLANTED[0]] * ROWS}
    file = write_csv(tmp_path / "lazy.csv", columns)
    types = {"age": pl.Float64, "job": pl.String, "pay": pl.Int64}
    with refused("The charge stands"):
        run(plan, pl.scan_csv(file, schema=types), ledger)
    assert len(ledger.history()) == 1


def test_targets_that_are_no_column_cost_nothing(plan: Plan, ledger: Ledger, csv: Path) -> None:
    columns = good_table()
    pay = columns.pop("pay")
    for table in (columns, csv):
        for wrong in (iter(pay), np.array([pay]).T, "pay" * 20):
            with unspent(ledger), refused("target"):
                run(plan, table, ledger, target=wrong)


@pytest.mark.parametrize("workers", [0, -1, "two"])
def test_workers_that_are_none_cost_nothing(
    training: Plan, ledger: Ledger, csv: Path, workers: Any
) -> None:
    with unspent(ledger), never_opened(csv), refused("workers="):
        run(training, csv, ledger, workers=workers)


def test_what_is_no_plan(plan: Plan, ledger: Ledger, csv: Path) -> None:
    for wrong in (plan.spec, good_table()):
        with unspent(ledger), never_opened(csv), refused(f"plan: is a {type(wrong).__name__}"):
            run(wrong, csv, ledger)  # type: ignore[arg-type]
