"""One record changes no other: not how it is encoded, not what a model learns from it."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from neighbour_records import KINDS as COLUMNS
from neighbour_records import MISSING_TARGET, NULL, RECORDS, ROWS, of_kinds, schema, table
from neighbour_runs import SMALL
from neighbour_tables import NUMBERS, TABLES, made
from neighbour_ways import SEARCHED, held

from honestdp import make_plan
from honestdp.planning.spec import Spec
from honestdp.runner.run import run
from honestdp.schema.learn import ROWS as LEARNT_OF_ROWS
from honestdp.schema.learn import learn_bounds, with_learnt

PLACE = 5
# polars told to be lenient gives other cells back than it was given: that is not ours to mend.
KINDS = [kind for kind in TABLES if kind not in (*NUMBERS, "polars lenient")]
QUICK = ("lists", "rows", "pandas", "numpy columns", "csv")


@pytest.mark.parametrize(
    ("kind", "norm"),
    [
        ("lists", True),
        *(pytest.param(k, False, marks=[pytest.mark.slow] * (k not in QUICK)) for k in KINDS),
    ],
)
def test_other_rows_are_encoded_alike(kind: str, norm: bool, tmp_path: Path) -> None:
    declared, goal = schema("numbers", norm=norm), "numbers"
    expected = None
    for record in [NULL, *held(kind)]:
        given = made(kind, table(record, PLACE, goal), PLACE, tmp_path)
        encoded = declared.encode(given, sparse=False)
        rows = np.column_stack([encoded.inputs, encoded.targets])
        others = np.delete(rows, PLACE, axis=0)
        expected = others if expected is None else expected
        np.testing.assert_array_equal(others, expected, err_msg=record)
        assert np.isfinite(rows).all(), record


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", COLUMNS)
def test_other_rows_are_encoded_alike_by_every_kind(name: str, sparse: bool) -> None:
    """As a plan encodes them, what is learnt being given: and to finite numbers, without a word."""
    chosen = Spec(schema=of_kinds(name), rows=10_000, epsilon=3.0).encoding
    learnt, _ = learn_bounds(
        chosen, table(NULL, PLACE, "words"), 1.0, lambda s, n: np.zeros(n, int)
    )
    declared = with_learnt(learnt, {LEARNT_OF_ROWS: (0.7,)})
    expected = None
    for record in RECORDS:
        with warnings.catch_warnings(action="error"):
            inputs = declared.encode(table(record, PLACE, "words"), sparse=sparse).inputs
        rows = inputs.toarray() if sparse else inputs
        assert np.isfinite(rows).all(), record
        others = np.delete(rows, PLACE, axis=0)
        expected = others if expected is None else expected
        np.testing.assert_array_equal(others, expected, err_msg=record)


@pytest.mark.parametrize("facts", [{}, SEARCHED], ids=["one training", "a search"])
def test_a_record_without_a_target_counts_for_nothing(facts) -> None:
    """The model is the same to its last bit, whatever the record's other cells are."""
    plan = make_plan(Spec(**{"schema": schema(), "rows": ROWS, **SMALL, **facts}))
    made = {name: run(plan, table(name, PLACE, "words"), seed=1) for name in MISSING_TARGET}
    for name, release in made.items():
        assert release.files == made[NULL].files, name
    other = run(plan, table("plain", PLACE, "words"), seed=1)
    assert other.files != made[NULL].files  # or nothing would be seen
