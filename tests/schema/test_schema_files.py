"""Files: every cell of a CSV is text, faults of the file are named without a cell."""

from __future__ import annotations

import gzip
import random
import traceback
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from schema_examples import rows_of, small_schema

from honestdp.errors import InputError
from honestdp.schema import Categorical, files, from_header
from honestdp.schema.sources import csv

HEAD = "age,job,town,pay\n"


def encoded(folder: Path, content: str | bytes, name: str = "t.csv") -> np.ndarray:
    place = folder / name
    place.write_bytes(content.encode() if isinstance(content, str) else content)
    return rows_of(small_schema().encode(place))


PLAIN = [[0.5, 1, 0, 0, 0, 1, 0, 0], [0.4, 0, 0, 0, 1, 0, 0, 1]]


@pytest.mark.parametrize(
    "content",
    [
        HEAD + "50,clerk,north,low\n,x,y,high\n",
        HEAD + "50,clerk,north,low\n,x,y,high",
        "\ufeff" + HEAD + "50,clerk,north,low\n,x,y,high\n",
        HEAD.replace("\n", "\r\n") + '"50","clerk",north ,low\r\n,"x\r\n, """,y,high\r\n',
        HEAD + "\n50,clerk,north,low\n\n,x,y,high\n\n",  # an empty line is no row
        " age , job,town,pay,,\n50,clerk,north,low,1,2\n,x,y,high,3,4\n",
        b"age,job,town,pay\n50,clerk,north,low\n\xff,\xfe\xff,y,high\n",
        b"age,job,town,pay,n\xe9e\n50,clerk,north,low,1\n,x,y,high,1\n",
        '"age","job\n","town","pay"\n50,clerk,north,low\n,x,y,high\n',
    ],
)
def test_spellings_of_one_table(tmp_path: Path, content: str | bytes) -> None:
    np.testing.assert_array_equal(encoded(tmp_path, content), np.array(PLAIN, dtype=np.float32))


def test_an_empty_line_of_a_single_column_is_a_missing_cell(tmp_path: Path) -> None:
    schema = small_schema(columns=[Categorical(name="w", categories=["a"], other=True)])
    place = tmp_path / "t.csv"
    place.write_text("w\na\n\na\n")
    assert schema.encode_inputs(place).tolist() == [[1, 0], [0, 1], [1, 0]]


def test_a_header_alone_has_no_rows(tmp_path: Path) -> None:
    assert encoded(tmp_path, HEAD).shape == (0, 8)
    with pytest.raises(InputError, match="no rows"):
        encoded(tmp_path, HEAD.strip())


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "no header"),
        ("\n", "no header"),
        (HEAD + "SECRET,clerk,north\n", "a line has 3 cells, the header 4"),
        (HEAD + "SECRET,clerk,north,low,1\n", "a line has 5 cells, the header 4"),
        ("age;job;town\nSECRET;1;2", "no column 'pay'; does it have a header"),
        ("age,job,town,pay,age\nSECRET,1,2,3,4", "several columns are called 'age'"),
        (b"PAR1SECRET", "not a valid Parquet file"),
        (HEAD.encode("utf-16-le") + b"SECRET", "not UTF-8 text; give its encoding"),
        (HEAD.encode("utf-16") + "SECRET".encode("utf-16-le"), "a line has 1 cells, the header 4"),
    ],
)
def test_faults_are_named_without_a_cell(tmp_path: Path, content: str | bytes, said: str) -> None:
    with pytest.raises(InputError) as caught:
        encoded(tmp_path, content)
    message = str(caught.value)
    assert said in message
    assert message.startswith(str(tmp_path / "t.csv"))
    assert "SECRET" not in "".join(traceback.format_exception(caught.value))
    assert "\n" not in message


def test_an_open_quote_loses_no_row_silently(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a line has|not a valid CSV"):
        encoded(tmp_path, HEAD + '50,"clerk,north,low\n50,clerk,north,low\n')


def test_rows_keep_their_place_across_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv, "BLOCK", 100)
    rows = "".join(f'{i % 101},"cl\nerk",north,low\n' for i in range(5000))
    ages = encoded(tmp_path, HEAD + rows)[:, 0]
    np.testing.assert_array_equal(ages, np.float32(np.arange(5000) % 101 / 100))


def test_a_long_cell_is_read_like_any_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That a record has one is not told."""
    monkeypatch.setattr(csv, "BLOCK", 100)
    for length in (1, 90, 5000):
        rows = [f"{i},{'x' * length if i == 30 else 'clerk'},north,low\n" for i in range(60)]
        assert encoded(tmp_path, HEAD + "".join(rows))[:, 0].tolist() == [
            np.float32(i / 100) for i in range(60)
        ]


def test_paths_that_hold_no_table(tmp_path: Path) -> None:
    whole = gzip.compress((HEAD + "50,SECRET,north,low\n" * 1000).encode())
    for place, content in (("cut.csv.gz", whole[: len(whole) // 2]), ("not.csv.gz", b"SECRET")):
        with pytest.raises(InputError, match=place) as caught:
            encoded(tmp_path, content, place)
        assert "SECRET" not in "".join(traceback.format_exception(caught.value))
    for place in (tmp_path, tmp_path / "none.csv", "a\0b"):
        with pytest.raises(InputError, match="cannot be read"):
            small_schema().encode(place)


def test_300_fuzzed_files_give_rows_or_an_input_error(tmp_path: Path) -> None:
    draw = random.Random(7)
    good = {
        "t.csv": (HEAD + "50,clerk,north,low\n" * 8).encode(),
        "t.parquet": _parquet(tmp_path / "good.parquet"),
    }
    for i in range(300):
        name, content = list(good.items())[i % 2]
        changed = bytearray(content)
        for _ in range(draw.randint(1, 6)):
            at = draw.randrange(len(changed))
            if draw.random() < 0.5:
                changed[at] = draw.choice([0, 10, 13, 34, 44, 255, draw.randrange(256)])
            else:
                changed[at : at + draw.randint(0, 9)] = draw.randbytes(draw.randint(0, 9))
        said = ""
        try:
            assert encoded(tmp_path, bytes(changed), name).shape[1] == 8
        except InputError as error:
            said = str(error)
        assert "\n" not in said


def _parquet(place: Path) -> bytes:
    names = HEAD.strip().split(",")
    parquet.write_table(pa.table({name: ["50", "clerk"] for name in names}), place)
    return place.read_bytes()


def test_names_come_from_a_parquet_file_too(tmp_path: Path) -> None:
    place = tmp_path / "people.parquet"
    place.write_bytes(_parquet(place))
    text = from_header(place, target="town")
    assert 'name = "people"' in text
    assert 'column = "town"' in text
    assert "\npay = {}\n" in text
    assert "clerk" not in text


def test_one_file_by_two_names_or_of_equal_bytes(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(files, "_CHUNK", 7)
    one, other = tmp_path / "one.csv", tmp_path / "other.csv"
    one.write_bytes(b"a,b\n1,2\n3,4\n5,6\n")
    assert files.same_file(one, one)
    for link in (other.symlink_to, other.hardlink_to):
        link(one)
        assert files.same_file(one, other)
        other.unlink()
    whole = one.read_bytes()
    other.write_bytes(whole)
    assert files.same_file(one, other)
    for place in range(len(whole)):  # of one size, and another byte in any chunk
        other.write_bytes(whole[:place] + b"x" + whole[place + 1 :])
        assert not files.same_file(one, other)
    for content in (b"", whole[:-1], whole + b"\n", whole.replace(b"\n", b"\r\n")):
        other.write_bytes(content)
        assert not files.same_file(one, other)
        assert not files.same_file(other, one)


def test_a_file_is_parsed_once_and_its_cells_are_handed_out_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "t.csv"
    place.write_text(HEAD + "50,clerk,north,low\n" * 3)
    parsed, parse = [], csv.read_csv
    monkeypatch.setattr(csv, "read_csv", lambda *given: (parsed.append(1), parse(*given))[1])
    schema = small_schema()
    wanted = [*schema.input_names, "pay"]
    table = files.TableFile(place)
    assert (table.names, parsed) == (HEAD.strip().split(","), [])
    assert table.count_rows(wanted) == table.count_rows(wanted) == 3
    assert len(schema.encode(table)) == 3
    assert parsed == [1]
    assert table.source._parsed is None
    assert "clerk" not in repr(table)
    assert table.read(["age"]).column_names == ["age"]  # and anew, if it is wanted again
    with pytest.raises(InputError, match="no column 'ward'"):
        table.check(["age", "ward", "pay"])
    (tmp_path / "t.parquet").write_bytes(_parquet(tmp_path / "t.parquet"))
    parquet_file = files.TableFile(tmp_path / "t.parquet")
    assert parquet_file.count_rows(wanted) == parquet_file.read(wanted).num_rows == 2
