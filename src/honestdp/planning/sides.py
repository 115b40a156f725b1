"""The two sides of a search: a record trains, or it scores; what is free on one side.

A public permutation puts every record in the training part or in the validation part, so a
record goes through the procedure once, on its own side, and the guarantee is the larger of the
two sides' costs. Scores can therefore be as precise as they cost no more than training does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from honestdp.errors import fail
from honestdp.planning.procedures import ComposeAll, Procedure, Untuned
from honestdp.privacy import guarantee
from honestdp.privacy.calibrate import round_up
from honestdp.privacy.curve import RdpCurve
from honestdp.privacy.events import Event, Gaussian, Pure
from honestdp.units import LARGEST_NOISE


@dataclass(frozen=True)
class Scoring:
    """How validation scores are made private.

    event: what one candidate's score costs a validation record; for "pick", what the one choice
    among all candidates costs it. noise: its scale, in units of what one record can change: the
    standard deviation of Gaussian noise ("scores"), the scale of Gumbel noise ("pick").
    """

    kind: str  # "scores" or "pick"
    noise: float
    event: Event

    @classmethod
    def of(cls, kind: str, noise: float) -> Scoring:
        if noise > LARGEST_NOISE:
            remedy = f"must be at most {LARGEST_NOISE:g}, what can be drawn exactly; raise epsilon"
            raise fail("score_noise", noise, remedy)
        if kind == "pick":  # rounded up: 1 / noise in real numbers is no more
            return cls(kind, noise, Pure(math.nextafter(1 / noise, math.inf)))
        return cls(kind, noise, Gaussian(noise))


@dataclass(frozen=True)
class Sides:
    """What a procedure costs a training record and a validation record."""

    procedure: Procedure
    bound: str
    training: Event
    scoring: Scoring | None

    @classmethod
    def of(
        cls, procedure: Procedure, bound: str, training: Event, score_noise: float | None
    ) -> Sides:
        """The sides of a procedure: one that selects has scores, one that does not has none."""
        check_bound(procedure, bound)
        if isinstance(procedure, Untuned) or score_noise is None:
            if not isinstance(procedure, Untuned) or score_noise is not None:
                raise fail("score_noise", score_noise, f"is not what {procedure.name} needs")
            return cls(procedure, bound, training, None)
        picks = isinstance(procedure, ComposeAll) and not procedure.scores
        return cls(
            procedure, bound, training, Scoring.of("pick" if picks else "scores", score_noise)
        )

    def epsilon(self, delta: float) -> dict[str, float]:
        """The epsilon of each side."""
        found = {"training": self.procedure.price(self.bound, *self._trains, delta)}
        if self.scoring is not None:
            found["validation"] = self._validator.price(self.bound, *self._scores, delta)
        return found

    def curve(self, delta: float) -> RdpCurve:
        """The larger of both sides, at every order."""
        found = self.procedure.curve(*self._trains, delta)
        if self.scoring is None:
            return found
        return found.maximum(self._validator.curve(*self._scores, delta))

    @property
    def _trains(self) -> tuple[Event, Event]:
        return self.training, self.training

    @property
    def _scores(self) -> tuple[Event, Event]:
        assert self.scoring is not None
        # The final training of subset tuning reads rows of either part.
        return self.scoring.event, self.training

    @property
    def _validator(self) -> Procedure:
        """How scores go into the output: as the runs do, or all in one pick."""
        if self.scoring is not None and self.scoring.kind == "pick":
            return Untuned(self.procedure.candidates)
        return self.procedure


def check_bound(procedure: Procedure, bound: str) -> None:
    """Raise unless this theorem holds for the procedure."""
    if bound not in procedure.bounds:
        known = ", ".join(procedure.bounds)
        raise fail("bound", bound, f"does not hold for {procedure.name}; {known} do")


def free_noise(procedure: Procedure, bound: str, training: Event, delta: float) -> float | None:
    """The noise at which scores are as precise as they are free; None where there are none.

    It starts as the least at which a score's Renyi curve lies below the training's at every order
    (a Gaussian's is a/(2 s^2), a pure mechanism's at most a e^2/2) and grows, where need be, until
    the whole procedure costs no more on this side than on the other: in epsilon, and at every
    order, so that no later composition pays for scores either.
    """
    if isinstance(procedure, Untuned):
        return None
    known = guarantee.rdp_curve(training)
    slope = float((known.values / known.orders).min()) * (1 - 1e-9)
    if isinstance(procedure, ComposeAll) and not procedure.scores:
        slope *= procedure.candidates  # one pick, beside as many trainings
    free = procedure.curve(training, training, delta)
    noise = round_up(math.sqrt(1 / (2 * slope)))
    while True:
        sides = Sides.of(procedure, bound, training, noise)
        both, costs = sides.curve(delta), sides.epsilon(delta)
        dearer = (both.values > free.at(both.orders)).any()
        if costs["validation"] <= costs["training"] and not dearer:
            return noise
        noise = round_up(noise * 1.01)
