"""Kinds of columns: the contract, and a kind from outside in one file."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Literal

import numpy as np
import pytest
from schema_examples import small_schema

from honestdp import Spec, make_plan
from honestdp.errors import InputError
from honestdp.planning.encoding import with_encoding
from honestdp.runner.run import run
from honestdp.schema import (
    Boolean,
    Categorical,
    Column,
    Counts,
    Cross,
    Date,
    Entries,
    Hashed,
    Image,
    Numeric,
    Ordinal,
    Schema,
    Target,
    Text,
    column_kinds,
)
from honestdp.schema.cells import Cells, cells
from honestdp.schema.infer import infer_schema
from honestdp.testing.columns import check_column_kind

OWN = '''
"""A kind of one's own: ordered levels, as one 0/1 column for each that is reached."""

from typing import ClassVar, Literal

import numpy as np

from honestdp.schema import Column, Entries, column_kinds
from honestdp.schema.cells import Cells, cells
from honestdp.schema.fields import Categories


@column_kinds.register
class Levels(Column):
    label: ClassVar[str] = "level"
    form: ClassVar[tuple[str, ...]] = ('kind = "levels"', 'levels = ["low", "high"]')
    form_help: ClassVar[tuple[str, ...]] = ("levels from low to high",)
    remedies: ClassVar[dict[str, str]] = {"levels": "give the levels from low to high"}

    kind: Literal["levels"] = "levels"
    levels: Categories

    @property
    def encoded_names(self) -> list[str]:
        return [f"{self.name}>={level}" for level in self.levels]

    @property
    def entries(self) -> int:
        return len(self.levels)

    def encode(self, cells: Cells) -> Entries:
        positions = np.arange(len(self.levels))
        return Entries(positions, 1.0 * (cells.places(self.levels)[:, None] >= positions))

    def describe(self) -> str:
        return " < ".join(self.levels)
'''


@pytest.fixture
def own(tmp_path: Path) -> Iterator[ModuleType]:
    """The module, imported after everything else; gone again after the test."""
    place = tmp_path / "own_levels.py"
    place.write_text(OWN)
    found = importlib.util.spec_from_file_location("own_levels", place)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    yield module
    column_kinds.unregister("levels")


COLUMNS = [
    Numeric(name="age", bounds=(0, 110)),
    Numeric(name="age", bounds=(-5, 1e300), missing=3),
    Numeric(name="a [b]=", bounds=(0, 1e-300)),
    Numeric(name="wage", bounds="learn", outer=(0, 1e6), quantiles=(0.1, 0.9), missing=7),
    Categorical(name="ward", categories=["a"]),
    Categorical(name="ward", categories=["a", "1", "true"], other=True, missing="1"),
    Numeric(name="age", bounds=(0, 110), encode="bins"),
    Numeric(name="age", bounds=(0, 110), encode="both", bins=3, missing="own"),
    Numeric(name="age", bounds=(0, 110), encode="linear", missing="own"),
    Numeric(name="age", bounds=(-3, 110), encode="both", edges="log"),
    Numeric(name="age", bounds=(0, 110), edges=[18, 65.5]),
    Numeric(name="age", bounds=(0, 110), edges="learn", bins=5),
    Numeric(name="age", bounds=(0, 110), scale="learn"),
    Numeric(name="wage", bounds="learn", outer=(0, 1e6), edges="learn", scale="learn"),
    Numeric(name="age", bounds=(0, 110), encode="spline"),
    Numeric(name="age", bounds=(0, 110), encode="spline", bins=2, edges="sqrt", missing="own"),
    Numeric(name="age", bounds=(-3, 110), encode="spline", bins=8, edges="log", missing="own"),
    Numeric(name="age", bounds=(-110, -1), encode="spline", bins=8, edges="sqrt", missing=-7),
    Numeric(name="age", bounds=(0, 110), encode="spline", edges=[18, 65.5], missing="own"),
    Numeric(name="age", bounds=(0, 110), encode="spline", edges="learn", bins=5, missing="own"),
    Numeric(name="wage", bounds="learn", outer=(-1, 1e6), encode="spline", edges="learn"),
    Boolean(name="smokes"),
    Boolean(name="smokes", true=["a"], false=["b", "110"]),
    Boolean(name="smokes", ignore_case=True),
    Ordinal(name="pain", categories=["a", "1", "50"]),
    Ordinal(name="pain", categories=["A", "1", "50"], ignore_case=True),
    Date(name="born", first="1900-01-01", last="1999-12-31"),
    Date(name="seen", first="2020-01-01", last="2024-12-31", format="%d.%m.%Y %H:%M", time=True),
    Counts(name="word a"),
    Counts(name="word a", count="presence"),
    Hashed(name="zip", buckets=5),
    Text(name="note", buckets=64),
    Image(name="scan", size=(2, 3), columns="pixel*"),
]


@pytest.mark.parametrize("column", COLUMNS, ids=repr)
def test_the_kinds_that_come_with_it_keep_the_contract(column: Column) -> None:
    check_column_kind(column, ["a", "1", 50, 1e-301, "110", "1999-02-03", "03.02.2021 17:00"])


def test_a_pair_of_columns_keeps_the_contract() -> None:
    age = Numeric(name="age", bounds=(0, 110))
    ward = Categorical(name="ward", categories=["a", "b"], other=True)
    check_column_kind(Cross(name="both", columns=["age", "ward"]), ["a", "1"], others=(age, ward))


def test_every_kind_that_comes_with_it_was_checked() -> None:
    assert {type(column) for column in COLUMNS} | {Cross} == {
        kind for kind in column_kinds if column_kinds.is_own(kind)
    }


def test_a_kind_in_one_file_outside_works_everywhere(own: ModuleType, tmp_path: Path) -> None:
    column = own.Levels(name="pain", levels=["none", "some", "much"])
    check_column_kind(column, ["none", "much", "other"])
    text = """
        name = "visits"
        target = { column = "back", classes = ["no", "yes"] }
        [columns.age]
        kind = "numeric"
        bounds = [0, 100]
        [columns.pain]
        kind = "levels"
        levels = ["none", "some", "much"]
    """
    schema = Schema.from_toml(text)
    assert schema.columns[1] == column
    assert schema.encoded_names == ["age", "pain>=none", "pain>=some", "pain>=much"]
    draw = np.random.default_rng(1)
    pain = draw.choice(["none", "some", "much", ""], 400)
    table = {
        "age": draw.integers(0, 99, 400),
        "pain": pain,
        "back": np.where(pain > "n", "yes", "no"),
    }
    release = run(
        make_plan(Spec(schema=schema, rows=400, epsilon=8.0)),
        table,
        seed=1,
        folder=tmp_path / "run",
    )
    assert set(release.predict(table)) <= {"no", "yes"}
    from honestdp.report.page import report_html
    from honestdp.schema import from_header

    assert "none &lt; some &lt; much" in report_html(release.card)
    form = from_header(["pain", "back"])
    line = '#   { kind = "levels", levels = ["low", "high"] }\n'
    assert f"{line}#       levels from low to high\n" in form
    with pytest.raises(InputError, match=r"columns\.pain\.levels=3: give the levels from low"):
        Schema.from_toml(text.replace('["none", "some", "much"]', "3"))
    with pytest.raises(InputError, match=r"pain\.level: unknown key; did you mean levels"):
        Schema.from_toml(text.replace("levels = [", "level = ["))


def test_without_it_the_kind_is_unknown() -> None:
    with pytest.raises(InputError, match=r"kind='levels': must be .boolean. or .categorical"):
        small_schema(columns={"pain": {"kind": "levels"}})


def test_an_installed_kind_is_found_by_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "own_levels.py").write_text(OWN)
    about = tmp_path / "own_levels-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: own-levels\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[honestdp.columns]\nlevels = own_levels:Levels\n")
    (tmp_path / "t.csv").write_text("pain,back\nSECRET,1\n")
    said = subprocess.run(
        [
            sys.executable,
            "-c",
            "import honestdp.cli as c; c.main()",
            "schema",
            str(tmp_path / "t.csv"),
        ],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert '{ kind = "levels", levels' in said.stdout
    assert "SECRET" not in said.stdout


class Wrong(Column):
    """A sound kind that tests break in one way each."""

    kind: Literal["wrong"] = "wrong"

    @property
    def encoded_names(self) -> list[str]:
        return [self.name]

    def encode(self, cells: Cells) -> Entries:
        return Entries(np.zeros(1, np.int64), self.values(cells)[:, None])

    def values(self, cells: Cells) -> Any:
        return np.clip(np.nan_to_num(cells.numbers()), 0, 1)


class Ranks(Wrong):
    def values(self, cells: Cells) -> Any:
        return np.argsort(np.argsort(super().values(cells), kind="stable")).astype(float)


class Raises(Wrong):
    def values(self, cells: Cells) -> Any:
        return np.array([float(text or 0) for text in cells.texts()])


class Infinite(Wrong):
    def values(self, cells: Cells) -> Any:
        return cells.numbers()


class Warns(Wrong):
    def values(self, cells: Cells) -> Any:
        return np.log(super().values(cells))


class Shape(Wrong):
    @property
    def entries(self) -> int:
        return 2

    @property
    def encoded_names(self) -> list[str]:
        return ["a", "b"]


class Twice(Shape):
    def encode(self, cells: Cells) -> Entries:
        return Entries(np.zeros(2, np.int64), np.ones((len(cells), 2)))


class Outside(Wrong):
    def encode(self, cells: Cells) -> Entries:
        return Entries(np.ones(1, np.int64), super().encode(cells).values)


class Names(Wrong):
    @property
    def width(self) -> int:
        return 2


class Zeros(Wrong):
    @property
    def keeps_zeros(self) -> bool:
        return True

    def values(self, cells: Cells) -> Any:
        return 1 - super().values(cells)


class Norm(Wrong):
    @property
    def squared_norm(self) -> float:
        return np.inf


class Form(Wrong):
    form: ClassVar[tuple[str, ...]] = ('kind = "wrong"', "bins = 3")


class FormOfLines(Wrong):
    form: ClassVar[tuple[str, ...]] = ('kind = "wrong"\n',)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (Ranks, "depends on other rows"),
        (Raises, "encode raised or warned"),
        (Infinite, "not finite"),
        (Warns, "encode raised or warned"),
        (Shape, r"must be \[rows, entries\]"),
        (Twice, "two entries at one position"),
        (Outside, "outside 0 to 0"),
        (Names, "width is 2"),
        (Zeros, "a cell of 0 is not encoded as 0"),
        (Norm, "squared_norm is inf"),
        (Form, "`form` do not declare"),
        (FormOfLines, "without line ends"),
    ],
)
def test_a_kind_that_breaks_the_contract_is_told_how(kind: type[Column], said: str) -> None:
    with pytest.raises(AssertionError, match="is not registered"):
        check_column_kind(kind(name="a"))
    column_kinds.register(Wrong)
    try:
        check_column_kind(Wrong(name="a"), [0.5])
        column_kinds.unregister("wrong")
        column_kinds.register(kind)
        with pytest.raises(AssertionError, match=said):
            check_column_kind(kind(name="a"), [0.5, 0.7])
    finally:
        column_kinds.unregister("wrong")


def test_a_kind_may_be_inferred_before_the_others(own: ModuleType) -> None:
    def infer(name: str, cells: Cells) -> Column | None:
        known = set(cells.categories()) <= {"low", "high"}
        return own.Levels(name=name, levels=["low", "high"]) if known else None

    own.Levels.infer = staticmethod(infer)
    table = {"a": ["low", "high"], "b": [1, 2], "c": ["x", "low"]}
    kinds = [c.kind for c in infer_schema(table, [0, 1], list("abc"), "y", True).columns]
    assert kinds == ["levels", "numeric", "categorical"]


def test_fields_added_later_leave_the_fingerprint_alone(own: ModuleType) -> None:
    class More(own.Levels):  # type: ignore[misc, name-defined]
        added_fields: ClassVar[frozenset[str]] = frozenset({"more"})
        more: int = 0

    def fingerprint(column: Column) -> str:
        target = Target(column="y", classes=["a", "b"])
        return Schema(name="n", target=target, columns=[column]).fingerprint

    first = fingerprint(own.Levels(name="a", levels=["x"]))
    assert fingerprint(More(name="a", levels=["x"])) == first
    assert fingerprint(More(name="a", levels=["x"], more=1)) != first


@pytest.mark.parametrize("old", ["Word", "Words", "check_words"])
def test_old_names_of_fields_still_work_for_a_while(old) -> None:
    from honestdp.schema import fields

    with pytest.warns(DeprecationWarning, match=f"{old} is now"):
        assert getattr(fields, old) is getattr(fields, fields._RENAMED[old])


@pytest.mark.parametrize("form", ["%d %d", "%Y%Y", "%Q", "%"])
def test_a_format_that_reads_no_date_is_refused_before_any_cell(form):
    """`strptime` raises `re.error` for a letter that is there twice, with the first cell."""
    with pytest.raises(InputError, match="strptime"):
        Date(name="born", first="1900-01-01", last="1999-12-31", format=form)


def test_no_cell_overflows_a_narrow_scale():
    column = Numeric(name="x", bounds=(-1e300, 1e300), encode="linear", scale=(0, 1e-300))
    with np.errstate(all="raise", under="ignore"):
        assert column.encode(cells([1e300, -1e300, 0.0])).values.tolist() == [[2.0], [-2.0], [0.0]]


def test_pairs_of_a_column_that_is_learnt_are_refused_by_name():
    cost = Numeric(name="cost", bounds="learn", outer=(0, 1e6))
    ward = Categorical(name="ward", categories=["a", "b"])
    target = Target(column="back", classes=["no", "yes"])
    with pytest.raises(InputError, match="'cost' is to be learnt, so its pairs are unknown"):
        Schema(name="t", columns=[cost, ward, Cross(name="x", columns=["cost", "ward"])],
               target=target)  # fmt: skip


def test_a_column_has_no_pairs_with_itself():
    with pytest.raises(InputError, match="columns: 'ward' twice; name two different columns"):
        Cross(name="x", columns=["ward", "ward"])


def test_the_form_explains_every_kind():
    from honestdp.schema import from_header

    form = from_header(["pain", "back"])
    for column in COLUMNS:
        assert f'#   {{ kind = "{column.kind}"' in form


def test_a_pair_is_the_same_when_the_plan_has_chosen_curves_and_the_schema_is_read_again():
    schema = Schema(
        name="visits",
        target=Target(column="back", classes=["no", "yes"]),
        columns=[
            Numeric(name="age", bounds=(0, 100)),
            Categorical(name="ward", categories=["a", "b"]),
            Cross(name="both", columns=["age", "ward"]),
        ],
    )
    chosen = with_encoding(schema, 100_000, 1.0, 1e-6, enrich=True, scale=True)
    assert chosen.columns[0].is_spline
    again = Schema(**chosen.model_dump())
    assert again.encoded_names == chosen.encoded_names
