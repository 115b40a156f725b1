"""What a search looks like: the guarantee first, nothing of the rows, harmless in a notebook."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from estimator_tables import GRID, SCHEMA, X, Y, frame, new_ledger, search
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from honestdp import Grid
from honestdp.schema import Schema


def test_the_guarantee_comes_first(tmp_path) -> None:
    ledger = new_ledger(tmp_path)
    made = search(ledger=ledger, grid=GRID, procedure="composition")
    assert repr(made).startswith(
        "HonestSearch(epsilon=8.0, delta=0.001, left in toy.ledger for a p"
    )
    assert "schema=<toy, 3 columns>" in repr(made)
    assert "SIMULATION" not in repr(made)
    before = repr(made)
    assert "left in toy.ledger" in repr(search(ledger=str(ledger.path)))
    SCHEMA.save(tmp_path / "toy.toml")
    paths = {"ledger": ledger.path, "schema": str(tmp_path / "toy.toml")}
    assert "left in toy.ledger" in repr(search(**paths))
    made.fit(X, Y)
    assert "winner: rule=dpsgd, learning_rate=" in repr(made)
    assert ", noisy score " in repr(made)
    assert repr(made).split("left in")[1][:40] != before.split("left in")[1][:40]
    html = made._repr_html_()
    assert html.index("epsilon=") < html.index("protected: one patient") < html.index("<table>")
    assert html.index("</table>") < html.index("winner: ")
    assert made._repr_mimebundle_() == {"text/plain": repr(made), "text/html": html}


def test_the_score_is_called_as_on_the_card() -> None:
    made = search(grid=GRID, procedure="composition").fit(X, Y)
    facts = made.card_.metric.model_copy(update={"label": "mean Brier score"})
    made.card_ = made.card_.model_copy(update={"metric_facts": facts})
    assert ", noisy mean Brier score " in repr(made)


def test_a_simulation_says_so() -> None:
    made = search(delta=None)
    assert repr(made).startswith("HonestSearch(SIMULATION, NOT PRIVATE, epsilon=8.0, delta=by the")
    assert "<strong>SIMULATION, NOT PRIVATE</strong>" in made._repr_html_()
    made.fit(X, Y)
    assert repr(made).startswith("HonestSearch(SIMULATION, NOT PRIVATE, epsilon=")
    made.set_params(random_state=None)  # what was fitted stays what it is
    assert "SIMULATION, NOT PRIVATE" in repr(made)


def test_html_is_escaped() -> None:
    odd = SCHEMA.model_copy(update={"name": "<script>x</script>", "unit": "<b>one</b>"})
    html = search(schema=odd, executor="<img src=x>")._repr_html_()
    assert "<script>" not in html
    assert "<img" not in html
    assert "<b>" not in html
    assert "&lt;script&gt;" in html


def test_it_can_be_shown_whatever_its_parameters_are() -> None:
    class Odd:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    for value in (Odd(), [Odd()], np.zeros(1000), -1, None, "x" * 1000):
        made = search(grid=value, model=value, epsilon=value, delta=value, options=value)
        assert len(repr(made)) < 1000
        assert made._repr_html_()


def test_a_grid_is_told_by_its_size() -> None:
    assert "grid=<3 settings>" in repr(search(grid=Grid.of(GRID)))
    assert "grid='dpsgd-40'" in repr(search(grid="dpsgd-40"))


def test_only_what_is_no_default_is_shown_pickled_or_not() -> None:
    made = search(validation=0.2, executor="lo" + "cal", folder=Path("run"))
    again = pickle.loads(pickle.dumps(made))
    assert repr(again) == repr(made)
    for name in ("validation", "executor", "procedure", "model", "Path>"):
        assert name not in repr(again)
    assert "folder='run'" in repr(again)
    assert "steps=7)" in repr(search(steps=np.int64(7)))


def test_lists_are_shown_where_they_belong() -> None:
    assert "grid={'rule': 'dpsgd', 'learning_rate': [0.1, 1.0, 4.0]}" in repr(search(grid=GRID))
    rows = X.tolist()
    for shown in (
        repr(search(rows)), repr(search(grid=rows)), repr(search(options={"threshold": frame(X)})),
        repr(search(epsilon=rows)), repr(search(steps=tuple(rows))),
    ):  # fmt: skip
        assert str(X[0, 0])[:8] not in shown


def test_a_ledger_that_is_gone(tmp_path) -> None:
    ledger = new_ledger(tmp_path)
    made = search(ledger=ledger)
    ledger.path.unlink()
    assert "ledger cannot be read" in repr(made)


def test_in_a_pipeline() -> None:
    pipeline = make_pipeline(Normalizer(), search())
    assert "random_state=0" in repr(pipeline)  # scikit-learn writes parameters there, no more
    assert "random_state" in pipeline.fit(X, Y)._repr_html_()


def test_values_of_the_rows_are_nowhere() -> None:
    """Not even those an inferred schema was read off."""
    rows = frame(X)
    rows.iloc[0] = 12345.678
    made = search(schema="infer").fit(rows, np.where(Y, "seven", "eight"))
    shown = repr(made) + made._repr_html_()
    assert "12345" not in shown
    assert "seven" not in shown


@pytest.mark.parametrize("schema", ["toy.toml", SCHEMA, None, 3])
def test_schemas_of_any_kind_can_be_shown(schema) -> None:
    assert isinstance(SCHEMA, Schema)
    assert repr(search(schema=schema)).startswith("HonestSearch(")
