"""`random-repeats`: K runs, K random; only the best is released."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from honestdp.privacy import guarantee, selection
from honestdp.privacy.curve import RdpCurve
from honestdp.privacy.events import Event, Selection
from honestdp.privacy.run_count import RunCount
from honestdp.procedures import procedures
from honestdp.procedures.options import LAW, law
from honestdp.procedures.random_runs import ShapedRuns


@procedures.register
@dataclass(frozen=True)
class RandomRepeats(ShapedRuns):
    """K runs, K random; only the best is released."""

    candidates: int
    runs: RunCount
    name = "random-repeats"
    summary = "A secret number of candidates is drawn and trained; the best is seen, nothing else."
    options = LAW
    assumptions = (
        "random-repeats: K is drawn first and, like the losers and their scores, never leaves; "
        "with shape poisson K may be 0 and nothing comes out.",
    )

    @classmethod
    def make(cls, candidates: int, options: Mapping[str, Any]) -> RandomRepeats:
        return cls(candidates, law(candidates, options))

    @classmethod
    def automatic(cls, hit_probability: float) -> Sequence[Mapping[str, Any]]:
        shapes = (0.0, 1.0, "poisson", "optimal")
        return [{"hit_probability": hit_probability, "shape": shape} for shape in shapes]

    @property
    def usual_bound(self) -> str:
        return self.bounds[0] if self.shape == "poisson" else "profile"

    def price(self, bound: str, run: Event, final: Event, delta: float) -> float:
        if bound == "papernot-steinke":
            profile = guarantee.profile(run) if self.shape == "poisson" else None
            found = selection.papernot_steinke(guarantee.rdp_curve(run), self.runs, profile)
            return found.epsilon(delta)
        return selection.profile_bound(guarantee.profile(run), self.runs).epsilon(delta)

    def curve(self, run: Event, final: Event, delta: float) -> RdpCurve:
        return guarantee.rdp_curve(Selection(run, self.runs))
