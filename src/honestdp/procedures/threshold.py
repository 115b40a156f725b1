"""`threshold`: draw until a score is good enough, or a coin stops the search."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from honestdp.errors import fail, positive_integer
from honestdp.privacy import guarantee, selection
from honestdp.privacy.calibrate import stopping_probability
from honestdp.privacy.curve import RdpCurve
from honestdp.privacy.events import Event
from honestdp.privacy.run_count import RunCount
from honestdp.privacy.runs import Capped, geometric
from honestdp.procedures import procedures
from honestdp.procedures.draws import Outcome
from honestdp.procedures.options import LENGTH, THRESHOLD
from honestdp.procedures.random_runs import RandomRuns


@procedures.register
@dataclass(frozen=True)
class Threshold(RandomRuns):
    """Draw until a score reaches a public threshold, or a gamma-coin stops the search.

    threshold: A value of the metric; the cost of the procedure does not depend on it.
    """

    candidates: int
    gamma: float
    cap: int | None = None
    threshold: float | None = None
    name = "threshold"
    summary = "Candidates are drawn until one scores above a public number; that one is seen."
    options = MappingProxyType({**THRESHOLD, **LENGTH, "cap": positive_integer})
    bounds = ("profile",)
    assumptions = (
        "threshold: a public score threshold; expected runs are at most 1/gamma, and the hit "
        "probability is that of a threshold which only the best candidate reaches.",
    )

    @classmethod
    def make(cls, candidates: int, options: Mapping[str, Any]) -> Threshold:
        gamma = stopping_probability(
            candidates, options.get("hit_probability"), options.get("mean_runs")
        )
        return cls(candidates, gamma, options.get("cap"), options.get("threshold"))

    def check(self, settings: int, delta: float) -> None:
        if self.threshold is None:
            raise fail("threshold", None, "give a public score to reach, such as 0.8")
        super().check(settings, delta)

    @property
    def law(self) -> RunCount:
        """The law of the most draws that are made: where the gamma-coin stops the search."""
        rounds = geometric(self.gamma)
        return rounds if self.cap is None else Capped(rounds, self.cap)

    def price(self, bound: str, run: Event, final: Event, delta: float) -> float:
        return self._bound(run).epsilon(delta)

    def curve(self, run: Event, final: Event, delta: float) -> RdpCurve:
        return selection.best_of_as_curve(guarantee.rdp_curve(run), self._bound(run))

    def _bound(self, run: Event) -> selection.BestOf:
        return selection.threshold(guarantee.profile(run), self.gamma, self.cap)

    def keep(
        self, kept: Sequence[Outcome], new: Sequence[Outcome], as_score: Callable[[float], float]
    ) -> list[Outcome]:
        """The first that reached the threshold."""
        assert self.threshold is not None
        goal = as_score(self.threshold)
        return [*kept, *(outcome for outcome in new if outcome.score >= goal)][:1]
