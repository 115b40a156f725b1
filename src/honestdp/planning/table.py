"""`CostTable`, the result of `cost_table`: as values, as text, as HTML for a notebook.

Figures are rounded up: no table ever shows a cost smaller than the true one.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from decimal import ROUND_CEILING, Context, Decimal
from html import escape
from textwrap import fill
from typing import Any

from honestdp.privacy.calibrate import Shape
from honestdp.privacy.guess import guess_chance
from honestdp.text import columns, in_100


@dataclass(frozen=True)
class Inputs:
    """The arguments of `cost_table`, checked and with defaults filled in. All are public."""

    n: int
    lot_size: int
    steps: int
    candidates: int
    delta: float
    noise_multiplier: float | None
    epsilon: float | None
    hit_probability: float | None
    subset: float

    def __str__(self) -> str:
        given = (
            f"noise multiplier {self.noise_multiplier:g}"
            if self.epsilon is None
            else f"epsilon {self.epsilon:g}"
        )
        text = (
            f"n {self.n}, lot size {self.lot_size}, steps {self.steps}, "
            f"candidates {self.candidates}, delta {self.delta:g}, {given}"
        )
        if self.hit_probability is not None:
            text += f", hit probability {self.hit_probability:g}"
        return text


@dataclass(frozen=True)
class Row:
    """One procedure under one bound; a field is None where it does not apply.

    success: The largest share of right bets on whether one record was real (a coin: 0.5), by the
    procedure's own privacy profile; of the smallest bound on each procedure and shape only.
    """

    procedure: str
    bound: str
    shape: Shape | None
    expected_runs: float | None
    max_runs: int | None
    hit_probability: float | None
    epsilon: float | None
    delta: float
    noise_multiplier: float | None
    success: float | None = None


@dataclass(frozen=True)
class CostTable:
    """What every procedure costs, cheapest first. Prints as text and renders in a notebook.

    Attributes:
        inputs: The arguments of `cost_table`.
        rows: One procedure under one bound each, cheapest first.
        notes: The assumptions of the bounds, in sentences.
    """

    inputs: Inputs
    rows: tuple[Row, ...]
    notes: tuple[str, ...]

    @property
    def answers_epsilon(self) -> bool:
        """Whether the table computes epsilon; otherwise it computes the noise multiplier."""
        return self.inputs.epsilon is None

    def answer(self, row: Row) -> float | None:
        """The computed value of a row: epsilon, or the noise multiplier.

        Args:
            row: One of `rows`.

        Returns:
            The value; None if the bound has no answer.
        """
        return row.epsilon if self.answers_epsilon else row.noise_multiplier

    @property
    def single_run(self) -> float | None:
        """The answer for one untuned run; None if its tightest bound, "pld", has none."""
        found = {row.bound: self.answer(row) for row in self.rows if row.procedure == "untuned"}
        if found.get("pld") is None:
            return None
        return min(answer for answer in found.values() if answer is not None)

    def is_smallest(self, row: Row) -> bool:
        """Whether a row has the smallest of the bounds on its procedure and shape.

        Args:
            row: One of `rows`.
        """
        same = [r for r in self.rows if (r.procedure, r.shape) == (row.procedure, row.shape)]
        return row is same[0] and self.answer(row) is not None

    @property
    def headers(self) -> tuple[str, ...]:
        """The titles of the columns of `cells`."""
        answer = "epsilon" if self.answers_epsilon else "noise multiplier"
        return (
            "procedure",
            "bound",
            "shape",
            "expected runs",
            "max runs",
            "hit probability",
            answer,
            "x single run",
        )

    def cells(self, row: Row) -> tuple[str, ...]:
        """Format a row as text, with figures rounded up.

        Args:
            row: One of `rows`.

        Returns:
            A text for each of `headers`; `*` marks the smallest bound of a procedure.
        """
        answer, single = self.answer(row), self.single_run
        ratio = None if answer is None or not single else answer / single
        return (
            row.procedure,
            row.bound + (" *" if self.is_smallest(row) else ""),
            _shape(row.shape),
            "-" if row.expected_runs is None else f"{row.expected_runs:.4g}",
            "-" if row.max_runs is None else str(row.max_runs),
            "-" if row.hit_probability is None else f"{row.hit_probability:.3f}",
            _rounded_up(answer),
            _rounded_up(ratio, 2),
        )

    @property
    def bets(self) -> str:
        """How often a bet on one record can be right under each procedure, in a sentence."""
        told = "; ".join(
            f"{row.procedure}{'' if row.shape is None else f' {_shape(row.shape)}'} "
            f"{in_100(row.success)}"
            for row in self.rows
            if row.success is not None
        )
        worst = ""
        if self.inputs.epsilon is not None:
            most = in_100(guess_chance(self.inputs.epsilon, self.inputs.delta))
            worst = f"; the worst case at this epsilon: {most}"
        beside = f"a coin: 50{worst}"
        return f"Right bets in 100 on whether one record was real, at most ({beside}): {told}."

    def to_dict(self) -> dict[str, Any]:
        """The inputs and the rows as dicts of numbers and texts."""
        return {"inputs": asdict(self.inputs), "rows": [asdict(row) for row in self.rows]}

    def __str__(self) -> str:
        lines = columns(self.headers, [self.cells(row) for row in self.rows], left=3)
        said = (self.bets, *self.notes)
        notes = [fill(note, 98, subsequent_indent="  ") for note in said]
        mark = "* the smallest bound on its procedure and shape"
        return "\n".join([str(self.inputs), "", *lines, "", mark, *notes])

    def _repr_html_(self) -> str:
        def line(cells: tuple[str, ...], tag: str, style: str = "") -> str:
            inner = "".join(
                f'<{tag} style="text-align:{"left" if i < 3 else "right"};{style}">'
                f"{escape(cell)}</{tag}>"
                for i, cell in enumerate(cells)
            )
            return f"<tr>{inner}</tr>"

        rows = "".join(
            line(self.cells(row), "td", "font-weight:600" if self.is_smallest(row) else "")
            for row in self.rows
        )
        notes = "".join(f"<li>{escape(note)}</li>" for note in (self.bets, *self.notes))
        return (
            f"<div><p>{escape(str(self.inputs))}</p>"
            f"<table><thead>{line(self.headers, 'th')}</thead><tbody>{rows}</tbody></table>"
            f"<ul style='font-size:smaller'>{notes}</ul></div>"
        )


def _rounded_up(value: float | None, digits: int = 4) -> str:
    """Four significant digits, or two decimals, never below the value."""
    if value is None:
        return "-"
    if value <= 0:
        return "0"
    decimals = max(0, digits - 1 - math.floor(math.log10(value))) if digits == 4 else digits
    # As Python writes the number: 2.765 stays 2.765, though its last bit may lie above it.
    exact, unit = Decimal(repr(value)), Decimal(1).scaleb(-decimals)
    shown = exact.quantize(unit, rounding=ROUND_CEILING, context=_EXACT)
    return f"{shown:f}"


_EXACT = Context(prec=700)  # any float has fewer digits


def _shape(shape: Shape | None) -> str:
    """The shape of a law of K in its cell."""
    if shape is None:
        return "-"
    return shape if isinstance(shape, str) else f"{shape:g}"
