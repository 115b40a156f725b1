"""Every fit is paid for or refused; parameters, labels, files and callbacks."""

from __future__ import annotations

import pickle
import re
import signal
from copy import copy, deepcopy
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest
import torch
from estimator_tables import GRID, NUMBERS, ROWS, SCHEMA, WORDS, X, Y, frame, new_ledger, search
from scipy import sparse, stats
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, learning_curve
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer
from torch import nn

from honestdp import HonestSearch, InputError, Spec
from honestdp.errors import Interrupted
from honestdp.estimator.parameters import further
from honestdp.estimator.search import ReleasedCandidate
from honestdp.executors import local
from honestdp.planning.plan import Plan

# Parameters


def test_parameters_are_stored_as_they_are_given_and_copied() -> None:
    made = search("mlp", GRID, module__width=5)
    params = made.get_params()
    assert params["module__width"] == 5
    assert params["grid"] is GRID
    copied = clone(made).set_params(module__width=7, module__activation=None, epsilon=9)
    assert copied.get_params() == {
        **params, "module__width": 7, "module__activation": None, "epsilon": 9,
    }  # fmt: skip
    assert made.get_params()["module__width"] == 5
    copy(made).set_params(module__width=11)
    assert made.get_params()["module__width"] == 5


def test_epsilon_and_schema_have_no_default() -> None:
    for given in ({"epsilon": 1.0}, {"schema": SCHEMA}, {}):
        with pytest.raises(TypeError, match="missing"):
            HonestSearch(**given)


def test_unknown_parameters() -> None:
    with pytest.raises(ValueError, match="'lots' for estimator HonestSearch"):
        search().set_params(lots=3)
    with pytest.raises(InputError, match="steeps: HonestSearch has no such parameter"):
        search(steeps=3).fit(X, Y)


def test_options_are_fields_of_a_spec() -> None:
    known = {field.name for field in fields(Spec)}
    own = set(search().get_params())
    assert known - set(further(search())) - own == {"rows", "chosen_on"}  # made by public=
    for name in ("threshold", "split_seed", "learn_share", "most_runs"):
        assert name in further(search())


THRESHOLD = {"threshold": 0.9, "mean_runs": 2}
BAD = {
    "a random state": ({"random_state": np.random.RandomState(0)}, "random_state: is of type Ra"),
    "a ledger in a simulation": ({"ledger": "x", "random_state": 0}, "which no ledger pays for"),
    "no ledger": ({"random_state": None}, "ledger: none"),
    "infer, for real": ({"random_state": None, "schema": "infer"}, "off the rows, unpaid"),
    "no schema there": ({"schema": "nowhere.toml"}, "nowhere.toml"),
    "no schema": ({"schema": 3}, "schema: is of type int"),
    "rows as a ledger": ({"ledger": X, "random_state": None}, "ledger: is of type ndarray"),
    "rows as a schema": ({"schema": frame(X)}, "schema: is of type DataFrame"),
    "an executor": ({"executor": "ray"}, "executor='ray': must be one of"),
    "an option": ({"options": {"rows": 3}}, "options='rows': there are"),
    "options": ({"options": 3}, "options: is of type int"),
    "progress": ({"progress": "yes"}, "progress='yes'"),
    "a callback": ({"on_candidate": 3}, "on_candidate: is of type int"),
    "epsilon": ({"epsilon": -1}, "epsilon=-1"),
    "a folder": ({"folder": 3}, "folder: is of type int; give a path"),
    "rows as an executor": ({"executor": X}, "executor=<ndarray>: must be"),
    "a model": ({"model": "forest"}, "model='forest'"),
    "a thing": ({"model": 3}, "model: is of type int"),
    "a model of numbers": ({"model": "linear"}, "the target has classes"),
    "a loss": ({"loss": "squared"}, "logistic has 'cross_entropy'"),
    "a width": ({"module__width": 3}, "module__width: logistic has no such option"),
    "a grid": ({"grid": {"rule": "dpsgd", "rate": [1]}}, "grid='rate': cannot be tuned"),
    "a callback of a secret": (
        {"on_candidate": print, "procedure": "threshold", "grid": GRID, "options": THRESHOLD},
        "threshold releases the winner alone",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_refusals_say_why_before_anything_is_read_or_paid(name) -> None:
    changes, said = BAD[name]
    made = search().set_params(**changes)
    with pytest.raises(InputError) as raised:
        made.fit(X, Y)
    assert said in str(raised.value)
    assert not hasattr(made, "release_")


TABLES = {
    "an array": np.full((3, 3), 987654.25),
    "a list": [[987654.25, 1.0], [2.0, 3.0]],
    "a frame": pd.DataFrame({"ssn": ["987654"]}),
    "a dict": {"ssn": ["987654"]},
}
PLACES = {
    "epsilon": lambda given: {"epsilon": given},
    "delta": lambda given: {"delta": given},
    "steps": lambda given: {"steps": given},
    "validation": lambda given: {"validation": given},
    "procedure": lambda given: {"procedure": given},
    "progress": lambda given: {"progress": given},
    "executor": lambda given: {"executor": given},
    "folder": lambda given: {"folder": given},
    "loss": lambda given: {"loss": given, "model": lambda: nn.Linear(3, 2)},
    "loss of logistic": lambda given: {"loss": given},
    "model": lambda given: {"model": given},
    "threshold": lambda given: {"options": {"threshold": given}, "procedure": "threshold"},
    "scores": lambda given: {"options": {"scores": given}},
    "split_seed": lambda given: {"options": {"split_seed": given}},
    "bound": lambda given: {"options": {"bound": given}, "procedure": "untuned"},
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", TABLES)
def test_a_table_in_the_wrong_place_is_never_shown(kind, place) -> None:
    made = search().set_params(**PLACES[place](TABLES[kind]))
    with pytest.raises(InputError) as raised:
        made.fit(X, Y)
    shown = str(raised.value) + repr(made) + made._repr_html_()
    assert "987654" not in shown
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_as_the_number_of_rows_is_never_shown(kind) -> None:
    with pytest.raises(InputError, match="rows=<") as raised:
        search().plan(TABLES[kind])
    assert "987654" not in str(raised.value)


# Plans and budgets


def test_a_plan_is_shown_before_a_row_is_read() -> None:
    found = search(grid="dpsgd-40", epsilon=1.0, delta=1e-5).plan(5000)
    assert isinstance(found, Plan)
    assert found.epsilon <= 1.0
    assert "40 settings" in str(found)
    with pytest.raises(InputError, match="schema='infer': is read off the rows by fit"):
        search(schema="infer").plan(5000)


def test_a_delta_that_protects_nobody_is_refused_unpaid(tmp_path) -> None:
    ledger = new_ledger(tmp_path, 9.0)
    made = search(ledger=ledger, delta=1 / len(X))
    for ask in (lambda: made.plan(len(X)), lambda: made.fit(X, Y)):
        with pytest.raises(InputError, match=f"must be below 1 in {len(X)} rows"):
            ask()
    assert not ledger.history()


def test_every_fit_is_charged_or_refused(tmp_path) -> None:
    ledger = new_ledger(tmp_path, 9.0)
    made = search(ledger=ledger)
    assert made.fit(X, Y) is made
    assert len(ledger.history()) == 1
    assert ledger.history()[0].released
    first = made.release_
    assert not first.simulated
    assert made.card_.guarantee.epsilon <= 8
    with pytest.raises(InputError, match="left are"):
        made.fit(X, Y)
    assert len(ledger.history()) == 1
    assert made.release_ is first
    assert sorted(path.name for path in tmp_path.iterdir()) == ["toy.ledger"]  # no work left over


def test_a_ledger_by_its_path_and_a_schema_by_its_path(tmp_path) -> None:
    ledger = new_ledger(tmp_path)
    SCHEMA.save(tmp_path / "toy.toml")
    made = search(ledger=str(ledger.path), schema=tmp_path / "toy.toml").fit(X, Y)
    assert len(ledger.history()) == 1
    assert made.schema_.input_names == SCHEMA.input_names
    with pytest.raises(InputError, match=r"the ledger .* is for schema="):
        search(ledger=ledger.path, schema=WORDS).fit(X, Y)


def test_a_score_on_protected_rows_is_refused(tmp_path) -> None:
    made = search(ledger=new_ledger(tmp_path)).fit(X, Y)
    with pytest.raises(InputError, match="give public=True"):
        made.score(X, Y)
    assert made.score(X, Y, public=True) == np.mean(made.predict(X) == Y) > 0.8


def test_a_score_takes_the_target_from_the_table_as_fit_does(tmp_path) -> None:
    table = frame(X).assign(ill=Y)
    made = search(ledger=new_ledger(tmp_path)).fit(table)
    expected = made.score(frame(X), Y, public=True)
    assert made.score(table, public=True) == expected
    plain = search().fit(np.column_stack([X, Y]))
    for kind in (np.asarray, torch.as_tensor, sparse.csr_array, pd.DataFrame):
        assert plain.score(kind(np.column_stack([X, Y]))) == plain.score(X, Y)


def test_a_pipelines_refusal_names_the_way(tmp_path) -> None:
    pipe = make_pipeline(Normalizer(), search(ledger=new_ledger(tmp_path))).fit(X, Y)
    way = "pipe[-1].score(pipe[:-1].transform(X), y, public=True)"
    with pytest.raises(InputError, match=re.escape(way)):
        pipe.score(X, Y)
    assert 0 <= eval(way, {"pipe": pipe, "X": X, "y": Y}) <= 1


def test_a_score_of_numbers_needs_every_target() -> None:
    y = X[:, 0] - X[:, 1]
    made = search("linear", schema=NUMBERS).fit(X, y)
    y[3] = np.nan
    with pytest.raises(InputError, match="leave such rows out"):
        made.score(X, y)


def test_scores_in_a_simulation() -> None:
    made = search().fit(X, Y)
    assert made.score(X, Y) == np.mean(made.predict(X) == Y)
    numbers = search("linear", schema=NUMBERS).fit(X, X[:, 0] - X[:, 1])
    assert 0 < numbers.score(X, X[:, 0] - X[:, 1]) <= 1
    with pytest.raises(InputError, match="give one each"):
        made.score(X, Y[:-1])
    with pytest.raises(InputError, match="target y is None"):
        made.score(X)


def wrapped(made, plain: bool):
    return made if plain else make_pipeline(Normalizer(), made)


@pytest.mark.parametrize("plain", [True, False])
def test_what_would_score_without_a_scoring_is_refused_before_it_costs(tmp_path, plain) -> None:
    ledger = new_ledger(tmp_path)
    made = wrapped(search(ledger=ledger), plain)
    name = "steps" if plain else "honestsearch__steps"
    for call in (
        lambda: cross_val_score(made, X, Y, cv=KFold(3)),
        lambda: GridSearchCV(made, {name: [10, 20]}, cv=KFold(2)).fit(X, Y),
        lambda: learning_curve(made, X, Y, cv=KFold(2)),
    ):
        with pytest.raises(TypeError, match="should have a 'score' method"):
            call()
    assert ledger.history() == ()
    assert not hasattr(made, "score")
    assert hasattr(wrapped(search(), plain), "score")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_cross_validation_is_charged_fold_by_fold(tmp_path) -> None:
    ledger = new_ledger(tmp_path, 15.0)
    cross_val_score(search(ledger=ledger), X, Y, cv=KFold(3), scoring=lambda *given: 0.0)
    assert 2 <= len(ledger.history()) <= 3
    with pytest.raises(ValueError, match="left are"):  # spent: every fit is refused
        cross_val_score(search(ledger=ledger), X, Y, cv=KFold(3), scoring="accuracy")
    ledger.verify()


@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_a_grid_search_around_it_cannot_spend_more_than_there_is(tmp_path) -> None:
    ledger = new_ledger(tmp_path, 15.0)
    outer = GridSearchCV(
        search(ledger=ledger), {"steps": [10, 20, 30]}, cv=KFold(2), scoring=lambda *given: 0.0
    )
    with pytest.raises(InputError, match="left are"):  # the last, on all rows, finds nothing left
        outer.fit(X, Y)
    assert 2 <= len(ledger.history()) < 6
    ledger.verify()


def test_the_class_says_what_it_does_not_cover() -> None:
    said = HonestSearch.__doc__
    for word in ('scoring="accuracy"', "StratifiedKFold", "StandardScaler", "<ledger>.runs/"):
        assert word in said


def test_a_grid_search_in_a_simulation_is_free() -> None:
    outer = GridSearchCV(search(), {"steps": [10, 20]}, cv=2).fit(X, Y)
    assert np.isfinite(outer.cv_results_["mean_test_score"]).all()


# What comes out


def test_what_is_known_after_fit() -> None:
    made = search(grid=GRID, procedure="composition").fit(frame(X), Y)
    assert made.best_params_ in [dict(s) for s in made.plan_.grid.settings]
    assert made.best_score_ == made.release_.winner.noisy_score
    assert made.card_.guarantee.epsilon == made.release_.epsilon
    assert made.n_features_in_ == 3
    assert list(made.feature_names_in_) == ["a", "b", "c"]
    assert len(made.release_.candidates) == 3
    assert search().fit(X, Y).best_score_ is None  # untuned: nothing was scored


def test_a_search_that_may_find_nothing() -> None:
    options = {"shape": "poisson", "mean_runs": 1.0}
    made = search(grid=GRID, procedure="random-repeats", options=options)
    for seed in range(50):
        made.set_params(random_state=seed).fit(X, Y)
        if made.best_params_ is None:
            break
    assert made.best_score_ is None
    assert "winner: nothing" in repr(made)
    with pytest.raises(InputError, match="holds no model"):
        made.predict(X)


# Of each: the schema, y, the type that is asked for, and what comes back.
LABELS = {
    "whole numbers": (SCHEMA, Y, None, "i"),
    "small ones": (SCHEMA, Y.astype(np.uint8), None, "i"),
    "floats": (SCHEMA, Y.astype(float), None, "i"),
    "floats, asked for": (SCHEMA, Y.astype(float), float, "f"),
    "truths": (SCHEMA, Y.astype(bool), None, "i"),
    "truths, asked for": (SCHEMA, Y.astype(bool), bool, "b"),
    "a list": (SCHEMA, Y.tolist(), None, "i"),
    "a list of tensors": (SCHEMA, list(torch.as_tensor(Y)), None, "i"),
    "text of numbers": (SCHEMA, Y.astype(str), "str", "U"),
    "words": (WORDS, np.where(Y == 1, "yes", "no"), None, "U"),
    "objects": (WORDS, np.where(Y == 1, "yes", "no").astype(object), None, "U"),
}


@pytest.mark.parametrize("name", LABELS)
def test_classes_come_back_as_the_schema_or_the_caller_says(name) -> None:
    schema, y, asked, dtype = LABELS[name]
    made = search(schema=schema, class_dtype=asked).fit(X, y)
    found = made.predict(X)
    assert made.classes_.dtype.kind == found.dtype.kind == dtype
    assert np.mean(found == np.asarray(y)) > 0.8
    assert made.score(X, y) == np.mean(found == np.asarray(y))
    likely = made.classes_[made.predict_proba(X).argmax(1)]
    assert (likely == found).all()


def test_a_type_that_classes_cannot_have(tmp_path) -> None:
    ledger = new_ledger(tmp_path, schema=WORDS)
    for asked, said in (
        (int, "class_dtype='int': two of the schema's classes"),
        (3, "None, bool, int"),
    ):
        with pytest.raises(InputError, match=said):
            search(schema=WORDS, ledger=ledger, class_dtype=asked).fit(X, Y)
    with pytest.raises(InputError, match="the target is a number"):
        search("linear", schema=NUMBERS, class_dtype=int).fit(X, Y)
    assert ledger.history() == ()


def declaring(*classes: str):
    target = SCHEMA.target.model_copy(update={"classes": classes})
    return SCHEMA.model_copy(update={"target": target})


@pytest.mark.parametrize("classes", [("1", "0"), ("0", "1"), ("yes", "no"), ("True", "False")])
def test_classes_stand_in_the_order_that_metrics_expect(classes) -> None:
    y = {"1": Y, "0": Y, "yes": np.where(Y == 1, "yes", "no"), "True": Y == 1}[classes[0]]
    made = search(schema=declaring(*classes), steps=60).fit(X, y)
    assert list(made.classes_) == sorted(np.unique(y))
    assert made.predict(X).dtype.kind == y.dtype.kind
    for metric in ("accuracy", "roc_auc"):
        assert get_scorer(metric)(made, X, y) > 0.8
    assert get_scorer("neg_log_loss")(made, X, y) > -0.69
    assert (made.classes_[made.predict_proba(X).argmax(1)] == made.predict(X)).all()


def test_words_of_truth_are_truths() -> None:
    for y in (Y == 1, np.where(Y == 1, "True", "False"), Y.astype(object)):
        found = search(schema=declaring("False", "True")).fit(X, y).predict(X)
        assert found.dtype == bool
        assert np.mean(found == (Y == 1)) > 0.8


UNMATCHED = {
    "numbers for words": Y,
    "tensors for words": torch.as_tensor(Y),
    "truths for words": Y == 1,
    "a column for words": pd.Series(Y),
}


@pytest.mark.parametrize("name", UNMATCHED)
def test_a_simulation_tells_of_targets_that_can_be_no_class(name) -> None:
    """A run that is paid for does not: a single word in y would silence it."""
    with pytest.raises(InputError, match="y: holds"):
        search(schema=WORDS).fit(X, UNMATCHED[name])
    with pytest.raises(InputError, match="y: holds numbers"):
        search(schema=WORDS).fit(frame(X).assign(ill=Y))


def test_classifiers_and_regressors(tmp_path) -> None:
    assert is_classifier(search())
    assert is_classifier(search("mlp", schema="infer"))
    assert is_regressor(search("linear", schema="infer"))
    assert is_regressor(search("mlp", schema=NUMBERS))
    assert is_regressor(search("mlp", schema="infer", loss="squared"))
    assert hasattr(search("mlp"), "predict_proba")
    assert not hasattr(search("mlp", schema=NUMBERS), "predict_proba")
    NUMBERS.save(tmp_path / "numbers.toml")
    assert is_regressor(search("mlp", schema=tmp_path / "numbers.toml"))
    assert is_classifier(search("mlp", schema="nowhere.toml"))


def test_fit_again_for_another_kind_of_target() -> None:
    made = search("mlp", schema="infer").fit(X, Y)
    made.set_params(loss="squared").fit(X, X[:, 0])
    assert not hasattr(made, "classes_")
    assert not hasattr(made, "predict_proba")
    made.set_params(loss=None).fit(X, Y)
    assert list(made.classes_) == [0, 1]


def test_an_inferred_schema_says_so() -> None:
    made = search("mlp", schema="infer", loss="squared").fit(X, X[:, 0])
    assert made.schema_.name == "inferred from the rows"
    assert made.release_.simulated


def test_copies_and_pickles_predict_alike() -> None:
    made = search("mlp", GRID, module__width=4, procedure="random-repeats").fit(X, Y)
    for other in (pickle.loads(pickle.dumps(made)), deepcopy(made)):
        assert (other.predict(X) == made.predict(X)).all()
        assert other.plan_.epsilon == made.plan_.epsilon
        assert other.best_params_ == made.best_params_


@pytest.mark.parametrize("schema", [SCHEMA, NUMBERS])
def test_saved_and_loaded(tmp_path, schema) -> None:
    made = search("mlp", schema=schema).fit(frame(X), Y)
    made.save(tmp_path / "run")
    found = HonestSearch.load(tmp_path / "run")
    assert (found.predict(frame(X)) == made.predict(frame(X))).all()
    assert (found.predict(X) == made.predict(frame(X))).all()
    assert found.best_params_ == made.best_params_
    assert found.card_ == made.card_
    assert "SIMULATION, NOT PRIVATE" in repr(found)
    assert found.model == "mlp"
    found.save(tmp_path / "again")
    assert hasattr(found, "classes_") == hasattr(found, "predict_proba") == (schema is SCHEMA)


def test_in_a_pipeline_after_per_record_steps() -> None:
    steps = (FunctionTransformer(lambda rows: rows * [1, 1, 0.5]), Normalizer())
    found = make_pipeline(*steps, search(steps=100)).fit(X, Y)
    assert found.score(X, Y) > 0.8
    assert found.predict_proba(X).shape == (ROWS, 2)
    found.set_params(honestsearch__module__width=4, honestsearch__model="mlp").fit(X, Y)
    assert found[-1].best_params_["module__width"] == 4


# Grids and callbacks


def test_grids_of_ranges_and_distributions() -> None:
    grid = {"rule": "dpsgd", "learning_rate": stats.loguniform(0.1, 2), "clip_norm": range(1, 4)}
    made = search(grid=grid, procedure="random-repeats", options={"mean_runs": 2}).fit(X, Y)
    assert len(made.plan_.grid) == 40
    assert made.best_params_["clip_norm"] in (1, 2, 3)


class Tracker:
    """What an MLflow or W&B logger is like: runs with parameters and metrics."""

    def __init__(self) -> None:
        self.runs: list[dict] = []

    def __call__(self, candidate: ReleasedCandidate) -> None:
        tags = {"simulated": candidate.simulated}
        run = {"name": f"rank {candidate.number}", "params": dict(candidate.params), "tags": tags}
        if candidate.score is not None:
            run["metrics"] = {"noisy_score": candidate.score}
        self.runs.append(run)


def test_released_candidates_reach_a_tracker_best_first(tmp_path) -> None:
    tracker = Tracker()
    ledger = new_ledger(tmp_path)
    made = search(grid=GRID, procedure="composition", ledger=ledger, on_candidate=tracker)
    made.fit(X, Y)
    assert [run["name"] for run in tracker.runs] == ["rank 1", "rank 2", "rank 3"]
    assert tracker.runs[0]["params"] == made.best_params_
    scores = [run["metrics"]["noisy_score"] for run in tracker.runs]
    assert scores == sorted(scores, reverse=True)
    assert not any(run["tags"]["simulated"] for run in tracker.runs)


def test_a_tracker_of_a_pick_sees_no_score() -> None:
    tracker = Tracker()
    search(grid=GRID, procedure="composition", options={"scores": False}, on_candidate=tracker).fit(
        X, Y
    )
    assert len(tracker.runs) == 3
    assert not any("metrics" in run for run in tracker.runs)


# Folders


def test_a_folder_holds_the_release(tmp_path) -> None:
    made = search(ledger=new_ledger(tmp_path), folder=tmp_path / "run").fit(X, Y)
    assert {"card.json", "model.json", "model.safetensors"} <= {
        path.name for path in (tmp_path / "run").iterdir()
    }
    assert (HonestSearch.load(tmp_path / "run").predict(X) == made.predict(X)).all()


def test_ctrl_c_leaves_a_run_to_go_on_with(tmp_path, monkeypatch) -> None:
    ledger = new_ledger(tmp_path)
    made = search(grid=GRID, procedure="composition", ledger=ledger)
    whole = local.train

    def pressed(*given, **more):
        signal.raise_signal(signal.SIGINT)
        return whole(*given, **more)

    with monkeypatch.context() as patch:
        patch.setattr(local, "train", pressed)
        with pytest.raises(Interrupted) as raised:
            made.fit(X, Y)
    (folder,) = (tmp_path / "toy.ledger.runs").iterdir()
    assert f"search.set_params(folder={str(folder)!r}).fit(X, y)" in str(raised.value)
    assert folder.is_absolute()
    with pytest.warns(
        UserWarning, match=re.escape(f"set_params(folder={str(folder)!r}).fit(X, y)")
    ):
        search(ledger=ledger).fit(X, Y)
    assert len(ledger.history()) == 2
    made.set_params(folder=str(folder)).fit(X, Y)
    assert len(ledger.history()) == 2  # no second charge
    assert made.score(X, Y, public=True) > 0.8
    assert sorted(path.name for path in tmp_path.iterdir()) == ["toy.ledger"]
    made.fit(X, Y)  # in the same folder, now a new run's
    assert len(ledger.history()) == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["toy.ledger"]


def test_a_run_is_found_from_another_folder(tmp_path, monkeypatch) -> None:
    def pressed(*given, **more):
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    new_ledger(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("honestdp.runner.run.PrivateData.open", pressed)
        with pytest.raises(Interrupted, match=re.escape(str(tmp_path / "toy.ledger.runs"))):
            search(ledger="toy.ledger").fit(X, Y)


def test_a_folder_named_by_its_owner_stays(tmp_path) -> None:
    folder = tmp_path / "toy.ledger.runs" / "mine"
    search(ledger=new_ledger(tmp_path), folder=folder).fit(X, Y)
    assert (folder / "card.json").exists()


def test_ctrl_c_while_the_rows_are_read(tmp_path, monkeypatch) -> None:
    ledger = new_ledger(tmp_path)

    def pressed(*given, **more):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("honestdp.runner.run.PrivateData.open", pressed)
        with pytest.raises(Interrupted, match=r"search\.set_params\(folder="):
            search(ledger=ledger).fit(X, Y)
    (folder,) = (tmp_path / "toy.ledger.runs").iterdir()
    search(ledger=ledger, folder=folder).fit(X, Y)
    assert len(ledger.history()) == 1
