"""`coef_`, `intercept_` and `feature_names_out_`: there for linear models, in sklearn's shapes."""

from __future__ import annotations

import numpy as np
import pytest
from estimator_tables import NUMBERS, SCHEMA, WORDS, X, Y, search
from sklearn.base import clone

from honestdp import HonestSearch, Schema

NAMES = ("coef_", "intercept_", "feature_names_out_")


def encoded(made: HonestSearch) -> np.ndarray:
    return made.schema_.encode_inputs(X, sparse=False)


def scores(made: HonestSearch) -> np.ndarray:
    return encoded(made) @ made.coef_.T + made.intercept_


def test_two_classes() -> None:
    made = search().fit(X, Y)
    assert made.coef_.shape == (1, made.schema_.width)
    assert made.intercept_.shape == (1,)
    assert made.feature_names_out_.tolist() == made.schema_.encoded_names
    chance = 1 / (1 + np.exp(-scores(made)[:, 0]))
    assert made.predict_proba(X)[:, 1] == pytest.approx(chance, abs=1e-5)


def test_classes_whose_order_is_not_the_schemas() -> None:
    target = WORDS.target.model_copy(update={"classes": ("yes", "no")})
    made = search(schema=WORDS.model_copy(update={"target": target}))
    made.fit(X, np.where(Y, "yes", "no"))
    assert made.classes_.tolist() == ["no", "yes"]
    chance = 1 / (1 + np.exp(-scores(made)[:, 0]))
    assert made.predict_proba(X)[:, 1] == pytest.approx(chance, abs=1e-5)


def test_three_classes() -> None:
    target = SCHEMA.target.model_copy(update={"classes": ("2", "0", "1")})
    made = search(schema=SCHEMA.model_copy(update={"target": target})).fit(X, Y)
    assert made.coef_.shape == (3, made.schema_.width)
    assert made.intercept_.shape == (3,)
    shares = np.exp(scores(made))
    shares /= shares.sum(axis=1, keepdims=True)
    assert made.predict_proba(X) == pytest.approx(shares, abs=1e-5)


def test_numbers_are_in_the_targets_unit() -> None:
    target = NUMBERS.target.model_copy(update={"bounds": (-5.0, 45.0)})
    made = search("linear", schema=NUMBERS.model_copy(update={"target": target}))
    made.fit(X, 20 + 10 * X[:, 0])
    assert made.coef_.shape == (made.schema_.width,)
    assert isinstance(made.intercept_, float)
    assert made.predict(X) == pytest.approx(np.clip(scores(made), -5, 45), abs=1e-4)


def test_categories_have_a_coefficient_each() -> None:
    number = {"kind": "numeric", "name": "a", "bounds": (0, 1), "encode": "linear"}
    ward = {"kind": "categorical", "name": "c", "categories": ("x", "y"), "other": True}
    schema = Schema(name="toy", columns=[number, ward], target=SCHEMA.target)
    made = search(schema=schema).fit({"a": X[:, 0], "c": ["xyz"[i % 3] for i in range(len(X))]}, Y)
    assert made.feature_names_out_.tolist() == ["a", "c=x", "c=y", "c (other)"]
    assert made.coef_.shape == (1, 4)


def test_absent_before_fit_and_for_networks(tmp_path) -> None:
    made = search()
    assert not any(hasattr(made, name) for name in NAMES)
    made.fit(X, Y)
    assert all(hasattr(made, name) for name in NAMES)
    assert not any(hasattr(clone(made), name) for name in NAMES)
    made.save(tmp_path / "run")
    assert (HonestSearch.load(tmp_path / "run").coef_ == made.coef_).all()
    network = search("mlp", module__width=2).fit(X, Y)
    assert not any(hasattr(network, name) for name in NAMES)
    with pytest.raises(AttributeError, match="is not linear"):
        _ = network.coef_
