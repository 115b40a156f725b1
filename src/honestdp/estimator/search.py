"""`HonestSearch`: an honest private search that fits where scikit-learn's estimators fit.

    search = HonestSearch("logistic", "dpsgd-40", epsilon=1, schema=schema, ledger=ledger)
    print(search.plan(len(X)))    # what it will cost: no row is read
    search.fit(X, y)              # charged first, or refused
    search.predict(X_new)

The class documents what it covers and what not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from os import PathLike
from typing import Any

import numpy as np
from sklearn.utils import ClassifierTags, RegressorTags, Tags

from honestdp.errors import InputError, fail
from honestdp.estimator import inputs
from honestdp.estimator import repr as representation
from honestdp.estimator.fitted import FittedSearch
from honestdp.estimator.inputs import ME, Y_IS_NONE, Rows, columns_of, places, target_of
from honestdp.estimator.labels import by_class, check_kind, labels
from honestdp.estimator.models import model_and_grid, named_as, predicts_classes
from honestdp.estimator.parameters import (
    INFER,
    check_parameters,
    declared_schema,
    open_ledger,
)
from honestdp.estimator.run_folder import carried_out
from honestdp.executors import Executor
from honestdp.ledger import Ledger
from honestdp.models.base import OPTION
from honestdp.planning.make import make_plan
from honestdp.planning.plan import Plan
from honestdp.planning.spec import Spec
from honestdp.release.released import Release
from honestdp.release.saved import load
from honestdp.runner.choosing import choose_on_public
from honestdp.schema import Schema
from honestdp.schema.infer import NAME, infer_schema

_INSTEAD = {
    "sample_weight": "weights of single rows are not public; weigh declared classes by "
    'class_weight={"yes": 5.0}'
}


@dataclass(frozen=True)
class ReleasedCandidate:
    """A released candidate, as `on_candidate` receives it. number: its rank, from 1."""

    number: int
    params: Mapping[str, Any]
    score: float | None
    simulated: bool


class HonestSearch(FittedSearch):
    """A differentially private search for a classifier or a regressor.

    Outside simulation every `fit` is charged to the ledger before a row is read, or refused; so is
    every `fit` inside `cross_val_score`, `GridSearchCV` and the like. A score on rows with targets
    would be one more release: `score` is absent before `fit`, so that cross-validation without a
    `scoring` fails at once, and refused afterwards unless the rows are declared public.

    Not covered, and so not private:
    - steps before it in a Pipeline that learn from rows (StandardScaler, PCA): use per-record
      transformers there (FunctionTransformer, Normalizer); the schema's bounds scale the columns;
    - what others compute from its predictions: the accuracy that `cross_val_score(...,
      scoring="accuracy")` takes on protected rows is one more release, unpaid;
    - folds that depend on the targets, where one record moves others: use KFold, not
      StratifiedKFold, which is scikit-learn's default for classes if cv is a number.

    A simulation (random_state=0) reports that no target is one of the classes, or that no cell can
    be read. A paid run must not, as one record may decide it. Simulate first, on made-up rows.

    Without a `folder` a run keeps its files in a folder of its own in `<ledger>.runs/`, which is
    removed after the release; `save` writes that to a folder. An interrupted run stays there and is
    resumed, free of charge, with `set_params(folder=...)`; the message, and a warning at the next
    `fit`, give the folder.

    Args:
        model: "logistic", "linear", "mlp", a torch module, its class or a function that makes one.
            A module reads rows of the schema's encoded width, [row, width].
        grid: The settings to choose among: a name ("dpsgd-40"), a dict of lists, ranges or
            distributions, a list of dicts, a `Grid`. None: one setting that needs no tuning.
        epsilon: Budget for everything together. Required.
        delta: The budget's delta; by default as in `Spec`.
        procedure: How to select the winner; "auto" decides by public facts.
        schema: What is public about the table: a `Schema`, or a path to its TOML file. Required.
            "infer", in simulations only, reads it from the rows; the target then has classes,
            unless the model or the loss is for numbers.
        ledger: The data set's budget: a `Ledger`, or a path to one. Required outside simulations.
        lot_size: As in `Spec`.
        steps: As in `Spec`.
        validation: As in `Spec`.
        test_share: Share of rows held out to say, with noise, how good the released model is;
            "auto": a tenth where rows are many enough, 0: none.
        groups: A declared column of categories: `evaluation_` is then also by its values.
        check: Whether to ask first, with noise that is paid for, if the table fits its schema, and
            to stop if it does not; left out where rows are few. The charge of a fit that was
            stopped pays for the next one.
        public: Rows declared public, (X, y) or X with the target as a column, on which the settings
            of the grid are compared, free of charge; the protected rows then pay for one training.
            They are not protected, nor is a record that they share with the protected rows.
        executor: Where to train: "local", or another that is registered.
        random_state: None, or a whole number: then a SIMULATION, NOT PRIVATE.
        progress: Whether to show a bar in a terminal or a notebook.
        loss: Of a module: "cross_entropy", "squared", "huber", or a function of (outputs of one
            example, its target).
        folder: Where to keep the run and its release. An interrupted run there is resumed.
        class_weight: Public weights of classes in the loss, by class; or "balanced", by
            `class_shares`, as scikit-learn would count them. See `Spec`.
        class_shares: The share of each class, where that is public; see `Spec`.
        on_candidate: Called with each released candidate, the best first. Only for procedures that
            release all of them: "composition", "untuned".
        options: Further fields of `Spec`, such as {"mean_runs": 20}.
        class_dtype: The type of predicted classes: bool, int, float or str. None: by the schema's
            classes (see `classes_`). It never depends on y: a single odd record changes y's type.
        **module_options: As `module__NAME`: an option of the module's class, or "mlp"'s width or
            activation. Grids may set them too.

    Attributes:
        best_params_: The winner's setting; None if the search ended without one.
        best_score_: Its noisy score on the rows that candidates were compared on, so it is the
            largest of several; None if no score may be released. `evaluation_` says how good it is.
        evaluation_: How good the released model is on rows that had no part in making it, with 95 %
            intervals; None without test rows.
        card_: The privacy card.
        release_: Everything that was released.
        plan_: The plan that was carried out.
        schema_: The schema, with the chosen encoding and all that was learnt filled in.
        classes_: The classes: whole numbers if all of the schema's are, numbers if all are, truth
            values if they are true and false, else text.
        n_features_in_: Number of features.
        feature_names_in_: Their names, if X has names.
        coef_: The weights of the encoded columns of a linear model: [1, column] for two classes,
            [class, column] for more, [column] in the target's unit for a number.
        intercept_: Its intercept.
        feature_names_out_: The names of the encoded columns; `release_.effects()` shows what they
            mean, and how much is noise.

    Example:
        >>> from honestdp.datasets import adult
        >>> search = HonestSearch(epsilon=1.0, schema=adult().schema, random_state=0)
        >>> search.plan(30000).procedure.name
        'untuned'
    """

    def __init__(
        self,
        model: Any = "logistic",
        grid: Any = None,
        *,
        epsilon: float,
        delta: float | None = None,
        procedure: str = "auto",
        schema: Schema | str | PathLike[str],
        ledger: Ledger | str | PathLike[str] | None = None,
        lot_size: int | None = None,
        steps: int | None = None,
        validation: float = 0.2,
        test_share: float | str = "auto",
        groups: str | None = None,
        check: bool = True,
        public: Any = None,
        executor: str | Executor = "local",
        random_state: int | None = None,
        progress: bool = True,
        loss: Any = None,
        folder: str | PathLike[str] | None = None,
        on_candidate: Callable[[ReleasedCandidate], object] | None = None,
        options: Mapping[str, Any] | None = None,
        class_dtype: type | str | None = None,
        class_weight: str | Mapping[Any, float] | None = None,
        class_shares: Mapping[Any, float] | None = None,
        **module_options: Any,
    ) -> None:
        self.model = model
        self.grid = grid
        self.epsilon = epsilon
        self.delta = delta
        self.procedure = procedure
        self.schema = schema
        self.ledger = ledger
        self.lot_size = lot_size
        self.steps = steps
        self.validation = validation
        self.test_share = test_share
        self.groups = groups
        self.check = check
        self.public = public
        self.executor = executor
        self.random_state = random_state
        self.progress = progress
        self.loss = loss
        self.folder = folder
        self.on_candidate = on_candidate
        self.options = options
        self.class_dtype = class_dtype
        self.class_weight = class_weight
        self.class_shares = class_shares
        self._module_options = module_options

    # Parameters

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All parameters by name, those of the module included.

        Args:
            deep: Ignored; for scikit-learn.
        """
        return {**super().get_params(deep=False), **self._module_options}

    def set_params(self, **params: Any) -> HonestSearch:
        """Set parameters by name.

        Args:
            **params: Parameters of the constructor; `module__NAME` may be new.

        Returns:
            The estimator itself.

        Raises:
            InputError: If there is no such parameter.
        """
        known = {*self._get_param_names(), *self._module_options}
        for name, value in params.items():
            if name not in known and not name.startswith(OPTION):
                raise InputError(f"Invalid parameter {name!r} for estimator {ME}; see get_params()")
            if name in self._get_param_names():
                setattr(self, name, value)
            else:  # a new dict: a shallow copy shares the old one
                self._module_options = {**self._module_options, name: value}
        return self

    def _options_of_module(self) -> dict[str, Any]:
        for name in self._module_options:
            if not name.startswith(OPTION):
                raise InputError(
                    f"{name}: {ME} has no such parameter; those of a module begin with {OPTION}"
                )
        return {name.removeprefix(OPTION): value for name, value in self._module_options.items()}

    # The plan

    def plan(self, n: int) -> Plan:
        """Plan what `fit` on a table of n rows would do and cost; reads no data but public rows.

        Args:
            n: Number of rows.

        Returns:
            The plan.

        Raises:
            InputError: If a parameter is wrong, no plan fits the budget, or the schema is "infer".
        """
        check_parameters(self)
        if self._infers:
            raise fail("schema", INFER, "is read off the rows by fit; a plan needs a declared one")
        schema = declared_schema(self.schema)
        return make_plan(self._chosen(self._spec(schema, n), schema))

    def _chosen(self, spec: Spec, schema: Schema) -> Spec:
        """The spec with the setting that is best on public rows, if there are any."""
        if self.public is None:
            return spec
        X, y = self.public if isinstance(self.public, tuple) else (self.public, None)  # noqa: N806
        try:
            target = target_of(y)
            rows = Rows.of(X).named_for(schema.input_names)
            table, _, _ = columns_of(rows, schema, target is not None)
        except InputError as error:
            raise InputError(f"public: {error}") from None
        return choose_on_public(spec, table, target, executor=self.executor)

    @property
    def _infers(self) -> bool:
        return isinstance(self.schema, str) and self.schema == INFER

    @property
    def _simulates(self) -> bool:
        return self.random_state is not None

    def _spec(self, schema: Schema, rows: int) -> Spec:
        facts = partial(
            Spec,
            schema=schema,
            rows=rows,
            epsilon=self.epsilon,
            delta=self.delta,
            procedure=self.procedure,
            lot_size=self.lot_size,
            steps=self.steps,
            validation=self.validation,
            test_share=self.test_share,
            groups=self.groups,
            check=self.check,
            class_weight=by_class(schema.target.classes, self.class_dtype, self.class_weight),
            class_shares=by_class(schema.target.classes, self.class_dtype, self.class_shares),
            **(self.options or {}),
        )
        options = self._options_of_module()
        return model_and_grid(self.model, self.grid, self.loss, options, facts)

    # Fitting

    def fit(self, X: Any, y: Any = None, **refused: Any) -> HonestSearch:  # noqa: N803
        """Charge the ledger, search, and keep the release.

        Args:
            X: The rows: pandas, polars, NumPy, SciPy sparse or torch.
            y: The targets; None if they are a column of X.
            **refused: There is nothing more. `sample_weight` is refused by name: weights of single
                rows are as sensitive as the rows, and have no public bound.

        Returns:
            The estimator itself.

        Raises:
            InputError: If a parameter or the form of the table is wrong; nothing was charged, or
                the message says what was.
            BudgetError: If the ledger does not cover the plan; nothing was charged.
            MisfitError: If the table does not fit its schema, by the check; the charge stands, and
                the next fit uses it.
            SearchError: If a paid search failed.
            Interrupted: On Ctrl-C in a run that can be resumed.
        """
        for name in refused:
            raise InputError(f"{name}: fit takes none; {_INSTEAD.get(name, 'leave it out')}")
        check_parameters(self)
        if any(X is part for part in _parts(self.public)):
            raise InputError("public: is the protected X itself; give public rows, or leave it out")
        rows, target = Rows.of(X), target_of(y)
        if self._simulates:  # never for protected rows: one record may decide the outcome
            inputs.check_cells(rows, target)
        if rows.count < 2:
            raise InputError("X: has 1 sample; a search needs more")
        schema = self._inferred(rows, target) if self._infers else declared_schema(self.schema)
        rows = rows.named_for(schema.input_names)
        plan = make_plan(self._chosen(self._spec(schema, rows.count), schema))
        if self.on_candidate is not None and not plan.shows_all:
            raise InputError(
                f"on_candidate: {plan.procedure.name} releases the winner alone; leave it out, or "
                'use procedure="composition", which releases every candidate'
            )
        table, features, width = columns_of(rows, schema, target is not None)
        ledger = open_ledger(self.ledger, self.random_state, schema)
        self._check_classes(schema)
        if self._simulates and schema.target.classes is not None:
            check_kind(schema.target.classes, target, rows, schema.target.column)
        release = carried_out(
            plan,
            table,
            ledger,
            target=target,
            seed=None if self.random_state is None else int(self.random_state),
            folder=self.folder,
            bar=self.progress,
            executor=self.executor,
        )
        self._keep(release, features, width)
        self._by_place = self._infers and features is None
        if self.on_candidate is not None:
            for rank, one in enumerate(release.candidates, 1):
                candidate = ReleasedCandidate(
                    rank, dict(one.setting), one.noisy_score, release.simulated
                )
                self.on_candidate(candidate)
        return self

    def _check_classes(self, schema: Schema) -> None:
        if schema.target.classes is not None:
            labels(schema.target.classes, self.class_dtype)
        elif self.class_dtype is not None:
            raise InputError("class_dtype: the target is a number, not of classes; leave it out")

    def _inferred(self, rows: Rows, target: Any) -> Schema:
        if target is None:
            raise InputError(f"{Y_IS_NONE}; a schema is inferred from X and y apart")
        if len(target) != rows.count:
            raise InputError(f"X has {rows.count} rows, y {len(target)}: give one each")
        names = rows.names or places(rows.width)
        called = "target"
        while called in names:
            called += "_"
        table = rows.table if rows.names else rows.in_order(names, names)
        classes = predicts_classes(self.model, self.loss, None)
        return infer_schema(table, target, names, called, classes)

    def _keep(self, release: Release, features: tuple[str, ...] | None, width: int) -> None:
        self.plan_ = release.plan
        self._keep_release(release)
        self.n_features_in_ = width
        if features is not None:
            self.feature_names_in_ = np.array(features, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    # What kind of estimator it is

    def _classifies(self) -> bool:
        known = getattr(self, "schema_", None)
        if known is None and not self._infers:
            with suppress(InputError):  # `fit` reports a wrong one
                known = declared_schema(self.schema)
        return predicts_classes(self.model, self.loss, known)

    # Files

    @classmethod
    def load(cls, folder: str | PathLike[str], module: Any = None) -> HonestSearch:
        """Load a fitted estimator from the folder of a release.

        The files do not hold `class_dtype`: the type of classes follows from the schema.

        Args:
            folder: The folder, as `save` or `run` wrote it.
            module: For a torch module its class, its factory or an instance: files hold no code.

        Returns:
            A fitted estimator, ready to predict.

        Raises:
            InputError: If a file is missing or altered, or `module` does not fit.
        """
        saved = load(folder, module)
        model = "logistic" if saved.winner is None else named_as(saved.winner.model, module)
        made = cls(model, epsilon=saved.epsilon, delta=saved.delta, schema=saved.schema)
        made._keep_release(saved)
        made._by_place = saved.schema.name == NAME and _placed(saved.schema)
        made.n_features_in_ = len(saved.schema.input_names)
        return made

    # scikit-learn's tags, and representations

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if self._classifies():
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        else:
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        tags.target_tags.required = True
        tags.non_deterministic = not self._simulates
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:  # noqa: N803
        return representation.text(self)

    def _repr_html_(self) -> str:
        return representation.html(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return {"text/plain": representation.text(self), "text/html": representation.html(self)}


def _parts(public: Any) -> tuple[Any, ...]:
    """The tables of what is given as public rows."""
    if public is None:
        return ()
    return public if isinstance(public, tuple) else (public,)


def _placed(schema: Schema) -> bool:
    return tuple(column.name for column in schema.columns) == places(len(schema.columns))
