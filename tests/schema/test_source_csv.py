"""CSV files as people have them: other separators, decimal marks and encodings."""

from __future__ import annotations

import random
import traceback
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from schema_examples import rows_of, small_schema

from honestdp.errors import InputError
from honestdp.schema import TableFile
from honestdp.schema.cells import MISSING, UNKNOWN, cells

HEAD = "age;job;town;pay\n"
ROWS = "50,0;clerk;north;low\n;x;y;high\n"
PLAIN = np.array([[0.5, 1, 0, 0, 0, 1, 0, 0], [0.4, 0, 0, 0, 1, 0, 0, 1]], dtype=np.float32)
NAMES = ["age", "job", "town", "pay"]


def written(folder: Path, content: str | bytes, name: str = "t.csv") -> Path:
    place = folder / name
    place.write_bytes(content.encode() if isinstance(content, str) else content)
    return place


def encoded(table: TableFile) -> np.ndarray:
    return rows_of(small_schema().encode(table))


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252"]
)
@pytest.mark.parametrize("mark", [";", "\t", "|", "^"])
def test_separators_and_encodings_of_one_table(tmp_path: Path, encoding: str, mark: str) -> None:
    text = ("née;" + HEAD + "1;50,0;clerk;north;low\n2;;x;ÿ;high\n").replace(";", mark)
    place = written(tmp_path, text.encode(encoding))
    given = TableFile(place, decimal=",", delimiter=mark, encoding=encoding)
    assert given.names == ["née", *NAMES]
    np.testing.assert_array_equal(encoded(given), PLAIN)
    if encoding != "utf-16-le" and mark != "^":  # both are known from the header
        found = TableFile(place, decimal=",")
        assert found.names == ["née", *NAMES]
        np.testing.assert_array_equal(encoded(found), PLAIN)


def test_a_header_decides_on_the_separator_and_rows_do_not(tmp_path: Path) -> None:
    for header, names in (
        ("age,job,town,pay", NAMES),
        ('"age;years",job,town', ["age;years", "job", "town"]),
        ("age, in years;job;town", ["age, in years", "job", "town"]),
        ("a;b,c", ["a;b", "c"]),  # as often: the comma
        ("only", ["only"]),
    ):
        for rows in ("", "\n", "\n1;2;3;4;5;6;7\n", "\n1,2,3,4,5,6,7\n"):
            assert TableFile(written(tmp_path, header + rows)).names == names
    assert TableFile(written(tmp_path, "a,b\tc\n", "t.tsv")).names == ["a,b", "c"]
    assert TableFile(tmp_path / "t.tsv", delimiter=",").names == ["a", "b\tc"]


def test_rows_do_not_decide_on_the_encoding(tmp_path: Path) -> None:
    for line in (b"\n", b"\r\n", b"\r"):
        place = written(tmp_path, b"age,job,town,pay" + line + b"50,clerk,n\xf6rd,low" + line)
        assert TableFile(place).source._header.encoding == "utf-8"
        table = TableFile(place).read(["town"])
        assert cells(table.column("town")).texts() == ["n\ufffdrd"]
        table = TableFile(place, encoding="latin-1").read(["town"])
        assert cells(table.column("town")).texts() == ["nörd"]


def test_undecodable_cells_become_replacement_characters(tmp_path: Path) -> None:
    content = "née;age\n".encode("cp1252") + b"\x81;1\n\x8d\x8f;2\n"
    table = TableFile(written(tmp_path, content)).read(["née", "age"])
    assert cells(table.column("née")).texts() == ["\ufffd", "\ufffd\ufffd"]
    content = "a;b\n".encode("utf-16") + b"\x00\xd8;\x001\x00\n\x00"  # half of a pair
    table = TableFile(written(tmp_path, content)).read(["a", "b"])
    assert cells(table.column("a")).texts() == ["\ufffd"]


def test_a_recoded_file_is_read_in_blocks(tmp_path: Path, monkeypatch) -> None:
    from honestdp.schema.sources import csv

    monkeypatch.setattr(csv, "BLOCK", 100)
    monkeypatch.setattr(csv, "_RECODED", 7)
    rows = "".join(f'{i % 101};"cl\nörk";{"x" * (300 * (i == 9))};low\n' for i in range(500))
    table = TableFile(written(tmp_path, (HEAD + rows).encode("utf-16")))
    assert table.count_rows(NAMES) == 500
    np.testing.assert_array_equal(encoded(table)[:, 0], np.float32(np.arange(500) % 101 / 100))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"delimiter": ";;"}, "delimiter=';;': must be one character"),
        ({"delimiter": '"'}, "must be one character"),
        ({"delimiter": "§"}, "must be one character"),
        ({"delimiter": ""}, "must be one character"),
        ({"delimiter": 3}, "delimiter=3: must be a text"),
        ({"decimal": "'"}, 'decimal="\'": must be . or ,'),
        ({"encoding": "klingon"}, "encoding='klingon': is not a known encoding"),
        ({"encoding": "hex"}, "is not a known encoding"),
        ({"encoding": "utf-7"}, "is not a known encoding"),
        ({"encoding": "iso2022_jp"}, "is not a known encoding"),
        ({"encoding": "unicode_escape"}, "is not a known encoding"),
        ({"encoding": "a\0b"}, "is not a known encoding"),
        ({"encoding": "utf-8"}, "its first line is not UTF-8 text"),
        ({"encoding": "utf-16"}, "its first line"),
        ({"sheet": "one"}, "t.csv is a CSV file, which has none"),
        ({"query": "SELECT 1"}, "t.csv is a CSV file, which has none"),
    ],
)
def test_options_that_do_not_fit(tmp_path: Path, options: dict[str, str], said: str) -> None:
    place = written(tmp_path, "née;age\nSECRET;1\n".encode("cp1252"))
    with pytest.raises(InputError) as caught:
        TableFile(place, **options).count_rows(["age"])
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "SECRET" not in "".join(traceback.format_exception(caught.value))


def test_decimal_commas_are_read_where_numbers_are() -> None:
    given = {
        "1,5": 1.5, " -0,25 ": -0.25, "1.234,5": 1234.5, "1.234": 1234.0, "1.234.567,": 1234567.0,
        "5,": 5.0, ",5": 0.5, "+7": 7.0, "1,5e2": 150.0, "TRUE": 1.0, "1.5": None, "12.34,5": None,
        "1,234,5": None, "1.2345": None, "": None, "nan": None, "x": None, ".5": None,
        "1e999": None,
    }  # fmt: skip
    column = cells(pa.array(list(given)), ",")
    expected = np.array([np.nan if value is None else value for value in given.values()])
    np.testing.assert_array_equal(column.numbers(), expected)
    np.testing.assert_array_equal(column.take(np.array([2, 0])).numbers(), [1234.5, 1.5])
    packed = cells(pa.array(list(given)).dictionary_encode(), ",")
    np.testing.assert_array_equal(packed.numbers(), expected)
    # A category is compared as it is written, and only then as a number.
    words = cells(pa.array(["1,5", "1.5", "1,50", "a,b", "1.234"]), ",")
    assert words.places(["a,b", "1.5"]).tolist() == [1, 1, 1, 0, UNKNOWN]
    assert words.places(["1,5", "1.5"]).tolist() == [0, 1, 1, UNKNOWN, UNKNOWN]
    assert words.texts() == ["1,5", "1.5", "1,50", "a,b", "1.234"]
    assert cells(pa.array([1.5, 2.0]), ",").numbers().tolist() == [1.5, 2.0]


def test_case_counts_unless_it_is_ignored() -> None:
    column = cells(pa.array([" Yes", "YES", "yes", "no", "NaN", "", None, "1E0", "ÄRGER"]))
    known = ["yes", "NO", "1", "ärger"]
    plain = [UNKNOWN, UNKNOWN, 0, UNKNOWN, MISSING, MISSING, MISSING, 2, UNKNOWN]
    assert column.places(known).tolist() == plain
    ignored = [0, 0, 0, 1, MISSING, MISSING, MISSING, 2, 3]
    assert column.places(known, ignore_case=True).tolist() == ignored
    assert column.places(["YES", "yes"], ignore_case=True).tolist()[:3] == [0, 0, 1]
    assert cells(pa.array(["B", "b"]).dictionary_encode()).places(["b"], True).tolist() == [0, 0]
    assert cells(pa.array([True, False])).places(["FALSE"], True).tolist() == [UNKNOWN, 0]
    assert cells(pa.array([], pa.string())).places(["a"], ignore_case=True).tolist() == []


def test_300_fuzzed_files_with_options_give_rows_or_an_input_error(tmp_path: Path) -> None:
    draw = random.Random(11)
    encodings = ["utf-16", "latin-1", "cp1252", "shift_jis", "gbk", "utf-32", "cp037", None]
    for i in range(300):
        encoding = encodings[i % len(encodings)]
        changed = bytearray((HEAD + "50,5;clerk;north;low\n" * 8).encode(encoding or "utf-8"))
        for _ in range(draw.randint(1, 6)):
            at = draw.randrange(len(changed))
            changed[at : at + draw.randint(0, 3)] = draw.randbytes(draw.randint(0, 4))
        said = ""
        with warnings.catch_warnings(action="error"):
            try:
                table = TableFile(written(tmp_path, bytes(changed)), decimal=",", encoding=encoding)
                assert encoded(table).shape[1] == 8
            except InputError as error:
                said = str(error)
        assert "\n" not in said
