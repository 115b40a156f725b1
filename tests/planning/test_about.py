"""What a curator says for the card: checked before anything else, and of no influence on a plan."""

from __future__ import annotations

import pytest

from honestdp import InputError, Schema, Spec, make_plan
from honestdp.planning.about import About

SCHEMA = Schema.from_toml("""
name = "visits"
target = { column = "y", classes = ["no", "yes"] }
columns = { age = { kind = "numeric", bounds = [0, 110] } }
""")
WHOLE = {
    "curator": "City Hospital",
    "intended_use": "To plan beds.",
    "justification": "Below 1, as our board asks.",
    "region": "Norway",
    "license": "cc-by-4.0",
}


def test_texts_are_made_plain() -> None:
    found = About.of({**WHOLE, "intended_use": "  To plan\n\tbeds. "})
    assert found is not None
    assert found.given == WHOLE
    assert About.of(found) == found
    assert About.of(None) is About.of({}) is About.of({"curator": None}) is None


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("City Hospital", "must be a table"),
        ({"currator": "x"}, "'currator' is not known; it has curator, intended_use"),
        ({"curator": ""}, "1 to 200 printable"),
        ({"curator": "x" * 201}, "1 to 200 printable"),
        ({"justification": "x" * 1001}, "1 to 1000 printable"),
        ({"curator": "a\x00b"}, "1 to 200 printable"),
        ({"curator": "right\u202eleft"}, "1 to 200 printable"),
        ({"curator": 7}, r"about\.curator=7: must be a text"),
    ],
)
def test_what_cannot_stand_on_a_card_is_refused_in_one_line(given: object, words: str) -> None:
    with pytest.raises(InputError, match=words) as error:
        Spec(schema=SCHEMA, rows=1000, epsilon=1.0, about=given)  # type: ignore[arg-type]
    assert "\n" not in str(error.value)


def test_a_plan_costs_and_records_the_same_whatever_is_said() -> None:
    facts = {"schema": SCHEMA, "rows": 1000, "epsilon": 1.0}
    plain, told = make_plan(Spec(**facts)), make_plan(Spec(**facts, about=WHOLE))
    assert told.public() == plain.public()
    assert told.spec.about == About.of(WHOLE)
