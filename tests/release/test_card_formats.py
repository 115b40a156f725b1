"""The formats of a card: what readers outside take, and that nothing but the card is in them."""

from __future__ import annotations

import json
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from releases import NUMBERS, SCHEMA, released, table

from honestdp import Card, InputError, Spec, make_plan, verify
from honestdp.release.card_formats import CardFormat, card_formats
from honestdp.release.yaml_text import yaml_text
from honestdp.runner.run import run
from honestdp.testing import check_card_format
from honestdp.text import SIMULATION

FIELDS = json.loads((Path(__file__).parent / "deployments.json").read_text())
ABOUT = {
    "curator": "City Hospital: *research*",
    "intended_use": 'To plan beds, not "people" #1.',
    "justification": "yes",
    "region": "Norway",
    "license": "cc-by-4.0",
}


def the_registry_takes(record: Any) -> None:
    checker = jsonschema.Draft7Validator.FORMAT_CHECKER
    jsonschema.Draft7Validator(FIELDS, format_checker=checker).validate(record)


def record_of(card: Card) -> Any:
    return yaml.safe_load(card_formats.get("registry").text(card))


@cache
def evaluated(numbers: bool = False) -> Card:
    """A simulation with an evaluation, by group, and all that a curator says."""
    facts = {"schema": NUMBERS if numbers else SCHEMA, "rows": 60, "epsilon": 2.0, "delta": 1e-4}
    spec = Spec(**facts, steps=4, lot_size=8, test_share=0.3, groups="c", about=ABOUT)
    return run(make_plan(spec), table(numbers), seed=3).card


@pytest.mark.parametrize("kind", ["untuned", "numbers", "composition"])
def test_the_registry_takes_the_record_of_every_release(kind: str) -> None:
    card = released(kind)[0].card
    found = record_of(card)
    the_registry_takes(found)
    assert found["status"] == "Draft"
    assert found["tier"] == 1
    deployment = found["deployment"]
    assert deployment["privacy_loss"]["privacy_parameters"] == {
        "epsilon": card.guarantee.epsilon,
        "delta": card.guarantee.delta,
    }
    assert deployment["dp_variant"]["variant_name"] == "Approximate DP"
    assert deployment["basic"]["data_curators"] == ["Not stated"]
    assert deployment["basic"]["publication_date"] == card.publication_date.isoformat()
    assert card.ledger.head in deployment["administrative"]["notes"]


def test_what_a_curator_says_is_in_the_record() -> None:
    whole = evaluated().model_copy(update={"publication_date": date(2026, 11, 18)})
    found = record_of(whole)
    the_registry_takes(found)
    basic = found["deployment"]["basic"]
    assert basic["data_curators"] == [ABOUT["curator"]]
    assert basic["intended_use"] == ABOUT["intended_use"]
    assert basic["data_product_region"] == ABOUT["region"]
    assert basic["publication_date"] == "2026-11-18"
    assert SIMULATION in basic["name"]
    assert found["deployment"]["implementation"]["justification"] == "yes"
    assert found["tier"] == 3
    assert card_formats.get("registry").missing(whole) == ()
    about = whole.about.model_copy(update={"justification": None})
    less = whole.model_copy(update={"about": about})
    assert record_of(less)["tier"] == 2


def test_a_record_that_is_wrong_is_told() -> None:
    """That the copy of the registry's schema does refuse something."""
    for place, value in (
        ("publication_date", "18/11/2026"), ("data_product_type", "Model"), ("surprise", "x"),
        ("data_curators", []),
    ):  # fmt: skip
        found = record_of(evaluated())
        found["deployment"]["basic"][place] = value
        with pytest.raises(jsonschema.ValidationError):
            the_registry_takes(found)


def front(card: Card) -> tuple[dict[str, Any], str]:
    text = card_formats.get("model-card").text(card)
    empty, head, body = text.split("---\n", 2)
    assert empty == ""
    return yaml.safe_load(head), body


@pytest.mark.parametrize("numbers", [False, True])
def test_a_model_card_has_the_figures_as_the_hub_reads_them(numbers: bool) -> None:
    card = evaluated(numbers)
    sharp = [
        one.model_copy(update={"low": 0.99 * one.value, "high": 1.01 * one.value})
        for one in card.evaluation.figures
    ]
    found = card.evaluation.model_copy(update={"figures": tuple(sharp)})
    assert "model-index" not in front(card)[0]  # of 18 rows next to nothing is known
    card = card.model_copy(update={"evaluation": found})
    facts, body = front(card)
    task = "tabular-regression" if numbers else "tabular-classification"
    assert facts["license"] == "cc-by-4.0"
    assert facts["library_name"] == "honestdp"
    assert facts["pipeline_tag"] == task
    assert {"differential-privacy", "simulation"} <= set(facts["tags"])
    (index,) = facts["model-index"]
    (result,) = index["results"]
    assert result["task"] == {"type": task}
    assert set(result["dataset"]) == {"type", "name"}
    names = {one["name"]: one for one in result["metrics"]}
    for figure in card.evaluation.figures:
        if figure.larger_is_better is None:  # no figure of quality
            assert figure.name not in names
            continue
        assert names[figure.name]["value"] == pytest.approx(figure.value, rel=1e-12)
        assert f"{figure.low:.4g} to {figure.high:.4g}" in body
    assert names["R2" if numbers else "AUC"]["type"] == ("r_squared" if numbers else "roc_auc")
    for section in ("Intended use", "Training data", "Evaluation", "Privacy", "Limits"):
        assert f"\n## {section}\n" in body
    assert SIMULATION in body
    assert "City Hospital: \\*research\\*" in body
    assert "By group:" in body


def test_a_model_card_without_what_nobody_said() -> None:
    card = released("untuned")[0].card
    facts, body = front(card)
    assert "license" not in facts
    assert "model-index" not in facts
    assert "nobody can say how good it is" in body
    assert card.digest in body
    assert card_formats.get("model-card").missing(card) == (
        "license", "intended use", "evaluation",
    )  # fmt: skip


@pytest.mark.parametrize("name", ["registry", "model-card", "prose", "json"])
def test_old_cards_are_written_in_every_format(name: str) -> None:
    formats = Path(__file__).parents[1] / "formats"
    for place in formats.glob("format-*/*/card.json"):
        card = Card.load(place)
        text = card_formats.get(name).text(card)
        assert text.endswith("\n")
        if name == "registry":
            the_registry_takes(yaml.safe_load(text))
            assert "not known" in record_of(card)["deployment"]["administrative"]["notes"]


@pytest.mark.parametrize("name", ["registry", "model-card", "prose", "json"])
def test_each_keeps_the_contract(name: str) -> None:
    check_card_format(card_formats.get(name))


def test_json_is_the_card_and_verifies() -> None:
    release, ledger = released("composition")
    assert verify(json.loads(card_formats.get("json").text(release.card)), ledger)


def test_a_format_of_a_package() -> None:
    class Short(CardFormat):
        name = "short"
        summary = "one line"

        def text(self, card: Card) -> str:
            return f"epsilon {card.guarantee.epsilon}\n"

    with pytest.raises(AssertionError, match="must say 'SIMULATION"):
        check_card_format(Short())
    card_formats.register(Short())
    try:
        assert card_formats.get("short").text(released("untuned")[0].card).startswith("epsilon ")
        assert "short" in card_formats.names()
    finally:
        card_formats.unregister("short")
    with pytest.raises(InputError, match="must be one of json, model-card, prose, registry"):
        card_formats.get("short")


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
numbers = st.integers() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False)
scalars = (
    texts | numbers | st.sampled_from(["yes", "null", "1e5", "- a", "a: b", "#", "2026-11-18"])
)
names = st.sampled_from(["name", "model-index", "value", "tags", "results"])
flat = st.dictionaries(names, scalars, min_size=1, max_size=3)
entries = flat | st.lists(scalars, min_size=1, max_size=3) | st.lists(flat, min_size=1, max_size=2)


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(names, scalars | entries | st.dictionaries(names, entries, min_size=1)))
def test_yaml_is_read_back_as_it_was(value: dict[str, Any]) -> None:
    assert yaml.safe_load(yaml_text({"first": 1, **value})) == {"first": 1, **value}
