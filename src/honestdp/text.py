"""Formatting of numbers and plain-text tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import Final

SIMULATION: Final = "SIMULATION, NOT PRIVATE"  # the mark of everything made with a known seed


def columns(headers: Sequence[str], rows: Sequence[Sequence[object]], left: int = 0) -> list[str]:
    """Aligned lines: a header, a rule, the rows; the first `left` columns are left-aligned."""
    lines = [[str(cell) for cell in row] for row in (headers, *rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    texts = [
        "  ".join(
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    return [texts[0], "-" * (sum(widths) + 2 * (len(widths) - 1)), *texts[1:]]


def listed(names: Sequence[str], most: int = 20) -> str:
    """The first names, quoted, and how many there are if these are not all."""
    shown = ", ".join(repr(name[:60]) for name in names[:most])
    return shown + (f", ... ({len(names)} in all)" if len(names) > most else "")


def up(value: float) -> str:
    """Four digits, never below the value: for costs."""
    return _digits(value, ROUND_CEILING)


def down(value: float) -> str:
    """Four digits, never above the value: for what is left."""
    return _digits(value, ROUND_FLOOR)


def in_100(share: float) -> str:
    """A share as so many in 100, one decimal, never below the value (but for the last bit)."""
    return f"{math.ceil(1000 * share) / 10:g}"


def small(value: float) -> str:
    """As `up`, formatted as a delta: 1e-06."""
    return f"{float(up(value)):g}"


def _digits(value: float, rounding: str) -> str:
    # From the decimal repr: the binary fraction of 0.0001 is a little more than that.
    text = repr(float(value)).removesuffix(".0")
    return f"{Context(prec=4, rounding=rounding).create_decimal(text):g}"
