"""The formats that a card is written in: `base` is the contract, every other file a format.

A package adds one by an entry point of the group "honestdp.card_formats"; `honestdp card RUN
--format NAME` then writes it.
"""

from __future__ import annotations

from honestdp.errors import text
from honestdp.registry import Registry
from honestdp.release.card_formats.base import CardFormat

__all__ = ["CardFormat", "card_formats"]

card_formats: Registry[CardFormat] = Registry(
    "card format",
    "honestdp.release.card_formats",
    "honestdp.card_formats",
    CardFormat,
    objects=True,
    needs={"summary": text},
)
