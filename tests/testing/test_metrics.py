"""The contract of metrics: the library's keep it, a user's in one file works everywhere."""

from __future__ import annotations

import json

import pytest
import torch
from brier import Brier
from outside import SCHEMA, table

from honestdp import Card, InputError, Spec, make_plan, run
from honestdp.engine import Linear, examples, score_units
from honestdp.ledger import Ledger
from honestdp.metrics import metrics
from honestdp.report.page import report_html
from honestdp.testing import check_metric
from honestdp.units import UNITS

GRID = {"rule": "dpsgd", "learning_rate": [0.01, 1.0]}


metrics.unregister("own-brier")  # other tests list what the library has


@pytest.fixture(autouse=True)
def registered():
    metrics.register(Brier())
    yield
    metrics.unregister("own-brier")


@pytest.mark.parametrize("name", metrics.names())
def test_every_metric_keeps_the_contract(name) -> None:
    check_metric(metrics.get(name))


def test_one_from_outside_keeps_it_too() -> None:
    check_metric(Brier())


def plan(**more):
    given = {"grid": GRID, "procedure": "composition", "metric": "own-brier", **more}
    return make_plan(Spec(schema=SCHEMA, rows=300, epsilon=20.0, steps=20, lot_size=50, **given))


def test_one_from_outside_selects_and_is_told_of() -> None:
    made = plan()
    assert "sums of Brier scores" in str(made)
    release = run(made, table(), seed=1)
    assert release.winner.setting["learning_rate"] == 1.0  # a smaller score is a better one
    scores = [one.noisy_score for one in release.candidates]
    assert scores == sorted(scores)
    card = release.card
    assert card.metric.name == "own-brier"
    assert card.declared_public["metric"] == "own-brier"
    assert "noisy mean Brier score" in card.prose()
    assert "mean Brier score (smaller is better) on the rows" in report_html(card)
    assert "mean Brier score" in repr(release)


def test_a_card_tells_of_a_metric_that_is_not_installed() -> None:
    text = run(plan(), table(), seed=1).card.to_json()
    metrics.unregister("own-brier")
    card = Card.from_json(text)
    assert card.metric.model_dump() == {
        "name": "own-brier",
        "label": "mean Brier score",
        "meaning": "smaller is better",
        "larger_is_better": False,
    }
    page = report_html(card)
    assert "mean Brier score (smaller is better) on the rows that candidates were" in page
    assert "right answers" not in page
    # Earlier cards hold the name alone.
    facts = json.loads(text)
    del facts["metric_facts"]
    card = Card.from_json(json.dumps(facts))
    assert (card.metric.label, card.metric.meaning) == ("own-brier", "")
    assert card.metric.larger_is_better is None
    page = report_html(card)
    assert "noisy own-brier 0." in card.prose()
    assert "own-brier on the rows that candidates were" in page
    assert "right answers" not in page
    # The first ones hold not even that, and had no other metric.
    del facts["declared_public"]["metric"]
    assert Card.from_json(json.dumps(facts)).metric.name == "accuracy"


def test_one_that_does_not_suit_the_target_is_refused() -> None:
    with pytest.raises(InputError, match="metric='squared_error': does not suit the target"):
        plan(metric="squared_error")
    with pytest.raises(InputError, match="metric='auk': must be one of"):
        plan(metric="auk")


@pytest.mark.parametrize("name", ["accuracy", "own-brier"])
def test_one_row_moves_a_sum_by_at_most_the_units(name) -> None:
    source = torch.Generator().manual_seed(0)
    X, y = torch.randn(40, 6, generator=source), torch.randint(0, 2, (40,), generator=source)
    params = torch.randn(4, 7, generator=source)
    before = score_units(metrics.get(name), Linear(6, 2), params, examples(X, y))
    for value in (float("nan"), 1e30, -1e30, 1e-42, 0.0):
        X[3], y[3] = value, -1
        after = score_units(metrics.get(name), Linear(6, 2), params, examples(X, y))
        assert ((before - after).abs() <= UNITS).all()


class Broken(Brier):
    """Of which one thing is wrong."""


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"bound": 1e-9}, "all lie outside"),
        (
            {"values": lambda s, loss, z, y: z[..., 0].softmax(1)},
            "changes the values of other rows",
        ),
        ({"values": lambda s, loss, z, y: z.sum((1, 2))}, "shape"),
        ({"values": lambda s, loss, z, y: z[..., 0].abs().softmax(0)}, "other candidates"),
        ({"bound": float("inf")}, "not a finite number above 0"),
    ],
)
def test_what_breaks_it_is_told(change, words) -> None:
    with pytest.raises(AssertionError, match=words):
        check_metric(type("Broken", (Brier,), change)())


# Of all rows at once, or of other rows: a sum of these is not bounded by what one row adds.
OF_ALL = {
    "one number": lambda s, loss, z, y: (loss.predicted(z) == y).double().mean(),
    "a Python number": lambda s, loss, z, y: float((loss.predicted(z) == y).double().mean()),
    "a list": lambda s, loss, z, y: (loss.predicted(z) == y).double().tolist(),
    "an array": lambda s, loss, z, y: (loss.predicted(z) == y).numpy(),
    "one per candidate": lambda s, loss, z, y: (loss.predicted(z) == y).double().mean(1, True),
    "one per row": lambda s, loss, z, y: (loss.predicted(z) == y).double()[:1],
    "one more axis": lambda s, loss, z, y: (loss.predicted(z) == y).double().unsqueeze(0),
    "complex": lambda s, loss, z, y: (loss.predicted(z) == y).cfloat(),
    "none": lambda s, loss, z, y: None,
}
OF_OTHERS = {
    "a mean": lambda s, loss, z, y: (
        (loss.predicted(z) == y).double().mean(1, True).expand(z.shape[:2])
    ),
    "classes weighed by rows": lambda s, loss, z, y: (
        (loss.predicted(z) == y).double() / (y.unsqueeze(0) == y.unsqueeze(1)).sum(0)
    ),
    "an error": lambda s, loss, z, y: z.cube(),
}


def broken(values):
    return type("Broken", (Brier,), {"name": "broken", "values": values})()


@pytest.mark.parametrize("what", OF_ALL)
def test_values_of_another_shape_are_never_summed(what) -> None:
    source = torch.Generator().manual_seed(0)
    rows = examples(torch.randn(9, 6, generator=source), torch.zeros(9, dtype=torch.long))
    with pytest.raises(
        InputError, match=r"metric='broken': .* one real number per candidate and row"
    ):
        score_units(broken(OF_ALL[what]), Linear(6, 2), torch.randn(3, 7, generator=source), rows)


@pytest.mark.parametrize("what", [*OF_ALL, *OF_OTHERS])
def test_a_metric_that_breaks_the_contract_is_refused_before_the_charge(what, tmp_path) -> None:
    made = plan()
    ledger = Ledger.create(
        tmp_path / "l", dataset="toy", schema=SCHEMA.fingerprint, epsilon=40.0, delta=1e-3
    )
    metrics.unregister("own-brier")
    metrics.register(type("Brier", (Brier,), {"values": {**OF_ALL, **OF_OTHERS}[what]})())
    with pytest.raises(InputError, match="metric='own-brier': ") as caught:
        run(made, table(), ledger)
    assert "\n" not in str(caught.value)
    assert not ledger.history()
    with pytest.raises(AssertionError):
        check_metric(metrics.get("own-brier"))


def test_a_metric_that_changes_its_shape_later_releases_nothing(tmp_path) -> None:
    """The values are checked again where they are summed, whatever made-up rows gave."""

    def values(self, loss, outputs, targets):
        found = Brier.values(self, loss, outputs, targets)
        return found if len(targets) <= 8 else found.mean()

    made = plan()
    metrics.unregister("own-brier")
    metrics.register(type("Brier", (Brier,), {"values": values})())
    with pytest.raises(InputError, match="one real number per candidate and row"):
        run(made, table(), seed=1)
