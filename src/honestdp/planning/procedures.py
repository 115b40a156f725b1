"""The ways of selecting a model honestly: what each costs, how often it runs, what it finds.

A procedure is a frozen value. `bounds` names the theorems that hold for it; `price` gives its
epsilon under one of them, `curve` its Renyi curve, both for whatever one run costs a record. A
record is in the training part or in the validation part, so a plan asks twice: once with what a
training costs, once with what a noisy score costs. A new procedure is one class and one line in
`procedures`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from honestdp.errors import InputError, fail, open_unit, positive_integer
from honestdp.privacy import guarantee, selection
from honestdp.privacy.calibrate import Shape, run_count, stopping_probability
from honestdp.privacy.curve import RdpCurve
from honestdp.privacy.events import Event, Repeated, Selection, training
from honestdp.privacy.runs import Capped, Poisson, RunCount, TruncatedNegativeBinomial, geometric


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
    """How a winner is found among `candidates`, and what that costs."""

    candidates: int
    name: str
    bounds: tuple[str, ...]
    assumptions: tuple[str, ...] = ()

    @property
    def shape(self) -> Shape | None:
        """The shape of the law of K, where the user has a choice of it."""
        return None

    @property
    @abstractmethod
    def expected_runs(self) -> float | None: ...

    @property
    @abstractmethod
    def max_runs(self) -> int | None: ...

    @property
    @abstractmethod
    def hit_probability(self) -> float | None:
        """The chance that the best of the candidates is ever drawn."""

    def epsilon(self, bound: str, job: Training, noise_multiplier: float, delta: float) -> float:
        """The epsilon of the whole procedure at this delta, for a record of the training part."""
        run = job.event(noise_multiplier)
        return self.price(bound, run, run, delta)

    @abstractmethod
    def price(self, bound: str, run: Event, final: Event, delta: float) -> float:
        """The epsilon of the whole procedure at this delta, under one of `bounds`.

        run: what one candidate's run costs the record. final: what the training after the search
        costs it, where there is one (subset tuning).
        """

    @abstractmethod
    def curve(self, run: Event, final: Event, delta: float) -> RdpCurve:
        """The whole procedure as a Renyi curve, which composes with other spending.

        The smallest of the Renyi bounds that hold, whichever bound `price` was asked for; `delta`
        says only which orders are of use.
        """


@dataclass(frozen=True)
class Untuned(Procedure):
    """One run with hyperparameters fixed beforehand."""

    candidates: int
    name = "untuned"
    bounds = ("rdp-classic", "rdp", "pld")
    assumptions = ("untuned: one candidate chosen without looking at the data.",)
    expected_runs = 1.0
    max_runs = 1

    @property
    def hit_probability(self) -> float:
        return 1 / self.candidates

    def price(self, bound: str, run: Event, final: Event, delta: float) -> float:
        return guarantee.epsilon(run, delta, bound)  # type: ignore[arg-type]

    def curve(self, run: Event, final: Event, delta: float) -> RdpCurve:
        return guarantee.rdp_curve(run)


@dataclass(frozen=True)
class ComposeAll(Procedure):
    """Every candidate trains; everything may be released."""

    candidates: int
    scores: bool = True  # shown; otherwise one exponential mechanism picks the winner
    name = "composition"
    bounds = ("rdp-classic", "rdp", "pld")
    assumptions = ("composition: own lots and noise for every candidate; all may be released.",)
    hit_probability = 1.0

    @property
    def expected_runs(self) -> float:
        return float(self.candidates)

    @property
    def max_runs(self) -> int:
        return self.candidates

    def price(self, bound: str, run: Event, final: Event, delta: float) -> float:
        return guarantee.epsilon(Repeated(run, self.candidates), delta, bound)  # type: ignore[arg-type]

    def curve(self, run: Event, final: Event, delta: float) -> RdpCurve:
        return guarantee.rdp_curve(Repeated(run, self.candidates))


@dataclass(frozen=True)
class RandomStopping(Procedure):
    """The paper's Algorithm 1: draw until a gamma-coin says stop, at most ceil(Upsilon) times."""

    candidates: int
    gamma: float
    name = "random-stopping"
    bounds = ("liu-talwar", "profile")
    assumptions = (
        "random-stopping: liu-talwar is the paper's bound (Theorem 3.4, delta_2 = 1e-20, run cost "
        "by RDP with the improved conversion); profile holds for the same algorithm.",
    )

    @property
    def runs(self) -> RunCount:
        return Capped(geometric(self.gamma), self.max_runs)

    @property
    def expected_runs(self) -> float:
        return self.runs.mean

    @property
    def max_runs(self) -> int:
        return selection.liu_talwar_rounds(self.gamma)

    @property
    def hit_probability(self) -> float:
        return self.runs.hit_probability(self.candidates)

    def price(self, bound: str, run: Event, final: Event, delta: float) -> float:
        if bound == "liu-talwar":
            run_delta = selection.liu_talwar_run_delta(delta, self.max_runs)
            run_epsilon = guarantee.epsilon(run, run_delta, "rdp")
            return selection.liu_talwar(run_epsilon, run_delta, self.gamma)[0]
        return selection.profile_bound(guarantee.profile(run), self.runs).epsilon(delta)

    def curve(self, run: Event, final: Event, delta: float) -> RdpCurve:
        return guarantee.rdp_curve(Selection(run, self.runs))


class _RandomRuns(Procedure):
    """What the procedures with a random K of chosen shape share."""

    runs: RunCount

    @property
    def shape(self) -> Shape | None:
        match self.runs:
            case TruncatedNegativeBinomial(shape, _):
                return shape
            case Poisson():
                return "poisson"
        return None

    @property
    def bounds(self) -> tuple[str, ...]:  # type: ignore[override]
        if selection.papernot_steinke_covers(self.runs):
            return ("papernot-steinke", "profile")
        return ("profile",)

    @property
    def hit_probability(self) -> float:
        return self.runs.hit_probability(self.candidates)


@dataclass(frozen=True)
class RandomRepeats(_RandomRuns):
    """K runs, K random; only the best leaves."""

    candidates: int
    runs: RunCount
    name = "random-repeats"
    assumptions = (
        "random-repeats: K is drawn first and, like the losers and their scores, never leaves; "
        "with shape poisson K may be 0 and nothing comes out.",
    )

    @property
    def expected_runs(self) -> float:
        return self.runs.mean

    @property
    def max_runs(self) -> int | None:
        return self.runs.maximum

    def price(self, bound: str, run: Event, final: Event, delta: float) -> float:
        if bound == "papernot-steinke":
            profile = guarantee.profile(run) if self.shape == "poisson" else None
            found = selection.papernot_steinke(guarantee.rdp_curve(run), self.runs, profile)
            return found.epsilon(delta)
        return selection.profile_bound(guarantee.profile(run), self.runs).epsilon(delta)

    def curve(self, run: Event, final: Event, delta: float) -> RdpCurve:
        return guarantee.rdp_curve(Selection(run, self.runs))


@dataclass(frozen=True)
class Threshold(Procedure):
    """Draw until a score reaches a public threshold, or a gamma-coin says to give up."""

    candidates: int
    gamma: float
    cap: int | None = None
    name = "threshold"
    bounds = ("profile",)
    assumptions = (
        "threshold: a public score threshold; expected runs are at most 1/gamma, and the hit "
        "probability is that of a threshold which only the best candidate reaches.",
    )

    @property
    def runs(self) -> RunCount:
        """The most draws that will be made: where the gamma-coin says to give up."""
        rounds = geometric(self.gamma)
        return rounds if self.cap is None else Capped(rounds, self.cap)

    @property
    def expected_runs(self) -> float:
        return self.runs.mean

    @property
    def max_runs(self) -> int | None:
        return self.cap

    @property
    def hit_probability(self) -> float:
        return self.runs.hit_probability(self.candidates)

    def price(self, bound: str, run: Event, final: Event, delta: float) -> float:
        return self._bound(run).epsilon(delta)

    def curve(self, run: Event, final: Event, delta: float) -> RdpCurve:
        return selection.best_of_as_curve(guarantee.rdp_curve(run), self._bound(run))

    def _bound(self, run: Event) -> selection.BestOf:
        return selection.threshold(guarantee.profile(run), self.gamma, self.cap)


@dataclass(frozen=True)
class SubsetTuning(_RandomRuns):
    """Best of K on a Poisson subset of the records, then one training on the rest."""

    candidates: int
    runs: RunCount
    share: float
    name = "subset-tuning"
    assumptions = (
        "subset-tuning: K runs on a random share of the records, one more on the rest, with equal "
        "lot ratio, steps and noise; the bound is that of the runs on the subset.",
    )

    @property
    def expected_runs(self) -> float:
        return self.runs.mean + 1

    @property
    def max_runs(self) -> int | None:
        return None if self.runs.maximum is None else self.runs.maximum + 1

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

    def _after(self, tuning: RdpCurve, final: Event, delta: float) -> RdpCurve:
        return selection.subset_tuning(tuning, guarantee.integer_curve(final, delta), self.share)


@dataclass(frozen=True)
class OutOfReach(Procedure):
    """A random search whose shape has no law of K that finds the best as often as wanted."""

    candidates: int
    name: str
    wanted_shape: Shape
    wanted: float
    bounds = ("papernot-steinke", "profile")
    expected_runs = None
    max_runs = None
    hit_probability = None

    @property
    def shape(self) -> Shape:
        return self.wanted_shape

    @property
    def assumptions(self) -> tuple[str, ...]:  # type: ignore[override]
        return (
            f"{self.name}, shape {self.shape:g}: no law of this shape draws the best candidate "
            f"with probability {self.wanted:g}, however often it runs, or not before more runs "
            "than a number can hold; choose a larger shape.",
        )

    def price(self, bound: str, run: Event, final: Event, delta: float) -> float:
        raise fail("shape", self.shape, "no law of this shape finds the best as often as wanted")

    def curve(self, run: Event, final: Event, delta: float) -> RdpCurve:
        raise fail("shape", self.shape, "no law of this shape finds the best as often as wanted")


def procedures(
    candidates: int,
    hit_probability: float | None = None,
    subset: float = 0.1,
    shapes: Sequence[Shape] = (0.0, 1.0, "poisson"),
) -> list[Procedure]:
    """Every procedure for this many candidates.

    Without `hit_probability`, E[K] = candidates and gamma = 1/candidates; with it, the laws
    that draw the best candidate at least that often (`OutOfReach` for shapes that never do).
    """
    k = positive_integer("candidates", candidates)
    open_unit("subset", subset)
    if isinstance(shapes, str) or not isinstance(shapes, Sequence):
        raise fail("shapes", shapes, 'give a list, such as [0, 1, "poisson"]')
    gamma = stopping_probability(k, hit_probability)
    laws = {shape: _law(shape, k, hit_probability) for shape in shapes}

    def each(name: str, make: Callable[[RunCount], Procedure]) -> list[Procedure]:
        return [
            OutOfReach(k, name, shape, hit_probability or 1.0) if law is None else make(law)
            for shape, law in laws.items()
            # Subset tuning without K = 0: the final training needs a winner.
            if name != SubsetTuning.name or shape != "poisson"
        ]

    return [
        Untuned(k),
        ComposeAll(k),
        RandomStopping(k, gamma),
        *each(RandomRepeats.name, lambda law: RandomRepeats(k, law)),
        Threshold(k, gamma),
        *each(SubsetTuning.name, lambda law: SubsetTuning(k, law, subset)),
    ]


def _law(shape: Shape, candidates: int, hit_probability: float | None) -> RunCount | None:
    try:
        return run_count(shape, candidates, hit_probability)
    except InputError:
        if hit_probability is None:
            raise
        run_count(shape, candidates)  # a bad shape is still an error
        return None
