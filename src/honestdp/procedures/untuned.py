"""`untuned`: one run with hyperparameters fixed beforehand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from honestdp.errors import fail
from honestdp.privacy import guarantee
from honestdp.privacy.curve import RdpCurve
from honestdp.privacy.events import Event
from honestdp.procedures import procedures
from honestdp.procedures.base import Procedure
from honestdp.procedures.draws import Coin, Draw, every_setting_once


@procedures.register
@dataclass(frozen=True)
class Untuned(Procedure):
    """One run with hyperparameters fixed beforehand. It costs what one training costs."""

    candidates: int
    name = "untuned"
    summary = "One candidate, chosen without the rows. Nothing is compared."
    bounds = ("rdp-classic", "rdp", "pld")
    assumptions = ("untuned: one candidate chosen without looking at the data.",)
    conditions = ()
    selects = False
    releases_all = True
    expected_runs = 1.0
    max_runs = 1
    leaves = "the model"

    @classmethod
    def make(cls, candidates: int, options: Mapping[str, Any]) -> Untuned:
        return cls(candidates)

    def check(self, settings: int, delta: float) -> None:
        super().check(settings, delta)
        if settings != 1:
            raise fail("grid", settings, "settings, but untuned trains one: leave one in the grid")

    @property
    def hit_probability(self) -> float:
        return 1 / self.candidates

    def event(self, run: Event) -> Event:
        return run

    def price(self, bound: str, run: Event, final: Event, delta: float) -> float:
        return guarantee.epsilon(run, delta, bound)  # type: ignore[arg-type]

    def curve(self, run: Event, final: Event, delta: float) -> RdpCurve:
        return guarantee.rdp_curve(run)

    def draws(self, settings: int, coin: Coin) -> list[Draw]:
        return every_setting_once(settings)

    def released(self, also: str) -> str:
        return f"one model, trained with hyperparameters fixed beforehand{also}."
