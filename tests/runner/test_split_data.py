"""On every dataset both sides of the public split hold every class."""

from __future__ import annotations

import csv
import gzip
import io
import json

import numpy as np
import pytest

from honestdp.planning.make import make_plan
from honestdp.planning.spec import Spec
from honestdp.runner.private_data import split
from search_tables import GRID, SCHEMA

pytestmark = pytest.mark.data


def adult(folder):
    text = gzip.decompress((folder / "adult.csv.gz").read_bytes()).decode()
    return [row[14] for row in list(csv.reader(io.StringIO(text)))[1:]]


def enron(folder):  # sorted by label: a cut by position would leave one class in validation
    return [json.loads(line)["label"] for line in gzip.open(folder / "enron1.jsonl.gz")]


def mnist(folder):
    return np.load(folder / "mnist.npz")["y"].tolist()


def gisette_standin(folder):
    return np.load(folder / "gisette_standin.npz")["y"].tolist()


@pytest.mark.parametrize("validation", [0.1, 0.2, 0.5])
@pytest.mark.parametrize("load", [adult, enron, mnist, gisette_standin])
def test_both_sides_hold_every_class(load, validation, data_folder):
    labels = np.array(load(data_folder))
    plan = make_plan(
        Spec(schema=SCHEMA, rows=len(labels), epsilon=1.0, grid=GRID, validation=validation,
             procedure="composition", steps=100)
    )  # fmt: skip
    training, held_out, *_ = split(plan)
    assert len(held_out) == round(validation * len(labels))
    shares = [np.unique(labels[side], return_counts=True) for side in (training, held_out)]
    assert shares[0][0].tolist() == shares[1][0].tolist() == sorted(set(labels.tolist()))
    # As even as chance makes them: within six standard deviations.
    for whole, part in zip(shares[0][1] + shares[1][1], shares[1][1], strict=True):
        assert abs(part - validation * whole) < 6 * np.sqrt(whole * validation)
