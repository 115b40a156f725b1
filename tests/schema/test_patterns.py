"""Ranges, wildcards and all the rest: many columns of a schema file in one line."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honestdp.errors import InputError
from honestdp.schema import Numeric, Schema, TableFile, Target
from honestdp.schema.check import check
from honestdp.schema.patterns import MOST, expand, is_pattern, resolve

HEAD = 'name = "a"\n[target]\ncolumn = "y"\nclasses = ["no", "yes"]\n[columns]\n'
ZERO, ONE = '{ kind = "numeric", bounds = [0, 1] }', '{ kind = "numeric", bounds = [1, 2] }'


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("A01..A03", ["A01", "A02", "A03"]),
        ("A9..A11", ["A9", "A10", "A11"]),
        ("A08..A101", [f"A{i:02d}" for i in range(8, 102)]),
        ("0..2", ["0", "1", "2"]),
        ("q 1..q 1", ["q 1"]),
        ("pixel *", ["pixel 2", "pixel 1"]),
        ("*", ["pixel 2", "pixel 1", "ill?", "b[1]", "A*"]),
        ("*1*", ["pixel 1", "b[1]"]),
        ("ill?", ["ill?"]),
        ("b[*", ["b[1]"]),
        ("A*", ["A*"]),  # a column of the table
        ("no such", ["no such"]),
        ("A1..B3", ["A1..B3"]),
        ("wait...", ["wait..."]),
        (["x", "pixel *", "x", "A1..A2"], ["x", "pixel 2", "pixel 1", "A1", "A2"]),
    ],
)
def test_what_patterns_stand_for(pattern: str | list[str], found: list[str]) -> None:
    assert resolve(pattern, ["pixel 2", "pixel 1 ", "ill?", "b[1]", "A*"]) == tuple(found)


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("A3..A1", "the lower end first"),
        ("A001..A10", "both with as many zeros"),
        ("A1..A02", "both with as many zeros"),
        (f"A1..A{MOST + 1}", "more than 100000"),
        (f"A1..A{'9' * 5000}", "more than 15 digits"),
        ("word *", "matches no column of the table"),
    ],
)
def test_wrong_patterns(pattern: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        resolve(pattern, ["a"])
    with pytest.raises(InputError):
        resolve(pattern)


def low(schema: Schema) -> dict[str, float]:
    return {column.name: column.range[0] for column in schema.columns if column.kind == "numeric"}


def test_the_closest_key_wins_and_every_key_keeps_its_place() -> None:
    text = f"""{HEAD}
        "*" = {{ kind = "numeric", bounds = [5, 6] }}
        "word *" = {{ kind = "numeric", bounds = [4, 5] }}
        "word a*" = {{ kind = "numeric", bounds = [3, 4] }}
        "A1..A3" = {{ kind = "numeric", bounds = [2, 3] }}
        A2 = {ONE}
        id = {{ kind = "unused" }}
        "word c" = {{}}
    """
    names = ["word c", "id", "word b", "y", "word ab", "A1", "z", "A9", "A2"]
    found = Schema.from_toml(text, names)
    expected = {"z": 5, "A9": 5, "word b": 4, "word ab": 3, "A1": 2, "A3": 2, "A2": 1, "word c": 4}
    assert low(found) == expected
    assert list(low(found)) == list(expected)  # the order of the file, in a wildcard the table's


def test_the_fingerprint_is_that_of_what_the_patterns_stand_for() -> None:
    written = Schema.from_toml(f"{HEAD}a1 = {ZERO}\na2 = {ZERO}\n")
    names = ["a1", "a2", "y"]
    assert Schema.from_toml(f'{HEAD}"a1..a2" = {ZERO}').fingerprint == written.fingerprint
    assert Schema.from_toml(f'{HEAD}"*" = {ZERO}', names).fingerprint == written.fingerprint
    assert Schema.from_toml(f'{HEAD}"a*" = {ZERO}\na1 = {{}}', names) != written  # another order
    other = Schema.from_toml(f'{HEAD}"*" = {ZERO}', ["a1", "a2", "a3"])
    assert other.fingerprint != written.fingerprint


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (f'"word *" = {ZERO}', "a wildcard needs the names"),
        (f'"A1..A3" = {ZERO}\n"A2..A5" = {ONE}', "'A1..A3' and 'A2..A5' match the same column"),
        ('"A1..A3" = {}', "says nothing"),
        ('"A1..A3" = { kind = "numeric" }', "columns.A1..A3.bounds is missing"),
        ('"A1..A3" = 3', "columns.A1..A3=3"),
        ('"A1..A3" = { kind = "unused" }', "no columns"),
        (f'"A1..A3" = {ZERO}\nA2 = {{ name = "b", kind = "numeric" }}', "'A2' is declared twice"),
        (f'"1..60000" = {ZERO}\n"a1..a60000" = {ZERO}', "for more than 100000 columns"),
        ('"A*" = { name = [[1]], kind = "numeric" }', "name"),
    ],
)
def test_wrong_files(columns: str, said: str, tmp_path: Path) -> None:
    place = tmp_path / "s.toml"
    place.write_text(HEAD + columns)
    with pytest.raises(InputError) as caught:
        Schema.load(place)
    assert said in str(caught.value)
    assert str(caught.value).startswith(f"{place}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "columns", ['"*" = {}', '"*" = { kind = "numeric" }', f'"S*" = {ZERO}\n"*T" = {ONE}', '"*" = 3']
)
def test_names_that_might_be_cells_are_not_shown(columns: str) -> None:
    """Where a file has no header, its names are the cells of a record."""
    with pytest.raises(InputError) as caught:
        Schema.from_toml(HEAD + columns, ["SECRET", "y"])
    assert "SECRET" not in str(caught.value)


def test_a_missing_target_shows_no_name_either(tmp_path: Path) -> None:
    place = tmp_path / "t.csv"
    place.write_text("1,SECRET,3\n4,5,6\n")
    table = TableFile(place)
    schema = Schema.from_toml(HEAD + f'"*" = {ZERO}', table.names)
    for reads in (schema.encode, lambda rows: check(schema, rows)):
        with pytest.raises(InputError, match="no column 'y'; does it have a header") as caught:
            reads(table)
        assert "SECRET" not in str(caught.value)


def test_patterns_in_the_columns_of_a_block() -> None:
    names = ["pixel 2", "pixel 1", "y"]

    def block(columns: object) -> object:
        return expand({"a": {"kind": "x", "columns": columns}, "A*": {"name": "A*"}}, names)["a"]

    assert block(["pixel *"]) == {"kind": "x", "columns": ["pixel 2", "pixel 1"]}
    assert block("pixel *") == {"kind": "x", "columns": "pixel *"}  # the kind's own, as an image's
    assert block(["b1..b2", "A*"]) == {"kind": "x", "columns": ["b1", "b2", "A*"]}
    assert block([3]) == {"kind": "x", "columns": [3]}
    with pytest.raises(InputError, match="matches no column"):
        block(["word *"])


@given(name=st.text("a1.*0 ?[]x", max_size=9).map(str.strip), other=st.text("a*", max_size=2))
@settings(max_examples=200, deadline=None)
def test_a_name_that_looks_like_a_pattern_survives_toml(name: str, other: str) -> None:
    made = [Numeric(name=each, bounds=(0, 1)) for each in dict.fromkeys([name, other])]
    target = Target(column="y", classes=["no", "yes"])
    schema = Schema(name="n", target=target, columns=made)
    assert Schema.from_toml(schema.to_toml()) == schema
    assert Schema.from_toml(schema.to_toml(), ["y", "else"]) == schema


@given(
    keys=st.lists(st.text("a1.*0", max_size=7), max_size=4),
    names=st.none() | st.lists(st.text("a1.*0y", max_size=4), max_size=5),
    said=st.lists(st.sampled_from([{}, {"kind": "unused"}, {"kind": "x"}, 3]), min_size=4),
)
@settings(max_examples=300, deadline=None)
def test_any_keys_give_columns_or_one_line(keys, names, said) -> None:
    columns = dict(zip(keys, said, strict=False))
    try:
        found = expand(columns, names, "y")
    except InputError:
        return
    assert not [name for name in found if is_pattern(name) and name not in (names or [])]
    if not any(map(is_pattern, columns)):
        assert found == columns


def test_500_fuzzed_files_give_a_schema_or_one_line() -> None:
    draw = random.Random(5)
    good = f'{HEAD}"A01..A12" = {ZERO}\n"w *" = {ONE}\nA03 = {{}}\n"*" = {ZERO}\n'
    pieces = [
        '"',
        "..",
        "*",
        "=",
        "{",
        "}",
        "{}",
        "0",
        "9" * 30,
        "unused",
        "name",
        ",",
        "\n",
        "[0]",
    ]
    schemas = 0
    for _ in range(500):
        text = good
        for _ in range(draw.randint(1, 3)):
            at = draw.randrange(len(HEAD), len(text))
            end = at + draw.choice([0, 0, 1, 3])
            text = text[:at] + draw.choice(pieces) + text[end:]
        try:
            Schema.from_toml(text, draw.choice([None, ["y", "w 1", "b", "A03"]]))
            schemas, said = schemas + 1, ""
        except InputError as error:
            said = str(error)
        assert "\n" not in said
        assert len(said) < 1000
    assert 0 < schemas < 400
