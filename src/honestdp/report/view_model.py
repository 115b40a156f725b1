"""The values of a report for its templates, from the card and the ledger."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from honestdp.evaluation.words import NOT_QUALITY, baseline, estimate_of, interval
from honestdp.ledger import Charge, Ledger
from honestdp.ledger.plans import procedure_name
from honestdp.privacy.guess import guess_chance, guess_chance_swapped
from honestdp.release.card import Card, Chosen
from honestdp.report.inputs import Declared, TestResults
from honestdp.report.score_spread import (
    score_spread,
    scored_rows,
    spread_words,
    tuning_share,
)
from honestdp.text import down, in_100, small, up

MOST_CHARGES = 100  # shown, the last ones; `honestdp ledger show` has all


@dataclass(frozen=True)
class Promise:
    """right: Right guesses in 100, a text. chance: Rounded up to a whole number. swapped: The same
    if a record may be swapped for another. worst: Right guesses in 100 for the most revealing
    mechanism of this epsilon and delta; empty where no other figure is known."""

    right: str
    chance: int
    swapped: str
    worst: str = ""

    @classmethod
    def of(cls, card: Card) -> Promise:
        epsilon, delta = card.guarantee.epsilon, card.guarantee.delta
        attack = card.attack
        if attack is None:  # an earlier card
            chance = math.ceil(100 * guess_chance(epsilon, delta))
            swapped = math.ceil(100 * guess_chance_swapped(epsilon, delta))
            return cls(str(chance), chance, str(swapped))
        right = in_100(attack.success)
        worst = in_100(guess_chance(epsilon, delta))
        return cls(right, math.ceil(float(right)), in_100(attack.swapped), worst)

    @property
    def verdict(self) -> str:
        if self.chance <= 55:
            return "That is hardly better than a coin."
        if self.chance <= 75:
            return "That is better than a coin, and still often wrong."
        if self.chance <= 95:
            return "That is a good deal better than a coin: a loose promise."
        return "That is close to certainty: so large a figure promises little."

    @property
    def dots(self) -> list[str]:
        """A hundred bets: right by chance, right at most due to this release, still wrong."""
        return ["coin"] * 50 + ["gained"] * (self.chance - 50) + ["wrong"] * (100 - self.chance)


@dataclass(frozen=True)
class Tile:
    """A headline figure and what it means."""

    title: str
    figure: str
    meaning: str


def tiles(
    card: Card, declared: Declared, tested: TestResults | None, budget: Budget | None
) -> list[Tile]:
    found = [*_evaluated(card), *_tested(tested)]
    would = "would be, were its randomness secret" if card.mark else "smaller is stricter"
    epsilon = f"\u03b5 {up(card.guarantee.epsilon)}"
    meaning = f"at \u03b4 {small(card.guarantee.delta)}: the formal figure; {would}"
    found.append(Tile("Cost in privacy", epsilon, meaning))
    if budget is not None:
        meaning = (
            f"of \u03b5 {budget.total}, for everything still to be computed from {budget.dataset}"
        )
        found.append(Tile("Left of the budget", budget.left_share, meaning))
    return found


_FIGURES = {
    "accuracy": ("Right on public test rows", "of answers right", True),
    "r2": ("R\u00b2 on public test rows", "share of the variance explained; 1 is best", False),
}


def _tested(tested: TestResults | None) -> list[Tile]:
    if tested is None:
        return []
    rows = "rows" if tested.rows is None else f"{tested.rows:,} rows"
    found = []
    for name, (title, meaning, share) in _FIGURES.items():
        value = getattr(tested, name)
        if value is not None:
            figure = f"{100 * value:.2f} %" if share else f"{value:.4g}"
            found.append(Tile(title, figure, f"{meaning}, on {rows} declared public"))
    return found


def _evaluated(card: Card) -> list[Tile]:
    found = card.evaluation
    if found is None or card.winner is None:
        return []
    main = found.figures[0]
    where = f"{interval(main)} (95 %), by {found.rows:,} rows that had no part in making the model"
    plain = baseline(main)
    where += f"; always the same answer: {plain}" if plain else ""
    return [Tile(main.name.capitalize(), estimate_of(main), where)]


def score_words(card: Card, declared: Declared) -> str:
    """What the winner's noisy score is, and what it is not; empty without one."""
    score = None if card.winner is None else card.winner.noisy_score
    if score is None:
        return ""
    spread = score_spread(card, declared, score)
    off = "" if spread is None else f" \u00b1 {spread:.2g} ({spread_words(card)})"
    meaning = f" ({card.metric.meaning})" if card.metric.meaning else ""
    found = (
        f"{score:.4f}{off}, {card.metric.label}{meaning} on the rows that candidates were compared "
        f"on; {NOT_QUALITY}"
    )
    if tuning_share(declared):
        found += "; of its training on the tuning subset, not of the model released"
    return found


def trained_on(declared: Declared) -> str:
    """The rows that the released model was trained on; the expected number for a random subset."""
    share = tuning_share(declared)
    if share is None:
        return f"{declared.training_rows:,} rows"
    return (
        f"about {(1 - share) * declared.rows:,.0f} rows, after a search on about "
        f"{share * declared.training_rows:,.0f} others"
    )


def scored_on(declared: Declared) -> str:
    about = "about " if tuning_share(declared) else ""
    return f"{about}{scored_rows(declared):,.0f} other rows"


@dataclass(frozen=True)
class Line:
    """One charge of the ledger."""

    number: int
    epsilon: str
    delta: str
    procedure: str
    model: str
    released: bool
    own: bool


@dataclass(frozen=True)
class Budget:
    """The current state of the ledger.

    total, delta: Its total budget. left: The epsilon that a plan with delta 0 may still cost.
    before, own, later: The shares of the budget that went to charges before this run, to this run
    and to later ones. points: (charge, its epsilon, share used after it) of the charges shown.
    """

    dataset: str
    total: str
    delta: str
    left: str
    before: float
    own: float
    later: float
    lines: list[Line]
    hidden: int
    points: list[tuple[int, float, float]]
    own_number: int
    chance: int  # right guesses in 100 about all that it may ever grant
    right: str  # about all that was charged so far

    @classmethod
    def of(cls, ledger: Ledger, own: Charge) -> Budget:
        history, opening = ledger.history(), ledger.opening
        number = own.receipt.id
        place = next(i for i, charge in enumerate(history) if charge.receipt.id == number)

        def used(count: int) -> float:
            return opening.budget.used([charge.spending for charge in history[:count]])

        before, with_own, now = used(place), used(place + 1), used(len(history))
        first = max(0, len(history) - MOST_CHARGES)
        shown = history[first:] if place >= first else (own, *history[first:])
        return cls(
            dataset=opening.dataset,
            total=f"{opening.epsilon:g}",
            delta=small(opening.delta),
            left=down(ledger.remaining().epsilon),
            before=before,
            own=with_own - before,
            later=now - with_own,
            lines=[_line(charge, charge.receipt.id == number) for charge in shown],
            hidden=len(history) - len(shown),
            points=[
                (history[i].receipt.id, history[i].receipt.epsilon, used(i + 1))
                for i in range(first, len(history))
            ],
            own_number=number,
            chance=math.ceil(100 * guess_chance(opening.epsilon, opening.delta)),
            right=in_100(ledger.attack().success),
        )

    @property
    def used(self) -> float:
        return self.before + self.own + self.later

    @property
    def used_share(self) -> str:
        return f"{math.ceil(1000 * self.used - 1e-6) / 10:g} %"

    @property
    def left_share(self) -> str:
        return f"{math.floor(1000 * (1 - self.used) + 1e-6) / 10:g} %"


def _line(charge: Charge, own: bool) -> Line:
    plan = charge.plan
    return Line(
        number=charge.receipt.id,
        epsilon=up(charge.receipt.epsilon),
        delta=small(charge.receipt.delta),
        procedure=procedure_name(plan),
        model=str(plan.get("model", "")),
        released=charge.released,
        own=own,
    )


def columns(declared: Declared) -> list[tuple[str, str, str]]:
    """Name, kind and declared values of every column."""
    return [
        (column.name, column.label or column.kind, column.describe())
        for column in declared.table.columns
    ]


def settings(chosen: Chosen) -> list[tuple[str, str]]:
    return [(name, shown(value)) for name, value in chosen.setting.items()]


def shown(value: Any) -> str:
    """A hyperparameter's value."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    return f"{value:.6g}" if isinstance(value, float) else str(value)
