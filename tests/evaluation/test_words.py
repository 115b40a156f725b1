"""An evaluation in words that a reader without statistics understands, and that stay true."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honestdp.evaluation import Evaluation, Figure
from honestdp.evaluation.words import around, baseline, estimate_of, interval, plural


@pytest.mark.parametrize(("unit", "several"), [
    ("one person", "people"), ("one patient", "patients"), ("a household", "households"),
    ("one visit of a patient", "visits of a patient"), ("one bank box", "bank boxes"),
    ("one city", "cities"), ("one day", "days"), ("one handwritten digit", "handwritten digits"),
    ("one row", "rows"), ("ten rows", "rows"), ("", "rows"), ("one", "rows"),
    ("eine Zeile", "rows"), ("one <a href=x>", "rows"), ("one of them", "rows"),
    ("one " + "x" * 99, "rows"),
])  # fmt: skip
def test_units_in_the_plural(unit, several):
    assert plural(unit) == several


@given(st.floats(-50, 150), st.floats(1e-4, 40), st.floats(1e-4, 40))
def test_what_is_rounded_still_covers_the_interval(value, below, above):
    middle, give = map(float, around(value, value - below, value + above))
    assert middle - give <= value - below + 1e-9
    assert middle + give >= value + above - 1e-9
    assert give <= 3.1 * max(below, above)


def made(kind: str, *figures: Figure) -> Evaluation:
    return Evaluation(kind=kind, rows=100, noise=1.0, levels={}, figures=figures, unit="people")


def accuracy(value, low, high, plain=0.77):
    return made("binary", Figure(name="accuracy", value=value, low=low, high=high, baseline=plain))


def test_the_sentence_of_classes():
    assert accuracy(0.864, 0.856, 0.873).sentence == (
        "right for 86.4 of 100 people like these, give or take 0.9; always the same answer is "
        "right for 77"
    )
    assert accuracy(0.86, 0.84, 0.88).sentence.startswith(
        "right for 86 of 100 people like these, give or take 2;"
    )
    assert "not shown to be better" in accuracy(0.79, 0.76, 0.82).sentence
    assert accuracy(1.2, 0.4, 1.0).sentence == (
        "right for between 40 and 100 of 100 people like these: too few test rows to say more"
    )


def error(value, low, high, r2, plain=3.0):
    return made(
        "numbers",
        Figure(name="mean absolute error", value=value, low=low, high=high, baseline=plain,
               larger_is_better=False, unit="target"),
        Figure(name="R2", value=r2, low=r2 - 0.2, high=r2 + 0.2, unit="number"),
    )  # fmt: skip


def test_the_sentence_of_numbers():
    found = "off by 1.6 on average for people like these (between 1.51 and 2.2)"
    assert error(1.6, 1.51, 2.2, 0.7).sentence == (
        f"{found}; always the mean is off by 3; it explains between 50 and 90 % of the variance"
    )
    assert error(1.6, 1.51, 2.2, 0.1).sentence == f"{found}; always the mean is off by 3"
    assert error(1.6, 1.51, 2.2, 0.7, plain=2.1).sentence == (
        f"{found}; not shown to be better than always the mean, off by 2.1"
    )
    assert "too few test rows" in error(1.6, 0.1, 3.7, 0.7).sentence


def test_what_is_hardly_known_is_shown_as_unknown():
    wide = Figure(name="x", value=-4.0, low=0.0, high=1.0, baseline=8.0)
    assert (estimate_of(wide), interval(wide), baseline(wide)) == ("?", "0.0 to 100.0 %", "?")
    beyond = Figure(name="x", value=1.02, low=0.9, high=1.0)
    assert estimate_of(beyond) == "100.0 %"
    loss = Figure(name="x", value=0.3, low=0.2, high=0.4, unit="number", larger_is_better=False)
    assert (estimate_of(loss), interval(loss)) == ("0.3", "0.2 to 0.4")
