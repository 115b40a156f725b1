"""Tables of every kind give one answer; columns are known by name, or by place, as at fit."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from estimator_tables import NAMES, ROWS, SCHEMA, X, Y, frame, inputs, new_ledger, search, targets
from scipy import sparse

from honestdp import HonestSearch, InputError, Schema
from honestdp.schema import Cross, Image, Numeric, Target

NEW = inputs(40, seed=2)
MIXED = Schema.from_toml("""
name = "mixed"
target = { column = "ill", classes = ["0", "1"] }
columns.a = { kind = "numeric", bounds = [0, 1] }
columns.word = { kind = "categorical", categories = ["low", "high"], other = true }
""")


def numbered(rows: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(rows)


KINDS = {
    "numpy": (np.asarray, np.asarray),
    "fortran": (np.asfortranarray, np.asarray),
    "pandas": (frame, pd.Series),
    "pandas, numbered": (numbered, pd.Series),
    "polars": (lambda rows: pl.DataFrame(rows, schema=NAMES), pl.Series),
    "sparse matrix": (sparse.csr_matrix, np.asarray),
    "sparse array": (sparse.coo_array, np.asarray),
    "torch": (torch.as_tensor, torch.as_tensor),
    "lists": (np.ndarray.tolist, np.ndarray.tolist),
    "a dict": (lambda rows: dict(zip(NAMES, rows.T, strict=True)), np.asarray),
}


@pytest.fixture(scope="module")
def expected():
    made = search().fit(X, Y)
    return made.predict(NEW), made.predict_proba(NEW)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table_gives_the_same_model(kind, expected) -> None:
    rows, column = KINDS[kind]
    made = search().fit(rows(X), column(Y))
    labels, likely = expected
    found = made.predict(rows(NEW))
    assert (found == labels).all()
    assert found.dtype == labels.dtype
    assert np.allclose(made.predict_proba(rows(NEW)), likely, atol=1e-5)
    assert made.score(rows(NEW), column(targets(NEW))) == np.mean(found == targets(NEW))
    assert made.n_features_in_ == 3
    assert hasattr(made, "feature_names_in_") == (kind in ("pandas", "polars", "a dict"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_module_reads_every_kind_too(kind) -> None:
    rows, column = KINDS[kind]
    module = torch.nn.Linear(3, 1)
    made = search(module, {"rule": "dpsgd", "learning_rate": 1.0}, steps=5)
    found = made.fit(rows(X), column(Y)).predict_proba(rows(NEW))
    assert np.allclose(found, made.fit(X, Y).predict_proba(NEW), atol=1e-5)


def test_numbers_of_any_width() -> None:
    made = [search().fit(X.astype(kind), Y).predict(NEW.astype(kind)) for kind in ("f4", "f8")]
    assert (made[0] == made[1]).all()


def test_columns_are_found_by_name_whatever_their_order(expected) -> None:
    mixed = frame(X)[["c", "a", "b"]].assign(extra="what")
    made = search().fit(mixed, Y)
    assert list(made.feature_names_in_) == ["c", "a", "b", "extra"]
    new = frame(NEW)[["c", "a", "b"]].assign(extra="ever")
    assert (made.predict(new) == expected[0]).all()


def test_an_array_after_a_frame_is_read_in_the_frames_order(expected) -> None:
    order = ["c", "a", "b"]
    made = search().fit(frame(X)[order], Y)
    for kind in (np.asarray, sparse.csr_matrix, torch.as_tensor, numbered):
        with pytest.warns(UserWarning, match="X does not have valid feature names"):
            found = made.predict(kind(frame(NEW)[order].to_numpy().copy()))
        assert (found == expected[0]).all()


def test_a_frame_after_an_array_is_read_by_the_schemas_names(expected) -> None:
    made = search().fit(X, Y)
    assert (made.predict(frame(NEW)[["c", "a", "b"]]) == expected[0]).all()
    with pytest.raises(InputError, match="no column 'a'"):
        made.predict(frame(NEW).rename(columns={"a": "A"}))


def test_a_frame_after_an_array_whose_names_were_made_up(expected) -> None:
    made = search(schema="infer").fit(X, Y)
    with pytest.warns(UserWarning, match="X has feature names"):
        assert (made.predict(frame(NEW)) == made.predict(NEW)).all()


def test_the_target_may_be_a_column_of_the_table(expected) -> None:
    for table in (frame(X).assign(ill=Y), pl.DataFrame(frame(X)).with_columns(ill=pl.Series(Y))):
        made = search().fit(table)
        assert list(made.feature_names_in_) == NAMES
        assert made.classes_.dtype.kind == "i"
        assert (made.predict(frame(NEW)) == expected[0]).all()
        assert (made.predict(frame(NEW).assign(ill=0)) == expected[0]).all()  # not looked at
    made = search().fit(np.column_stack([X, Y]))
    assert made.n_features_in_ == 3
    assert (made.predict(NEW) == expected[0]).all()


def test_a_frame_of_one_column_as_the_target(expected) -> None:
    for y in (pd.DataFrame({"ill": Y}), Y[:, None], torch.as_tensor(Y)[:, None]):
        with pytest.warns(UserWarning, match="A column-vector y was passed"):
            made = search().fit(X, y)
        assert (made.predict(NEW) == expected[0]).all()


def test_words_and_missing_cells() -> None:
    word = np.where(X[:, 0] > X[:, 1], "high", "low").astype(object)
    word[:5] = None
    table = pd.DataFrame({"a": np.where(X[:, 2] > 1.9, np.nan, X[:, 0]), "word": word})
    made = search(schema=MIXED, steps=60).fit(table, Y)
    assert made.score(table, Y) > 0.8
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        assert (made.predict(table.to_numpy()) == made.predict(table)).all()
    inferred = search(schema="infer", steps=60).fit(table, Y)
    assert inferred.schema_.columns[1].categories == ("high", "low")


BAD = {
    "a path": ("table.csv", Y, "takes tables in memory"),
    "a lazy frame": (pl.DataFrame(X, schema=NAMES).lazy(), Y, "in memory: give X.collect()"),
    "one dimension": (X[:, 0], Y, "Reshape your data"),
    "three dimensions": (X[None], Y, "got 3D array"),
    "no rows": (X[:0], Y[:0], "0 sample(s)"),
    "one row": (X[:1], Y[:1], "1 sample"),
    "no columns": (X[:, :0], Y, "0 feature(s)"),
    "too few columns": (X[:, :2], Y, "X has 2 features, but HonestSearch is expecting 3"),
    "another column": (frame(X).rename(columns={"a": "A"}), Y, "no column 'a'"),
    "no target": (X, None, "requires y to be passed, but the target y is None"),
    "no target column": (frame(X), None, "X has no column 'ill'"),
    "a short target": (X, Y[:-1], "199 rows"),
    "two targets": (X, np.column_stack([Y, Y]), "y should be a 1d array"),
    "twins": (pd.DataFrame(X, columns=["a", "a", "c"]), Y, "each column have its own name"),
    "ragged": ([[1, 2, 3], [1, 2]], [0, 1], "Expected 2D array"),
    "a number": (3, Y, "Reshape your data"),
    "words and numbers": (pd.DataFrame(X, columns=["a", "b", 7]), Y, "all input features have str"),
    "a lazy target": (X, pl.DataFrame({"ill": Y}).lazy(), "y.collect()"),
    "a generator": (X, (v for v in Y), "y: is of type generator; give a column"),
    "one target": (X, 1, "y should be a 1d array"),
    "a sparse target": (X, sparse.csr_array(Y[:, None]), "y.toarray().ravel()"),
    "a dict of targets": (X, dict(enumerate(Y)), "y: is of type dict; give a column"),
    "a text": (X, "987-65-4321", "y: is of type str"),
    "a set": (X, {0, 1}, "y: is of type set"),
}
UNREADABLE = {
    "complex": (X + 1j, Y, "Complex data not supported"),
    "nested lists": (X, [[v] for v in Y.tolist()], "y: holds lists, not targets"),
    "nested objects": (X, pd.Series([[v] for v in Y.tolist()]), "y: holds lists, not targets"),
}


@pytest.mark.parametrize("name", BAD)
def test_tables_that_are_none_cost_nothing(name, tmp_path) -> None:
    rows, y, said = BAD[name]
    ledger = new_ledger(tmp_path)
    with pytest.raises(InputError) as raised:
        search(ledger=ledger).fit(rows, y)
    assert said in str(raised.value)
    assert ledger.history() == ()


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_simulation_tells_of_cells_that_nobody_can_read(name) -> None:
    """A run that is paid for does not: a single cell that can be read would silence it."""
    rows, y, said = UNREADABLE[name]
    with pytest.raises(InputError, match=said):
        search().fit(rows, y)


def test_columns_at_predict_are_those_of_fit() -> None:
    made = search().fit(frame(X), Y)
    for columns, said in (
        (["b", "a", "c"], "must be in the same order"),
        (["a", "b", "d"], "unseen at fit time:\n- d\n.*now missing:\n- c\n"),
        (["a", "b"], "yet now missing:\n- c\n"),
    ):
        bad = pd.DataFrame(NEW[:, : len(columns)], columns=columns)
        with pytest.raises(ValueError, match=f"(?s)The feature names should match.*{said}"):
            made.predict(bad)
    many = pd.DataFrame(np.zeros((2, 20)), columns=[f"z{i}" for i in range(20)])
    with pytest.raises(ValueError, match=r"- z11\n- z12\n- \.\.\.\n"):
        made.predict(many)
    with pytest.raises(ValueError, match="X has 2 features, but HonestSearch is expecting 3"):
        search().fit(X, Y).predict_proba(NEW[:, :2])


def test_names_that_may_be_cells_are_not_shown(tmp_path) -> None:
    made = search(ledger=new_ledger(tmp_path)).fit(frame(X), Y)
    for names in (["Jane Doe", "987-65-4321", "c"], ["Jane Doe", "987-65-4321", "17"]):
        with pytest.raises(InputError, match="have a header") as raised:
            made.predict(pd.DataFrame(NEW, columns=names))
        assert "Jane" not in str(raised.value)
        assert "987" not in str(raised.value)
    with pytest.raises(InputError, match="unseen at fit time:\n- d\n"):
        made.predict(frame(NEW).rename(columns={"c": "d"}))


NUMBERED = Schema(
    name="toy",
    columns=tuple(c.model_copy(update={"name": str(i)}) for i, c in enumerate(SCHEMA.columns)),
    target=SCHEMA.target,
)


def test_numbers_are_names_where_the_schema_has_them() -> None:
    made = search(schema=NUMBERED).fit(numbered(X)[[2, 0, 1]], Y)
    labels = search().fit(X, Y).predict(NEW)
    assert list(made.feature_names_in_) == ["2", "0", "1"]
    assert (made.predict(numbered(NEW)[[2, 0, 1]]) == labels).all()
    assert (made.predict(numbered(NEW).rename(columns=str)[["2", "0", "1"]]) == labels).all()
    placed = search(schema=NUMBERED).fit(X, Y)
    assert (placed.predict(numbered(NEW)[[2, 1, 0]]) == labels).all()


def test_names_are_forgotten_when_fit_again_without() -> None:
    made = search().fit(frame(X), Y).fit(X, Y)
    assert not hasattr(made, "feature_names_in_")


def test_no_message_quotes_a_cell(tmp_path) -> None:
    secret = "Ms Smith, 17 Elm Row"
    table = frame(X).astype(object)
    table.iloc[3, 1] = secret
    ledger = new_ledger(tmp_path)
    made = search(ledger=ledger).fit(table, [secret, *Y.tolist()[1:]])
    assert secret not in repr(made) + made._repr_html_() + str(made.get_params())
    for given in ([[secret]], [secret], secret, {secret: secret}, {"a": secret}):
        with pytest.raises(InputError) as raised:
            made.predict(given)
        if not isinstance(given, dict):
            assert secret not in str(raised.value)
    with pytest.raises(InputError) as raised:
        made.score(table, np.full((ROWS, 2), secret), public=True)
    assert secret not in str(raised.value)


def test_nothing_of_the_rows_stays_in_the_estimator() -> None:
    import pickle

    marked = X.copy()
    marked[7] = 0.123456789
    made = search().fit(marked, Y)
    assert np.float64(0.123456789).tobytes() not in pickle.dumps(made)
    assert made.schema_ == search().fit(X, Y).schema_


def test_an_array_has_a_column_for_each_that_is_read():
    """Pixels of an image, and pairs of columns, are no columns of their own."""
    source = np.random.default_rng(0)
    pixels = source.integers(0, 256, (60, 6))
    dark = np.where(pixels[:, 0] < 128, "yes", "no")
    schema = Schema(
        name="scans",
        target=Target(column="dark", classes=("no", "yes")),
        columns=(
            Image(name="scan", size=(2, 2), columns="p*"),
            Numeric(name="dose", bounds=(0, 255)),
            Numeric(name="age", bounds=(0, 255)),
            Cross(name="dose and age", columns=("dose", "age")),
        ),
    )
    search = HonestSearch("logistic", epsilon=1.0, schema=schema, random_state=1)
    of_array = search.fit(pixels, dark).predict(pixels)
    assert search.n_features_in_ == 6
    frame = pd.DataFrame(pixels, columns=schema.input_names)
    assert search.fit(frame, dark).predict(frame).tolist() == of_array.tolist()
    with pytest.raises(InputError, match="X has 4 features"):
        search.fit(pixels[:, :4], dark)
