"""Predictions tell of cells that the schema does not expect: counts, and at prediction alone."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from releases import SCHEMA, new_ledger, plan_of, released, table
from scipy.sparse import csr_matrix

from honestdp import PredictionWarning
from honestdp.release import tested as public_rows
from honestdp.release.unexpected import MOST, unexpected
from honestdp.runner.run import run
from honestdp.schema import Numeric, Schema, Target, open_rows
from honestdp.schema.cells import cells

ODD = {"x": [1, 11, "Quokka", None, -3], "c": ["a", "Quokka", "b", "", "A"]}
LINES = [
    "x: 1 of 5 cells is not readable, 2 of 5 cells are outside the bounds",
    "c: 2 of 5 cells are not among the categories",
]


def told(call: Any) -> list[str]:
    """The texts of the warnings of a call."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    assert all(one.category is PredictionWarning for one in found)
    return [str(one.message) for one in found]


def test_one_warning_a_call_with_counts_alone() -> None:
    release, _ = released("untuned")
    assert told(lambda: release.predict(ODD)) == ["; ".join(LINES)]
    assert told(lambda: release.predict_proba(ODD)) == ["; ".join(LINES)]
    assert told(lambda: release.predictor.predict(ODD)) == ["; ".join(LINES)]
    assert told(lambda: release.predict(ODD, warn=False)) == []
    assert told(lambda: release.predict({"x": [1, ""], "c": ["a", None]})) == []


def test_it_names_the_line_of_the_caller() -> None:
    release, _ = released("untuned")
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        release.predict(ODD)
    assert found[0].filename == __file__


def test_nothing_is_said_while_a_run_trains_scores_or_is_tested(tmp_path) -> None:
    rows = table() | {"x": [f"Quokka {i}" for i in range(60)], "c": ["Quokka"] * 60}

    def whole() -> None:
        run(plan_of("composition"), rows, new_ledger(tmp_path / "odd.ledger"))

    assert told(whole) == []
    release, _ = released("untuned")
    assert told(lambda: public_rows.tested(release, rows, cells(rows["y"]))) == []


def test_of_many_columns_only_the_first_are_named() -> None:
    columns = [Numeric(name=f"x{i}", bounds=(0, 1)) for i in range(MOST + 3)]
    target = Target(column="y", classes=("no", "yes"))
    schema = Schema(name="wide", columns=columns, target=target)
    found = unexpected(schema, open_rows(schema, {column.name: [2] for column in columns}))
    assert found[0] == "x0: 1 of 1 cells is outside the bounds"
    assert found[-1] == "and 3 more columns"
    assert len(found) == MOST + 1


def test_a_sparse_matrix() -> None:
    columns = [Numeric(name=name, bounds=(0, 1)) for name in "abc"]
    schema = Schema(name="s", columns=columns, target=SCHEMA.target)
    matrix = csr_matrix([[0, 2.0, 0.5], [0, 3.0, 0], [0, 1.0, 0]])
    found = unexpected(schema, open_rows(schema, matrix))
    assert found == ["b: 2 of 3 cells are outside the bounds"]


@pytest.mark.parametrize("kind", ["mlp", "module"])
def test_networks_warn_too(kind) -> None:
    assert told(lambda: released(kind)[0].predict(ODD)) == ["; ".join(LINES)]
