"""`random-stopping`: the paper's Algorithm 1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from honestdp.privacy import guarantee, selection
from honestdp.privacy.calibrate import stopping_probability
from honestdp.privacy.curve import RdpCurve
from honestdp.privacy.events import Event, Selection
from honestdp.privacy.run_count import RunCount
from honestdp.privacy.runs import Capped, geometric
from honestdp.procedures import procedures
from honestdp.procedures.options import LENGTH
from honestdp.procedures.random_runs import RandomRuns


@procedures.register
@dataclass(frozen=True)
class RandomStopping(RandomRuns):
    """The paper's Algorithm 1: draw until a gamma-coin stops, at most ceil(Upsilon) times."""

    candidates: int
    gamma: float
    name = "random-stopping"
    summary = (
        "Candidates are drawn at random, again and again, until a coin says stop; the best is "
        "seen, nothing else."
    )
    options = LENGTH
    bounds = ("liu-talwar", "profile")
    drawn_bounds = bounds  # the paper's, and ours
    assumptions = (
        "random-stopping: liu-talwar is the paper's bound (Theorem 3.4, delta_2 = 1e-20, run cost "
        "by RDP with the improved conversion); profile holds for the same algorithm.",
    )

    @classmethod
    def make(cls, candidates: int, options: Mapping[str, Any]) -> RandomStopping:
        return cls(
            candidates,
            stopping_probability(
                candidates, options.get("hit_probability"), options.get("mean_runs")
            ),
        )

    @property
    def law(self) -> RunCount:
        return Capped(geometric(self.gamma), self.max_runs)

    @property
    def max_runs(self) -> int:
        return selection.liu_talwar_rounds(self.gamma)

    def price(self, bound: str, run: Event, final: Event, delta: float) -> float:
        if bound == "liu-talwar":
            run_delta = selection.liu_talwar_run_delta(delta, self.max_runs)
            run_epsilon = guarantee.epsilon(run, run_delta, "rdp")
            return selection.liu_talwar(run_epsilon, run_delta, self.gamma)[0]
        return selection.profile_bound(guarantee.profile(run), self.law).epsilon(delta)

    def curve(self, run: Event, final: Event, delta: float) -> RdpCurve:
        return guarantee.rdp_curve(Selection(run, self.law))
