"""Declarations: files, fingerprints, and what is said when something is wrong."""

from __future__ import annotations

import copy
import pickle
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from schema_examples import small_schema

from honestdp.errors import InputError
from honestdp.schema import Categorical, Numeric, Schema, Target, column_kinds, from_header

GOOD = """\
name = "small"
row_norm = 2
[target]
column = "pay"
classes = ["low", "high"]
[columns.age]
kind = "numeric"
bounds = [0, 100]
missing = 40
[columns.wage]
kind = "numeric"
bounds = "learn"
outer = [0, 1e6]
[columns."job title"]
kind = "categorical"
categories = ["clerk", 1, true]
other = true
"""
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


def test_a_file_and_python_say_the_same(tmp_path: Path) -> None:
    place = tmp_path / "schema.toml"
    place.write_text(GOOD)
    read = Schema.load(place)
    built = Schema(
        name="small",
        row_norm=2.0,
        target=Target(column="pay", classes=["low", "high"]),
        columns=[
            Numeric(name="age", bounds=[0, 100], missing=40),
            Numeric(name="wage", bounds="learn", outer=(0, 1e6)),
            Categorical(name="job title", categories=["clerk", "1", "true"], other=True),
        ],
    )
    assert read == built
    assert read.fingerprint == built.fingerprint
    read.save(place)
    assert Schema.load(place) == read
    assert [path.name for path in tmp_path.iterdir()] == ["schema.toml"]


@given(
    names=st.lists(WORDS.map(str.strip), min_size=2, max_size=5, unique=True),
    words=st.lists(WORDS.map(str.strip).filter(bool), min_size=2, max_size=4, unique=True),
    bounds=st.tuples(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300)).filter(
        lambda pair: pair[0] < pair[1]
    ),
    other=st.booleans(),
)
@settings(max_examples=100, deadline=None)
def test_any_names_survive_the_round_trip(
    names: list[str], words: list[str], bounds: tuple[float, float], other: bool
) -> None:
    target, first, *rest = names
    schema = Schema(
        name="any " + target,
        target=Target(column=target, classes=words),
        columns=[
            Numeric(name=first, bounds=bounds),
            *(Categorical(name=each, categories=words, other=other) for each in rest),
        ],
    )
    again = Schema.from_toml(schema.to_toml())
    assert again == schema
    assert again.fingerprint == schema.fingerprint


def test_the_fingerprint_is_stable_and_sees_every_change() -> None:
    schema = small_schema()
    golden = "bc0d13e768eac845dd264c9f3e3985209e2ea0c156814ade0cd4dd3becaf4a32"
    assert schema.fingerprint == golden  # of honestdp's first schema format: never to change
    changed = [
        small_schema(name="smaller"),
        small_schema(unit="one household"),
        small_schema(row_norm=1.0),
        small_schema(columns=schema.columns[::-1]),
        small_schema(columns=schema.columns[:2]),
        small_schema(target=Target(column="pay", classes=["high", "low"])),
        small_schema(
            columns=[Numeric(name="age", bounds=(0, 101), missing=40), *schema.columns[1:]]
        ),
    ]
    assert len({golden, *(each.fingerprint for each in changed)}) == len(changed) + 1


def test_a_schema_cannot_be_changed_but_copied() -> None:
    schema = small_schema()
    with pytest.raises(ValueError, match="frozen"):
        schema.name = "other"
    for again in (copy.deepcopy(schema), pickle.loads(pickle.dumps(schema))):
        assert again == schema
        assert hash(again) == hash(schema)


EITHER_CASE = 'categories = ["b", "B"]\nignore_case = true'


def columns(text: str) -> str:
    return f'name = "a"\n[target]\ncolumn = "y"\nclasses = ["no", "yes"]\n{text}'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "name is missing"),
        ("name = ", "not TOML: "),
        ("name = 3", "name=3: give a text"),
        ('nme = "a"', "nme: unknown key; did you mean name?"),
        (columns("[target.x]"), "target.x: unknown key; known here: column, classes, bounds"),
        (columns(""), "columns is missing"),
        (columns("[columns]"), "no columns: declare at least one"),
        (columns("[columns.a]"), 'columns.a.kind is missing: must be "boolean"'),
        (columns('[columns.a]\nkind = "numric"'), "columns.a.kind='numric': must be"),
        (columns("[columns.a]"), ', or in a file "unused" for a column that is never read'),
        (columns('[columns.a]\nkind = "numeric"'), "columns.a.bounds is missing: give [low"),
        (columns('[columns.a]\nkind = "numeric"\nbound = [0, 1]'), "a.bound: unknown key; did you"),
        (columns('[columns.a]\nkind = "numeric"\nbounds = [1, 1]'), "[1, 1]: needs low < high"),
        (columns('[columns.a]\nkind = "numeric"\nbounds = [0, nan]'), "columns.a.bounds.1=nan"),
        (columns('[columns.a]\nkind = "numeric"\nbounds = [0, "1"]'), "columns.a.bounds.1='1'"),
        (columns('[columns.a]\nkind = "numeric"\nbounds = "lern"'), "columns.a.bounds='lern': "),
        (columns('[columns.a]\nkind = "numeric"\nbounds = "learn"'), "needs outer = [low, high]"),
        (columns('[columns.a]\nkind = "numeric"\nbounds = [0, 1]\nmissing = 2'), "missing = 2"),
        (columns('[columns.y]\nkind = "numeric"\nbounds = [0, 1]'), "'y' is the target too"),
        (columns('[columns.a]\nkind = "categorical"\ncategories = []'), "needs at least 1"),
        (columns('[columns.a]\nkind = "categorical"\ncategories = ["b", " b"]'), "'b' twice"),
        (columns('[columns.a]\nkind = "categorical"\ncategories = [""]'), "an empty cell"),
        (columns(f'[columns.a]\nkind = "categorical"\n{EITHER_CASE}'), "'B' twice, but for upper"),
        (columns(f'[columns.a]\nkind = "ordinal"\n{EITHER_CASE}'), "'B' twice, but for upper"),
        (columns('[columns.a]\nkind = "boolean"\ntrue = ["n"]\nignore_case = true'), "'n' twice"),
        (
            columns('[columns.a]\nkind = "boolean"\nfalse = ["tRuE"]\nignore_case = true'),
            "'true' is in true and in false",
        ),
        (columns('[columns.a]\nkind = "categorical"\ncategories = ["b"]\nmissing="c"'), "'c' must"),
        (columns('[columns."numeric"]\nkind = "x"'), "columns.numeric.kind='x'"),
        (columns("").replace('classes = ["no", "yes"]', ""), "either classes = [...] or bounds"),
        (columns("").replace('"no", ', ""), "classes = ['yes']: needs at least 2"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(text: str, said: str, tmp_path: Path) -> None:
    place = tmp_path / "schema.toml"
    place.write_text(text)
    with pytest.raises(InputError) as caught:
        Schema.load(place)
    message = str(caught.value)
    assert said in message
    assert message.startswith(f"{place}: ")
    assert "\n" not in message


def test_python_gets_the_same_errors() -> None:
    with pytest.raises(InputError, match="bounds is missing"):
        Numeric(name="age")  # type: ignore[call-arg]
    with pytest.raises(InputError, match=r"columns\.age\.bounds=7: give"):
        small_schema(columns={"age": {"kind": "numeric", "bounds": 7}})
    with pytest.raises(InputError, match="'age' is declared twice"):
        small_schema(columns=[Numeric(name="age", bounds=(0, 1))] * 2)
    with pytest.raises(InputError, match=r"unit=3: .* \(and 1 more\)"):
        small_schema(row_norm=0, unit=3)


@pytest.mark.parametrize(
    "text",
    [
        "name = " + "[" * 400 + "]" * 400,
        "name." + ".".join("a" * 3000) + " = 1",
        "columns." + ".".join("a" * 3000) + " = 1",
        '"self" = 1\n"a\\nb" = 2',
        'columns = [{name = 3, kind = "numeric", bounds = [1, 2]}, []]',
        GOOD.replace("[0, 100]", "9" * 400),
    ],
)
def test_strange_files_get_one_line_too(text: str) -> None:
    with pytest.raises(InputError) as caught:
        Schema.from_toml(text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_files_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"name = '\xff'")
    for place in (tmp_path, tmp_path / "none", tmp_path / "latin", "a\0b"):
        with pytest.raises(InputError):
            Schema.load(place)
    with pytest.raises(InputError, match="cannot be written"):
        small_schema().save(tmp_path / "no" / "such" / "folder.toml")


def test_500_fuzzed_files_give_a_schema_or_an_input_error(tmp_path: Path) -> None:
    draw, place = random.Random(4), tmp_path / "schema.toml"
    pieces = ["[", "]", "=", '"', "\n", "9" * 400, "9" * 5000, "1e999", "nan", "-inf", "true", "\0"]
    pieces += [
        "[[columns]]",
        "1979-05-27",
        "{a=1}",
        "[[1],[2]]",
        "[" * 3000,
        "\u2028",
        "\ud7ff",
        "0x",
    ]
    schemas = 0
    for _ in range(500):
        content = bytearray(GOOD.encode())
        for _ in range(draw.randint(1, 3)):
            at, kind = draw.randrange(len(content)), draw.randrange(5)
            if kind == 0:
                content[at] = draw.randrange(256)
            elif kind == 1:
                del content[at : at + draw.randint(1, 40)]
            elif kind == 2:
                content[at:at] = draw.choice(pieces).encode()
            elif kind == 3:  # a value for another
                line = content.find(b"= ", at)
                end = content.find(b"\n", line)
                content[line + 2 : end] = draw.choice(pieces).encode()
            else:
                content[at:at] = content[draw.randrange(len(content)) :][: draw.randint(1, 60)]
        place.write_bytes(bytes(content))
        said = ""
        try:
            schemas += isinstance(Schema.load(place), Schema)
        except InputError as error:
            said = str(error)
        assert "\n" not in said
        assert len(said) < 1000
    assert 0 < schemas < 400


def test_a_header_becomes_a_file_to_fill_in(tmp_path: Path) -> None:
    place = tmp_path / "people.csv"
    place.write_text('age,"job, or ""title""",Sum*,pay\nSECRET,1,2,3\n')
    text = from_header(place)
    assert "SECRET" not in text
    assert text.endswith(
        '[columns]\nage = {}\n"job, or \\"title\\"" = {}\n"Sum*" = { name = "Sum*" }\n'
    )
    classes = text.replace('# classes = ["no"', 'classes = ["no"')
    filled = classes.replace("= {}", '= { kind = "numeric", bounds = [0, 100] }')
    filled = filled.replace('name = "Sum*" }', 'name = "Sum*", kind = "numeric", bounds = [0, 9] }')
    every = classes.replace("[columns]", '[columns]\n"*" = { kind = "numeric", bounds = [0, 1] }')
    names = ["age", 'job, or "title"', "Sum*", "pay"]
    for schema in (Schema.from_toml(filled), Schema.from_toml(every, names)):
        assert (schema.name, schema.target.column) == ("people", "pay")
        assert schema.input_names == ["age", 'job, or "title"', "Sum*"]
    assert 'column = "age"' in from_header(["age", "pay"], name="x", target="age")


def test_a_form_has_one_line_a_column() -> None:
    few, many = from_header(["a", "y"]), from_header([f"A{i}" for i in range(85)] + ["y"])
    assert len(many.splitlines()) - len(few.splitlines()) == 84


def test_all_that_is_not_filled_in_is_named_in_one_message() -> None:
    kinds = " or ".join(f'"{name}"' for name in column_kinds.names())
    kinds += ', or in a file "unused" for a column that is never read'
    with pytest.raises(InputError) as caught:
        Schema.from_toml(from_header(["age", "ward", "pay"]))
    assert str(caught.value) == (
        "target.classes is missing: give either classes = [...] or bounds = [low, high]; kind is "
        f"missing of 2 columns ('age', 'ward'): must be {kinds}"
    )
    with pytest.raises(
        InputError, match=r"of 84 columns \('A0', .*'A19', \.\.\. \(84 in all\)\): "
    ):
        Schema.from_toml(from_header([f"A{i}" for i in range(85)]))
    with pytest.raises(InputError) as caught:
        Schema.from_toml(
            columns(
                """
                columns.a = { kind = "numeric", bound = [0, 1] }
                columns.b = {}
                columns.c = { kind = "numeric", bounds = 7 }
                columns.d = { kind = "numeric" }
                columns.e = { kind = "numeric" }
                """
            )
            .replace("[target]\ncolumn", "target.column")
            .replace("classes", "target.classes")
        )
    remedy = 'give [low, high], two finite numbers with low < high, or "learn" with outer'
    assert str(caught.value) == (
        "columns.a.bound: unknown key; did you mean bounds? (and 2 more); columns.b.kind is "
        f"missing: must be {kinds}; "
        f"bounds is missing of 2 columns ('d', 'e'): {remedy}"
    )


@pytest.mark.parametrize(
    ("names", "said"),
    [(["a"], "1 columns"), (["a", "a"], "called 'a'"), ([], "0 columns")],
)
def test_headers_that_cannot_be_filled_in(names: list[str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        from_header(names)
    with pytest.raises(InputError, match="target='c'"):
        from_header(["a", "b"], target="c")
