"""`subset-tuning`: a search on a random part of the rows, then one training on the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from honestdp.errors import InputError, fail
from honestdp.privacy import guarantee, selection
from honestdp.privacy.calibrate import Shape
from honestdp.privacy.curve import RdpCurve
from honestdp.privacy.events import Event
from honestdp.privacy.random_subset import check_subset_law, random_subset_rdp
from honestdp.privacy.run_count import RunCount
from honestdp.privacy.runs import Tabulated
from honestdp.privacy.subset_law import subset_law
from honestdp.privacy.subset_shift import LARGEST
from honestdp.procedures import procedures
from honestdp.procedures.base import HIT_PROBABILITY, SUBSET_SHARE, Procedure
from honestdp.procedures.draws import Coin, Draw, subset_draws
from honestdp.procedures.options import DISTINCT, LAW, SUBSET_OPTION, law, shape
from honestdp.procedures.random_runs import ShapedRuns
from honestdp.procedures.random_subset import UNIFORM_SUBSET

_FEWEST = 1000  # rows of the subset from which "auto" trusts its choice


def _shape(name: str, value: object) -> Shape:
    """As for other searches, or "distinct": no candidate is drawn twice."""
    return DISTINCT if value == DISTINCT else shape(name, value)


@procedures.register
@dataclass(frozen=True)
class SubsetTuning(ShapedRuns):
    """Best of K on a Poisson subset of the records, then one training on the rest.

    replacement: Whether a candidate may be drawn more than once. Without, the search on the subset
        is that of `random-subset`. It costs the least: at 36,177 rows, noise 4, lots of 250 and
        2,500 steps the best of 4, nine times in ten, costs 1.10 times one run in at most 5
        trainings; with geometric repeats 1.18 times, in 28 on average.
    """

    candidates: int
    runs: RunCount
    share: float
    replacement: bool = True
    name = "subset-tuning"
    summary = "The search reads a random part of the rows; its winner is trained on the others."
    options = MappingProxyType({**SUBSET_OPTION, **LAW, "shape": _shape})
    may_run_none = False  # the final training needs a winner
    assumptions = (
        "subset-tuning: K runs on a random share of the records, one more on the rest, with equal "
        "lot ratio, steps and noise; the bound is that of the runs on the subset.",
    )

    def __post_init__(self) -> None:
        if not self.replacement:
            check_subset_law(self._table, self.candidates)

    @classmethod
    def make(cls, candidates: int, options: Mapping[str, Any]) -> SubsetTuning:
        share = options.get("subset")
        share = SUBSET_SHARE if share is None else share
        if not _distinct(candidates, options):
            return cls(candidates, law(candidates, options), share)
        for name in ("mean_runs", "cap"):
            if options.get(name) is not None:
                remedy = 'not with shape "distinct"; give hit_probability, or another shape'
                raise fail(name, options[name], remedy)
        hit = options.get("hit_probability")
        found = subset_law(candidates, HIT_PROBABILITY if hit is None else hit)
        return cls(candidates, found, share, replacement=False)

    @classmethod
    def variants(cls, candidates: int, options: Mapping[str, Any]) -> Sequence[Procedure]:
        """One variant per shape, and the one without repeats where it can be priced."""
        found = [*super().variants(candidates, options)]
        with suppress(InputError):  # too many candidates, or too large a hit probability
            found.append(cls.make(candidates, {**options, "shape": DISTINCT}))
        return found

    @classmethod
    def automatic(cls, hit_probability: float) -> Sequence[Mapping[str, Any]]:
        return [{"hit_probability": hit_probability, "shape": DISTINCT}]

    def finds_as_often(self, rows: int, one_model: bool) -> bool:
        """On a tenth of the rows a small model is better for longer; and scores of few rows choose
        nearly at random (docs/searches.md has what was measured)."""
        return one_model and self.share * rows >= _FEWEST

    def check(self, settings: int, delta: float) -> None:
        if self.runs.may_be_none:
            raise fail("shape", "poisson", "may run nothing; the final training needs a winner")
        super().check(settings, delta)

    @property
    def _table(self) -> Tabulated:
        """The law of K without repeats, which is a table."""
        assert isinstance(self.runs, Tabulated)
        return self.runs

    @property
    def shape(self) -> Shape | None:
        return super().shape if self.replacement else DISTINCT

    @property
    def bounds(self) -> tuple[str, ...]:
        return super().bounds if self.replacement else ("subset",)

    @property
    def hit_probability(self) -> float:
        return super().hit_probability if self.replacement else self.runs.mean / self.candidates

    def draws(self, settings: int, coin: Coin) -> list[Draw]:
        if self.replacement:
            return super().draws(settings, coin)
        return subset_draws(self.runs, settings, coin)

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
        if not self.replacement:
            tuning = self._without_repeats(one, run)
        elif bound == "papernot-steinke":
            tuning = selection.papernot_steinke(one, self.runs)
        else:
            tuning = selection.profile_bound_rdp(one, guarantee.profile(run), self.runs)
        return self._after(tuning, final, delta).epsilon(delta)

    def curve(self, run: Event, final: Event, delta: float) -> RdpCurve:
        one = guarantee.integer_curve(run, delta)
        if self.replacement:
            tuning = selection.best_of_curve(one, guarantee.profile(run), self.runs)
        else:
            tuning = self._without_repeats(one, run)
        return self._after(tuning, final, delta)

    def _without_repeats(self, one: RdpCurve, run: Event) -> RdpCurve:
        return random_subset_rdp(one, guarantee.profile(run), self._table, self.candidates)

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
        also = () if self.replacement else (UNIFORM_SUBSET,)
        return (*super().conditions, own, *also)

    def to_dict(self) -> dict[str, Any]:
        facts = super().to_dict()
        if self.replacement:
            del facts["replacement"]  # the format of before there was a choice
        return facts


def _distinct(candidates: int, options: Mapping[str, Any]) -> bool:
    """Whether no candidate is drawn twice: if asked for, or where nothing says how else."""
    wanted = options.get("shape")
    other = any(options.get(name) is not None for name in ("mean_runs", "cap"))
    return wanted == DISTINCT or (wanted is None and not other and candidates <= LARGEST)
