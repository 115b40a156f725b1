"""`Plan`: all that a search will do and cost, fixed before the data is opened; all of it public."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from honestdp.candidates import Candidate
from honestdp.errors import InputError, fail
from honestdp.evaluation import Calibrator, Evaluator, calibrator, evaluator
from honestdp.evaluation.expected import Expected, expected
from honestdp.metrics import Metric, metrics
from honestdp.metrics.counted import refuse_pick
from honestdp.planning import defaults
from honestdp.planning.calibration_part import threshold_words
from honestdp.planning.encoding import encoding_words
from honestdp.planning.evaluation_words import evaluation_lines
from honestdp.planning.grid import Grid
from honestdp.planning.likely import Guess, guess
from honestdp.planning.outside import outside_parts
from honestdp.planning.pipelines import learnt_key, open_columns
from honestdp.planning.public_choice import CHOSEN_ON
from honestdp.planning.questions import AboutFit, Questions
from honestdp.planning.role_costs import RoleCosts, times_root
from honestdp.planning.spec import AUTO, Spec
from honestdp.privacy import formats, guarantee
from honestdp.privacy.attack import AttackBounds, attack_bounds
from honestdp.privacy.events import Event
from honestdp.privacy.guess import guess_chance
from honestdp.privacy.points import MixedProfile, PointsProfile
from honestdp.privacy.profile import Profile, TightestProfile
from honestdp.privacy.spending import Spending
from honestdp.procedures import Procedure, Request, Training, automatic_requests
from honestdp.schema.learn import ROWS
from honestdp.schema.paid_check import SKIPPED, PaidCheck
from honestdp.text import down, in_100, small, up
from honestdp.version import __version__

PUBLIC_FORMAT = 2  # of `Plan.public`; 1 held procedures and events as Python writes them
# Why "auto" makes up no grid of models; docs/searches.md has the figures.
NO_PORTFOLIO = (
    "no other model is tried beside it: to choose between two costs about 1.25 times the epsilon "
    "and the rows held out for scores, which on the tables measured lost to one of the two alone"
)


@dataclass(frozen=True, eq=False)
class Plan:
    """What `run` carries out; made by `make_plan`.

    The arguments are the decisions. Everything else, the cost included, is computed from them and
    the spec, so a plan with a field replaced is priced again.

    Args:
        spec: What the plan was made for.
        procedure: How the winner is selected.
        bound: Name of the theorem that the procedure is accounted by.
        noise_multiplier: Noise of every run.
        score_noise: Noise of a validation score, in units of what one record can change; None if
            nothing is scored.
        reason: Why this procedure was chosen.
        test_noise: Noise of the counts of the evaluation, in units of what one record can change
            all of them together; None if nothing is evaluated.
        calibration_noise: Noise of the counts that probabilities are corrected by, in units of what
            one record can change; None if they are not corrected.

    Attributes:
        grid: The settings to choose among.
        training: Size of the training part, lot size and steps of every run.
        row_norm: Root-mean-square norm of the encoded rows, and where it is from; of the first of
            several encodings.
        questions: What is asked of every row before the search, with noise.
        role_costs: What a run costs a training, a validation, a calibration and a test record.
        role_epsilons: What the search costs them, without the questions.
        spending: What the ledger is charged, questions included.

    Raises:
        InputError: If the plan costs more than its spec allows.
    """

    spec: Spec
    procedure: Procedure
    bound: str
    noise_multiplier: float
    score_noise: float | None
    reason: str
    test_noise: float | None = None
    calibration_noise: float | None = None
    grid: Grid = field(init=False)
    training: Training = field(init=False)
    row_norm: tuple[float, str] = field(init=False)
    questions: Questions = field(init=False)
    role_costs: RoleCosts = field(init=False)
    role_epsilons: Mapping[str, float] = field(init=False)
    spending: Spending = field(init=False)

    def __post_init__(self) -> None:
        def put(**facts: Any) -> None:
            for name, value in facts.items():
                object.__setattr__(self, name, value)

        put(grid=defaults.grid(self.spec), row_norm=self.spec.encodings[0].row_norm)
        self.procedure.check(len(self.grid), defaults.delta(self.spec))
        self.procedure.to_dict()  # refuses, before any charge, what ledger and card cannot hold
        put(training=job(self.spec, self.procedure), questions=defaults.questions(self.spec))
        run = self.training.event(self.noise_multiplier)
        if (self.test_noise is None) != (self.spec.test_rows == 0):
            raise fail(
                "test_noise", self.test_noise, f"does not fit {self.spec.test_rows} test rows"
            )
        if (self.calibration_noise is None) != (self.spec.calibration_rows == 0):
            remedy = f"does not fit {self.spec.calibration_rows} calibration rows"
            raise fail("calibration_noise", self.calibration_noise, remedy)
        noises = self.score_noise, self.test_noise, self.calibration_noise
        roles = RoleCosts.of(self.procedure, self.bound, run, *noises)
        if self.procedure.scoring == "pick":
            refuse_pick(self.metric, self.spec.classes)
        spending = _spending(roles, self.questions.event, defaults.delta(self.spec))
        if not spending.epsilon <= self.spec.epsilon:
            raise InputError(
                f"plan costs epsilon={up(spending.epsilon)}, "
                f"its spec allows {down(self.spec.epsilon)}; add noise"
            )
        search = roles.epsilon(defaults.delta(self.spec))
        put(role_costs=roles, role_epsilons=MappingProxyType(search), spending=spending)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle the decisions alone; everything else is computed from them again."""
        decided = (self.spec, self.procedure, self.bound, self.noise_multiplier, self.score_noise)
        return Plan, (*decided, self.reason, self.test_noise, self.calibration_noise)

    @property
    def epsilon(self) -> float:
        """The epsilon that the ledger is charged."""
        return self.spending.epsilon

    @property
    def delta(self) -> float:
        """The delta that the ledger is charged."""
        return self.spending.delta

    @cached_property
    def profile(self) -> Profile:
        """The privacy profile of all that the plan does: delta at every epsilon, for the role that
        it costs the most, questions included; nowhere above what the price says."""
        own = self.role_costs.profile(self.delta, self.questions.event)
        return TightestProfile(own, MixedProfile.of_pair(self.epsilon, self.delta))

    @property
    def charged(self) -> Spending:
        """`spending` with the profile, as a ledger stores it: with it, what an attacker can do to
        several releases together is known more closely than from curves."""
        return replace(self.spending, profile=PointsProfile.of(self.profile))

    @cached_property
    def attack(self) -> AttackBounds:
        """What nobody can exceed who bets on whether one row was real, from the plan's own
        profile; (epsilon, delta) is the worst case of all plans that cost the same."""
        return attack_bounds(self.profile, self.delta)

    @property
    def request(self) -> Request:
        """The procedure and options that the spec gives, or that "auto" chose."""
        if self.spec.procedure != AUTO:
            return self.spec.request
        considered = automatic_requests(self.spec.wanted_hit_probability)
        own = [one for one in considered if one.name == self.procedure.name]
        made = [one for one in own if self._is_made_by(one)]
        return made[0] if made else Request(self.procedure.name)

    def _is_made_by(self, request: Request) -> bool:
        with suppress(InputError):  # no law of its shape finds the best of so many
            return request.among(self.procedure.candidates) == self.procedure
        return False

    @property
    def validation_rows(self) -> int:
        """Number of rows that are held out for scores."""
        return self.spec.search_rows - self.training.n if self.procedure.selects else 0

    @property
    def evaluator(self) -> Evaluator | None:
        """What is counted on test rows; None if there are none."""
        if not self.spec.test_rows:
            return None
        own_threshold = self.spec.decision_threshold is not None
        return evaluator(self.spec.classes, self.spec.schema.target.bounds, own_threshold)

    @property
    def calibrator(self) -> Calibrator | None:
        """What is counted on calibration rows; None if there are none."""
        classes = self.spec.classes
        return calibrator(classes) if classes and self.spec.calibration_rows else None

    @property
    def expected_evaluation(self) -> Expected | None:
        """How exactly the main figure of the evaluation will be known; None without test rows."""
        if self.evaluator is None:
            return None
        return expected(self.evaluator, self.spec.test_rows, self.count_noise)

    @property
    def count_noise(self) -> float:
        """The standard deviation of the noise of each count of the evaluation: every row is counted
        once in each level, and once more in those by group."""
        assert self.test_noise is not None
        assert self.evaluator is not None
        return times_root(self.test_noise, len(self.evaluator.levels) + bool(self.spec.groups))

    @property
    def calibration_count_noise(self) -> float:
        """The standard deviation of the noise of each count that probabilities are corrected by:
        every row is counted once in each level."""
        assert self.calibration_noise is not None
        assert self.calibrator is not None
        return times_root(self.calibration_noise, len(self.calibrator.levels))

    @property
    def shows_scores(self) -> bool:
        """Whether noisy scores may be released."""
        return self.procedure.scoring == "scores"

    @property
    def shows_all(self) -> bool:
        """Whether every candidate may be released, not only the winner."""
        return self.procedure.releases_all

    @property
    def metric(self) -> Metric:
        """The metric that candidates are compared by."""
        return metrics.get(self.spec.metric)

    @property
    def scored_by(self) -> str:
        """What candidates are compared by, in the plural."""
        return self.metric.picked if self.procedure.scoring == "pick" else self.metric.summed

    @property
    def sensitivity(self) -> float:
        """The most that one validation record can change a score."""
        return self.metric.bound

    @property
    def outside(self) -> tuple[str, ...]:
        """The parts that are not honestdp's own code, and are taken at their word."""
        return outside_parts(self.spec, self.procedure, self.grid)

    @property
    def candidates(self) -> list[Candidate]:
        """The candidates to train, one per setting."""
        spec = self.spec
        made = [
            self.grid.candidates(self.noise_multiplier, encoding.row_norm[0])
            for encoding in spec.encodings
        ]
        return [made[spec.encoding_of(i)][i] for i in range(len(self.grid))]

    @property
    def check(self) -> PaidCheck | None:
        """The check of the table before the search; None if there is none."""
        asked = self.questions.get(AboutFit)
        return None if asked is None else asked.check

    @property
    def learns(self) -> dict[str, int]:
        """Number of values learnt before the search, by what they are stored under."""
        encodings = self.spec.encodings
        found = {one.key: one.column.learns for one in open_columns(encodings)}
        scaled = [place for place, one in enumerate(encodings) if one.learns_scale]
        return found | {learnt_key(place, ROWS): 1 for place in scaled}

    @property
    def lot_sizes(self) -> tuple[float, ...]:
        """The expected lot sizes that sums are divided by: of the search and, where it reads a
        random subset, of the final training. The size of the subset itself is secret."""
        if self.share is None:
            return (self.training.lot_size,)
        q = self.training.sampling_probability
        return q * self.share * self.training.n, q * (1 - self.share) * self.spec.search_rows

    @property
    def share(self) -> float | None:
        """The share of rows in the tuning subset; None without one."""
        return self.procedure.tuning_share

    @property
    def scored_rows(self) -> float:
        """Number of rows that a score sums over; the expected number for a random subset, whose
        size is secret."""
        return self.validation_rows * (1.0 if self.share is None else self.share)

    def as_score(self, value: float) -> float:
        """Convert a value of the metric to a score: a sum over the scored rows, larger is better.

        Args:
            value: A mean over rows, such as a public threshold.
        """
        return self.metric.as_score(value, self.scored_rows)

    @cached_property
    def likely(self) -> Guess | None:
        """A guess of how good the model will be, from public tables; None for models or row counts
        that there are no curves of. One training may spend less than the plan, which pays for all.
        """
        if not all(one.described.chooses_encoding for one in self.spec.pipelines):
            return None
        alone = guarantee.epsilon(self.role_costs.training, self.delta)
        return guess(self.training.n, min(alone, self.epsilon))

    def public(self) -> dict[str, Any]:
        """The plan as texts, numbers, lists and dicts, as the ledger stores it."""
        spec, scoring = self.spec, self.role_costs.scoring
        asked: dict[str, Any] = {}
        for question in self.questions:
            asked |= question.public()
        return {
            "format": PUBLIC_FORMAT,
            "honestdp": __version__,
            "schema": spec.schema.fingerprint,
            "rows": spec.rows,
            "training_rows": self.training.n,
            "validation_rows": self.validation_rows,
            "split_seed": spec.split_seed,
            "model": spec.model_name,
            "grid": [dict(setting) for setting in self.grid.settings],
            "procedure": self.procedure.to_dict(),
            "metric": self.metric.name,
            "reason": self.reason,
            "bound": self.bound,
            "events": {
                "training": formats.to_dict(self.role_costs.training),
                "score": scoring and formats.to_dict(scoring.event),
            },
            "lot_size": self.training.lot_size,
            "steps": self.training.steps,
            "noise_multiplier": self.noise_multiplier,
            "row_norm": list(self.row_norm),
            "scores": scoring and {"kind": scoring.kind, "noise": scoring.noise},
            "roles": dict(self.role_epsilons),
            "learnt_bounds": None,
            **asked,
            **self._encodings(),
            "epsilon": self.epsilon,
            "delta": self.delta,
            **self._evaluation(),
            **self.class_weights,
            **({"outside": list(self.outside)} if self.outside else {}),
            **({} if spec.chosen_on is None else {CHOSEN_ON: spec.chosen_on.public()}),
        }

    @property
    def class_weights(self) -> dict[str, Any]:
        """The public weights and shares of classes, by the names of the spec; those given."""
        given = {name: getattr(self.spec, name) for name in ("class_weight", "class_shares")}
        return {
            name: value if isinstance(value, str) else dict(value)
            for name, value in given.items()
            if value is not None
        }

    def _weight_lines(self) -> list[str]:
        """A line for each way in which settings weigh classes."""
        found, classes = list[str](), self.spec.schema.target.classes or ()
        for weights in dict.fromkeys(self.spec.weights_of(one) for one in self.grid.settings):
            if weights is not None:
                named = ", ".join(
                    f"{name} {weight:.4g}" for name, weight in zip(classes, weights, strict=True)
                )
                found.append(f"  class weights in the loss, public: {named}")
        return found

    def _evaluation(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if self.calibration_noise is not None:
            rows, noise = self.spec.calibration_rows, self.calibration_noise
            found["calibration"] = {"rows": rows, "noise": noise}
        if self.spec.decision_threshold is not None:
            found["decision_threshold"] = self.spec.decision_threshold
        if self.test_noise is None:
            return found
        of = {"rows": self.spec.test_rows, "noise": self.test_noise}
        return found | {
            "evaluation": of | ({"groups": self.spec.groups} if self.spec.groups else {})
        }

    @property
    def encoding_words(self) -> list[str]:
        """How columns are encoded, in words: a text for each encoding that says something."""
        pipelines = self.spec.pipelines
        found = []
        for encoding in self.spec.encodings:
            words = encoding_words(encoding.schema)
            readers = [one.words for one in pipelines if one.encoding == encoding]
            if len(self.spec.encodings) > 1:
                words = f"for {' and '.join(readers)}: {words or 'as declared'}"
            found += [words] if words else []
        return found

    def _models(self) -> str:
        count, pipelines = len(self.grid), self.spec.pipelines
        if len(pipelines) == 1:
            return f"{self.spec.model_name}, {_settings(count)}"
        return f"{_settings(count)} of {'; '.join(one.words for one in pipelines)}"

    @property
    def _could_try_models(self) -> bool:
        """Whether it was left to "auto" what to train, with a model that reads any table."""
        left_open = self.spec.grid is None and self.spec.procedure == AUTO
        return left_open and self.spec.pipelines[0].described.chooses_encoding

    def _encodings(self) -> dict[str, Any]:
        first, *others = [one.schema.fingerprint for one in self.spec.encodings]
        norms = [list(one.row_norm) for one in self.spec.encodings]
        several = {"encodings": [first, *others], "row_norm_of": norms} if others else {}
        return {"encoding": first, **several}

    def __str__(self) -> str:
        n, scoring = self.training.n, self.role_costs.scoring
        lines = [
            f"{self.procedure.name}: epsilon {up(self.epsilon)} at delta {small(self.delta)}, "
            f"accounted by {self.bound}",
            f"  why: {self.reason}",
            f"  model: {self._models()}",
            f"  training: {n} rows, lots of {self.training.lot_size}, {self.training.steps} steps, "
            f"noise multiplier {self.noise_multiplier:g}",
            f"  a bet on one row: right at most {in_100(self.attack.success)} times in 100 (a "
            f"coin: 50; the worst case at this epsilon: {self._worst_bets})",
        ]
        if self._could_try_models:
            lines.insert(2, f"  {NO_PORTFOLIO}")
        if scoring is not None:
            what = "noise of standard deviation" if scoring.kind == "scores" else "Gumbel noise of"
            about = "" if self.share is None else "about "
            lines.append(
                f"  scores: {self.scored_by} on {about}{self.scored_rows:.0f} other rows, with "
                f"{what} {scoring.noise * self.sensitivity:.4g}"
            )
        lines += self._weight_lines()
        lines += [*self._calibration_lines(), *self._evaluation_lines()]
        lines += [] if self.likely is None else [f"  likely: {self.likely}"]
        lines += [f"  encoding: {words}" for words in self.encoding_words]
        if self.spec.check and self.check is None:
            lines.append(f"  {SKIPPED}")
        lines += [f"  {question.line}" for question in self.questions]
        lines += [f"  not honestdp's own, taken at its word: {one}" for one in self.outside]
        return "\n".join([*lines, f"  what leaves: {self.procedure.leaves}"])

    @property
    def _worst_bets(self) -> str:
        return in_100(guess_chance(self.epsilon, self.delta))

    def _calibration_lines(self) -> list[str]:
        found, threshold = list[str](), self.spec.decision_threshold
        if self.calibrator is not None:
            found.append(
                f"  calibration: probabilities corrected by counts of {self.calibrator.counted} of "
                f"{self.spec.calibration_rows} further rows, each with noise of standard deviation "
                f"{self.calibration_count_noise:.3g}"
            )
        elif self.spec.weighs and self.spec.calibration_share == AUTO:
            found.append(
                "  calibration: none, as it would undo the class weights; probabilities are those "
                "of a table in which classes are as weighed"
            )
        if threshold is not None:
            second = (self.spec.schema.target.classes or ("", ""))[1]
            words = threshold_words(threshold)
            found.append(f"  answer: {second!r} where its probability is above {words}")
        return found

    def _evaluation_lines(self) -> list[str]:
        if self.test_noise is None:
            if self.spec.test_share == AUTO:
                return [f"  no evaluation: {self.spec.rows} rows are too few to hold some out"]
            return []
        assert self.evaluator is not None
        of = self.evaluator, self.spec.test_rows, self.count_noise, self.spec.groups
        return [f"  {line}" for line in evaluation_lines(*of)]


def _settings(count: int) -> str:
    return "one setting" if count == 1 else f"{count} settings"


def job(spec: Spec, procedure: Procedure) -> Training:
    """The training of every run: on all rows if none are held out, else on the training part."""
    n = others = spec.search_rows
    if procedure.selects:
        n -= round(spec.validation * spec.rows)
        if not 0 < n < others:
            shares = ", ".join(
                f"{name}={getattr(spec, name)}"
                for name in ("validation", "test_share", "calibration_share")
            )
            remedy = f"too few to train on some and score on others, with {shares}; lower one"
            raise fail("rows", spec.rows, remedy)
    steps = defaults.steps(spec, n)
    found = Training(n, defaults.lot_size(spec, n, steps), steps)
    share = procedure.tuning_share
    if share is not None:
        q = found.sampling_probability
        held = min(q * share * n, q * (1 - share) * others)
        if held < 1:
            remedy = f"its lots would hold {held:.3g} rows; change it, or raise lot_size"
            raise fail("subset", share, remedy)
    return found


def _spending(roles: RoleCosts, before: Event | None, delta: float) -> Spending:
    """What the ledger is charged: the larger of the roles, with the questions asked before."""
    cost = max(roles.epsilon(delta, before).values())
    if roles.bound == "liu-talwar":
        return Spending.of_pair(cost, delta)
    curve = roles.curve(delta)
    if before is not None:
        curve = curve + guarantee.rdp_curve(before)
    return Spending.of_curve(curve, delta, epsilon=cost)
