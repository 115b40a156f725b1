"""What a fitted `HonestSearch` answers: predictions, a score of public rows, its coefficients.

Only what was released is used; the rows are the caller's.
"""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from honestdp.errors import InputError
from honestdp.estimator import inputs
from honestdp.estimator.coefficients import coefficients
from honestdp.estimator.inputs import ME, Y_IS_NONE, Rows, target_of
from honestdp.estimator.labels import decoded, labels
from honestdp.release.saved import Released
from honestdp.release.tested import tested
from honestdp.schema.cells import cells
from honestdp.schema.tables import column_of


class FittedSearch(BaseEstimator):  # type: ignore[misc]
    """The methods of `HonestSearch` that need a release; `HonestSearch` has the parameters."""

    class_dtype: Any
    n_features_in_: int
    _by_place: bool

    @property
    def _simulates(self) -> bool:
        raise NotImplementedError

    def _classifies(self) -> bool:
        raise NotImplementedError

    def _keep_release(self, release: Released) -> None:
        self.release_, self.card_, self.schema_ = release, release.card, release.schema
        winner, classes = release.winner, release.schema.target.classes
        self.best_params_ = None if winner is None else dict(winner.setting)
        self.best_score_ = None if winner is None else winner.noisy_score
        self.evaluation_ = release.evaluation
        if classes is not None:
            self._labels = labels(classes, self.class_dtype)  # in the schema's order
            self._order = np.argsort(self._labels)
            self.classes_ = self._labels[self._order]  # sorted, as scikit-learn's metrics expect
        elif hasattr(self, "classes_"):
            del self.classes_

    # Predicting

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """Predict the target of rows with the winner.

        Args:
            X: Rows with the columns of `fit`.

        Returns:
            One class of `classes_`, or one number, per row.

        Raises:
            InputError: If the columns differ from those of `fit`, or there is no winner.
        """
        rows = self._rows(X)
        found = self.release_.predict(rows)
        classes = self.schema_.target.classes
        return found if classes is None else decoded(found, classes, self._labels)

    @available_if(lambda self: self._classifies())  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """Predict class probabilities of rows with the winner.

        Args:
            X: Rows with the columns of `fit`.

        Returns:
            An array [row, class], classes in the order of `classes_`.
        """
        rows = self._rows(X)
        return self.release_.predict_proba(rows)[:, self._order]

    # Absent before a paid fit: otherwise cross-validation without a `scoring` would only fail after
    # paying for a fold.
    @available_if(lambda self: self._simulates or hasattr(self, "release_"))  # type: ignore[untyped-decorator]
    def score(self, X: Any, y: Any = None, *, public: bool = False) -> float:  # noqa: N803
        """Compute the accuracy, or R^2, on rows with known targets, without noise.

        The budget does not cover this score. Outside simulation it is refused unless you vouch,
        with public=True, that the rows are public or paid for otherwise; that is not checked. The
        noisy score that the budget paid for is `best_score_`.

        Args:
            X: Rows with the columns of `fit`.
            y: The targets; None if they are a column of X.
            public: Whether the rows are public.

        Returns:
            The share of rows whose class is predicted, or R^2 for numbers.

        Raises:
            InputError: If the rows are not declared public, or do not fit.
        """
        check_is_fitted(self)
        given, target = Rows.of(X), target_of(y)
        if target is None:
            given, target = self._apart(given)
        rows = self._rows(given)
        if not self.release_.simulated and public is not True:
            raise InputError(
                "score: reads rows and their targets without noise, which is not paid for; see "
                "best_score_, or give public=True if these rows are public (after a Pipeline: "
                "pipe[-1].score(pipe[:-1].transform(X), y, public=True))"
            )
        if len(target) != given.count:
            raise InputError(f"X has {given.count} rows, y {len(target)}: give one each")
        answers = cells(column_of(target))
        there = self.schema_.target.known(answers)
        if self.schema_.target.classes is None and not there.all():
            raise InputError("y: some targets are missing or no numbers; leave such rows out")
        if not there.any():
            return 0.0
        found = tested(self.release_, rows, answers)
        return found.value * (found.rows / len(there))  # an unknown class is never right

    def _apart(self, rows: Rows) -> tuple[Rows, Any]:
        """Split a table that has both into rows and targets."""
        column = self.schema_.target.column
        if rows.holds(column):
            return rows, rows.column(column)
        if rows.names is None and rows.width == self.n_features_in_ + 1:
            return rows.without_last()
        raise InputError(f"{Y_IS_NONE}; give the targets as y, or as X's column {column!r}")

    def _rows(self, X: Any) -> Any:  # noqa: N803
        """The table with the schema's columns; raises unless it has the columns of fit."""
        check_is_fitted(self)
        wanted = self.schema_.input_names
        rows = Rows.of(X).named_for(wanted)
        given = rows.features(self.schema_.target.column)
        fitted = getattr(self, "feature_names_in_", None)
        if given is not None and fitted is not None:
            inputs.check_names(given, fitted, self.release_.simulated)
            return rows.table
        if given is not None and not self._by_place:
            return rows.table
        inputs.check_width(rows.width, self.n_features_in_)
        if fitted is not None or given is not None:
            inputs.warn_names(fitted is not None)
        return rows.in_order(wanted if fitted is None else list(fitted), wanted)

    # The model

    def _coefficients(self) -> tuple[Any, Any]:
        if not hasattr(self, "release_"):
            raise AttributeError(f"{ME} is not fitted yet: it has no coef_ and no intercept_")
        classes = self.schema_.target.classes
        return coefficients(self.release_, None if classes is None else self._order)

    @property
    def coef_(self) -> NDArray[Any]:
        """The weights of the encoded columns, in scikit-learn's shapes; linear models have them."""
        found: NDArray[Any] = self._coefficients()[0]
        return found

    @property
    def intercept_(self) -> Any:
        """The intercept, in scikit-learn's shapes; linear models have it."""
        return self._coefficients()[1]

    @property
    def feature_names_out_(self) -> NDArray[Any]:
        """The names of the encoded columns, in the order of `coef_`; linear models have them."""
        self._coefficients()
        return np.array(self.schema_.encoded_names, dtype=object)

    # Files

    def save(self, folder: str | PathLike[str]) -> None:
        """Write the release: model.safetensors, model.json, card.json. `load` reads them.

        Args:
            folder: The folder; it must not hold such files.

        Raises:
            InputError: If it holds one of them, or cannot be written.
        """
        check_is_fitted(self)
        self.release_.save(folder)
