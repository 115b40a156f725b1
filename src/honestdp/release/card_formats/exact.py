"""`json`: the card itself, as it lies in a run's folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from honestdp.release.card_formats import card_formats
from honestdp.release.card_formats.base import CardFormat

if TYPE_CHECKING:
    from honestdp.release.card import Card


class Exact(CardFormat):
    """Every field, for programs; the only format that `verify` reads."""

    name = "json"
    summary = "every field, as in card.json"

    def text(self, card: Card) -> str:
        return card.to_json().decode()


card_formats.register(Exact())
