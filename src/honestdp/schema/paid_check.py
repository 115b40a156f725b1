"""The paid check of a table: noisy counts of cells that do not fit, before a model is trained.

A table whose cells the schema cannot read (target cells NO and YES where it says no and yes,
decimal commas, empty columns) would cost the whole budget and give nothing. For a small share of
the budget that is found out first. Each row answers a few questions with 0 or 1:

- for each input column, or for all columns of a kind together: are more than half of the cells that
  are there not readable as declared (`Column.unfit`)? Where all are missing the answer is 0, as
  every declaration says what a missing cell stands for;
- for the target: is there no known target (no declared class, no number, or missing)? Such a row
  counts for nothing;
- for the row as a whole: are more than half of the cells that are there unreadable, or is none
  there?

Theorem. Let v(r) in {0, 1}^q be the answers of a row r, and v(D) the sum over the rows of D. Then
v(D) + N(0, s^2 I) is at least as private as one `Gaussian(s / sqrt(q))` query of sensitivity 1: it
is sqrt(q)/s-GDP, and composes with the search like any other Gaussian mechanism.
Conditions: (a) v(r) depends on row r and the schema alone; (b) each answer is 0 or 1, which
`counts` makes so whatever a kind returns; (c) the number of rows n, q and s are public; (d) the
draws are fresh, and independent of all others.
Proof. If one record is replaced by a null record, or by any other, or is added or removed, each of
the q sums changes by at most 1, so v(D) by at most sqrt(q) in l2: the Gaussian mechanism (Dong,
Roth and Su, Gaussian Differential Privacy, 2022, section 2). Sums are whole, the draws are
round(s UNITS X) with X standard normal, so what is returned is the mechanism's result, rounded
after the noise: post-processing, as are `decide` and its sentences.

How much noise. A question is refused if its noisy count is above n/2. A table is sound if every
count is at most n/4; a question is broken if its count is at least 3n/4. Let z be the normal
quantile of 1 - FAILURE/q and s <= (n/4 - 1/UNITS) / z. Then a draw moves a count by n/4 or more, to
a given side, with probability at most FAILURE/q. By the sum over the questions, a sound table is
refused with probability at most FAILURE, and the broken questions of a table are all refused with
probability at least 1 - FAILURE. In between, either may happen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from honestdp.errors import InputError, positive, positive_integer
from honestdp.schema.encode import open_rows, target_cells
from honestdp.schema.kinds import Column
from honestdp.schema.schema import Schema
from honestdp.schema.tables import Table
from honestdp.units import LARGEST_NOISE, UNITS

FAILURE = 1e-6  # probability of a wrong answer, over all questions
SHARE = 0.01  # the most that the check may cost, of the budget's mu squared
MANY = 5  # groups that are named in a sentence
SKIPPED = "the table is not checked before training: with so few rows that would cost too much"

Answers: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True)
class Group:
    """Columns that one question is about. label: what they are called in a sentence."""

    label: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class PaidCheck:
    """What is asked, and with how much noise. Public.

    Attributes:
        groups: The input columns: one by one, or by kind; none if only whole rows are asked about.
        target: The target's column.
        rows: The number of rows of the table.
        noise: The standard deviation of the noise of each count.
    """

    groups: tuple[Group, ...]
    target: str
    rows: int
    noise: float

    @property
    def questions(self) -> int:
        """The number of counts: one per group, one for the target, one for whole rows."""
        return len(self.groups) + 2

    @property
    def noise_multiplier(self) -> float:
        """The noise relative to what one record can change: account one Gaussian query of it."""
        # Rounded down, by more than the errors of a root and a division
        return self.noise / math.sqrt(self.questions) * (1 - 2**-50)

    @property
    def mu(self) -> float:
        """The price as Gaussian differential privacy."""
        return 1 / self.noise_multiplier

    def describe(self) -> str:
        """What is checked, in a sentence for the plan."""
        what = "".join(f"{group.label}, " for group in self.groups[:MANY])
        if len(self.groups) > MANY:
            what = f"{len(self.groups)} columns one by one, "
        return (
            f"checked before training, with noise: {what}the target and whole rows (stops if most "
            f"cannot be read; noise {self.noise:.4g} on counts of {self.rows} rows)"
        )


def plan_check(schema: Schema, rows: int, budget_mu: float) -> PaidCheck | None:
    """Choose what to ask, from public facts alone.

    Every column is asked about if that costs at most SHARE of the budget (in mu squared); otherwise
    the columns of each kind together; otherwise only the target and the rows as a whole.

    Args:
        schema: The declared schema.
        rows: The number of rows of the table.
        budget_mu: The budget of everything together, as Gaussian differential privacy.

    Returns:
        The check; None if even two counts would cost more than SHARE: say `SKIPPED`.

    Raises:
        InputError: If a parameter is wrong.
    """
    count, budget = positive_integer("rows", rows), positive("budget_mu", budget_mu)
    for groups in (_each(schema), _by_kind(schema), ()):
        noise = largest_noise(count, len(groups) + 2)
        check = PaidCheck(groups, schema.target.column, count, noise)
        if check.mu**2 <= SHARE * budget**2:
            return check
    return None


def _each(schema: Schema) -> tuple[Group, ...]:
    return tuple(_alone(name) for name in schema.input_names)


def _alone(name: str) -> Group:
    return Group(repr(name[:60]), (name,))


def _by_kind(schema: Schema) -> tuple[Group, ...]:
    kinds: dict[str, list[str]] = {}
    for name, column in schema.readers.items():
        kinds.setdefault(column.kind, []).append(name)
    return tuple(
        Group(f"{len(names)} columns of kind {kind!r}", tuple(names))
        if len(names) > 1
        else _alone(*names)
        for kind, names in kinds.items()
    )


def largest_noise(rows: int, questions: int) -> float:
    """The most noise with which `decide` fails with probability at most FAILURE (see above)."""
    quantile = -float(ndtri(FAILURE / questions))
    margin = rows / 4 - 1 / UNITS
    return min(LARGEST_NOISE, margin / quantile * (1 - 1e-9))  # 1e-9: errors of the quantile


def noisy_counts(
    check: PaidCheck,
    schema: Schema,
    table: Any,
    rounded_normals: Callable[[float, int], Any],
    target: Any = None,
) -> list[float]:
    """Ask a table, and add the noise. Account `Gaussian(check.noise_multiplier)` for it, before.

    Args:
        check: From `plan_check`.
        schema: The schema it was planned for.
        table: Any table that `Schema.encode` takes.
        rounded_normals: rounded_normals(scale, count) gives that many independent draws of
            round(scale * X), X standard normal, as int64; called once.
        target: The cells of the target, if they are not a column of the table.

    Returns:
        The noisy counts: of the columns, the target, whole rows.

    Raises:
        InputError: If a column is not in the table, or it has another number of rows.
    """
    exact = counts(check, schema, table, target)
    draws = np.asarray(rounded_normals(check.noise * UNITS, check.questions))
    if draws.shape != exact.shape or draws.dtype != np.int64:
        raise InputError(f"rounded_normals: must return {check.questions} whole numbers (int64)")
    noisy: list[float] = ((exact * UNITS + draws) / UNITS).tolist()
    return noisy


def counts(check: PaidCheck, schema: Schema, table: Any, target: Any = None) -> NDArray[np.int64]:
    """The exact counts. Sensitive. One record changes each by at most 1."""
    opened = open_rows(schema, table)
    answers = target_cells(schema, opened, target)
    if opened.rows != check.rows:
        raise InputError(f"table: has {opened.rows} rows, the check is for {check.rows}")
    readers, found = schema.readers, []
    filled, unfit = np.zeros((2, opened.rows), dtype=np.int64)
    for group in check.groups or (Group("all", tuple(schema.input_names)),):
        there, bad = np.zeros((2, opened.rows), dtype=np.int64)
        for name in group.columns:
            own = _there_and_unfit(name, readers[name], opened)
            there, bad = there + own[0], bad + own[1]
        filled, unfit = filled + there, unfit + bad
        found.append(int((2 * bad > there).sum()))
    lost = opened.rows - int(schema.target.known(answers).sum())
    useless = int(((2 * unfit > filled) | (filled == 0)).sum())
    return np.array([*found[: len(check.groups)], lost, useless], dtype=np.int64)


def _there_and_unfit(name: str, column: Column, opened: Table) -> tuple[Answers, Answers]:
    """Whether each row's cell is there, and whether it is there and unfit. Sensitive."""
    if opened.matrix is not None and column.keeps_zeros:  # a sparse matrix of numbers: all fit
        return np.ones(opened.rows, np.bool_), np.zeros(opened.rows, np.bool_)
    cells = opened.cells(name)
    there, unfit = ~cells.missing(), np.asarray(column.unfit(cells))
    if unfit.shape != there.shape:
        raise InputError(
            f"columns.{column.name}: unfit of its kind must return one truth value per row"
        )
    return there, unfit.astype(np.bool_) & there


def decide(check: PaidCheck, noisy: Sequence[float]) -> list[str]:
    """Decide from noisy counts alone what a model could not be trained on.

    Args:
        check: From `plan_check`.
        noisy: From `noisy_counts`.

    Returns:
        Reasons to stop, as parts of a sentence; none: the table may be trained on.
    """
    *groups, lost, useless = (count > check.rows / 2 for count in noisy)
    refused = [group.label for group, much in zip(check.groups, groups, strict=True) if much]
    more = f" and {len(refused) - MANY} more columns" if len(refused) > MANY else ""
    shown = ", ".join(refused[:MANY]) + more
    reasons = [f"most cells of {shown} are not as declared"] if refused else []
    if lost:
        reasons.append(f"most rows have no known target {check.target!r}")
    if useless and not refused:
        reasons.append("most rows hold few cells that are as declared, or none")
    return reasons


def refusal(reasons: Sequence[str]) -> str:
    """The line with which a search stops; from `decide`, so it is paid for."""
    return (
        f"table: {'; '.join(reasons)} (by noisy counts): compare it with the schema (spelling, "
        "upper and lower case, decimal commas); `honestdp check` counts for its keeper, --no-check "
        "trains regardless"
    )
