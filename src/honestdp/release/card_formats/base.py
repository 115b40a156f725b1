"""`CardFormat`: the contract of a format of cards."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from honestdp.release.card import Card


class CardFormat(ABC):
    """A format that a card can be written in.

    It sees the card alone, so whatever it writes is public.

    Attributes:
        name: What users type after `--format`.
        summary: What it is for, in a few words.
    """

    name: ClassVar[str]
    summary: ClassVar[str]

    @abstractmethod
    def text(self, card: Card) -> str:
        """The card in this format.

        Args:
            card: The card of a release, or of a simulation, which it must say.

        Returns:
            The whole content of a file, its last line ended.
        """

    def missing(self, card: Card) -> tuple[str, ...]:
        """What its readers ask for and the card does not say, in a few words each.

        Args:
            card: The card.
        """
        return ()
