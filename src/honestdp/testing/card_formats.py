"""`check_card_format`: whether a format keeps the contract of `honestdp.release.card_formats`."""

from __future__ import annotations

from functools import cache

from honestdp.planning.make import make_plan
from honestdp.planning.spec import Spec
from honestdp.release.card import LATER, Card
from honestdp.release.card_formats import CardFormat
from honestdp.runner.run import run
from honestdp.schema import Numeric, Schema, Target
from honestdp.text import SIMULATION


def check_card_format(format_: CardFormat) -> None:
    """Check that a format writes cards with and without everything that is optional on them.

    Args:
        format_: The format: an object, not its class.

    Raises:
        AssertionError: If it breaks the contract; the message says how.

    Example:
        >>> from honestdp.release.card_formats import card_formats
        >>> check_card_format(card_formats.get("model-card"))
    """
    assert isinstance(format_, CardFormat), "give a format: an object, not its class"
    for card in (_card(), _bare(_card())):
        text: object = format_.text(card)
        assert isinstance(text, str), f"text: returned a {type(text).__name__}; return a str"
        assert text.endswith("\n"), "text: its last line is not ended"
        assert text == format_.text(card), "text: one card must always give the same text"
        text.encode()
        assert SIMULATION in text, f"text: the card of a simulation must say {SIMULATION!r}"
        missing: object = format_.missing(card)
        named = isinstance(missing, tuple) and all(isinstance(one, str) for one in missing)
        assert named, "missing: must return a tuple of texts"


@cache
def _card() -> Card:
    """A simulation with all that a card may have."""
    table = {"x": [i % 10 for i in range(60)], "y": ["no", "yes"] * 30}
    schema = Schema(
        name="made up",
        unit="one row",
        columns=(Numeric(name="x", bounds=(0.0, 10.0)),),
        target=Target(column="y", classes=("no", "yes")),
    )
    about = {"curator": "Nobody", "intended_use": "A test.", "justification": "None."}
    spec = Spec(
        schema=schema, rows=60, epsilon=2.0, steps=2, lot_size=8, test_share=0.3, about=about
    )
    return run(make_plan(spec), table, seed=1).card


def _bare(card: Card) -> Card:
    """The card as an earlier version wrote it, without what is optional."""
    return card.model_copy(update=dict.fromkeys(LATER))
