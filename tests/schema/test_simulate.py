"""Made-up rows: within the declaration, by the seed alone, readable as a file, stamped."""

from __future__ import annotations

import builtins
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import honestdp
from honestdp import InputError, Schema, Spec, check, make_plan, run, simulate
from honestdp.schema import (
    Boolean,
    Categorical,
    Column,
    Counts,
    Cross,
    Date,
    Hashed,
    Image,
    Numeric,
    Ordinal,
    Target,
    Text,
)
from honestdp.schema.simulate import MOST_CELLS, STAMP, make_up
from honestdp.testing import columns

COLUMNS = (
    Numeric(name="age", bounds=(0, 110)),
    Numeric(name="dose", bounds=(0.1, 0.2), missing="own"),
    Numeric(name="wage", bounds="learn", outer=(-1e6, 1e6)),
    Categorical(name="ward", categories=["north", "01", "a, b"], other=True),
    Boolean(name="smokes"),
    Ordinal(name="pain", categories=["low", "high"]),
    Date(name="seen", first="2020-01-01", last="2024-12-31"),
    Date(name="born", first="1950-06-01", last="1999-12-31", format="%d.%m.%Y"),
    Counts(name="clicks"),
    Hashed(name="zip", buckets=8),
    Text(name="note", buckets=64),
    Image(name="scan", size=(2, 3), columns="pixel*"),
    Cross(name="both", columns=["age", "ward"]),
)
YES = Target(column="back", classes=["no", "yes"])
COST = Target(column="cost", bounds=(-5, 20))


def schema(target: Target = YES, columns: tuple[Column, ...] = COLUMNS) -> Schema:
    return Schema(name="visits", target=target, columns=columns)


@pytest.mark.parametrize("target", [YES, COST])
@pytest.mark.parametrize("signal", [False, True])
def test_every_cell_is_what_the_schema_expects(target: Target, signal: bool, tmp_path) -> None:
    asked = schema(target)
    made = simulate(asked, 200, signal=signal)
    assert made.column_names == [*asked.input_names, target.column]
    assert made.schema.metadata == {b"honestdp": STAMP.encode()}
    found = check(asked, made, public=True)
    assert found.fits, str(found)
    for column in asked.columns[:-2]:  # an image and a pair read several columns
        counts = column.problems(pa_cells(made, column.name))
        wrong = counts.missing, counts.unreadable, counts.unknown, counts.outside
        assert wrong == (0, 0, 0, 0), column.name
        assert counts.distinct_capped == 2
    pa.csv.write_csv(made, tmp_path / "made.csv")
    ready = schema(target, tuple(c for c in COLUMNS if not c.learns))
    plain = ready.encode(made, sparse=False)
    again = ready.encode(tmp_path / "made.csv", sparse=False)
    assert np.array_equal(plain.inputs, again.inputs)
    assert np.array_equal(plain.targets, again.targets)


def pa_cells(table: pa.Table, name: str):
    from honestdp.schema.cells import cells

    return cells(table.column(name))


def test_the_seed_alone_decides() -> None:
    made = simulate(schema(), 30)
    assert made.equals(simulate(schema(), 30, 0))
    assert not made.equals(simulate(schema(), 30, seed=1))
    with_signal = simulate(schema(), 30, signal=True)
    assert with_signal.drop_columns(["back"]).equals(made.drop_columns(["back"]))


def test_no_file_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = schema()
    monkeypatch.setattr(builtins, "open", lambda *_: pytest.fail("opened a file"))
    monkeypatch.setattr(Path, "open", lambda *_: pytest.fail("opened a file"))
    simulate(asked, 5, signal=True)


def test_a_model_learns_the_signal_and_nothing_without() -> None:
    few = schema(columns=COLUMNS[:6:3])
    plan = make_plan(Spec(schema=few, rows=1500, epsilon=5.0))
    right = {}
    for signal in (True, False):
        made = make_up(few, 2000, 3, signal)
        assert (len(made.depends_on) == 2) is signal
        release = run(plan, made.table.slice(0, 1500), seed=1)
        rest = made.table.slice(1500)
        right[signal] = np.mean(release.predict(rest) == rest["back"].to_pylist())
    assert right[True] > 0.75
    assert 0.4 < right[False] < 0.6


def test_numbers_to_predict_follow_their_signal() -> None:
    few = schema(COST, (COLUMNS[0], COLUMNS[1]))
    made = make_up(few, 500, 0, True)
    assert made.depends_on == ("age", "dose")
    inputs = np.column_stack([made.table[name].to_numpy() for name in ("age", "dose")])
    inputs = np.column_stack([inputs, np.ones(500)])
    costs = made.table["cost"].to_numpy()
    left = costs - inputs @ np.linalg.lstsq(inputs, costs, rcond=None)[0]
    assert left.var() < 0.1 * costs.var()


def test_what_cannot_be_made_up() -> None:
    for rows in (0, -1, 1.5, None):
        with pytest.raises(InputError, match="rows="):
            simulate(schema(), rows)
    with pytest.raises(InputError, match=r"rows=10000000: .*too many cells; at most \d+"):
        simulate(schema(), MOST_CELLS // 10)
    with pytest.raises(InputError, match="seed=-1"):
        simulate(schema(), 1, -1)
    with pytest.raises(InputError, match=r"schema=.*: must be a Schema"):
        simulate("visits.toml", 1)
    assert honestdp.simulate is simulate


def test_the_contract_catches_wrong_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    column = Numeric(name="age", bounds=(0, 110))
    for made, said in (
        (lambda rows, source: {"age": [200] * rows}, "does not expect"),
        (lambda rows, source: {"age": [None] * rows}, "does not expect"),
        (lambda rows, source: {"age": [1]}, "as many cells"),
        (lambda rows, source: {"other": [1] * rows}, "of its sources"),
        (lambda rows, source: {}, "leaves out"),
        (lambda rows, source: {"age": np.random.rand(rows)}, "the given source alone"),
    ):
        monkeypatch.setattr(Numeric, "made_up", lambda self, rows, source, f=made: f(rows, source))
        with pytest.raises(AssertionError, match=said):
            columns._check_made_up(column, columns._schema(column, ()))
