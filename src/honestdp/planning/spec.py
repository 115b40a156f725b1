"""`Spec`: the search to plan, in public facts alone. No field is read from the data.

The schema, the number of rows and epsilon are required; everything else has a default.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral
from typing import Any

from honestdp.errors import (
    InputError,
    fail,
    instance,
    open_unit,
    positive,
    positive_integer,
    true_or_false,
)
from honestdp.metrics import default_metric, metrics
from honestdp.models import describe
from honestdp.planning.about import About
from honestdp.planning.calibration_part import (
    calibration_rows,
    check_calibrating,
    check_threshold,
)
from honestdp.planning.class_weights import (
    Weights,
    checked_name,
    checked_shares,
    checked_weight,
    weights,
)
from honestdp.planning.costs import checked_delta, default_delta
from honestdp.planning.encoding import is_wide, with_encoding
from honestdp.planning.grid import CLASS_WEIGHT, Grid, Setting, follows_noise, is_open
from honestdp.planning.named_grids import GridFacts, named_grid
from honestdp.planning.pipelines import Pipeline, RowEncoding, choice, distinct
from honestdp.planning.public_choice import CHOSEN_ON, PublicChoice
from honestdp.planning.test_part import check_testing, test_rows
from honestdp.privacy.calibrate import Shape
from honestdp.procedures import Request, procedures
from honestdp.procedures.base import HIT_PROBABILITY
from honestdp.procedures.options import Options, mean_runs
from honestdp.schema import Schema

AUTO = "auto"
# The options of "auto".
_AUTO_OPTIONS: Options = {"hit_probability": open_unit, "most_runs": mean_runs}
MOST_STEPS = 10**9
MOST_ROWS = 2**31 - 1
_LARGEST_SEED = 2**53  # readers of a card may parse whole numbers as floats


@dataclass(frozen=True, kw_only=True)
class Spec:
    """A search to plan: the table, the model, the candidates, the budget.

    Args:
        schema: What is public about the table.
        rows: Number of rows of the table, which is public.
        epsilon: Budget for training, tuning, scoring and learnt bounds together.
        delta: The budget's delta, below 1/rows; by default 10^(floor(log10(1/rows)) - 1).
        model: A name such as "logistic", "linear" or "mlp", or a model of `honestdp.engine` such as
            `Module(Net, classes=2)`. By default logistic or linear regression, as the target needs.
        grid: The settings to choose among, in any form of `Grid.of`, or any name of
            `honestdp.planning.named_grids`. By default one setting whose step size follows from
            public facts, so that nothing is tuned.
        procedure: How to select the winner, by name; "auto" decides by public facts.
        lot_size: Expected lot size of every run; by default chosen from public facts.
        steps: Steps of every run; by default chosen from public facts.
        validation: Share of rows held out for scores, where there are scores.
        test_share: Share of rows held out to evaluate the released model on; "auto": by a rule on
            public facts (`planning.test_part`); 0: none, and nobody can say how good the model is.
        groups: A declared column of categories; the evaluation is also made for each of them.
        calibration_share: Share of rows held out to correct the probabilities of the released model
            by; "auto": by a rule on public facts (`planning.calibration_part`); 0: none.
        decision_threshold: The probability of the second of two classes above which it is the
            answer; "balanced": its noisy share among calibration rows; "cost:5": 1/(1 + 5), for
            where missing such a row costs 5 times a false alarm. By default 0.5.
        split_seed: Seed of the public permutation that selects these rows; shown on the card.
        learn_share: Share of the budget for what the schema declares as "learn": bounds, edges and
            scales (`planning.questions` says what a share is).
        check: Whether to ask, before the search and with noise, if the table fits its schema at
            all, and to stop if it does not (`schema.paid_check`); left out where rows are few.
        hit_probability: Search long enough to draw the best setting with this probability.
        mean_runs: Expected number of runs, instead of `hit_probability`.
        most_runs: Limit on the expected number of runs that "auto" may choose.
        shape: Shape of the law of K: "geometric" (1, the default), "logarithmic" (0), "poisson",
            "optimal" (the cheapest for the hit probability), or a number above -1. For
            "subset-tuning" also "distinct", its default: no setting is drawn twice.
        cap: Hard limit on the number of runs.
        threshold: Public score at which the procedure "threshold" stops.
        subset: Share of rows that the procedure "subset-tuning" tunes on.
        scores: False: release no score, and select the winner by one exponential mechanism.
        bound: Name of the theorem to account by; by default the one that needs the least noise.
        metric: What candidates are compared by, by name: "accuracy" (the default for classes),
            "balanced-accuracy", "auc", "log-loss", "brier"; "squared_error" (the default for
            numbers), "mae", "rmse"; or one that is registered.
        procedure_options: Further options, by name: those of a procedure that is not in the
            library, or the `law` of "random-subset".
        class_weight: Public weights of classes in the loss, by class, such as {"yes": 5.0}, those
            of other classes being 1; only their ratios matter. Or "balanced": 1 by `class_shares`.
            A setting of the grid may choose "none" or "balanced" itself. They cost nothing: a row
            is clipped after them.
        class_shares: The share of each class, where that is public.
        chosen_on: The comparison on public rows that the one setting of the grid comes from; only
            `choose_on_public` makes it.
        about: What the card says of who publishes the release, what for and why this epsilon
            (`planning.about.About`, or a mapping of its fields); not part of what is charged.

    Attributes:
        pipelines: The models, with the encodings of their rows, that its settings choose, in the
            order of their first use; one if none chooses.
        pipeline_of: The place in `pipelines` of each setting of the grid.
        encodings: The encodings of rows that they have, each once.

    Raises:
        InputError: If a value is out of bounds, or the procedure has no such option.

    Example:
        >>> from honestdp.datasets import adult
        >>> Spec(schema=adult().schema, rows=30000, epsilon=1.0, grid="dpsgd-40").model
        'logistic'
    """

    schema: Schema
    rows: int
    epsilon: float
    delta: float | None = None
    model: Any = None
    grid: Grid | str | Mapping[str, Any] | Sequence[Setting] | None = None
    procedure: str = AUTO
    lot_size: int | None = None
    steps: int | None = None
    validation: float = 0.2
    test_share: float | str = 0.0
    groups: str | None = None
    calibration_share: float | str = 0.0
    decision_threshold: float | str | None = None
    split_seed: int = 0
    learn_share: float = 0.05
    check: bool = False
    hit_probability: float | None = None
    mean_runs: float | None = None
    most_runs: float | None = None
    shape: Shape | str | None = None
    cap: int | None = None
    threshold: float | None = None
    subset: float | None = None
    scores: bool | None = None
    bound: str | None = None
    metric: str | None = None
    procedure_options: Mapping[str, Any] = field(default_factory=dict)
    class_weight: str | Mapping[str, float] | None = None
    class_shares: Mapping[str, float] | None = None
    chosen_on: PublicChoice | None = None
    about: About | Mapping[str, str] | None = None
    pipelines: tuple[Pipeline, ...] = field(init=False, repr=False)
    pipeline_of: tuple[int, ...] = field(init=False, repr=False)
    encodings: tuple[RowEncoding, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        instance(Schema, "schema", self.schema, 'Schema.load("table.toml")')
        for name, check in _CHECKS.items():  # stored as Python's own numbers
            value = getattr(self, name)
            if value is not None or name in _NEEDED:
                object.__setattr__(self, name, check(name, value))
        true_or_false("check", self.check)
        object.__setattr__(self, "about", About.of(self.about))
        check_testing(self.schema, self.test_share, self.groups)
        if self.groups is not None and not self.test_rows:
            remedy = f"are of test rows, and {self.rows} rows at this epsilon are too few for some"
            raise fail("groups", self.groups, f"{remedy}; leave it out, or give a test_share")
        check_calibrating(self.calibration_share, self.classes)
        if self.delta is not None:
            checked_delta(self.delta, self.rows)
        if isinstance(self.split_seed, bool) or not isinstance(self.split_seed, Integral):
            raise fail("split_seed", self.split_seed, "must be a whole number")
        if abs(self.split_seed) > _LARGEST_SEED:
            raise fail("split_seed", self.split_seed, f"must be at most {_LARGEST_SEED} in size")
        object.__setattr__(self, "split_seed", int(self.split_seed))
        self._check_model()
        self._check_metric()
        self._check_weights()
        self._check_parts()
        self._check_options()
        self._check_choice()

    def _check_parts(self) -> None:
        if self.search_rows < 1:
            remedy = f"and test_share={self.test_share} leave no rows to train on; lower one"
            raise fail("calibration_share", self.calibration_share, remedy)
        check_threshold(self.decision_threshold, self.classes, bool(self.calibration_rows))

    def _check_model(self) -> None:
        if self.model is None:
            object.__setattr__(self, "model", "linear" if self.classes is None else "logistic")
        grid = None if self.grid is None else self._checked_grid()
        object.__setattr__(self, "grid", grid)
        settings: tuple[Setting, ...] = ({},) if grid is None else grid.settings
        choices = [choice(setting, self.model) for setting in settings]
        different, found = distinct(choices), list[Pipeline]()
        for one in different:
            own = [s for s, chosen in zip(settings, choices, strict=True) if chosen == one]
            follows = grid is None or all(is_open(s) or follows_noise(s) for s in own)
            found.append(self._pipeline(*one, follows))
        places = tuple(different.index(one) for one in choices)
        encodings = distinct(pipeline.encoding for pipeline in found)
        object.__setattr__(self, "pipelines", tuple(found))
        object.__setattr__(self, "pipeline_of", places)
        object.__setattr__(self, "encodings", tuple(encodings))
        if grid is not None and any(map(is_open, settings)):
            pairs = zip(places, settings, strict=True)
            made = Grid(tuple(found[place].completed(setting) for place, setting in pairs))
            object.__setattr__(self, "grid", made)

    def _pipeline(self, model: Any, encode: str | None, follows: bool) -> Pipeline:
        """A model with the encoding of its rows. follows: Whether the step sizes of all its
        settings follow from the noise."""
        described = describe(model, self.schema.width, self.classes)
        chooses = described.chooses_encoding
        delta = default_delta(self.rows) if self.delta is None else self.delta
        scales = chooses and follows and self.schema.row_scale is None
        facts = self.rows, self.epsilon, delta, chooses, scales, encode
        chosen = with_encoding(self.schema, *facts)
        found = Pipeline(model, encode, RowEncoding(chosen, scales, described.reads_sparse))
        assert found.described is not None  # it suits rows of the encoded width too
        return found

    def _checked_grid(self) -> Grid:
        if not isinstance(self.grid, str):
            assert self.grid is not None
            return Grid.of(self.grid)
        model = describe(self.model, self.schema.width, self.classes)
        return named_grid(self.grid, GridFacts(model, self.classes, is_wide(self.schema)))

    def _check_metric(self) -> None:
        found = default_metric(self.classes) if self.metric is None else metrics.get(self.metric)
        if not found.suits(self.classes):
            suited = [m.name for m in metrics if m.suits(self.classes)]
            raise fail("metric", self.metric, f"does not suit the target; {_or(suited)} does")
        object.__setattr__(self, "metric", found.name)

    def _check_weights(self) -> None:
        known = self.schema.target.classes
        if self.class_shares is not None:
            object.__setattr__(self, "class_shares", checked_shares(self.class_shares, known))
        if self.class_weight is not None:
            object.__setattr__(self, "class_weight", checked_weight(self.class_weight, known))
        self.weights_of({})
        for setting in self.grid.settings if isinstance(self.grid, Grid) else ():
            self.weights_of(setting)

    def weights_of(self, setting: Setting) -> Weights | None:
        """The weights of the classes in the loss of a setting; None if all are 1.

        Args:
            setting: A setting of the grid.

        Raises:
            InputError: If the setting names weights that there are not.
        """
        own = setting.get(CLASS_WEIGHT)
        found = self.class_weight if own is None else checked_name("grid: class_weight", own)
        return weights(found, self.schema.target.classes, self.class_shares)

    def _check_options(self) -> None:
        instance(Mapping, "procedure_options", self.procedure_options, '{"eta": 3}')
        known = _options_of(self.procedure)
        more = {n: value for n, value in self.procedure_options.items() if value is not None}
        own: dict[str, Any] = {}
        for name in _OPTION_FIELDS:  # which may be given either way
            field_value, other = getattr(self, name), more.pop(name, None)
            own[name] = other if field_value is None else field_value
        for name, value in sorted({**more, **own}.items()):
            if value is None:
                continue
            if name not in known:
                has = [p for p in (AUTO, *procedures.names()) if name in _options_of(p)]
                hint = f"; {_or(has)} has" if has else ""
                raise fail(name, value, f"{self.procedure} has no such option{hint}")
            checked = known[name](name, value)
            if name in own:
                object.__setattr__(self, name, checked)
        if self.hit_probability is not None and self.mean_runs is not None:
            raise fail("mean_runs", self.mean_runs, "or hit_probability: give one of the two")
        further = {name: known[name](name, value) for name, value in more.items()}
        object.__setattr__(self, "procedure_options", further)

    def _check_choice(self) -> None:
        if self.chosen_on is None:
            return
        instance(PublicChoice, CHOSEN_ON, self.chosen_on, "one that choose_on_public makes")
        settings = self.grid.settings if isinstance(self.grid, Grid) else ()
        if [dict(one) for one in settings] != [self.chosen_on.setting]:
            raise InputError(
                f"{CHOSEN_ON}: the grid is not the one setting that was chosen on public rows; "
                "give the whole grid to choose_on_public"
            )

    @property
    def test_rows(self) -> int:
        """Number of rows held out to evaluate the released model on."""
        return test_rows(self.rows, self.epsilon, self.test_share)

    @property
    def calibration_rows(self) -> int:
        """Number of rows held out to correct the probabilities of the released model by."""
        facts = self.rows, self.epsilon, self.calibration_share, self.classes
        return calibration_rows(*facts, weighs=self.weighs)

    @property
    def weighs(self) -> bool:
        """Whether a setting weighs classes in its loss."""
        settings = self.grid.settings if isinstance(self.grid, Grid) else ({},)
        return any(self.weights_of(one) is not None for one in settings)

    @property
    def search_rows(self) -> int:
        """Number of rows that are left for the search: to train on, and to score on."""
        return self.rows - self.test_rows - self.calibration_rows

    @property
    def request(self) -> Request:
        """The procedure and its options, as given."""
        given = {name: getattr(self, name) for name in _OPTION_FIELDS} | dict(
            self.procedure_options
        )
        known = procedures.get(self.procedure).options
        return Request(
            self.procedure, {n: v for n, v in given.items() if n in known and v is not None}
        )

    @property
    def wanted_hit_probability(self) -> float:
        """The probability with which a search of "auto" must draw the best setting."""
        return HIT_PROBABILITY if self.hit_probability is None else self.hit_probability

    @property
    def classes(self) -> int | None:
        """Number of classes of the target; None for a numeric target."""
        known = self.schema.target.classes
        return None if known is None else len(known)

    @cached_property
    def _encoding_of(self) -> list[int]:
        read = [self.encodings.index(pipeline.encoding) for pipeline in self.pipelines]
        return [read[place] for place in self.pipeline_of]

    def encoding_of(self, setting: int) -> int:
        """The place in `encodings` of the encoding that a setting's model reads.

        Args:
            setting: The place of the setting in the grid.
        """
        return self._encoding_of[setting]

    @property
    def encoding(self) -> Schema:
        """The schema with everything decided that it leaves open about encoding, of the first of
        `encodings`; what has to be learnt from rows is still open in it."""
        return self.encodings[0].schema

    @property
    def parameters(self) -> int:
        """Number of parameters of the largest model, with its default options."""
        return max(one.described.parameters for one in self.pipelines)

    @property
    def model_name(self) -> str:
        """The names of the models on plan, card and report."""
        return ", ".join(dict.fromkeys(one.described.words for one in self.pipelines))


def _few_rows(name: str, value: object) -> int:
    if positive_integer(name, value) > MOST_ROWS:
        raise fail(name, value, f"must be at most {MOST_ROWS}, what sums can hold; give fewer")
    return int(value)  # type: ignore[call-overload]


def _few_steps(name: str, value: object) -> int:
    if positive_integer(name, value) > MOST_STEPS:
        raise fail(name, value, f"must be at most {MOST_STEPS}")
    return int(value)  # type: ignore[call-overload]


# Each checks a field and converts it to a Python number.
_CHECKS: dict[str, Callable[[str, object], float]] = {
    "rows": _few_rows,
    "epsilon": positive,
    "validation": open_unit,
    "learn_share": open_unit,
    "delta": open_unit,
    "lot_size": positive_integer,
    "steps": _few_steps,
}
_NEEDED = ("rows", "epsilon", "validation", "learn_share")
# The fields that are options of procedures.
_OPTION_FIELDS = (
    "hit_probability", "mean_runs", "most_runs", "shape", "cap", "threshold", "subset", "scores",
    "bound",
)  # fmt: skip


def _options_of(procedure: str) -> Options:
    """The options of a procedure, each with its check."""
    if isinstance(procedure, str) and procedure == AUTO:
        return _AUTO_OPTIONS
    return {**procedures.get(procedure).options, "bound": _any_name}


def _any_name(name: str, value: object) -> object:
    return value  # which bounds hold depends on the procedure's law: planning checks it


def _or(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
