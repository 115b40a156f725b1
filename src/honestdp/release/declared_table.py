"""What a card says of the protected table: its declared facts, which any reader may know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from honestdp.release.card import Card


@dataclass(frozen=True)
class DeclaredTable:
    """The table in a few words; what an odd card does not have is empty.

    Attributes:
        name: Its name.
        target: The column to predict.
        classes: The classes of the target; empty for a number.
        columns: The names of the columns that the model reads.
    """

    name: str
    target: str
    classes: tuple[str, ...]
    columns: tuple[str, ...]

    @classmethod
    def of(cls, card: Card) -> DeclaredTable:
        """The table of a card.

        Args:
            card: Any card; what it declares may be anything.
        """
        schema = _mapping(card.declared_public.get("schema"))
        target = _mapping(schema.get("target"))
        columns = map(_mapping, _sequence(schema.get("columns")))
        return cls(
            name=str(schema.get("name", "table")),
            target=str(target.get("column", "the target")),
            classes=tuple(map(str, _sequence(target.get("classes")))),
            columns=tuple(str(one.get("name", "")) for one in columns),
        )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _sequence(value: Any) -> Sequence[Any]:
    return value if isinstance(value, (list, tuple)) else ()
