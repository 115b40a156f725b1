"""`subset-tuning`: a search on a random part of the rows, then one training on the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from honestdp.errors import fail
from honestdp.privacy import guarantee, selection
from honestdp.privacy.curve import RdpCurve
from honestdp.privacy.events import Event
from honestdp.privacy.profile import CurveProfile, Profile
from honestdp.privacy.runs import Capped, Poisson, RunCount
from honestdp.procedures import procedures
from honestdp.procedures.base import SUBSET_SHARE
from honestdp.procedures.options import LAW, SUBSET_OPTION, law
from honestdp.procedures.random_runs import ShapedRuns


@procedures.register
@dataclass(frozen=True)
class SubsetTuning(ShapedRuns):
    """Best of K on a Poisson subset of the records, then one training on the rest."""

    candidates: int
    runs: RunCount
    share: float
    name = "subset-tuning"
    summary = "The search reads a random part of the rows; its winner is trained on the others."
    options = MappingProxyType({**SUBSET_OPTION, **LAW})
    may_run_none = False  # the final training needs a winner
    assumptions = (
        "subset-tuning: K runs on a random share of the records, one more on the rest, with equal "
        "lot ratio, steps and noise; the bound is that of the runs on the subset.",
    )

    @classmethod
    def make(cls, candidates: int, options: Mapping[str, Any]) -> SubsetTuning:
        share = options.get("subset")
        return cls(candidates, law(candidates, options), SUBSET_SHARE if share is None else share)

    def check(self, settings: int, delta: float) -> None:
        if self._may_find_none:
            raise fail("shape", "poisson", "may run nothing; the final training needs a winner")
        super().check(settings, delta)

    @property
    def _may_find_none(self) -> bool:
        # A large Poisson law's P(K = 0) is too small to be written down, and still not 0.
        inner = self.runs.law if isinstance(self.runs, Capped) else self.runs
        return isinstance(inner, Poisson) or self.runs.probability_of_none() > 0

    @property
    def tuning_share(self) -> float:  # type: ignore[override]
        return self.share

    @property
    def expected_runs(self) -> float:
        return self.runs.mean + 1

    @property
    def max_runs(self) -> int | None:
        return None if self.runs.maximum is None else self.runs.maximum + 1

    @property
    def usual_bound(self) -> str:
        return self.bounds[0]

    def price(self, bound: str, run: Event, final: Event, delta: float) -> float:
        one = guarantee.integer_curve(run, delta)
        if bound == "papernot-steinke":
            tuning = selection.papernot_steinke(one, self.runs)
        else:
            tuning = selection.profile_bound_rdp(one, guarantee.profile(run), self.runs)
        return self._after(tuning, final, delta).epsilon(delta)

    def curve(self, run: Event, final: Event, delta: float) -> RdpCurve:
        one = guarantee.integer_curve(run, delta)
        tuning = selection.best_of_curve(one, guarantee.profile(run), self.runs)
        return self._after(tuning, final, delta)

    def profile(self, run: Event, final: Event, delta: float) -> Profile:
        return CurveProfile(self.curve(run, final, delta))

    def _after(self, tuning: RdpCurve, final: Event, delta: float) -> RdpCurve:
        return selection.subset_tuning(tuning, guarantee.integer_curve(final, delta), self.share)

    @property
    def _score_words(self) -> str:
        return "noisy score (of its training on the tuning subset, not of the model released)"

    def theorem(self, bound: str) -> str:
        after = "then Koskela & Kulkarni 2023 for tuning on a random subset and training on the"
        return f"{super().theorem(bound)}; {after} rest"

    @property
    def conditions(self) -> tuple[tuple[str, str], ...]:
        own = ("the tuning subset is a Poisson sample", "every row by its own coin")
        return (*super().conditions, own)
