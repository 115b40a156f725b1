"""The page that checks a card in a browser: one offline HTML file, the same for every card.

It computes the card's digest and the hashes of a ledger's entries as `honestdp.release.verify` does
(`templates/verify.js`), and says what it cannot see. It needs no torch and no network.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from honestdp.release.card import LATER, Card
from honestdp.report.offline import policy
from honestdp.version import __version__


def verify_page() -> str:
    """The page, as HTML."""
    style, script = _source("page.css") + _source("verify.css"), _source("verify.js")
    made = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return made.from_string(_source("verify.html")).render(
        policy=policy([script], [style]),
        style=Markup(style),
        script=Markup(script),
        version=__version__,
        form=_form(),
    )


def _form() -> dict[str, Any]:
    """What the page knows of cards: their fields, and which count only if they are given."""
    return {"fields": list(Card.model_fields), "later": list(LATER)}


@cache
def _source(name: str) -> str:
    place = resources.files("honestdp.report") / "templates" / name
    return place.read_text("utf-8").replace("\r\n", "\n")  # as the browser hashes it
