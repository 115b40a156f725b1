"""Neighbouring lots, compared in whole numbers: a record moves every sum by at most UNITS.

Two lots differ in one record, which is null in the other. Their sums are whole numbers, so the
distance is known exactly; the theorem is `engine.grid`'s. Every path is driven: compiled kernels,
torch as a GPU runs it, modules, chunks, int32 and int64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from adversarial import KINDS, PATHS, lot, models, parameters, rows_of, units, with_null
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from honestdp.engine import (
    Candidate,
    Linear,
    Randomness,
    Schedule,
    TwoLayer,
    clipped_sum,
    examples,
    grid,
    predict,
    size,
    train,
)
from honestdp.engine.grid import (
    BLOCK,
    LARGEST_INT32_LOT,
    block_limit,
    check_products,
    row_limit,
)
from honestdp.errors import InputError
from honestdp.units import UNITS

path_names = [f"{name}-{rows}{'-gpu' if gpu else ''}" for name, rows, gpu in PATHS]
CLOSED_FORM = ("linear", "two-layer")
every_path = pytest.mark.parametrize("path", PATHS, ids=path_names)


def moved(path, X, y, record, params, clip, classes, **more) -> list[int]:
    """By how much the record moves each candidate's sum: the squared norm, in units."""
    other = with_null(X, y, record)
    sums = [
        units(path, rows_of(*table, path[1]), params, clip, classes, **more)
        for table in ((X, y), other)
    ]
    return [int((row**2).sum()) for row in sums[0] - sums[1]]


@settings(max_examples=60, deadline=None)
@given(
    path=st.sampled_from(PATHS),
    kind=st.sampled_from(sorted(KINDS)),
    classes=st.sampled_from([None, 2, 4]),
    rows=st.sampled_from([1, 2, 7, 8, 9, BLOCK, BLOCK + 1, 200]),
    clip=st.sampled_from([1e-6, 0.1, 1.0, 300.0, None]),
    weight=st.sampled_from([0.0, 1e-10, 1.0, 1e10, 1e30]),
    memory=st.sampled_from([1, 4000, 1 << 24]),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_record_moves_a_sum_by_at_most_its_sensitivity(
    path, kind, classes, rows, clip, weight, memory, seed
):
    if memory == 1 and path[0] not in CLOSED_FORM:
        rows = min(rows, 9)  # a pass through autograd for every row, whose number changes nothing
    X, y = lot(kind, rows, seed, classes)
    params = parameters(classes, path[0], seed % 2**31, weight)
    record = seed % rows
    for square in moved(path, X, y, record, params, clip, classes, memory=memory):
        assert square <= UNITS**2


@every_path
@pytest.mark.parametrize("kind", ["absorbed", "alternating", "half_units"])
def test_nor_does_it_in_a_lot_of_thousands(path, kind):
    """Lots at and beyond what int32 holds; the record is first, where it can do most harm."""
    for rows in (LARGEST_INT32_LOT, LARGEST_INT32_LOT + 1, 4097):
        X, y = lot(kind, rows, rows, None)
        X[0], y[0] = 0.0, -1.0
        params = parameters(None, path[0], 0, 0.0)
        for square in moved(path, X, y, 0, params, 1.0, None):
            assert square <= UNITS**2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "kind"),
    [(p, k) for p in PATHS for k in sorted(KINDS) if p[0] in CLOSED_FORM or k == "absorbed"],
    ids=str,
)
def test_nor_in_a_lot_of_100_000(path, kind):
    X, y = lot(kind, 100_000, 5, None)
    X[0], y[0] = 0.0, -1.0
    params = parameters(None, path[0], 1, 0.3)
    for record in (0, 99_999):
        for square in moved(path, X, y, record, params, 1.0, None):
            assert square <= UNITS**2


@pytest.mark.parametrize("rows", [4097, 8193, 16_385, 49_153, 98_305])
def test_the_lots_that_broke_sums_in_float32(rows):
    """They moved by 1.25 to 64.5 times the clip norm. Now they move by what the record is."""
    X, y = lot("absorbed", rows, 0, None)
    params = torch.zeros(2, size(Linear(3, None)))
    for path in (("linear", "dense", False), ("linear", "sparse", False)):
        for square in moved(path, X, y, 0, params, 1.0001, None):
            assert UNITS * 0.999 <= square**0.5 <= UNITS
    gradients = -y.astype(np.float32)
    plain = np.cumsum(gradients)[-1] - np.cumsum(gradients[1:])[-1]
    assert plain >= 1.25  # a sum in float32 of the same numbers


@pytest.mark.parametrize(
    ("classes", "path"),
    [
        pytest.param(
            classes,
            path,
            id=f"{classes}-{name}",
            # A gradient a row through autograd takes its time.
            marks=[pytest.mark.slow] if path[0] not in CLOSED_FORM and classes != 2 else [],
        )
        for classes in (None, 2, 4)
        for path, name in zip(PATHS, path_names, strict=True)
    ],
)
def test_order_chunks_and_types_change_nothing(path, classes):
    """Where every row is rounded by itself, sums are equal to the last unit; blocks of rows have an
    order, and their sums are as near as the theorem says."""
    count = 300 if path[0] in CLOSED_FORM else 100  # through autograd one by one, at times
    X, y = lot("powers_of_two", count, 3, classes)
    params = parameters(classes, path[0], 3, 0.1)
    rows = rows_of(X, y, path[1])
    whole = units(path, rows, params, 1.0, classes)
    shuffled = np.random.default_rng(0).permutation(count)
    # A module's own layers may round another way in batches of another size.
    products = path[0] not in CLOSED_FORM or path[2] or path[:2] == ("two-layer", "dense")
    for more in ({"memory": 1}, {"memory": 3000}, {"order": shuffled}):
        again = units(path, rows, params, 1.0, classes, **more)
        if products:
            assert np.abs((again - whole).astype(float)).max() <= count / BLOCK * 400
        else:
            assert (again == whole).all()


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_change_no_bound(threads):
    """A product of torch's on several threads: other orders of addition, the same bound."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        for path in (p for p in PATHS if p[:2] == ("two-layer", "dense")):
            X, y = lot("powers_of_two", 3000, 2, None)
            for square in moved(path, X, y, 9, parameters(None, path[0], 2, 1.0), 1.0, None):
                assert square <= UNITS**2
    finally:
        torch.set_num_threads(before)


@every_path
def test_a_null_record_adds_nothing(path):
    X, y = lot("powers_of_two", 40, 1, None)
    other = with_null(X, y, 17)
    keep = np.arange(40) != 17
    params = parameters(None, path[0], 1, 0.5)
    sums = [
        units(path, rows_of(*table, path[1]), params, 1.0, None)
        for table in (other, (X[keep], y[keep]))
    ]
    assert (sums[0] == sums[1]).all()


def test_the_clip_leaves_room_for_every_rounding():
    """The theorem's constants, by its own inequalities, in fractions of UNITS."""
    for parameters_ in (1, 105, 79_510, 551_401, 10**7):
        root = parameters_**0.5
        free = UNITS * (1 - 2.0**-20)
        assert row_limit(parameters_) + root / 2 <= free * (1 + 1e-12)
        error = BLOCK * 2.0**-24 / (1 - BLOCK * 2.0**-24)
        assert block_limit(parameters_) * (1 + 2 * BLOCK * error) + root <= free * (1 + 1e-12)
        assert 0.98 * UNITS < block_limit(parameters_) < row_limit(parameters_)


def test_a_model_too_large_for_the_grid_is_refused():
    with pytest.raises(InputError, match="has 100000000000 parameters"):
        row_limit(10**11)
    with pytest.raises(InputError, match="too coarse"):
        block_limit(10**11)


@pytest.mark.parametrize("bits", [10, 7])
def test_coarse_matrix_products_are_refused(bits, monkeypatch):
    """A GPU's TF32 rounds the entries of a matrix to 10 bits, the bfloat16 of a CPU to 7."""
    sound = torch.bmm

    def coarse(left, right, **more):
        if left.dtype == torch.float32:
            scale = 2.0 ** (bits + 1)
            left, right = (torch.round(m * scale) / scale for m in (left, right))
        return sound(left, right, **more)

    check_products(torch.device("cpu"))
    monkeypatch.setattr(torch, "bmm", coarse)
    model, rows = TwoLayer(1, 2, width=1), examples([[1.0]], [1])
    with pytest.raises(InputError, match=r"set_float32_matmul_precision\('highest'\)"):
        clipped_sum(model, torch.zeros(4), rows, None, 1.0)
    one = Candidate(noise_multiplier=1.0)
    with pytest.raises(InputError, match="fewer bits"):
        train(model, rows, [one], Schedule(1, 1), Randomness.simulation(0))
    predict(model, torch.zeros(1, 4), rows)  # adds nothing up
    clipped_sum(Linear(1, 2), torch.zeros(2), rows, None, 1.0)  # its kernel multiplies no matrices


@pytest.mark.parametrize("how", ["high", "medium"])
def test_a_setting_of_coarse_products_is_refused(how, monkeypatch):
    monkeypatch.setattr(torch, "get_float32_matmul_precision", lambda: how)
    with pytest.raises(InputError, match="fewer bits"):
        check_products(torch.device("cpu"))


def test_sums_hold_the_largest_lot():
    """Every row at the limit, all of one sign: nothing wraps around in int32 or int64."""
    for rows in (LARGEST_INT32_LOT, LARGEST_INT32_LOT + 1, 50_000):
        X, y = np.zeros((rows, 1), np.float32), np.full(rows, -1e6, np.float32)
        total = clipped_sum(Linear(1, None), torch.zeros(1, 2), X, y, 1.0)
        assert int(total.units[0, 1]) == rows * round(row_limit(2))
    assert grid.accumulator(LARGEST_INT32_LOT) == torch.int32
    assert LARGEST_INT32_LOT * UNITS < 2**31 <= (LARGEST_INT32_LOT + 2) * UNITS


def test_an_entry_rounds_alike_wherever_it_stands():
    """Sparse entries of a column are added eight at a time, and the rest one by one: a record that
    joins or leaves the column moves others from one loop to the other, and they must not change."""
    draws = np.random.default_rng(0)
    path = ("two-layer", "sparse", False)
    for rows in range(1, 30):
        X = draws.choice([1.0, 0.1, 1 / 3, 0.7], (rows, 3))
        y = draws.normal(size=rows)
        params = parameters(None, "two-layer", rows, 0.5)
        whole = units(path, rows_of(X, y, "sparse"), params, 1.0, None)
        alone = sum(
            units(path, rows_of(X[i : i + 1], y[i : i + 1], "sparse"), params, 1.0, None)
            for i in range(rows)
        )
        assert (whole == alone).all()


def stored_twice(record: list[int], how: str) -> Any:
    """Fifty rows with a cell in 41 parts that cancel, and a record whose columns are stored so."""
    cols = np.sort(np.r_[np.arange(8), np.full(40, 7), np.arange(8, 20)])
    values, parts = np.zeros(len(cols)), np.flatnonzero(cols == 7)
    values[parts[0]], values[parts[1]], values[parts[-1]] = 1e16, 1.0, -1e16
    data = np.r_[np.tile(values, 50), np.full(len(record), 0.5)]
    rows = np.r_[np.repeat(np.arange(50), len(cols)), np.full(len(record), 50)]
    columns = np.r_[np.tile(cols, 50), record].astype(np.int64)
    if how == "torch":
        places = np.stack([rows, columns])
        return torch.sparse_coo_tensor(places, data, (51, 20), check_invariants=True)
    starts = np.r_[0, np.cumsum(np.bincount(rows, minlength=51))]
    if how == "csr":
        return sparse.csr_matrix((data, columns, starts), shape=(51, 20))
    return sparse.coo_matrix((data, (rows, columns)), shape=(51, 20))


@pytest.mark.parametrize("how", ["csr", "coo", "torch"])
def test_how_a_record_is_stored_does_not_touch_another(how):
    """SciPy and torch sort all rows where one is not sorted, and parts of a cell change places."""
    y = np.ones(51)
    null = np.where(np.arange(51) < 50, 1.0, np.nan)
    without = clipped_sum(Linear(20, None), torch.zeros(1, 21), stored_twice([], how), null, 1.0)
    for record in ([0, 1], [1, 0], [1, 0, 1, 0, 5, 3, 3]):
        rows = stored_twice(record, how)
        found = clipped_sum(Linear(20, None), torch.zeros(1, 21), rows, y, 1.0)
        apart = (found.units - without.units).numpy().astype(object)
        assert (apart**2).sum() <= UNITS**2


def test_models_and_paths_are_all_there():
    assert {name for name, _, _ in PATHS} == set(models(2))
