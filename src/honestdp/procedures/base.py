"""`Procedure`: the contract of a way to select a model honestly.

A procedure is a frozen dataclass of public facts. It says what it costs under which theorem, which
candidates it draws, which it keeps, what of that may leave, and how all this is put on a plan, a
card and a report. To add one: a class in a file of its own, registered by `procedures.register`,
checked by `honestdp.testing.check_procedure`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, ClassVar, Literal

from honestdp.errors import InputError, fail, positive_integer
from honestdp.privacy import formats
from honestdp.privacy.calibrate import Shape
from honestdp.privacy.curve import RdpCurve
from honestdp.privacy.events import Event, training
from honestdp.privacy.runs import LARGEST_DRAW, RunCount
from honestdp.procedures.draws import Coin, Draw, Outcome, ranked
from honestdp.procedures.options import Options

MOST_EXPECTED_RUNS = 1e5
HIT_PROBABILITY = 0.9  # of the best candidate, where a random search is wanted and nobody says
SUBSET = 0.1  # the share of rows to tune on, where nobody says

# The theorems, as a card names them.
THEOREMS = {
    "pld": "privacy loss distributions (dp-accounting), composed numerically on the private side",
    "rdp": "Renyi curves, converted by Canonne, Kamath & Steinke 2020",
    "rdp-classic": "Renyi curves, converted by Mironov 2017",
    "liu-talwar": "Liu & Talwar 2019, Theorem 3.4, on what one run costs",
    "papernot-steinke": "Papernot & Steinke 2022, on one run's Renyi curve",
    "profile": "the profile bound (generalises Koskela, Redberg & Wang 2024), on one run's "
    "privacy loss distribution",
}


@dataclass(frozen=True)
class Training:
    """The public facts of one private training, but for its noise."""

    n: int
    lot_size: int
    steps: int

    def __post_init__(self) -> None:
        for name in ("n", "lot_size", "steps"):
            object.__setattr__(self, name, positive_integer(name, getattr(self, name)))
        if self.lot_size > self.n:
            raise fail("lot_size", self.lot_size, f"a lot cannot exceed the n={self.n} records")

    @property
    def sampling_probability(self) -> float:
        return self.lot_size / self.n

    def event(self, noise_multiplier: float) -> Event:
        return training(self.sampling_probability, noise_multiplier, self.steps)


class Procedure(ABC):
    """How a winner is found among `candidates`, and what that costs.

    Class attributes:
        name: By which users ask for it.
        summary: What it does, in a sentence or two for people who have never heard of it.
        options: Which options it reads, and what checks their values.
        selects: Whether candidates are compared by scores on rows held out for that.
        releases_all: Whether every candidate may leave. Otherwise the winner alone may, and how
            many were trained is a secret.
        tuning_share: The share of the rows that the search reads, each row by its own coin; the
            winner then trains once more on all the other rows. None: one training, on all.
        max_runs: The most trainings it can make; None where there is no limit.
    """

    name: ClassVar[str]
    summary: ClassVar[str] = ""
    options: ClassVar[Options] = MappingProxyType({})
    selects: bool = True
    releases_all: bool = False
    tuning_share: float | None = None
    candidates: int

    # Making one -------------------------------------------------------------------------------

    @classmethod
    @abstractmethod
    def make(cls, candidates: int, options: Mapping[str, Any]) -> Procedure:
        """The procedure among so many candidates.

        Args:
            candidates: How many settings there are to choose among.
            options: Values of `options`, checked; those not asked for are left out.

        Raises:
            InputError: If no such procedure exists.
        """

    @classmethod
    def variants(cls, candidates: int, options: Mapping[str, Any]) -> Sequence[Procedure]:
        """What a table of costs shows of this procedure, a line each.

        Args:
            candidates: As for `make`.
            options: hit_probability (None: E[K] = candidates), subset, and shapes, a list.
        """
        known = {name: options[name] for name in cls.options if options.get(name) is not None}
        return [cls.make(candidates, known)]

    @classmethod
    def automatic(cls, hit_probability: float) -> Sequence[Mapping[str, Any]]:
        """The options under which procedure="auto" considers it; none: it does not."""
        return ()

    def check(self, settings: int, delta: float) -> None:
        """Raise InputError, before anything is charged, if it cannot be carried out.

        Args:
            settings: The length of the grid.
            delta: The budget's.
        """
        if self.candidates != settings:
            raise InputError(f"plan: is for {self.candidates} settings, not this grid")
        if self.expected_runs is not None and self.expected_runs > MOST_EXPECTED_RUNS:
            runs = f"{self.expected_runs:.3g}"
            raise InputError(f"{self.name}: would make {runs} runs on average; ask for fewer")
        # The law of K that is priced is the one that is drawn, and can be run.
        if self.law is not None and self.law.beyond(LARGEST_DRAW) > 1e-9 * delta:
            raise InputError(f"{self.name}: may need more than {LARGEST_DRAW} runs; give a cap")

    # What it costs ----------------------------------------------------------------------------

    @property
    @abstractmethod
    def bounds(self) -> tuple[str, ...]:
        """The theorems that hold for it, by name."""

    @property
    def usual_bound(self) -> str:
        """The theorem whose epsilon is usually the smallest."""
        return self.bounds[-1]

    @property
    def drawn_bounds(self) -> tuple[str, ...]:
        """The theorems that a picture of costs has a line for."""
        return (self.usual_bound,)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What a table of costs says of it below, in sentences."""
        return ()

    @property
    def law(self) -> RunCount | None:
        """The law of K, the number of draws; None where that is no secret."""
        return None

    @property
    def shape(self) -> Shape | None:
        """The shape of the law of K, where the user has a choice of it."""
        return None

    @property
    @abstractmethod
    def expected_runs(self) -> float | None:
        """How many trainings are made on average."""

    @property
    def max_runs(self) -> int | None:
        """The most trainings that can be made; None where there is no limit."""
        return None

    @property
    @abstractmethod
    def hit_probability(self) -> float | None:
        """The chance that the best of the candidates is ever drawn."""

    def check_bound(self, bound: str) -> None:
        """Raise InputError unless this theorem holds for the procedure."""
        if bound not in self.bounds:
            known = ", ".join(self.bounds)
            raise fail("bound", bound, f"does not hold for {self.name}; {known} do")

    def epsilon(self, bound: str, job: Training, noise_multiplier: float, delta: float) -> float:
        """The epsilon of the whole procedure at this delta, for a record of the training part."""
        run = job.event(noise_multiplier)
        return self.price(bound, run, run, delta)

    @abstractmethod
    def price(self, bound: str, run: Event, final: Event, delta: float) -> float:
        """The epsilon of the whole procedure at this delta, under one of `bounds`.

        A record is in the training part or in the validation part, so a plan asks twice: once
        with what a training costs, once with what a noisy score costs.

        Args:
            bound: The theorem.
            run: What one candidate's run costs the record.
            final: What the training after the search costs it, where there is one.
            delta: The delta of the result.
        """

    @abstractmethod
    def curve(self, run: Event, final: Event, delta: float) -> RdpCurve:
        """The whole procedure as a Renyi curve, which composes with other spending.

        The smallest of the Renyi bounds that hold, whichever bound `price` was asked for; `delta`
        says only which orders are of use.
        """

    @property
    def validation(self) -> Procedure:
        """How a validation record goes into the output: as training records do, unless scores
        are not released one by one."""
        return self

    # What it does -----------------------------------------------------------------------------

    @property
    def scoring(self) -> Literal["scores", "pick"] | None:
        """How candidates are compared: by noisy scores, by one pick of the exponential mechanism,
        or not at all."""
        return "scores" if self.selects else None

    @abstractmethod
    def draws(self, settings: int, coin: Coin) -> list[Draw]:
        """Which runs to make. Their number depends on coins alone, never on the data.

        Args:
            settings: The length of the grid.
            coin: The run's sealed coins by number: exact uniform draws, independent.
        """

    def keep(
        self,
        kept: Sequence[Outcome],
        new: Sequence[Outcome],
        as_score: Callable[[float], float],
    ) -> list[Outcome]:
        """What is kept after some runs more, the winner first; the best alone, by default.

        Args:
            kept: What was kept of the runs before.
            new: The outcomes of the runs made since, in order.
            as_score: Turns a value of the metric, such as a public threshold, into a score.
        """
        return ranked([*kept, *new])[:1]

    # What is said of it -----------------------------------------------------------------------

    @property
    def leaves(self) -> str:
        """What leaves, in a few words for the plan."""
        return "the winner alone; how many ran, and the others, never"

    def released(self, also: str) -> str:
        """What leaves, in sentences for the card; `also` begins with a comma, or is empty."""
        return (
            f"the winner alone: its model, hyperparameters and {self._score_words}{also}. How many "
            "candidates ran, the others and their scores were never released."
        )

    @property
    def _score_words(self) -> str:
        return "noisy score"

    def theorem(self, bound: str) -> str:
        """What one of `bounds` rests on, in words for the card."""
        return THEOREMS[bound]

    @property
    def conditions(self) -> tuple[tuple[str, str], ...]:
        """What its cost rests on besides, and why it holds: pairs of sentences for the card."""
        return (
            (
                "only the winner is seen",
                "the number of runs, the losers and their scores are dropped inside the run",
            ),
            (
                "the number of runs is drawn once, from the declared law",
                "by a coin of its own, kept if the run is interrupted",
            ),
        )

    # As data ----------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """The procedure as texts, numbers and dicts; a law of K by its own `to_dict`."""
        found: dict[str, Any] = {"name": self.name}
        for one in fields(self):  # type: ignore[arg-type]
            value = getattr(self, one.name)
            found[one.name] = formats.to_dict(value) if isinstance(value, RunCount) else value
        return found

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Procedure:
        """The procedure that `to_dict` was called on."""
        given = {name: value for name, value in facts.items() if name != "name"}
        made = {
            name: formats.from_dict(value) if isinstance(value, Mapping) else value
            for name, value in given.items()
        }
        return cls(**made)


@dataclass(frozen=True)
class Request:
    """A procedure as it was asked for: its name, and the options given.

    What it costs to choose among more or fewer candidates follows from it, so a card carries it.
    """

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def among(self, candidates: int) -> Procedure:
        """The procedure among so many candidates.

        Raises:
            InputError: If there is no such procedure, or none with such options.
        """
        from honestdp.procedures import procedures

        kind = procedures.get(self.name)
        for name, value in self.options.items():
            if name not in kind.options:
                raise fail(name, value, f"{self.name} has no such option")
        checked = {name: kind.options[name](name, value) for name, value in self.options.items()}
        return kind.make(candidates, checked)
