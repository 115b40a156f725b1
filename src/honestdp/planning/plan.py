"""`Plan`: all that a search will do and cost, fixed before the data is opened; all of it public."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from honestdp.candidates import Candidate
from honestdp.errors import InputError, fail
from honestdp.planning import defaults
from honestdp.planning.grid import Grid
from honestdp.planning.procedures import (
    ComposeAll,
    Procedure,
    SubsetTuning,
    Threshold,
    Training,
    Untuned,
)
from honestdp.planning.sides import Sides
from honestdp.planning.spec import Spec
from honestdp.privacy import guarantee
from honestdp.privacy.calibrate import noise_multiplier
from honestdp.privacy.events import Event, Gaussian, Repeated
from honestdp.privacy.runs import LARGEST_DRAW, Capped, Poisson, RunCount
from honestdp.privacy.spending import Spending, compose
from honestdp.text import down, small, up
from honestdp.units import LARGEST_NOISE
from honestdp.version import __version__

MOST_EXPECTED = 1e5


@dataclass(frozen=True)
class Learning:
    """How bounds are learnt: one noisy histogram of all rows for each column."""

    columns: tuple[str, ...]
    noise_multiplier: float

    def __post_init__(self) -> None:
        if self.noise_multiplier > LARGEST_NOISE:
            remedy = f"needs noise above {LARGEST_NOISE:g} for bounds; raise it, or epsilon"
            raise InputError(f"learn_share: {remedy}")


@dataclass(frozen=True, eq=False)
class Plan:
    """What `run` carries out; made by `make_plan`.

    Only what was decided is given: the procedure and the bound it is accounted by, the noise
    multiplier of every run and the noise of scores (None where there are none), and why. All
    else is worked out from these and the spec when a plan is made, its cost included: a plan with
    a field replaced is priced anew, and refused if it costs more than its spec allows.

    training: size of the training part, lot and steps of every run. sides: what a run costs a
    training and a validation record; side_epsilons: what the search costs them. spending: what
    the ledger is charged, learnt bounds included.
    """

    spec: Spec
    procedure: Procedure
    bound: str
    noise_multiplier: float
    score_noise: float | None
    reason: str
    grid: Grid = field(init=False)
    training: Training = field(init=False)
    row_norm: tuple[float, str] = field(init=False)
    learning: Learning | None = field(init=False)
    sides: Sides = field(init=False)
    side_epsilons: Mapping[str, float] = field(init=False)
    spending: Spending = field(init=False)

    def __post_init__(self) -> None:
        def put(**facts: Any) -> None:
            for name, value in facts.items():
                object.__setattr__(self, name, value)

        put(grid=defaults.grid(self.spec), row_norm=defaults.row_norm(self.spec))
        if self.procedure.candidates != len(self.grid):
            raise InputError(f"plan: is for {self.procedure.candidates} settings, not this grid")
        if isinstance(self.procedure, Untuned) and len(self.grid) != 1:
            raise fail("grid", len(self.grid), "settings; untuned trains one: leave one in it")
        if isinstance(self.procedure, Threshold) and self.spec.threshold is None:
            raise fail("threshold", None, "needs a public score to reach, such as 0.8")
        check_runs(self.spec, self.procedure)
        allowed = Allowance.of(self.spec)
        put(training=job(self.spec, self.procedure), learning=allowed.learning)
        run = self.training.event(self.noise_multiplier)
        sides = Sides.of(self.procedure, self.bound, run, self.score_noise)
        costs = sides.epsilon(allowed.delta)
        if not max(costs.values()) <= allowed.epsilon:
            raise InputError(
                f"plan costs epsilon={up(max(costs.values()))}, "
                f"its search may cost {down(allowed.epsilon)}; add noise"
            )
        put(
            sides=sides,
            side_epsilons=MappingProxyType(costs),
            spending=allowed.spending(sides, costs),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Copied and pickled as what was decided; the rest is worked out anew, its cost too."""
        decided = (self.spec, self.procedure, self.bound, self.noise_multiplier, self.score_noise)
        return Plan, (*decided, self.reason)

    @property
    def epsilon(self) -> float:
        return self.spending.epsilon

    @property
    def delta(self) -> float:
        return self.spending.delta

    @property
    def validation_rows(self) -> int:
        return 0 if isinstance(self.procedure, Untuned) else self.spec.rows - self.training.n

    @property
    def shows_scores(self) -> bool:
        """Whether noisy scores may leave."""
        return self.sides.scoring is not None and self.sides.scoring.kind == "scores"

    @property
    def reads_sparse(self) -> bool:
        """Whether its model reads sparse rows; a module does not."""
        return self.spec.described.reads_sparse

    @property
    def shows_all(self) -> bool:
        """Whether every candidate may leave, not the winner alone."""
        return isinstance(self.procedure, (Untuned, ComposeAll))

    @property
    def sensitivity(self) -> float:
        """The most one validation record moves a score."""
        return 1.0 if self.spec.classes else defaults.LOSS_BOUND

    @property
    def candidates(self) -> list[Candidate]:
        """What is trained, by setting."""
        return self.grid.candidates(self.noise_multiplier, self.row_norm[0])

    @property
    def lot_sizes(self) -> tuple[float, ...]:
        """What sums are divided by in the search and, with a subset, in the last training. A random
        subset's own size must not be told: these are expected ones."""
        if self.share is None:
            return (self.training.lot_size,)
        q = self.training.sampling_probability
        return q * self.share * self.training.n, q * (1 - self.share) * self.spec.rows

    @property
    def share(self) -> float | None:
        """Of the rows, for the tuning subset, where there is one."""
        return self.procedure.share if isinstance(self.procedure, SubsetTuning) else None

    @property
    def _scored(self) -> str:
        if self.share is None:
            return str(self.validation_rows)
        return f"about {self.share * self.validation_rows:.0f}"

    def public(self) -> dict[str, Any]:
        """The plan as texts, numbers, lists and dicts: what the ledger keeps."""
        spec, scoring = self.spec, self.sides.scoring
        return {
            "honestdp": __version__,
            "schema": spec.schema.fingerprint,
            "rows": spec.rows,
            "training_rows": self.training.n,
            "validation_rows": self.validation_rows,
            "split_seed": spec.split_seed,
            "model": spec.model_name,
            "grid": [dict(setting) for setting in self.grid.settings],
            "procedure": repr(self.procedure),
            "threshold": spec.threshold,
            "reason": self.reason,
            "bound": self.sides.bound,
            "events": {
                "training": repr(self.sides.training),
                "score": scoring and repr(scoring.event),
            },
            "lot_size": self.training.lot_size,
            "steps": self.training.steps,
            "noise_multiplier": self.noise_multiplier,
            "row_norm": list(self.row_norm),
            "scores": scoring and {"kind": scoring.kind, "noise": scoring.noise},
            "sides": dict(self.side_epsilons),
            "learnt_bounds": self.learning
            and {
                "columns": list(self.learning.columns),
                "noise_multiplier": self.learning.noise_multiplier,
            },
            "epsilon": self.epsilon,
            "delta": self.delta,
        }

    def __str__(self) -> str:
        n, scoring = self.training.n, self.sides.scoring
        lines = [
            f"{self.procedure.name}: epsilon {up(self.epsilon)} at delta {small(self.delta)}, "
            f"accounted by {self.sides.bound}",
            f"  why: {self.reason}",
            f"  model: {self.spec.model_name}, {_settings(len(self.grid))}",
            f"  training: {n} rows, lots of {self.training.lot_size}, {self.training.steps} steps, "
            f"noise multiplier {self.noise_multiplier:g}",
        ]
        if scoring is not None:
            shown = "counts of correct predictions" if self.spec.classes else "clipped losses"
            what = "noise of standard deviation" if scoring.kind == "scores" else "Gumbel noise of"
            lines.append(
                f"  scores: {shown} on {self._scored} other rows, with {what} "
                f"{scoring.noise * self.sensitivity:.4g}"
            )
        if self.learning is not None:
            lines.append(f"  bounds learnt: {', '.join(self.learning.columns)}")
        what = (
            "every candidate, with its noisy score"
            if self.shows_all and self.shows_scores
            else "every candidate, no score"
            if self.shows_all and scoring is not None
            else "the model"
            if self.shows_all
            else "the winner alone; how many ran, and the others, never"
        )
        return "\n".join([*lines, f"  what leaves: {what}"])


def _settings(count: int) -> str:
    return "one setting" if count == 1 else f"{count} settings"


def check_runs(spec: Spec, procedure: Procedure) -> None:
    """The law of K that is priced is the one that is drawn, and can be run."""
    if procedure.expected_runs is not None and procedure.expected_runs > MOST_EXPECTED:
        runs = f"{procedure.expected_runs:.3g}"
        raise InputError(f"{procedure.name}: would make {runs} runs on average; ask for fewer")
    law = getattr(procedure, "runs", None)
    if isinstance(procedure, SubsetTuning) and _may_run_none(procedure.runs):
        raise fail("shape", "poisson", "may run nothing; the final training needs a winner")
    if law is not None and law.beyond(LARGEST_DRAW) > 1e-9 * defaults.delta(spec):
        raise InputError(f"{procedure.name}: may need more than {LARGEST_DRAW} runs; give a cap")


def _may_run_none(law: RunCount) -> bool:
    # A large Poisson law's P(K = 0) is too small to be written down, and still not 0.
    inner = law.law if isinstance(law, Capped) else law
    return isinstance(inner, Poisson) or law.probability_of_none() > 0


def job(spec: Spec, procedure: Procedure) -> Training:
    """How every run trains: on all rows where none are held out, else on the training part."""
    n = spec.rows
    if not isinstance(procedure, Untuned):
        n -= round(spec.validation * spec.rows)
        if not 0 < n < spec.rows:
            raise fail("rows", spec.rows, "too few to train on some and score on others")
    steps = defaults.steps(spec, n)
    found = Training(n, defaults.lot_size(spec, n, steps), steps)
    if isinstance(procedure, SubsetTuning):
        q, share = found.sampling_probability, procedure.share
        held = min(q * share * n, q * (1 - share) * spec.rows)
        if held < 1:
            remedy = f"its lots would hold {held:.3g} rows; change it, or raise lot_size"
            raise fail("subset", share, remedy)
    return found


@dataclass(frozen=True)
class Allowance:
    """What the search itself may cost, after learnt bounds have taken their share.

    Every record is in every histogram, so what bounds cost is added to either side.
    """

    epsilon: float
    delta: float
    learning: Learning | None
    learnt: Spending | None

    @classmethod
    def of(cls, spec: Spec) -> Allowance:
        epsilon, delta = spec.epsilon, defaults.delta(spec)
        columns = tuple(spec.schema.to_learn)
        if not columns:
            return cls(epsilon, delta, None, None)

        def event(noise: float) -> Event:
            return Repeated(Gaussian(noise), len(columns))

        own = spec.learn_share * delta
        noise = noise_multiplier(
            lambda s: guarantee.epsilon(event(s), own), spec.learn_share * epsilon, 100.0
        )
        cost = guarantee.epsilon(event(noise), own)
        learnt = Spending.of_curve(guarantee.rdp_curve(event(noise)), own, epsilon=cost)
        left = _less(epsilon, spec.learn_share * epsilon), _less(delta, own)
        return cls(*left, Learning(columns, noise), learnt)

    def spending(self, sides: Sides, costs: Mapping[str, float]) -> Spending:
        cost = max(costs.values())
        search = (
            Spending.of_pair(cost, self.delta)
            if sides.bound == "liu-talwar"
            else Spending.of_curve(sides.curve(self.delta), self.delta, epsilon=cost)
        )
        return compose([self.learnt, search]) if self.learnt else search


def _less(whole: float, part: float) -> float:
    """The largest rest that makes up no more than the whole with its part, rounding included."""
    rest = whole - part
    while rest + part > whole:
        rest = math.nextafter(rest, 0.0)
    return rest
