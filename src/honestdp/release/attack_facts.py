"""What an attacker can do, as a card holds it."""

from __future__ import annotations

from pydantic import Field

from honestdp.json_files import Part
from honestdp.privacy.attack import AttackBounds
from honestdp.privacy.guess import guess_chance
from honestdp.text import in_100, up

DERIVED = (
    "from the privacy profile of this very plan, both directions of neighbours, the worst of the "
    "roles that a row may have, every question asked before included; rounded up"
)


class Rates(Part):
    """A bound on tests: false_positive, how often one takes an empty row for a real one;
    true_positive: how often it knows a real one, at most."""

    false_positive: float = Field(gt=0, lt=1)
    true_positive: float = Field(ge=0, le=1)


class Corner(Part):
    """A corner of the trade-off curve: its false-positive and its false-negative rate."""

    false_positive: float = Field(ge=0, le=1)
    false_negative: float = Field(ge=0, le=1)


class AttackFacts(Part):
    """What nobody can exceed who bets on whether one row was real or left empty.

    Attributes:
        success: The largest share of right bets, if a fair coin decided.
        worst_case: The same for the most revealing of all mechanisms of this epsilon and delta.
        swapped: The largest share of right bets on which of two given rows was there.
        rates: The largest true-positive rate at some false-positive rates.
        mu: Up to a probability of `aside`, what was released is no more revealing than one number
            with Gaussian noise of standard deviation 1, which the row moves by mu; None if no such
            mu was shown.
        aside: That probability.
        trade_off: Corners of a line, straight between them, that no test is below.
        derived: How all this was computed.
    """

    success: float = Field(ge=0.5, le=1)
    worst_case: float = Field(ge=0.5, le=1)
    swapped: float = Field(ge=0.5, le=1)
    rates: tuple[Rates, ...]
    mu: float | None = Field(ge=0)
    aside: float = Field(ge=0, lt=1)
    trade_off: tuple[Corner, ...] = Field(min_length=2)
    derived: str

    @classmethod
    def of(cls, bounds: AttackBounds, epsilon: float, delta: float) -> AttackFacts:
        """The facts of a plan's bounds and of what it is charged."""
        rates = (Rates(false_positive=a, true_positive=b) for a, b in bounds.rates)
        corners = (Corner(false_positive=a, false_negative=b) for a, b in bounds.curve)
        return cls(
            success=bounds.success,
            worst_case=guess_chance(epsilon, delta),
            swapped=bounds.swapped,
            rates=tuple(rates),
            mu=bounds.mu,
            aside=bounds.aside,
            trade_off=tuple(corners),
            derived=DERIVED,
        )

    def sentences(self, simulated: bool) -> str:
        """The figures in words."""
        rates = "; ".join(
            f"{in_100(one.false_positive)} in 100 false alarms, {in_100(one.true_positive)} in 100 "
            "real rows known"
            for one in self.rates
        )
        found = (
            f"{'Were its randomness secret, whoever' if simulated else 'Whoever'} bets on whether "
            f"one such record was real would be right at most {in_100(self.success)} times in 100 "
            f"(a coin: 50; the worst case at this epsilon and delta: {in_100(self.worst_case)}). "
            f"With fewer false alarms, at most: {rates}."
        )
        if self.mu is not None:
            found += (
                f" It is no more revealing than one number with Gaussian noise that the record "
                f"moves by mu = {up(self.mu)} standard deviations, but for a probability of "
                f"{self.aside:.4g}."
            )
        return f"{found} Computed {self.derived}."
