"""Several files, folders and Parquet datasets as one table."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from schema_examples import rows_of, small_schema

from honestdp.errors import InputError
from honestdp.schema import Categorical, TableFile, from_header
from honestdp.schema.cells import cells as cells_of
from honestdp.schema.files import same_table

NAMES = ["age", "job", "town", "pay"]


def csv(place: Path, ages: list[object], names: list[str] | None = None) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    cells = {"job": "clerk", "town": "north", "pay": "low", "more": "1"}
    names = NAMES if names is None else names
    lines = [",".join(str({"age": age, **cells}[name]) for name in names) for age in ages]
    place.write_text("\n".join([",".join(names), *lines, ""]))
    return place


def parquet_file(place: Path, ages: list[object], **more: object) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    cells = {"job": "clerk", "town": "north", "pay": "low"}
    columns = {"age": ages, **{name: [text] * len(ages) for name, text in cells.items()}}
    parquet.write_table(pa.table({**columns, **more}), place)
    return place


def ages(table: object) -> list[float]:
    return [round(float(age) * 100) for age in rows_of(small_schema().encode(table))[:, 0]]


def test_rows_follow_each_other_in_the_given_order(tmp_path: Path) -> None:
    one = csv(tmp_path / "b.csv", [1, 2])
    other = csv(tmp_path / "a.csv", [3], ["pay", "more", "age", "town", "job"])
    table = TableFile([one, str(other)])
    assert table.names == NAMES
    assert str(table) == f"{one} and 1 more"
    assert table.count_rows(NAMES) == 3
    assert ages(table) == [1, 2, 3]
    assert ages([other, one]) == [3, 1, 2]
    assert ages(TableFile((one,))) == [1, 2]
    assert ages([one, parquet_file(tmp_path / "c.parquet", [4.0, None])]) == [1, 2, 4, 40]


def test_files_of_several_types_have_one_meaning(tmp_path: Path) -> None:
    """Whatever type a column has in another file."""
    kinds = [[1, 2], [1.5, None], ["1.5", "x"], [True, False], [2**60, 7]]
    places = [parquet_file(tmp_path / f"{i}.parquet", kind) for i, kind in enumerate(kinds)]
    alone = np.concatenate([rows_of(small_schema().encode(place)) for place in places])
    np.testing.assert_array_equal(rows_of(small_schema().encode(places)), alone)
    commas = TableFile([*places, csv(tmp_path / "t.csv", ['"2,5"'])], decimal=",")
    column = small_schema().encode(commas).inputs[:, 0]
    assert float(column[2]) == pytest.approx(0.015)  # a number is none of text
    assert float(column[-1]) == pytest.approx(0.025)


def test_decimals_of_several_types_are_numbers(tmp_path: Path) -> None:
    """Nothing of a file says that 1.50 and 1.5000 are texts that differ."""
    cells = [Decimal("1.50"), None, Decimal("40.25"), Decimal("0.00")]
    kinds = [pa.decimal128(10, 2), pa.decimal128(12, 4), pa.decimal256(60, 30), pa.float64()]
    places = []
    for i, kind in enumerate(kinds):
        given = (
            cells if pa.types.is_decimal(kind) else [None if c is None else float(c) for c in cells]
        )
        places.append(tmp_path / f"{i}.parquet")
        parquet.write_table(pa.table({"x": pa.array(given, kind)}), places[-1])
    read = TableFile(places).read(["x"]).column("x")
    assert read.type == pa.float64()
    assert read.to_pylist() == [1.5, None, 40.25, 0.0] * 4
    rate = Categorical(name="x", categories=("1.5", "40.25"))
    alone = [rate.encode(cells_of(parquet.read_table(place)["x"])).values for place in places]
    together = rate.encode(cells_of(read)).values
    np.testing.assert_array_equal(together, np.concatenate(alone))
    whole = tmp_path / "whole.parquet"  # as ever: whole numbers stay exact, as text
    parquet.write_table(pa.table({"x": pa.array([2**60 + 1], pa.int64())}), whole)
    assert TableFile([places[0], whole]).read(["x"]).column("x")[-1].as_py() == str(2**60 + 1)


def test_a_folder_is_its_files_by_name(tmp_path: Path) -> None:
    folder = tmp_path / "visits"
    csv(folder / "2.csv", [2])
    csv(folder / "10.csv", [10])
    csv(folder / "more" / "1.csv", [1])
    csv(folder / ".hidden.csv", [99])
    (folder / "_SUCCESS").write_text("")
    (folder / "_tmp").mkdir()
    csv(folder / "_tmp" / "9.csv", [9])
    assert ages(folder) == [10, 2, 1]
    table = TableFile(folder)
    assert (str(table), table.path) == (str(folder), folder)
    assert 'name = "visits"' in from_header(folder)
    assert ages([folder, csv(tmp_path / "t.csv", [5])]) == [10, 2, 1, 5]


def test_hive_partitions_are_columns(tmp_path: Path) -> None:
    folder = tmp_path / "visits.parquet"
    for place, age in (
        ("town=north/year=2020/a.parquet", 1),
        ("town=south%20end/year=2021/a.parquet", 2),
        ("town=__HIVE_DEFAULT_PARTITION__/year=2021/b.parquet", 3),
    ):
        made = parquet_file(folder / place, [age])
        parquet.write_table(parquet.read_table(made, partitioning=None).drop(["town"]), made)
    table = TableFile(folder)
    assert table.names == ["age", "job", "pay", "town", "year"]
    found = table.read(["town", "year", "age"]).to_pydict()
    assert found["town"] == [None, "north", "south end"]
    assert found["year"] == ["2021", "2020", "2021"]
    assert found["age"] == [3, 1, 2]
    assert ages(folder) == [3, 1, 2]


def test_faults_name_the_file(tmp_path: Path) -> None:
    one = csv(tmp_path / "one.csv", [1])
    for name, content, said in (
        ("no.csv", "age,job,pay\n1,clerk,SECRET\n", "no column 'town'"),
        ("long.csv", "age,job,town,pay\n1,SECRET,north,low,1\n", "a line has 5 cells"),
        ("empty.csv", "", "no header"),
    ):
        other = tmp_path / name
        other.write_text(content)
        with pytest.raises(InputError, match=said) as caught:
            small_schema().encode([one, other])
        assert str(caught.value).startswith(str(other))
        assert "SECRET" not in str(caught.value)
    (tmp_path / "nothing").mkdir()
    with pytest.raises(InputError, match="folder without files"):
        TableFile(tmp_path / "nothing")
    with pytest.raises(InputError, match="none of these 2 texts is a path") as caught:
        small_schema().encode(["SECRET", "50,clerk,north,low"])
    assert "SECRET" not in str(caught.value)
    with pytest.raises(InputError, match=r"none\.csv: cannot be read"):
        TableFile([one, tmp_path / "none.csv"])


def test_no_record_counts_twice(tmp_path: Path) -> None:
    one = csv(tmp_path / "one.csv", [1])
    (tmp_path / "link.csv").symlink_to(one)
    for places in ([one, one], [one, tmp_path / "link.csv"], [tmp_path, one]):
        with pytest.raises(InputError, match="is given twice"):
            TableFile(places)


def test_one_file_of_several_is_recognised(tmp_path: Path) -> None:
    one, two, three = (csv(tmp_path / f"{i}" / "t.csv", [i]) for i in range(3))
    copy = csv(tmp_path / "copy.csv", [1])
    table = TableFile([one, two])
    assert same_table(table, TableFile([three, two]))
    assert same_table(table, TableFile(copy))
    assert same_table(TableFile(tmp_path / "1"), table)
    assert not same_table(table, TableFile(three))
