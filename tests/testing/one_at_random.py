"""A procedure from outside: one candidate, picked by a sealed coin. All in this file."""

from __future__ import annotations

from dataclasses import dataclass

from honestdp.privacy import guarantee
from honestdp.privacy.runs import geometric
from honestdp.procedures import Draw, Procedure, procedures


@procedures.register
@dataclass(frozen=True)
class OneAtRandom(Procedure):
    """It costs what one training costs: which candidate it is depends on a coin alone."""

    candidates: int
    name = "one-at-random"
    summary = "One candidate, picked by a coin, is trained and seen."
    bounds = ("pld",)
    selects = False
    expected_runs = 1.0
    max_runs = 1

    @classmethod
    def make(cls, candidates, options):
        return cls(candidates)

    @property
    def law(self):
        return geometric(1.0)  # one run, always

    @property
    def hit_probability(self):
        return 1 / self.candidates

    def price(self, bound, run, final, delta):
        return guarantee.epsilon(run, delta, bound)

    def curve(self, run, final, delta):
        return guarantee.rdp_curve(run)

    def draws(self, settings, coin):
        return [Draw(0, coin(0).index(settings))]
