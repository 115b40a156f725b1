"""The paper's tables: their sizes, their split, and that a row is where it should be."""

from __future__ import annotations

import csv
import gzip
import json
from functools import cache
from importlib.resources import files

import numpy as np
import pytest
from scipy.sparse import csr_matrix, hstack

from honestdp.datasets import Dataset, adult, adult_rare, enron, gisette, mnist, synthetic
from honestdp.datasets.dataset import split, with_target
from honestdp.errors import InputError

COLUMNS = {"honest": 108, "paper": 104, "paper-doubled": 202}


def shapes(found: Dataset) -> tuple[int, int, int]:
    """Rows to train on, rows to score on, encoded columns."""
    parts = [found.schema.encode(table) for table in (found.train, found.validation)]
    for part in parts:
        assert 0 <= part.inputs.min() <= part.inputs.max() <= 1
        assert len(part.names) == part.inputs.shape[1]
        if found.schema.target.classes is not None:
            assert set(np.unique(part.targets)) == set(range(len(found.schema.target.classes)))
    return len(parts[0]), len(parts[1]), len(parts[0].names)


@cache
def census() -> list[tuple[str, ...]]:
    text = gzip.decompress((files("honestdp.datasets") / "adult.csv.gz").read_bytes()).decode()
    return [tuple(row) for row in csv.reader(text.splitlines())][1:]


def cells(table) -> list[tuple[str, ...]]:
    return [tuple(map(str, row.values())) for row in table.to_pylist()]


# Adult, which comes with the package


def test_adult_as_the_census_split_it() -> None:
    found = adult()
    assert shapes(found) == (32_561, 16_281, COLUMNS["honest"])
    assert cells(found.train) == census()[:32_561]
    assert cells(found.validation) == census()[32_561:]


def test_adult_with_a_rare_class() -> None:
    found = adult_rare()
    for table, rows, rare in ((found.train, 26297, 1577), (found.validation, 13228, 793)):
        cells = table[found.schema.target.column].to_pylist()
        assert (len(cells), cells.count(">50K")) == (rows, rare)
    assert found.train.equals(adult_rare(0.06).train)  # by a public seed
    with pytest.raises(InputError, match="share=1"):
        adult_rare(1.0)


def test_adult_as_the_paper_has_it() -> None:
    found = adult("paper")
    assert shapes(found) == (36_177, 9_045, COLUMNS["paper"])
    known = [row for row in census() if "?" not in row]
    trains, validates = split(len(known))
    assert cells(found.train) == [known[i] for i in trains]
    assert cells(found.validation) == [known[i] for i in validates]


def test_every_bound_and_category_of_the_paper_is_reached() -> None:
    """They were read off the rows: there is no column without a 1, none that stops below it."""
    found = adult("paper")
    parts = [found.schema.encode(t, sparse=False).inputs for t in (found.train, found.validation)]
    assert (np.vstack(parts).max(0) == 1).all()


def test_the_doubled_columns_are_equal_pairs() -> None:
    found = adult("paper-doubled")
    assert shapes(found) == (36_177, 9_045, COLUMNS["paper-doubled"])
    encoded = found.schema.encode(found.validation, sparse=False)
    at = {name: i for i, name in enumerate(encoded.names)}
    again = [name for name in at if " again=" in name]
    assert len(again) == 98
    for name in again:
        first = at[name.replace(" again=", "=")]
        assert np.array_equal(encoded.inputs[:, at[name]], encoded.inputs[:, first]), name
    plain = adult("paper")
    same = plain.schema.encode(plain.validation, sparse=False).inputs
    assert np.array_equal(encoded.inputs[:, :104], same)


def test_a_view_that_is_none() -> None:
    with pytest.raises(InputError, match=r"^view='plain': must be one of honest, paper, paper-dou"):
        adult("plain")  # type: ignore[arg-type]


# The split


@pytest.mark.parametrize(
    ("rows", "first", "scored"),
    [
        (10, [4, 7, 3], [1, 0]),
        (5_172, [1404, 2000, 4740], [1693, 4297, 4897]),
        (6_000, [247, 1641, 5636], [5804, 5385, 4705]),
        (12_500, [5890, 11780, 2618], [2092, 2658, 12318]),
        (45_222, [1483, 9532, 31619], [418, 16595, 29225]),
    ],
)
def test_the_split_is_a_fixed_permutation(rows: int, first: list[int], scored: list[int]) -> None:
    trains, validates = split(rows)
    assert sorted([*trains, *validates]) == list(range(rows))  # so no row is in both
    assert len(trains) == int(0.8 * rows)
    assert trains[:3].tolist() == first
    assert validates[:3].tolist() == scored


# The synthetic regression


def test_the_synthetic_regression() -> None:
    found = synthetic()
    assert found.train.shape == (10_000, 11)
    assert found.validation.shape == (2_500, 11)
    assert shapes(found) == (10_000, 2_500, 10)
    for table in (found.train, found.validation):
        assert table[:, -1] == pytest.approx(10 * table[:, :-1].sum(1))
    assert found.train[0, 0] == pytest.approx(0.309921, abs=1e-6)
    assert np.array_equal(found.train, synthetic().train)


# A sparse table made by hand


def test_a_table_with_its_target_is_what_scipy_makes() -> None:
    random = np.random.RandomState(1)
    inputs = random.randint(0, 3, (20, 7)).astype(np.uint16)
    inputs[4], inputs[:, 2] = 0, 0  # a row and a column of nothing
    targets = random.randint(0, 2, 20).astype(np.uint8)
    made = with_target(inputs, targets)
    wanted = csr_matrix(hstack([csr_matrix(inputs), csr_matrix(targets[:, None])]))
    assert made.dtype == np.float32
    assert made.has_canonical_format
    assert np.array_equal(made.toarray(), wanted.toarray())
    assert made.nnz == wanted.nnz


# With the data


@pytest.mark.data
def test_mnist(data_folder) -> None:
    found = mnist()
    assert shapes(found) == (60_000, 10_000, 784)
    with np.load(data_folder / "mnist.npz") as file:
        inputs, targets = file["X"], file["y"]
    for table, start in ((found.train, 0), (found.validation, 60_000)):
        rows = table[:500].toarray()
        assert np.array_equal(rows[:, :-1], inputs[start : start + 500])
        assert np.array_equal(rows[:, -1], targets[start : start + 500])


@pytest.mark.data
def test_enron(data_folder) -> None:
    """Both classes are on either side, although the file is sorted by them (`shapes`)."""
    found = enron()
    assert shapes(found) == (4_137, 1_035, 5_512)
    with gzip.open(data_folder / "enron1.jsonl.gz") as file:
        mails = [json.loads(line) for line in file]
    trains, validates = split(len(mails))
    for table, rows in ((found.train, trains), (found.validation, validates)):
        labels = table[:, [-1]].toarray().ravel()
        assert np.array_equal(labels, [mails[i]["label"] for i in rows])
        at = [c.name for c in found.schema.columns].index("word meter")
        counts = table[:, [at]].toarray().ravel()
        said = [mails[i]["text"].lower().split().count("meter") for i in rows]
        assert np.array_equal(counts, said)  # a word that stands alone in these mails
    spam = found.validation[:, [-1]].mean()
    assert spam == pytest.approx(0.29, abs=0.03)


@pytest.mark.data
def test_the_stand_in(data_folder) -> None:
    found = gisette()
    assert shapes(found) == (4_800, 1_200, 5_000)
    assert "not Gisette" in found.schema.name
    with np.load(data_folder / "gisette_standin.npz") as file:
        inputs, targets = file["X"], file["y"]
    trains, validates = split(len(targets))
    for table, rows in ((found.train, trains), (found.validation, validates)):
        whole = table[:500].toarray()
        assert np.array_equal(whole[:, :-1], inputs[rows[:500]])
        assert np.array_equal(table[:, [-1]].toarray().ravel(), targets[rows])
