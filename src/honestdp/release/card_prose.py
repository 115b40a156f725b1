"""The structured fields of a card in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from honestdp.release.card import Card

_ABOUT = {
    "curator": "Curator",
    "intended_use": "Intended use",
    "justification": "Why this epsilon",
    "region": "Region",
    "license": "Licence of the model",
}


def terms(card: Card) -> list[str]:
    """What kind of promise and release it is; of earlier cards nothing."""
    named = {
        "variant": card.variant,
        "neighbours": card.neighbour_relation,
        "rows a unit": card.rows_per_unit,
        "release": card.release_type,
    }
    found = ", ".join(f"{name} {value}" for name, value in named.items() if value is not None)
    return [f"In short: {found}."] if found else []


def said(card: Card) -> list[tuple[str, str]]:
    """What the curator says: names and texts."""
    about = card.about
    return [] if about is None else [(_ABOUT[name], text) for name, text in about.given.items()]


def declared(card: Card) -> list[str]:
    """What the curator says, and the date."""
    lines = [f"{name}: {text}" for name, text in said(card)]
    if card.publication_date is not None:
        lines.append(
            f"Published: {card.publication_date.isoformat()} at the earliest, the day on which the "
            "run began."
        )
    return lines


def audited(card: Card) -> str:
    """The lower bound of an audit, and how it was found."""
    how = "" if card.audit is None else f" ({card.audit.words})"
    bound = card.audit_lower_bound
    return f"Audit of this very run: {'none' if bound is None else f'at least {bound:.3g}'}{how}."


def timing(card: Card) -> list[str]:
    """What the time of the run may show."""
    return [] if card.timing is None else [f"How long the run took: {card.timing.words}"]


def code(card: Card) -> list[str]:
    """The code that made the release."""
    return [] if card.code is None else [f"Code: {card.code.words}."]
