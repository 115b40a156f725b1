"""`composition`: every candidate trains, and everything may be released."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from honestdp.privacy import guarantee
from honestdp.privacy.curve import RdpCurve
from honestdp.privacy.events import Event, Repeated
from honestdp.privacy.profile import Profile
from honestdp.procedures import procedures
from honestdp.procedures.base import Procedure
from honestdp.procedures.draws import Coin, Draw, Outcome, every_setting_once, ranked
from honestdp.procedures.options import SCORES
from honestdp.procedures.untuned import Untuned


@procedures.register
@dataclass(frozen=True)
class Composition(Procedure):
    """Every candidate trains; everything may be released. It costs as many trainings as there are
    candidates, composed.

    scores: Whether noisy scores are shown; otherwise one exponential mechanism picks the winner.
    """

    candidates: int
    scores: bool = True
    name = "composition"
    summary = "Every candidate is trained and paid for; all of them may be seen."
    options = SCORES
    bounds = ("rdp-classic", "rdp", "pld")
    assumptions = ("composition: own lots and noise for every candidate; all may be released.",)
    conditions = ()
    releases_all = True
    hit_probability = 1.0

    @classmethod
    def make(cls, candidates: int, options: Mapping[str, Any]) -> Composition:
        return cls(candidates, options.get("scores") is not False)

    @classmethod
    def automatic(cls, hit_probability: float) -> Sequence[Mapping[str, Any]]:
        return ({},)

    @property
    def expected_runs(self) -> float:
        return float(self.candidates)

    @property
    def max_runs(self) -> int:
        return self.candidates

    def event(self, run: Event) -> Event:
        return Repeated(run, self.candidates)

    def price(self, bound: str, run: Event, final: Event, delta: float) -> float:
        return guarantee.epsilon(self.event(run), delta, bound)  # type: ignore[arg-type]

    def profile(self, run: Event, final: Event, delta: float) -> Profile:
        return guarantee.profile(self.event(run))

    def curve(self, run: Event, final: Event, delta: float) -> RdpCurve:
        return guarantee.rdp_curve(self.event(run))

    @property
    def scoring(self) -> Literal["scores", "pick"]:
        return "scores" if self.scores else "pick"

    @property
    def validation(self) -> Procedure:
        return self if self.scores else Untuned(self.candidates)  # all scores in one pick

    def draws(self, settings: int, coin: Coin) -> list[Draw]:
        return every_setting_once(settings)

    def keep(
        self, kept: Sequence[Outcome], new: Sequence[Outcome], as_score: Callable[[float], float]
    ) -> list[Outcome]:
        found = ranked([*kept, *new])
        if self.scores:
            return found
        # Only one pick was paid for; ranking the others would be further picks.
        return [*found[:1], *sorted(found[1:], key=lambda outcome: outcome.draw.number)]

    @property
    def leaves(self) -> str:
        return f"every candidate, {'with its noisy score' if self.scores else 'no score'}"

    def released(self, also: str) -> str:
        scores = "with their noisy scores" if self.scores else "and which one was picked"
        everyone = f"the models and hyperparameters of all {self.candidates} candidates"
        return f"{everyone}, {scores}{also}."
