"""The report says how good the model is, in the card's own figures, and draws it."""

from __future__ import annotations

import json
import re

import pytest
from evaluated_cards import KINDS, evaluated, evaluation
from test_report_page import PLANTED, Seen, figures

from honestdp import Card, InputError
from honestdp.evaluation.curves import percent
from honestdp.evaluation.drawn import curves_of
from honestdp.evaluation.words import MEANINGS, baseline, estimate_of, interval
from honestdp.report.page import _plotly, report_html

PLOTS = {
    "binary": {"matrix", "roc", "precision-recall", "calibration"},
    "digits": {"matrix", "recall", "precision"},
    "numbers": {"errors", "by-predicted"},
}


@pytest.fixture(autouse=True)
def _fast(monkeypatch):
    monkeypatch.setattr("honestdp.report.figures.cost_lines", lambda inputs: [])


def quality(page: str) -> str:
    """The visible text of the section."""
    return Seen(
        page.replace(_plotly(), "").split('<section id="quality"')[1].split("</sec")[0]
    ).text


@pytest.mark.parametrize("kind", KINDS)
def test_sentence_table_and_plots(kind):
    card = evaluated(kind, groups=("a", "b"))
    page, found = report_html(card), card.evaluation
    assert found.sentence in Seen(page).text.split("protects nobody")[0]  # near the top
    text = quality(page)
    assert found.sentence[1:] in text
    assert "patients like these" in text
    for one in found.figures:
        for words in (one.name, estimate_of(one), interval(one), baseline(one)):
            assert words in text
    assert set(figures(page)) == {"costs"} | PLOTS[kind]
    for group in found.groups:
        assert f"{group.group} {group.rows:,.0f} {estimate_of(group.figures[0])}" in text


@pytest.mark.parametrize("kind", KINDS)
def test_no_number_is_from_anywhere_but_the_card(kind):
    card = evaluated(kind, groups=("a", "b"))
    found, target = card.evaluation, KINDS[kind][0].target
    matrix = curves_of(found, target.classes, target.bounds).matrix()
    known = [f"{found.rows:,}", f"{found.noise:.3g}", "95 100", found.sentence, *MEANINGS.values()]
    for one in (*found.figures, *(one for group in found.groups for one in group.figures)):
        known += [one.name, estimate_of(one), interval(one), baseline(one)]
    known += [f"{group.rows:,.0f}" for group in found.groups]
    known += list(target.classes or ())
    known += [] if matrix is None else [percent(one) for row in matrix.shares for one in row]
    number = re.compile(r"\d[\d,.]*\d|\d")
    allowed = {one for text in known for one in number.findall(text)}
    assert set(number.findall(quality(report_html(card)))) <= allowed


@pytest.mark.parametrize("kind", KINDS)
def test_bands_hold_their_points(kind):
    drawn = figures(report_html(evaluated(kind)))
    for name in PLOTS[kind] - {"matrix"}:
        for trace in drawn[name]["data"]:
            for bar in ("error_x", "error_y"):
                if bar in trace:
                    assert min(trace[bar]["array"] + trace[bar]["arrayminus"]) >= 0
    for cell in drawn.get("matrix", {"layout": {"shapes": []}})["layout"]["shapes"]:
        assert 0 <= cell["opacity"] <= 1


def test_few_rows_are_told_as_such():
    card = evaluated("binary", rows=30, noise=8.0, groups=("a", "b"))
    page = report_html(card)
    text = quality(page)
    assert "too few test rows to say more" in text
    assert text.count("too few rows to tell them from noise") == 2
    assert {"matrix"} <= set(figures(page)) - {"costs"} <= PLOTS["binary"]


def test_without_an_evaluation_it_says_so_and_shows_no_score():
    card = evaluated("binary").model_copy(update={"evaluation": None})
    text = quality(report_html(card))
    assert "nobody measured" in text
    assert "public" not in text
    assert "declared public stands above" in quality(report_html(card, tested={"accuracy": 0.9}))


def test_what_is_planted_in_classes_stays_text():
    card = evaluated("binary")
    target = {"column": "y", "classes": ["no", PLANTED]}
    public = json.loads(card.to_json())["declared_public"]
    public["schema"]["target"] |= target
    page = report_html(card.model_copy(update={"declared_public": public}))
    seen = Seen(page)
    assert len(seen.of("script")) == 3
    assert not seen.of("img")
    assert PLANTED in quality(page)
    assert "<script" not in json.dumps(figures(page))
    assert "<img" not in json.dumps(figures(page))


@pytest.mark.parametrize(("place", "value"), [
    (("kind",), "odd"), (("kind",), "numbers"), (("levels",), {}), (("figures",), []),
    (("levels", "class by score", "shape"), [2, 3]),
    (("levels", "class by score", "counts"), [1.0]),
])  # fmt: skip
def test_evaluations_that_no_run_writes_are_refused_in_one_line(place, value):
    facts = json.loads(evaluated("binary").to_json())
    inner = facts["evaluation"]
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    with pytest.raises(InputError) as told:
        report_html(Card.from_json(json.dumps(facts)))
    assert "\n" not in str(told.value)


def test_it_prints_as_a_table():
    text = str(evaluation("binary", groups=("a", "b", "c")))
    assert text.startswith("evaluation on 4000 test rows: right for ")
    lines = {line.split()[0]: line.split() for line in text.splitlines()[1:] if line.strip()}
    assert lines["a"][1].replace(".", "").isdigit()
    assert lines["c"] == ["c", "?"]
    assert "?: too few test rows" in text
