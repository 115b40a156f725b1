"""The values of a report for its templates, from the card and the ledger."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from honestdp.errors import InputError
from honestdp.ledger import Charge, Ledger
from honestdp.ledger.plans import procedure_name
from honestdp.privacy.guess import guess_chance, guess_chance_swapped
from honestdp.release.card import METRIC_IS_MEAN, Card, Chosen
from honestdp.report.inputs import Declared, TestResults
from honestdp.text import down, small, up

MOST_CHARGES = 100  # shown, the last ones; `honestdp ledger show` has all


@dataclass(frozen=True)
class Promise:
    """chance: Right guesses in 100, rounded up. swapped: The same if a record may be swapped for
    another."""

    chance: int
    swapped: int

    @classmethod
    def of(cls, card: Card) -> Promise:
        epsilon, delta = card.guarantee.epsilon, card.guarantee.delta
        return cls(
            math.ceil(100 * guess_chance(epsilon, delta)),
            math.ceil(100 * guess_chance_swapped(epsilon, delta)),
        )

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
    found = [*_tested(tested), *_score(card, declared)]
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


def _score(card: Card, declared: Declared) -> list[Tile]:
    score = card.winner and card.winner.noisy_score
    if score is None:
        return []
    title = f"Noisy {card.metric.label} of the winner"
    rows = scored_rows(declared)
    noise = score_noise(card, declared)
    how_much = "" if noise is None else f" of \u00b1{noise:.2g}"
    meaning = (
        f"{f'{card.metric.meaning} on' if card.metric.meaning else 'on'} "
        f"{'about ' if _share(declared) else ''}{rows:,.0f} rows held "
        f"out, with noise{how_much} added for their protection; "
        "the best of several flatters itself a little"
    )
    if _share(declared):
        meaning += "; of its training on the tuning subset, not of the model released"
    return [Tile(title, f"{score:.4f}", meaning)]


def scored_rows(declared: Declared) -> float:
    """Number of rows that a score sums over; the expected number if it is secret."""
    return declared.validation_rows * (_share(declared) or 1.0)


def score_noise(card: Card, declared: Declared) -> float | None:
    """The standard deviation of a score's noise, in the unit of the score; None where it follows
    from more than the card has."""
    if card.declared_public.get(METRIC_IS_MEAN) is False:
        return None
    noise = [access.noise for access in card.covered if access.what.startswith("validation")]
    if not noise or not declared.validation_rows:
        raise InputError("card.json: has scores, but no access that made them private")
    return noise[0] / scored_rows(declared)


def trained_on(declared: Declared) -> str:
    """The rows that the released model was trained on; the expected number for a random subset."""
    share = _share(declared)
    if share is None:
        return f"{declared.training_rows:,} rows"
    return (
        f"about {(1 - share) * declared.rows:,.0f} rows, after a search on about "
        f"{share * declared.training_rows:,.0f} others"
    )


def scored_on(declared: Declared) -> str:
    about = "about " if _share(declared) else ""
    return f"{about}{scored_rows(declared):,.0f} other rows"


def _share(declared: Declared) -> float | None:
    return declared.search.request.among(len(declared.grid)).tuning_share


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
