"""A procedure with an option of its own, and an executor: both from outside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from honestdp.executors import Executor
from honestdp.executors.local import LocalExecutor
from honestdp.privacy import guarantee
from honestdp.privacy.runs import geometric
from honestdp.procedures import Draw, Procedure


def _number(name: str, value: object) -> int:
    return int(value)  # type: ignore[call-overload]


@dataclass(frozen=True)
class FirstOfFew(Procedure):
    """Trains the setting that the user names by its number, and no other."""

    candidates: int
    favourite: int
    name = "first-of-few"
    options = {"favourite": _number}  # noqa: RUF012
    bounds = ("pld",)
    selects = False
    expected_runs = 1.0
    max_runs = 1
    hit_probability = None
    law = geometric(1.0)  # one run, always

    @classmethod
    def make(cls, candidates: int, options: Any) -> FirstOfFew:
        return cls(candidates, options.get("favourite", 0))

    def price(self, bound: str, run: Any, final: Any, delta: float) -> float:
        return guarantee.epsilon(run, delta, bound)

    def curve(self, run: Any, final: Any, delta: float) -> Any:
        return guarantee.rdp_curve(run)

    def draws(self, settings: int, coin: Any) -> list[Draw]:
        return [Draw(0, self.favourite)]


class Counting(Executor):
    """Local, and it counts how often it is asked."""

    name = "counting"
    asked = 0

    def train(self, work: Any, begun: Any = None) -> Any:
        Counting.asked += 1
        return LocalExecutor(workers=1).train(work, begun)
