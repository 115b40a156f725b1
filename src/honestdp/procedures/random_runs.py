"""The common part of procedures whose number of runs is random."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

from honestdp.errors import InputError, fail
from honestdp.privacy import selection
from honestdp.privacy.calibrate import Shape, run_count
from honestdp.privacy.curve import RdpCurve
from honestdp.privacy.events import Event
from honestdp.privacy.run_count import RunCount
from honestdp.privacy.runs import Poisson, Tabulated, TruncatedNegativeBinomial
from honestdp.procedures.base import Procedure
from honestdp.procedures.draws import Coin, Draw, random_draws


class RandomRuns(Procedure):
    """A procedure that makes K draws, K from a law."""

    @property
    @abstractmethod
    def law(self) -> RunCount: ...

    @property
    def expected_runs(self) -> float:
        return self.law.mean

    @property
    def max_runs(self) -> int | None:
        return self.law.maximum

    @property
    def hit_probability(self) -> float:
        return self.law.hit_probability(self.candidates)

    def draws(self, settings: int, coin: Coin) -> list[Draw]:
        return random_draws(self.law, settings, coin)


class ShapedRuns(RandomRuns):
    """A procedure that makes K draws, K from a law of chosen shape."""

    runs: RunCount
    may_run_none: ClassVar[bool] = True  # whether K = 0, which gives no winner, is allowed

    @property
    def law(self) -> RunCount:
        return self.runs

    @property
    def shape(self) -> Shape | None:
        match self.runs:
            case TruncatedNegativeBinomial(shape, _):
                return shape
            case Poisson():
                return "poisson"
            case Tabulated():
                return "optimal"
        return None

    @property
    def bounds(self) -> tuple[str, ...]:
        if selection.papernot_steinke_covers(self.runs):
            return ("papernot-steinke", "profile")
        return ("profile",)

    @classmethod
    def variants(cls, candidates: int, options: Mapping[str, Any]) -> Sequence[Procedure]:
        """One variant per shape; `Unreachable` if no law of that shape has the hit probability."""
        return [
            cls._variant(candidates, shape, options)
            for shape in options.get("shapes") or (1.0,)
            if shape != "poisson" or cls.may_run_none
        ]

    @classmethod
    def _variant(cls, candidates: int, shape: Shape, options: Mapping[str, Any]) -> Procedure:
        hit = options.get("hit_probability")
        try:
            return cls.make(candidates, {**options, "shape": shape})
        except InputError:
            if hit is None:
                raise
            run_count(shape, candidates)  # a bad shape is still an error
            return Unreachable(candidates, cls.name, shape, hit)


@dataclass(frozen=True)
class Unreachable(Procedure):
    """A random search for which no law of this shape reaches the wanted hit probability."""

    candidates: int
    name: str  # type: ignore[misc]
    wanted_shape: Shape
    wanted: float
    bounds = ("papernot-steinke", "profile")
    expected_runs = None
    hit_probability = None

    @classmethod
    def make(cls, candidates: int, options: Mapping[str, Any]) -> NoReturn:
        raise fail("procedure", cls.__name__, "cannot be chosen")

    @property
    def shape(self) -> Shape:
        return self.wanted_shape

    @property
    def assumptions(self) -> tuple[str, ...]:
        return (
            f"{self.name}, shape {self.shape:g}: no law of this shape draws the best candidate "
            f"with probability {self.wanted:g}, however often it runs, or not before more runs "
            "than a number can hold; choose a larger shape.",
        )

    def price(self, bound: str, run: Event, final: Event, delta: float) -> NoReturn:
        raise fail("shape", self.shape, "no law of this shape finds the best as often as wanted")

    def curve(self, run: Event, final: Event, delta: float) -> RdpCurve:
        raise fail("shape", self.shape, "no law of this shape finds the best as often as wanted")

    def draws(self, settings: int, coin: Coin) -> NoReturn:
        raise fail("shape", self.shape, "no law of this shape finds the best as often as wanted")
