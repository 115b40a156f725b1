"""`HonestSearch(public=...)`: settings compared on public rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from honestdp import HonestSearch, InputError, Ledger
from honestdp.schema import Numeric, Schema, Target

ROWS, PUBLIC = 300, 100
SCHEMA = Schema(
    name="curve",
    columns=(Numeric(name="a", bounds=(0, 10)), Numeric(name="b", bounds=(0, 1))),
    target=Target(column="z", classes=("0", "1")),
)
GRID = [{"encode": "linear"}, {"encode": "bins"}]


def rows(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    source = np.random.default_rng(seed)
    X = np.c_[source.uniform(0, 10, count), source.uniform(0, 1, count)]
    return X, ((X[:, 0] > 3) & (X[:, 0] < 7)).astype(int)


@pytest.fixture(autouse=True)
def once(monkeypatch):
    monkeypatch.setattr("honestdp.runner.choosing.MOST_ROUNDS", 1)


def search(**changes) -> HonestSearch:
    facts = {"epsilon": 5.0, "schema": SCHEMA, "grid": GRID, "options": None, "steps": 60,
             "lot_size": 40, "check": False, "progress": False}  # fmt: skip
    return HonestSearch(**{**facts, "public": rows(PUBLIC, 1), **changes})


def test_the_protected_rows_pay_for_one_training(tmp_path):
    ledger = Ledger.create(tmp_path / "curve.ledger", schema=SCHEMA, epsilon=9.0, delta=1e-3)
    found = clone(search(ledger=ledger)).fit(*rows(ROWS, 2))
    assert found.best_params_["encode"] == "bins"
    assert found.card_.chosen_on.rows == PUBLIC
    assert found.plan_.procedure.name == "untuned"
    assert found.plan_.public() == search().plan(ROWS).public()
    (charge,) = ledger.history()
    assert charge.receipt.epsilon == found.plan_.epsilon


def test_public_rows_of_every_form():
    X, y = rows(PUBLIC, 1)
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    wanted = search().plan(ROWS).spec.chosen_on
    for public in ((frame, y), frame.assign(z=y), np.c_[X, y]):
        assert search(public=public).plan(ROWS).spec.chosen_on == wanted
    assert "0." not in repr(search()).split("public=")[1].split(",")[0]


def test_what_is_wrong_is_one_line(tmp_path):
    ledger = Ledger.create(tmp_path / "curve.ledger", schema=SCHEMA, epsilon=9.0, delta=1e-3)
    X, y = rows(ROWS, 2)
    wrong = {
        "public: is the protected X itself": {"public": (X, y)},
        "public: a tuple of 3": {"public": (X, y, y)},
        "public: HonestSearch requires y": {"public": X.copy()},
        "public: X has 1 features": {"public": (X[:, :1], y)},
        "public: .*y should be a 1d array": {"public": (rows(5, 1)[0], np.zeros((5, 2)))},
        "public: there is one setting": {"grid": None},
        "procedure='composition'": {"procedure": "composition"},
        "chosen_on": {"options": {"chosen_on": 3}},
    }
    for words, changes in wrong.items():
        with pytest.raises(InputError, match=words) as caught:
            search(ledger=ledger, **changes).fit(X, y)
        assert "\n" not in str(caught.value)
    assert not ledger.history()
