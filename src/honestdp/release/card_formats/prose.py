"""`prose`: sentences for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from honestdp.release.card_formats import card_formats
from honestdp.release.card_formats.base import CardFormat

if TYPE_CHECKING:
    from honestdp.release.card import Card


class Prose(CardFormat):
    """The card in sentences."""

    name = "prose"
    summary = "sentences for a person"

    def text(self, card: Card) -> str:
        return card.prose()


card_formats.register(Prose())
