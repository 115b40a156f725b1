"""Code books: a schema's columns as CSV or JSON, in and out."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from schema_examples import small_schema

from honestdp.errors import InputError
from honestdp.schema import Categorical, Column, Numeric, Schema, Target, from_header

BOOK = """\
Name,kind,low,high,bounds,outer,categories,other,missing,label
age,numeric,0,110,,,,,40,Age in years
ward,categorical,,,,, surgery | 007 ,TRUE,007,
wage,numeric,,,learn,0|1e6,,,,"Pay, ""net\"\"\"
A01..A03,numeric,0,9,,,,,,
id,unused,,,,,,,,
back,target,,,,,no|yes,,,
"""
COLUMNS = (
    Numeric(name="age", bounds=(0, 110), missing=40),
    Categorical(name="ward", categories=["surgery", "007"], other=True, missing="007"),
    Numeric(name="wage", bounds="learn", outer=(0, 1e6)),
    *(Numeric(name=f"A0{i}", bounds=(0, 9)) for i in (1, 2, 3)),
)


def book(tmp_path: Path, text: str = BOOK, name: str = "visits.csv") -> Path:
    place = tmp_path / name
    place.write_text(text)
    return place


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_a_book_becomes_a_schema(tmp_path: Path, mark: str) -> None:
    text = BOOK if mark == "," else BOOK.replace("Pay, ", "").replace(",", mark)
    found = Schema.from_codebook(book(tmp_path, "\ufeff" + text), unit="one patient")
    assert (found.name, found.unit) == ("visits", "one patient")
    assert found.target == Target(column="back", classes=["no", "yes"])
    assert found.columns == COLUMNS


def test_with_the_names_of_a_table_it_has_its_columns_in_its_order(tmp_path: Path) -> None:
    names = ["A02", "back", "id", "age", "doctor"]
    found = Schema.from_codebook(book(tmp_path), columns=names)
    assert found.input_names == ["A02", "age"]
    rest = "name,kind,low,high\n*,numeric,0,1\nage,numeric,0,9\n"
    rest = book(tmp_path, rest + "y,target,0,1\n", "rest.csv")
    found = Schema.from_codebook(rest, columns=["b", "age", "a", "y"])
    assert found.input_names == ["b", "age", "a"]
    with pytest.raises(InputError, match="a wildcard needs the names"):
        Schema.from_codebook(rest)


def test_the_target_may_be_any_row(tmp_path: Path) -> None:
    place = book(tmp_path, BOOK.replace("back,target", "back,categorical"))
    assert Schema.from_codebook(place, target="back").target.classes == ("no", "yes")
    assert Schema.from_codebook(place, target="age").target.bounds == (0, 110)
    with pytest.raises(InputError, match="target=None: has no row"):
        Schema.from_codebook(place)
    with pytest.raises(InputError, match="target='sex': has no row"):
        Schema.from_codebook(place, target="sex")


@pytest.mark.parametrize("name", ["book.csv", "book.json"])
def test_out_and_in_again(tmp_path: Path, name: str) -> None:
    wage = Numeric(name="b", bounds=(-0.0, 1e300), missing=0.5)
    for columns in (COLUMNS, (wage, Categorical(name="c", categories=["true", "1"]))):
        for target in ({"classes": ["no", "yes"]}, {"bounds": (0, 0.5)}):
            schema = small_schema(columns=columns, target=Target(column="y", **target))
            schema.to_codebook(tmp_path / name)
            again = Schema.from_codebook(tmp_path / name, name=schema.name, unit=schema.unit)
            again = again.model_copy(update={"row_norm": schema.row_norm})
            assert again == schema
            assert again.fingerprint == schema.fingerprint


WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=6)
CLEAN = WORDS.map(str.strip).filter(bool)


@given(
    names=st.lists(CLEAN, min_size=2, max_size=4, unique=True),
    words=st.lists(CLEAN, min_size=2, max_size=4, unique=True),
    bounds=st.tuples(st.floats(-1e300, 0), st.floats(1e-300, 1e300)),
)
@settings(max_examples=100, deadline=None)
def test_any_schema_survives_or_is_refused(tmp_path_factory, names, words, bounds) -> None:
    target, first, *rest = names
    columns: list[Column] = [Numeric(name=first, bounds=bounds)]
    columns += [Categorical(name=each, categories=words, missing=words[0]) for each in rest]
    schema = small_schema(columns=columns, target=Target(column=target, classes=words))
    for ending in ("csv", "json"):
        place = tmp_path_factory.mktemp("book") / f"book.{ending}"
        said = ""
        try:
            schema.to_codebook(place)
        except InputError as error:
            said = str(error)
        if said:
            assert "would be read as several" in said or "which separates" in said
            assert not place.exists()
        else:
            again = Schema.from_codebook(place, name=schema.name)
            assert (again.columns, again.target) == (schema.columns, schema.target)


def test_a_book_fills_the_form_of_a_table(tmp_path: Path) -> None:
    names = ["age", "doctor", "A03", "wage", "id", "back"]
    text = from_header(names, codebook=book(tmp_path))
    assert text.endswith(
        '[target]\ncolumn = "back"\nclasses = ["no", "yes"]\n\n[columns]\n'
        'age = { kind = "numeric", bounds = [0, 110], missing = 40 }  # Age in years\n'
        "doctor = {}\n"
        'A03 = { kind = "numeric", bounds = [0, 9] }\n'
        'wage = { kind = "numeric", bounds = "learn", outer = [0, 1000000] }  # Pay, "net"\n'
        'id = { kind = "unused" }\n\n'
        "# In the code book, not in the table: 'ward'\n"
    ), text
    with pytest.raises(InputError, match=r"columns\.doctor\.kind is missing"):
        Schema.from_toml(text)
    with pytest.raises(InputError, match="'back': column kind='target': must be one of"):
        from_header(names, codebook=book(tmp_path), target="age")
    place = book(tmp_path, BOOK.replace("back,target", "back,categorical"))
    other = from_header(names, codebook=place, target="age")
    assert 'column = "age"\nbounds = [0, 110]\n' in other


def change(before: str, after: str) -> str:
    assert before in BOOK
    return BOOK.replace(before, after, 1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a CSV file with a header"),
        ('a,"b', "not a CSV file"),
        (change("low", "lowest"), "'lowest': unknown key; did you mean low?"),
        (change("age,", "ward,"), "several rows are called 'ward'"),
        (change("Name,", "label,").replace(",label\n", ",outer\n"), "has no name"),
        (change("0,110,", "0,,"), "'age': give low and high, or bounds"),
        (change("0,110,", "0,x,"), "'age': bounds='0|x': give [low, high]"),
        (change("0,110,,", "0,110,0|9,"), "'age': give low and high, or bounds"),
        (change("age,numeric", "age,number"), "'age': column kind='number': must be one of"),
        (change("age,numeric", "age,"), "'age': column kind=None: must be one of"),
        (change(",40,", ",x,"), "'age': missing='x': give the number"),
        (change(",TRUE,", ",maybe,"), "'ward': other='maybe': must be true or false"),
        (change("age,numeric,0,110,,,", "age,numeric,0,110,,,a"), "'age': categories: unknown key"),
        (change("no|yes", "no"), "classes = ['no']: needs at least 2"),
        (change("no|yes", ""), "'back': classes is missing"),
        (change("id,unused", "id,target"), "is that of 2 rows"),
        (change("Age in years", "a,b,c"), "12 cells, the header 10"),
        (change("A01..A03", "A03..A01"), "the lower end first"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(text: str, said: str, tmp_path: Path) -> None:
    place = book(tmp_path, text)
    with pytest.raises(InputError) as caught:
        Schema.from_codebook(place)
    assert said in str(caught.value)
    assert str(caught.value).startswith(f"{place}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["book.csv", "book.json"])
def test_a_table_given_by_mistake_is_not_quoted(name: str, tmp_path: Path) -> None:
    text = "3,SECRET,no\n5,b,yes\n" if name == "book.csv" else '[{"id": 3, "SECRET": 4}]'
    with pytest.raises(InputError, match="not a code book: most of its keys") as caught:
        Schema.from_codebook(book(tmp_path, text, name))
    assert "SECRET" not in str(caught.value).upper().replace(str(tmp_path).upper(), "")


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[" * 100_000, "3", '[{"name": 3}]', '[{"name": "a"}, 3]', '[{"nme": "a"}]',
        '[{"name": "a", "kind": ["numeric"]}, {"name": "y", "kind": "target"}]',
        '[{"name": "a", "kind": "numeric", "low": 0, "high": "1"}]',
        '[{"name": "a", "kind": "numeric", "bounds": [0, NaN]}]', "9" * 5000,
    ],
)  # fmt: skip
def test_json_that_is_no_book_gets_one_line(text: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        Schema.from_codebook(book(tmp_path, text, "book.json"))
    assert "\n" not in str(caught.value)


def test_what_cannot_be_written(tmp_path: Path) -> None:
    columns: Any = [Categorical(name="a", categories=["b|c", "d"])]
    with pytest.raises(InputError, match="write JSON"):
        small_schema(columns=columns).to_codebook(tmp_path / "book.csv")
    small_schema(columns=columns).to_codebook(tmp_path / "book.json")
    with pytest.raises(InputError, match="would be read as several columns"):
        small_schema(columns=[Numeric(name="a*", bounds=(0, 1))]).to_codebook(tmp_path / "b.csv")
    assert [place.name for place in tmp_path.iterdir()] == ["book.json"]


@pytest.mark.parametrize("name", ["book.csv", "book.json"])
def test_500_fuzzed_books_give_a_schema_or_one_line(tmp_path: Path, name: str) -> None:
    draw, place = random.Random(6), tmp_path / name
    Schema.from_codebook(book(tmp_path)).to_codebook(place)
    good, schemas = place.read_bytes(), 0
    pieces = [b"|", b",", b'"', b"\n", b"*", b"..", b"9" * 400, b"\0", b"\xff", b"[", b"}", b"1"]
    for _ in range(500):
        content = bytearray(good)
        for _ in range(draw.randint(1, 3)):
            at = draw.randrange(len(content))
            content[at : at + draw.choice([0, 1, 9])] = draw.choice(pieces)
        place.write_bytes(bytes(content))
        try:
            Schema.from_codebook(place)
            schemas, said = schemas + 1, ""
        except InputError as error:
            said = str(error)
        assert "\n" not in said
        assert len(said) < 1500
    assert 0 < schemas < 400
