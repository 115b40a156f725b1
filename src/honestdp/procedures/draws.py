"""`Draw` and `Outcome`: which candidate a run trains, and its result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from honestdp.privacy.run_count import RunCount

if TYPE_CHECKING:  # imports numba, which planning must not wait for
    from honestdp.randomness.exact import Uniform

Coin: TypeAlias = "Callable[[int], Uniform]"  # the i-th of a run's secret coins


@dataclass(frozen=True, repr=False)
class Draw:
    """One run: its number names its random streams, `setting` is its place in the grid."""

    number: int
    setting: int


@dataclass(frozen=True, eq=False, repr=False)
class Outcome:
    """A finished run. Sensitive.

    parameters: Of its model; never looked at here. score: Its noisy score, higher is better.
    coin: Breaks ties.
    """

    draw: Draw
    parameters: Any
    score: float
    coin: float


def every_setting_once(settings: int) -> list[Draw]:
    """The draws of a procedure that trains every setting of the grid."""
    return [Draw(i, i) for i in range(settings)]


def random_draws(runs: RunCount, settings: int, coin: Coin) -> list[Draw]:
    """K draws with replacement, each setting as likely as any other.

    K is drawn first, by coin 0, so that the length of a search depends on coins alone, never on the
    data; coin i + 1 decides draw i.
    """
    count = runs.draw_exactly(coin(0))
    return [Draw(i, coin(1 + i).index(settings)) for i in range(count)]


def subset_draws(runs: RunCount, settings: int, coin: Coin) -> list[Draw]:
    """The first K settings of a uniform permutation: K draws without replacement.

    K is drawn first, by coin 0; coin i + 1 decides which of the settings that are left is the i-th.
    """
    count = runs.draw_exactly(coin(0))
    left = list(range(settings))
    return [Draw(i, left.pop(coin(1 + i).index(len(left)))) for i in range(count)]


def ranked(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes, the best noisy score first; coins break ties."""
    return sorted(outcomes, key=lambda outcome: (-outcome.score, outcome.coin))
