"""`random-subset`: the first K of a secret permutation of the candidates; the best is released."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from honestdp.errors import InputError, fail, open_unit
from honestdp.privacy import guarantee
from honestdp.privacy.curve import RdpCurve
from honestdp.privacy.events import Event
from honestdp.privacy.random_subset import check_subset_law, random_subset, random_subset_rdp
from honestdp.privacy.run_count import RunCount
from honestdp.privacy.runs import Tabulated
from honestdp.privacy.subset_law import subset_law
from honestdp.procedures import procedures
from honestdp.procedures.base import HIT_PROBABILITY, Procedure
from honestdp.procedures.draws import Coin, Draw, subset_draws
from honestdp.procedures.options import law_table
from honestdp.procedures.random_runs import RandomRuns

UNIFORM_SUBSET = (  # a condition of its price, and why it holds
    "the candidates that run are a uniform subset",
    "the first of a permutation, drawn by coins of its own and never released",
)


@procedures.register
@dataclass(frozen=True)
class RandomSubset(RandomRuns):
    """The best of K candidates, drawn without replacement; K is random and at most their number.

    runs: The law of K; K = 1 must be possible.
    """

    candidates: int
    runs: Tabulated
    name = "random-subset"
    summary = "A secret part of the candidates is trained, each at most once; the best is seen."
    options = MappingProxyType({"hit_probability": open_unit, "law": law_table})
    bounds = ("subset",)
    assumptions = (
        "random-subset: K and the order of the candidates are drawn first and, like the losers and "
        "their scores, never leave; no candidate trains twice.",
    )

    def __post_init__(self) -> None:
        check_subset_law(self.runs, self.candidates)

    @classmethod
    def make(cls, candidates: int, options: Mapping[str, Any]) -> RandomSubset:
        law, hit = options.get("law"), options.get("hit_probability")
        if law is None:
            return cls(candidates, subset_law(candidates, HIT_PROBABILITY if hit is None else hit))
        if hit is not None:
            raise fail("hit_probability", hit, "follows from the law; give one of the two")
        return cls(candidates, Tabulated(tuple(law)))

    @classmethod
    def variants(cls, candidates: int, options: Mapping[str, Any]) -> Sequence[Procedure]:
        """None where there are too many candidates, or no law hits as often as wanted."""
        try:
            return super().variants(candidates, options)
        except InputError:
            return ()

    @classmethod
    def automatic(cls, hit_probability: float) -> Sequence[Mapping[str, Any]]:
        return [{"hit_probability": hit_probability}]

    @property
    def law(self) -> RunCount:
        return self.runs

    @property
    def hit_probability(self) -> float:
        return self.runs.mean / self.candidates

    def price(self, bound: str, run: Event, final: Event, delta: float) -> float:
        profile = guarantee.profile(run)
        return random_subset(profile, self.runs, self.candidates).epsilon(delta)

    def curve(self, run: Event, final: Event, delta: float) -> RdpCurve:
        profile = guarantee.profile(run)
        return random_subset_rdp(guarantee.rdp_curve(run), profile, self.runs, self.candidates)

    def draws(self, settings: int, coin: Coin) -> list[Draw]:
        return subset_draws(self.runs, settings, coin)

    @property
    def conditions(self) -> tuple[tuple[str, str], ...]:
        return (*super().conditions, UNIFORM_SUBSET)
