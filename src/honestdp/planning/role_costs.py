"""The cost of a search by a record's role: training, validation, calibration or test.

A public permutation puts every record in one of the parts of these names, so a record affects the
procedure once, in its own role, and the guarantee is the largest of the roles' costs. Scores, and
the counts of a calibration and an evaluation, can therefore be precise as long as they cost no more
than training does.

*Theorem.* Let the search release a winner W; then noisy counts C of calibration rows, whose cells
depend on W; then noisy counts E of test rows, whose cells depend on W and C. The cost of (W, C, E)
is the largest of: the search's, that of C given W, that of E given W and C. *Proof.* The role of
the record in which two tables differ is public. If it trains or validates, C and E are drawn from W
and rows that are the same in both: post-processing of W. If it calibrates, W has the same law in
both, C costs what it costs for every W, and E is post-processing of (W, C). If it tests, (W, C) has
the same law in both, and E costs what it costs for every value of it. QED. What else the search
keeps secret (how many runs, their losers) has no part in C and E.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from honestdp.errors import fail
from honestdp.privacy import guarantee
from honestdp.privacy.after_gaussian import epsilon_after_gaussian
from honestdp.privacy.calibrate import round_up
from honestdp.privacy.composed import composed
from honestdp.privacy.curve import RdpCurve
from honestdp.privacy.events import Composition, Event, Gaussian, Pure
from honestdp.privacy.profile import CurveProfile, LargestProfile, Profile, TightestProfile
from honestdp.procedures import Procedure
from honestdp.procedures.checks import curve_of, priced, profile_of
from honestdp.units import LARGEST_NOISE


@dataclass(frozen=True)
class Scoring:
    """How validation scores are made private.

    event: What one candidate's score costs a validation record; for "pick", what the one choice
    among all candidates costs it. noise: Its scale, in units of what one record can change: the
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

    @property
    def what(self) -> str:
        """What of the validation rows is released, for the card."""
        return "score of every candidate" if self.kind == "scores" else "choice of the winner"

    @property
    def mechanism(self) -> str:
        """What makes it private, for the card."""
        return "Gaussian noise" if self.kind == "scores" else "one exponential mechanism (Gumbel)"


@dataclass(frozen=True)
class RoleCosts:
    """What a procedure costs a training record, a validation record, and those of a test part and
    a calibration part."""

    procedure: Procedure
    bound: str
    training: Event
    scoring: Scoring | None
    testing: Gaussian | None = None
    calibrating: Gaussian | None = None

    @classmethod
    def of(
        cls,
        procedure: Procedure,
        bound: str,
        training: Event,
        score_noise: float | None,
        test_noise: float | None = None,
        calibration_noise: float | None = None,
    ) -> RoleCosts:
        """The costs of a procedure; `score_noise` must be given exactly if it selects, `test_noise`
        if there is a test part, `calibration_noise` if there is a calibration part."""
        counted = [None if s is None else Gaussian(s) for s in (test_noise, calibration_noise)]
        procedure.check_bound(bound)
        kind = procedure.scoring
        if (kind is None) != (score_noise is None):
            raise fail("score_noise", score_noise, f"does not fit {procedure.name}")
        if kind is None or score_noise is None:
            return cls(procedure, bound, training, None, *counted)
        return cls(procedure, bound, training, Scoring.of(kind, score_noise), *counted)

    def epsilon(self, delta: float, before: Event | None = None) -> dict[str, float]:
        """The epsilon of each role, with the questions that every record answers before."""
        found = {"training": priced_after(self.procedure, self.bound, before, self._trains, delta)}
        if self.scoring is not None:
            other = self.procedure.validation
            found["validation"] = priced_after(other, self.bound, before, self._scores, delta)
        for role, counts in self._counts.items():
            asked = counts if before is None else Composition(before, counts)
            found[role] = guarantee.epsilon(asked, delta)
        return found

    def curve(self, delta: float) -> RdpCurve:
        """The largest of the roles' Renyi curves, at every order."""
        found = curve_of(self.procedure, *self._trains, delta)
        if self.scoring is not None:
            found = found.maximum(self.procedure.validation.curve(*self._scores, delta))
        for counts in self._counts.values():
            found = found.maximum(guarantee.rdp_curve(counts))
        return found

    def profile(self, delta: float, before: Event | None = None) -> Profile:
        """The largest of the roles' privacy profiles, with the questions that every record answers
        before: a record has one role, so this bounds what can be told about any."""
        found = [profile_after(self.procedure, before, self._trains, delta)]
        if self.scoring is not None:
            found.append(profile_after(self.procedure.validation, before, self._scores, delta))
        for counts in self._counts.values():
            asked = counts if before is None else Composition(before, counts)
            found.append(guarantee.profile(asked))
        return LargestProfile(*found)

    @property
    def _counts(self) -> dict[str, Gaussian]:
        """The counts of the roles that have no other part in it."""
        found = {"test": self.testing, "calibration": self.calibrating}
        return {role: counts for role, counts in found.items() if counts is not None}

    @property
    def _trains(self) -> tuple[Event, Event]:
        return self.training, self.training

    @property
    def _scores(self) -> tuple[Event, Event]:
        assert self.scoring is not None
        # The final training of subset tuning reads rows of either part.
        return self.scoring.event, self.training


def priced_after(
    procedure: Procedure,
    bound: str,
    before: Event | None,
    runs: tuple[Event, Event],
    delta: float,
    composes: bool | None = None,
) -> float:
    """The epsilon of a procedure and of the Gaussian questions that are answered before it.

    Where the procedure is one event made of Gaussians, all of it is composed as loss distributions
    (or Renyi curves); else by `epsilon_after_gaussian`.

    Args:
        procedure: The procedure.
        bound: The theorem, one of its `bounds`.
        before: The questions, Gaussians without sampling; None: there are none.
        runs: What one run, and the training after the search, cost the record.
        delta: The delta of the result.
        composes: `is_one_event` of these runs, where a caller that tries many noises knows it from
            one of them; what it finds is priced again before it is charged. None: find out.
    """
    if before is None:
        return priced(procedure, bound, *runs, delta)
    whole = procedure.event(runs[0])
    if composes is None:
        composes = is_one_event(procedure, runs, delta)
    if composes and whole is not None:
        return guarantee.epsilon(Composition(before, whole), delta, bound)  # type: ignore[arg-type]
    noise = guarantee.gaussian_noise(before)
    return epsilon_after_gaussian(lambda d: priced(procedure, bound, *runs, d), noise, delta)


def profile_after(
    procedure: Procedure, before: Event | None, runs: tuple[Event, Event], delta: float
) -> Profile:
    """The privacy profile of a procedure and of the Gaussian questions that are answered before it.

    Composed as `priced_after` composes them; where the procedure is not one event, by the theorem
    of `composed`, or by its Renyi curve where that is smaller.

    Args:
        procedure: The procedure.
        before: The questions, Gaussians without sampling; None: there are none.
        runs: What one run, and the training after the search, cost the record.
        delta: The delta of the plan.
    """
    if before is None:
        return profile_of(procedure, *runs, delta)
    whole = procedure.event(runs[0])
    if whole is not None and is_one_event(procedure, runs, delta):
        return guarantee.profile(Composition(before, whole))
    both = composed([guarantee.profile(before), profile_of(procedure, *runs, delta)])
    curve = curve_of(procedure, *runs, delta) + guarantee.rdp_curve(before)
    return TightestProfile(both, CurveProfile(curve))


def is_one_event(procedure: Procedure, runs: tuple[Event, Event], delta: float) -> bool:
    """Whether a procedure is one event made of Gaussians, which costs no less than the procedure's
    own curve: one that inherits `event` and does more than that is priced by its `price`."""
    whole = procedure.event(runs[0])
    if whole is None or not guarantee.is_gaussian(whole):
        return False
    own, known = curve_of(procedure, *runs, delta), guarantee.rdp_curve(whole)
    same = np.array_equal(own.orders, known.orders)
    return same and bool((own.values <= known.values).all())


def free_noise(procedure: Procedure, bound: str, training: Event, delta: float) -> float | None:
    """The least noise at which scores cost no more than training; None if there are no scores.

    It starts as the least at which a score's Renyi curve lies below the training's at every order
    (a Gaussian's is a/(2 s^2), a pure mechanism's at most a e^2/2) and grows, if need be, until the
    whole procedure costs no more in the validation role than in the training role: in epsilon, and
    at every order, so that no later composition pays for scores either.
    """
    if procedure.scoring is None:
        return None
    free = curve_of(procedure, training, training, delta)
    # A score is compared with a training; a single pick with the whole procedure.
    one_each = procedure.validation is procedure
    known = guarantee.rdp_curve(training) if one_each else free
    slope = float((known.values / known.orders).min()) * (1 - 1e-9)
    noise = round_up(math.sqrt(1 / (2 * slope)))
    while True:
        roles = RoleCosts.of(procedure, bound, training, noise)
        both, costs = roles.curve(delta), roles.epsilon(delta)
        dearer = (both.values > free.at(both.orders)).any()
        if costs["validation"] <= costs["training"] and not dearer:
            return noise
        noise = round_up(noise * 1.01)


def free_count_noise(roles: RoleCosts, before: Event | None, delta: float) -> float:
    """The least noise of the counts of a test or a calibration part at which they cost its records
    no more than the search costs the others: at every Renyi order, and in epsilon, with the
    questions before.

    Args:
        roles: The costs of the search, without these parts.
        before: The questions that every record answers.
        delta: The delta of the plan.
    """
    free = roles.curve(delta)
    most = max(roles.epsilon(delta, before).values())
    slope = float((free.values / free.orders).min()) * (1 - 1e-9)  # a Gaussian's is 1/(2 s^2)
    noise = round_up(math.sqrt(1 / (2 * slope)))
    while True:
        both = replace(roles, testing=Gaussian(noise))
        dearer = (both.curve(delta).values > free.at(both.curve(delta).orders)).any()
        if both.epsilon(delta, before)["test"] <= most and not dearer:
            return noise
        noise = round_up(noise * 1.01)


def times_root(noise: float, levels: int) -> float:
    """noise * sqrt(levels), rounded up.

    Args:
        noise: The noise multiplier of all levels together.
        levels: Number of levels in which a record is counted.
    """
    root = math.isqrt(levels)
    if root * root == levels:
        return noise * root
    return math.nextafter(math.nextafter(noise * math.sqrt(levels), math.inf), math.inf)
