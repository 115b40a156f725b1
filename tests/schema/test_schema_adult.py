"""Adult, all of it: 48,842 rows, 108 columns, `?` in `other`."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_matrix

from honestdp.datasets import adult
from honestdp.schema import Categorical


@pytest.mark.data
def test_adult_from_its_file_and_from_frames(data_folder: Path) -> None:
    schema = adult().schema
    place = data_folder / "adult.csv.gz"
    encoded = schema.encode(place)
    assert encoded.inputs.shape == (48842, 108)
    assert len(encoded.names) == schema.width == 108
    assert isinstance(encoded.inputs, csr_matrix)
    assert encoded.inputs.nnz == 48842 * 14
    assert np.bincount(encoded.targets).tolist() == [37155, 11687]
    counts = dict(zip(encoded.names, np.asarray(encoded.inputs.sum(axis=0))[0], strict=True))
    others = [counts[f"{name} (other)"] for name in ("workclass", "occupation", "native-country")]
    assert others == [2799, 2809, 857]
    words = [c for c in schema.columns if isinstance(c, Categorical)]
    assert sum(counts[name] for column in words for name in column.encoded_names) == 48842 * len(
        words
    )
    frame = pd.read_csv(place)
    for table in (frame, pl.read_csv(place), frame.to_numpy()):
        again = schema.encode(table)
        assert (again.inputs != encoded.inputs).nnz == 0
        np.testing.assert_array_equal(again.targets, encoded.targets)
    started = time.process_time()
    dense = schema.encode(frame, sparse=False)
    assert time.process_time() - started < 1.0  # measured: 0.06 s
    np.testing.assert_array_equal(dense.inputs, encoded.inputs.toarray())


@pytest.mark.data
def test_the_embedded_table_is_the_census(data_folder: Path) -> None:
    own = adult()
    frame = pd.read_csv(data_folder / "adult.csv.gz")
    for part, rows in ((own.train, frame[:32561]), (own.validation, frame[32561:])):
        assert part.column_names == list(rows.columns)
        found = part.to_pandas().to_numpy(dtype=str)
        np.testing.assert_array_equal(found, rows.to_numpy(dtype=str))


def test_adult_declares_what_the_notes_say() -> None:
    schema = adult().schema
    words = [c for c in schema.columns if isinstance(c, Categorical)]
    assert [len(column.categories) for column in words] == [8, 16, 7, 14, 6, 5, 2, 41]
    assert [column.name for column in words if column.other] == [
        *["workclass", "occupation", "native-country"]
    ]
    assert schema.sparse


def test_the_schema_needs_no_torch() -> None:
    code = "import sys, honestdp.schema; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
