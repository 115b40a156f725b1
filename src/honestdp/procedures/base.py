"""`Procedure`: the contract of a way to select a model honestly.

A procedure is a frozen dataclass of public facts. It defines what it costs under which theorem,
which candidates it draws, which it keeps, what of that may be released, and the text of all this on
plan, card and report. To add one: a class in a file of its own, registered by
`procedures.register`, checked by `honestdp.testing.check_procedure`. What its methods return is
checked in every run, too: see `checks`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, ClassVar, Literal

from honestdp.errors import InputError, fail, positive_integer
from honestdp.privacy import formats
from honestdp.privacy.calibrate import Shape
from honestdp.privacy.curve import RdpCurve
from honestdp.privacy.events import Event, training
from honestdp.privacy.run_count import LARGEST_DRAW, RunCount
from honestdp.procedures.draws import Coin, Draw, Outcome, ranked
from honestdp.procedures.options import Options

MOST_EXPECTED_RUNS = 1e5
HIT_PROBABILITY = 0.9  # default probability that a random search draws the best candidate
SUBSET_SHARE = 0.1  # default share of rows to tune on

# The text of each theorem on a card.
THEOREMS = {
    "pld": "privacy loss distributions (dp-accounting), composed numerically on the private side",
    "rdp": "Renyi curves, converted by Canonne, Kamath & Steinke 2020",
    "rdp-classic": "Renyi curves, converted by Mironov 2017",
    "liu-talwar": "Liu & Talwar 2019, Theorem 3.4, on what one run costs",
    "papernot-steinke": "Papernot & Steinke 2022, on one run's Renyi curve",
    "profile": "the profile bound (generalises Koskela, Redberg & Wang 2024), on one run's "
    "privacy loss distribution",
    "subset": "the profile bound for draws without replacement, its constant certified over all "
    "ways in which the other candidates can do, on one run's privacy loss distribution",
}


@dataclass(frozen=True)
class Training:
    """The public facts of one private training, except its noise: records, expected lot, steps."""

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
    """A way to select a winner among candidates, and what it costs.

    Attributes:
        name: The name that users give in `Spec(procedure=...)`.
        summary: What it does, in a sentence or two for a newcomer.
        options: The options it takes, each with the function that checks its value.
        selects: Whether candidates are compared by scores on held-out rows.
        releases_all: Whether every candidate may be released. Otherwise only the winner may, and
            the number of trainings is secret.
        tuning_share: Share of the rows that the search reads, each row by its own coin; the winner
            then trains once more on all other rows. None: no such subset.
        candidates: Number of candidates to choose among.
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
        """Make the procedure for a number of candidates.

        Args:
            candidates: Number of settings to choose among.
            options: Values of `options`, checked; only those that the user gave.

        Returns:
            The procedure.

        Raises:
            InputError: If no procedure has these options.
        """

    @classmethod
    def variants(cls, candidates: int, options: Mapping[str, Any]) -> Sequence[Procedure]:
        """Make the variants of this procedure that a table of costs shows.

        Args:
            candidates: As for `make`.
            options: hit_probability (None: E[K] = candidates), subset, and shapes, a list.

        Returns:
            One procedure per line of the table.
        """
        return [cls.make(candidates, cls.given_of(options))]

    @classmethod
    def given_of(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        """Those of `options` that the procedure takes and that were given.

        Args:
            options: Values by name; None: not given.
        """
        return {name: options[name] for name in cls.options if options.get(name) is not None}

    @classmethod
    def automatic(cls, hit_probability: float) -> Sequence[Mapping[str, Any]]:
        """The options with which procedure="auto" considers this procedure.

        Args:
            hit_probability: The probability with which the best candidate must be drawn.

        Returns:
            One mapping per variant to consider; by default none.
        """
        return ()

    def finds_as_often(self, rows: int, one_model: bool) -> bool:
        """Whether the candidate that it takes for the best is likely the best for the whole table,
        so that procedure="auto" may compare its cost with that of others.

        Args:
            rows: Number of rows of the table.
            one_model: Whether the candidates share one model, of one size.
        """
        return True

    def check(self, settings: int, delta: float) -> None:
        """Check, before anything is charged, that the procedure can be carried out.

        Args:
            settings: Number of settings in the grid.
            delta: Delta of the budget.

        Raises:
            InputError: If it is for another grid, or would make too many runs.
        """
        if self.candidates != settings:
            raise InputError(f"plan: is for {self.candidates} settings, not this grid")
        if self.expected_runs is not None and self.expected_runs > MOST_EXPECTED_RUNS:
            runs = f"{self.expected_runs:.3g}"
            raise InputError(f"{self.name}: would make {runs} runs on average; ask for fewer")
        # Draws beyond LARGEST_DRAW are not made, so they must not matter to the price.
        if self.law is not None and self.law.beyond(LARGEST_DRAW) > 1e-9 * delta:
            raise InputError(f"{self.name}: may need more than {LARGEST_DRAW} runs; give a cap")

    # What it costs ----------------------------------------------------------------------------

    @property
    @abstractmethod
    def bounds(self) -> tuple[str, ...]:
        """The names of the theorems that hold for it."""

    @property
    def usual_bound(self) -> str:
        """The theorem whose epsilon is usually the smallest."""
        return self.bounds[-1]

    @property
    def drawn_bounds(self) -> tuple[str, ...]:
        """The theorems that a plot of costs has a line for."""
        return (self.usual_bound,)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The assumptions of its bounds, as sentences below a table of costs."""
        return ()

    @property
    def law(self) -> RunCount | None:
        """The law of K, the number of draws; None if K is not secret."""
        return None

    @property
    def shape(self) -> Shape | None:
        """The shape of the law of K; None if the user cannot choose it."""
        return None

    @property
    @abstractmethod
    def expected_runs(self) -> float | None:
        """The expected number of trainings."""

    @property
    def max_runs(self) -> int | None:
        """The largest number of trainings; None if there is no limit."""
        return None

    @property
    @abstractmethod
    def hit_probability(self) -> float | None:
        """The probability that the best candidate is drawn at least once."""

    def check_bound(self, bound: str) -> None:
        """Check that a theorem holds for the procedure.

        Args:
            bound: Name of the theorem.

        Raises:
            InputError: If it is none of `bounds`.
        """
        if bound not in self.bounds:
            known = ", ".join(self.bounds)
            raise fail("bound", bound, f"does not hold for {self.name}; {known} do")

    def epsilon(self, bound: str, job: Training, noise_multiplier: float, delta: float) -> float:
        """Compute the epsilon of the whole procedure for a record of the training part.

        Args:
            bound: The theorem, one of `bounds`.
            job: The training of one run.
            noise_multiplier: Noise of every run.
            delta: The delta of the result.

        Returns:
            Epsilon; infinite if the theorem gives no finite one.
        """
        run = job.event(noise_multiplier)
        return self.price(bound, run, run, delta)

    def event(self, run: Event) -> Event | None:
        """The whole procedure as one event, where it is one; None if it is a selection.

        Args:
            run: What one candidate's run costs the record.
        """
        return None

    @abstractmethod
    def price(self, bound: str, run: Event, final: Event, delta: float) -> float:
        """Compute the epsilon of the whole procedure for one record.

        A record is in the training part or in the validation part, so a plan calls this twice: with
        the cost of a training, and with the cost of a noisy score.

        Args:
            bound: The theorem, one of `bounds`.
            run: What one candidate's run costs the record.
            final: What the training after the search costs it, where there is one.
            delta: The delta of the result.

        Returns:
            Epsilon; infinite if the theorem gives no finite one.
        """

    @abstractmethod
    def curve(self, run: Event, final: Event, delta: float) -> RdpCurve:
        """Compute a Renyi curve of the whole procedure, which composes with other spending.

        Args:
            run: What one candidate's run costs the record.
            final: What the training after the search costs it, where there is one.
            delta: The delta at which the curve will be used; it only selects the orders.

        Returns:
            The smallest of the Renyi bounds that hold, independent of the bound of `price`.
        """

    @property
    def validation(self) -> Procedure:
        """The procedure as a validation record sees it: the same as for training records, unless
        scores are not released one by one."""
        return self

    # What it does -----------------------------------------------------------------------------

    @property
    def scoring(self) -> Literal["scores", "pick"] | None:
        """How candidates are compared: by noisy scores, by one pick of the exponential mechanism,
        or not at all."""
        return "scores" if self.selects else None

    @abstractmethod
    def draws(self, settings: int, coin: Coin) -> list[Draw]:
        """Draw the runs to make. Their number depends on coins alone, never on the data.

        Args:
            settings: Number of settings in the grid.
            coin: The run's secret coins by number: exact, independent uniform draws.

        Returns:
            The runs, in order.
        """

    def keep(
        self, kept: Sequence[Outcome], new: Sequence[Outcome], as_score: Callable[[float], float]
    ) -> list[Outcome]:
        """Select the outcomes to keep after further runs; by default only the best.

        Args:
            kept: The outcomes kept so far.
            new: The outcomes of the runs made since, in order.
            as_score: Converts a value of the metric, such as a public threshold, to a score.

        Returns:
            The outcomes to keep, the winner first.
        """
        return ranked([*kept, *new])[:1]

    # Its text on plan, card and report --------------------------------------------------------

    @property
    def leaves(self) -> str:
        """What is released, in a few words for the plan."""
        return "the winner alone; how many ran, and the others, never"

    def released(self, also: str) -> str:
        """Describe what is released, in sentences for the card.

        Args:
            also: What else is released; begins with a comma, or is empty.

        Returns:
            The sentences.
        """
        return (
            f"the winner alone: its model, hyperparameters and {self._score_words}{also}. How many "
            "candidates ran, the others and their scores were never released."
        )

    @property
    def _score_words(self) -> str:
        return "noisy score"

    def theorem(self, bound: str) -> str:
        """Describe a theorem, for the card.

        Args:
            bound: One of `bounds`.

        Returns:
            Its name, and where it is proved.
        """
        return THEOREMS[bound]

    @property
    def conditions(self) -> tuple[tuple[str, str], ...]:
        """Further conditions of its cost and why they hold: pairs of phrases for the card."""
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
        """Make the procedure from the result of `to_dict`.

        Args:
            facts: As `to_dict` returned them.

        Returns:
            The procedure.
        """
        given = {name: value for name, value in facts.items() if name != "name"}
        made = {
            name: formats.from_dict(value) if isinstance(value, Mapping) else value
            for name, value in given.items()
        }
        return cls(**made)
